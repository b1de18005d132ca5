/**
 * The code of the page "Write a store": a store over one table of SQL, and its proof.
 * @module
 */
// #region imports
import type { RecordPage, RecordStore, ScanPage, StoredRecord } from 'grantwell'
import { storageContract } from 'grantwell/testing'
import Database from 'libsql'
// #endregion imports
// #region server-imports
import { randomUUID } from 'node:crypto'
import { explore, lifecycle, virtualClock, wire } from 'grantwell/testing'
// #endregion server-imports
// #region failure-imports
import { StorageUnavailable } from 'grantwell'
// #endregion failure-imports
import type { JsonValue } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it as test } from 'vitest'
import { readPage } from './page-words.js'

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
  const all = database.prepare(
    `SELECT key, version, value, expires_at, labels FROM records WHERE namespace = ? AND key > ?
       AND (expires_at IS NULL OR expires_at > ?) ORDER BY key LIMIT ?`,
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

    scan: ({ limit = 100, cursor = '' } = {}): ScanPage => {
      const rows = all.all(namespace, cursor, clock(), limit) as WholeRow[]
      const records = rows.map(({ key, labels, expires_at, ...row }) => ({
        ...recordOf(row),
        key: JSON.parse(key) as string,
        labels: [...new Set(JSON.parse(labels).map((label: string) => JSON.parse(label)))] as string[],
        ...(expires_at !== null && { expiresAt: expires_at }),
      }))
      return rows.length < limit ? { records } : { records, cursor: rows.at(-1)?.key }
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

interface WholeRow extends Row {
  readonly key: string
  readonly labels: string
  readonly expires_at: number | null
}

const recordOf = ({ version, value }: Row): StoredRecord => ({ version, value: JSON.parse(value) })

const recordIn = (row: unknown): StoredRecord | undefined => (row ? recordOf(row as Row) : undefined)
// #endregion store

describe('the store, and a server over it', () => {
  // #region proof
  const database = new Database(':memory:')
  const cases = storageContract(({ clock, namespace }) => ({
    store: tableStore(database, { clock, namespace }),
  }))
  for (const { name, run } of cases) test(name, run, 60_000)
  // #endregion proof

  // #region server
  test('answers as the specification says', async () => {
    await lifecycle(() => {
      const clock = virtualClock()
      return wire({ store: tableStore(database, { clock, namespace: randomUUID() }), clock })
    })
  }, 120_000)

  test.each([
    ['exchange', 'exchange'],
    ['refresh', 'refresh'],
    ['refresh', 'revoke'],
  ] as const)(
    'keeps every rule in every order of %s and %s',
    async (...requests) => {
      const namespace = randomUUID()
      await explore({ requests, store: ({ clock }) => tableStore(database, { clock, namespace }) })
    },
    120_000,
  )
  // #endregion server
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

// #region failure
/** Gives the engine's error as the cause: the log of a host has both. */
async function failing<Result>(asked: Promise<Result>): Promise<Result> {
  try {
    return await asked
  } catch (error) {
    throw new StorageUnavailable('the database of the grants did not answer', error) // its cause is the second argument
  }
}
// #endregion failure

test('an error of the engine is the cause of that of the store', async () => {
  const cause = new Error('connection refused')
  const message = 'grantwell: the database of the grants did not answer'
  await expect(failing(Promise.reject(cause))).rejects.toMatchObject({
    code: 'ERR_STORAGE_UNAVAILABLE',
    message,
    cause,
  })
  expect(await failing(Promise.resolve(1))).toBe(1)
})

// #region lock
/** Runs what is asked for a key when all that was asked before for this key has ended. Make one for each database. */
function createLock() {
  const last = new Map<string, Promise<unknown>>()
  return async function locked<Result>(key: string, run: () => Promise<Result>): Promise<Result> {
    const mine = (last.get(key) ?? Promise.resolve()).then(run)
    const ended = mine.catch(() => {}) // the next one runs after a failure too
    last.set(key, ended)
    return mine.finally(() => last.get(key) === ended && last.delete(key))
  }
}
// #endregion lock

/** An engine of one process that gets and puts, each in its own time, and compares nothing. */
function simpleEngine(clock: () => number) {
  const store = memoryStore({ clock })
  const pause = () => new Promise((resolve) => setImmediate(resolve))
  return {
    get: async (key: string) => {
      const [found] = await store.read([key])
      await pause()
      return found
    },
    put: async (key: string, value: JsonValue, options: Omit<Parameters<RecordStore['write']>[2], 'expected'>) => {
      await pause()
      const [found] = await store.read([key])
      await store.write(key, value, { ...options, expected: found?.version ?? 0 })
    },
    list: store.list,
  }
}

type Engine = ReturnType<typeof simpleEngine>
type Lock = ReturnType<typeof createLock>

function lockedStore({ get, put, list }: Engine, locked: Lock): RecordStore {
  return {
    read: (keys) => Promise.all(keys.map(get)),
    list,
    // #region locked
    write: (key, value, { expected, ...options }) =>
      locked(key, async () => {
        const found = await get(key)
        if ((found?.version ?? 0) !== expected) return false
        await put(key, value, options)
        return true
      }),
    // #endregion locked
  }
}

/** Makes the engine and the lock of each namespace once: an engine that opens once per process. */
function createShared(makeLock: () => Lock) {
  const shared = new Map<string, { engine: Engine; locked: Lock }>()
  return (namespace: string, clock: () => number): RecordStore => {
    const found = shared.get(namespace) ?? { engine: simpleEngine(clock), locked: makeLock() }
    shared.set(namespace, found)
    return lockedStore(found.engine, found.locked)
  }
}

describe('a store that compares under a lock', () => {
  const shared = createShared(createLock)
  const cases = storageContract(({ clock, namespace }) => ({ store: shared(namespace, clock) }), { numRuns: 5 })
  for (const { name, run } of cases) test(name, run, 60_000)

  test('is found out without the lock, by the contract', async () => {
    const broken = createShared(() => (_key, run) => run())
    const failed: string[] = []
    for (const { name, run } of storageContract(({ clock, namespace }) => ({ store: broken(namespace, clock) }), {
      numRuns: 5,
    }))
      await run().catch(() => failed.push(name))
    expect(failed).toContain('write: loses none of many increments over several connections')
    for (const name of failed) expect(name).toMatch(/^(?:write|expiry): (?:lets one|loses none) of many/)
    expect(readPage('stores/write')).toContain('write: loses none of many increments over several connections')
  })

  test('keeps every rule in the explorer, and goes on after a failure', async () => {
    const { exhaustive } = await explore({
      requests: ['exchange', 'exchange'],
      store: ({ clock }) => lockedStore(simpleEngine(clock), createLock()),
    })
    expect(exhaustive).toBe(true)
    const locked = createLock()
    const fails = locked('key', () => Promise.reject(new Error('no')))
    const next = locked('key', async () => 1)
    await expect(fails).rejects.toThrow('no')
    expect(await next).toBe(1)
  })

  test('hangs in the explorer if it gives steps under its lock', async () => {
    const found: unknown = await explore({
      requests: ['exchange', 'exchange'],
      store: ({ clock, step }) => {
        const engine = simpleEngine(clock)
        const put: Engine['put'] = async (...args) => {
          await step('puts what it compared')
          return engine.put(...args)
        }
        return lockedStore({ ...engine, put }, createLock())
      },
      patience: 3,
    }).catch((error: unknown) => error)
    const message = 'Every request asks the store or is answered. But nothing has come for 3 s.'
    expect(String(found)).toContain(message)
    expect(readPage('proof/explorer')).toContain(message)
  }, 60_000)
})
