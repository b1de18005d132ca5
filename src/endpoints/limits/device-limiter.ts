/**
 * The limit on device authorization requests. Each leaves two records in the store, and anybody who knows a public client's
 * identifier can send one. It is kept in the store, or the host has its own.
 * @module
 * @see RFC 8628, section 3.1
 */
import type { OAuthError } from '../../core/errors.js'
import type { AttemptLimit } from '../../core/rate-limit.js'
import type { Seconds } from '../../core/values.js'
import type { Settings } from '../../shell/options/settings.js'
import type { AuthorizationServerOptions } from '../../shell/options.js'
import type { Transactions } from '../../shell/transactions.js'
import { createAttemptCounter, createLimiter, tooManyRequests } from './attempts.js'
import { networkOf } from './network.js'

/** A hundred at once, and one every 3 seconds more: many people may share an address. */
export const DEVICE_ADDRESS_LIMIT: AttemptLimit = { allowance: 100, period: 3 }

/** A thousand at once, and one a second more, where no address is known. */
export const DEVICE_CLIENT_LIMIT: AttemptLimit = { allowance: 1000, period: 1 }

/** A device that asks for its codes. */
type DeviceAttempt = Parameters<NonNullable<AuthorizationServerOptions['deviceLimiter']>>[0]

/** Counts a request; an error where there were too many. */
export type DeviceLimiter = (attempt: DeviceAttempt) => Promise<OAuthError | undefined>

/** Makes the limiter of a server. */
export function createDeviceLimiter<Native>(settings: Settings<Native>, transactions: Transactions): DeviceLimiter {
  const ofHost = { name: 'deviceLimiter', limiter: settings.deviceLimiter }
  return createLimiter(ofHost, createStoredLimiter(settings, transactions), tooManyDevices)
}

/** Makes the limiter that is kept in the store. */
function createStoredLimiter<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
): (attempt: DeviceAttempt) => Promise<Seconds | OAuthError> {
  const count = createAttemptCounter(settings, transactions)
  return async ({ clientId, address }) =>
    address === undefined
      ? count(`devices of ${clientId}`, DEVICE_CLIENT_LIMIT)
      : count(`devices at ${networkOf(address)}`, DEVICE_ADDRESS_LIMIT)
}

function tooManyDevices(wait: Seconds): OAuthError {
  return tooManyRequests('Too many devices asked in too short a time.', wait)
}
