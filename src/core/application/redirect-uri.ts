/**
 * Redirect URIs: the rules of registration, and the match of a requested one with the registered ones.
 *
 * Everything is decided on the parsed URI, and only a URI that is spelled as the parser would write it is looked at:
 * mixed case, `..`, backslashes, look-alike hosts and odd address forms all differ from their own canonical spelling.
 * @module
 * @see Specification, sections 2.1 and 4.1; RFC 6749, section 3.1.2; RFC 8252, sections 7 and 8; RFC 9700, section 4.1
 */

import { parseUrl } from '../url.js'
import type { BrokenRule, RedirectFaultCode, RedirectUriFaultCode } from './faults.js'
import { brokenRule } from './faults.js'

/** Settings for the match of redirect URIs. */
export interface RedirectRules {
  /** `domain`: any path of the authorized domain, as the specification has it; `exact`: a registered URI alone. */
  readonly matching: 'domain' | 'exact'
  /** True if `http://localhost` counts as loopback; the literals `127.0.0.1` and `[::1]` always do. */
  readonly allowLocalhost: boolean
}

/** The part of a registration that decides on redirect URIs. */
export interface RedirectRegistration {
  /** The type of the client: `confidential` keeps a secret, `public` cannot. */
  readonly type: 'confidential' | 'public'
  /** The registered redirect URIs. */
  readonly redirectUris: readonly string[]
  /** The domain that was reviewed; absent where the registered URIs are loopback or private-use ones alone. */
  readonly authorizedDomain?: string
  /** True if subdomains of it count. */
  readonly allowSubdomains: boolean
}

/** Parameters of our own answers: a redirect URI that has one already would answer for us. */
const RESPONSE_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri']

/** A private-use scheme is a reversed domain name (RFC 8252, section 7.1), so it has a dot; `javascript` and its like have none. */
const PRIVATE_USE_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/

/** A host that can be somebody's: labels of letters, digits, hyphens and underscores, none empty, or an IPv6 address. */
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])$/

const MAX_LENGTH = 2048

/** A redirect URI is ASCII. A host of other characters is not parsed, since that takes time by the square of its length. */
const ASCII = /^[\x20-\x7e]*$/

/**
 * Parses a redirect URI and tells its kind.
 * @returns undefined for what nobody may register or use
 */
export function parseRedirectUri(
  text: string,
  rules: RedirectRules,
): { readonly kind: 'https' | 'loopback' | 'private-use'; readonly url: URL } | undefined {
  if (text.length > MAX_LENGTH || !ASCII.test(text) || text.includes('#')) return undefined
  const url = parseUrl(text)
  if (url === undefined) return undefined
  // An origin may leave out its slash; nothing else may differ from what the parser writes.
  if (url.href !== text && url.href !== `${text}/`) return undefined
  if (url.username !== '' || url.password !== '' || takenParameter(url) !== undefined) return undefined
  if (PRIVATE_USE_SCHEME.test(url.protocol)) return { kind: 'private-use', url }
  if (!HOST.test(url.hostname) || /\/\/|%2f|%5c/i.test(url.pathname)) return undefined
  if (url.protocol === 'https:') return { kind: 'https', url }
  return url.protocol === 'http:' && isLoopback(url.hostname, rules.allowLocalhost)
    ? { kind: 'loopback', url }
    : undefined
}

/** Finds a parameter of the response in a redirect URI, however a framework spells it. `;` begins a parameter in some. */
function takenParameter(uri: URL): string | undefined {
  const url = new URL(uri)
  url.search = uri.search.replaceAll(';', '&')
  const names = [...url.searchParams.keys()].flatMap((name) => name.split(/[\0&;]/)).map(plainName)
  return RESPONSE_PARAMETERS.find((name) => names.includes(name))
}

/**
 * Reduces the name of a parameter as frameworks do: `code[]`, `[code]` and `code.x` are of `code` in many, ASP.NET compares without
 * case, and PHP ends a name at NUL and writes `_` for a space.
 */
function plainName(name: string): string {
  const first = name.replace(/^[\s[\]]+/, '').replace(/[[.\]].*$/s, '')
  // Both ways, since some letters outside ASCII have one of it for their other case.
  return first.trim().toUpperCase().toLowerCase().split(/\s/).join('_')
}

