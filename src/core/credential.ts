/**
 * Credentials: what each of them says, and how it is written.
 *
 *     <prefix><base64url( client key, 12 bytes | grant id, 16 bytes | secret, 32 bytes )>
 *
 * A credential names the two records that decide on it, so no index is read to find them; the store holds only the
 * SHA-256 of its secret. The prefix tells its kind, to us and to a scanner that looks for leaked secrets.
 * @module
 */
import { decodeBase64url, encodeBase64url } from './base64url.js'
import { concatenate } from './digests.js'
import type { ClientKey, GrantId } from './values.js'

/** The kinds of credential. */
export type CredentialKind = 'code' | 'access_token' | 'refresh_token' | 'device_code'

/** What a credential says. */
export interface Credential {
  readonly kind: CredentialKind
  readonly clientKey: ClientKey
  readonly grantId: GrantId
  /** 32 bytes. */
  readonly secret: Uint8Array
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
const CLIENT_KEY_LENGTH = 16
const CREDENTIAL_LENGTH = PREFIX_LENGTH + 80

const KINDS = new Map<string, CredentialKind>(
  (['code', 'access_token', 'refresh_token', 'device_code'] as const).map((kind) => [CREDENTIAL_PREFIXES[kind], kind]),
)

/** Writes a credential: its prefix and 80 characters. */
export function printCredential(credential: Credential): string {
  const id = decodeBase64url(credential.grantId) as Uint8Array // a GrantId is the base64url of 16 bytes
  return (
    CREDENTIAL_PREFIXES[credential.kind] + credential.clientKey + encodeBase64url(concatenate(id, credential.secret))
  )
}

/**
 * Reads a credential.
 * @returns what it says, or undefined where it is not one: a total function of any string
 */
export function parseCredential(text: string): Credential | undefined {
  const kind = KINDS.get(text.slice(0, PREFIX_LENGTH))
  if (kind === undefined || text.length !== CREDENTIAL_LENGTH) return undefined
  const clientKey = text.slice(PREFIX_LENGTH, PREFIX_LENGTH + CLIENT_KEY_LENGTH)
  if (decodeBase64url(clientKey) === undefined) return undefined
  const bytes = decodeBase64url(text.slice(PREFIX_LENGTH + CLIENT_KEY_LENGTH))
  if (bytes === undefined) return undefined
  return {
    kind,
    clientKey: clientKey as ClientKey, // 16 characters of base64url, as checked above
    grantId: grantIdOf(bytes.subarray(0, GRANT_ID_BYTES)),
    secret: bytes.subarray(GRANT_ID_BYTES),
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
