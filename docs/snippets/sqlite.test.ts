/**
 * The code of the page "SQLite".
 * @module
 */
// #region imports
import { StorageUnavailable } from 'grantwell'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'
// #endregion imports
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'grantwell-docs-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true }))

// #region open
/** Opens the store in a file. The connection belongs to the store alone. */
function openStore(file: string) {
  const database = new Database(file)
  return { database, store: sqliteStore(database) }
}
// #endregion open

it('keeps its records in a file, for the next process', async () => {
  const file = join(folder, 'kept.db')
  const first = openStore(file)
  first.store.write('key', { a: 1 }, { expected: 0 })
  first.database.close()
  const second = openStore(file)
  expect((await second.store.read(['key']))[0]?.value).toEqual({ a: 1 })
  second.database.close()
  expect(() => second.store.write('key', 1, { expected: 0 })).toThrow('grantwell: the database of SQLite is closed')
})

it('takes options', () => {
  const database = new Database(join(folder, 'options.db'))
  // #region options
  const store = sqliteStore(database, {
    namespace: 'git.example', // one for each issuer that shares the file
    synchronous: 'full', // the default
  })
  // #endregion options
  expect(store.read(['key'])).toEqual([undefined])
  expect(database.prepare('PRAGMA synchronous').raw().get()).toEqual([2])
  // Another connection to the same file is apart from the store.
  expect(() => sqliteStore(database, { namespace: 'a b' })).toThrow(
    'namespace must be 1 to 64 characters of A-Z a-z 0-9 . _ : -',
  )
  database.close()
})

it('removes expired records when it is told to', () => {
  const { database, store } = openStore(join(folder, 'expired.db'))
  store.write('first', 1, { expected: 0 })
  database.exec('UPDATE grantwell_records SET expires_at = 1, kept_until = 1')
  // #region cleanup
  let removed = 0
  do {
    removed = store.removeExpired()
  } while (removed === 1_000) // there may be more
  // #endregion cleanup
  expect(removed).toBe(1)
  expect(database.prepare('SELECT count(*) FROM grantwell_records').raw().get()).toEqual([0])
  database.close()
})

it('refuses to write in a transaction of somebody else', () => {
  const { database, store } = openStore(join(folder, 'transaction.db'))
  database.exec('BEGIN')
  let caught: unknown
  // #region transaction
  try {
    store.write('key', 'value', { expected: 0 })
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error
    caught = error.message // grantwell: somebody else’s transaction is open on the connection to SQLite
  }
  // #endregion transaction
  expect(caught).toBe('grantwell: somebody else’s transaction is open on the connection to SQLite')
  database.exec('ROLLBACK')
  expect(store.write('key', 'value', { expected: 0 })).toBe(true)
  database.close()
})

it('refuses a table of another shape', () => {
  const database = new Database(join(folder, 'shape.db'))
  database.exec('CREATE TABLE grantwell_records (id INTEGER)')
  expect(() => sqliteStore(database)).toThrow('sqliteStore: the table grantwell_records has another shape: it lacks')
  database.close()
})

it('makes a copy of the file while the service runs', async () => {
  const { database, store } = openStore(join(folder, 'live.db'))
  store.write('key', 'value', { expected: 0 })
  const copy = join(folder, 'copy.db')
  // #region backup
  database.prepare('VACUUM INTO ?').run(copy)
  // #endregion backup
  const restored = openStore(copy)
  expect((await restored.store.read(['key']))[0]?.value).toBe('value')
  restored.database.close()
  database.close()
})
