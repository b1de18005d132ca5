/**
 * SHA-256, HMAC, HKDF and base64url: the official vectors, and what the runtime's own WebCrypto gives.
 * @module
 * @see RFC 4231, RFC 4648, RFC 5869, RFC 7636
 */
import fc from 'fast-check'
import { portableDigests } from 'grantwell'
import { clientKeyOf, parseClientId } from 'grantwell/core'
// These two are no part of the public API: bundled from the sources, they are the code that the build has too.
import { decodeBase64url, encodeBase64url } from '../../../src/core/credentials/base64url.js'
import { hkdf } from '../../../src/core/credentials/digests.js'
import base64urlVectors from '../../core/vectors/base64url.json' with { type: 'json' }
import hkdfVectors from '../../core/vectors/hkdf-sha256.json' with { type: 'json' }
import hmacVectors from '../../core/vectors/hmac-sha256.json' with { type: 'json' }
import s256 from '../../core/vectors/s256.json' with { type: 'json' }
import type { Case, Suite } from './case.js'
import { bytesOf, demand, hexOf, platformBase64url, SEED, same } from './case.js'

const { sha256, hmacSha256 } = portableDigests

const SHA256_VECTORS = [
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
] as const

const bytes = fc.uint8Array({ maxLength: 200 }).map((some) => Uint8Array.from(some))

const vectors: readonly Case[] = [
  ...SHA256_VECTORS.map(([text, digest]) => ({
    name: `SHA-256 of "${text}" (FIPS 180-2, appendix B), of the string and of its bytes`,
    run: () => {
      same(sha256(text), platformBase64url(bytesOf(digest)), 'of the string')
      same(sha256(new TextEncoder().encode(text)), platformBase64url(bytesOf(digest)), 'of its bytes')
    },
  })),
  {
    name: `the challenge of a verifier (${s256.source})`,
    run: () => same(sha256(s256.verifier), s256.challenge, 'the challenge'),
  },
  ...hmacVectors.cases.map(({ name, key, data, output }) => ({
    name: `HMAC-SHA-256, ${name} (${hmacVectors.source})`,
    run: () => {
      const computed = hmacSha256(bytesOf(key), bytesOf(data))
      same(computed.length, 32, 'the length')
      same(hexOf(computed).slice(0, output.length), output, 'the output')
    },
  })),
  ...hkdfVectors.cases.map(({ name, keyMaterial, salt, info, length, extracted, output }) => ({
    name: `HKDF, ${name} (${hkdfVectors.source})`,
    run: () => {
      same(hexOf(hmacSha256(bytesOf(salt), bytesOf(keyMaterial))), extracted, 'the extracted key')
      const found = hkdf(portableDigests, bytesOf(keyMaterial), bytesOf(salt), bytesOf(info), length)
      same(hexOf(found), output, 'the output')
    },
  })),
  {
    name: `base64url (${base64urlVectors.source})`,
    run: () => {
      for (const { bytes: hex, text } of base64urlVectors.cases) {
        same(encodeBase64url(bytesOf(hex)), text, hex)
        same(decodeBase64url(text), bytesOf(hex), text)
      }
    },
  },
]

const beside: readonly Case[] = [
  {
    name: 'SHA-256 is that of WebCrypto, of any bytes and of any string, one that is no Unicode too',
    run: async () => {
      const text = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 80 })
      await tried(fc.tuple(bytes, text), async ([data, string]) => {
        same(sha256(data), await platformSha256(data), 'of bytes')
        same(sha256(string), await platformSha256(new TextEncoder().encode(string)), 'of a string')
      })
    },
  },
  {
    name: 'HMAC and HKDF are those of WebCrypto',
    run: () => {
      const key = fc.uint8Array({ minLength: 1, maxLength: 200 }).map((some) => Uint8Array.from(some))
      return tried(
        fc.tuple(key, bytes, bytes, fc.integer({ min: 1, max: 130 })),
        async ([secret, salt, info, length]) => {
          const { subtle } = globalThis.crypto
          const hmacKey = await subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
          const signature = new Uint8Array(await subtle.sign('HMAC', hmacKey, info))
          same(hexOf(hmacSha256(secret, info)), hexOf(signature), 'HMAC')
          const material = await subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits'])
          const parameters = { name: 'HKDF', hash: 'SHA-256', salt, info }
          const derived = new Uint8Array(await subtle.deriveBits(parameters, material, length * 8))
          same(hexOf(hkdf(portableDigests, secret, salt, info, length)), hexOf(derived), 'HKDF')
        },
      )
    },
  },
  {
    name: 'base64url is what the platform writes, and reads back what it wrote',
    run: () =>
      tried(bytes, (some) => {
        same(encodeBase64url(some), platformBase64url(some), 'written')
        same(decodeBase64url(encodeBase64url(some)), some, 'read back')
      }),
  },
  {
    name: 'the key of a client is the same on every runtime, whatever its identifier',
    run: () => {
      const ids = ['web', 'https://app.example/', 'with blank'].map(parseClientId)
      const keys = ids.map((id) => (id === undefined ? 'none' : clientKeyOf(portableDigests, id)))
      demand(
        keys.every((key) => /^([\w-]{16}|none)$/.test(key)),
        `${keys}`,
      )
      return keys.join(' ')
    },
  },
]

async function platformSha256(data: Uint8Array<ArrayBuffer>): Promise<string> {
  return platformBase64url(new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', data)))
}

async function tried<Value>(values: fc.Arbitrary<Value>, holds: (value: Value) => Promise<void> | void): Promise<void> {
  await fc.assert(
    fc.asyncProperty(values, async (value) => holds(value)),
    { seed: SEED, numRuns: 100 },
  )
}

export const digests: Suite = { title: 'digests', cases: () => [...vectors, ...beside] }
