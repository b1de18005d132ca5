/**
 * The key that goes with an access token of the type `mac`, and the string that it signs of a request.
 *
 * The key is derived from the token's secret and the server's `derivationKey`: the store has nothing of it, and whoever sees a
 * token on its way cannot make its key.
 * @module
 * @see Specification, section 5.2; draft-ietf-oauth-v2-http-mac-01, sections 3.2.1 and 5.1; RFC 5869
 */
import { encodeBase64url } from './base64url.js'
import type { DerivationRules } from './digests.js'
import { bytesOfAscii, hkdf } from './digests.js'

/** Names what is derived: `grantwell mac key 1` in ASCII. */
const DERIVATION_LABEL = Uint8Array.from('grantwell mac key 1', (character) => character.charCodeAt(0))

const KEY_BYTES = 32

/**
 * The key of an access token.
 * @param secret - that of the access token
 * @returns 43 characters of base64url; the key itself is these characters, as ASCII
 * @throws TypeError without any derivation key: then everybody could make the key
 */
export function macKeyOf(secret: string, rules: DerivationRules): string {
  const { digests, derivationKey = rules.otherDerivationKeys?.find((key) => key !== undefined) } = rules
  if (derivationKey === undefined) throw new TypeError('grantwell: mac tokens need a derivationKey')
  return encodeBase64url(hkdf(digests, derivationKey, bytesOfAscii(secret), DERIVATION_LABEL, KEY_BYTES))
}

/** The parts of a request that its MAC covers. */
export interface MacInput {
  /** Seconds since the epoch by the client's clock, in digits. */
  readonly ts: string
  /** Never used twice with the same `ts` and token. */
  readonly nonce: string
  /** In upper case. */
  readonly method: string
  /** Path and query, as in the request line. */
  readonly requestUri: string
  /** Of the `Host` header, in lower case, without a port. */
  readonly host: string
  /** Of the `Host` header or, where it has none, the one of the scheme. */
  readonly port: string
  /** Empty where the header has none. */
  readonly ext: string
}

/** The one string that client and server make of a request: what is signed. */
export function normalizedRequest({ ts, nonce, method, requestUri, host, port, ext }: MacInput): string {
  return `${ts}\n${nonce}\n${method}\n${requestUri}\n${host}\n${port}\n${ext}\n`
}

/**
 * The one string that guard and client make of the time that a guard tells. It is signed with the key of the token that the
 * refused request was made with, and is bound to that very request by its `ts` and `nonce`.
 *
 * The first line tells it from {@link normalizedRequest}, whose first line is digits: neither is ever taken for the other.
 * @param told - seconds since the epoch by the guard's clock, in digits
 * @param refused - the request that was signed for another time
 */
export function normalizedTime(told: string, { ts, nonce }: Pick<MacInput, 'ts' | 'nonce'>): string {
  return `grantwell mac time 1\n${told}\n${ts}\n${nonce}\n`
}
