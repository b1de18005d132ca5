/**
 * User codes: how they are made, typed and kept.
 * @module
 * @see RFC 8628, sections 5.1 and 6.1
 */
import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { portableDigests } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { describe, expect, it } from 'vitest'
import {
  parseUserCode,
  printUserCode,
  USER_CODE_ENTROPY_BYTES,
  userCodeDigest,
  userCodeOf,
} from '../../src/core/credentials/user-code.js'
import { randomOf } from '../storage/farm.js'
import { entropyOf } from './histories.js'
import { anyText } from './texts.js'

/** RFC 8628, section 6.1: base 20, without vowels and without look-alikes. */
const ALPHABET = [...'BCDFGHJKLMNPQRSTVWXZ']
const CODES = 20n ** 8n

/** A number as so many bytes, the highest first. */
function bytesOf(number: bigint, length = USER_CODE_ENTROPY_BYTES): Uint8Array {
  return Uint8Array.from(Buffer.from(number.toString(16).padStart(2 * length, '0'), 'hex'))
}

/** The number that a code spells, each letter a digit, the first the lowest. */
function numberOf(code: string): bigint {
  return [...code].reduceRight((sum, letter) => sum * 20n + BigInt(ALPHABET.indexOf(letter)), 0n)
}

const entropy = fc.uint8Array({ minLength: USER_CODE_ENTROPY_BYTES, maxLength: USER_CODE_ENTROPY_BYTES })
const codes = entropy.map(userCodeOf)

describe('a user code', () => {
  it('is eight letters of the alphabet of base 20', () => {
    fc.assert(
      fc.property(codes, (code) => {
        expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/)
      }),
    )
    expect(new Set(ALPHABET).size).toBe(20)
  })

  it('[44] is its entropy modulo 20^8, so no code is likelier than another by more than one in 2^93', () => {
    expect(USER_CODE_ENTROPY_BYTES).toBe(16)
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 128n - 1n), (number) => {
        expect(numberOf(userCodeOf(bytesOf(number)))).toBe(number % CODES)
      }),
      { numRuns: 2_000 },
    )
    // So many numbers give each code, or one more.
    expect(2n ** 128n / CODES).toBeGreaterThan(2n ** 93n)
  })

  it('[44] of every residue is another one: all 400 pairs of letters at all four places, once each', () => {
    for (let place = 0n; place < 4n; place++) {
      const seen = new Set<string>()
      for (let digits = 0n; digits < 400n; digits++) seen.add(userCodeOf(bytesOf(digits * 400n ** place)))
      expect(seen.size).toBe(400)
      const at = 2 * Number(place)
      expect(new Set([...seen].map((code) => code.slice(at, at + 2))).size).toBe(400)
    }
  })

  it('[44] has every letter at every place alike (chi-square, with a seed)', () => {
    const random = randomOf(8628)
    const draws = 20_000
    const counts = Array.from({ length: 8 }, () => new Map<string, number>())
    for (let draw = 0; draw < draws; draw++) {
      const code = userCodeOf(Uint8Array.from({ length: USER_CODE_ENTROPY_BYTES }, () => random(256)))
      counts.forEach((count, place) => {
        const letter = code.charAt(place)
        count.set(letter, (count.get(letter) ?? 0) + 1)
      })
    }
    for (const count of counts) {
      const expected = draws / 20
      const chiSquare = ALPHABET.reduce((sum, letter) => sum + ((count.get(letter) ?? 0) - expected) ** 2 / expected, 0)
      expect(chiSquare).toBeLessThan(43.8) // of 19 degrees of freedom, one in a thousand has more
    }
  })

  it('is shown in two groups of four, and read back from what is shown', () => {
    fc.assert(
      fc.property(codes, (code) => {
        const shown = printUserCode(code)
        expect(shown).toBe(`${code.slice(0, 4)}-${code.slice(4)}`)
        expect(parseUserCode(shown)).toBe(code)
        expect(parseUserCode(code)).toBe(code)
      }),
    )
  })
})

