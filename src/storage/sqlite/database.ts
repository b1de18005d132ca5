/**
 * The databases that the store of SQLite works with, and the check before each write.
 * @module
 */
import { StorageUnavailable } from '../../core/errors.js'

/** An opened database of libsql, better-sqlite3, `node:sqlite` or `bun:sqlite`, as far as the four are alike. */
export interface SqliteDatabase {
  /** Runs statements without values. */
  exec(sql: string): unknown
  /** Prepares a statement. */
  prepare(sql: string): SqliteStatement
  /** True while a transaction is open; `node:sqlite` calls it `isTransaction`. */
  readonly inTransaction?: boolean
  /** True inside a transaction, where the engine tells. */
  readonly isTransaction?: boolean
  /** False once the database is closed, in libsql and better-sqlite3; a method in `node:sqlite`. */
  readonly open?: unknown
  /** False once the database is closed, in `node:sqlite`. */
  readonly isOpen?: boolean
}

/** A prepared statement of a {@link SqliteDatabase}. */
export interface SqliteStatement {
  /** Runs the statement and returns its first row. */
  get(...values: (string | number | null)[]): unknown
  /** Runs the statement and returns all its rows. */
  all(...values: (string | number | null)[]): unknown[]
  /** Runs the statement. */
  run(...values: (string | number | null)[]): unknown
}

/**
 * Refuses to write to a database that is closed, and in a transaction of somebody else, who could undo the write long after the
 * store answered.
 * @throws StorageUnavailable
 */
export function checkWritable(database: SqliteDatabase): void {
  // Checked first: libsql 0.5 ends the process if it is asked for the transaction of a closed database.
  if (database.open === false || database.isOpen === false)
    throw new StorageUnavailable('the database of SQLite is closed')
  if (callEngine(() => database.inTransaction === true || database.isTransaction === true))
    throw new StorageUnavailable('somebody else’s transaction is open on the connection to SQLite')
}

/** Calls SQLite. @throws StorageUnavailable if it fails */
export function callEngine<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new StorageUnavailable('SQLite failed', error)
  }
}
