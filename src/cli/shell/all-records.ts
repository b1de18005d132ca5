/**
 * All records of a store, each once, and the digest by which two stores are compared.
 * @module
 */
import { createHash } from 'node:crypto'
import type { JsonValue, RecordStore, ScannedRecord } from '../../index.js'
import type { Seen } from './seen.js'
import { createSeen } from './seen.js'

/** Records of a page. */
const PAGE = 500

/** Store that can list its records. */
type ScannedStore = RecordStore & Required<Pick<RecordStore, 'scan'>>

/**
 * Demands a store that can list its records.
 * @throws Error for another one
 */
export function demandScan(store: RecordStore): asserts store is ScannedStore {
  if (store.scan === undefined) throw new Error('this store cannot list its records: it has no method scan')
}

/**
 * Reads all records of a store, each once: a store may show a record again.
 * @param seen - a set to use; one for several readings in turn takes the memory of one
 * @throws Error for a store that cannot list its records
 */
export async function* allRecords(store: RecordStore, seen: Seen = createSeen()): AsyncGenerator<ScannedRecord> {
  demandScan(store)
  seen.clear()
  let cursor: string | undefined
  do {
    const page = await store.scan({ limit: PAGE, ...(cursor !== undefined && { cursor }) })
    for (const record of page.records) if (seen.add(hash(canonical(record.key)))) yield record
    if (page.cursor !== undefined && page.cursor === cursor) throw new Error('the scan of the store does not end')
    cursor = page.cursor
  } while (cursor !== undefined)
}

/** A record as a file has it. A version is the store's own, so it is left out. */
export interface CopiedRecord {
  readonly key: string
  readonly value: JsonValue
  readonly expiresAt?: number
  readonly labels: readonly string[]
}

/** Returns what is copied of a record. */
export function copyOf({ key, value, expiresAt, labels }: ScannedRecord): CopiedRecord {
  return { key, value, labels: labels.toSorted(), ...(expiresAt !== undefined && { expiresAt }) }
}

/** The number of records, and a digest of all of them that does not depend on their order. */
export interface Sum {
  readonly records: number
  readonly digest: string
}

/** Sums up records. */
export interface Summing {
  /** Adds a record. @returns its digest */
  readonly add: (record: CopiedRecord) => Buffer
  /** Returns the sum of the records that have not expired at a time from the start on: one of two stores may be read later than the other. */
  readonly at: (now: number) => Sum
  /** Returns the sum of all of them. */
  readonly all: () => Sum
}

/** Seconds from the start within which a copy and its comparison must end. Records that expire within them are summed up by their expiry. */
const LONGEST = 86_400

/**
 * Sums up records by the sum of their SHA-256 digests, as numbers of 256 bits.
 * @param start - the time at which the copy begins, in seconds since the epoch
 */
export function createSumming(start: number): Summing {
  const lasting = { records: 0, digest: 0n }
  const expired = { records: 0, digest: 0n }
  const expiring = new Map<number, { records: number; digest: bigint }>()

  function partFor(expiresAt: number | undefined): { records: number; digest: bigint } {
    if (expiresAt === undefined || expiresAt > start + LONGEST) return lasting
    if (expiresAt <= start) return expired
    const found = expiring.get(expiresAt) ?? { records: 0, digest: 0n }
    expiring.set(expiresAt, found)
    return found
  }

  return {
    add(record) {
      const part = partFor(record.expiresAt)
      const digest = digestOf(record)
      part.records++
      part.digest += BigInt(`0x${digest.toString('hex')}`)
      return digest
    },

    at: (now) => sumOf([lasting, ...[...expiring].flatMap(([expiresAt, part]) => (expiresAt > now ? [part] : []))]),

    all: () => sumOf([lasting, expired, ...expiring.values()]),
  }
}

function sumOf(parts: readonly { readonly records: number; readonly digest: bigint }[]): Sum {
  const digest = parts.reduce((sum, part) => sum + part.digest, 0n)
  return {
    records: parts.reduce((sum, part) => sum + part.records, 0),
    digest: BigInt.asUintN(256, digest).toString(16).padStart(64, '0'),
  }
}

/** Returns the digest of a record. */
export function digestOf(record: CopiedRecord): Buffer {
  return hash(canonical(record))
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Writes a value as JSON with its names in order: an engine may keep another one. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const members: Readonly<Record<string, unknown>> = { ...value }
  const names = Object.keys(members).toSorted()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(members[name])}`).join()}}`
}
