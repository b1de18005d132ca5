/**
 * Texts of a service, which may be anybody's, made fit to be shown.
 * @module
 */

/** Text of a service for a message: on one line, short, and without what a terminal would obey. */
export function plain(text: unknown): string {
  const shown = String(text)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '')
    .replace(/\.$/, '')
  return shown.length > SHOWN_LENGTH ? `${shown.slice(0, SHOWN_LENGTH)}…` : shown
}

const SHOWN_LENGTH = 200
