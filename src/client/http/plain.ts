/**
 * Text of a service, made safe to show. Anybody may have written it.
 * @module
 */

/** Characters of a text that are shown. */
const MAX_SHOWN = 200

/** Shortens text of a service for a message, to one line without control characters, which a terminal would obey. */
export function plain(text: unknown): string {
  const shown = String(text)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '')
    .replace(/\.$/, '')
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown
}
