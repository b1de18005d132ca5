/**
 * The code of the page "PostgreSQL".
 * @module
 */

// #region imports
import { postgresStore } from 'grantwell/storage/postgres'
import { Pool } from 'pg'
// #endregion imports
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// #region print-imports
import { writeFile } from 'node:fs/promises'
// #endregion print-imports
// #region end-imports
import type { Server } from 'node:http'
// #endregion end-imports
import { createServer } from 'node:http'
import { createAuthorizationServer } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { describeWith, postgresql } from '../../test/engines/available.js'
import { startPostgres } from '../../test/engines/postgres.js'
import { registration } from '../../test/support.js'
import { readPage } from './page-words.js'

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

// #region print
/** Writes the SQL that makes the table into a file. It asks no database. */
async function printMigration(file: string) {
  await writeFile(file, await postgresStore(new Pool()).migrate({ print: true }))
}
// #endregion print

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

// #region end
/** Takes no new connection, waits for the requests that run, and closes the pool last. */
async function end(web: Server, pool: Pool) {
  await new Promise((closed) => web.close(closed))
  await pool.end()
}
// process.once('SIGTERM', () => end(web, pool))
// #endregion end

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

      await pool.query('DROP TABLE grantwell_records')
      const folder = mkdtempSync(join(tmpdir(), 'grantwell-docs-postgres-'))
      const file = join(folder, 'grantwell.sql')
      await printMigration(file)
      const psql = () =>
        execFileSync('psql', ['--single-transaction', '--set=ON_ERROR_STOP=1', address, `--file=${file}`])
      psql()
      expect(await store.write('key', 1, { expected: 0, labels: ['label'] })).toBe(true)
      psql() // changes nothing
      await store.migrate() // finds the shape that it wants
      expect((await store.list('label')).records).toMatchObject([{ key: 'key', value: 1 }])
      rmSync(folder, { recursive: true })

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

      const ended = await openStore(address)
      const web = createServer().listen(0, '127.0.0.1')
      await end(web, ended.pool)
      expect([web.listening, ended.pool.ended]).toEqual([false, true])

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

const BELONGS =
  'grantwell: the records of this store belong to the issuer http://127.0.0.1:8080, and this server is http://127.0.0.1:8081; give each issuer a namespace of its own'

it('refuses a second issuer, such as the same service on another port', async () => {
  const database = await PGlite.create()
  const store = postgresStore(database)
  await store.migrate()
  const told: unknown[] = []
  const serverAt = (port: number) =>
    createAuthorizationServer({
      issuer: `http://127.0.0.1:${port}`,
      store,
      user: () => undefined,
      signInUrl: () => '/sign-in',
      onError: (error) => told.push(error),
    })
  await serverAt(8080).applications.register(registration(), { clientId: 'first' })
  const later = serverAt(8081).applications
  for (const call of [() => later.get('first'), () => later.register(registration(), { clientId: 'second' })]) {
    const error: unknown = await call().catch((reason) => reason)
    expect(error).toMatchObject({ code: 'ERR_STORE' })
    expect(told.pop()).toMatchObject({ code: 'ERR_NAMESPACE', message: BELONGS })
  }
  expect(readPage('stores/postgres')).toContain(`| \`${BELONGS}\`,`)
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
