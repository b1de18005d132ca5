/**
 * The SQL of writes that compare versions: a record is written only if its stored version is the expected one. PostgreSQL compares in
 * the statement that writes, so another server's write cannot come between.
 * @module
 */
import { quoted, updateFunction } from './names.js'
import { isLive } from './row.js'

/** The names of the statements that write. `updateAll` updates several records, each of the others writes one. */
export type WriteName = 'create' | 'update' | 'updateAll' | 'remove'

/** Returns the SQL of the statements that write. Expired records count as absent. */
export function writeSql(table: string): { readonly [Name in WriteName]: string } {
  const t = quoted(table)
  const record = `r.namespace = $1 AND r.label = '' AND r.key = $2`
  const set =
    'version = $4::bigint, value = $5::text, expires_at = $6::bigint, kept_until = $7::bigint, labels = $8::text'
  return {
    create: `INSERT INTO ${t} AS r (namespace, label, key, version, value, expires_at, kept_until, labels)
      VALUES ($1, '', $2, $4::bigint, $5::text, $6::bigint, $7::bigint, $8::text)
      ON CONFLICT (namespace, label, key) DO UPDATE SET ${set} WHERE r.expires_at <= $3::bigint`,
    update: `UPDATE ${t} r SET ${set} WHERE ${record} AND r.version = $9::bigint AND ${isLive('$3')}`,
    updateAll: `SELECT written::text AS record FROM ${updateFunction(table)}($1, $2::json) AS written`,
    remove: `DELETE FROM ${t} r WHERE ${record} AND r.version = $4::bigint AND ${isLive('$3')}`,
  }
}

/**
 * Returns the SQL of the function that writes several records in one transaction. If another transaction holds a record for over
 * 100 ms, the function fails; then each record is written alone.
 */
export function updateFunctionSql(table: string): string {
  const t = quoted(table)
  return `CREATE OR REPLACE FUNCTION ${updateFunction(table)}(of text, updates json) RETURNS SETOF bigint LANGUAGE plpgsql
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
      END $update$;`
}
