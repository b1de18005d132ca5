/**
 * Credentials, as they are handed out.
 *
 *     <prefix><client key, 16><grant id, 22><secret, 43>
 *
 * Each field is base64url of 12, 16 and 32 bytes. A credential names the two records that decide on it, so no index is
 * read to find them. The store holds the SHA-256 of its secret as it is written. The prefix tells its kind, to us and to a scanner
 * that looks for leaked secrets.
 * @module
 */
import type { ClientKey, GrantId } from '../values.js'
import { decodeBase64url, encodeBase64url } from './base64url.js'

/** The kinds of credential. */
export type CredentialKind = 'code' | 'access_token' | 'refresh_token' | 'device_code'

/** A credential that was read. */
export interface Credential {
  /** The kind, as the prefix tells it. */
  readonly kind: CredentialKind
  /** The key of the application that it belongs to. */
  readonly clientKey: ClientKey
  /** The grant that it belongs to. */
  readonly grantId: GrantId
  /** 43 characters: base64url of 32 bytes. */
  readonly secret: string
}

/** The prefix of each kind of credential. */
export const CREDENTIAL_PREFIXES: { readonly [Kind in CredentialKind]: string } = {
  code: 'gwc_',
  access_token: 'gwa_',
  refresh_token: 'gwr_',
  device_code: 'gwd_',
}

/** The prefix of a client secret that grantwell made. */
export const CLIENT_SECRET_PREFIX = 'gws_'

/** Length of a secret, in bytes. */
export const SECRET_BYTES = 32

/** Length of a grant identifier, in bytes. */
export const GRANT_ID_BYTES = 16

const PREFIX_LENGTH = 4

/** The place of each field behind the prefix, and the length of the whole. */
const CLIENT_KEY_AT = PREFIX_LENGTH
const GRANT_ID_AT = CLIENT_KEY_AT + 16
const SECRET_AT = GRANT_ID_AT + 22
const CREDENTIAL_LENGTH = SECRET_AT + 43

/**
 * The three fields, behind one another. The last of 32 bytes leaves 2 bits unused, and they must be 0: one credential has one spelling.
 * Lengths are checked apart: counted in the expression, they take twice as long.
 */
const FIELDS = /^[\w-]+[AEIMQUYcgkosw048]$/

/** The last characters that 16 bytes can have: their 4 unused bits are 0, as well. */
const LAST_OF_16_BYTES = 'AQgw'

const KINDS = ['access_token', 'refresh_token', 'code', 'device_code'] as const

function kindAt(text: string, begin: number): CredentialKind | undefined {
  for (const kind of KINDS) if (text.startsWith(CREDENTIAL_PREFIXES[kind], begin)) return kind
  return undefined
}

/** Makes a secret from {@link SECRET_BYTES} bytes, which begin at a place. */
export function secretFrom(bytes: Uint8Array, begin = 0): string {
  return encodeBase64url(bytes, begin, begin + SECRET_BYTES)
}

/** Writes a credential: its prefix and 81 characters. */
export function printCredential({ kind, clientKey, grantId, secret }: Credential): string {
  return CREDENTIAL_PREFIXES[kind] + clientKey + grantId + secret
}

/**
 * Reads a credential.
 * @returns undefined for any string that is none
 */
export function parseCredential(text: string): Credential | undefined {
  return credentialAt(text, 0)
}

/** Reads a credential that reaches from a place to the end of a text. */
export function credentialAt(text: string, begin: number): Credential | undefined {
  if (text.length - begin !== CREDENTIAL_LENGTH) return undefined
  const kind = kindAt(text, begin)
  if (kind === undefined || !FIELDS.test(text.slice(begin + CLIENT_KEY_AT))) return undefined
  if (!LAST_OF_16_BYTES.includes(text.charAt(begin + SECRET_AT - 1))) return undefined
  return {
    kind,
    clientKey: text.slice(begin + CLIENT_KEY_AT, begin + GRANT_ID_AT) as ClientKey, // 12 bytes of base64url, as checked above
    grantId: text.slice(begin + GRANT_ID_AT, begin + SECRET_AT) as GrantId, // 16 bytes of base64url
    secret: text.slice(begin + SECRET_AT),
  }
}

/**
 * Reads a grant identifier.
 * @returns the same string as {@link GrantId}, or undefined where it is not the base64url of 16 bytes
 */
export function parseGrantId(text: string): GrantId | undefined {
  return decodeBase64url(text)?.length === GRANT_ID_BYTES ? (text as GrantId) : undefined // checked beside it
}

/** Makes the identifier that 16 bytes spell. */
export function grantIdOf(bytes: Uint8Array): GrantId {
  return encodeBase64url(bytes) as GrantId // the one place where a grant identifier comes into being
}
