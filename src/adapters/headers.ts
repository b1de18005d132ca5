/**
 * The headers that a host has set on a response before ours.
 * @module
 * @see RFC 9110, section 5.3 (headers that are lists)
 */

/** Headers that are lists, or may come more than once: those of the host stay, and ours are added. */
const LISTS: ReadonlySet<string> = new Set(['set-cookie', 'vary', 'link', 'www-authenticate', 'server-timing'])

/** Headers that describe a body. They belong to whoever sends the body, so the host's go even where we have none. */
export const BODY_HEADERS = [
  'Content-Type',
  'Content-Length',
  'Content-Encoding',
  'Content-Range',
  'Transfer-Encoding',
  'Trailer',
] as const

/** A header as a platform keeps it. */
type Value = string | number | readonly string[] | undefined

/**
 * Adds the host's values to ours where a header is a list. Every other header of ours replaces the host's.
 * @param hostValue - gives the host's value of a header, whatever the case of its name
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
