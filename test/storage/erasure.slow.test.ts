/**
 * Erasure, looked for in the bytes of each engine: after its own way of giving room back, nothing of the user is in its files.
 * The one in memory is in `test/server/erasure.test.ts`.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { RecordStore } from 'grantwell'
import { postgresStore } from 'grantwell/storage/postgres'
import { redisStore } from 'grantwell/storage/redis'
import { sqliteStore } from 'grantwell/storage/sqlite'
import { Redis } from 'ioredis'
import Database from 'libsql'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { describeWith, etcd, postgresql, redis } from '../engines/available.js'
import { startEtcd } from '../engines/etcd.js'
import { startPostgres } from '../engines/postgres.js'
import { temporaryFolder } from '../engines/process.js'
import { startRedis } from '../engines/redis.js'
import { ERASED, eraseBoth, GRACE, live } from '../server/erasure.js'
import { START, works } from '../support.js'

const clock = () => START

/** Lives a life on a store, erases it, and looks for it in the bytes of its engine before and after. */
async function expectErased(
  store: RecordStore,
  readBytes: () => Promise<readonly Uint8Array[]> | readonly Uint8Array[],
) {
  const found = async (): Promise<string[]> => {
    const files = await readBytes()
    return [...ERASED, GRACE].filter((text) => files.some((bytes) => Buffer.from(bytes).includes(text)))
  }
  const life = await live({ store })
  expect(await found()).toEqual([...ERASED, GRACE])
  await eraseBoth(life)
  expect(await found()).toEqual([GRACE])
  expect(await works(life.test, life.grace.access_token)).toBe(true)
}

describe('SQLite', () => {
  const folder = temporaryFolder('erasure')
  afterAll(folder.remove)

  it('has nothing of the user in its file after VACUUM', async () => {
    const file = join(folder.path, 'grants.db')
    const database = new Database(file)
    await expectErased(sqliteStore(database, { clock }), () => {
      database.exec('VACUUM')
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return [readFileSync(file), readFileSync(`${file}-wal`)]
    })
    database.close()
  })
})

describeWith(describe, postgresql, 'PostgreSQL', () => {
  it('has nothing of the user in a dump, nor in the files of its tables and indexes after VACUUM FULL', async () => {
    const engine = await startPostgres()
    const pool = new pg.Pool(engine.connection)
    try {
      const store = postgresStore(pool, { clock })
      await store.migrate()
      const { host, port, user, database } = engine.connection
      const connection = ['--host', host, '--port', String(port), '--username', user, database]
      await expectErased(store, async () => {
        await pool.query('VACUUM FULL')
        await pool.query('CHECKPOINT')
        const { rows } = await pool.query<{ file: string }>(
          `SELECT current_setting('data_directory') || '/' || pg_relation_filepath(oid) AS file
           FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')
           UNION ALL
           SELECT current_setting('data_directory') || '/' || pg_relation_filepath(reltoastrelid)
           FROM pg_class WHERE relnamespace = 'public'::regnamespace AND reltoastrelid <> 0`,
        )
        expect(rows.length).toBeGreaterThan(2)
        const dump = execFileSync('pg_dump', connection, { maxBuffer: 1e9 })
        return [dump, ...rows.map(({ file }) => readFileSync(file))]
      })
    } finally {
      await pool.end()
      await engine.remove()
    }
  })
})

describeWith(describe, redis, 'Redis', () => {
  it('has nothing of the user in a snapshot', async () => {
    const engine = await startRedis({ settings: ['--rdbcompression', 'no'] })
    const client = new Redis(engine.port, engine.host)
    try {
      await expectErased(redisStore(client, { clock }), async () => {
        await client.save()
        const [, folder = ''] = (await client.config('GET', 'dir')) as [string, string]
        return [readFileSync(join(folder, 'dump.rdb'))]
      })
    } finally {
      client.disconnect()
      await engine.remove()
    }
  })
})

describeWith(describe, etcd, 'etcd, by the example of a store', () => {
  it('has nothing of the user in its file after it was compacted and defragmented', async () => {
    const engine = await startEtcd()
    try {
      const { etcdStore } = await import(
        /* @vite-ignore */ pathToFileURL(join(import.meta.dirname, '../../examples/own-store/etcd-store.mjs')).href
      )
      const post = async (path: string, body: object) => {
        const response = await fetch(engine.url + path, { method: 'POST', body: JSON.stringify(body) })
        if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
        return (await response.json()) as { readonly header: { readonly revision: string } } // as etcd answers
      }
      await expectErased(etcdStore({ url: engine.url, clock }), async () => {
        const { header } = await post('/v3/kv/range', { key: 'AA==' })
        await post('/v3/kv/compaction', { revision: header.revision, physical: true })
        await post('/v3/maintenance/defragment', {})
        const bytes = readFileSync(engine.file)
        // Values are as they were written, and keys in base64url where the example has them so.
        return [bytes]
      })
    } finally {
      await engine.remove()
    }
  })
})
