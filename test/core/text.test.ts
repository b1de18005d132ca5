/**
 * The length of a text as its reader sees it.
 * @module
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isWithin } from '../../src/core/text.js'

it('counts the characters that a person sees, in ASCII as everywhere', () => {
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
  const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 12 })
  const any = fc.string({ unit: 'grapheme', maxLength: 12 })
  const lineEnds = fc.string({ unit: fc.constantFrom('a', '\r\n', '\n', '\t', '\r'), maxLength: 12 })
  fc.assert(
    fc.property(fc.oneof(ascii, any, lineEnds), fc.nat({ max: 14 }), (text, limit) => {
      fc.pre(text.length <= limit * 16)
      const segments = [...segmenter.segment(text)]
      const isShort = segments.length <= limit && segments.every(({ segment }) => segment.length <= 32)
      expect(isWithin(text, limit)).toBe(isShort)
    }),
    { numRuns: 2_000 },
  )
})
