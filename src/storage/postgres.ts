/**
 * The entry point `grantwell/storage/postgres`: records in PostgreSQL, for any number of servers. Made for PostgreSQL 12
 * and later through pg 8, and for the embedded PGlite 0.5; the client is passed in.
 *
 * Each operation is one prepared statement, so PostgreSQL does all of it or nothing.
 * @module
 */

import { createConditionalWrites, createRow } from './postgres/batched-writes.js'
import type { EmbeddedPostgres, NodePostgres } from './postgres/client.js'
import { prepareClient } from './postgres/client.js'
import type { Migrate } from './postgres/migrate.js'
import { createMigrate } from './postgres/migrate.js'
import { encodeLabel, indexedLabel } from './postgres/names.js'
import { createRemoval } from './postgres/remove-expired.js'
import type { RecordRow, ScannedRow } from './postgres/row.js'
import { parseRecord, parseRecords, parseScanned } from './postgres/row.js'
import { createStatementRunner } from './postgres/run.js'
import type { RecordPage, RecordStore, ScanPage } from './record-store.js'
import { batchReads } from './shared/batch.js'
import type { Engine, WithEngine } from './shared/engine.js'
import { ENGINE } from './shared/engine.js'
import { decodeName, encodeName } from './shared/names.js'
import type { RemoteEngineOptions } from './shared/options.js'
import { DEFAULT_TIMEOUT_MS, readEngineOptions, TIMEOUT } from './shared/options.js'
import { createParseCache, parseAlone } from './shared/parse-cache.js'

export { StorageUnavailable } from '../core/errors.js'
export type { EmbeddedPostgres, NodePostgres } from './postgres/client.js'
export type { Migrate } from './postgres/migrate.js'
export type {
  JsonValue,
  RecordPage,
  RecordStore,
  ScannedRecord,
  ScanPage,
  StoredRecord,
  WriteOptions,
} from './record-store.js'
export type { EngineOptions, RemoteEngineOptions } from './shared/options.js'

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions extends RemoteEngineOptions {
  /** The table of the records: a table or `schema.table`, in lower case; `grantwell_records` by default. */
  readonly table?: string
}

/** A {@link RecordStore} in PostgreSQL. */
export interface PostgresStore extends RecordStore {
  /**
   * Makes the table, and what belongs to it, where it is missing. May be called at every start, by many servers at once.
   * @throws GrantwellError `ERR_CONFIGURATION` for a table of that name that has another shape, with what it has and lacks
   */
  readonly migrate: Migrate
  /**
   * Removes up to 1,000 expired records. A record can be removed an eighth of its life after it expired, at the latest.
   *
   * The store calls this itself, in the background of a write: at the first write, then once a minute, and at the next write after a
   * removal of 1,000 records.
   * @returns the number of records removed
   */
  readonly removeExpired: () => Promise<number>
}

const TABLE = {
  words: 'a table or schema.table in lower case, each name of at most 40 characters',
  fits: (value: unknown) =>
    typeof value === 'string' && /^(?:[a-z_][a-z0-9_]{0,39}\.)?[a-z_][a-z0-9_]{0,39}$/.test(value),
}

/**
 * Makes a store over a pool of pg, or over PGlite. A single `Client` works too, but never connects again. If the host opens a
 * transaction on it, the store's writes become part of that transaction.
 *
 * PostgreSQL may end an idle connection of the pool. Without a listener for the pool's errors, that would end the process; so the store
 * listens if nobody else does. A pool without a time-out for connections gets `timeoutMs`.
 * @throws GrantwellError `ERR_CONFIGURATION` for a wrong option
 * @example
 * ```ts
 * import { Pool } from 'pg'
 * const store = postgresStore(new Pool({ connectionString }))
 * await store.migrate()
 * ```
 */
export function postgresStore(
  client: NodePostgres | EmbeddedPostgres,
  options: PostgresStoreOptions = {},
): PostgresStore {
  const own = readEngineOptions('postgresStore', options, { timeoutMs: TIMEOUT, table: TABLE })
  const { namespace, clock, timeoutMs = DEFAULT_TIMEOUT_MS, table = 'grantwell_records' } = own
  prepareClient(client, timeoutMs)
  const run = createStatementRunner(client, table, timeoutMs)
  const parse = createParseCache()
  const engine: Engine = { system: 'postgresql' }
  const writes = createConditionalWrites(run, namespace, engine)
  const { removeExpired, removeInBackground } = createRemoval(run, namespace, clock, engine)

  const store: PostgresStore & WithEngine = {
    [ENGINE]: engine,

    migrate: createMigrate(client, run, table, timeoutMs),

    removeExpired,

    read: batchReads(engine, async (keys) => {
      const { rows } = await run('read', [namespace, JSON.stringify(keys.map(encodeName)), clock()])
      return parseRecords(rows, keys.length, parse)
    }),

    write: async (key, value, options) => {
      const now = clock()
      const { expected, expiresAt } = options
      const isRemoval = expiresAt !== undefined && now >= expiresAt
      if (isRemoval && expected === 0) {
        const { rows } = await run('read', [namespace, JSON.stringify([encodeName(key)]), now])
        return rows.length === 0
      }
      const row = createRow(key, value, options, now)
      const write = isRemoval ? writes.remove : expected === 0 ? writes.create : writes.update
      const writing = write(row)
      removeInBackground()
      return writing
    },

    list: async (label, { limit = 100, cursor = '' } = {}): Promise<RecordPage> => {
      // PostgreSQL refuses NUL, which no key has: a cursor may come from the address of a page.
      const [after] = cursor.split('\0', 1)
      const encoded = encodeLabel(label)
      const values = [namespace, indexedLabel(encoded), after, clock(), limit + 1, encoded]
      const { rows: found } = await run<RecordRow & { readonly key: string }>('list', values)
      const rows = found.slice(0, limit)
      const records = rows.map(({ key, record }) => ({ ...parseRecord(record, parse), key: decodeName(key) }))
      const last = rows.at(-1)
      return found.length > limit && last !== undefined ? { records, cursor: last.key } : { records }
    },

    scan: async ({ limit = 100, cursor = '' } = {}): Promise<ScanPage> => {
      const { rows } = await run<ScannedRow>('scan', [namespace, cursor, clock(), limit])
      const records = rows.map((row) => parseScanned(row, parseAlone))
      return rows.length < limit ? { records } : { records, cursor: rows.at(-1)?.key }
    },
  }
  return store
}
