/**
 * The limit on guesses of user codes, kept in the store: for each user, and for each address that users come from.
 * @module
 * @see RFC 8628, section 5.1
 */

import type { OAuthError } from '../core/errors.js'
import type { AttemptLimit, AttemptOutcome, Attempts } from '../core/rate-limit.js'
import { attempt } from '../core/rate-limit.js'
import { encodeBase64url } from '../core/tokens/base64url.js'
import { digestOf } from '../core/tokens/digests.js'
import type { Seconds } from '../core/values.js'
import { wrongAnswer } from '../shell/host.js'
import type { Settings, UserCodeAttempt } from '../shell/options.js'
import { keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'

/** Ten at once, and one a minute more. */
export const USER_LIMIT: AttemptLimit = { allowance: 10, period: 60 }

/** Five times as many, since several people may share an address. */
export const ADDRESS_LIMIT: AttemptLimit = { allowance: 50, period: 12 }

/** The stored record of attempts. */
interface AttemptsRecord extends Attempts {
  /** Random, so that no two servers take the write of one for their own: they would count two attempts as one. */
  readonly by: string
}

/** Counts an attempt of somebody: returns 0, or the seconds to wait. */
export type AttemptCounter = (name: string, limit: AttemptLimit) => Promise<Seconds | OAuthError>

/** Binds the counter of attempts to a server. */
export function attemptCounterOf<Native>({ digests }: Settings<Native>, { transact }: Transactions): AttemptCounter {
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
    if (counted.type === 'error') return counted
    return counted.type === 'allowed' ? 0 : counted.retryAfter
  }
}

/** Binds the limit to a server. A user who is over it costs the address nothing. */
export function userCodeLimiterOf<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
): (attempt: UserCodeAttempt) => Promise<Seconds | OAuthError> {
  const count = attemptCounterOf(settings, transactions)
  return async ({ subject, address }) => {
    const wait = await count(`user ${subject}`, USER_LIMIT)
    return wait !== 0 || address === undefined ? wait : count(`address ${networkOf(address)}`, ADDRESS_LIMIT)
  }
}

/**
 * Returns the network that an address stands for: an IPv4 address, or the first 64 bits of an IPv6 address, since one subscriber has all
 * the others.
 * @throws GrantwellError `ERR_CONFIGURATION` for what is no address: a list of a header, say, of which a client could choose a part
 */
export function networkOf(text: string): string {
  const bare = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^(.*\.\d+):\d+$/.exec(text)?.[1] ?? text
  const groups = groupsOf(bare.includes(':') ? bare.replace(/%[\w.-]+$/, '') : `::ffff:${bare}`)
  if (groups === undefined) throw wrongAnswer('remoteAddress()', 'an IP address, or undefined', text, true)
  const all = groups.map((group) => group.toString(16)).join(':')
  const found = PREFIXES_OF_IPV4.find(({ prefix }) => all.startsWith(prefix))
  if (found !== undefined) {
    const [high = 0, low = 0] = groups.slice(found.at)
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  return all.startsWith(LOCAL_TRANSLATION) ? all : all.split(':', 4).join(':')
}

/** Prefixes of IPv6 addresses that stand for an IPv4 address, and the group at which that begins. */
const PREFIXES_OF_IPV4 = [
  { prefix: '0:0:0:0:0:ffff:', at: 6 }, // RFC 4291, 2.5.5.2
  { prefix: '0:0:0:0:ffff:0:', at: 6 }, // RFC 2765, 2.1
  { prefix: '64:ff9b:0:0:0:0:', at: 6 }, // RFC 6052, 2.1
  { prefix: '2002:', at: 1 }, // RFC 3056, 2
] as const

/** The prefix of translators within a network, of which the operator says where the IPv4 address stands: all of it counts (RFC 8215). */
const LOCAL_TRANSLATION = '64:ff9b:1:'

/** Reads the eight groups of an IPv6 address (RFC 4291, section 2.2); undefined for what is none. */
function groupsOf(address: string): readonly number[] | undefined {
  const last = address.lastIndexOf(':') + 1
  const octets = address.slice(last).split('.')
  const written = octets.length === 4 ? address.slice(0, last) + hexadecimalOf(octets) : address
  const [head = '', tail, ...more] = written.split('::')
  const before = head === '' ? [] : head.split(':')
  const behind = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = 8 - before.length - behind.length
  if (more.length > 0 || (tail === undefined ? missing !== 0 : missing < 0)) return undefined
  const all = [...before, ...Array<string>(missing).fill('0'), ...behind]
  return all.every((group) => /^[\da-f]{1,4}$/i.test(group))
    ? all.map((group) => Number.parseInt(group, 16))
    : undefined
}

/** Writes the four decimal numbers of an IPv4 address as two groups; leaves them where one is too large or no number. */
function hexadecimalOf(octets: readonly string[]): string {
  if (!octets.every((octet) => /^\d{1,3}$/.test(octet) && Number(octet) < 256)) return octets.join('.')
  const [a = 0, b = 0, c = 0, d = 0] = octets.map(Number)
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}
