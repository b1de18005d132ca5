/**
 * The limit on guesses of user codes, kept in the store: for each user, and for each address that users come from.
 * @module
 * @see RFC 8628, section 5.1
 */
import type { AttemptLimit, AttemptOutcome } from './core/attempts.js'
import { attempt } from './core/attempts.js'
import { digestOf } from './core/digests.js'
import type { OAuthError } from './core/errors.js'
import type { Seconds } from './core/values.js'
import { wrongAnswer } from './host.js'
import type { Settings, UserCodeAttempt } from './options.js'
import type { Transactions } from './transactions.js'
import { keys, recordAs } from './transactions.js'

/** Ten at once, and one a minute more. */
export const USER_LIMIT: AttemptLimit = { allowance: 10, period: 60 }

/** Five times as many, since several people may share an address. */
export const ADDRESS_LIMIT: AttemptLimit = { allowance: 50, period: 12 }

/** Counts an attempt of somebody: returns 0, or the seconds to wait. */
export type AttemptCounter = (name: string, limit: AttemptLimit) => Promise<Seconds | OAuthError>

/** Binds the counter of attempts to a server. */
export function attemptCounterOf<Native>({ digests }: Settings<Native>, { transact }: Transactions): AttemptCounter {
  return async (name, limit) => {
    const key = keys.attempts(digestOf(digests, name))
    const counted = await transact<AttemptOutcome>([key], ([value], now) => {
      const reply = attempt(recordAs.attempts(value), now, limit)
      const { attempts } = reply
      return attempts === undefined ? { reply } : { reply, write: { key, value: attempts, expiresAt: attempts.freeAt } }
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
 * The network that an address stands for: of IPv6 the first 64 bits, since one subscriber has all the others.
 * @throws GrantwellError `ERR_CONFIGURATION` for what is no address: a list of a header, say, of which a client could choose a part
 */
export function networkOf(text: string): string {
  const address = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? text
  const four = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/i.exec(address)?.[1]
  if (four !== undefined) return four
  if (!/^[\da-f]*:[\da-f:.]*(?:%[\w.-]+)?$/i.test(address))
    throw wrongAnswer('remoteAddress()', 'an IP address, or undefined', text, true)
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const behind = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros: readonly string[] =
    tail === undefined ? [] : Array(Math.max(0, 8 - groups.length - behind.length)).fill('0')
  const all = [...groups, ...zeros, ...behind].map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
  // An IPv4 address in hexadecimal: all of it counts.
  return all.slice(0, 6).join(':') === '0:0:0:0:0:ffff' ? all.join(':') : all.slice(0, 4).join(':')
}
