/**
 * The SQL of all statements. Those that write a record are in `compare-and-write.ts`.
 *
 * Planning is most of a statement's cost. So each statement has one plan that fits all values, and PostgreSQL keeps that plan.
 * @module
 */
import { portableDigests } from '../../core/credentials/digests.js'
import { MAX_REMOVED } from '../shared/expiry.js'
import type { WriteName } from './compare-and-write.js'
import { writeSql } from './compare-and-write.js'
import { quoted, relabelFunction, updateFunction } from './names.js'
import { isLive, RECORD } from './row.js'

/** A statement, prepared at its first use on each connection. */
export interface Statement {
  readonly text: string
  /** A digest of the text, which keeps apart the statements of different tables and releases. */
  readonly digest: string
}

/** The names of the statements. */
export type StatementName = 'exists' | 'shape' | 'read' | 'list' | 'scan' | 'removeExpired' | WriteName

/** All statements for one table. */
export type Statements = { readonly [Name in StatementName]: Statement }

/** Creates all statements for a table. */
export function createStatements(table: string): Statements {
  const texts = Object.entries(allSql(table))
  return Object.fromEntries(
    texts.map(([name, text]) => [name, { text, digest: portableDigests.sha256(text).slice(0, 12) }]),
  ) as Statements // the same names
}

/** Returns the SQL of all statements, by their names. */
function allSql(table: string): { readonly [Name in StatementName]: string } {
  const t = quoted(table)
  const update = updateFunction(table)
  return {
    // An earlier table kept digests alone of long labels. Its function is replaced, and a list finds both.
    exists: `SELECT (to_regclass('${t}') IS NOT NULL AND to_regproc('${update}') IS NOT NULL AND EXISTS (
      SELECT FROM pg_proc WHERE oid = to_regproc('${relabelFunction(table)}') AND prosrc LIKE '%starts_with%'
    ))::text AS exists`,
    // The parts that must be as `migrate` made them. A column that every write must name is marked, because our writes name only ours.
    shape: `SELECT attname || ' ' || format_type(atttypid, atttypmod)
          || CASE WHEN attnotnull AND NOT atthasdef THEN ' NOT NULL' ELSE '' END AS part
        FROM pg_attribute WHERE attrelid = to_regclass('${t}') AND attnum > 0 AND NOT attisdropped
      UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = to_regclass('${t}') AND contype = 'p'
      UNION ALL SELECT 'the trigger ' || tgname FROM pg_trigger
        WHERE tgrelid = to_regclass('${t}') AND NOT tgisinternal AND tgenabled <> 'D'`,
    // OFFSET 0 forces one index lookup for each key, even on a young table without statistics. The keys are JSON, because PostgreSQL
    // would look into an array and plan anew for each one.
    read: `SELECT place || ' ' || r.record AS record
      FROM json_array_elements_text($2::json) WITH ORDINALITY AS asked (key, place) CROSS JOIN LATERAL (
        SELECT ${RECORD} AS record FROM ${t} r
        WHERE r.namespace = $1 AND r.label = '' AND r.key = asked.key AND ${isLive('$3')} OFFSET 0
      ) r`,
    list: `SELECT l.key, r.record FROM ${t} l CROSS JOIN LATERAL (
        SELECT ${RECORD} AS record FROM ${t} r WHERE r.namespace = $1 AND r.label = '' AND r.key = l.key
          AND ARRAY[$6, $2] && string_to_array(r.labels, E'\\n') AND ${isLive('$4')} OFFSET 0
      ) r WHERE l.namespace = $1 AND l.label = $2 AND l.key > $3 ORDER BY l.key LIMIT $5::bigint`,
    scan: `SELECT r.key, ${RECORD} AS record, r.expires_at::text AS expiry, r.labels FROM ${t} r
      WHERE r.namespace = $1 AND r.label = '' AND r.key > $2 AND ${isLive('$3')} ORDER BY r.key LIMIT $4::bigint`,
    removeExpired: `DELETE FROM ${t} WHERE ctid = ANY(ARRAY(
        SELECT r.ctid FROM ${t} r WHERE r.namespace = $1 AND r.kept_until <= $2::bigint
        ORDER BY r.kept_until LIMIT ${MAX_REMOVED} FOR UPDATE SKIP LOCKED
      ))`,
    ...writeSql(table),
  }
}
