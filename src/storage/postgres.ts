/**
 * The entry point `grantwell/storage/postgres`: records in PostgreSQL, for any number of servers. Made for PostgreSQL 12
 * and later through pg 8, and for the embedded PGlite 0.5; the client is passed in.
 *
 * One table holds the records, and, so that lists page by an index, one row without a value for each label of a record.
 * Each operation is one prepared statement, so it happens whole or not at all.
 * @module
 */
import { portableDigests } from '../core/digests.js'
import { StorageUnavailable } from '../core/errors.js'
import type { RemoteEngineOptions } from './engine.js'
import {
  decodeName,
  encodeName,
  engineOptions,
  freshVersion,
  isTimeout,
  mistake,
  TIMEOUT_MS,
  within,
} from './engine.js'
import type { RecordPage, RecordStore, StoredRecord } from './record-store.js'

export { StorageUnavailable } from '../core/errors.js'
export type { EngineOptions, RemoteEngineOptions } from './engine.js'
export type { JsonValue, RecordPage, RecordStore, StoredRecord, WriteOptions } from './record-store.js'

/** A `Pool` of pg: what is used of it. */
export interface NodePostgres {
  /** A pool's; a `Client` has none. */
  readonly options?: { connectionTimeoutMillis?: number | undefined }
  query(query: {
    name?: string
    text: string
    values?: unknown[]
    query_timeout?: number
  }): Promise<{ rows: unknown[] }>
  on(event: 'error', listener: (error: Error) => void): unknown
  listenerCount(event: string): number
}

/** A `PGlite`: what is used of it. */
export interface EmbeddedPostgres {
  readonly waitReady: Promise<void>
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  exec(text: string): Promise<unknown>
}

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions extends RemoteEngineOptions {
  /** Where the records are: a table or `schema.table`, in lower case; `grantwell_records` by default. */
  readonly table?: string
}

/** A {@link RecordStore} in PostgreSQL. */
export interface PostgresStore extends RecordStore {
  /** Makes the table where it is missing. May be called at every start, by many servers at once. */
  readonly migrate: () => Promise<void>
  /**
   * Removes up to 1,000 expired records. A write does so by itself, without waiting for it: the first one, one a minute after
   * the last time, and the next one where there were more.
   * @returns how many
   */
  readonly removeExpired: () => Promise<number>
}

/** Seconds between two removals of expired records; none after one that was full. */
const REMOVAL_INTERVAL = 60
const REMOVED_AT_ONCE = 1_000

/** Names the lock that servers hold while they make the table: `grantwel` in ASCII. */
const MIGRATION_LOCK = '7454137378998674796'

interface Row {
  readonly key: string
  readonly version: string
  readonly value: string
}

