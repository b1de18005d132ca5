/**
 * `store check` and `store stats`: what the records of a store are, and which of them are broken.
 * @module
 */
import type { RecordStore, ScannedRecord } from '../../index.js'
import { recordFault } from '../../shell/records/check-record.js'
import { allRecords } from './all-records.js'

/** A broken record. */
export interface BrokenRecord {
  readonly key: string
  readonly fault: string
}

/** The most broken records that are told one by one. */
const MOST_TOLD = 1_000

/** Reads every record, and finds those that are broken. */
export async function checkStore(store: RecordStore): Promise<{
  readonly records: number
  readonly broken: number
  readonly faults: readonly BrokenRecord[]
}> {
  let [records, broken] = [0, 0]
  const faults: BrokenRecord[] = []
  for await (const record of allRecords(store)) {
    records++
    const fault = recordFault(record)
    if (fault === undefined) continue
    broken++
    if (faults.length < MOST_TOLD) faults.push({ key: shownKey(record.key), fault })
  }
  return { records, broken, faults }
}

/** Kinds whose keys are digests of something short: whoever has such a key finds out the rest of it by trying. */
const SECRET_KEYS: readonly string[] = ['user_code', 'mac_nonce', 'attempts']

/** Returns as much of a key as may be seen on a terminal or in a log. */
function shownKey(key: string): string {
  const [kind = key] = key.split(':', 1)
  return SECRET_KEYS.includes(kind) ? `${kind}:…` : key
}

/** Figures of the records of one kind. */
export interface KindStats {
  readonly kind: string
  readonly records: number
  /** Bytes of their values as JSON. */
  readonly bytes: number
  /** Those that expire some day. */
  readonly expiring: number
}

/** Counts the records of a store by their kinds; applications and grants by their states, too. */
export async function statsOf(store: RecordStore): Promise<readonly KindStats[]> {
  const kinds = new Map<string, { records: number; bytes: number; expiring: number }>()
  for await (const record of allRecords(store)) {
    const kind = kindAndState(record)
    const found = kinds.get(kind) ?? { records: 0, bytes: 0, expiring: 0 }
    found.records++
    found.bytes += Buffer.byteLength(JSON.stringify(record.value))
    if (record.expiresAt !== undefined) found.expiring++
    kinds.set(kind, found)
  }
  return [...kinds].map(([kind, figures]) => ({ kind, ...figures })).toSorted((a, b) => (a.kind < b.kind ? -1 : 1))
}

/** Returns the kind of a record, with its state where it has one. */
function kindAndState({ key, value }: ScannedRecord): string {
  const [kind = key] = key.split(':', 1)
  const { state, revokedAt, pairs } = (value ?? {}) as Readonly<Record<string, unknown>> // whatever is stored
  if (kind === 'application') return `application, ${String(state)}`
  if (kind !== 'grant') return kind
  if (pairs === undefined) return 'grant, a device that waits'
  return revokedAt === undefined ? 'grant' : 'grant, ended'
}
