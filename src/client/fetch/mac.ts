/**
 * The `Authorization` header of one request, by the type of the token. A MAC covers the method, the address and the time of
 * the request, so each sending has its own. If the clock of the client is wrong, the guard tells the time in its challenge,
 * with a MAC.
 * @module
 * @see RFC 6750, section 2.1; draft-ietf-oauth-v2-http-mac-01, section 3.1
 */
import { encodeBase64url } from '../../core/credentials/base64url.js'
import { normalizedRequest, normalizedTime } from '../../core/credentials/mac.js'
import { ClientError } from '../errors.js'
import type { Tokens } from '../tokens/tokens.js'

/** The parts of a request that are signed. */
export interface SignedRequest {
  readonly method: string
  readonly url: URL
}

/** Random bytes of a nonce. Each request has a new nonce. */
const NONCE_BYTES = 16

/** Tokens that a header can contain, also in quotes. */
const TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** The `Authorization` header of one request. */
export interface Authorization {
  readonly header: string
  /** The signature, to verify the time in the answer; absent unless the token has the type `mac`. */
  readonly signature?: Signature
}

/** The key of a signed request, and the values that identify the request. */
export interface Signature {
  readonly macKey: string
  readonly ts: string
  readonly nonce: string
}

/**
 * Makes the `Authorization` header of one request.
 * @param now - seconds since the epoch
 * @throws ClientError `ERR_RESPONSE` for a token that no header can contain
 */
export async function authorize(tokens: Tokens, request: SignedRequest, now: number): Promise<Authorization> {
  const { accessToken } = tokens
  // The error of the platform would quote the token.
  if (!TOKEN.test(accessToken))
    throw new ClientError('ERR_RESPONSE', 'the service gave an access token that no header can contain')
  if (tokens.tokenType === 'bearer') return { header: `Bearer ${accessToken}` }
  const { macKey } = tokens
  const ts = String(Math.floor(now))
  const nonce = encodeBase64url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
  const mac = await sign(macKey, ts, nonce, request)
  const header = `MAC id="${accessToken}", ts="${ts}", nonce="${nonce}", mac="${mac}"`
  return { header, signature: { macKey, ts, nonce } }
}

/** The time in the challenge of a guard, and its MAC. */
const TIME = /(?:^|[\s,])ts="([1-9][0-9]{0,11})"/
const TIME_MAC = /(?:^|[\s,])tsm="([A-Za-z0-9+/]{43}=)"/

/**
 * Reads the time that a guard tells because the request was signed for another time. Only this time is trusted: an attacker
 * on the network could write the header `Date`, or copy a challenge from the answer to another request.
 * @returns seconds since the epoch; undefined without a time, or if its MAC does not match the key and this request
 */
export async function toldTime({ headers }: Response, { macKey, ts, nonce }: Signature): Promise<number | undefined> {
  const challenge = headers.get('www-authenticate') ?? ''
  const [, told] = TIME.exec(challenge) ?? []
  const [, mac] = TIME_MAC.exec(challenge) ?? []
  if (told === undefined || mac === undefined) return undefined
  const bytes = Uint8Array.from(atob(mac), (one) => one.charCodeAt(0))
  const key = await keyOf(macKey, 'verify')
  const isTold = await crypto.subtle.verify('HMAC', key, bytes, utf8(normalizedTime(told, { ts, nonce })))
  return isTold ? Number(told) : undefined
}

/** Signs a request: HMAC-SHA-256 in base64 (section 3.2). */
async function sign(macKey: string, ts: string, nonce: string, { method, url }: SignedRequest): Promise<string> {
  const { pathname, search, hostname, port, protocol } = url
  const text = normalizedRequest({
    ts,
    nonce,
    method: method.toUpperCase(),
    requestUri: pathname + search,
    host: hostname, // in lower case already
    port: port === '' ? (protocol === 'https:' ? '443' : '80') : port,
    ext: '',
  })
  const mac = await crypto.subtle.sign('HMAC', await keyOf(macKey, 'sign'), utf8(text))
  return btoa(String.fromCharCode(...new Uint8Array(mac)))
}

function keyOf(macKey: string, use: 'sign' | 'verify') {
  return crypto.subtle.importKey('raw', utf8(macKey), { name: 'HMAC', hash: 'SHA-256' }, false, [use])
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
