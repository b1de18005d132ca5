/**
 * The description of a request in the audit trail: where it came from.
 * @module
 */
import type { HttpHeaders, HttpRequest, RequestLike } from '../../protocol/message.js'
import { headerOf, isHeadersObject, memberOf, originForm, pathOf } from '../../protocol/message.js'
import type { AuditEvent, RequestSettings, RequestSource } from '../audit.js'
import { wrongAnswer } from '../host.js'

/** The longest text of a request that an event holds, in characters. */
const LENGTH = 256

/** The longest address of a page or an API in an event, in characters. */
const LONG = 512

/** Describes the request of an event. An error of the host in it goes to `onError`, and changes no answer. */
export function describeRequest(
  settings: RequestSettings,
  source: RequestSource | undefined,
): Pick<AuditEvent, 'request'> {
  if (source === undefined) return {}
  const request = messageOf(source)
  const userAgent = headerOf(request.headers, 'user-agent')
  const address = toldBy(settings, 'remoteAddress', request)
  const id = toldBy(settings, 'requestId', request)
  const told = {
    ...(address && { address }),
    ...(typeof userAgent === 'string' && userAgent !== '' && { userAgent: printable(userAgent, LENGTH) }),
    ...(id && { id }),
  }
  return Object.keys(told).length === 0 ? {} : { request: told }
}

/** Describes the route of an API by the request to it: its method and its path; undefined where it has neither. */
export function routeOf(source: RequestSource): string | undefined {
  const { method, url } = messageOf(source)
  return printable(`${method} ${pathOf(originForm(url))}`.trim(), LONG) || undefined
}

/** Makes the message of a request of the platform. */
function messageOf(source: RequestSource): HttpRequest {
  if (Object.hasOwn(source, 'native')) return source as HttpRequest // no platform's request has such a property
  const { headers } = source
  const native: RequestLike = source
  return {
    method: memberOf(native, 'method') ?? '',
    url: memberOf(native, 'originalUrl') ?? memberOf(native, 'url') ?? '',
    headers: isHeadersObject(headers) ? pairsOf(headers) : headers,
    native,
  }
}

/** Returns the headers of an object that lists them, as a fetch `Headers` does. */
function pairsOf(headers: object): HttpHeaders {
  return Symbol.iterator in headers ? Object.fromEntries(headers as Iterable<readonly [string, string]>) : {}
}

/** Asks a function of the host about a request. */
function toldBy(
  settings: RequestSettings,
  name: 'remoteAddress' | 'requestId',
  request: HttpRequest,
): string | undefined {
  try {
    const told: unknown = settings[name]?.(request as HttpRequest<never>) // the host knows what its platform hands over
    if (told === undefined || told === null) return undefined
    if (typeof told !== 'string') throw wrongAnswer(`${name}()`, 'a string, or undefined', told, true)
    return printable(told, LENGTH)
  } catch (error) {
    // Where the address matters, at the limits, the host is told of it.
    if (name === 'requestId') settings.onError(error)
    return undefined
  }
}

/** Credentials of this package, by their prefixes: an event must not hold one, wherever a client put it. */
const CREDENTIAL = /\b(gw[acdmrs](?:_|%5F))[\w-]+/gi

/** Characters that would break a line of a log, or turn it around. */
const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Makes a text from outside fit for the audit trail: at most so many characters, on one line, and without credentials of this package. */
export function printable(text: string, length: number): string {
  const safe = text.replace(CREDENTIAL, '$1(removed)').replace(CONTROL, '\u{fffd}')
  return safe.length <= length ? safe : `${safe.slice(0, length - 1)}\u2026`
}

/** The user information of a URL, as browsers find it: everything in front of the last `@` before the path. */
const USER_INFORMATION = /^((?:[^:/\\]*:)?[/\\]+)?[^/\\]*@/

/** A text that may be a secret: as long as the shortest one that a client may have, in letters of base64. */
const MAYBE_SECRET = /[\w+/=~%-]{24,}/g

/** Returns a redirect URI as it was sent, but for what may hold a secret: its user information, query and fragment, and long parts. */
export function bareRedirectUri(sent: string): string {
  const [path = ''] = sent.split(/[?#]/, 1)
  const bare = path.replace(USER_INFORMATION, '$1').replace(MAYBE_SECRET, (run) => {
    // A path of words has slashes, too, but rarely digits and letters of both cases.
    const isMixed = /\d/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run)
    return isMixed ? '(removed)' : run.replace(/[^/]{24,}/g, '(removed)')
  })
  return printable(bare, LONG)
}
