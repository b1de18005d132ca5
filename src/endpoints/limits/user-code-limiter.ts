/**
 * The limit on guesses of user codes, for each user and for each address. It is kept in the store, or the host has its own.
 * @module
 * @see RFC 8628, section 5.1
 */
import type { OAuthError } from '../../core/errors.js'
import { oauthError } from '../../core/errors.js'
import type { AttemptLimit } from '../../core/rate-limit.js'
import type { Seconds } from '../../core/values.js'
import type { Settings } from '../../shell/options/settings.js'
import type { AuthorizationServerOptions } from '../../shell/options.js'
import type { Transactions } from '../../shell/transactions.js'
import { createAttemptCounter, createLimiter } from './attempts.js'
import { networkOf } from './network.js'

/** Ten at once, and one a minute more. */
export const USER_LIMIT: AttemptLimit = { allowance: 10, period: 60 }

/** Five times as many, since several people may share an address. */
export const ADDRESS_LIMIT: AttemptLimit = { allowance: 50, period: 12 }

/** A user who types a user code. */
type UserCodeAttempt = Parameters<NonNullable<AuthorizationServerOptions['userCodeLimiter']>>[0]

/** Counts a guess; an error where there were too many. */
export type UserCodeLimiter = (attempt: UserCodeAttempt) => Promise<OAuthError | undefined>

/** Makes the limiter of a server. */
export function createUserCodeLimiter<Native>(settings: Settings<Native>, transactions: Transactions): UserCodeLimiter {
  const ofHost = { name: 'userCodeLimiter', limiter: settings.userCodeLimiter }
  return createLimiter(ofHost, createStoredLimiter(settings, transactions), tooManyCodes)
}

/** Makes the limiter that is kept in the store. A guess beyond the user's limit does not count for the address. */
function createStoredLimiter<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
): (attempt: UserCodeAttempt) => Promise<Seconds | OAuthError> {
  const count = createAttemptCounter(settings, transactions)
  return async ({ subject, address }) => {
    const wait = await count(`user ${subject}`, USER_LIMIT)
    return wait !== 0 || address === undefined ? wait : count(`address ${networkOf(address)}`, ADDRESS_LIMIT)
  }
}

function tooManyCodes(wait: Seconds): OAuthError {
  const minutes = Math.ceil(wait / 60)
  const description = `Too many codes were tried. Wait ${minutes === 1 ? 'a minute' : `${minutes} minutes`}, and try again.`
  return oauthError('invalid_request', 'too_many_attempts', description, { status: 429, retryAfter: Math.ceil(wait) })
}