/**
 * Makes a store over a pool of pg, or over PGlite. A single `Client` works too, but never connects again, and a transaction of
 * yours on it takes the store's writes with it.
 *
 * An idle connection of the pool that the engine ends is no error; where nobody listens to the pool's errors, the store does,
 * since they would end the process. A pool that would wait for a connection for ever waits `timeoutMs`.
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
  const {
    namespace,
    clock,
    timeoutMs = TIMEOUT_MS,
    table = 'grantwell_records',
  } = engineOptions('postgresStore', options, {
    timeoutMs: isTimeout,
    table: (value) => typeof value === 'string' && /^(?:[a-z_][a-z0-9_]{0,39}\.)?[a-z_][a-z0-9_]{0,39}$/.test(value),
  })
  if (typeof client?.query !== 'function') throw mistake('postgresStore takes a Pool or Client of pg, or a PGlite')
  if ('listenerCount' in client && client.listenerCount('error') === 0) client.on('error', () => {})
  // Else connections that were accepted and never answered would hold their places in the pool for ever.
  if ('options' in client && client.options !== undefined) client.options.connectionTimeoutMillis ||= timeoutMs
  const statements = statementsOf(table)
  let removedAt = Number.NEGATIVE_INFINITY
  let removing = false

  /** Runs a statement, prepared at its first use on each connection. */
  async function run<Result = Row>(name: keyof typeof statements, values: unknown[]): Promise<readonly Result[]> {
    const { text, digest } = statements[name]
    for (let attempt = 1; ; attempt++) {
      const asked =
        'waitReady' in client
          ? client.query(text, values)
          : client.query({ name: `grantwell.${name}.${digest}`, text, values, query_timeout: timeoutMs })
      try {
        const { rows } = await within(timeoutMs, 'PostgreSQL', asked)
        return rows as readonly Result[] // the statement's own columns
      } catch (error) {
        // Nothing happened, and may happen now: how a database says so that serializes transactions.
        if (codeOf(error) === UNDEFINED_TABLE)
          throw new StorageUnavailable(`PostgreSQL has no table ${table}: call migrate() first`, causeOf(error))
        if (attempt === ATTEMPTS || !ROLLED_BACK.has(codeOf(error))) throw error
      }
    }
  }

  async function removeExpired(): Promise<number> {
    removedAt = clock()
    const [row] = await run<{ readonly count: string }>('removeExpired', [namespace, removedAt])
    const count = Number(row?.count)
    if (count === REMOVED_AT_ONCE) removedAt -= REMOVAL_INTERVAL
    return count
  }

  /** Begins a removal that nobody waits for. What fails in it is tried again, and fails where somebody is told. */
  function removeInBackground(): void {
    if (removing || clock() < removedAt + REMOVAL_INTERVAL) return
    removing = true
    const over = (): void => {
      removing = false
    }
    removeExpired().then(over, over)
  }

  return {
    removeExpired,

    migrate: async () => {
      const [row] = await run<{ readonly exists: string }>('exists', [])
      if (row?.exists === 'true') return
      const text = schemaOf(table)
      const made: Promise<unknown> = 'waitReady' in client ? client.exec(text) : client.query({ text })
      await within(timeoutMs, 'PostgreSQL', made)
    },

    read: async (keys) => {
      const names = keys.map(encodeName)
      const rows = await run('read', [namespace, names, clock()])
      const [first] = rows
      if (names.length === 1) return [first && recordOf(first)]
      const found = new Map(rows.map((row) => [row.key, row]))
      return names.map((name) => {
        const row = found.get(name)
        return row && recordOf(row)
      })
    },

    write: async (key, value, { expected, expiresAt, labels = [] }) => {
      const now = clock()
      const name = encodeName(key)
      const left = [freshVersion(), JSON.stringify(value), expiresAt ?? null, labels.map(encodeLabel)]
      const writing =
        expiresAt !== undefined && now >= expiresAt
          ? run<Written>('remove', [namespace, name, now, expected])
          : expected === 0
            ? run<Written>('create', [namespace, name, now, ...left])
            : run<Written>('update', [namespace, name, now, ...left, expected])
      removeInBackground()
      const [row] = await writing
      return row?.written === 'true'
    },

    list: async (label, { limit = 100, cursor = '' } = {}): Promise<RecordPage> => {
      const found = await run('list', [namespace, encodeLabel(label), cursor, clock(), limit + 1])
      const rows = found.slice(0, limit)
      const records = rows.map((row) => ({ ...recordOf(row), key: decodeName(row.key) }))
      const last = rows.at(-1)
      return found.length > limit && last !== undefined ? { records, cursor: last.key } : { records }
    },
  }
}

interface Written {
  readonly written: string
}

/** `serialization_failure` and `deadlock_detected`. */
const ROLLED_BACK: ReadonlySet<unknown> = new Set(['40001', '40P01'])

/** `undefined_table`. */
const UNDEFINED_TABLE = '42P01'

/** How often a statement runs that was rolled back, at most. */
const ATTEMPTS = 10

function causeOf(error: unknown): unknown {
  return error instanceof StorageUnavailable ? error.cause : undefined
}

/** PostgreSQL's own code of an error. */
function codeOf(error: unknown): unknown {
  const cause = causeOf(error)
  return typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
}

/** Columns as text, so that no parser that a host set for the driver's types changes them. */
const COLUMNS = 'r.key, r.version::text AS version, r.value::text AS value'

function statementsOf(table: string): { readonly [Name in keyof ReturnType<typeof textsOf>]: Statement } {
  const texts = Object.entries(textsOf(table))
  return Object.fromEntries(
    texts.map(([name, text]) => [name, { text, digest: portableDigests.sha256(text).slice(0, 12) }]),
  ) as ReturnType<typeof statementsOf> // the same names
}

/** A statement, and what tells it from all others of its name: tables and releases have their own. */
interface Statement {
  readonly text: string
  readonly digest: string
}

