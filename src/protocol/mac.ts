/**
 * Requests that are signed with a token of the type `mac`: what they present, and what of them was signed.
 * @module
 * @see Specification, section 5.2; draft-ietf-oauth-v2-http-mac-01, section 3
 */
import { encodeBase64url } from '../core/base64url.js'
import type { Credential } from '../core/credential.js'
import { parseCredential } from '../core/credential.js'
import type { Digests } from '../core/digests.js'
import type { OAuthError } from '../core/errors.js'
import { oauthError } from '../core/errors.js'
import type { MacInput } from '../core/mac.js'
import { normalizedRequest } from '../core/mac.js'
import { invalidToken } from './bearer.js'
import type { RequestLike } from './message.js'
import { headerOf, isHeadersObject } from './message.js'
import { malformed } from './parameters.js'

/** What a signed request presents. */
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

/**
 * The method and the address that a request was sent to.
 * @param secure - whether clients use https, whose port a `Host` header leaves out
 */
export function targetOf(
  { headers, url = '/', originalUrl = url, method = 'GET' }: RequestLike,
  secure: boolean,
): Pick<MacInput, 'method' | 'requestUri' | 'host' | 'port'> {
  const [, ofUrl, path = originalUrl] = /^https?:\/\/([^/?#]*)([^#]*)/i.exec(originalUrl) ?? []
  // HTTP/2 has the host in a pseudo-header (RFC 9113, section 8.3.1).
  const sent = isHeadersObject(headers) ? headers.get('host') : (headerOf(headers, 'host') ?? headers[':authority'])
  const authority = typeof sent === 'string' ? sent : (ofUrl ?? '')
  const [, host = '', port = ''] = /^(.*?)(?::([0-9]*))?$/.exec(authority) ?? []
  const ofScheme = secure ? '443' : '80'
  return {
    method: method.toUpperCase(),
    requestUri: path,
    host: host.toLowerCase(),
    port: port === '' ? ofScheme : port,
  }
}

/** A request that was signed too long ago, or by a clock that is wrong; told only to who has the key. */
export function staleMac(): OAuthError {
  return oauthError('invalid_token', 'mac_stale', 'The timestamp is too far from the time of the service.')
}

/** A request that was made before; told only to who has the key. */
export function replayedMac(): OAuthError {
  return oauthError('invalid_token', 'mac_replayed', 'The nonce was used before.')
}

/**
 * What a client that has the key signs a request with: base64 of HMAC-SHA-256.
 * @see Section 3.2.3
 */
export function macOf(digests: Digests, macKey: string, input: MacInput): string {
  const bytes = new TextEncoder()
  const mac = digests.hmacSha256(bytes.encode(macKey), bytes.encode(normalizedRequest(input)))
  return `${encodeBase64url(mac).replaceAll('-', '+').replaceAll('_', '/')}=`
}
