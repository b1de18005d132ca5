/**
 * The limit on device authorization requests, kept in the store: each of them leaves two records, and anybody who knows a
 * public client's identifier can send one.
 * @module
 * @see RFC 8628, section 3.1
 */

import type { OAuthError } from '../core/errors.js'
import { oauthError } from '../core/errors.js'
import type { AttemptLimit } from '../core/rate-limit.js'
import type { Seconds } from '../core/values.js'
import type { DeviceAttempt, Settings } from '../shell/options.js'
import type { Transactions } from '../shell/transactions.js'
import { checkedLimiter } from './device-page.js'
import { attemptCounterOf, networkOf } from './user-code-limiter.js'

/** A hundred at once, and one every 3 seconds more: many people may share an address. */
export const DEVICE_ADDRESS_LIMIT: AttemptLimit = { allowance: 100, period: 3 }

/** A thousand at once, and one a second more, where no address is known. */
export const DEVICE_CLIENT_LIMIT: AttemptLimit = { allowance: 1000, period: 1 }

/** Binds the limit to a server: it returns the error of a request that comes too soon. */
export function deviceLimiterOf<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
): (attempt: DeviceAttempt) => Promise<OAuthError | undefined> {
  const count = attemptCounterOf(settings, transactions)
  const { deviceLimiter: ofHost } = settings
  const limiter =
    ofHost === undefined
      ? ({ clientId, address }: DeviceAttempt): Promise<Seconds | OAuthError> =>
          address === undefined
            ? count(`devices of ${clientId}`, DEVICE_CLIENT_LIMIT)
            : count(`devices at ${networkOf(address)}`, DEVICE_ADDRESS_LIMIT)
      : checkedLimiter('deviceLimiter', ofHost)
  return async (attempt) => {
    const wait = await limiter(attempt)
    if (typeof wait === 'object') return wait
    const description = 'Too many devices asked in too short a time.'
    const limits = { status: 429, retryAfter: Math.ceil(wait) }
    return wait === 0 ? undefined : oauthError('temporarily_unavailable', 'too_many_attempts', description, limits)
  }
}
