/**
 * Parsing of URLs that anybody may have written.
 * @module
 */

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
