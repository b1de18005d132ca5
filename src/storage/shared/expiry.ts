/**
 * The time until which an engine keeps a record, and the times at which a store removes expired records.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { Engine } from './engine.js'

/**
 * Returns the time until which an engine keeps a record: its expiry, rounded up by at most an eighth of its remaining life.
 *
 * Saves index writes. The expiry of a grant moves with each refresh, but the index has this rounded time: with three refreshes a
 * day, it changes less than 40 times a year.
 */
export function keptUntil(expiresAt: Seconds, now: Seconds): Seconds {
  const step = 2 ** Math.floor(Math.log2((expiresAt - now) / 8))
  return step > 1 ? Math.ceil(expiresAt / step) * step : expiresAt
}

/** The most records that one removal deletes. */
export const MAX_REMOVED = 1_000

/** Seconds between two removals. */
const REMOVAL_INTERVAL = 60

/** The times of a store's removals. */
export interface RemovalSchedule {
  /** Returns true if the last removal is a minute ago, or if it deleted as many records as it could. */
  readonly isDue: (now: Seconds) => boolean
  readonly began: (now: Seconds) => void
  readonly deleted: (count: number) => void
}

/** Creates the schedule of a store that has removed nothing yet. */
export function createRemovalSchedule(engine: Engine): RemovalSchedule {
  let removedAt = Number.NEGATIVE_INFINITY
  return {
    isDue: (now) => now >= removedAt + REMOVAL_INTERVAL,

    began(now) {
      removedAt = now
    },

    deleted(count) {
      engine.observer?.onRemoved(count)
      if (count === MAX_REMOVED) removedAt -= REMOVAL_INTERVAL
    },
  }
}
