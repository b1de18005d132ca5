/**
 * The one error of the codec.
 * @module
 */

/**
 * A code of the fault, for programs. Binary, with `offset`: `truncated`, `invalid_varint`, `invalid_tag`, `invalid_length`,
 * `unexpected_end_group`, `too_deep`, `invalid_utf8`. Text, with `line` and `column`: `syntax`, `unknown_field`,
 * `unknown_enum_value`, `duplicate_field`, `out_of_range`, `invalid_utf8`, `too_deep`. Values, with `path`:
 * `invalid_value`, `unknown_field`, `unknown_enum_value`, and `invalid_path` for a path that names nothing. Any input:
 * `too_large`; JSON that is none: `invalid_json`, with `line` and `column`; bytes that are good in two formats:
 * `ambiguous_format`.
 */
export type MetadataErrorCode =
  | 'too_large'
  | 'ambiguous_format'
  | 'truncated'
  | 'invalid_varint'
  | 'invalid_tag'
  | 'invalid_length'
  | 'unexpected_end_group'
  | 'too_deep'
  | 'invalid_utf8'
  | 'syntax'
  | 'unknown_field'
  | 'unknown_enum_value'
  | 'duplicate_field'
  | 'out_of_range'
  | 'invalid_json'
  | 'invalid_value'
  | 'invalid_path'

/** The place of the fault, as far as it has one. */
export interface MetadataErrorPlace {
  /** Bytes from the start of binary input; UTF-16 units from the start of text. */
  readonly offset?: number
  /** Line of text, from 1. A line ends with `\n`. */
  readonly line?: number
  /** UTF-16 units from the start of the line, from 1. */
  readonly column?: number
  /** Field of the record, as `third_party.url[0].value`. */
  readonly path?: string
  /** The values that could have stood there. */
  readonly expected?: string
}

/**
 * Thrown for every input that is not what it should be, and for nothing else. Tell it by `code`: the ESM and the CommonJS
 * build have a class each, so `instanceof` fails across them. The message says the place as well.
 */
export class MetadataError extends Error {
  /** The name of the class. */
  override readonly name: string = 'MetadataError'
  /** The code of the fault. */
  readonly code: MetadataErrorCode
  /** Bytes from the start of binary input; UTF-16 units from the start of text. */
  readonly offset?: number
  /** Line of text, from 1. */
  readonly line?: number
  /** UTF-16 units from the start of the line, from 1. */
  readonly column?: number
  /** Field of the record, as `third_party.url[0].value`. */
  readonly path?: string
  /** The values that could have stood there. */
  readonly expected?: string

  constructor(code: MetadataErrorCode, message: string, place: MetadataErrorPlace = {}) {
    super(message)
    this.code = code
    Object.assign(this, place)
  }
}

/** The default of every `maxBytes`: 4 MiB, some three thousand times a usual record. */
export const MAX_BYTES = 4_194_304

/** The most characters that a writer makes of a record: far more than any that is read by default. */
const MAX_WRITTEN: number = 16 * MAX_BYTES

/**
 * Ends a writer whose text grows too long. Indentation and repeated names can make it hundreds of times the input.
 * @param length - characters so far
 * @throws {MetadataError} `too_large`
 */
export function checkLength(length: number): void {
  if (length > MAX_WRITTEN) throw tooLongError()
}

/**
 * Runs a writer. One string that is longer than an engine permits is too large as well.
 * @throws {MetadataError} `too_large`, and whatever the writer throws
 */
export function limitWriter(write: () => string): string {
  try {
    return write()
  } catch (error) {
    if (error instanceof RangeError) throw tooLongError()
    throw error
  }
}

function tooLongError(): MetadataError {
  return new MetadataError('too_large', `more than ${MAX_WRITTEN} characters of text`)
}

/** The depth to which messages, groups and JSON may nest. The reference reads as deep, and no record comes near it. */
export const MAX_DEPTH = 100

/** @throws {MetadataError} `too_large` */
export function checkSize(size: number, maxBytes: number = MAX_BYTES): void {
  if (size > maxBytes) throw new MetadataError('too_large', `${size} bytes are more than maxBytes permits: ${maxBytes}`)
}

/**
 * @param found - what came instead, of which the message says the kind
 * @throws {MetadataError} `invalid_value`
 */
export function refuse(path: string, expected: string, ...found: readonly unknown[]): never {
  const got = found.map((value) => `, got ${describeKind(value)}`).join('')
  throw new MetadataError('invalid_value', `${path || 'the record'} should be ${expected}${got}`, { path, expected })
}

/** Describes the kind of a value: `a Date`, `a list`, `null`. */
export function describeKind(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'boolean') return 'a truth value'
  if (Array.isArray(value)) return 'a list'
  const kind = typeof value === 'object' ? Object.prototype.toString.call(value).slice(8, -1) : typeof value
  if (kind === 'Object') return 'an object'
  return `${/^[AEIO]/.test(kind) ? 'an' : 'a'} ${kind}`
}
