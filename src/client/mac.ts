/**
 * The `Authorization` header of one request, by the type of the token. A MAC is bound to the method and the address that
 * the request is sent to, and to a moment: it is made for each sending. The guard tells the right moment to a client whose
 * clock is wrong, with a MAC of its own.
 * @module
 * @see RFC 6750, section 2.1; draft-ietf-oauth-v2-http-mac-01, section 3.1
 */
import { encodeBase64url } from '../core/tokens/base64url.js'
import { normalizedRequest, normalizedTime } from '../core/tokens/mac.js'
import { ClientError } from './errors.js'
import type { Tokens } from './tokens/tokens.js'

/** What is signed of a request. */
export interface SignedRequest {
  readonly method: string
  readonly url: URL
}

/** Random bytes of a nonce: never the same twice. */
const NONCE_BYTES = 16

/** What a header can hold of a token, between quotes too. */
const TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** The `Authorization` of one request. */
export interface Authorization {
  readonly header: string
  /** Key and parts of its signature, so that an answer can be bound to it; absent where the token is no `mac`. */
  readonly signature?: Signature
}

/** The parts by which a signed request is the one that it is. */
export interface Signature {
  readonly macKey: string
  readonly ts: string
  readonly nonce: string
}

/**
 * Makes the header `Authorization` of one sending.
 * @param now - seconds since the epoch
 * @throws ClientError `ERR_RESPONSE` for a token that no header can hold
 */
export async function authorizationOf(tokens: Tokens, request: SignedRequest, now: number): Promise<Authorization> {
  const { accessToken } = tokens
  // Checked here, since the platform's own message would quote the token.
  if (!TOKEN.test(accessToken))
    throw new ClientError('ERR_RESPONSE', 'the service gave an access token that no header can hold')
  if (tokens.tokenType === 'bearer') return { header: `Bearer ${accessToken}` }
  const { macKey } = tokens
  const ts = String(Math.floor(now))
  const nonce = encodeBase64url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
  const mac = await sign(macKey, ts, nonce, request)
  const header = `MAC id="${accessToken}", ts="${ts}", nonce="${nonce}", mac="${mac}"`
  return { header, signature: { macKey, ts, nonce } }
}

/** A time that a guard tells in its challenge, and its MAC. */
const TIME = /(?:^|[\s,])ts="([1-9][0-9]{0,11})"/
const TIME_MAC = /(?:^|[\s,])tsm="([A-Za-z0-9+/]{43}=)"/

/**
 * Reads the time that a guard tells to a request which was signed for another one. Nothing else says what time it is: whoever
 * stands between could have written the header `Date`, or a challenge to another request.
 * @returns seconds since the epoch; undefined where none is told, or not by the holder of the key to this very request
 */
export async function toldTime({ headers }: Response, { macKey, ts, nonce }: Signature): Promise<number | undefined> {
  const challenge = headers.get('www-authenticate') ?? ''
  const [, told] = TIME.exec(challenge) ?? []
  const [, mac] = TIME_MAC.exec(challenge) ?? []
  if (told === undefined || mac === undefined) return undefined
  const bytes = Uint8Array.from(atob(mac), (one) => one.charCodeAt(0))
  const key = await keyOf(macKey, 'verify')
  const isTold = await crypto.subtle.verify('HMAC', key, bytes, encode(normalizedTime(told, { ts, nonce })))
  return isTold ? Number(told) : undefined
}

/** Base64 of the HMAC-SHA-256 (section 3.2). */
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
  const mac = await crypto.subtle.sign('HMAC', await keyOf(macKey, 'sign'), encode(text))
  return btoa(String.fromCharCode(...new Uint8Array(mac)))
}

function keyOf(macKey: string, use: 'sign' | 'verify') {
  return crypto.subtle.importKey('raw', encode(macKey), { name: 'HMAC', hash: 'SHA-256' }, false, [use])
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
