/**
 * The memory store, SQLite, the embedded PGlite, and PostgreSQL.
 * @module
 */
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import type { RecordStore } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { postgresStore } from 'grantwell/storage/postgres'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'
import pg from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeWith, postgresql } from '../engines/available.js'
import type { PostgresEngine } from '../engines/postgres.js'
import { startPostgres } from '../engines/postgres.js'
import { temporaryFolder } from '../engines/process.js'
import type { EngineSuite } from '../engines/suite.js'

/** Runs a suite on each of them. */
export function describeSqlEngines(suite: EngineSuite): void {
  describe('memory', () => {
    // One store for each namespace, as the contract asks of a store in memory.
    const stores = new Map<string, RecordStore>()
    suite(() => ({
      store: ({ clock, namespace }) => {
        const store = stores.get(namespace) ?? memoryStore({ clock })
        stores.set(namespace, store)
        return store
      },
      close: () => {},
    }))
  })

  describe('SQLite, a file with write-ahead logging', () => {
    const folder = temporaryFolder('engines')
    afterAll(folder.remove)
    suite(() => {
      const database = new Database(join(folder.path, 'grants.db'))
      return {
        store: (wiring) => sqliteStore(database, { ...wiring, synchronous: 'normal' }),
        close: () => {
          database.close()
        },
      }
    })
  })

  describeWith(describe, postgresql, 'PostgreSQL', () => {
    let engine: PostgresEngine
    beforeAll(async () => {
      engine = await startPostgres()
      const pool = new pg.Pool(engine.connection)
      await postgresStore(pool).migrate()
      await pool.end()
    })
    afterAll(() => engine?.remove())
    suite(() => {
      const pool = new pg.Pool(engine.connection)
      return { store: (wiring) => postgresStore(pool, wiring), close: () => pool.end() }
    })
  })
}

/** Runs a suite on the embedded PostgreSQL. */
export function describePglite(suite: EngineSuite): void {
  describe('PGlite, in memory', () => {
    let engine: PGlite
    beforeAll(async () => {
      engine = await PGlite.create()
      await postgresStore(engine).migrate()
    })
    afterAll(() => engine?.close())
    suite(() => ({ store: (wiring) => postgresStore(engine, wiring), close: () => {} }), { lives: 2 })
  })
}
