/**
 * The table of the records, and its index, triggers and function.
 *
 * A record is a row with an empty label. Each of its labels is one more row without a value, so that lists page by an index.
 * Triggers keep these rows in step.
 * @module
 */
import { updateFunctionSql } from './compare-and-write.js'
import { indexedLabelSql, quoted, relabelFunction } from './names.js'

/** The lock that servers hold while they make the table: `grantwel` in ASCII. */
const MIGRATION_LOCK = '7454137378998674796'

/** The parts of the table, as the statement `shape` names them. */
export const SHAPE: readonly string[] = [
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

/**
 * Returns the SQL that makes the table and what belongs to it.
 *
 * Names compare by their bytes (`COLLATE "C"`), which no locale changes and every index can use. Pages are filled to 75 percent, so
 * that the next version of a record fits beside it: then a write that changes no indexed column changes no index. Rows of labels
 * have only their key, and fire no trigger. Their function keeps the search path of the migration, since a restore has none.
 */
export function schemaSql(table: string): string {
  const t = quoted(table)
  const index = `"${table.split('.').at(-1)}_expiry"`
  const trigger = (event: string, row: string): string =>
    `CREATE TRIGGER grantwell_${event} AFTER ${event} ON ${t} FOR EACH ROW WHEN (${row}) EXECUTE FUNCTION ${relabelFunction(table)}()`
  return `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK});
    ${relabelFunctionSql(table)}
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
      ${trigger('INSERT', `NEW.labels <> ''`)};
      ${trigger('UPDATE', 'OLD.labels <> NEW.labels')};
      ${trigger('DELETE', `OLD.labels <> ''`)};
    END IF;
    ${updateFunctionSql(table)}
    END $migrate$`
}

/** Returns the SQL of the function that keeps the rows of labels in step. */
function relabelFunctionSql(table: string): string {
  const t = quoted(table)
  return `CREATE OR REPLACE FUNCTION ${relabelFunction(table)}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $relabel$
      DECLARE each text;
      BEGIN
        IF TG_OP <> 'INSERT' THEN
          FOREACH each IN ARRAY string_to_array(OLD.labels, E'\\n') LOOP
            DELETE FROM ${t} WHERE namespace = OLD.namespace AND label = ${indexedLabelSql('each')} AND key = OLD.key;
          END LOOP;
        END IF;
        IF TG_OP <> 'DELETE' THEN
          FOREACH each IN ARRAY string_to_array(NEW.labels, E'\\n') LOOP
            INSERT INTO ${t} (namespace, label, key) VALUES (NEW.namespace, ${indexedLabelSql('each')}, NEW.key) ON CONFLICT DO NOTHING;
          END LOOP;
        END IF;
        RETURN NULL;
      END $relabel$;`
}