function textsOf(table: string) {
  const t = quoted(table)
  const live = (now: string): string => `(r.expires_at IS NULL OR r.expires_at > ${now}::bigint)`
  const record = `r.namespace = $1 AND r.label = '' AND r.key = $2`
  /** What both kinds of write end with: the rows of labels that are no more, and those that are new. */
  const relabel = (where: string): string => `
    before AS (SELECT r.labels FROM ${t} r WHERE ${record}),
    unlabelled AS (DELETE FROM ${t} r USING written, before
      WHERE r.namespace = $1 AND r.label = ANY(before.labels) AND r.label <> ALL($7::text[]) AND r.key = $2),
    labelled AS (INSERT INTO ${t} (namespace, label, key)
      SELECT $1, label, $2 FROM written, unnest($7::text[]) AS label WHERE ${where} ON CONFLICT DO NOTHING)
    SELECT EXISTS (SELECT FROM written)::text AS written`
  const set = 'version = $4::bigint, value = $5::text::json, expires_at = $6::bigint, labels = $7::text[]'
  return {
    exists: `SELECT (to_regclass('${t}') IS NOT NULL)::text AS exists`,
    // OFFSET keeps the planner, which knows nothing of a young table, from any other way than one by one, by the key.
    read: `SELECT r.* FROM unnest($2::text[]) AS asked CROSS JOIN LATERAL (
        SELECT ${COLUMNS} FROM ${t} r WHERE r.namespace = $1 AND r.label = '' AND r.key = asked AND ${live('$3')} OFFSET 0
      ) r`,
    create: `WITH written AS (
      INSERT INTO ${t} AS r (namespace, label, key, version, value, expires_at, labels)
      VALUES ($1, '', $2, $4::bigint, $5::text::json, $6::bigint, $7::text[])
      ON CONFLICT (namespace, label, key) DO UPDATE SET ${set} WHERE r.expires_at <= $3::bigint RETURNING 1
    ), ${relabel('true')}`,
    update: `WITH written AS (
      UPDATE ${t} r SET ${set} WHERE ${record} AND r.version = $8::bigint AND ${live('$3')} RETURNING 1
    ), ${relabel('$7::text[] IS DISTINCT FROM (SELECT labels FROM before)')}`,
    remove: `WITH gone AS (
      DELETE FROM ${t} r WHERE ${record} AND r.version = $4::bigint AND ${live('$3')} RETURNING r.labels
    ), unlabelled AS (
      DELETE FROM ${t} r USING gone WHERE r.namespace = $1 AND r.label = ANY(gone.labels) AND r.key = $2
    ) SELECT (EXISTS (SELECT FROM gone)
        OR ($4::bigint = 0 AND NOT EXISTS (SELECT FROM ${t} r WHERE ${record} AND ${live('$3')})))::text AS written`,
    list: `SELECT r.* FROM ${t} l CROSS JOIN LATERAL (
        SELECT ${COLUMNS} FROM ${t} r WHERE r.namespace = $1 AND r.label = '' AND r.key = l.key
          AND l.label = ANY(r.labels) AND ${live('$4')} OFFSET 0
      ) r WHERE l.namespace = $1 AND l.label = $2 AND l.key > $3 ORDER BY l.key LIMIT $5::bigint`,
    removeExpired: `WITH gone AS (
      DELETE FROM ${t} WHERE ctid = ANY(ARRAY(
        SELECT r.ctid FROM ${t} r WHERE r.namespace = $1 AND r.expires_at <= $2::bigint
        ORDER BY r.expires_at LIMIT ${REMOVED_AT_ONCE} FOR UPDATE SKIP LOCKED
      )) RETURNING key, labels
    ), unlabelled AS (
      DELETE FROM ${t} WHERE ctid = ANY(ARRAY(
        SELECT r.ctid FROM gone CROSS JOIN LATERAL (
          SELECT l.ctid FROM ${t} l WHERE l.namespace = $1 AND l.label = ANY(gone.labels) AND l.key = gone.key OFFSET 0
        ) r
      ))
    ) SELECT count(*)::text AS count FROM gone`,
  } as const
}

/** Names compare by their bytes, which no locale changes and every index can use. */
function schemaOf(table: string): string {
  const t = quoted(table)
  return `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK});
    CREATE TABLE IF NOT EXISTS ${t} (
      namespace text COLLATE "C" NOT NULL,
      label text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      version bigint,
      value json,
      expires_at bigint,
      labels text[],
      PRIMARY KEY (namespace, label, key)
    );
    CREATE INDEX IF NOT EXISTS "${table.split('.').at(-1)}_expiry" ON ${t} (namespace, expires_at)
      WHERE expires_at IS NOT NULL`
}

function quoted(table: string): string {
  return table
    .split('.')
    .map((part) => `"${part}"`)
    .join('.')
}

function recordOf({ version, value }: Row): StoredRecord {
  return { value: JSON.parse(value), version: Number(version) }
}

/** The row of a record itself has an empty label; an index takes no row over 2,704 bytes, so long labels are digests. */
function encodeLabel(label: string): string {
  const encoded = encodeName(label)
  if (encoded.length <= 256) return `=${encoded}`
  return `#${portableDigests.sha256(encoded)}`
}
