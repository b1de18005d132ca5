/**
 * The entry point `grantwell/storage/memory`: records in this process, gone when it ends.
 *
 * Expiry is data, compared with the clock at every read. To free memory too, the keys of records that expire are kept in
 * buckets of time, and each operation first drops the buckets that are over: no timer holds the process.
 *
 * Values are kept as they are, neither copied nor frozen: by the contract nobody changes one, and frozen objects are
 * several times as slow to copy from.
 * @module
 */
import type { Seconds } from '../core/values.js'
import type { RecordStore, StoredRecord } from './record-store.js'

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

interface Entry extends StoredRecord {
  readonly expiresAt: Seconds
  readonly labels: readonly string[]
  /** The order in which records came into being, for cursors. */
  readonly sequence: number
}

/** Seconds of expiry that share a bucket: a record is dropped at most so long after it expired. */
const BUCKET_SECONDS = 16

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
  const labelled = new Map<string, Map<number, string>>()
  const buckets = new Map<number, Set<string>>()
  let versions = 0
  let sweptTo = bucketOf(clock())

  function live(key: string, now: Seconds): Entry | undefined {
    const entry = entries.get(key)
    return entry !== undefined && now < entry.expiresAt ? entry : undefined
  }

  function drop(key: string, entry: Entry): void {
    entries.delete(key)
    for (const label of entry.labels) {
      const keys = labelled.get(label)
      keys?.delete(entry.sequence)
      if (keys?.size === 0) labelled.delete(label)
    }
    unschedule(key, entry)
  }

  function unschedule(key: string, entry: Entry): void {
    const number = bucketOf(entry.expiresAt)
    const bucket = buckets.get(number)
    bucket?.delete(key)
    if (bucket?.size === 0) buckets.delete(number)
  }

  /** Drops what is in the buckets that are over, looking at each number or at each bucket, whichever are fewer. */
  function sweep(now: Seconds): void {
    const current = bucketOf(now)
    const passed = current - sweptTo
    if (passed === 0) return
    sweptTo = current
    const numbers =
      passed < buckets.size
        ? Array.from({ length: Math.max(0, passed) }, (_, index) => current - 1 - index)
        : [...buckets.keys()]
    for (const number of numbers) {
      if (number >= current) continue
      for (const key of buckets.get(number) ?? []) {
        const entry = entries.get(key)
        if (entry !== undefined) drop(key, entry)
      }
    }
  }

  return {
    get size() {
      return entries.size
    },

    read(keys) {
      const now = clock()
      sweep(now)
      return keys.map((key) => live(key, now))
    },

    write(key, value, { expected, expiresAt = Number.POSITIVE_INFINITY, labels = [] }) {
      const now = clock()
      sweep(now)
      const current = live(key, now)
      if ((current?.version ?? 0) !== expected) return false
      const before = entries.get(key)
      const relabelled = current === undefined || !sameLabels(current.labels, labels)
      if (before !== undefined) {
        if (relabelled || now >= expiresAt) drop(key, before)
        else unschedule(key, before)
      }
      if (now >= expiresAt) return true
      const version = ++versions
      const sequence = relabelled ? version : current.sequence
      entries.set(key, { value, version, expiresAt, labels, sequence })
      if (relabelled)
        for (const label of labels) inside(labelled, label, () => new Map<number, string>()).set(sequence, key)
      if (expiresAt !== Number.POSITIVE_INFINITY) inside(buckets, bucketOf(expiresAt), () => new Set<string>()).add(key)
      return true
    },

    list(label, { limit = 100, cursor } = {}) {
      const now = clock()
      sweep(now)
      const after = cursor === undefined ? 0 : Number(cursor)
      const records: (Entry & { readonly key: string })[] = []
      for (const [sequence, key] of labelled.get(label) ?? []) {
        const entry = sequence > after ? live(key, now) : undefined
        if (entry === undefined) continue
        const last = records.at(-1)
        if (last !== undefined && records.length >= limit) return { records, cursor: String(last.sequence) }
        records.push({ ...entry, key })
      }
      return { records }
    },
  }
}

function bucketOf(time: Seconds): number {
  return Math.floor(time / BUCKET_SECONDS)
}

function sameLabels(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((label, index) => label === b[index])
}

/** The collection at a key, made if it is not there. */
function inside<Key, Collection>(collections: Map<Key, Collection>, key: Key, make: () => Collection): Collection {
  const found = collections.get(key) ?? make()
  collections.set(key, found)
  return found
}
