/**
 * The scan of all entries, in the order of their creation.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { JsonValue, ScannedRecord, ScanPage } from '../record-store.js'
import type { Entry } from './entry.js'
import { isLive } from './entry.js'

/**
 * Makes the scan of a store. It keeps the place of the last page, so that the next one need not begin at the first entry again: a scan of
 * all entries takes one walk.
 */
export function createScan(
  entries: ReadonlyMap<string, Entry>,
  read: (entry: Entry) => JsonValue,
): (now: Seconds, limit: number, cursor: string | undefined) => ScanPage {
  let kept: { readonly cursor: string; readonly left: Iterator<Entry> } | undefined

  return (now, limit, cursor) => {
    const after = cursor === undefined ? 0 : Number(cursor)
    const left = cursor !== undefined && kept?.cursor === cursor ? kept.left : entries.values()
    kept = undefined
    const records: ScannedRecord[] = []
    let looked = 0
    for (let next = left.next(); next.done !== true; next = left.next()) {
      const { key, version, sequence, expiresAt, labels } = next.value
      if (sequence <= after) continue
      if (isLive(next.value, now)) {
        const expiry = expiresAt === undefined ? {} : { expiresAt }
        records.push({ key, value: read(next.value), version, labels, ...expiry })
      }
      if (++looked < limit) continue
      kept = { cursor: String(sequence), left }
      return { records, cursor: kept.cursor }
    }
    return { records }
  }
}
