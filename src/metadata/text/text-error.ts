/**
 * Errors that name a line and a column of a text.
 * @module
 */
import type { MetadataErrorCode } from '../errors.js'
import { MetadataError } from '../errors.js'

/** Makes the error of a fault at an offset of a text. */
export function textError(
  code: MetadataErrorCode,
  what: string,
  text: string,
  offset: number,
  details: { readonly path?: string; readonly expected?: string } = {},
): MetadataError {
  const { line, column } = placeOf(text, offset)
  return new MetadataError(code, `${line}:${column}: ${what}`, { offset, line, column, ...details })
}

/** Returns the line and column of an offset, both from 1. */
export function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1
  let lineStart = 0
  for (let end = text.indexOf('\n'); end >= 0 && end < offset; end = text.indexOf('\n', lineStart)) {
    line++
    lineStart = end + 1
  }
  return { line, column: offset - lineStart + 1 }
}

/** Quotes the token at an offset for an error message: at most one line, and `the end` at the end of the text. */
export function foundAt(text: string, at: number): string {
  const [token = ''] = /^(?:[\w.+-]+|"[^"\n]{0,40}"?|'[^'\n]{0,40}'?|.)/u.exec(text.slice(at, at + 60)) ?? []
  return token === '' ? 'the end' : /^[!-~]/.test(token) ? token : JSON.stringify(token)
}
