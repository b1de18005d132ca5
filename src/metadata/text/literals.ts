/**
 * Strings and integers of text format: parsed and written (text format language specification, "String Literals" and "Numeric
 * Literals").
 * @module
 */
import { LONE_SURROGATE } from '../check.js'
import { MetadataError } from '../errors.js'

const BACKSLASH = 0x5c

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

/** The value of an escape: a byte, or a character by its code point. */
interface Escape {
  /** Number of characters, with the backslash. */
  readonly length: number
  readonly value: number
  readonly isByte: boolean
}

const NAMED_ESCAPES = new Map(
  Object.entries({ a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '?': 63, '\\': 92, "'": 39, '"': 34 }).map(
    ([letter, value]): [string, Escape] => [letter, { length: 2, value, isByte: false }],
  ),
)

/** Reads the escape at a backslash. Returns undefined if it is not an escape. */
export function readEscape(text: string, at: number): Escape | undefined {
  const letter = text[at + 1] ?? ''
  switch (letter) {
    case 'x':
      return readDigits(text, at + 2, 1, 2, 16, true)
    case 'u':
      return readDigits(text, at + 2, 4, 4, 16, false)
    case 'U':
      return readDigits(text, at + 2, 8, 8, 16, false)
    default:
      return NAMED_ESCAPES.get(letter) ?? readDigits(text, at + 1, 1, 3, 8, true)
  }
}

const SURROGATE = /\\(?:u|U0000)([dD][89a-fA-F][0-9a-fA-F]{2})/y

/** The fault of an escape, and the words for a right one. */
interface EscapeFault {
  readonly what: string
  readonly expected: string
}

/** Explains why an escape with enough digits has no value. Returns undefined for every other wrong escape. */
export function explainEscape(text: string, at: number): EscapeFault | undefined {
  const half = (start: number): number => {
    SURROGATE.lastIndex = start
    return Number.parseInt(SURROGATE.exec(text)?.[1] ?? '0', 16)
  }
  const first = half(at)
  if (first !== 0) {
    const character = String.fromCharCode(first, half(SURROGATE.lastIndex))
    const code = character.codePointAt(0)?.toString(16).padStart(8, '0')
    const expected = LONE_SURROGATE.test(character)
      ? 'a whole character, such as \\U0001f600'
      : `\\U${code} for both halves`
    return { what: 'an escape of half a character (a surrogate)', expected }
  }
  const source = text.slice(at, at + 10)
  if (/^\\U[0-9a-fA-F]{8}/.test(source))
    return { what: 'an escape past the last character', expected: '\\U0010ffff or less' }
  return /^\\[4-7][0-7]{2}/.test(source)
    ? { what: 'an escape past the last byte', expected: '\\377 or less' }
    : undefined
}

function readDigits(
  text: string,
  start: number,
  least: number,
  most: number,
  radix: 8 | 16,
  isByte: boolean,
): Escape | undefined {
  let value = 0
  let count = 0
  for (; count < most; count++) {
    const digit = hexDigit(text.charCodeAt(start + count))
    if (digit >= radix) break
    value = value * radix + digit
  }
  if (count < least || value > (isByte ? 0xff : 0x10ffff)) return undefined
  if (!isByte && value >= 0xd800 && value <= 0xdfff) return undefined
  return { length: count + (radix === 16 ? 2 : 1), value, isByte }
}

/** Returns the value of a hexadecimal digit; a greater number for any other character, and for the end. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 0x20
  return lower >= 97 && lower <= 102 ? lower - 87 : 16
}

/**
 * Decodes the bytes of a string.
 * @param pieces - the text between the quotes of each of the adjacent strings, without wrong escapes
 */
export function decodeBytes(pieces: readonly string[]): Uint8Array {
  // A UTF-16 unit becomes at most three bytes, and an escape at most as many as it has characters.
  const bytes = new Uint8Array(pieces.reduce((size, piece) => size + piece.length * 3, 0))
  let filled = 0
  for (const piece of pieces)
    eachPart(
      piece,
      (text) => {
        filled += encoder.encodeInto(text, bytes.subarray(filled)).written
      },
      (byte) => {
        bytes[filled++] = byte
      },
    )
  return bytes.slice(0, filled)
}

/** Decodes a string from the pieces that {@link decodeBytes} takes. Returns undefined if its bytes are not UTF-8. */
export function decodeString(pieces: readonly string[]): string | undefined {
  let value = ''
  let isAscii = true
  const addText = (text: string): void => {
    value += text
  }
  const addByte = (byte: number): void => {
    value += String.fromCharCode(byte)
    isAscii &&= byte < 0x80
  }
  for (const piece of pieces) eachPart(piece, addText, addByte)
  if (isAscii) return value
  try {
    return strictUtf8.decode(decodeBytes(pieces))
  } catch {
    return undefined
  }
}