/** Finds the first rule that a string breaks which is no redirect URI. Nothing of the string is in it. */
export function redirectUriRule(text: string, { allowLocalhost }: RedirectRules): BrokenRule<RedirectUriFaultCode> {
  if (text.length > MAX_LENGTH) return brokenRule('redirect_uri_length', { most: MAX_LENGTH })
  if (!ASCII.test(text)) return brokenRule('redirect_uri_spelling')
  const url = parseUrl(text)
  if (url === undefined) return brokenRule('redirect_uri_incomplete')
  if (text.includes('#')) return brokenRule('redirect_uri_fragment')
  if (url.username !== '' || url.password !== '') return brokenRule('redirect_uri_user_info')
  const parameter = takenParameter(url)
  if (parameter !== undefined) return brokenRule('redirect_uri_parameter', { parameter })
  if (url.protocol === 'http:' && url.hostname === 'localhost' && !allowLocalhost)
    return brokenRule('redirect_uri_localhost')
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname, allowLocalhost))) {
    return brokenRule('redirect_uri_spelling')
  }
  return brokenRule('redirect_uri_scheme')
}

/** True if the host name of a parsed URL is the machine itself (RFC 8252, section 7.3). */
export function isLoopback(hostname: string, allowLocalhost: boolean): boolean {
  return hostname === '127.0.0.1' || hostname === '[::1]' || (allowLocalhost && hostname === 'localhost')
}

/**
 * Returns the redirect URI to answer to.
 * @param requested - as sent; undefined where the request has none
 * @returns the URI to answer to; undefined where none is trusted, so that nothing may be sent to it
 */
export function matchRedirectUri(
  registration: RedirectRegistration,
  requested: string | undefined,
  rules: RedirectRules,
): string | undefined {
  const { redirectUris } = registration
  if (requested === undefined) {
    const [only, ...others] = redirectUris
    // The rules may be others than at its registration.
    return only !== undefined && others.length === 0 ? matchRedirectUri(registration, only, rules) : undefined
  }
  const asked = parseRedirectUri(requested, rules)
  if (asked === undefined) return undefined
  if (redirectUris.includes(requested)) return requested
  const matches =
    asked.kind === 'loopback'
      ? redirectUris.some((registered) => registered.startsWith('http:') && sameButPort(new URL(registered), asked.url))
      : asked.kind === 'https' && rules.matching === 'domain' && inDomain(registration, asked.url)
  return matches ? requested : undefined
}

/**
 * Finds the rule that a requested redirect URI breaks, for the application's developer. Nothing of the URI is in it, since its
 * query may hold a secret.
 * @param requested - as sent; undefined where the request has none
 * @returns undefined where it breaks none
 */
export function brokenRedirectRule(
  registration: RedirectRegistration,
  requested: string | undefined,
  rules: RedirectRules,
): BrokenRule<RedirectFaultCode> | undefined {
  return matchRedirectUri(registration, requested, rules) === undefined
    ? mismatchRule(registration, requested, rules)
    : undefined
}

/** Finds the rule that a requested redirect URI breaks which does not match. Nothing of the URI is in it. */
export function mismatchRule(
  registration: RedirectRegistration,
  requested: string | undefined,
  rules: RedirectRules,
): BrokenRule<RedirectFaultCode> {
  if (requested === undefined) return brokenRule('redirect_uri_not_sent')
  const asked = parseRedirectUri(requested, rules)
  if (asked === undefined) return redirectUriRule(requested, rules)
  const { allowSubdomains } = registration
  const authorizedDomain = domainOf(registration)
  if (asked.kind === 'loopback') return brokenRule('redirect_uri_loopback')
  if (asked.kind === 'private-use' || rules.matching === 'exact' || authorizedDomain === undefined)
    return brokenRule('redirect_uri_not_registered')
  if (isHostInDomain(registration, asked.url)) return brokenRule('redirect_uri_port')
  return brokenRule(allowSubdomains ? 'redirect_uri_subdomain' : 'redirect_uri_host', { domain: authorizedDomain })
}

/** A native application's port is whatever its system gave it (RFC 8252, section 7.3). */
function sameButPort(registered: URL, asked: URL): boolean {
  return (
    registered.hostname === asked.hostname &&
    registered.pathname === asked.pathname &&
    registered.search === asked.search
  )
}

/** Returns the own domain of a registration, so that a polluted prototype opens none. */
function domainOf(registration: RedirectRegistration): string | undefined {
  return Object.hasOwn(registration, 'authorizedDomain') ? registration.authorizedDomain : undefined
}

function isHostInDomain(registration: RedirectRegistration, { hostname }: URL): boolean {
  const { allowSubdomains } = registration
  const authorizedDomain = domainOf(registration)
  if (authorizedDomain === undefined) return false
  return hostname === authorizedDomain || (allowSubdomains && hostname.endsWith(`.${authorizedDomain}`))
}

function inDomain(registration: RedirectRegistration, asked: URL): boolean {
  return (
    isHostInDomain(registration, asked) &&
    registration.redirectUris.some(
      (registered) => registered.startsWith('https:') && new URL(registered).port === asked.port,
    )
  )
}
