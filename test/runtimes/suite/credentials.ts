/**
 * Credentials: read as they were written, in one spelling, and everything else refused without a throw.
 * @module
 */
import fc from 'fast-check'
import { portableDigests } from 'grantwell'
import type { Credential, CredentialKind } from 'grantwell/core'
import {
  CREDENTIAL_PREFIXES,
  clientKeyOf,
  parseClientId,
  parseCredential,
  parseGrantId,
  printCredential,
} from 'grantwell/core'
import { unicodeText } from '../../unicode.js'
import type { Case, Suite } from './case.js'
import { demand, forAll, platformBase64url, same } from './case.js'

const KINDS: readonly CredentialKind[] = ['code', 'access_token', 'refresh_token', 'device_code']

const bytes = (length: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: length, maxLength: length })

/** A sound credential, and the two fields that it ends in. */
const sample = fc
  .tuple(fc.constantFrom(...KINDS), fc.stringMatching(/^[a-z]{1,20}$/), bytes(16), bytes(32))
  .map(([kind, client, id, secret]) => {
    const [clientId, grantId] = [parseClientId(client), parseGrantId(platformBase64url(id))]
    demand(clientId !== undefined && grantId !== undefined, `${client} and ${id} are sound`)
    const fields = [id, secret].map(platformBase64url)
    const clientKey = clientKeyOf(portableDigests, clientId)
    const said: Credential = { kind, clientKey, grantId, secret: platformBase64url(secret) }
    return { said, ending: fields.join('') }
  })

const printed = sample.map(({ said }) => printCredential(said))

/** With one fault, of the kind that a copy or an attempt has. */
const damaged = fc
  .tuple(printed, fc.nat(84), unicodeText({ maxLength: 2 }), fc.nat(2))
  .map(([text, at, put, taken]) => text.slice(0, at) + put + text.slice(at + taken))

const cases: readonly Case[] = [
  {
    name: 'one is read as it was written: a prefix, and fields of base64url as the platform writes them',
    run: () =>
      forAll(sample, ({ said, ending }) => {
        const text = printCredential(said)
        same(parseCredential(text), said, text)
        same(text, CREDENTIAL_PREFIXES[said.kind] + said.clientKey + ending, 'the text')
      }),
  },
  {
    name: 'one has one spelling: what is read writes itself, whatever the string',
    run: () =>
      forAll(
        fc.oneof(damaged, unicodeText({ maxLength: 100 })),
        (text) => {
          const said = parseCredential(text)
          if (said !== undefined) same(printCredential(said), text, 'written again')
        },
        1000,
      ),
  },
  {
    name: 'one of another length, with a character outside base64url or of another prefix is refused',
    run: () =>
      forAll(fc.tuple(printed, fc.integer({ min: 4, max: 84 })), ([text, at]) => {
        const wrong = [text.slice(0, at), `${text}A`, `gws_${text.slice(4)}`, `GWA_${text.slice(4)}`]
        for (const character of ['=', '+', '/', ' ', '\n', '\0', 'é', '\u0141'])
          wrong.push(text.slice(0, at) + character + text.slice(at + 1))
        for (const each of wrong) same(parseCredential(each), undefined, each)
      }),
  },
]

export const credentials: Suite = { title: 'credentials', cases: () => cases }
