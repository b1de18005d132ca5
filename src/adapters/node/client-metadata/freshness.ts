/**
 * The time for which the headers of a response let it be kept.
 * @module
 * @see RFC 9111, section 4.2
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Seconds } from '../../../core/values.js'

/** The most seconds that a cache has to count (RFC 9111, section 1.2.2). */
const MOST = 2 ** 31

/** A quoted string, or the rest of the text if nothing closes it, so that each character is read once. */
const QUOTED = /"((?:[^"\\]|\\.)*)(?:"|\\?$)/gs

/** A point in time in the one form that senders may write (RFC 9110, section 5.6.7). */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Returns the seconds for which a response may be kept without asking again. A value that cannot be read counts as expired
 * (RFC 9111, sections 4.2.1 and 5.3).
 * @returns a whole number from 0 to 2,147,483,648; undefined if the headers do not say
 */
export function maxAgeOf(headers: IncomingHttpHeaders): Seconds | undefined {
  const directives = directivesOf(headers['cache-control'] ?? '')
  if (directives.has('no-store') || directives.has('no-cache')) return 0
  const maxAge = directives.get('max-age')
  const lifetime = maxAge === undefined ? untilExpiry(headers) : (secondsIn(maxAge) ?? 0)
  return lifetime === undefined ? undefined : Math.max(0, lifetime - (secondsIn(headers.age ?? '') ?? 0))
}

/** Reads the directives of `Cache-Control` by their names; of one that is given twice the first. */
function directivesOf(text: string): ReadonlyMap<string, string> {
  // A quoted number is a number; any other quoted string could hide commas, and is of no use here.
  const plain = text.replace(QUOTED, (_, inside: string) => (secondsIn(inside) === undefined ? '' : inside))
  const directives = new Map<string, string>()
  for (const part of plain.toLowerCase().split(',')) {
    const [name = '', value = ''] = part.split('=', 2)
    if (!directives.has(name.trim())) directives.set(name.trim(), value.trim())
  }
  return directives
}

/** Returns the seconds from `Date` to `Expires`; undefined if `Expires` is missing or there is no time to compare it with. */
function untilExpiry({ expires, date }: IncomingHttpHeaders): Seconds | undefined {
  if (expires === undefined) return undefined
  const expiry = timeOf(expires)
  const now = timeOf(date ?? '')
  if (expiry === undefined) return 0
  return now === undefined ? undefined : Math.min(expiry - now, MOST)
}

function timeOf(text: string): Seconds | undefined {
  const time = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time / 1000
}

function secondsIn(text: string): Seconds | undefined {
  return /^\d+$/.test(text) ? Math.min(Number(text), MOST) : undefined
}
