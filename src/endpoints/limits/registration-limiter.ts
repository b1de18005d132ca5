/**
 * The limits on clients that register themselves, and on documents that are read anew. Each new client leaves a record, and anybody may
 * send one; each document makes this server call another one. They are kept in the store, or the host has its own.
 * @module
 * @see RFC 7591, section 5
 */
import type { OAuthError } from '../../core/errors.js'
import type { AttemptLimit } from '../../core/rate-limit.js'
import type { Seconds } from '../../core/values.js'
import type { Settings } from '../../shell/options/settings.js'
import type { AuthorizationServerOptions } from '../../shell/options.js'
import type { Transactions } from '../../shell/transactions.js'
import { createAttemptCounter, createAttemptReader, createLimiter, tooManyRequests } from './attempts.js'
import { networkOf } from './network.js'

/** Twenty at once, and one every three minutes more: many people may share an address. */
export const REGISTRATION_ADDRESS_LIMIT: AttemptLimit = { allowance: 20, period: 180 }

/** A thousand at once, and one every half minute more, from all addresses: so the store holds 90,000 unused clients at most. */
export const REGISTRATION_LIMIT: AttemptLimit = { allowance: 1000, period: 30 }

/**
 * A hundred at once, and one every 3 seconds more, for documents of clients that are known. They leave no record, so all addresses together
 * have no limit: a flood of new clients is not in the way of those that users have.
 */
export const DOCUMENT_ADDRESS_LIMIT: AttemptLimit = { allowance: 100, period: 3 }

/** A thousand at once, and one a second more, where no address is known. */
export const DOCUMENT_LIMIT: AttemptLimit = { allowance: 1000, period: 1 }

/** A request to register a client. */
type RegistrationAttempt = Parameters<NonNullable<AuthorizationServerOptions['registrationLimiter']>>[0]

/** Counts a registration; an error where there were too many. */
export type RegistrationLimiter = (attempt: RegistrationAttempt) => Promise<OAuthError | undefined>

/** Makes the limiter of a server. */
export function createRegistrationLimiter<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
): RegistrationLimiter {
  const ofHost = { name: 'registrationLimiter', limiter: settings.registrationLimiter }
  return createLimiter(ofHost, createStoredLimiter(settings, transactions), tooManyClients)
}

/** Makes the limiter for documents of clients that are known. */
export function createDocumentLimiter<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
): RegistrationLimiter {
  const ofHost = { name: 'registrationLimiter', limiter: settings.registrationLimiter }
  const count = createAttemptCounter(settings, transactions)
  const stored = ({ address }: RegistrationAttempt) =>
    address === undefined
      ? count('documents', DOCUMENT_LIMIT)
      : count(`documents at ${networkOf(address)}`, DOCUMENT_ADDRESS_LIMIT)
  return createLimiter(ofHost, stored, tooManyClients)
}

/**
 * Makes the limiter that is kept in the store. A registration beyond the limit of its address does not count for all, and one that is
 * refused writes nothing: a flood has any number of addresses.
 */
function createStoredLimiter<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
): (attempt: RegistrationAttempt) => Promise<Seconds | OAuthError> {
  const count = createAttemptCounter(settings, transactions)
  const look = createAttemptReader(settings, transactions)
  return async ({ address }) => {
    if (address !== undefined) {
      const waitOfAll = await look('clients', REGISTRATION_LIMIT)
      if (waitOfAll !== 0) return waitOfAll
      const wait = await count(`clients at ${networkOf(address)}`, REGISTRATION_ADDRESS_LIMIT)
      if (wait !== 0) return wait
    }
    return count('clients', REGISTRATION_LIMIT)
  }
}

function tooManyClients(wait: Seconds): OAuthError {
  return tooManyRequests('Too many clients registered in too short a time.', wait)
}
