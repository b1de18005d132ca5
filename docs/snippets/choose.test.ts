/**
 * The code of the page "Choose a store": one function that opens the store that an address names.
 * @module
 */

// #region imports
import type { RecordStore } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
// #endregion imports
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { describeWith, postgresql, redis } from '../../test/engines/available.js'
import { startPostgres } from '../../test/engines/postgres.js'
import { startRedis } from '../../test/engines/redis.js'

// #region open
/** A store, and the function that ends its connections. */
interface OpenedStore {
  readonly store: RecordStore
  readonly close: () => unknown
}

/** Opens the store that an address names. Each engine's client is loaded only where it is used. */
async function openStore(address: string | undefined): Promise<OpenedStore> {
  if (address === undefined) return { store: memoryStore(), close: () => {} }

  if (address.startsWith('file:')) {
    const { default: Database } = await import('libsql')
    const { sqliteStore } = await import('grantwell/storage/sqlite')
    const database = new Database(address.slice('file:'.length))
    return { store: sqliteStore(database), close: () => database.close() }
  }

  if (address.startsWith('postgres:')) {
    const { Pool } = (await import('pg')).default
    const { postgresStore } = await import('grantwell/storage/postgres')
    const pool = new Pool({ connectionString: address })
    const store = postgresStore(pool)
    await store.migrate()
    return { store, close: () => pool.end() }
  }

  if (address.startsWith('redis:')) {
    const { Redis } = await import('ioredis')
    const { redisStore } = await import('grantwell/storage/redis')
    const client = new Redis(address)
    return { store: redisStore(client), close: () => client.quit() }
  }

  throw new Error(`no store for the address ${address.split(':', 1)[0]}:`)
}
// #endregion open

const folder = mkdtempSync(join(tmpdir(), 'grantwell-docs-choose-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Writes a record and reads it. */
async function keepsRecords(address: string | undefined): Promise<void> {
  const { store, close } = await openStore(address)
  try {
    expect(await store.write('key', { a: 1 }, { expected: 0 })).toBe(true)
    expect(await store.write('key', { a: 2 }, { expected: 0 })).toBe(false)
    expect((await store.read(['key']))[0]?.value).toEqual({ a: 1 })
  } finally {
    await close()
  }
}

describe('the store of an address', () => {
  it('is in memory without one, and in a file', async () => {
    await keepsRecords(undefined)
    await keepsRecords(`file:${join(folder, 'grants.db')}`)
    await expect(openStore('mysql://host')).rejects.toThrow('no store for the address mysql:')
  })
})

describeWith(describe, postgresql, 'PostgreSQL', () => {
  it('is opened by its address', async () => {
    const engine = await startPostgres()
    try {
      const { user, host, port, database } = engine.connection
      await keepsRecords(`postgres://${user}@${host}:${port}/${database}`)
    } finally {
      await engine.remove()
    }
  })
})

describeWith(describe, redis, 'Redis', () => {
  it('is opened by its address', async () => {
    const engine = await startRedis()
    try {
      await keepsRecords(`redis://${engine.host}:${engine.port}`)
    } finally {
      await engine.remove()
    }
  })
})
