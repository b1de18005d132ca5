/**
 * SHA-256, HMAC and HKDF: the vectors of their RFCs, and the same results from both implementations.
 * @module
 */
import { createHmac, hkdfSync } from 'node:crypto'
import * as fc from 'fast-check'
import type { Digests } from 'grantwell'
import { portableDigests } from 'grantwell'
import { clientKeyOf, parseClientId } from 'grantwell/core'
import { nodeDigests } from 'grantwell/node'
import { describe, expect, it } from 'vitest'
import { bytesOfAscii, concatenate, digestOf, hkdf } from '../../src/core/credentials/digests.js'
import hkdfVectors from './vectors/hkdf-sha256.json' with { type: 'json' }
import hmacVectors from './vectors/hmac-sha256.json' with { type: 'json' }
import s256 from './vectors/s256.json' with { type: 'json' }

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'))
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const bytes = fc.uint8Array({ maxLength: 200 })

describe.each([
  ['portableDigests', portableDigests],
  ['nodeDigests', nodeDigests],
])('%s', (_, digests: Digests) => {
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
  ])('SHA-256 of "%s" (FIPS 180-2, appendix B), of the string and of its bytes', (text, digest) => {
    const expected = Buffer.from(digest, 'hex').toString('base64url')
    expect(digests.sha256(text)).toBe(expected)
    expect(digests.sha256(Buffer.from(text))).toBe(expected)
  })

  it(`the challenge of a verifier (${s256.source})`, () => {
    expect(digests.sha256(s256.verifier)).toBe(s256.challenge)
  })

  it.each(hmacVectors.cases)(`HMAC-SHA-256, $name (${hmacVectors.source})`, ({ key, data, output }) => {
    const computed = digests.hmacSha256(bytesOf(key), bytesOf(data))
    expect(computed).toHaveLength(32)
    expect(hexOf(computed).slice(0, output.length)).toBe(output)
  })

  it('HMAC-SHA-256 as the platform computes it, of every length of key and data up to 200, neither of which it touches', () => {
    const [keys, values] = [37, 101].map((step) => Uint8Array.from({ length: 200 }, (_, index) => index * step + step))
    const [key, data] = [keys ?? expect.fail(), values ?? expect.fail()]
    const before = [hexOf(key), hexOf(data)]
    for (let ofKey = 0; ofKey <= 200; ofKey++) {
      for (let ofData = 0; ofData <= 200; ofData++) {
        const [k, d] = [key.subarray(0, ofKey), data.subarray(0, ofData)]
        const expected = createHmac('sha256', k).update(d).digest('hex')
        if (hexOf(digests.hmacSha256(k, d)) !== expected) expect.fail(`a key of ${ofKey} bytes, data of ${ofData}`)
      }
    }
    expect([hexOf(key), hexOf(data)]).toEqual(before)
    fc.assert(
      fc.property(bytes, bytes, bytes, bytes, (k, d, other, more) => {
        const computed = digests.hmacSha256(k, d)
        const then = hexOf(computed)
        // The next one takes nothing from the one before.
        digests.hmacSha256(other, more)
        expect([hexOf(computed), then]).toEqual(Array(2).fill(createHmac('sha256', k).update(d).digest('hex')))
      }),
    )
  })

  it.each(hkdfVectors.cases)(`HKDF, $name (${hkdfVectors.source})`, (vector) => {
    const { keyMaterial, salt, info, length, extracted, output } = vector
    expect(hexOf(digests.hmacSha256(bytesOf(salt), bytesOf(keyMaterial)))).toBe(extracted)
    expect(hexOf(hkdf(digests, bytesOf(keyMaterial), bytesOf(salt), bytesOf(info), length))).toBe(output)
  })
})

describe('an HMAC of node:crypto that fails', () => {
  it('throws a TypeError, and the next one is right', () => {
    const key = new Uint8Array(64).fill(1)
    const unreadable = [Symbol('no byte')] as unknown as Uint8Array // what a caller without types may pass
    expect(() => nodeDigests.hmacSha256(key, unreadable)).toThrow(TypeError)
    const [shorter, data] = [Uint8Array.of(2), Uint8Array.of(3)]
    const expected = createHmac('sha256', shorter).update(data).digest('hex')
    expect(hexOf(nodeDigests.hmacSha256(shorter, data))).toBe(expected)
  })
})

describe('both implementations', () => {
  it('give equal results for any bytes, and for any string, one that is no Unicode too', () => {
    fc.assert(
      fc.property(
        bytes,
        bytes,
        fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }),
        (a, b, text) => {
          expect(portableDigests.sha256(a)).toBe(nodeDigests.sha256(a))
          expect(portableDigests.sha256(text)).toBe(nodeDigests.sha256(text))
          expect(hexOf(portableDigests.hmacSha256(a, b))).toBe(hexOf(nodeDigests.hmacSha256(a, b)))
          expect(hexOf(hkdf(portableDigests, a, b, b, 64))).toBe(hexOf(hkdf(nodeDigests, a, b, b, 64)))
        },
      ),
    )
  })
})

describe('HKDF', () => {
  it('is the HKDF of the platform, for every length up to the greatest', () => {
    const length = fc.oneof(fc.integer({ min: 0, max: 130 }), fc.constant(8160))
    fc.assert(
      fc.property(bytes, bytes, bytes, length, (keyMaterial, salt, info, wanted) => {
        const expected = new Uint8Array(hkdfSync('sha256', keyMaterial, salt, info, wanted))
        expect(hexOf(hkdf(nodeDigests, keyMaterial, salt, info, wanted))).toBe(hexOf(expected))
      }),
    )
  })
})

describe('what digests are used for', () => {
  it('a secret is stored as its SHA-256, 43 characters of base64url', () => {
    fc.assert(
      fc.property(bytes, (secret) => {
        expect(digestOf(portableDigests, secret)).toBe(portableDigests.sha256(secret))
        expect(digestOf(portableDigests, secret)).toMatch(/^[A-Za-z0-9_-]{43}$/)
      }),
    )
  })

  it("a client's key is the first 12 bytes of the SHA-256 of its identifier", () => {
    const web = parseClientId('web')
    if (web === undefined) throw new Error('a client identifier')
    const digest = Buffer.from(portableDigests.sha256('web'), 'base64url')
    expect(clientKeyOf(portableDigests, web)).toBe(digest.subarray(0, 12).toString('base64url'))
  })

  it('the bytes of ASCII are those of its UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 100 }), (text) => {
        expect([...bytesOfAscii(text)]).toEqual([...Buffer.from(text)])
      }),
    )
  })

  it('parts are put one after the other', () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 5 }), (parts) => {
        expect([...concatenate(...parts)]).toEqual(parts.flatMap((part) => [...part]))
      }),
    )
  })
})
