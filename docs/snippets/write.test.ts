/**
 * The code of the page "Write a store": a store over one table of SQL, and its proof.
 * @module
 */
// #region imports
import type { RecordPage, RecordStore, StoredRecord } from 'grantwell'
import { storageContract } from 'grantwell/testing'
import Database from 'libsql'
// #endregion imports
import { describe, expect, it as test } from 'vitest'

// #region store
/** The options of a store; `clock` gives whole seconds since the epoch. */
interface Options {
  readonly namespace?: string
  readonly clock?: () => number
}

const TABLE = `CREATE TABLE IF NOT EXISTS records (
  namespace TEXT, key TEXT, version INTEGER, value TEXT, expires_at INTEGER, labels TEXT,
  PRIMARY KEY (namespace, key))`

/** Makes a store in one table. */
function tableStore(database: Database.Database, options: Options = {}): RecordStore {
  const { namespace = 'grantwell', clock = () => Math.floor(Date.now() / 1000) } = options
  database.exec(TABLE)
  const one = database.prepare(
    'SELECT version, value FROM records WHERE namespace = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)',
  )
  const create = database.prepare(
    `INSERT INTO records VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (namespace, key) DO UPDATE
       SET version = excluded.version, value = excluded.value, expires_at = excluded.expires_at, labels = excluded.labels
       WHERE expires_at <= ?`,
  )
  const update = database.prepare(
    `UPDATE records SET version = ?, value = ?, expires_at = ?, labels = ?
       WHERE namespace = ? AND key = ? AND version = ? AND (expires_at IS NULL OR expires_at > ?)`,
  )
  const remove = database.prepare(
    `DELETE FROM records WHERE namespace = ? AND key = ? AND version = ? AND (expires_at IS NULL OR expires_at > ?)`,
  )
  const some = database.prepare(
    `SELECT key, version, value FROM records WHERE namespace = ? AND key > ?
       AND (expires_at IS NULL OR expires_at > ?)
       AND EXISTS (SELECT 1 FROM json_each(labels) WHERE json_each.value = ?) ORDER BY key LIMIT ?`,
  )

  return {
    read: (keys) => keys.map((key) => recordIn(one.get(namespace, textOf(key), clock()))),

    write: (key, value, { expected, expiresAt, labels = [] }) => {
      const now = clock()
      const place = [namespace, textOf(key)]
      if (expiresAt !== undefined && expiresAt <= now) {
        if (expected === 0) return one.get(...place, now) === undefined
        return remove.run(...place, expected, now).changes > 0
      }
      const names = JSON.stringify(labels.map(textOf))
      const content = [freshVersion(), JSON.stringify(value), expiresAt ?? null, names]
      if (expected === 0) return create.run(...place, ...content, now).changes > 0
      return update.run(...content, ...place, expected, now).changes > 0
    },

    list: (label, { limit = 100, cursor = '' } = {}): RecordPage => {
      const rows = some.all(namespace, cursor, clock(), textOf(label), limit + 1) as (Row & { key: string })[]
      const page = rows.slice(0, limit)
      const records = page.map((row) => ({ key: JSON.parse(row.key) as string, ...recordOf(row) }))
      const last = page.at(-1)
      return rows.length > limit && last !== undefined ? { records, cursor: last.key } : { records }
    },
  }
}

/** Any text as one that every engine takes: JSON escapes NUL and half of a surrogate pair. */
const textOf = (name: string): string => JSON.stringify(name)

/** A version that no write had before, nor will have: random, since the record may have been removed in between. */
const freshVersion = (): number => 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1))

interface Row {
  readonly version: number
  readonly value: string
}

const recordOf = ({ version, value }: Row): StoredRecord => ({ version, value: JSON.parse(value) })

const recordIn = (row: unknown): StoredRecord | undefined => (row ? recordOf(row as Row) : undefined)
// #endregion store

describe('the contract', () => {
  // #region proof
  const database = new Database(':memory:')
  const cases = storageContract(({ clock, namespace }) => ({
    store: tableStore(database, { clock, namespace }),
  }))
  for (const { name, run } of cases) test(name, run, 60_000)
  // #endregion proof
})

test('a store that forgets to compare is found out', async () => {
  const broken = storageContract(({ clock, namespace }) => {
    const store = tableStore(new Database(':memory:'), { clock, namespace })
    const write: RecordStore['write'] = async (key, value, options) => {
      const [found] = await store.read([key])
      return store.write(key, value, { ...options, expected: found?.version ?? 0 })
    }
    return { store: { ...store, write } }
  })
  const failed: string[] = []
  for (const { name, run } of broken)
    await run().catch((error: Error) => {
      failed.push(`${name}: ${error.message}`)
    })
  expect(failed).toContain(
    'write: where nothing is, any version but 0 is refused: ' +
      'the contract demands that a write that expects 1 is refused where nothing is, but it succeeded',
  )
})
