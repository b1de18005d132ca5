/**
 * The entry point `grantwell/storage/memory`: records in this process, gone when it ends.
 *
 * Expiry is data, compared with the clock at every read. To free memory too, operations look at some records further each time,
 * in a circle, and drop those that have expired: no timer holds the process, no index costs memory, and however many records
 * expire at once, none waits for all of them.
 *
 * Values are kept as they are, not frozen: by the contract nobody changes one, and frozen objects are several times as slow to
 * copy from. Only the first of a record is a copy, so that what it was cut out of can go.
 *
 * Beyond 32,768 records, values are kept as JSON in long arrays of bytes, and only those that were written last, or are asked for
 * again and again, as objects: whenever a collector of garbage empties the young objects it walks all pages of the heap, so that a million
 * records as objects make each of its pauses several times as long.
 * @module
 */
import { configurationError } from '../core/errors.js'
import type { Takes } from '../core/takes.js'
import { readOptions } from '../core/takes.js'
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
  /** 0 once the entry was dropped. */
  version: number
  /** Absent: never. Not Infinity, which would have engines put every entry's number into a box. */
  expiresAt: Seconds | undefined
  /** Absent where it is in a block. */
  value: JsonValue | undefined
  block: Block | undefined
  /** Where its text begins in the block; or which of the objects it is. */
  place: number
  /** Bytes of its text. */
  length: number
  /** How many texts had been asked for when its own was asked for last; 0 before. */
  askedAt: number
}

/** The texts of many entries. */
interface Block {
  readonly bytes: Uint8Array
  used: number
  /** Whose texts they are, and were. */
  readonly entries: Entry[]
  /** Bytes of texts that have left. */
  gone: number
}

/** The entries that have a label, in the order of their sequence, and how many of them were dropped. */
interface Roll {
  entries: Entry[]
  dropped: number
}

/** How many values are objects at most: some 25 MB of grants. */
const OBJECTS = 32_768

/** A text that is asked for a second time becomes an object if fewer others were asked for in between. */
const AGAIN = 4_096

const BLOCK_BYTES = 1 << 21

/** What a text takes of a block at least, so that no more than some thousands have to move out of one at once. */
const LEAST_BYTES = 128

const NO_LABELS: readonly string[] = []

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** How many records the first operation of a second looks at: what has expired of fewer is gone at once. */
const LOOKED_AT_IN_A_SECOND = 1_000

