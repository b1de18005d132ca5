/**
 * The errors that a client may see: values, each with everything that its response needs.
 * @module
 * @see RFC 6749, sections 4.1.2.1 and 5.2; RFC 6750, section 3.1; RFC 7009, section 2.2.1; RFC 8628, section 3.5
 */
import type { RegistrationFault } from './application/faults.js'
import type { Seconds } from './values.js'

/** The codes of the protocol, in the field `error` on the wire. */
export type OAuthErrorCode =
  /** The request lacks a parameter, repeats one, or is malformed. Status 400, or 413 and 405 for a body and a method. */
  | 'invalid_request'
  /** The client is unknown, or did not authenticate. Status 401. */
  | 'invalid_client'
  /** The code, refresh token or device code does not work, or belongs to another client. Status 400. */
  | 'invalid_grant'
  /** The client may not do this. Status 400, or 403 at introspection. */
  | 'unauthorized_client'
  /** The token endpoint does not have this `grant_type`. Status 400. */
  | 'unsupported_grant_type'
  /** The `response_type` is not `code`. Sent to the redirect URI. */
  | 'unsupported_response_type'
  /** The scope is unknown, malformed, or wider than it may be. Status 400. */
  | 'invalid_scope'
  /** A `resource` is not one of the service's, or not one that the user permitted (RFC 8707). Status 400. */
  | 'invalid_target'
  /** The user refused. Sent to the redirect URI, or to a device with status 400. */
  | 'access_denied'
  /** The user has not decided yet: the device asks again later. Status 400. */
  | 'authorization_pending'
  /** The device asked too soon, and waits longer from now on. Status 400. */
  | 'slow_down'
  /** The device code expired: the device begins again. Status 400. */
  | 'expired_token'
  /** The access token does not work. Status 401. */
  | 'invalid_token'
  /** The access token does not have the scope or resource that the route needs. Status 403. */
  | 'insufficient_scope'
  /** A function of the host failed. Status 500. */
  | 'server_error'
  /** A redirect URI of a client that registers itself is not one that may be registered (RFC 7591). Status 400. */
  | 'invalid_redirect_uri'
  /** Another part of what such a client says about itself is wrong (RFC 7591). Status 400. */
  | 'invalid_client_metadata'
  /** The store failed, or there are too many requests: ask again after `Retry-After`. Status 503, or 429. */
  | 'temporarily_unavailable'

/**
 * The reason why a request was refused, for the host's audit trail: finer than what the client is told, never a secret, and
 * stable.
 */
export type RefusalReason =
  /** A parameter is missing, repeated or malformed. */
  | 'malformed_request'
  /** The body is larger than `bodyLimit`. */
  | 'body_too_large'
  /** The endpoint does not have this method. */
  | 'method_not_allowed'
  /** No application has this client identifier. */
  | 'client_unknown'
  /** The client did not authenticate, and must. */
  | 'client_not_authenticated'
  /** The client authenticated by a method that it may not use, or that could not be read. */
  | 'client_authentication_method'
  /** The client secret is wrong or expired. */
  | 'client_secret_wrong'
  /** An administrator suspended the application. */
  | 'client_suspended'
  /** No administrator has approved the application yet. */
  | 'client_not_approved'
  /** The host's function `authorize` refuses the permission. */
  | 'host_refused'
  /** The host's policy refuses a client that registers itself. */
  | 'client_refused'
  /** The metadata document of a client, whose URL is its identifier, could not be fetched. */
  | 'client_metadata_unavailable'
  /** The application is not registered for this grant type, such as the device flow. */
  | 'grant_type_not_registered'
  /** The redirect URI matches none of the application's, or is not that of the authorization request. */
  | 'redirect_uri_mismatch'
  /** The scope is unknown, or the application is not registered for it. */
  | 'scope_not_registered'
  /** The request has no `code_challenge`, and needs one. */
  | 'pkce_required'
  /** The `code_verifier` does not match the challenge, or came without one. */
  | 'pkce_mismatch'
  /** The code or token is none that this service gave out, or its record is gone. */
  | 'credential_unknown'
  /** The code or token belongs to another client. */
  | 'credential_of_another_client'
  /** The code or token expired. */
  | 'credential_expired'
  /** The token or its grant was revoked. */
  | 'credential_revoked'
  /** The code or refresh token was used before, after its grace period. The grant ends, unless `refreshReplay` says otherwise. */
  | 'credential_replayed'
  /** The client refreshed too often within one grace period. */
  | 'too_many_pairs_in_grace'
  /** The scope is wider than what the user permitted, or narrower than what the route needs. */
  | 'scope_insufficient'
  /** The user did not permit this resource. */
  | 'resource_not_granted'
  /** The service declares no protected resource of this name (the parameter `resource`). */
  | 'audience_unknown'
  /** The grant or token is for other protected resources (RFC 8707), or for none. */
  | 'audience_mismatch'
  /** The token must be presented in the other way: as a bearer token, or with a signature. */
  | 'token_type_mismatch'
  /** The signature of the request is wrong. */
  | 'mac_mismatch'
  /** The timestamp of the signed request is too far from the service's time. */
  | 'mac_stale'
  /** The signed request came before, with the same timestamp and nonce. */
  | 'mac_replayed'
  /** The client is not registered as a resource server. */
  | 'not_a_resource_server'
  /** The user has not decided yet. */
  | 'decision_pending'
  /** The device polled before its interval was over. */
  | 'polled_too_soon'
  /** No device shows this user code. */
  | 'user_code_unknown'
  /** A limit of attempts or devices is reached. */
  | 'too_many_attempts'
  /** The user refused. */
  | 'consent_refused'
  /** The form of the page is not one that this service made for this user and browser, or it expired. */
  | 'consent_invalid'
  /** The service does not have this feature, such as a `grant_type` or `response_type`. */
  | 'unsupported'
  /** The store failed. */
  | 'store_failed'
  /** Other requests changed the same record again and again. */
  | 'contention'
  /** The event of the change could not be written, and had to be (the option `audit`). */
  | 'audit_failed'
  /** A function of the host failed. */
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
  invalid_target: 400,
  access_denied: 403,
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
  invalid_token: 401,
  insufficient_scope: 403,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
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

/** Makes the error of a malformed request. */
export function malformed(description: string): OAuthError {
  return oauthError('invalid_request', 'malformed_request', description)
}

/** True for an error of the protocol, among the other results of a function. */
export function isOAuthError(value: unknown): value is OAuthError {
  return (value as { readonly type?: unknown } | null | undefined)?.type === 'error' // whatever it is
}

/** The error where a function of the host failed, which is no fault of the client's; what it was is for the host alone. */
export function hostFailed(): OAuthError {
  return oauthError('server_error', 'host_failed', 'The service failed.')
}

/** The codes of `GrantwellError`. */
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
  readonly faults: readonly RegistrationFault[]

  /** @param cause - what went wrong beneath, where something did: not enumerable, so that no log of fields has it */
  constructor(code: GrantwellErrorCode, message: string, faults: readonly RegistrationFault[] = [], cause?: unknown) {
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
 * or answers 503 with `Retry-After`. A code whose exchange was written all the same is spent: asking again ends its grant.
 */
export class StorageUnavailable extends GrantwellError {
  /** The name of the class. */
  override readonly name: string = 'StorageUnavailable'

  constructor(message: string, cause?: unknown) {
    super('ERR_STORAGE_UNAVAILABLE', `grantwell: ${message}`)
    Object.defineProperty(this, 'cause', { value: cause, enumerable: false })
  }
}
