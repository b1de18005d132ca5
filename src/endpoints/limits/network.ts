/**
 * The address that a request comes from, and the network that a limit counts for it.
 * @module
 */
import type { Takes } from '../../core/takes.js'
import type { HttpRequest } from '../../protocol/message.js'
import { checkedAnswer, wrongAnswer } from '../../shell/host.js'
import type { Settings } from '../../shell/options/settings.js'

/** An address, or none. Its syntax is checked by {@link networkOf} alone: a limiter of the host may take any string. */
const ADDRESS: Takes = {
  words: 'a string, or undefined, at once',
  fits: (value) => value === undefined || value === null || typeof value === 'string',
}

/** Asks the host for the address that a request comes from; undefined where it is not known. */
export function readAddress<Native>(settings: Settings<Native>, request: HttpRequest<Native>): string | undefined {
  const told = settings.remoteAddress(request)
  return checkedAnswer<string | null | undefined>('remoteAddress()', ADDRESS, told) ?? undefined
}

/**
 * Returns the network of an address: an IPv4 address, or the first 64 bits of an IPv6 address, since one subscriber has all the others.
 * @throws GrantwellError `ERR_CONFIGURATION` for anything but one address: a client could choose a part of a header's list
 */
export function networkOf(text: string): string {
  const bare = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^(.*\.\d+):\d+$/.exec(text)?.[1] ?? text
  const groups = parseGroups(bare.includes(':') ? bare.replace(/%[\w.-]+$/, '') : `::ffff:${bare}`)
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

/** The prefix of translators within a network (RFC 8215). The operator chooses where the IPv4 address stands, so every bit counts. */
const LOCAL_TRANSLATION = '64:ff9b:1:'

/** Parses the eight groups of an IPv6 address (RFC 4291, section 2.2); undefined for anything else. */
function parseGroups(address: string): readonly number[] | undefined {
  const last = address.lastIndexOf(':') + 1
  const octets = address.slice(last).split('.')
  const written = octets.length === 4 ? address.slice(0, last) + toGroups(octets) : address
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

/** Writes the four decimal numbers of an IPv4 address as two groups; leaves them as they are where one is no number up to 255. */
function toGroups(octets: readonly string[]): string {
  if (!octets.every((octet) => /^\d{1,3}$/.test(octet) && Number(octet) < 256)) return octets.join('.')
  const [a = 0, b = 0, c = 0, d = 0] = octets.map(Number)
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}
