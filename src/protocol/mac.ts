/**
 * Requests that are signed with a token of the type `mac`: what they present, and what of them was signed.
 * @module
 * @see Specification, section 5.2; draft-ietf-oauth-v2-http-mac-01, section 3
 */

import { encodeBase64url } from '../core/credentials/base64url.js'
import type { Credential } from '../core/credentials/credential.js'
import { parseCredential } from '../core/credentials/credential.js'
import type { Digests } from '../core/credentials/digests.js'
import type { MacInput } from '../core/credentials/mac.js'
import { normalizedRequest, normalizedTime } from '../core/credentials/mac.js'
import type { AuthenticatedTime, OAuthError } from '../core/errors.js'
import { malformed, oauthError } from '../core/errors.js'
import type { Seconds } from '../core/values.js'
import { invalidToken } from './bearer.js'
import type { RequestLike } from './message.js'
import { headerOf, isHeadersObject, memberOf, pathOf, queryOf } from './message.js'

/** The attributes of a signed request. */
export interface PresentedMac extends Pick<MacInput, 'ts' | 'nonce' | 'ext'> {
  readonly type: 'mac'
  /** The access token, which is the identifier of its key. */
  readonly id: string
  readonly credential: Credential
  /** base64 of 32 bytes. */
  readonly mac: string
}

/** One attribute and what separates it from the next; its value has no escapes (section 3.1). */
const ATTRIBUTE = /^([a-z]+)="([\x20\x21\x23-\x5b\x5d-\x7e]*)"(?: *, *|$)/

const ATTRIBUTES = ['id', 'ts', 'nonce', 'ext', 'mac']

/** A positive integer without leading zeros (section 3.1), as long as a time in seconds can be. */
const TIMESTAMP = /^[1-9][0-9]{0,11}$/

/**
 * Reads what a request presents in the scheme `MAC`.
 * @param text - its attributes, as `macAttributes` of bearer.ts finds them
 */
export function presentedMac(text: string): PresentedMac | OAuthError {
  const attributes = new Map<string, string>()
  let rest = text.trimEnd()
  while (rest !== '') {
    const [whole, name = '', value = ''] = ATTRIBUTE.exec(rest) ?? []
    // Each of the five once at most, so the loop ends soon.
    if (whole === undefined || attributes.has(name) || !ATTRIBUTES.includes(name)) return MALFORMED
    attributes.set(name, value)
    rest = rest.slice(whole.length)
  }
  const [id, ts, nonce, ext = '', mac] = ATTRIBUTES.map((name) => attributes.get(name))
  if (id === undefined || ts === undefined || nonce === undefined || mac === undefined) return MALFORMED
  if (!TIMESTAMP.test(ts) || nonce === '') return MALFORMED
  const credential = parseCredential(id)
  return credential === undefined
    ? invalidToken('credential_unknown')
    : { type: 'mac', id, credential, ts, nonce, ext, mac }
}

const MALFORMED: OAuthError = malformed('The Authorization header is not well-formed.')

/** The parts of a request that come from its method, its target and its host. */
export type SignedTarget = Pick<MacInput, 'method' | 'requestUri' | 'host' | 'port'>

