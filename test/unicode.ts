/**
 * Texts of any code points, for properties.
 * @module
 */
import fc from 'fast-check'

/** The first half of a surrogate pair, and how many halves there are: none of them is a character. */
const [HALF, HALVES] = [0xd800, 0x800]

/** Any code point but half a pair, those near zero more often. */
const codePoint = fc
  .integer({ min: 0, max: 0x10_ffff - HALVES })
  .map((index) => String.fromCodePoint(index < HALF ? index : index + HALVES), indexOf)

/** Reverses the above, which the arbitrary needs to shrink, and to mix in words such as `__proto__`. */
function indexOf(text: unknown): number {
  const found = typeof text === 'string' ? text.codePointAt(0) : undefined
  if (found === undefined || text !== String.fromCodePoint(found) || (found >= HALF && found < HALF + HALVES)) {
    throw new TypeError(`must be one code point; got ${JSON.stringify(text)}`)
  }
  return found < HALF ? found : found - HALVES
}

/**
 * Makes what `fc.string({ unit: 'binary' })` makes. That one writes a table of a million code points at its first use, which takes two
 * seconds in each process.
 */
export function unicodeText(lengths: { readonly minLength?: number; readonly maxLength?: number } = {}) {
  return fc.string({ ...lengths, unit: codePoint })
}
