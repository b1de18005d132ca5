/**
 * A record in a row: the SQL that reads it, and the parser of what it returns.
 * @module
 */
import type { ScannedRecord, StoredRecord } from '../record-store.js'
import { decodeName } from '../shared/names.js'
import type { Parse } from '../shared/parse-cache.js'
import { decodeLabel } from './names.js'

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

/** A row with all of a record. */
export interface ScannedRow extends RecordRow {
  readonly key: string
  /** Text, like all columns that are read. */
  readonly expiry: string | null
  readonly labels: string
}

/** Parses a record with all that it was written with. */
export function parseScanned({ key, record, expiry, labels }: ScannedRow, parse: Parse): ScannedRecord {
  return {
    ...parseRecord(record, parse),
    key: decodeName(key),
    labels: labels === '' ? [] : [...new Set(labels.split('\n').map(decodeLabel))],
    ...(expiry !== null && { expiresAt: Number(expiry) }),
  }
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
