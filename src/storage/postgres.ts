/**
 * The entry point `grantwell/storage/postgres`: records in PostgreSQL, for any number of servers. Made for PostgreSQL 12
 * and later through pg 8, and for the embedded PGlite 0.5; the client is passed in.
 *
 * One table holds the records, and, so that lists page by an index, one row without a value for each label of a record,
 * which triggers keep in step. Each operation is one prepared statement, so it happens whole or not at all.
 *
 * What a statement costs is mostly its planning, so each is such that the plan for any values is the one that PostgreSQL
 * keeps; and a write that changes no column of an index, as most do, changes no index (a "heap-only tuple").
 * @module
 */

import { configurationError, StorageUnavailable } from '../core/errors.js'
import { methods } from '../core/takes.js'
import { portableDigests } from '../core/tokens/digests.js'
import type { Seconds } from '../core/values.js'
import type { Parse, RemoteEngineOptions } from './engine.js'
import {
  checkEngine,
  decodeName,
  differenceFrom,
  encodeName,
  engineOptions,
  freshVersion,
  gathered,
  gatheredReads,
  keptUntil,
  rememberingParser,
  TIMEOUT,
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
  }): Promise<{ rows: unknown[]; rowCount: number | null }>
  on(event: 'error', listener: (error: Error) => void): unknown
  listenerCount(event: string): number
}

/** A `PGlite`: what is used of it. */
export interface EmbeddedPostgres {
  readonly waitReady: Promise<void>
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; affectedRows?: number }>
  exec(text: string): Promise<unknown>
}

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions extends RemoteEngineOptions {
  /** Where the records are: a table or `schema.table`, in lower case; `grantwell_records` by default. */
  readonly table?: string
}

