/**
 * The ways to count attempts: in the store, or by a limiter of the host.
 * @module
 */

import { encodeBase64url } from '../../core/credentials/base64url.js'
import { digestOf } from '../../core/credentials/digests.js'
import type { OAuthError } from '../../core/errors.js'
import { isOAuthError, oauthError } from '../../core/errors.js'
import type { AttemptLimit, AttemptOutcome, Attempts } from '../../core/rate-limit.js'
import { attempt } from '../../core/rate-limit.js'
import type { Takes } from '../../core/takes.js'
import type { Seconds } from '../../core/values.js'
import { checkedAnswer } from '../../shell/host.js'
import type { Settings } from '../../shell/options/settings.js'
import { keys, recordAs } from '../../shell/records.js'
import type { Transactions } from '../../shell/transactions.js'

/** The stored record of attempts. */
interface AttemptsRecord extends Attempts {
  /** Random, so that no server takes another's write for its own and counts two attempts as one. */
  readonly by: string
}

/** Counts an attempt under a name: returns 0, or the seconds to wait. */
export type AttemptCounter = (name: string, limit: AttemptLimit) => Promise<Seconds | OAuthError>

const WAIT: Takes = {
  words: 'seconds, 0 to let the attempt pass',
  fits: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
}

/** Makes the error of a client that asks too often. The seconds to wait are its `Retry-After`. */
export function tooManyRequests(description: string, wait: Seconds): OAuthError {
  const more = { status: 429, retryAfter: Math.ceil(wait) }
  return oauthError('temporarily_unavailable', 'too_many_attempts', description, more)
}

/** Makes a look at the attempts in the store: like the counter, but it counts nothing and writes nothing. */
export function createAttemptReader({ digests, clock }: Settings<never>, { read }: Transactions): AttemptCounter {
  return async (name, limit) => {
    const records = await read([keys.attempts(digestOf(digests, name))])
    if (isOAuthError(records)) return records
    const outcome = attempt(recordAs.attempts(records[0]?.value), clock(), limit)
    return outcome.type === 'allowed' ? 0 : outcome.retryAfter
  }
}

/** Makes the counter that keeps attempts in the store. */
export function createAttemptCounter({ digests }: Settings<never>, { transact }: Transactions): AttemptCounter {
  return async (name, limit) => {
    const key = keys.attempts(digestOf(digests, name))
    const counted = await transact<AttemptOutcome>([key], ([value], now, entropy) => {
      const reply = attempt(recordAs.attempts(value), now, limit)
      const { attempts } = reply
      if (attempts === undefined) return { reply }
      const { v, freeAt } = attempts
      const record: AttemptsRecord = { v, freeAt, by: encodeBase64url(entropy.subarray(0, 16)) }
      return { reply, write: { key, value: record, expiresAt: freeAt } }
    })
    if (isOAuthError(counted)) return counted
    return counted.type === 'allowed' ? 0 : counted.retryAfter
  }
}

/**
 * Makes a limiter, by the host's function or by the store.
 * @param ofHost - the function of the host with its name, where it has one. It must give a number: an attempt that was not counted
 * must not pass
 * @param tooMany - makes the error from the seconds to wait
 */
export function createLimiter<Attempt>(
  ofHost: { readonly name: string; readonly limiter: ((attempt: Attempt) => Seconds | Promise<Seconds>) | undefined },
  stored: (attempt: Attempt) => Promise<Seconds | OAuthError>,
  tooMany: (wait: Seconds) => OAuthError,
): (attempt: Attempt) => Promise<OAuthError | undefined> {
  const { name, limiter } = ofHost
  return async (attempt) => {
    const wait =
      limiter === undefined ? await stored(attempt) : checkedAnswer<Seconds>(`${name}()`, WAIT, await limiter(attempt))
    if (isOAuthError(wait)) return wait
    return wait === 0 ? undefined : tooMany(wait)
  }
}
