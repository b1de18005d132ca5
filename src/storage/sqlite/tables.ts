/**
 * The tables of the records and of their labels, with the triggers that keep them in step.
 * @module
 */
import { checkTableShape } from '../shared/table-shape.js'
import type { SqliteDatabase } from './database.js'
import { callEngine } from './database.js'

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

/**
 * Checks the tables of a database that has them already.
 * @throws GrantwellError `ERR_CONFIGURATION` for a table with another shape
 */
export function checkTables(database: SqliteDatabase): void {
  for (const [table, shape] of Object.entries(SHAPES)) {
    const columns = callEngine(() =>
      database
        .prepare(
          `SELECT name || ' ' || type || CASE WHEN "notnull" AND dflt_value IS NULL THEN ' NOT NULL' ELSE '' END AS part
        FROM pragma_table_info('${table}')`,
        )
        .all(),
    )
    const found = (columns as readonly { readonly part: string }[]).map(({ part }) => part) // the one column above
    if (found.length > 0) checkTableShape('sqliteStore', table, shape, found)
  }
}

/** Sets up a database, and makes its tables where they are missing. */
export function setUp(database: SqliteDatabase, synchronous: 'full' | 'normal'): void {
  database.exec('PRAGMA busy_timeout = 2000')
  database.exec('PRAGMA journal_mode = WAL')
  database.exec(`PRAGMA synchronous = ${synchronous}`)
  database.exec(SCHEMA)
}
