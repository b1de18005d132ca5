/**
 * The entry point `grantwell/storage/sqlite`: records in a file of SQLite, durable, for the processes of one machine.
 * Made for libsql 0.5, better-sqlite3 12, `node:sqlite` of Node 22 and `bun:sqlite` of Bun 1; the database is passed in.
 *
 * Each write is one statement, so SQLite does all of it or nothing, even if the process is killed. Triggers keep the labels in step.
 * @module
 */
import { methods, oneOf } from '../core/takes.js'
import type { Seconds } from '../core/values.js'
import type {
  JsonValue,
  RecordPage,
  RecordStore,
  ScannedRecord,
  ScanPage,
  StoredRecord,
  WriteOptions,
} from './record-store.js'
import type { Engine, WithEngine } from './shared/engine.js'
import { ENGINE } from './shared/engine.js'
import { createRemovalSchedule, keptUntil } from './shared/expiry.js'
import { freshVersion } from './shared/fresh-version.js'
import { decodeName, encodeName } from './shared/names.js'
import type { EngineOptions } from './shared/options.js'
import { checkClient, readEngineOptions } from './shared/options.js'
import type { Parse } from './shared/parse-cache.js'
import { createParseCache, parseAlone } from './shared/parse-cache.js'
import type { SqliteDatabase } from './sqlite/database.js'
import { callEngine, checkWritable } from './sqlite/database.js'
import type { Statements } from './sqlite/statements.js'
import { prepareStatements } from './sqlite/statements.js'
import { checkTables, setUp } from './sqlite/tables.js'

export { StorageUnavailable } from '../core/errors.js'
export type {
  JsonValue,
  RecordPage,
  RecordStore,
  ScannedRecord,
  ScanPage,
  StoredRecord,
  WriteOptions,
} from './record-store.js'
export type { EngineOptions } from './shared/options.js'
export type { SqliteDatabase, SqliteStatement } from './sqlite/database.js'

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions extends EngineOptions {
  /**
   * `full`, the default, makes every write wait until it is on the disk. `normal` is several times as fast, but a power failure may
   * undo the last writes: a revocation, for example. A crash of the process undoes nothing.
   */
  readonly synchronous?: 'full' | 'normal'
}

/** A {@link RecordStore} in SQLite. */
export interface SqliteStore extends RecordStore {
  /**
   * Removes up to 1,000 expired records. A record can be removed an eighth of its life after it expired, at the latest.
   *
   * The store calls this itself in a write: in the first one, then once a minute, and in the next write after a removal of 1,000 records.
   * @returns the number of records removed
   */
  readonly removeExpired: () => number
}

/** A row of the table, as far as it is read. */
interface Row {
  readonly key: string
  readonly version: number | bigint
  readonly value: string
}

/** A row of the table with all its columns. */
interface WholeRow extends Row {
  readonly expires_at: number | bigint | null
  readonly labels: string
}

/**
 * Makes a store in an opened database, and its tables where they are missing. Switches the database to write-ahead logging, and to
 * waiting 2 seconds for a lock.
 *
 * Give the store a connection of its own. While somebody else's transaction is open on the connection, and once it is closed, writes
 * are refused.
 * @throws GrantwellError `ERR_CONFIGURATION` for a wrong option, and for a database that has tables of these names with another
 * shape; `StorageUnavailable` if SQLite fails
 * @example
 * ```ts
 * import Database from 'libsql'
 * const store = sqliteStore(new Database('grants.db'))
 * ```
 */