/** A target with scheme and authority (RFC 9112, section 3.2.2), and what stands behind them. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)(.*)$/is

/** Characters that are none of a path (RFC 3986, section 3.3), but for those that some `fetch` sends as they are: `[`, `]`, `|`, `^`. */
const NOT_OF_PATH = /[^A-Za-z0-9\-._~!$&'()*+,;=:@%/[\]|^]/

/** Characters that are none of a query (section 3.4), but for those that `fetch` sends as they are. */
const NOT_OF_QUERY = /[^A-Za-z0-9\-._~!$&'()*+,;=:@%/?[\]|{}^`]/

/** A percent sign that escapes nothing (section 2.1). */
const HALF_ESCAPE = /%(?![0-9A-Fa-f]{2})/

/** A segment that URL parsers take away (section 5.2.4), and two slashes in front, behind which they see a host. */
const REWRITTEN = /^\/\/|\/(?:\.|%2e){1,2}(?:\/|$)/i

/** A name or address, and perhaps a port (section 3.2). */
const HOST = /^([A-Za-z0-9\-._~!$&'()*+;=%]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]*))?$/

/**
 * Reads the method and the address that a request was sent to.
 *
 * A target is taken where all frameworks read one path and one query from it, and these are what was signed. Any other is
 * refused: a fragment, from which some read a query; the forms `*` and `host:port`; characters, dots or slashes that URL
 * parsers rewrite; an authority that is not the `Host` of the request.
 * @param secure - whether clients use https, whose port a `Host` header leaves out
 * @returns undefined for a request whose method, target or host is missing or refused
 * @see RFC 9112, section 3.2
 */
export function targetOf(request: RequestLike, secure: boolean): SignedTarget | undefined {
  const originalUrl = memberOf(request, 'originalUrl') ?? memberOf(request, 'url')
  const method = memberOf(request, 'method')
  // A proxy's method, whose target is an authority (RFC 9112, section 3.2.3).
  if (originalUrl === undefined || method === undefined || method === 'CONNECT') return undefined
  // It was signed in capitals, and handlers compare it letter by letter (RFC 9110, section 9.1).
  if (method !== method.toUpperCase()) return undefined
  const [, ofUrl, behind = originalUrl] = ABSOLUTE_FORM.exec(originalUrl) ?? []
  // An empty path is the root (RFC 9112, section 3.2.1).
  const requestUri = ofUrl === undefined || behind.startsWith('/') ? behind : `/${behind}`
  const [, host, port = ''] = HOST.exec(authorityOf(request, ofUrl) ?? '') ?? []
  if (host === undefined || !isUnambiguous(requestUri)) return undefined
  const ofScheme = secure ? '443' : '80'
  return { method, requestUri, host: host.toLowerCase(), port: port === '' ? ofScheme : port }
}

/** True if a path and query are written as every reader takes them. */
function isUnambiguous(requestUri: string): boolean {
  const path = pathOf(requestUri)
  return (
    path.startsWith('/') &&
    !NOT_OF_PATH.test(path) &&
    !REWRITTEN.test(path) &&
    !NOT_OF_QUERY.test(queryOf(requestUri)) &&
    !HALF_ESCAPE.test(requestUri)
  )
}

/** An authority that is a server's own address behind its proxy: a name without a dot, or an IP address. */
const OWN_ADDRESS = /^(?:[^.@]*|[0-9.]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?$/

/**
 * Finds the host and port that a request names; undefined where it names none, or two.
 * @param ofUrl - the authority of its target, where that has one
 */
function authorityOf(request: RequestLike, ofUrl: string | undefined): string | undefined {
  const { headers } = request
  if (isHeadersObject(headers)) {
    const host = headers.get('host')
    // The address of a fetch Request may be the one that a server has behind its proxy, so the header goes before it.
    if (host === null || ofUrl === undefined || OWN_ADDRESS.test(ofUrl)) return host ?? ofUrl
    // Any other is of a target with a host of its own (RFC 9112, section 3.2.2), which is the one that the host's routes see.
    return nameIn(host) === nameIn(ofUrl) ? host : undefined
  }
  // Node keeps the first of several; RFC 9112, section 3.2, refuses them.
  const all = memberOf(request, 'rawHeaders') ?? []
  if (all.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length > 1) return undefined
  // HTTP/2 has the host in a pseudo-header, which must not differ (RFC 9113, section 8.3.1).
  const named = [headerOf(headers, 'host'), headerOf(headers, ':authority'), ofUrl].filter((each) => each !== undefined)
  const distinct = new Set(named.map((each) => (typeof each === 'string' ? each.toLowerCase() : undefined)))
  const [only] = distinct
  return distinct.size === 1 ? only : undefined
}

/** The name in an authority. A proxy may listen on another port than the server behind it. */
function nameIn(authority: string): string {
  return authority.toLowerCase().replace(/:[0-9]*$/, '')
}

/** A request whose target cannot be verified. */
export function misdirected(): OAuthError {
  return malformed('The method, target or Host of the request is missing or malformed.')
}

/**
 * A request that was signed too long ago, or by a clock that is wrong; told only to who has the key.
 * @param time - from {@link timeOf}
 */
export function staleMac(time: AuthenticatedTime): OAuthError {
  return oauthError('invalid_token', 'mac_stale', 'The timestamp is too far from the time of the service.', { time })
}

/** A request that was made before; told only to who has the key. */
export function replayedMac(): OAuthError {
  return oauthError('invalid_token', 'mac_replayed', 'The nonce was used before.')
}

/**
 * Signs a request as a client does that has the key: base64 of HMAC-SHA-256.
 * @see Section 3.2.3
 */
export function macOf(digests: Digests, macKey: string, input: MacInput): string {
  return signed(digests, macKey, normalizedRequest(input))
}

/**
 * Signs the time of the service for a client whose request was refused as stale. An intermediary can change neither the time
 * nor the request that it is told for, so no client can be made to sign for a time that is yet to come.
 * @param now - by the clock of the service
 * @param refused - a request whose own signature was verified
 */
export function timeOf(
  digests: Digests,
  macKey: string,
  now: Seconds,
  refused: Pick<MacInput, 'ts' | 'nonce'>,
): AuthenticatedTime {
  const ts = String(now)
  return { ts, tsm: signed(digests, macKey, normalizedTime(ts, refused)) }
}

function signed(digests: Digests, macKey: string, text: string): string {
  const bytes = new TextEncoder()
  const mac = digests.hmacSha256(bytes.encode(macKey), bytes.encode(text))
  return `${encodeBase64url(mac).replaceAll('-', '+').replaceAll('_', '/')}=`
}
