/**
 * Names of records and labels, encoded in characters that every engine keeps apart.
 * @module
 */

/** Names that need no escape. Most names are of this kind, and this test is all that they cost. */
const PLAIN = /^[ !#-[\]-~]+$/

/** The encoded empty name: no encoded name is empty, and JSON has no such escape. */
const EMPTY = '\\0'

/**
 * Encodes a name. Control characters and lone surrogates are escaped as in JSON, so that no two names become equal. Names of other
 * characters stay as they are. A byte order mark is escaped too, because decoders of UTF-8 drop it at the start of a text.
 */
export function encodeName(name: string): string {
  if (PLAIN.test(name)) return name
  return name === '' ? EMPTY : JSON.stringify(name).slice(1, -1).replaceAll('\ufeff', '\\ufeff')
}

/** Decodes a name. */
export function decodeName(encoded: string): string {
  return encoded === EMPTY ? '' : JSON.parse(`"${encoded}"`)
}