/** A {@link RecordStore} in PostgreSQL. */
export interface PostgresStore extends RecordStore {
  /**
   * Makes the table, and what belongs to it, where it is missing. May be called at every start, by many servers at once.
   * @throws GrantwellError `ERR_CONFIGURATION` for a table of that name that has another shape, with what it has and lacks
   */
  readonly migrate: () => Promise<void>
  /**
   * Removes up to 1,000 expired records, each at the latest an eighth of its life after it expired. A write does so by itself, without waiting for it: the first one, one a minute after
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
    timeoutMs: TIMEOUT,
    table: {
      words: 'a table or schema.table in lower case, each name of at most 40 characters',
      fits: (value) => typeof value === 'string' && /^(?:[a-z_][a-z0-9_]{0,39}\.)?[a-z_][a-z0-9_]{0,39}$/.test(value),
    },
  })
  checkEngine('postgresStore', 'client', methods('a Pool or Client of pg, or a PGlite,', 'query'), client)
  if ('listenerCount' in client && client.listenerCount('error') === 0) client.on('error', () => {})
  // Else connections that were accepted and never answered would hold their places in the pool for ever.
  if ('options' in client && client.options !== undefined) client.options.connectionTimeoutMillis ||= timeoutMs
  const statements = statementsOf(table)
  const parse = rememberingParser()
  let removedAt = Number.NEGATIVE_INFINITY
  let removing = false

  /** Runs a statement, prepared at its first use on each connection. */
  async function run<Row = RecordRow>(name: keyof typeof statements, values: unknown[]): Promise<Answer<Row>> {
    const { text, digest } = statements[name]
    for (let attempt = 1; ; attempt++) {
      const asked: Promise<Answer<unknown>> =
        'waitReady' in client
          ? client.query(text, values)
          : client.query({ name: `grantwell.${name}.${digest}`, text, values, query_timeout: timeoutMs })
      try {
        return (await within(timeoutMs, 'PostgreSQL', asked)) as Answer<Row> // the statement's own columns
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
    const count = changed(await run('removeExpired', [namespace, removedAt]))
    if (count === REMOVED_AT_ONCE) removedAt -= REMOVAL_INTERVAL
    return count
  }

  /** Writes new versions of records: several in one transaction, in the order of their names, so that no two servers wait for each other. */
  const update = gathered(async (updates: readonly Update[]): Promise<readonly boolean[]> => {
    const [only, another] = updates
    if (only !== undefined && another === undefined) {
      const { key, now, version, value, expires_at, kept_until, labels, expected } = only
      const values = [namespace, key, now, version, value, expires_at, kept_until, labels, expected]
      return [changed(await run('update', values)) === 1]
    }
    const ordered = updates.toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const { rows } = await run('updateAll', [namespace, JSON.stringify(ordered)])
    const written = new Set(rows.map(({ record }) => record))
    return updates.map(({ version }) => written.has(String(version)))
  })

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
      const { rows } = await run<{ readonly exists: string }>('exists', [])
      if (rows[0]?.exists !== 'true') {
        const text = schemaOf(table)
        const made: Promise<unknown> = 'waitReady' in client ? client.exec(text) : client.query({ text })
        await within(timeoutMs, 'PostgreSQL', made)
      }
      const shape = await run<{ readonly part: string }>('shape', [])
      const difference = differenceFrom(
        SHAPE,
        shape.rows.map(({ part }) => part),
      )
      if (difference !== undefined)
        throw configurationError(`postgresStore: the table ${table} has another shape: ${difference}`)
    },

    read: gatheredReads(async (keys) => {
      const { rows } = await run('read', [namespace, JSON.stringify(keys.map(encodeName)), clock()])
      const records = new Array<StoredRecord | undefined>(keys.length).fill(undefined)
      for (const { record } of rows) {
        const end = record.indexOf(' ')
        records[Number(record.slice(0, end)) - 1] = recordOf(record.slice(end + 1), parse)
      }
      return records
    }),

    write: async (key, value, { expected, expiresAt, labels = [] }) => {
      const now = clock()
      const name = encodeName(key)
      const gone = expiresAt !== undefined && now >= expiresAt
      if (gone && expected === 0) return (await run('read', [namespace, JSON.stringify([name]), now])).rows.length === 0
      const left = {
        version: freshVersion(),
        value: JSON.stringify(value),
        expires_at: expiresAt ?? null,
        kept_until: expiresAt === undefined ? null : keptUntil(expiresAt, now),
        labels: labels.map(encodeLabel).join('\n'),
      }
      const isOne = (answer: Answer<RecordRow>): boolean => changed(answer) === 1
      const writing = gone
        ? run('remove', [namespace, name, now, expected]).then(isOne)
        : expected === 0
          ? run('create', [namespace, name, now, ...Object.values(left)]).then(isOne)
          : update({ key: name, now, ...left, expected })
      removeInBackground()
      return writing
    },

    list: async (label, { limit = 100, cursor = '' } = {}): Promise<RecordPage> => {
      const { rows: found } = await run<ListedRow>('list', [namespace, encodeLabel(label), cursor, clock(), limit + 1])
      const rows = found.slice(0, limit)
      const records = rows.map(({ key, record }) => ({ ...recordOf(record, parse), key: decodeName(key) }))
      const last = rows.at(-1)
      return found.length > limit && last !== undefined ? { records, cursor: last.key } : { records }
    },
  }
}

/** A new version of a record, by the names of its columns. */
interface Update {
  readonly key: string
  readonly now: Seconds
  readonly version: number
  readonly value: string
  readonly expires_at: Seconds | null
  readonly kept_until: Seconds | null
  readonly labels: string
  readonly expected: number
}

interface RecordRow {
  readonly record: string
}

interface ListedRow extends RecordRow {
  readonly key: string
}

/** What pg answers, and PGlite. */
interface Answer<Row> {
  readonly rows: readonly Row[]
  readonly rowCount?: number | null | undefined
  readonly affectedRows?: number | undefined
}

