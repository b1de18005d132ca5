/**
 * Headers that the host has set on a response before ours.
 * @module
 * @see RFC 9110, section 5.3 (headers that are lists)
 */

/** Headers that are lists, or may occur more than once. The host's values stay, and ours are added. */
const LISTS: ReadonlySet<string> = new Set(['set-cookie', 'vary', 'link', 'www-authenticate', 'server-timing'])

/** Headers that describe a body. The host's are removed even if we set none, because the body is ours. */
export const BODY_HEADERS = [
  'Content-Type',
  'Content-Length',
  'Content-Encoding',
  'Content-Range',
  'Transfer-Encoding',
  'Trailer',
] as const

/** The value of a header as a platform keeps it. */
type Value = string | number | readonly string[] | undefined

/**
 * Adds the host's values to our headers that are lists. All other headers of ours replace the host's.
 * @param hostValue - returns the host's value of a header; ignores the case of its name
 */
export function addHostValues(
  headers: Readonly<Record<string, string>>,
  hostValue: (name: string) => Value,
): Record<string, string | string[]> {
  const all: Record<string, string | string[]> = { ...headers }
  for (const [name, value] of Object.entries(headers)) {
    const before = LISTS.has(name.toLowerCase()) ? hostValue(name) : undefined
    if (before !== undefined) all[name] = [...(Array.isArray(before) ? before : [String(before)]), value]
  }
  return all
}
