/**
 * The entry point `grantwell/storage/memory`: records in this process, gone when it ends.
 *
 * Values are kept as they are, not frozen: the contract forbids to change a value, and frozen objects are several times as slow to
 * copy. Only the first value of a record is a copy, so that the text or object that it was part of can be freed.
 * @module
 */
import { readOptions } from '../core/options.js'
import type { Takes } from '../core/takes.js'
import type { Seconds } from '../core/values.js'
import { isLive } from './memory/entry.js'
import { createExpiry } from './memory/expiry.js'
import { createRecords } from './memory/records.js'
import type { RecordStore } from './record-store.js'

export type {
  JsonValue,
  RecordPage,
  RecordStore,
  ScannedRecord,
  ScanPage,
  StoredRecord,
  WriteOptions,
} from './record-store.js'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Seconds since the epoch; the system's clock by default. */
  readonly clock?: () => Seconds
}

/** A {@link RecordStore} in memory that can tell how much it holds. */
export interface MemoryStore extends RecordStore {
  /** Number of records held, with expired ones that were not removed yet. */
  readonly size: number
}

const CLOCK: Takes = {
  words: 'a function that gives whole seconds since the epoch',
  fits: (value) => {
    const now: unknown = typeof value === 'function' ? value() : undefined
    return Number.isSafeInteger(now) && Number(now) < 1e11
  },
}

/**
 * Makes a store in memory.
 * @throws GrantwellError `ERR_CONFIGURATION` for a wrong option
 * @example
 * ```ts
 * const store = memoryStore()
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { clock = () => Math.floor(Date.now() / 1000) } = readOptions<MemoryStoreOptions>('memoryStore', options, {
    clock: CLOCK,
  })
  const records = createRecords()
  const { entries } = records
  const expiry = createExpiry(entries, records.remove, clock())

  /** Begins an operation: gives back some space, and removes a few expired records. Returns its time. */
  function begin(): Seconds {
    const now = clock()
    records.compact()
    expiry.onOperation(now)
    return now
  }

  return {
    get size() {
      return entries.size
    },

    read(keys) {
      const now = begin()
      return keys.map((key) => {
        const entry = entries.get(key)
        return entry !== undefined && isLive(entry, now) ? records.read(entry) : undefined
      })
    },

    write(key, value, { expected, expiresAt, labels = [] }) {
      const now = begin()
      const found = entries.get(key)
      const current = found !== undefined && isLive(found, now) ? found : undefined
      if ((current?.version ?? 0) !== expected) return false
      const isRemoval = expiresAt !== undefined && now >= expiresAt
      if (current !== undefined && !isRemoval && sameLabels(current.labels, labels)) {
        records.replace(current, value, expiresAt)
        return true
      }
      // Throws for a value that is not JSON, before anything has changed.
      const text = isRemoval ? '' : JSON.stringify(value)
      if (found !== undefined) records.remove(found)
      if (isRemoval) return true
      expiry.onInsert(now)
      records.add(key, JSON.parse(text), labels, expiresAt)
      return true
    },

    list: (label, { limit = 100, cursor } = {}) => records.list(label, begin(), limit, cursor),

    scan: ({ limit = 100, cursor } = {}) => records.scan(begin(), limit, cursor),
  }
}

function sameLabels(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((label, index) => label === b[index])
}
