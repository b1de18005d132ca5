/**
 * Addresses from outside, parsed only if they are short.
 *
 * A URL parser takes time quadratic in the length of a host that is not ASCII (normalization, punycode). No timeout and no
 * signal interrupts it.
 * @module
 * @see RFC 9110, section 4.1
 */

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
