/**
 * base64url: one spelling for every value, and a comparison that looks at everything.
 * @module
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { constantTimeEqual, decodeBase64url, encodeBase64url } from '../../src/core/credentials/base64url.js'
import { Counted } from './counted.js'
import { anyText } from './texts.js'
import vectors from './vectors/base64url.json' with { type: 'json' }

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))

describe(`base64url (${vectors.source})`, () => {
  it.each(vectors.cases)('$bytes is written "$text", and read back', ({ bytes, text }) => {
    expect(encodeBase64url(bytesOf(bytes))).toBe(text)
    expect(decodeBase64url(text)).toEqual(bytesOf(bytes))
  })

  it('writes what the platform writes, and reads back what it wrote', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = encodeBase64url(bytes)
        expect(text).toBe(Buffer.from(bytes).toString('base64url'))
        expect(decodeBase64url(text)).toEqual(bytes)
      }),
    )
  })
})

describe('of many bytes', () => {
  it('it is written as the platform writes it, whatever the length, and read back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 100, maxLength: 1500 }), (bytes) => {
        const text = encodeBase64url(bytes)
        expect(text).toBe(Buffer.from(bytes).toString('base64url'))
        expect(decodeBase64url(text)).toEqual(bytes)
      }),
    )
    const bytes = Uint8Array.from({ length: 600 }, (_, index) => index * 37)
    for (let length = 0; length <= bytes.length; length++) {
      const some = bytes.subarray(0, length)
      if (encodeBase64url(some) !== Buffer.from(some).toString('base64url')) expect.fail(`${length} bytes`)
    }
  })
})

describe('a part of bytes', () => {
  it('is written as it would be alone, whatever stands beside it', () => {
    const part = fc.record({ begin: fc.nat({ max: 20 }), length: fc.nat({ max: 400 }), behind: fc.nat({ max: 5 }) })
    fc.assert(
      fc.property(part, fc.infiniteStream(fc.nat(255)), ({ begin, length, behind }, stream) => {
        const bytes = Uint8Array.from({ length: begin + length + behind }, () => stream.next().value ?? 0)
        const expected = Buffer.from(bytes.subarray(begin, begin + length)).toString('base64url')
        expect(encodeBase64url(bytes, begin, begin + length)).toBe(expected)
      }),
    )
  })
})

describe('reading is strict', () => {
  it('accepts no string but the one that writing gives, whatever the string', () => {
    const close = fc.string({ unit: fc.constantFrom(...ALPHABET, '=', '+', '/', ' ', '\n', 'é'), maxLength: 12 })
    fc.assert(
      fc.property(fc.oneof(close, anyText()), (text) => {
        const bytes = decodeBase64url(text)
        expect(bytes === undefined ? text : encodeBase64url(bytes)).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  it('refuses bits that no encoder leaves behind: of all texts of 2 letters 256 are values, of all of 3 letters 65,536', () => {
    let twos = 0
    let threes = 0
    for (const a of ALPHABET) {
      for (const b of ALPHABET) {
        if (decodeBase64url(a + b) !== undefined) twos++
        for (const c of ALPHABET) if (decodeBase64url(a + b + c) !== undefined) threes++
      }
    }
    expect([twos, threes]).toEqual([256, 65_536])
  })

  it('refuses every character outside the alphabet, in every place, one that shares its low bits with a letter too', () => {
    const places = ['?AAA', 'A?AA', 'AA?A', 'AAA?', 'AAAA?A', 'AAAA?AA', 'AAAAA?A']
    for (let code = 0; code < 0x10000; code++) {
      const character = String.fromCharCode(code)
      for (const place of places) {
        const read = decodeBase64url(place.replace('?', () => character)) !== undefined
        if (read !== ALPHABET.includes(character)) expect.fail(`U+${code.toString(16)} in ${place} is read: ${read}`)
      }
    }
  })

  it.each([
    ['padding', 'Zg=='],
    ['one sign of padding', 'Zm8='],
    ['the other alphabet', 'FPucA9l+'],
    ['the other alphabet', 'a/bc'],
    ['a space before', ' Zm9v'],
    ['a space behind', 'Zm9v '],
    ['a line break', 'Zm9v\n'],
    ['a tab inside', 'Zm\t9v'],
    ['trailing bits after one byte', 'Zh'],
    ['trailing bits after two bytes', 'Zm9'],
    ['one letter alone', 'Z'],
    ['one letter too many', 'Zm9vZ'],
    ['wide letters', 'Ｚｍ９ｖ'],
    ['a NUL', 'Zm9\0'],
    ['half a character', 'Zm9\ud800'],
  ])('refuses %s', (_, text) => {
    expect(decodeBase64url(text)).toBeUndefined()
  })
})

describe('the comparison of digests', () => {
  it('says whether two strings are equal', () => {
    const text = anyText({ maxLength: 50 })
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(constantTimeEqual(a, b)).toBe(a === b)
      }),
    )
    fc.assert(
      fc.property(text, (a) => {
        expect(constantTimeEqual(a, `${a}`)).toBe(true)
      }),
    )
  })

  it('finds one changed character, wherever it stands, and one more or less at the end', () => {
    const text = fc.string({ minLength: 1, maxLength: 50 })
    fc.assert(
      fc.property(text, fc.nat(), fc.integer({ min: 1, max: 0xffff }), (a, place, change) => {
        const at = place % a.length
        const other = a.slice(0, at) + String.fromCharCode(a.charCodeAt(at) ^ change) + a.slice(at + 1)
        expect(constantTimeEqual(a, other)).toBe(false)
        expect(constantTimeEqual(a, `${a}x`)).toBe(false)
        expect(constantTimeEqual(`${a}x`, a)).toBe(false)
        expect(constantTimeEqual(a, `${a}\0`)).toBe(false)
      }),
    )
  })

  it('looks at every character of both exactly once, wherever the first difference is', () => {
    const digest = 'd'.repeat(43)
    const everyPlace = Array.from({ length: 43 }, (_, index) => index)
    for (const at of [...everyPlace, undefined]) {
      const other = at === undefined ? digest : `${digest.slice(0, at)}X${digest.slice(at + 1)}`
      const stored = new Counted(digest)
      const presented = new Counted(other)
      expect(constantTimeEqual(stored.text, presented.text)).toBe(at === undefined)
      expect(stored.visited).toEqual(everyPlace)
      expect(presented.visited).toEqual(everyPlace)
    }
  })
})
