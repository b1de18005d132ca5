/**
 * A record in a row: the SQL that reads it, and the parser of what it returns.
 * @module
 */
import type { StoredRecord } from '../record-store.js'
import type { Parse } from '../shared/parse-cache.js'

/**
 * The SQL of a record as one column, version and value with a space between: one column costs the driver less than several. It is
 * text, so that no type parser that a host gave to the driver changes it.
 */
export const RECORD = `r.version || ' ' || r.value`

/** A row with a record as one column. */
export interface RecordRow {
  readonly record: string
}

/** Parses a record. */
export function parseRecord(text: string, parse: Parse): StoredRecord {
  const end = text.indexOf(' ')
  const version = Number(text.slice(0, end))
  return { value: parse(text.slice(end + 1), version), version }
}

/** Parses records that each have their place among the keys that were asked for, beginning with 1, before them. */
export function parseRecords(
  rows: readonly RecordRow[],
  length: number,
  parse: Parse,
): readonly (StoredRecord | undefined)[] {
  const records = new Array<StoredRecord | undefined>(length).fill(undefined)
  for (const { record } of rows) {
    const end = record.indexOf(' ')
    records[Number(record.slice(0, end)) - 1] = parseRecord(record.slice(end + 1), parse)
  }
  return records
}

/** Returns the SQL of the condition that a record has not expired. */
export function isLive(now: string): string {
  return `(r.expires_at IS NULL OR r.expires_at > ${now}::bigint)`
}
