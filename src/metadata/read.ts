/**
 * A record of whatever form.
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
  /** The format of the input, where it is known; by default it is told from what is in it. */
  readonly format?: 'binary' | 'json' | 'text'
}

/** A record, and the form in which it was. */
export interface ReadResult {
  readonly format: 'binary' | 'json' | 'text'
  readonly metadata: Metadata
}

/**
 * Reads a record in binary, JSON or text format, whichever it is. JSON begins with `{`, which text never does. Bytes that are
 * good as binary and as text or JSON too are refused, unless `format` says which they are: whoever made them may mean one
 * program to see this record, and another program that. JSON with a key that comes twice is refused, and no number of it is
 * rounded.
 * @param input - bytes, or a string of JSON or text format
 * @throws {MetadataError} of the form that the input is most like; `ambiguous_format`
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
  // Tags, lengths and numbers are control characters, nearly all of them.
  const isControlled = input.some((byte) => byte < 9 || (byte > 13 && byte < 32))
  let read: ReadResult
  try {
    read = isControlled ? tryBoth(asBinary, asText) : tryBoth(asText, asBinary)
  } catch (error) {
    throw findUtf16Fault(input) ?? error
  }
  // What is refused as text by a strict reader is text all the same to others. Without a byte, all forms say nothing.
  const lax = checkOptions<ParseTextOptions>({ ...own, strict: false, duplicates: 'last' }, READ_OPTIONS)
  const other = input.length === 0 ? undefined : detectFormat(read.format === 'binary' ? () => asText(lax) : asBinary)
  if (other !== undefined)
    throw new MetadataError(
      'ambiguous_format',
      `the input is good as ${read.format} and as ${other}: the option format says which it is`,
    )
  return read
}

/** The format in which something can be read; undefined where it cannot. */
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
