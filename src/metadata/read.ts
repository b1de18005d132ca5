/**
 * A record of whatever form.
 * @module
 */
import { MetaData } from './codec.js'
import { checkSize } from './errors.js'
import { parseJson } from './json-text.js'
import type { MetaData as Metadata } from './messages.js'
import { checkInput, checkOptions, READING } from './options.js'
import { type ParseTextOptions, parseText, textOf, utf16Fault } from './text.js'

/** What `readMetadata` may be told: what `parseText` may. */
export type ReadOptions = ParseTextOptions

/** A record, and the form in which it was. */
export interface ReadResult {
  readonly format: 'binary' | 'json' | 'text'
  readonly metadata: Metadata
}

/**
 * Reads a record in binary, JSON or text format, whichever it is. JSON begins with `{`, which text never does. Bytes without
 * control characters are taken as text where they are good as text, others as binary where they are good as binary: only a
 * binary record that is text format as well, to the last character, would be mistaken. JSON with a key that comes twice is
 * refused, and no number of it is rounded.
 * @param input - bytes, or a string of JSON or text format
 * @throws {MetadataError} of the form that the input is most like
 */
export function readMetadata(input: string | Uint8Array, options?: ReadOptions): ReadResult {
  checkInput(input, 'bytes or text')
  const own = checkOptions(options, READING)
  checkSize(input.length, own.maxBytes)
  if (typeof input === 'string') return readText(input, own)
  // Tags, lengths and numbers are control characters, nearly all of them.
  const isControlled = input.some((byte) => byte < 9 || (byte > 13 && byte < 32))
  const asText = (): ReadResult => readText(textOf(input, own.maxBytes), own)
  const asBinary = (): ReadResult => readBinary(input, own)
  try {
    return isControlled ? either(asBinary, asText) : either(asText, asBinary)
  } catch (error) {
    throw utf16Fault(input) ?? error
  }
}

function either(first: () => ReadResult, second: () => ReadResult): ReadResult {
  try {
    return first()
  } catch (error) {
    try {
      return second()
    } catch {
      throw error
    }
  }
}

function readBinary(bytes: Uint8Array, options: ReadOptions): ReadResult {
  return {
    format: 'binary',
    metadata: MetaData.decode(bytes, options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
  }
}

function readText(text: string, options: ReadOptions): ReadResult {
  if (!/^\ufeff?\s*\{/.test(text)) return { format: 'text', metadata: parseText(text, options) }
  return { format: 'json', metadata: fromJsonText(text, options) }
}

function fromJsonText(text: string, { strict, enumAliases }: ReadOptions): Metadata {
  return MetaData.fromJSON(parseJson(text), {
    ...(strict !== undefined && { strict }),
    ...(enumAliases !== undefined && { enumAliases }),
  })
}
