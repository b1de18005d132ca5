/**
 * The `Authorization` header of one request, by the type of the token. A MAC is bound to the method and the address that
 * the request is sent to, and to a moment: it is made for each sending.
 * @module
 * @see RFC 6750, section 2.1; draft-ietf-oauth-v2-http-mac-01, section 3.1
 */
import { encodeBase64url } from '../core/base64url.js'
import { normalizedRequest } from '../core/mac.js'
import { ClientError } from './errors.js'
import type { Tokens } from './tokens.js'

/** What is signed of a request. */
export interface SignedRequest {
  readonly method: string
  readonly url: URL
}

/** Random bytes of a nonce: never the same twice. */
const NONCE_BYTES = 16

/** What a header can hold of a token, between quotes too. */
const TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/**
 * The value of the header `Authorization`.
 * @param now - seconds since the epoch
 * @throws ClientError `ERR_RESPONSE` for a token that no header can hold
 */
export async function authorizationOf(tokens: Tokens, request: SignedRequest, now: number): Promise<string> {
  const { accessToken } = tokens
  // Checked here, since the platform's own message would quote the token.
  if (!TOKEN.test(accessToken))
    throw new ClientError('ERR_RESPONSE', 'the service gave an access token that no header can hold')
  if (tokens.tokenType === 'bearer') return `Bearer ${accessToken}`
  const ts = String(Math.floor(now))
  const nonce = encodeBase64url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
  const mac = await sign(tokens.macKey, ts, nonce, request)
  return `MAC id="${accessToken}", ts="${ts}", nonce="${nonce}", mac="${mac}"`
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
  const bytes = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes.encode(macKey), algorithm, false, ['sign'])
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes.encode(text)))
  return btoa(String.fromCharCode(...mac))
}
