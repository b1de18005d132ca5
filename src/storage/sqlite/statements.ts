/**
 * The statements of a store in SQLite.
 * @module
 */
import { MAX_REMOVED } from '../shared/expiry.js'
import type { SqliteDatabase, SqliteStatement } from './database.js'

/** The statements of a store. */
export interface Statements {
  readonly read: SqliteStatement
  readonly create: SqliteStatement
  readonly renew: SqliteStatement
  readonly update: SqliteStatement
  readonly remove: SqliteStatement
  readonly list: SqliteStatement
  readonly scan: SqliteStatement
  readonly removeExpired: SqliteStatement
}

/** Prepares the statements. Those that write compare the version; expired records count as absent. */
export function prepareStatements(database: SqliteDatabase): Statements {
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
    // Most updates leave the indexed columns alone. SQLite writes an index even if its columns are set to the values that they have.
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
    scan: database.prepare(
      `SELECT key, version, value, expires_at, labels FROM grantwell_records
         WHERE namespace = ? AND key > ? AND ${live} ORDER BY key LIMIT ?`,
    ),
    removeExpired: database.prepare(
      `DELETE FROM grantwell_records WHERE rowid IN
           (SELECT rowid FROM grantwell_records WHERE namespace = ? AND kept_until <= ? ORDER BY kept_until LIMIT ${MAX_REMOVED})
         RETURNING 1`,
    ),
  }
}
