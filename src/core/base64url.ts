/**
 * base64url without padding, strict in both directions, and a comparison that takes the same time for any difference.
 * @module
 * @see RFC 4648, section 5
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The two characters of every 12 bits: half as many steps as one character at a time. */
const PAIRS: readonly string[] = Array.from({ length: 4096 }, (_, bits) => letter(bits >> 6) + letter(bits))

/** The 6 bits of every character code; what is outside the alphabet has a bit that no value has. */
const VALUES = new Uint8Array(256).fill(64)
for (let value = 0; value < 64; value++) VALUES[ALPHABET.charCodeAt(value)] = value

/**
 * Writes bytes as base64url without padding.
 * @returns `ceil(bytes.length * 4 / 3)` characters
 */
export function encodeBase64url(bytes: Uint8Array): string {
  let text = ''
  let index = 0
  for (; index + 2 < bytes.length; index += 3) {
    const bits = (byteAt(bytes, index) << 16) | (byteAt(bytes, index + 1) << 8) | byteAt(bytes, index + 2)
    text += pair(bits >> 12) + pair(bits)
  }
  const left = bytes.length - index
  if (left === 1) return text + pair(byteAt(bytes, index) << 4)
  if (left === 0) return text
  const bits = (byteAt(bytes, index) << 8) | byteAt(bytes, index + 1)
  return text + pair(bits >> 4) + letter(bits << 2)
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
    const a = valueAt(text, index)
    const b = valueAt(text, index + 1)
    const c = valueAt(text, index + 2)
    const d = valueAt(text, index + 3)
    seen |= a | b | c | d
    bytes[at++] = (a << 2) | (b >> 4)
    bytes[at++] = (b << 4) | (c >> 2)
    bytes[at++] = (c << 6) | d
  }
  if (left > 0) {
    const a = valueAt(text, index)
    const b = valueAt(text, index + 1)
    const c = left === 3 ? valueAt(text, index + 2) : 0
    seen |= a | b | c
    bytes[at++] = (a << 2) | (b >> 4)
    if (left === 3) bytes[at] = (b << 4) | (c >> 2)
    if ((left === 3 ? c & 3 : b & 15) !== 0) return undefined
  }
  return seen < 64 ? bytes : undefined
}

/**
 * Whether two strings are equal, in a time that depends on their lengths alone.
 * @param a - the stored one
 * @param b - the presented one
 */
export function constantTimeEqual(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let index = 0; index < a.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index)
  return difference === 0
}

function letter(bits: number): string {
  return ALPHABET.charAt(bits & 63)
}

function pair(bits: number): string {
  return PAIRS[bits & 4095] as string // the table has all 4,096
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] as number // the callers stay inside
}

function valueAt(text: string, index: number): number {
  return VALUES[text.charCodeAt(index)] ?? 64
}
