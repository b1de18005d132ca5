/**
 * Client identifiers.
 * @module
 */
import * as fc from 'fast-check'
import { parseClientId } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { anyText } from './texts.js'

describe('a client identifier (RFC 6749, appendix A.1)', () => {
  it('is any string of 1 to 255 printable ASCII characters, and comes back as it was', () => {
    const printable = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 255,
    })
    fc.assert(
      fc.property(printable, (text) => {
        expect(parseClientId(text)).toBe(text)
      }),
    )
  })

  it.each([
    ['one character', 'x', true],
    ['255 characters', 'x'.repeat(255), true],
    ['256 characters', 'x'.repeat(256), false],
    ['nothing', '', false],
    ['the first printable one', '\x20', true],
    ['the last printable one', '\x7e', true],
    ['the one before', '\x1f', false],
    ['the one after', '\x7f', false],
    ['a line break at its end', 'web\n', false],
    ['a NUL', 'web\0', false],
    ['a letter outside ASCII', 'wéb', false],
  ])('%s', (_, text, accepted) => {
    expect(parseClientId(text)).toBe(accepted ? text : undefined)
  })

  it('is nothing that has one character outside, wherever it stands', () => {
    const outside = anyText({ minLength: 1, maxLength: 1 }).filter((one) => !/^[\x20-\x7e]$/.test(one))
    fc.assert(
      fc.property(
        fc.stringMatching(/^[\x20-\x7e]{0,20}$/),
        outside,
        fc.stringMatching(/^[\x20-\x7e]{0,20}$/),
        (a, b, c) => {
          expect(parseClientId(a + b + c)).toBeUndefined()
        },
      ),
    )
  })
})
