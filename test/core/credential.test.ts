/**
 * Credentials (DESIGN, "The one idea"): a total reading, one spelling, and a prefix for each kind.
 * @module
 */
import * as fc from 'fast-check'
import type { GrantId } from 'grantwell'
import type { ClientKey, Credential, CredentialKind } from 'grantwell/core'
import { CREDENTIAL_PREFIXES, parseCredential, parseGrantId, printCredential } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { encodeBase64url } from '../../src/core/credentials/base64url.js'
import { CLIENT_SECRET_PREFIX, credentialAt, grantIdOf, secretFrom } from '../../src/core/credentials/credential.js'
import { anyText } from './texts.js'

const KINDS: readonly CredentialKind[] = ['code', 'access_token', 'refresh_token', 'device_code']

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

/** A credential, and the 48 bytes that it ends in. */
const sample = fc
  .tuple(fc.constantFrom(...KINDS), bytes(12), bytes(16), bytes(32))
  .map(
    ([kind, key, id, secret]): { readonly said: Credential; readonly id: Uint8Array; readonly secret: Uint8Array } => ({
      said: {
        kind,
        clientKey: encodeBase64url(key) as ClientKey, // 12 bytes, as a client key is
        grantId: grantIdOf(id),
        secret: encodeBase64url(secret),
      },
      id,
      secret,
    }),
  )

const credential: fc.Arbitrary<Credential> = sample.map(({ said }) => said)

/** A credential with one fault, of the kind that a copy or an attempt has. */
const damaged = fc
  .tuple(credential.map(printCredential), fc.nat(84), anyText({ maxLength: 2 }), fc.nat(2))
  .map(([text, at, put, taken]) => text.slice(0, at) + put + text.slice(at + taken))

describe('a credential', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(credential, (said) => {
        expect(parseCredential(printCredential(said))).toEqual(said)
      }),
    )
  })

  it('is a prefix of its kind and three fields of base64url: 16, 22 and 43 characters', () => {
    fc.assert(
      fc.property(sample, ({ said, id, secret }) => {
        const text = printCredential(said)
        expect(text).toHaveLength(85)
        expect(text.slice(0, 4)).toBe(CREDENTIAL_PREFIXES[said.kind])
        expect(text.slice(4, 20)).toBe(said.clientKey)
        expect(text.slice(20, 42)).toBe(Buffer.from(id).toString('base64url'))
        expect(text.slice(42)).toBe(Buffer.from(secret).toString('base64url'))
      }),
    )
  })

  it('ends in its secret, 43 characters that 32 bytes make', () => {
    fc.assert(
      fc.property(sample, ({ said, secret }) => {
        const given = secret.slice()
        expect(secretFrom(given)).toBe(said.secret)
        expect(given).toEqual(secret)
        expect(printCredential(said).endsWith(said.secret)).toBe(true)
      }),
    )
  })

  it('is read at the end of a text as it is alone, and nowhere else', () => {
    fc.assert(
      fc.property(fc.oneof(credential.map(printCredential), damaged), anyText({ maxLength: 20 }), (text, before) => {
        expect(credentialAt(before + text, before.length)).toEqual(parseCredential(text))
        expect(credentialAt(`${before}${text}x`, before.length)).toEqual(parseCredential(`${text}x`))
        expect(credentialAt(`${text}${text}`, text.length)).toEqual(parseCredential(text))
        expect(credentialAt(`${text}${text}`, 0)).toBeUndefined()
      }),
    )
  })

  it('has one spelling: what is read writes itself, whatever the string, and everything else is refused without a throw', () => {
    const anything = fc.oneof(
      damaged,
      anyText({ maxLength: 100 }),
      fc
        .tuple(fc.constantFrom('gwa_', 'gwr_', 'gwc_', 'gws_'), fc.stringMatching(/^[\w-]{70,90}$/))
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(anything, (text) => {
        const said = parseCredential(text)
        expect(said === undefined ? text : printCredential(said)).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  it('of any other length is refused', () => {
    fc.assert(
      fc.property(credential.map(printCredential), fc.nat(85), (text, length) => {
        expect(parseCredential(text.slice(0, length))).toEqual(length === 85 ? parseCredential(text) : undefined)
        expect(parseCredential(`${text}A`)).toBeUndefined()
        expect(parseCredential(text + text)).toBeUndefined()
      }),
    )
  })

  it('with one character outside base64url is refused, wherever it stands', () => {
    const outside = fc.constantFrom('=', '+', '/', ' ', '\n', '\0', '.', '~', 'é', 'Ａ', '\u0141')
    fc.assert(
      fc.property(credential.map(printCredential), fc.integer({ min: 4, max: 84 }), outside, (text, at, character) => {
        expect(parseCredential(text.slice(0, at) + character + text.slice(at + 1))).toBeUndefined()
      }),
    )
  })

  const text = printCredential({
    kind: 'access_token',
    clientKey: 'A'.repeat(16) as ClientKey, // 12 bytes
    grantId: 'B'.repeat(21).concat('A') as GrantId, // 16 bytes, no bit to spare
    secret: secretFrom(new Uint8Array(32).fill(7)),
  })

  it.each([
    ['nothing', ''],
    ['a prefix alone', 'gwa_'],
    ['no prefix', `____${text.slice(4)}`],
    ['a prefix in capitals', text.replace('gwa_', 'GWA_')],
    ['the prefix of a client secret', text.replace('gwa_', CLIENT_SECRET_PREFIX)],
    ['a name of every object', `__proto__${text.slice(9)}`],
    ['another name of every object', 'constructor'],
    ['a space before', ` ${text}`],
    ['a space in place of the last character', `${text.slice(0, 83)} `],
    ['a line break behind', `${text}\n`],
    ['a grant identifier whose last character has a bit that 16 bytes do not need', text.replace(/A(?=.{43}$)/, 'B')],
    ['quotes around', `"${text}"`],
  ])('%s is none', (_, wrong) => {
    expect(parseCredential(text)).toBeDefined()
    expect(parseCredential(wrong)).toBeUndefined()
  })
})

describe('the kinds', () => {
  it('have these prefixes, which secret scanners know, all different from each other and from that of client secrets', () => {
    expect(CREDENTIAL_PREFIXES).toEqual({
      code: 'gwc_',
      access_token: 'gwa_',
      refresh_token: 'gwr_',
      device_code: 'gwd_',
    })
    expect(CLIENT_SECRET_PREFIX).toBe('gws_')
  })

  it('[29] another prefix makes it another kind, and nothing is two kinds', () => {
    fc.assert(
      fc.property(credential, fc.constantFrom(...KINDS), (said, kind) => {
        const swapped = CREDENTIAL_PREFIXES[kind] + printCredential(said).slice(4)
        expect(parseCredential(swapped)).toEqual({ ...said, kind })
      }),
    )
  })
})

describe('a grant identifier', () => {
  it('is the base64url of 16 bytes, and nothing else', () => {
    expect(parseGrantId('A'.repeat(22))).toBe('A'.repeat(22))
    for (const wrong of [
      '',
      'A'.repeat(21),
      'A'.repeat(23),
      `${'A'.repeat(21)}B`,
      `${'A'.repeat(21)}=`,
      `${'A'.repeat(21)} `,
    ])
      expect(parseGrantId(wrong), wrong).toBeUndefined()
  })
})