describe('a user code that a person typed', () => {
  const CODE = parseUserCode('WDJBMJHT')

  it.each([
    ['wdjb-mjht'],
    ['WDJB MJHT'],
    ['  wdjbmjht\t'],
    ['W-D-J-B-M-J-H-T'],
    ['WDJB—MJHT'], // an em dash, as phones make of two
    ['WDJB–MJHT'],
    ['WDJB‐MJHT'],
    ['WDJB\u00A0MJHT'],
    ['wDjB.mJhT.'],
    ['"WDJB_MJHT"'],
    ['\u200EWDJB\u200B-MJHT'], // marks that come along with copied text
    ['WDJBÉMJHT'], // no letter that a code could have, so it stands between them like any other mark
  ])('is read whatever its case and what stands between: %j', (text) => {
    expect(CODE).toBe('WDJBMJHT')
    expect(parseUserCode(text)).toBe(CODE)
  })

  it('is read from any case with any marks between (property)', () => {
    const between = anyText({ maxLength: 3 }).map((text) => text.replace(/[A-Za-z0-9]/g, ''))
    fc.assert(
      fc.property(codes, fc.array(fc.tuple(between, fc.boolean()), { minLength: 8, maxLength: 8 }), (code, extras) => {
        const typed = extras.map(([marks, lower], place) => {
          const letter = code.charAt(place)
          return marks + (lower ? letter.toLowerCase() : letter)
        })
        expect(parseUserCode(typed.join(''))).toBe(code)
      }),
    )
  })

  it.each([
    [''],
    ['-'],
    ['WDJBMJH'],
    ['WDJBMJHTT'],
    ['WDJBMJHA'], // a vowel
    ['WDJBMJH0'],
    ['WDJB-MJHT-1'],
    ['ßDJBMJHT'], // upper case of which is SS
    ['ßßßßßßßß'],
    ['ſSSSSSSS'], // a long s, upper case of which is S
    ['WDJBMJHı'], // dotless i, upper case of which is I
    ['\u212ADJBMJHT'], // the Kelvin sign, lower case of which is k
    ['ＷＤＪＢＭＪＨＴ'], // full width
    ['ﬀﬀﬀﬀ'], // ligatures, upper case of which is FF
    ['ВDЈВМЈНТ'], // Cyrillic look-alikes
    ['W\u0000'],
    ['\uD800'],
  ])('is none where it has not eight letters of the alphabet: %j', (text) => {
    expect(parseUserCode(text)).toBeUndefined()
  })

  it('is eight letters of the alphabet or none, of any text', () => {
    const unit = fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...'BCDFwxz') },
      { weight: 2, arbitrary: fc.constantFrom(...'- \u{e9}') },
      { weight: 1, arbitrary: fc.constantFrom(...'A1') },
    )
    const near = fc.string({ unit, minLength: 7, maxLength: 10 })
    let read = 0
    fc.assert(
      fc.property(fc.oneof(anyText({ maxLength: 40 }), near), (text) => {
        const code = parseUserCode(text)
        const letters = text.replace(/[^A-Za-z0-9]/g, '').toUpperCase()
        expect(code).toBe(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/.test(letters) ? code && letters : undefined)
        read += Number(code !== undefined)
      }),
      { numRuns: 300 },
    )
    // About 19; most texts are no code.
    expect(read).toBeGreaterThan(0)
  })

  it('is none where a million characters come', () => {
    for (const text of ['W'.repeat(1_000_000), '-'.repeat(1_000_000), 'ß'.repeat(1_000_000)])
      expect(parseUserCode(text)).toBeUndefined()
  })
})

describe('the digest under which a code is stored', () => {
  const key = entropyOf(1).subarray(0, 32)

  it('is an HMAC of it under the server’s key, or one of zeros, with portable and with Node’s digests', () => {
    fc.assert(
      fc.property(codes, fc.boolean(), (code, keyed) => {
        const by = keyed ? key : undefined
        const expected = createHmac('sha256', by ?? new Uint8Array(32))
          .update(`grantwell user code ${code}`)
          .digest('base64url')
        expect(userCodeDigest(code, nodeDigests, by)).toBe(expected)
        expect(userCodeDigest(code, portableDigests, by)).toBe(expected)
        expect(expected).toMatch(/^[\w-]{43}$/)
        expect(expected.toUpperCase()).not.toContain(code)
      }),
      { numRuns: 50 },
    )
  })

  it('is another one for another code, and for another key', () => {
    fc.assert(
      fc.property(codes, codes, (one, other) => {
        fc.pre(one !== other)
        expect(userCodeDigest(one, nodeDigests)).not.toBe(userCodeDigest(other, nodeDigests))
        expect(userCodeDigest(one, nodeDigests, key)).not.toBe(userCodeDigest(one, nodeDigests))
      }),
    )
  })
})
