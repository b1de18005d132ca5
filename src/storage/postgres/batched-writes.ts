/**
 * Writes of records, each by a statement of `compare-and-write.ts`.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { JsonValue, WriteOptions } from '../record-store.js'
import { batch } from '../shared/batch.js'
import type { Engine } from '../shared/engine.js'
import { keptUntil } from '../shared/expiry.js'
import { freshVersion } from '../shared/fresh-version.js'
import { encodeName } from '../shared/names.js'
import { changedRows } from './client.js'
import { encodeLabel } from './names.js'
import type { RunStatement } from './run.js'

/** The next version of a record, by the names of its columns. */
export interface Row {
  readonly key: string
  readonly now: Seconds
  readonly version: number
  readonly value: string
  readonly expires_at: Seconds | null
  readonly kept_until: Seconds | null
  readonly labels: string
  /** The version that must be stored. */
  readonly expected: number
}

/** Creates the row for a write. */
export function createRow(
  key: string,
  value: JsonValue,
  { expected, expiresAt, labels = [] }: WriteOptions,
  now: Seconds,
): Row {
  return {
    key: encodeName(key),
    now,
    version: freshVersion(),
    value: JSON.stringify(value),
    expires_at: expiresAt ?? null,
    kept_until: expiresAt === undefined ? null : keptUntil(expiresAt, now),
    labels: labels.map(encodeLabel).join('\n'),
    expected,
  }
}

/** Writes of single records. Each returns false, and writes nothing, if the stored version is not the expected one. */
export interface ConditionalWrites {
  /** Writes a record that must not exist. */
  readonly create: (row: Row) => Promise<boolean>
  /** Writes a new version of a record. */
  readonly update: (row: Row) => Promise<boolean>
  /** Removes a record. */
  readonly remove: (row: Row) => Promise<boolean>
}

/** Creates the writes of a store. */
export function createConditionalWrites(run: RunStatement, namespace: string, engine: Engine): ConditionalWrites {
  const runForOne = async (name: 'create' | 'update' | 'remove', values: unknown[]): Promise<boolean> =>
    changedRows(await run(name, [namespace, ...values])) === 1

  const updateOne = ({ key, now, version, value, expires_at, kept_until, labels, expected }: Row): Promise<boolean> =>
    runForOne('update', [key, now, version, value, expires_at, kept_until, labels, expected])

  /** Updates several records in one transaction, in the order of their keys, so that two servers never wait for each other. */
  async function updateAll(rows: readonly Row[]): Promise<readonly boolean[]> {
    const ordered = rows.toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const answer = await run('updateAll', [namespace, JSON.stringify(ordered)])
    const written = new Set(answer.rows.map(({ record }) => record))
    return rows.map(({ version }) => written.has(String(version)))
  }

  return {
    create: ({ key, now, version, value, expires_at, kept_until, labels }) =>
      runForOne('create', [key, now, version, value, expires_at, kept_until, labels]),

    update: batch({ operation: 'write', engine }, async (rows: readonly Row[]) => {
      const [first, ...others] = rows
      return first !== undefined && others.length === 0 ? [await updateOne(first)] : updateAll(rows)
    }),

    remove: ({ key, now, expected }) => runForOne('remove', [key, now, expected]),
  }
}