function eachPart(piece: string, addText: (text: string) => void, addByte: (byte: number) => void): void {
  let plain = 0
  for (let at = piece.indexOf('\\'); at >= 0; at = piece.indexOf('\\', plain)) {
    if (at > plain) addText(piece.slice(plain, at))
    const { length, value, isByte } = readEscape(piece, at) ?? { length: 1, value: BACKSLASH, isByte: false }
    if (isByte) addByte(value)
    else addText(String.fromCodePoint(value))
    plain = at + length
  }
  if (plain < piece.length) addText(piece.slice(plain))
}

/** The style in which a string is written. */
export interface LiteralStyle {
  readonly quote: '"' | "'"
  /** True to write characters that are not ASCII as they are, false to write octal escapes of their bytes. */
  readonly utf8: boolean
  /** True to escape the other quote too, as the reference does. */
  readonly escapeBothQuotes: boolean
}

const SHORT_ESCAPES: { readonly [character: string]: string } = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' }

/** The escape of every byte. */
const OCTAL_ESCAPES: readonly string[] = Array.from(
  { length: 256 },
  (_, byte) => `\\${byte.toString(8).padStart(3, '0')}`,
)

const NEEDS_ESCAPE = /[^ !#-&(-[\]-~]/
const ESCAPED = /[^ !#-&(-[\]-~\x80-\uffff]|[\x80-\uffff]+/g

/** Writes a string as a literal with quotes. In the canonical style, it is the literal of the reference. */
export function writeLiteral(value: string, { quote, utf8, escapeBothQuotes }: LiteralStyle): string {
  if (!NEEDS_ESCAPE.test(value)) return quote + value + quote
  const escaped = value.replace(ESCAPED, (found) => {
    if (found === '"' || found === "'") return found === quote || escapeBothQuotes ? `\\${found}` : found
    const code = found.charCodeAt(0)
    if (code < 0x80) return SHORT_ESCAPES[found] ?? OCTAL_ESCAPES[code] ?? ''
    return utf8 ? found : escapeOctal(encoder.encode(found))
  })
  return quote + escaped + quote
}

function escapeOctal(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += OCTAL_ESCAPES[byte]
  return text
}

export const CANONICAL_STYLE: LiteralStyle = { quote: '"', utf8: false, escapeBothQuotes: true }

/** Writes bytes as a literal, as the reference does. */
export function writeBytesLiteral(bytes: Uint8Array): string {
  let literal = '"'
  for (const byte of bytes) {
    const character = String.fromCharCode(byte)
    if (character === '"' || character === "'") literal += `\\${character}`
    else if (byte >= 0x20 && byte < 0x7f && byte !== BACKSLASH) literal += character
    else literal += SHORT_ESCAPES[character] ?? OCTAL_ESCAPES[byte]
  }
  return `${literal}"`
}

/** Parses an integer: decimal, octal after a `0`, or hexadecimal after `0x`, each with or without a `-`. */
export function parseInteger(text: string): bigint {
  const negative = text.startsWith('-')
  const digits = negative ? text.slice(1) : text
  const octalDigits = /^0[0-7]+$/.test(digits)
  const value = BigInt(octalDigits ? `0o${digits.slice(1)}` : digits)
  return negative ? -value : value
}

/**
 * Returns the decimal digits of an integer. Those of a decimal integer are returned as they are, which saves a `bigint`.
 * @throws {MetadataError} `invalid_value` for a hexadecimal or octal one of very many digits
 */
export function parseDecimal(text: string): string {
  if (/^-?[1-9][0-9]*$/.test(text)) return text
  if (text.length > MAX_CONVERTED)
    throw new MetadataError('invalid_value', `a hexadecimal or octal integer of more than ${MAX_CONVERTED} characters`)
  return String(parseInteger(text))
}

/**
 * Parses an integer whose digits may come from a stranger.
 * @throws {MetadataError} `invalid_value` for one of very many digits
 */
export function parseBigint(text: string): bigint {
  if (text.length > MAX_CONVERTED)
    throw new MetadataError('invalid_value', `an integer of more than ${MAX_CONVERTED} characters`)
  return parseInteger(text)
}

/** The longest integer that is converted. The time of a conversion grows faster than the digits: millions of them take seconds. */
const MAX_CONVERTED = 10_000

/** Parses an integer as a number. Returns NaN for one of more than 32 bits. */
export function parseInt32(text: string): number {
  // Most integers are written like this.
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text)
  // 32 bits have at most 11 octal digits. An integer with more digits is too large, and is not read.
  if (text.replace(/^-?(?:0[xX])?0*/, '').length > 11) return Number.NaN
  const value = parseInteger(text)
  return value >= -2147483648n && value <= 2147483647n ? Number(value) : Number.NaN
}
