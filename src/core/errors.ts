/**
 * The errors that a client may see: values, each with everything that its response needs.
 * @module
 * @see RFC 6749, sections 4.1.2.1 and 5.2; RFC 6750, section 3.1; RFC 7009, section 2.2.1
 */
import type { Seconds } from './values.js'

/** The codes of the protocol, in the field `error` on the wire. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'access_denied'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'server_error'
  | 'temporarily_unavailable'

/**
 * Why a request was refused, for the host's audit trail: finer than what the client is told, never a secret, and stable.
 */
export type RefusalReason =
  | 'malformed_request'
  | 'body_too_large'
  | 'method_not_allowed'
  | 'client_unknown'
  | 'client_not_authenticated'
  | 'client_authentication_method'
  | 'client_secret_wrong'
  | 'client_suspended'
  | 'redirect_uri_mismatch'
  | 'scope_not_registered'
  | 'pkce_required'
  | 'pkce_mismatch'
  | 'credential_unknown'
  | 'credential_of_another_client'
  | 'credential_expired'
  | 'credential_revoked'
  | 'credential_replayed'
  | 'too_many_pairs_in_grace'
  | 'scope_insufficient'
  | 'consent_refused'
  | 'consent_invalid'
  | 'unsupported'
  | 'store_failed'
  | 'contention'
  | 'host_failed'

/** One error: what the client gets, and, apart from it, what the audit trail gets. */
export interface OAuthError {
  readonly type: 'error'
  /** The stable code; `error` on the wire. */
  readonly code: OAuthErrorCode
  /** The status of a direct answer. */
  readonly status: number
  /** One sentence of printable ASCII for the client's developer; the same for every cause that an attacker must not tell apart. */
  readonly description: string
  /** For the audit trail alone. */
  readonly reason: RefusalReason
  /** When a retry makes sense, in seconds from now: `Retry-After` on the wire. */
  readonly retryAfter?: Seconds
}

const STATUSES: { readonly [Code in OAuthErrorCode]: number } = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  access_denied: 403,
  invalid_token: 401,
  insufficient_scope: 403,
  server_error: 500,
  temporarily_unavailable: 503,
}

/** Makes an error; its status is the one of its code unless told otherwise. */
export function oauthError(
  code: OAuthErrorCode,
  reason: RefusalReason,
  description: string,
  more: { readonly status?: number; readonly retryAfter?: Seconds } = {},
): OAuthError {
  return { type: 'error', code, status: STATUSES[code], description, reason, ...more }
}

/**
 * What the functions that a host calls throw: a programmer's or an administrator's mistake, or a store that failed.
 * Tell them apart by `code`; the classes of the ESM and the CommonJS build differ.
 */
export class GrantwellError extends Error {
  override readonly name = 'GrantwellError'
  readonly code: 'ERR_CONFIGURATION' | 'ERR_REGISTRATION' | 'ERR_CLIENT_EXISTS' | 'ERR_CLIENT_UNKNOWN' | 'ERR_STORE'

  constructor(code: GrantwellError['code'], message: string) {
    super(message)
    this.code = code
  }
}
