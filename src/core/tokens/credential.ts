/**
 * Credentials: what each of them says, and how it is written.
 *
 *     <prefix><base64url( client key, 12 bytes | grant id, 16 bytes | secret, 32 bytes )>
 *
 * A credential names the two records that decide on it, so no index is read to find them; the store holds only the
 * SHA-256 of its secret, as it is written: so nothing is decoded to look one up. The prefix tells its kind, to us and to a scanner that looks for leaked secrets.
 * @module
 */

import type { ClientKey, GrantId } from '../values.js'
import { bitsAt, decodeBase64url, encodeBase64url, encodeBlock } from './base64url.js'

/** The kinds of credential. */
export type CredentialKind = 'code' | 'access_token' | 'refresh_token' | 'device_code'

/** What a credential says. */
export interface Credential {
  readonly kind: CredentialKind
  readonly clientKey: ClientKey
  readonly grantId: GrantId
  /** Its last 43 characters: 32 bytes, behind the last two bits of the grant identifier. */
  readonly secret: string
}

/** How each kind of credential begins. */
export const CREDENTIAL_PREFIXES: { readonly [Kind in CredentialKind]: string } = {
  code: 'gwc_',
  access_token: 'gwa_',
  refresh_token: 'gwr_',
  device_code: 'gwd_',
}

/** How a client secret that grantwell made begins. */
export const CLIENT_SECRET_PREFIX = 'gws_'

/** Length of a secret, in bytes. */
export const SECRET_BYTES = 32

/** Length of a grant identifier, in bytes. */
export const GRANT_ID_BYTES = 16

const PREFIX_LENGTH = 4
const CREDENTIAL_LENGTH = PREFIX_LENGTH + 80

/** Where the grant identifier begins, since a client key has 16 characters; and the secret, which shares its first one with it. */
const GRANT_ID_AT = PREFIX_LENGTH + 16
const SECRET_AT = GRANT_ID_AT + 21

const BASE64URL = /^[\w-]{80}$/

/** What the last two bits of a grant identifier are written as where nothing shares their character. */
const LAST_CHARACTERS = 'AQgw'

const KINDS = ['access_token', 'refresh_token', 'code', 'device_code'] as const

function kindAt(text: string, begin: number): CredentialKind | undefined {
  for (const kind of KINDS) if (text.startsWith(CREDENTIAL_PREFIXES[kind], begin)) return kind
  return undefined
}

/** The secret that {@link SECRET_BYTES} bytes from a place on make in a credential of a grant. */
export function secretOf(grantId: GrantId, bytes: Uint8Array, from = 0): string {
  // The last two bits of the grant identifier stand in the first character of the secret.
  return encodeBlock(bytes, from, from + SECRET_BYTES, bitsAt(grantId, 21) >> 4, 2)
}

/** Writes a credential: its prefix and 80 characters. */
export function printCredential({ kind, clientKey, grantId, secret }: Credential): string {
  return CREDENTIAL_PREFIXES[kind] + clientKey + grantId.slice(0, -1) + secret
}

/**
 * Reads a credential.
 * @returns what it says, or undefined where it is not one: a total function of any string
 */
export function parseCredential(text: string): Credential | undefined {
  return credentialAt(text, 0)
}

/** The same for the end of a text, from a place on. */
export function credentialAt(text: string, begin: number): Credential | undefined {
  if (text.length - begin !== CREDENTIAL_LENGTH) return undefined
  const kind = kindAt(text, begin)
  if (kind === undefined || !BASE64URL.test(text.slice(begin + PREFIX_LENGTH))) return undefined
  const secretAt = begin + SECRET_AT
  const grantId = text.slice(begin + GRANT_ID_AT, secretAt) + LAST_CHARACTERS.charAt(bitsAt(text, secretAt) >> 4)
  return {
    kind,
    clientKey: text.slice(begin + PREFIX_LENGTH, begin + GRANT_ID_AT) as ClientKey, // 16 characters of base64url, as checked above
    grantId: grantId as GrantId, // 128 bits of base64url
    secret: text.slice(secretAt),
  }
}

/**
 * Reads a grant identifier.
 * @returns the same string as {@link GrantId}, or undefined where it is not the base64url of 16 bytes
 */
export function parseGrantId(text: string): GrantId | undefined {
  return decodeBase64url(text)?.length === GRANT_ID_BYTES ? (text as GrantId) : undefined // checked beside it
}

/** The identifier that 16 bytes spell. */
export function grantIdOf(bytes: Uint8Array): GrantId {
  return encodeBase64url(bytes) as GrantId // the one place where a grant identifier comes into being
}