/** How many records the making of another one looks at: of what is held, at most an eighth has expired since they were looked at last. */
const LOOKED_AT_BY_A_NEW_ONE = 8

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
  const own = readOptions<MemoryStoreOptions>('memoryStore', options, { clock: CLOCK })
  if (typeof own === 'string') throw configurationError(own)
  const clock = own.clock ?? (() => Math.floor(Date.now() / 1000))
  const entries = new Map<string, Entry>()
  /** Most labels have one entry: it stands for itself. */
  const labelled = new Map<string, Entry | Roll>()
  let circle = entries.values()
  /** Those whose values are objects. */
  const objects: Entry[] = []
  /** Which of these became a text last: they do so in a circle. */
  let hand = -1
  /** How often a text was asked for. */
  let asked = 0
  let open: Block | undefined
  /** Those that half of their bytes have left, each until an operation has moved the rest. */
  const halfGone = new Set<Block>()
  /** Of a block that everything has left, for the next one. */
  let spare: Uint8Array | undefined
  let versions = 0
  let lookedAt = clock()

  /** Gives an entry a value as an object: beside the others while there are few, else in place of the one that has been one for longest. */
  function keep(entry: Entry, value: JsonValue): void {
    hand = (hand + 1) % OBJECTS
    const other = objects.length < OBJECTS ? undefined : objects[hand]
    const text = other === undefined ? '' : JSON.stringify(other.value)
    leave(entry)
    entry.value = value
    entry.place = other === undefined ? objects.length : hand
    objects[entry.place] = entry
    if (other === undefined) return
    other.value = undefined
    shelve(other, text)
  }

  /** Takes an entry out of its block or from among the objects. */
  function remove(entry: Entry): void {
    leave(entry)
    if (entry.value === undefined) return
    entry.value = undefined
    const last = objects.pop()
    if (last === undefined || last === entry) return
    last.place = entry.place
    objects[last.place] = last
  }

  function shelve(entry: Entry, text: string): void {
    const most = text.length * 3
    if (most > BLOCK_BYTES / 8) settle(entry, { bytes: encoder.encode(text), used: 0, entries: [], gone: 0 })
    else {
      const block = blockFor(most)
      settle(entry, block, encoder.encodeInto(text, block.bytes.subarray(block.used)).written)
    }
  }

  /** Gives an entry the next bytes of a block. */
  function settle(entry: Entry, block: Block, length = block.bytes.length): void {
    entry.block = block
    entry.place = block.used
    entry.length = length
    block.used += taken(entry)
    block.entries.push(entry)
  }

  /** The block that is being filled, or another one if it does not have so many bytes left. */
  function blockFor(bytes: number): Block {
    if (open === undefined || open.used + bytes > BLOCK_BYTES) {
      open = { bytes: spare ?? new Uint8Array(BLOCK_BYTES), used: 0, entries: [], gone: 0 }
      spare = undefined
    }
    return open
  }

  /** Takes an entry out of its block. */
  function leave(entry: Entry): void {
    const { block } = entry
    if (block === undefined) return
    entry.block = undefined
    block.gone += taken(entry)
    if (block.gone * 2 >= block.used) halfGone.add(block)
  }

  /** Moves what is left in one of the blocks that are half gone, so that texts take about twice their space at most; no more than one, since many may be half gone at once. */
  function tidy(): void {
    const [block] = halfGone
    if (block === undefined) return
    halfGone.delete(block)
    if (block === open) open = undefined
    for (const each of block.entries)
      if (each.block === block) {
        const to = blockFor(each.length)
        to.bytes.set(textOf(each, block), to.used)
        settle(each, to, each.length)
      }
    if (block.bytes.length === BLOCK_BYTES) spare = block.bytes
  }

  /** The value of an entry, which becomes an object where its text was asked for shortly before. */
  function valueIn(entry: Entry): JsonValue {
    if (entry.value !== undefined) return entry.value
    const block = entry.block as Block // what is no object has a text
    const value: JsonValue = JSON.parse(decoder.decode(textOf(entry, block)))
    const again = entry.askedAt !== 0 && asked - entry.askedAt < AGAIN
    entry.askedAt = ++asked
    if (again) keep(entry, value)
    return value
  }

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
    entry.version = 0
    remove(entry)
    for (const label of entry.labels) {
      const found = labelled.get(label)
      if (found === undefined) continue
      if (!isRoll(found)) labelled.delete(label)
      else if (++found.dropped === found.entries.length) labelled.delete(label)
      else if (found.dropped * 2 > found.entries.length) {
        found.entries = found.entries.filter(({ version }) => version !== 0)
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
    tidy()
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
      return keys.map((key) => {
        const entry = live(key, now)
        return entry && { value: valueIn(entry), version: entry.version }
      })
    },

    write(key, value, { expected, expiresAt, labels = [] }) {
      const now = begin()
      const before = entries.get(key)
      const current = before !== undefined && isLive(before, now) ? before : undefined
      if ((current?.version ?? 0) !== expected) return false
      const ends = expiresAt !== undefined && now >= expiresAt
      if (current !== undefined && !ends && sameLabels(current.labels, labels)) {
        if (current.value === undefined) keep(current, checkedJson(value))
        else current.value = value
        current.version = ++versions
        current.expiresAt = expiresAt
        return true
      }
      const text = ends ? '' : JSON.stringify(value)
      if (before !== undefined) drop(before)
      if (ends) return true
      sweep(now, LOOKED_AT_BY_A_NEW_ONE)
      const sequence = ++versions
      const entry: Entry = {
        key,
        labels: labels.length === 0 ? NO_LABELS : [...new Set(labels)],
        sequence,
        version: sequence,
        expiresAt,
        value: undefined,
        block: undefined,
        place: 0,
        length: 0,
        askedAt: 0,
      }
      keep(entry, JSON.parse(text))
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
        if (entry.version === 0 || !isLive(entry, now)) continue
        if (last !== undefined && records.length >= limit) return { records, cursor: String(last.sequence) }
        records.push({ value: valueIn(entry), version: entry.version, key: entry.key })
        last = entry
      }
      return { records }
    },
  }
}

/** Throws for what is no JSON here, not in the operation that makes a text of it. */
function checkedJson(value: JsonValue): JsonValue {
  JSON.stringify(value)
  return value
}

/** What the text of an entry takes of its block. */
function taken({ length }: Entry): number {
  return Math.max(length, LEAST_BYTES)
}

function textOf({ place, length }: Entry, { bytes }: Block): Uint8Array {
  return bytes.subarray(place, place + length)
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
