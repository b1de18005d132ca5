/**
 * Pages that may read an answer: those on the origins of the application's own redirect URIs, and on origins that the host adds.
 * @module
 * @see Fetch, section 3.3 (CORS protocol); RFC 6454; RFC 8252, section 7.3
 */
import type { RedirectRules } from '../../core/application/redirect-uri.js'
import { parseRedirectUri } from '../../core/application/redirect-uri.js'
import type { Origin } from '../../core/url.js'
import { parseOrigin } from '../../core/url.js'
import type { HttpHeaders } from '../message.js'
import { headerOf } from '../message.js'

/** Returns the origin of the page that sent a request; undefined where no http or https page did. */
export function originOf(headers: HttpHeaders): Origin | undefined {
  const origin = headerOf(headers, 'origin')
  return typeof origin === 'string' ? parseOrigin(origin) : undefined
}

/**
 * Checks whether a page may read the answer to a request of an application: a code can be sent to its origin, so it may exchange
 * the code itself. The authorized domain does not count, since other pages may be on it.
 * @param redirectUris - those of the application; none if it is unknown
 * @param added - origins that the host adds
 */
export function mayRead(
  origin: Origin,
  redirectUris: readonly string[],
  added: ReadonlySet<Origin>,
  rules: RedirectRules,
): boolean {
  return added.has(origin) || redirectUris.some((uri) => isOriginOf(uri, origin, rules))
}

/** Compares whole origins. On loopback any port will do, as for the redirect URI itself. */
function isOriginOf(redirectUri: string, origin: Origin, rules: RedirectRules): boolean {
  // The rules may be others than at its registration.
  const parsed = parseRedirectUri(redirectUri, rules)
  if (parsed === undefined || parsed.kind === 'private-use') return false
  if (parsed.kind === 'https') return origin === parsed.url.origin
  const host = `http://${parsed.url.hostname}`
  // Behind the host of an origin, a colon begins its port.
  return origin === host || origin.startsWith(`${host}:`)
}
