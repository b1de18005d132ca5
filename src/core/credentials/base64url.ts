/**
 * base64url without padding, strict in both directions, and a comparison that takes the same time for any difference.
 * @module
 * @see RFC 4648, section 5
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The character code of every 6 bits. */
const CODES = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0))

/** The 6 bits of every character code; what is outside the alphabet has a bit that no value has. */
const VALUES = new Uint8Array(256).fill(64)
for (let value = 0; value < 64; value++) VALUES[ALPHABET.charCodeAt(value)] = value

/**
 * Writes bytes as base64url without padding.
 * @param begin - of the first byte, `end` behind the last; all bytes by default
 * @returns `ceil((end - begin) * 4 / 3)` characters
 */
export function encodeBase64url(bytes: Uint8Array, begin = 0, end: number = bytes.length): string {
  if (end - begin <= BLOCK) return encodeBlock(bytes, begin, end)
  let text = ''
  for (let at = begin; at < end; at += BLOCK) text += encodeBlock(bytes, at, Math.min(at + BLOCK, end))
  return text
}

/** Bytes that become a text at once, in whole groups of three: more than any secret, and no more than engines take as arguments. */
const BLOCK = 192

/** Writes at most {@link BLOCK} bytes. One call for many characters takes half as long as joining them. */
function encodeBlock(bytes: Uint8Array, begin: number, end: number): string {
  const codes = new Array<number>(Math.ceil(((end - begin) * 4) / 3))
  let at = 0
  let index = begin
  for (; index + 2 < end; index += 3) {
    const bits = (byteAt(bytes, index) << 16) | (byteAt(bytes, index + 1) << 8) | byteAt(bytes, index + 2)
    codes[at++] = codeOf(bits >> 18)
    codes[at++] = codeOf(bits >> 12)
    codes[at++] = codeOf(bits >> 6)
    codes[at++] = codeOf(bits)
  }
  const bits = (index < end ? byteAt(bytes, index) << 16 : 0) | (index + 1 < end ? byteAt(bytes, index + 1) << 8 : 0)
  for (let shift = 18; at < codes.length; shift -= 6) codes[at++] = codeOf(bits >> shift)
  return String.fromCharCode(...codes)
}

/**
 * Reads base64url without padding.
 * @returns the bytes; undefined for a character outside the alphabet, an impossible length, or bits that no encoder
 * leaves behind, so that one value has one spelling
 */
export function decodeBase64url(text: string): Uint8Array | undefined {
  const left = text.length % 4
  if (left === 1) return undefined
  const bytes = new Uint8Array((text.length * 3) >> 2)
  let seen = 0
  let at = 0
  let index = 0
  for (; index < text.length - left; index += 4) {
    const a = bitsAt(text, index)
    const b = bitsAt(text, index + 1)
    const c = bitsAt(text, index + 2)
    const d = bitsAt(text, index + 3)
    seen |= a | b | c | d
    bytes[at++] = (a << 2) | (b >> 4)
    bytes[at++] = (b << 4) | (c >> 2)
    bytes[at++] = (c << 6) | d
  }
  if (left > 0) {
    const a = bitsAt(text, index)
    const b = bitsAt(text, index + 1)
    const c = left === 3 ? bitsAt(text, index + 2) : 0
    seen |= a | b | c
    bytes[at++] = (a << 2) | (b >> 4)
    if (left === 3) bytes[at] = (b << 4) | (c >> 2)
    if ((left === 3 ? c & 3 : b & 15) !== 0) return undefined
  }
  return seen < 64 ? bytes : undefined
}

/**
 * Compares two strings, in a time that depends on their lengths alone.
 * @param a - the stored one
 * @param b - the presented one
 */
export function constantTimeEqual(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let index = 0; index < a.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index)
  return difference === 0
}

function codeOf(bits: number): number {
  return CODES[bits & 63] as number // the table has all 64
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] as number // the callers stay inside
}

/** Returns the 6 bits that a character stands for; 64 for one outside the alphabet. */
function bitsAt(text: string, index: number): number {
  return VALUES[text.charCodeAt(index)] ?? 64
}