/** How many rows a statement wrote or removed. */
function changed({ rowCount, affectedRows }: Answer<unknown>): number {
  return rowCount ?? affectedRows ?? 0
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

/**
 * A record in one column, which costs the driver less than several: version and value with a space between. As text, so that
 * no parser that a host set for the driver's types changes it.
 */
const RECORD = `r.version || ' ' || r.value`

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
  const update = quoted(`${table}_update`)
  const live = (now: string): string => `(r.expires_at IS NULL OR r.expires_at > ${now}::bigint)`
  const record = `r.namespace = $1 AND r.label = '' AND r.key = $2`
  const set =
    'version = $4::bigint, value = $5::text, expires_at = $6::bigint, kept_until = $7::bigint, labels = $8::text'
  return {
    exists: `SELECT (to_regclass('${t}') IS NOT NULL AND to_regproc('${update}') IS NOT NULL)::text AS exists`,
    // What of the table must be as it was made. A column that a write must name is told apart, since ours names none but its own.
    shape: `SELECT attname || ' ' || format_type(atttypid, atttypmod)
          || CASE WHEN attnotnull AND NOT atthasdef THEN ' NOT NULL' ELSE '' END AS part
        FROM pg_attribute WHERE attrelid = to_regclass('${t}') AND attnum > 0 AND NOT attisdropped
      UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = to_regclass('${t}') AND contype = 'p'
      UNION ALL SELECT 'the trigger ' || tgname FROM pg_trigger
        WHERE tgrelid = to_regclass('${t}') AND NOT tgisinternal AND tgenabled <> 'D'`,
    // OFFSET keeps the planner, which knows nothing of a young table, from any other way than one by one, by the key. Keys in JSON,
    // since it would look into an array, and plan anew for each.
    read: `SELECT place || ' ' || r.record AS record
      FROM json_array_elements_text($2::json) WITH ORDINALITY AS asked (key, place) CROSS JOIN LATERAL (
        SELECT ${RECORD} AS record FROM ${t} r
        WHERE r.namespace = $1 AND r.label = '' AND r.key = asked.key AND ${live('$3')} OFFSET 0
      ) r`,
    create: `INSERT INTO ${t} AS r (namespace, label, key, version, value, expires_at, kept_until, labels)
      VALUES ($1, '', $2, $4::bigint, $5::text, $6::bigint, $7::bigint, $8::text)
      ON CONFLICT (namespace, label, key) DO UPDATE SET ${set} WHERE r.expires_at <= $3::bigint`,
    update: `UPDATE ${t} r SET ${set} WHERE ${record} AND r.version = $9::bigint AND ${live('$3')}`,
    updateAll: `SELECT written::text AS record FROM ${update}($1, $2::json) AS written`,
    remove: `DELETE FROM ${t} r WHERE ${record} AND r.version = $4::bigint AND ${live('$3')}`,
    list: `SELECT l.key, r.record FROM ${t} l CROSS JOIN LATERAL (
        SELECT ${RECORD} AS record FROM ${t} r WHERE r.namespace = $1 AND r.label = '' AND r.key = l.key
          AND l.label = ANY(string_to_array(r.labels, E'\\n')) AND ${live('$4')} OFFSET 0
      ) r WHERE l.namespace = $1 AND l.label = $2 AND l.key > $3 ORDER BY l.key LIMIT $5::bigint`,
    removeExpired: `DELETE FROM ${t} WHERE ctid = ANY(ARRAY(
        SELECT r.ctid FROM ${t} r WHERE r.namespace = $1 AND r.kept_until <= $2::bigint
        ORDER BY r.kept_until LIMIT ${REMOVED_AT_ONCE} FOR UPDATE SKIP LOCKED
      ))`,
  } as const
}

/**
 * Names compare by their bytes, which no locale changes and every index can use. Pages keep some room, so that a record's next version
 * fits beside it. Rows of labels have nothing but their key, and move no trigger.
 */
