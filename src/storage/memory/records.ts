/**
 * The records of a memory store: entries by their keys, with their values and labels kept in step.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { JsonValue, RecordPage, ScanPage, StoredRecord } from '../record-store.js'
import type { Entry } from './entry.js'
import { createEntry, isLive } from './entry.js'
import { createLabelIndex, indexAfter } from './labels.js'
import { createScan } from './scan.js'
import { createValues } from './values.js'

/** The records of a store. */
export interface Records {
  /** Entries in the order of their creation. */
  readonly entries: ReadonlyMap<string, Entry>
  readonly read: (entry: Entry) => StoredRecord
  /** Adds a record whose key has no entry. */
  readonly add: (key: string, value: JsonValue, labels: readonly string[], expiresAt: Seconds | undefined) => void
  /** Gives a record its next version, with the labels that it has. */
  readonly replace: (entry: Entry, value: JsonValue, expiresAt: Seconds | undefined) => void
  readonly remove: (entry: Entry) => void
  /** Lists live records with a label. The cursor is the sequence of the last one on the page before. */
  readonly list: (label: string, now: Seconds, limit: number, cursor: string | undefined) => RecordPage
  /** Lists all live records. The cursor is the sequence of the last one on the page before. */
  readonly scan: (now: Seconds, limit: number, cursor: string | undefined) => ScanPage
  /** Gives back some of the space that removed values took. */
  readonly compact: () => void
}

/** Makes an empty set of records. */
export function createRecords(): Records {
  const entries = new Map<string, Entry>()
  const values = createValues()
  const index = createLabelIndex()
  /** The last version that any record got. */
  let version = 0

  return {
    entries,

    read: (entry) => ({ value: values.read(entry), version: entry.version }),

    add(key, value, labels, expiresAt) {
      const entry = createEntry(key, labels, expiresAt, ++version)
      values.add(entry, value)
      entries.set(key, entry)
      index.add(entry)
    },

    replace(entry, value, expiresAt) {
      values.replace(entry, value)
      entry.version = ++version
      entry.expiresAt = expiresAt
    },

    remove(entry) {
      entries.delete(entry.key)
      entry.version = 0
      values.remove(entry)
      index.remove(entry)
    },

    list(label, now, limit, cursor) {
      const listed = index.entriesWith(label)
      const records: (StoredRecord & { readonly key: string })[] = []
      let last: Entry | undefined
      for (let at = cursor === undefined ? 0 : indexAfter(listed, Number(cursor)); at < listed.length; at++) {
        const entry = listed[at] as Entry // it is less than the length
        if (entry.version === 0 || !isLive(entry, now)) continue
        if (last !== undefined && records.length >= limit) return { records, cursor: String(last.sequence) }
        records.push({ value: values.read(entry), version: entry.version, key: entry.key })
        last = entry
      }
      return { records }
    },

    scan: createScan(entries, values.read),

    compact: values.compact,
  }
}
