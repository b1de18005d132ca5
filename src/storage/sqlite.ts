/**
 * The entry point `grantwell/storage/sqlite`: records in a file of SQLite, durable, for the processes of one machine.
 * Made for libsql 0.5, better-sqlite3 12, `node:sqlite` of Node 22 and `bun:sqlite` of Bun 1; the database is passed in.
 *
 * Each write is one statement, so it happens whole or not at all, `kill -9` or not. Triggers keep the labels in step.
 * @module
 */
import { configurationError, StorageUnavailable } from '../core/errors.js'
import { methods, oneOf } from '../core/takes.js'
import type { EngineOptions, Parse } from './engine.js'
import {
  checkEngine,
  decodeName,
  differenceFrom,
  encodeName,
  engineOptions,
  freshVersion,
  keptUntil,
  rememberingParser,
} from './engine.js'
import type { RecordPage, RecordStore, StoredRecord } from './record-store.js'

export { StorageUnavailable } from '../core/errors.js'
export type { EngineOptions } from './engine.js'
export type { JsonValue, RecordPage, RecordStore, StoredRecord, WriteOptions } from './record-store.js'

/** An opened database of libsql, better-sqlite3, `node:sqlite` or `bun:sqlite`: what the four have in common. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
  /** Whether a transaction is open; `node:sqlite` calls it `isTransaction`. */
  readonly inTransaction?: boolean
  readonly isTransaction?: boolean
}

/** A prepared statement of a {@link SqliteDatabase}. */
export interface SqliteStatement {
  get(...values: (string | number | null)[]): unknown
  all(...values: (string | number | null)[]): unknown[]
  run(...values: (string | number | null)[]): unknown
}

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions extends EngineOptions {
  /**
   * `full`, the default, waits at every write until it is on the disk; with `normal`, which is several times as fast, a
   * power failure, though no crash of the process, may take back the last writes: a revocation, say.
   */
  readonly synchronous?: 'full' | 'normal'
}

