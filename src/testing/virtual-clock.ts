/**
 * A clock that stands still until a test moves it.
 * @module
 */
import type { Seconds } from '../core/values.js'

/** A clock of whole seconds since the epoch; call it to read it, or give it to a server and a store as their `clock`. */
export interface VirtualClock {
  /** Returns the time, in seconds since the epoch. */
  (): Seconds
  /** Lets so many seconds pass; a negative number steps back, as a clock that is set right does. */
  readonly advance: (seconds: Seconds) => void
  /** Sets the time, in seconds since the epoch. */
  readonly set: (time: Seconds) => void
}

/**
 * Makes a clock that stands still.
 * @param start - seconds since the epoch; 1,800,000,000 (15 January 2027) by default
 * @throws TypeError for a time that is not a whole number of seconds
 * @example
 * ```ts
 * const clock = virtualClock()
 * const store = memoryStore({ clock })
 * clock.advance(28_800) // every access token has expired
 * ```
 */
export function virtualClock(start: Seconds = 1_800_000_000): VirtualClock {
  let now = whole(start)
  return Object.assign(() => now, {
    advance: (seconds: Seconds) => {
      now = whole(now + seconds)
    },
    set: (time: Seconds) => {
      now = whole(time)
    },
  })
}

function whole(time: Seconds): Seconds {
  if (!Number.isSafeInteger(time)) throw new TypeError(`a time is a whole number of seconds, not ${time}`)
  return time
}
