/**
 * The key that goes with a token of the type `mac`.
 * @module
 * @see Specification, section 5.2; draft-ietf-oauth-v2-http-mac-01, section 5.1; RFC 5869
 */
import { hkdfSync } from 'node:crypto'
import * as fc from 'fast-check'
import { portableDigests } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { macKeyOf } from '../../src/core/credentials/mac.js'
import { entropyOf, RULES, secretWith } from './histories.js'

const BYTES = entropyOf(1).subarray(0, 32)
const SECRET = secretWith(BYTES)
const KEY = entropyOf(2).subarray(0, 32)

const withKey = (derivationKey: Uint8Array, digests = RULES.digests) => ({ ...RULES, digests, derivationKey })

/** The same by another implementation: what `node:crypto` derives of the secret as it is written, in ASCII. */
function derived(secret: string, derivationKey: Uint8Array): string {
  const salt = Buffer.from(secret, 'ascii')
  return Buffer.from(hkdfSync('sha256', derivationKey, salt, 'grantwell mac key 1', 32)).toString('base64url')
}

const bytes = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength })

describe('the key of a mac token', () => {
  it('is 43 visible characters, the same on every server that has the derivation key, with either digests', () => {
    const key = macKeyOf(SECRET, withKey(KEY))
    expect(key).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(macKeyOf(secretWith(BYTES.slice()), withKey(KEY.slice()))).toBe(key)
    expect(macKeyOf(SECRET, withKey(KEY, portableDigests))).toBe(key)
  })

  it('is what HKDF with SHA-256 derives of the derivation key, salted with the secret of the token', () => {
    fc.assert(
      fc.property(bytes(32, 32).map(secretWith), bytes(32, 100), (secret, derivationKey) => {
        expect(macKeyOf(secret, withKey(derivationKey))).toBe(derived(secret, derivationKey))
      }),
    )
  })

  it('[28] is another one for any other bit of the secret or of the derivation key', () => {
    const key = macKeyOf(SECRET, withKey(KEY))
    const flipped = (given: Uint8Array, bit: number): Uint8Array =>
      given.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
    const keys = new Set([key])
    for (let bit = 0; bit < 256; bit++) {
      keys.add(macKeyOf(secretWith(flipped(BYTES, bit)), withKey(KEY)))
      keys.add(macKeyOf(SECRET, withKey(flipped(KEY, bit))))
    }
    expect(keys.size).toBe(513)
  })

  it('is derived of the first key that there is, where the newest way is to have none', () => {
    const rules = { ...RULES, derivationKey: undefined, otherDerivationKeys: [undefined, KEY, entropyOf(3)] }
    expect(macKeyOf(SECRET, rules)).toBe(macKeyOf(SECRET, withKey(KEY)))
  })

  it('[28] is not made without a derivation key, which everybody could do who sees the token', () => {
    for (const rules of [RULES, { ...RULES, derivationKey: undefined }])
      expect(() => macKeyOf(SECRET, rules)).toThrow(new TypeError('grantwell: mac tokens need a derivationKey'))
    // What who sees the token and reads this source could try in its place.
    const none = new Uint8Array(0)
    const written = [SECRET, RULES.digests.sha256(SECRET), RULES.digests.sha256(BYTES)]
    const read = written.flatMap((text) => [Buffer.from(text, 'ascii'), Buffer.from(text, 'base64url')])
    for (const guess of [none, new Uint8Array(32), BYTES, ...read])
      expect(macKeyOf(SECRET, withKey(KEY))).not.toBe(derived(SECRET, guess))
  })
})
