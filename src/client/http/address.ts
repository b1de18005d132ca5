/**
 * Addresses that somebody else wrote, parsed once they are known to be short.
 *
 * A URL parser takes time by the square of a host's length where the host is not ASCII (normalization, punycode), and nothing
 * interrupts it: no timeout and no signal.
 * @module
 * @see RFC 9110, section 4.1
 */

/** Characters of an address. */
export const MAX_ADDRESS = 2048

/** Bytes of a redirect's address, which may have a signature or an application's state in it (RFC 9110, section 4.1: 8000). */
export const MAX_LOCATION = 8192

/**
 * Parses an address.
 * @returns undefined for what is none, and for one that is too long
 */
export function parseAddress(text: string): URL | undefined {
  return text.length <= MAX_ADDRESS && URL.canParse(text) ? new URL(text) : undefined
}
