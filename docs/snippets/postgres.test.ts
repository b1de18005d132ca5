/**
 * The code of the page "PostgreSQL".
 * @module
 */

// #region imports
import { postgresStore } from 'grantwell/storage/postgres'
import { Pool } from 'pg'
// #endregion imports
import { describe, expect, it } from 'vitest'
import { describeWith, postgresql } from '../../test/engines/available.js'
import { startPostgres } from '../../test/engines/postgres.js'

// #region pglite-imports
import { PGlite } from '@electric-sql/pglite'
// #endregion pglite-imports

// #region open
/** Opens the store of a database, and makes its table where it is missing. */
async function openStore(connectionString: string) {
  const pool = new Pool({ connectionString, max: 10 })
  const store = postgresStore(pool)
  await store.migrate()
  return { pool, store }
}
// #endregion open

// #region pools
/** Opens two pools: the service's own queries then never wait for those of the store, and keep their own limits. */
async function openPools(connectionString: string) {
  const pool = new Pool({ connectionString, max: 10 }) // your own queries
  const tokens = new Pool({ connectionString, max: 10, application_name: 'grantwell' })
  tokens.on('error', (error) => console.error(error)) // an idle connection ended; without this line, nobody is told
  const store = postgresStore(tokens)
  await store.migrate()
  return { pool, tokens, store }
}
// #endregion pools

describeWith(describe, postgresql, 'PostgreSQL', () => {
  it('keeps records, and fails by one error', async () => {
    const engine = await startPostgres()
    const { user, host, port, database } = engine.connection
    const address = `postgres://${user}@${host}:${port}/${database}`
    try {
      const { pool, store } = await openStore(address)
      expect(await store.write('key', { a: 1 }, { expected: 0 })).toBe(true)
      const again = await openStore(address) // migrates once more, and changes nothing
      expect((await again.store.read(['key']))[0]?.value).toEqual({ a: 1 })
      await again.pool.end()

      const durable = await pool.query('SHOW synchronous_commit')
      expect(durable.rows).toEqual([{ synchronous_commit: 'on' }])

      // #region options
      const options = {
        namespace: 'git.example', // one for each issuer that shares the table
        table: 'auth.grants', // the schema must exist; migrate makes the table
        timeoutMs: 2_000,
      }
      // #endregion options
      await pool.query('CREATE SCHEMA auth')
      const other = postgresStore(pool, options)
      await other.migrate()
      expect(await other.read(['key'])).toEqual([undefined])

      const apart = await openPools(address)
      expect(apart.tokens.options.connectionTimeoutMillis).toBe(5_000)
      expect(apart.pool.options.connectionTimeoutMillis ?? 0).toBe(0)
      expect([apart.pool.listenerCount('error'), apart.tokens.listenerCount('error')]).toEqual([0, 1])
      await Promise.all([apart.pool.end(), apart.tokens.end()])

      const shared = new Pool({ connectionString: address, max: 1 })
      postgresStore(shared, { timeoutMs: 200 })
      expect(shared.listenerCount('error')).toBe(1)
      const held = await shared.connect() // as a transaction of the service holds it
      await expect(shared.query('SELECT 1')).rejects.toThrow('timeout exceeded when trying to connect')
      held.release()
      await shared.end()

      await engine.stop('fast')
      await expect(store.read(['key'])).rejects.toThrow(/^grantwell: PostgreSQL failed: connect ECONNREFUSED/)
      await pool.end()
    } finally {
      await engine.remove()
    }
  })
})

it('runs over PGlite, in the process', async () => {
  // #region pglite
  const database = await PGlite.create() // in memory; a path keeps it in a folder
  const store = postgresStore(database)
  await store.migrate()
  // #endregion pglite
  expect(await store.write('key', { a: 1 }, { expected: 0, expiresAt: 4_000_000_000 })).toBe(true)
  expect((await store.read(['key']))[0]?.value).toEqual({ a: 1 })
  expect(await store.removeExpired()).toBe(0)
  await database.close()
})

it('says that the table is missing', async () => {
  const database = await PGlite.create()
  const error: unknown = await Promise.resolve(postgresStore(database).read(['key'])).catch((reason) => reason)
  expect(String(error)).toBe(
    'StorageUnavailable: grantwell: PostgreSQL has no table grantwell_records: call migrate() first',
  )
  expect(String((error as Error).cause)).toContain('relation "grantwell_records" does not exist')
  expect(() => postgresStore(database, { table: 'Grants' })).toThrow(
    'the option table must be a table or schema.table in lower case, each name of at most 40 characters',
  )
  await database.close()
})
