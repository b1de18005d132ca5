/**
 * Parsing of URLs that anybody may have written.
 * @module
 */

import type { Branded } from './values.js'

/**
 * Parses a URL. Not by `URL.canParse`: once Node.js 20 has compiled a call of it, it refuses every text with a character from
 * U+0080 to U+00FF, such as `https://bücher.example`.
 * @param base - the address that a relative one begins at
 * @returns undefined for text that is no URL
 */
export function parseUrl(text: string, base?: URL): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}

/** The longest address of a protected resource. Many of them have to fit into one request. */
const RESOURCE_LENGTH = 512

/**
 * Reads the address of a protected resource: an http or https URL as a browser writes it, at most 512 characters, a bare host without a
 * slash, and without user info, query and fragment. So two resources are the same only if their texts are.
 * @returns undefined for any other text
 * @see RFC 8707, section 2
 */
export function parseResourceUrl(text: string): URL | undefined {
  const url = text.length > RESOURCE_LENGTH ? undefined : parseUrl(text)
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined
  return text === (url.pathname === '/' ? url.origin : url.origin + url.pathname) ? url : undefined
}

/** The origin of a page, spelled as a browser spells it: scheme, host, and a port that is not the default one. */
export type Origin = Branded<'Origin'>

/** Scheme, host and port. A host is labels of letters, digits, hyphens and underscores, or an IPv6 address. */
const ORIGIN = /^https?:\/\/(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])(?::[0-9]{1,5})?$/

/** The longest origin: a host name of 253 characters, its scheme and its port. */
const ORIGIN_LENGTH = 267

/**
 * Reads the origin of an http or https page. `null`, `*`, capitals, user info, a path, a default port and odd forms of addresses
 * are no origin. So two origins are equal only if their texts are.
 * @returns undefined for any other text
 * @see RFC 6454, section 6.2
 */
export function parseOrigin(text: string): Origin | undefined {
  if (text.length > ORIGIN_LENGTH || !ORIGIN.test(text)) return undefined
  return parseUrl(text)?.origin === text ? (text as Origin) : undefined // checked by the parser beside it
}