export function sqliteStore(database: SqliteDatabase, options: SqliteStoreOptions = {}): SqliteStore {
  const own = readEngineOptions('sqliteStore', options, { synchronous: oneOf('full', 'normal') })
  const { namespace, clock, synchronous = 'full' } = own
  checkClient('sqliteStore', 'database', methods('an opened database', 'prepare', 'exec'), database)
  const parse = createParseCache()
  checkTables(database)
  const statements = callEngine(() => {
    setUp(database, synchronous)
    return prepareStatements(database)
  })
  const engine: Engine = { system: 'sqlite' }
  const removal = createRemoval(statements, namespace, clock, engine)

  const store: SqliteStore & WithEngine = {
    [ENGINE]: engine,

    removeExpired: removal.removeExpired,

    read: (keys) => {
      const now = clock()
      return callEngine(() =>
        keys.map((key) => {
          const row = statements.read.get(namespace, encodeName(key), now) as Row | null | undefined // our own columns
          return row ? parseRecord(row, parse) : undefined
        }),
      )
    },

    write: (key, value, options) => {
      const now = clock()
      checkWritable(database)
      removal.removeIfDue(now)
      return callEngine(() => compareAndWrite(statements, namespace, key, value, options, now))
    },

    list: (label, { limit = 100, cursor = '' } = {}): RecordPage => {
      const found = callEngine(() => statements.list.all(namespace, encodeName(label), cursor, clock(), limit + 1))
      const rows = found.slice(0, limit) as readonly Row[] // our own columns
      const records = rows.map((row) => ({ ...parseRecord(row, parse), key: decodeName(row.key) }))
      const last = rows.at(-1)
      return found.length > limit && last !== undefined ? { records, cursor: last.key } : { records }
    },

    scan: ({ limit = 100, cursor = '' } = {}): ScanPage => {
      const rows = callEngine(() => statements.scan.all(namespace, cursor, clock(), limit)) as readonly WholeRow[] // our own columns
      const records = rows.map((row) => parseWhole(row, parseAlone))
      const last = rows.at(-1)
      return rows.length < limit || last === undefined ? { records } : { records, cursor: last.key }
    },
  }
  return store
}

/** Writes a record if its stored version is the expected one. Each statement compares the version and writes at once. */
function compareAndWrite(
  statements: Statements,
  namespace: string,
  key: string,
  value: JsonValue,
  { expected, expiresAt, labels = [] }: WriteOptions,
  now: Seconds,
): boolean {
  const place = [namespace, encodeName(key)] as const
  if (expiresAt !== undefined && now >= expiresAt) {
    if (expected === 0) return !statements.read.get(...place, now)
    return hasChanged(statements.remove.run(...place, now, expected))
  }
  const names = JSON.stringify(labels.map(encodeName))
  const kept = expiresAt === undefined ? null : keptUntil(expiresAt, now)
  const values = [freshVersion(), JSON.stringify(value), expiresAt ?? null, kept, names, ...place, now] as const
  if (expected === 0) return hasChanged(statements.create.run(...values))
  return hasChanged(statements.renew.run(...values, expected)) || hasChanged(statements.update.run(...values, expected))
}

/** Creates the removal of a store's expired records. */
function createRemoval(statements: Statements, namespace: string, clock: () => Seconds, engine: Engine) {
  const schedule = createRemovalSchedule(engine)

  function removeExpired(): number {
    const now = clock()
    schedule.began(now)
    const { length } = callEngine(() => statements.removeExpired.all(namespace, now))
    schedule.deleted(length)
    return length
  }

  return {
    removeExpired,

    /** Ignores failures: the write that follows fails too, and reports it. */
    removeIfDue(now: Seconds): void {
      if (!schedule.isDue(now)) return
      try {
        removeExpired()
      } catch {}
    },
  }
}

function parseRecord({ version, value }: Row, parse: Parse): StoredRecord {
  return { value: parse(value, Number(version)), version: Number(version) }
}

function parseWhole(row: WholeRow, parse: Parse): ScannedRecord {
  const labels: readonly string[] = JSON.parse(row.labels)
  const expiry = row.expires_at === null ? {} : { expiresAt: Number(row.expires_at) }
  return {
    ...parseRecord(row, parse),
    key: decodeName(row.key),
    labels: [...new Set(labels.map(decodeName))],
    ...expiry,
  }
}

/** Returns true if a statement changed its row. A driver may also count the rows that triggers changed. */
function hasChanged(result: unknown): boolean {
  return Number((result as { readonly changes: number | bigint }).changes) > 0 // all four drivers answer so
}
