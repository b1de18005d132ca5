/**
 * The entry point `grantwell/storage/memory`: records in this process, gone when it ends.
 *
 * Expiry is data, compared with the clock at every read. To free memory too, operations look at some records further each time,
 * in a circle, and drop those that have expired: no timer holds the process, no index costs memory, and however many records
 * expire at once, none waits for all of them.
 *
 * Values are kept as they are, not frozen: by the contract nobody changes one, and frozen objects are several times as slow to
 * copy from. Only the first of a record is a copy.
 * @module
 */
import type { Seconds } from '../core/values.js'
import type { JsonValue, RecordStore, StoredRecord } from './record-store.js'

export type { JsonValue, RecordPage, RecordStore, StoredRecord, WriteOptions } from './record-store.js'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Seconds since the epoch; the system's clock by default. */
  readonly clock?: () => Seconds
}

/** A {@link RecordStore} in memory that can tell how much it holds. */
export interface MemoryStore extends RecordStore {
  /** How many records are held, expired ones that were not dropped yet included. */
  readonly size: number
}

interface Entry {
  readonly key: string
  readonly labels: readonly string[]
  /** The order in which records came into being, for cursors. */
  readonly sequence: number
  /** Absent once the entry was dropped. */
  record: StoredRecord | undefined
  /** Absent: never. Not Infinity, which would have engines put every entry's number into a box. */
  expiresAt: Seconds | undefined
}

/** The entries that have a label, in the order of their sequence, and how many of them were dropped. */
interface Roll {
  entries: Entry[]
  dropped: number
}

/** How many records the first operation of a second looks at: what has expired of fewer is gone at once. */
const LOOKED_AT_IN_A_SECOND = 1_000

/** How many records the making of another one looks at: of what is held, at most an eighth has expired since they were looked at last. */
const LOOKED_AT_BY_A_NEW_ONE = 8

/**
 * Makes a store in memory.
 * @example
 * ```ts
 * const store = memoryStore()
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const clock = options.clock ?? (() => Math.floor(Date.now() / 1000))
  const entries = new Map<string, Entry>()
  /** Most labels have one entry: it stands for itself. */
  const labelled = new Map<string, Entry | Roll>()
  let circle = entries.values()
  let versions = 0
  let lookedAt = clock()

  function live(key: string, now: Seconds): Entry | undefined {
    const entry = entries.get(key)
    return entry !== undefined && isLive(entry, now) ? entry : undefined
  }

  function enlist(label: string, entry: Entry): void {
    const found = labelled.get(label)
    if (found === undefined) labelled.set(label, entry)
    else if (isRoll(found)) found.entries.push(entry)
    else labelled.set(label, { entries: [found, entry], dropped: 0 })
  }

  function drop(entry: Entry): void {
    entries.delete(entry.key)
    entry.record = undefined
    for (const label of entry.labels) {
      const found = labelled.get(label)
      if (found === undefined) continue
      if (!isRoll(found)) labelled.delete(label)
      else if (++found.dropped === found.entries.length) labelled.delete(label)
      else if (found.dropped * 2 > found.entries.length) {
        found.entries = found.entries.filter(({ record }) => record !== undefined)
        found.dropped = 0
      }
    }
  }

  /** Looks at so many records further, and drops those that have expired. */
  function sweep(now: Seconds, most: number): void {
    for (let left = Math.min(most, entries.size); left > 0; left--) {
      let { value: entry } = circle.next()
      if (entry === undefined) {
        circle = entries.values()
        entry = circle.next().value
      }
      if (entry !== undefined && !isLive(entry, now)) drop(entry)
    }
  }

  /** The time, at which an operation begins. */
  function begin(): Seconds {
    const now = clock()
    if (now !== lookedAt) sweep(now, LOOKED_AT_IN_A_SECOND)
    lookedAt = now
    return now
  }

  return {
    get size() {
      return entries.size
    },

    read(keys) {
      const now = begin()
      return keys.map((key) => live(key, now)?.record)
    },

    write(key, value, { expected, expiresAt, labels = [] }) {
      const now = begin()
      const before = entries.get(key)
      const current = before !== undefined && isLive(before, now) ? before : undefined
      if ((current?.record?.version ?? 0) !== expected) return false
      const ends = expiresAt !== undefined && now >= expiresAt
      const record = { value, version: ++versions }
      if (current !== undefined && !ends && sameLabels(current.labels, labels)) {
        current.record = record
        current.expiresAt = expiresAt
        return true
      }
      if (before !== undefined) drop(before)
      if (ends) return true
      sweep(now, LOOKED_AT_BY_A_NEW_ONE)
      const made = { value: copyOf(value), version: versions }
      const entry = { key, labels: [...new Set(labels)], sequence: versions, record: made, expiresAt }
      entries.set(key, entry)
      for (const label of entry.labels) enlist(label, entry)
      return true
    },

    list(label, { limit = 100, cursor } = {}) {
      const now = begin()
      const found = labelled.get(label)
      const listed = found === undefined ? [] : isRoll(found) ? found.entries : [found]
      const records: (StoredRecord & { readonly key: string })[] = []
      let last: Entry | undefined
      for (let index = cursor === undefined ? 0 : placeAfter(listed, Number(cursor)); index < listed.length; index++) {
        const entry = listed[index] as Entry // the index is less than the length
        if (entry.record === undefined || !isLive(entry, now)) continue
        if (last !== undefined && records.length >= limit) return { records, cursor: String(last.sequence) }
        records.push({ ...entry.record, key: entry.key })
        last = entry
      }
      return { records }
    },
  }
}

/** A value whose strings are its own: a part of a longer one, such as a request, would keep all of it. */
function copyOf(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value))
}

function isLive({ expiresAt }: Entry, now: Seconds): boolean {
  return expiresAt === undefined || now < expiresAt
}

function isRoll(found: Entry | Roll): found is Roll {
  return 'dropped' in found
}

/** Where the entries begin whose sequence is greater. */
function placeAfter(entries: readonly Entry[], sequence: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    const entry = entries[middle] as Entry // the middle is less than the length
    if (entry.sequence > sequence) high = middle
    else low = middle + 1
  }
  return low
}

function sameLabels(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((label, index) => label === b[index])
}
