/**
 * The reader of records in any format.
 * @module
 */
import { MetaData } from './codec.js'
import { checkSize, MetadataError } from './errors.js'
import { parseJson } from './json/json-text.js'
import { checkInput, checkOptions, READ_OPTIONS } from './options.js'
import type { MetaData as Metadata } from './schema/messages.js'
import type { ParseTextOptions } from './text/text.js'
import { decodeText, findUtf16Fault, parseText } from './text/text.js'

/** Options of `readMetadata`: those of `parseText`, and the format. */
export interface ReadOptions extends ParseTextOptions {
  /** The format of the input, if it is known; by default it is recognized by the content. */
  readonly format?: 'binary' | 'json' | 'text'
}

/** A record, and the format in which it was. */
export interface ReadResult {
  /** The format that the record was in. */
  readonly format: 'binary' | 'json' | 'text'
  /** The record. */
  readonly metadata: Metadata
}

/**
 * Reads a record in binary, JSON or text format. JSON begins with `{`, which text format never does.
 *
 * Refuses bytes that can be read as binary and also as text or JSON, unless `format` says which they are: an attacker may have made
 * them so that two programs see two different records. JSON with a key that comes twice is refused, and its numbers are not rounded.
 * @param input - bytes, or a string in JSON or text format
 * @throws {MetadataError} the error of the format that the input resembles most; `ambiguous_format`
 */
export function readMetadata(input: string | Uint8Array, options?: ReadOptions): ReadResult {
  const { format, ...reading } = checkOptions(options, { ...READ_OPTIONS, format: ['binary', 'json', 'text'] })
  const own = checkOptions<ParseTextOptions>(reading, READ_OPTIONS)
  checkInput(input, format === 'binary' ? 'bytes' : 'bytes or text')
  checkSize(input.length, own.maxBytes)
  const asText = (how: ParseTextOptions = own): ReadResult => readText(decodeText(input, own.maxBytes), how, format)
  if (typeof input === 'string' || format === 'text' || format === 'json') return asText()
  const asBinary = (): ReadResult => readBinary(input, own)
  if (format === 'binary') return asBinary()
  // Nearly all tags, lengths and numbers of binary are control characters.
  const isControlled = input.some((byte) => byte < 9 || (byte > 13 && byte < 32))
  let read: ReadResult
  try {
    read = isControlled ? tryBoth(asBinary, asText) : tryBoth(asText, asBinary)
  } catch (error) {
    throw findUtf16Fault(input) ?? error
  }
  // Text that this reader refuses because it is strict is text for other readers. An empty input is an empty record in all formats.
  const lax = checkOptions<ParseTextOptions>({ ...own, strict: false, duplicates: 'last' }, READ_OPTIONS)
  const other = input.length === 0 ? undefined : detectFormat(read.format === 'binary' ? () => asText(lax) : asBinary)
  if (other !== undefined)
    throw new MetadataError(
      'ambiguous_format',
      `the input is good as ${read.format} and as ${other}: the option format says which it is`,
    )
  return read
}

/** Returns the format in which an input can be read; undefined if it cannot be read. */
function detectFormat(read: () => ReadResult): ReadResult['format'] | undefined {
  try {
    return read().format
  } catch {
    return undefined
  }
}

function tryBoth(first: () => ReadResult, second: () => ReadResult): ReadResult {
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

function readBinary(bytes: Uint8Array, options: ParseTextOptions): ReadResult {
  return {
    format: 'binary',
    metadata: MetaData.decode(bytes, options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
  }
}

function readText(text: string, options: ParseTextOptions, format: ReadOptions['format']): ReadResult {
  const isJson = format === undefined ? /^\ufeff?\s*\{/.test(text) : format === 'json'
  if (!isJson) return { format: 'text', metadata: parseText(text, options) }
  return { format: 'json', metadata: fromJsonText(text, options) }
}

function fromJsonText(text: string, { strict, enumAliases }: ParseTextOptions): Metadata {
  return MetaData.fromJSON(parseJson(text), {
    ...(strict !== undefined && { strict }),
    ...(enumAliases !== undefined && { enumAliases }),
  })
}
