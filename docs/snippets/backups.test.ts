/**
 * The code of the page "Backups": what a restored copy brings back, and how to end it.
 * @module
 */

// #region imports
import type { AuditEvent, AuthorizationServer } from 'grantwell'
// #endregion imports
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthorizationServer } from 'grantwell'
import { postgresStore } from 'grantwell/storage/postgres'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'
import { Pool } from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { describeWith, postgresql } from '../../test/engines/available.js'
import { startPostgres } from '../../test/engines/postgres.js'
import { authorize, exchange, revoke, testServer, tokens, works } from '../../test/support.js'
import { messageOf, readPage } from './page-words.js'

const folder = mkdtempSync(join(tmpdir(), 'grantwell-docs-backups-'))
afterAll(() => rmSync(folder, { recursive: true }))

// #region end-all
/** Ends every grant of every application. Returns how many worked until now. */
async function endAllGrants(server: AuthorizationServer): Promise<number> {
  return server.grants.revokeEverything({ actor: 'restore' })
}
// #endregion end-all

// #region end-again
/** Ends the grants of which the audit trail says that something was revoked since a time, in seconds since the epoch. */
async function endAgain(server: AuthorizationServer, trail: readonly AuditEvent[], since: number): Promise<number> {
  let ended = 0
  for (const event of trail)
    if (event.type === 'revoked' && event.at >= since)
      if (await server.grants.revokeGrant(event.subject, event.grantId)) ended++
  return ended
}
// #endregion end-again

it('brings back what was revoked and used, until everything is ended', async () => {
  const START = 1_800_000_000
  const live = new Database(join(folder, 'live.db'))
  const before = await testServer({ store: sqliteStore(live, { clock: () => START }) })
  const pair = await tokens(before)
  const { code } = await authorize(before)
  const copy = join(folder, 'copy.db')
  live.prepare('VACUUM INTO ?').run(copy)

  expect((await revoke(before, pair.refresh_token)).status).toBe(200)
  expect(await works(before, pair.access_token)).toBe(false)
  expect((await exchange(before, code)).status).toBe(200)
  live.close()

  const database = new Database(copy)
  const store = sqliteStore(database, { clock: () => START })
  // The applications are in the copy: registering them again is refused.
  const restored = { ...before, ...(await serverOver(store, START)) }
  expect(await works(restored, pair.access_token)).toBe(true) // it was revoked
  expect((await exchange(restored, code)).status).toBe(200) // it was used

  expect(await endAgain(restored.server, before.events, START)).toBe(1)
  expect(await works(restored, pair.access_token)).toBe(false)

  expect(await endAllGrants(restored.server)).toBe(1)
  expect(await works(restored, pair.access_token)).toBe(false)
  expect(await endAllGrants(restored.server)).toBe(0)
  database.close()
})

/** A server over a store that has its applications already. */
async function serverOver(store: ReturnType<typeof sqliteStore>, start: number) {
  const server = createAuthorizationServer({
    issuer: 'https://git.example',
    store,
    clock: () => start,
    user: () => ({ subject: 'ada', name: 'Ada' }),
    signInUrl: () => '/sign-in',
  })
  return { server }
}

describeWith(describe, postgresql, 'PostgreSQL', () => {
  it('is copied and restored by the commands of the page, whole or the table alone', async () => {
    const engine = await startPostgres()
    const { host, port, user } = engine.connection
    const environment = { PGHOST: host, PGPORT: String(port), PGUSER: user }
    const PATH = `${postgresql.directory}:${process.env['PATH']}`
    const run = (command: string): string =>
      execFileSync('sh', ['-e', '-c', command], {
        cwd: folder,
        env: { ...environment, PATH },
        encoding: 'utf8',
        stdio: 'pipe',
      })
    const open = async <Result>(
      database: string,
      use: (store: ReturnType<typeof postgresStore>, pool: Pool) => Promise<Result>,
    ): Promise<Result> => {
      const pool = new Pool({ host, port, user, database })
      try {
        return await use(postgresStore(pool), pool)
      } finally {
        await pool.end()
      }
    }
    const migrate = () => open('git_restored', (store) => store.migrate())
    const restored = () =>
      open('git_restored', async (store) => {
        await store.migrate()
        const [record] = (await store.list('first')).records
        if (record === undefined) return expect.fail('nothing was restored')
        const moved = await store.write(record.key, 'new', { expected: record.version, labels: ['second'] })
        return [
          record.value,
          moved,
          (await store.list('first')).records.length,
          (await store.list('second')).records.length,
        ]
      })
    const begin = () => run('dropdb --if-exists git_restored; createdb git_restored')
    const page = readPage('operations/backups')
    const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block)
    const [dumpWhole = '', restoreWhole = '', dumpTable = '', restoreTable = '', drop = '', refill = '', plain = ''] =
      blocks
    try {
      run('createdb git')
      await open('git', async (store, pool) => {
        await store.migrate()
        expect(await store.write('key', 'old', { expected: 0, labels: ['first'] })).toBe(true)
        await pool.query('CREATE TABLE users (id serial PRIMARY KEY, name text)')
        await pool.query("INSERT INTO users (name) VALUES ('Ada')")
      })
      run(dumpWhole)
      run(restoreWhole)
      expect(await restored()).toEqual(['old', true, 0, 1])
      expect(run("psql git_restored --tuples-only --command='SELECT name FROM users'").trim()).toBe('Ada')

      run(dumpTable)
      begin()
      await migrate()
      run(restoreTable)
      expect(await restored()).toEqual(['old', true, 0, 1])

      // A dump of the table leaves the functions out, so its triggers are not made.
      run('pg_dump --table=grantwell_records --file=table.sql git')
      begin()
      run('psql --dbname=git_restored --file=table.sql')
      expect(await messageOf(migrate)).toContain('the table grantwell_records has another shape: it lacks the trigger')
      run(drop)
      await migrate()
      run(refill)
      expect(await restored()).toEqual(['old', true, 0, 1])

      begin()
      await migrate()
      run(plain)
      expect(await restored()).toEqual(['old', true, 0, 1])

      const [, move = ''] = /^```sql\n(.*?)^```/ms.exec(page) ?? []
      await open('git_restored', async (_store, pool) => {
        await pool.query('CREATE TABLE users (id serial PRIMARY KEY, name text)')
        await pool.query(move)
        const { rows } = await pool.query("INSERT INTO users (name) VALUES ('Grace') RETURNING id")
        expect(rows).toEqual([{ id: 1_000_001 }])
      })
    } finally {
      await engine.remove()
    }
  })
})

it('gives the identifier of a removed row to the next one in SQLite, unless the table has AUTOINCREMENT', () => {
  const database = new Database(':memory:')
  const lastOf = (column: string): unknown => {
    database.exec(`DROP TABLE IF EXISTS users; CREATE TABLE users (id INTEGER PRIMARY KEY ${column}, name TEXT)`)
    database.exec("INSERT INTO users (name) VALUES ('Ada'), ('Grace'); DELETE FROM users WHERE id = 2")
    return database.prepare("INSERT INTO users (name) VALUES ('Eve') RETURNING id").get()
  }
  expect([lastOf(''), lastOf('AUTOINCREMENT')]).toMatchObject([{ id: 2 }, { id: 3 }])
  database.close()
})
