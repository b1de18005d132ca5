/**
 * The ways in which a secret could have been written down, and credentials that a thief makes of what was.
 * @module
 */
import { createHash } from 'node:crypto'
import type { ClientKey, CredentialKind, GrantId } from 'grantwell/core'
import { parseCredential, printCredential } from 'grantwell/core'
import { expect } from 'vitest'
import { secretFrom } from '../../src/core/credentials/credential.js'

/** Length of the piece of a secret that would be too much to find: 72 bits. */
const PIECE = 12

/** Returns what of a text nobody may read: of a credential its secret, of an issued client secret what is random, else all of it. */
export function secretPart(text: string): string {
  return parseCredential(text)?.secret ?? text.replace(/^gws_/, '')
}

/** Returns the bytes that a secret is made of; those of its text where it has no others. */
function bytesOf(text: string): Buffer {
  const secret = parseCredential(text)?.secret
  return secret === undefined ? Buffer.from(text) : Buffer.from(secret, 'base64url')
}

/** Returns the spellings of a secret that nobody else may have: the first is the whole, the rest are of its bytes and of its text. */
export function spellingsOf(text: string): readonly string[] {
  const wholes = [bytesOf(text), Buffer.from(secretPart(text))]
  return [
    text,
    ...wholes.flatMap((bytes) => [
      bytes.toString('base64url'),
      bytes.toString('base64'),
      bytes.toString('hex'),
      JSON.stringify([...bytes]).slice(1, -1),
    ]),
  ]
}

/** Returns the digests of a secret, which the store has and nobody else. */
export function digestsOf(text: string): readonly string[] {
  return [bytesOf(text), Buffer.from(text)].flatMap((bytes) => {
    const digest = createHash('sha256').update(bytes).digest()
    return [digest.toString('base64url'), digest.toString('hex')]
  })
}

/** Expects that a text has no piece of any of these secrets. */
export function expectNoPiece(text: string, secrets: Iterable<string>): void {
  const pieces = new Set<string>()
  for (let index = 0; index + PIECE <= text.length; index++) pieces.add(text.slice(index, index + PIECE))
  for (const secret of secrets) {
    for (const spelling of spellingsOf(secret)) expect(text).not.toContain(spelling)
    const part = secretPart(secret)
    for (let index = 0; index + PIECE <= part.length; index++)
      expect(pieces.has(part.slice(index, index + PIECE)), part.slice(index, index + PIECE)).toBe(false)
  }
}

/** Makes credentials with a digest in the place of a secret: by its bytes, and by the beginning of its text. */
export function credentialsOf(
  kind: CredentialKind,
  clientKey: ClientKey,
  grantId: GrantId,
  digest: string,
): readonly string[] {
  return [secretFrom(Buffer.from(digest, 'base64url')), secretFrom(Buffer.from(digest))].map((secret) =>
    printCredential({ kind, clientKey, grantId, secret }),
  )
}
