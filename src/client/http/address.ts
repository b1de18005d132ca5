/**
 * Addresses from outside, parsed only if they are short, and used only if nobody on the network can read along.
 *
 * A URL parser takes time quadratic in the length of a host that is not ASCII (normalization, punycode). No timeout and no
 * signal interrupts it.
 * @module
 * @see RFC 9110, section 4.1
 */

import { isLoopback } from '../../core/application/redirect-uri.js'
import { parseUrl } from '../../core/url.js'

/** Characters that an address may have. */
export const MAX_ADDRESS = 2048

/**
 * Bytes that the address of a redirect may have. It may contain a signature or an application's state (RFC 9110, section 4.1:
 * 8000).
 */
export const MAX_LOCATION = 8192

/**
 * Parses an address.
 * @returns undefined for text that is no address or is too long
 */
export function parseAddress(text: string): URL | undefined {
  return text.length <= MAX_ADDRESS ? parseUrl(text) : undefined
}

/** Checks whether nobody on the network can read requests to an address. */
export function isProtected({ protocol, hostname }: URL, allowLoopback: boolean): boolean {
  return protocol === 'https:' || (allowLoopback && protocol === 'http:' && isLoopback(hostname, true))
}

/** Characters that a terminal obeys, or that make an address look like another one. URL parsers remove or escape them. */
export const FORBIDDEN_IN_ADDRESS: RegExp = /[\p{Cc}\p{Cf}\p{Z}\p{Cs}]/u

/**
 * Checks whether an address that a service gives is safe to use. It must be `https` or, if the issuer is on loopback, `http`
 * on loopback. It may be passed to a terminal or to the program that opens a browser, so it must be short, and without
 * control characters and a user name.
 */
export function isSafeAddress(text: unknown, issuer: string | URL): text is string {
  const url = typeof text === 'string' && !FORBIDDEN_IN_ADDRESS.test(text) ? parseAddress(text) : undefined
  if (url === undefined || url.username !== '' || url.password !== '') return false
  return isProtected(url, new URL(issuer).protocol === 'http:')
}