function schemaOf(table: string): string {
  const t = quoted(table)
  const index = `"${table.split('.').at(-1)}_expiry"`
  const relabel = quoted(`${table}_relabel`)
  const update = quoted(`${table}_update`)
  const trigger = (event: string, row: string): string =>
    `CREATE TRIGGER grantwell_${event} AFTER ${event} ON ${t} FOR EACH ROW WHEN (${row}) EXECUTE FUNCTION ${relabel}()`
  return `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK});
    DO $migrate$ BEGIN IF to_regclass('${t}') IS NULL THEN
      CREATE TABLE ${t} (
        namespace text COLLATE "C" NOT NULL,
        label text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        version bigint,
        value text,
        expires_at bigint,
        kept_until bigint,
        labels text,
        PRIMARY KEY (namespace, label, key)
      ) WITH (fillfactor = 75);
      CREATE INDEX ${index} ON ${t} (namespace, kept_until) WHERE kept_until IS NOT NULL;
      CREATE OR REPLACE FUNCTION ${relabel}() RETURNS trigger LANGUAGE plpgsql AS $relabel$
        DECLARE each text;
        BEGIN
          IF TG_OP <> 'INSERT' THEN
            FOREACH each IN ARRAY string_to_array(OLD.labels, E'\\n') LOOP
              DELETE FROM ${t} WHERE namespace = OLD.namespace AND label = each AND key = OLD.key;
            END LOOP;
          END IF;
          IF TG_OP <> 'DELETE' THEN
            FOREACH each IN ARRAY string_to_array(NEW.labels, E'\\n') LOOP
              INSERT INTO ${t} (namespace, label, key) VALUES (NEW.namespace, each, NEW.key) ON CONFLICT DO NOTHING;
            END LOOP;
          END IF;
          RETURN NULL;
        END $relabel$;
      ${trigger('INSERT', `NEW.labels <> ''`)};
      ${trigger('UPDATE', 'OLD.labels <> NEW.labels')};
      ${trigger('DELETE', `OLD.labels <> ''`)};
    END IF;
    CREATE OR REPLACE FUNCTION ${update}(of text, updates json) RETURNS SETOF bigint LANGUAGE plpgsql
      SET lock_timeout TO '100ms' AS $update$
      DECLARE each record;
      BEGIN
        FOR each IN SELECT * FROM json_to_recordset(updates) AS asked (
          key text, now bigint, version bigint, value text, expires_at bigint, kept_until bigint, labels text, expected bigint
        ) LOOP
          UPDATE ${t} r SET version = each.version, value = each.value, expires_at = each.expires_at,
              kept_until = each.kept_until, labels = each.labels
            WHERE r.namespace = of AND r.label = '' AND r.key = each.key AND r.version = each.expected
              AND (r.expires_at IS NULL OR r.expires_at > each.now);
          IF FOUND THEN RETURN NEXT each.version; END IF;
        END LOOP;
      END $update$;
    END $migrate$`
}

/** The parts of the table, as the statement `shape` names them. */
const SHAPE: readonly string[] = [
  'namespace text NOT NULL',
  'label text NOT NULL',
  'key text NOT NULL',
  'version bigint',
  'value text',
  'expires_at bigint',
  'kept_until bigint',
  'labels text',
  'PRIMARY KEY (namespace, label, key)',
  'the trigger grantwell_insert',
  'the trigger grantwell_update',
  'the trigger grantwell_delete',
]

function quoted(table: string): string {
  return table
    .split('.')
    .map((part) => `"${part}"`)
    .join('.')
}

/** The record in a column, from {@link RECORD}. */
function recordOf(text: string, parse: Parse): StoredRecord {
  const end = text.indexOf(' ')
  const version = Number(text.slice(0, end))
  return { value: parse(text.slice(end + 1), version), version }
}

/** The row of a record itself has an empty label; an index takes no row over 2,704 bytes, so long labels are digests. */
function encodeLabel(label: string): string {
  const encoded = encodeName(label)
  if (encoded.length <= 256) return `=${encoded}`
  return `#${portableDigests.sha256(encoded)}`
}
