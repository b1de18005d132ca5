/**
 * Removal of expired entries, a few at each operation, in a circle through all entries. No timer holds the process, no index of
 * times costs memory, and no operation waits for all records that expire at once.
 *
 * Reads never depend on it: they compare each record's expiry with the clock.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { Entry } from './entry.js'
import { isLive } from './entry.js'

/** Entries checked by the first operation of a second. If the store has fewer, each expired one is removed at once. */
const CHECKED_EACH_SECOND = 1_000

/** Entries checked on each insert. Of all entries, at most an eighth has expired since the circle passed them. */
const CHECKED_ON_INSERT = 8

/** The removal of a store's expired entries. */
export interface Expiry {
  /** Checks some entries if this is the first operation of a second. */
  readonly onOperation: (now: Seconds) => void
  /** Checks some entries before another one is added. */
  readonly onInsert: (now: Seconds) => void
}

/**
 * Makes the removal of expired entries.
 * @param remove - removes an entry from the store, and from `entries`
 */
export function createExpiry(
  entries: ReadonlyMap<string, Entry>,
  remove: (entry: Entry) => void,
  createdAt: Seconds,
): Expiry {
  let circle = entries.values()
  let checkedAt = createdAt

  /** Checks the next entries of the circle. */
  function check(now: Seconds, most: number): void {
    for (let left = Math.min(most, entries.size); left > 0; left--) {
      let { value: entry } = circle.next()
      if (entry === undefined) {
        circle = entries.values()
        entry = circle.next().value
      }
      if (entry !== undefined && !isLive(entry, now)) remove(entry)
    }
  }

  return {
    onOperation(now) {
      if (now !== checkedAt) check(now, CHECKED_EACH_SECOND)
      checkedAt = now
    },

    onInsert: (now) => check(now, CHECKED_ON_INSERT),
  }
}