/** A {@link RecordStore} in SQLite. */
export interface SqliteStore extends RecordStore {
  /**
   * Removes up to 1,000 expired records, each at the latest an eighth of its life after it expired. A write does so by itself: the first one, one a minute after the last time, and the
   * next one where there were more.
   * @returns how many
   */
  readonly removeExpired: () => number
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS grantwell_records (
    namespace TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL, value TEXT NOT NULL, expires_at INTEGER,
    kept_until INTEGER, labels TEXT NOT NULL,
    PRIMARY KEY (namespace, key)
  );
  CREATE INDEX IF NOT EXISTS grantwell_expiry ON grantwell_records (namespace, kept_until) WHERE kept_until IS NOT NULL;
  CREATE TABLE IF NOT EXISTS grantwell_labels (
    namespace TEXT NOT NULL, label TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (namespace, label, key)
  ) WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS grantwell_label AFTER INSERT ON grantwell_records BEGIN
    INSERT OR IGNORE INTO grantwell_labels SELECT new.namespace, value, new.key FROM json_each(new.labels);
  END;
  CREATE TRIGGER IF NOT EXISTS grantwell_relabel AFTER UPDATE OF labels ON grantwell_records WHEN old.labels <> new.labels BEGIN
    DELETE FROM grantwell_labels WHERE namespace = old.namespace AND key = old.key
      AND label IN (SELECT value FROM json_each(old.labels));
    INSERT OR IGNORE INTO grantwell_labels SELECT new.namespace, value, new.key FROM json_each(new.labels);
  END;
  CREATE TRIGGER IF NOT EXISTS grantwell_unlabel AFTER DELETE ON grantwell_records BEGIN
    DELETE FROM grantwell_labels WHERE namespace = old.namespace AND key = old.key
      AND label IN (SELECT value FROM json_each(old.labels));
  END;`

/** The columns of the tables. */
const SHAPES = {
  grantwell_records: [
    'namespace TEXT NOT NULL',
    'key TEXT NOT NULL',
    'version INTEGER NOT NULL',
    'value TEXT NOT NULL',
    'expires_at INTEGER',
    'kept_until INTEGER',
    'labels TEXT NOT NULL',
  ],
  grantwell_labels: ['namespace TEXT NOT NULL', 'label TEXT NOT NULL', 'key TEXT NOT NULL'],
} as const

/** Says which table of ours is somebody else's; undefined where none is. */
function foreignTable(database: SqliteDatabase): string | undefined {
  for (const [table, shape] of Object.entries(SHAPES)) {
    const columns = database.prepare(
      `SELECT name || ' ' || type || CASE WHEN "notnull" AND dflt_value IS NULL THEN ' NOT NULL' ELSE '' END AS part
        FROM pragma_table_info('${table}')`,
    )
    const found = (columns.all() as readonly { readonly part: string }[]).map(({ part }) => part) // the one column above
    const difference = found.length === 0 ? undefined : differenceFrom(shape, found)
    if (difference !== undefined) return `the table ${table} has another shape: ${difference}`
  }
  return undefined
}

/** Seconds between two removals of expired records; none after one that was full. */
const REMOVAL_INTERVAL = 60
const REMOVED_AT_ONCE = 1_000

interface Row {
  readonly key: string
  readonly version: number | bigint
  readonly value: string
}

/**
 * Makes a store in an opened database, and its tables where they are missing. The database is switched to write-ahead
 * logging and to waiting 2 seconds for a lock. Give it a connection of its own: while a transaction of somebody else is open on
 * it, writes are refused.
 * @throws GrantwellError `ERR_CONFIGURATION` for a wrong option, and for a database that has tables of these names with another
 * shape; `StorageUnavailable` where the engine fails
 * @example
 * ```ts
 * import Database from 'libsql'
 * const store = sqliteStore(new Database('grants.db'))
 * ```
 */
export function sqliteStore(database: SqliteDatabase, options: SqliteStoreOptions = {}): SqliteStore {
  const {
    namespace,
    clock,
    synchronous = 'full',
  } = engineOptions('sqliteStore', options, {
    synchronous: oneOf('full', 'normal'),
  })
  checkEngine('sqliteStore', 'database', methods('an opened database', 'prepare', 'exec'), database)
  const parse = rememberingParser()
  const foreign = attempt(() => foreignTable(database))
  if (foreign !== undefined) throw configurationError(`sqliteStore: ${foreign}`)
  const statements = attempt(() => {
    database.exec('PRAGMA busy_timeout = 2000')
    database.exec('PRAGMA journal_mode = WAL')
    database.exec(`PRAGMA synchronous = ${synchronous}`)
    database.exec(SCHEMA)
    const live = '(expires_at IS NULL OR expires_at > ?)'
    return {
      read: database.prepare(
        `SELECT key, version, value FROM grantwell_records WHERE namespace = ? AND key = ? AND ${live}`,
      ),
      create: database.prepare(
        `INSERT INTO grantwell_records (version, value, expires_at, kept_until, labels, namespace, key) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (namespace, key) DO UPDATE SET version = excluded.version, value = excluded.value,
           expires_at = excluded.expires_at, kept_until = excluded.kept_until, labels = excluded.labels WHERE expires_at <= ?`,
      ),
      // SQLite writes an index anew whose columns are set, be they what they were; so most updates set none of them.
      renew: database.prepare(
        `UPDATE grantwell_records SET version = ?, value = ?, expires_at = ?
         WHERE kept_until IS ? AND labels = ? AND namespace = ? AND key = ? AND ${live} AND version = ?`,
      ),
      update: database.prepare(
        `UPDATE grantwell_records SET version = ?, value = ?, expires_at = ?, kept_until = ?, labels = ?
         WHERE namespace = ? AND key = ? AND ${live} AND version = ?`,
      ),
      remove: database.prepare(
        `DELETE FROM grantwell_records WHERE namespace = ? AND key = ? AND ${live} AND version = ?`,
      ),
      list: database.prepare(
        `SELECT key, version, value FROM grantwell_labels JOIN grantwell_records USING (namespace, key)
         WHERE namespace = ? AND label = ? AND key > ? AND ${live} ORDER BY key LIMIT ?`,
      ),
      removeExpired: database.prepare(
        `DELETE FROM grantwell_records WHERE rowid IN
           (SELECT rowid FROM grantwell_records WHERE namespace = ? AND kept_until <= ? ORDER BY kept_until LIMIT ${REMOVED_AT_ONCE})
         RETURNING 1`,
      ),
    }
  })
  let removedAt = Number.NEGATIVE_INFINITY

  function removeExpired(): number {
    removedAt = clock()
    const { length } = attempt(() => statements.removeExpired.all(namespace, removedAt))
    if (length === REMOVED_AT_ONCE) removedAt -= REMOVAL_INTERVAL
    return length
  }

  /** What fails in it fails where somebody is told, too. */
  function removeByTheWay(now: number): void {
    if (now < removedAt + REMOVAL_INTERVAL) return
    try {
      removeExpired()
    } catch {}
  }

  function readOne(key: string, now: number): Row | undefined {
    return (statements.read.get(namespace, encodeName(key), now) as Row | null | undefined) ?? undefined // our own columns
  }

  return {
    removeExpired,

    read: (keys) => {
      const now = clock()
      return attempt(() =>
        keys.map((key) => {
          const row = readOne(key, now)
          return row && recordOf(row, parse)
        }),
      )
    },

    write: (key, value, { expected, expiresAt, labels = [] }) => {
      const now = clock()
      // Whoever opened it could take back what is written in it, long after it was answered.
      if (database.inTransaction === true || database.isTransaction === true)
        throw new StorageUnavailable('somebody else’s transaction is open on the connection to SQLite')
      removeByTheWay(now)
      return attempt(() => {
        const place = [namespace, encodeName(key)] as const
        if (expiresAt !== undefined && now >= expiresAt) {
          if (expected === 0) return readOne(key, now) === undefined
          return changed(statements.remove.run(...place, now, expected))
        }
        const names = JSON.stringify(labels.map(encodeName))
        const kept = expiresAt === undefined ? null : keptUntil(expiresAt, now)
        const left = [freshVersion(), JSON.stringify(value), expiresAt ?? null, kept, names, ...place, now] as const
        if (expected === 0) return changed(statements.create.run(...left))
        return changed(statements.renew.run(...left, expected)) || changed(statements.update.run(...left, expected))
      })
    },

    list: (label, { limit = 100, cursor = '' } = {}): RecordPage => {
      const found = attempt(() => statements.list.all(namespace, encodeName(label), cursor, clock(), limit + 1))
      const rows = found.slice(0, limit) as readonly Row[] // our own columns
      const records = rows.map((row) => ({ ...recordOf(row, parse), key: decodeName(row.key) }))
      const last = rows.at(-1)
      return found.length > limit && last !== undefined ? { records, cursor: last.key } : { records }
    },
  }
}

function recordOf({ version, value }: Row, parse: Parse): StoredRecord {
  return { value: parse(value, Number(version)), version: Number(version) }
}

/** Whether a statement changed its row. A driver may count those of the triggers too. */
function changed(result: unknown): boolean {
  return Number((result as { readonly changes: number | bigint }).changes) > 0 // all four drivers answer so
}

function attempt<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new StorageUnavailable('SQLite failed', error)
  }
}
