/**
 * The errors that a client may see: values, each with everything that its response needs.
 * @module
 * @see RFC 6749, sections 4.1.2.1 and 5.2; RFC 6750, section 3.1; RFC 7009, section 2.2.1; RFC 8628, section 3.5
 */
import type { Seconds } from './values.js'

/** The codes of the protocol, in the field `error` on the wire. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'access_denied'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
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
  | 'client_not_approved'
  | 'grant_type_not_registered'
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
  | 'resource_not_granted'
  | 'token_type_mismatch'
  | 'mac_mismatch'
  | 'mac_stale'
  | 'mac_replayed'
  | 'not_a_resource_server'
  | 'decision_pending'
  | 'polled_too_soon'
  | 'user_code_unknown'
  | 'too_many_attempts'
  | 'consent_refused'
  | 'consent_invalid'
  | 'unsupported'
  | 'store_failed'
  | 'contention'
  | 'host_failed'

/** One error: what the client gets, and, apart from it, what the audit trail gets. */
export interface OAuthError {
  /** Tells an error from every other result; see `isOAuthError`. */
  readonly type: 'error'
  /** The stable code; `error` on the wire. */
  readonly code: OAuthErrorCode
  /** The status of a direct answer. */
  readonly status: number
  /** One sentence of printable ASCII for the client's developer; the same for every cause that an attacker must not tell apart. */
  readonly description: string
  /** For the audit trail alone. */
  readonly reason: RefusalReason
  /** Seconds after which a retry makes sense: `Retry-After` on the wire. */
  readonly retryAfter?: Seconds
  /** The time of the service, for a client that signs by a wrong clock: in the challenge on the wire. */
  readonly time?: AuthenticatedTime
}

/** A time that a client can believe whoever stands between: only the holder of the token's key can have told it. */
export interface AuthenticatedTime {
  /** Seconds since the epoch, in digits. */
  readonly ts: string
  /** base64 of HMAC-SHA-256 over this time, and over timestamp and nonce of the request that was refused. */
  readonly tsm: string
}

const STATUSES: { readonly [Code in OAuthErrorCode]: number } = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  access_denied: 403,
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
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
  more: { readonly status?: number; readonly retryAfter?: Seconds; readonly time?: AuthenticatedTime } = {},
): OAuthError {
  return { type: 'error', code, status: STATUSES[code], description, reason, ...more }
}

/** True for an error of the protocol, among the other results of a function. */
export function isOAuthError(value: unknown): value is OAuthError {
  return (value as { readonly type?: unknown } | null | undefined)?.type === 'error' // whatever it is
}

/** The error where a function of the host failed, which is no fault of the client's; what it was is for the host alone. */
export function hostFailed(): OAuthError {
  return oauthError('server_error', 'host_failed', 'The service failed.')
}

/** The codes of {@link GrantwellError}. */
export type GrantwellErrorCode =
  /** A wrong option or argument. */
  | 'ERR_CONFIGURATION'
  /** A registration has faults. */
  | 'ERR_REGISTRATION'
  /** There is an application with this client identifier. */
  | 'ERR_CLIENT_EXISTS'
  /** There is no such application. */
  | 'ERR_CLIENT_UNKNOWN'
  /** The application is not in a state in which this can be done. */
  | 'ERR_APPLICATION_STATE'
  /** Something newer was handed in than what was reviewed. */
  | 'ERR_REVISION_OUTDATED'
  /** The applicant has too many submissions that wait. */
  | 'ERR_TOO_MANY_SUBMISSIONS'
  /** The store failed; `cause` is what it threw. */
  | 'ERR_STORE'
  /** A record has a version that this release does not read, or none. */
  | 'ERR_RECORD_VERSION'
  /** The records of the store belong to another issuer. */
  | 'ERR_NAMESPACE'
  /** The engine of a store failed, or took too long. */
  | 'ERR_STORAGE_UNAVAILABLE'

/**
 * The error that functions throw which a host calls: a programmer's, an applicant's or an administrator's mistake, or a store
 * that failed. Tell them apart by `code`; the classes of the ESM and the CommonJS build differ.
 */
export class GrantwellError extends Error {
  /** The name of the class. */
  override readonly name: string = 'GrantwellError'
  /** The stable code of the error. */
  readonly code: GrantwellErrorCode
  /** Everything that is wrong with a registration; empty for any other code than `ERR_REGISTRATION`. */
  readonly faults: readonly { readonly path: string; readonly message: string }[]

  /** @param cause - what went wrong beneath, where something did: not enumerable, so that no log of fields has it */
  constructor(code: GrantwellErrorCode, message: string, faults: GrantwellError['faults'] = [], cause?: unknown) {
    super(message)
    this.code = code
    this.faults = faults
    if (cause !== undefined) Object.defineProperty(this, 'cause', { value: cause, enumerable: false })
  }
}

/** Makes the error of what a programmer did wrong. */
export function configurationError(message: string, cause?: unknown): GrantwellError {
  return new GrantwellError('ERR_CONFIGURATION', `grantwell: ${message}`, [], cause)
}

/**
 * The error of a store whose engine failed or took too long; `cause` is the error of the engine, not enumerable, so that no log
 * of fields has it. Nothing is known of a write that ended so: it may have happened, or happen yet. The server finds out,
 * or answers 503 with `Retry-After`, and a retry is safe.
 */
export class StorageUnavailable extends GrantwellError {
  /** The name of the class. */
  override readonly name: string = 'StorageUnavailable'

  constructor(message: string, cause?: unknown) {
    super('ERR_STORAGE_UNAVAILABLE', `grantwell: ${message}`)
    Object.defineProperty(this, 'cause', { value: cause, enumerable: false })
  }
}
