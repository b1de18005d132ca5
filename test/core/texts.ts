/**
 * Strings of every kind.
 * @module
 */
import * as fc from 'fast-check'

/** Any UTF-16 code unit: half a character and NUL too, and often enough one of ASCII. */
const codeUnit = fc
  .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.nat(0xff), fc.nat(0xffff))
  .map((code) => String.fromCharCode(code))

/** Any string that there is in the language, one that is no Unicode too. */
export const anyText = (
  limits: { readonly minLength?: number; readonly maxLength?: number } = {},
): fc.Arbitrary<string> => fc.string({ unit: codeUnit, ...limits })
