/**
 * A limit on attempts, as a pure transition of one small record: so many at once, and then one in every so many seconds.
 *
 * The record holds the one time from which all attempts would be free again (the generic cell rate algorithm), so within
 * any span of time no more pass than the allowance plus the span divided by the period: there is no edge of a window
 * around which twice as many would.
 * @module
 */
import type { Seconds } from './values.js'

/** A limit on attempts. */
export interface AttemptLimit {
  /** Attempts at once. */
  readonly allowance: number
  /** Seconds in which one more comes back. */
  readonly period: Seconds
}

/** The attempts that were made. JSON. */
export interface Attempts {
  /** Version of this shape. */
  readonly v: 1
  /** The time at which the whole allowance is there again, in seconds since the epoch; from then on the record says nothing. */
  readonly freeAt: Seconds
}

/** The outcome of an attempt. */
export type AttemptOutcome =
  | { readonly type: 'allowed'; readonly attempts: Attempts }
  | {
      readonly type: 'limited'
      /** Seconds until the next attempt is allowed; this one does not count. */
      readonly retryAfter: Seconds
      /** The record to keep in place of one from the future, which a clock that stepped back has left. */
      readonly attempts?: Attempts
    }

/**
 * Makes an attempt.
 * @param attempts - those before it; undefined where there are none
 */
export function attempt(
  attempts: Attempts | undefined,
  now: Seconds,
  { allowance, period }: AttemptLimit,
): AttemptOutcome {
  const exhausted = now + allowance * period
  const stored = attempts?.freeAt ?? now
  const freeAt = Math.max(Math.min(stored, exhausted), now) + period
  const tooSoon = freeAt - exhausted
  if (tooSoon <= 0) return { type: 'allowed', attempts: { v: 1, freeAt } }
  return {
    type: 'limited',
    retryAfter: tooSoon,
    ...(stored > exhausted && { attempts: { v: 1, freeAt: exhausted } as const }),
  }
}
