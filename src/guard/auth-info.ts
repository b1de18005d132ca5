/**
 * The access of a caller, as a handler of the host gets it.
 * @module
 * @see Specification, section 2.1; RFC 6750, section 3.1
 */
import type { ResourceIdentifier } from '../core/audiences/audience.js'
import type { OAuthError } from '../core/errors.js'
import type { ProtectedResource, Resources } from '../core/resource.js'
import type { Scope } from '../core/scopes.js'
import type { ClientId, GrantId, Seconds, Subject } from '../core/values.js'
import type { HttpResponse } from '../protocol/message.js'

/** The access of a caller: the application, its user, and the permissions. */
export interface AuthInfo<Resource extends ProtectedResource = ProtectedResource> {
  /** Tells it from a refusal. */
  readonly type: 'authenticated'
  /** The user who permitted it. */
  readonly subject: Subject
  /** The application that calls. */
  readonly clientId: ClientId
  /** The grant that the access token belongs to. */
  readonly grantId: GrantId
  /** The scopes that the token has now, in normal form. */
  readonly scopes: readonly Scope[]
  /** The resources that the token opens now. */
  readonly resources: Resources
  /** Seconds since the epoch, exclusive. */
  readonly expiresAt: Seconds
  /** The protected resource that the guard stands for; absent at a guard without `audience`. */
  readonly audience?: ResourceIdentifier
  /**
   * The host's own value that `resource` returned, on which the guard decided; absent on a route without `resource`. A handler uses this
   * value and reads no identifier again, since two readings of a URL can differ.
   */
  readonly resource?: Resource
}

/** The answer of a guard: who calls and for whom, or the response to send. */
export type GuardResult<Granted extends AuthInfo = AuthInfo> =
  | Granted
  | {
      readonly type: 'refused'
      readonly error: OAuthError | { readonly type: 'no_token' }
      readonly response: HttpResponse
    }

/**
 * Returns the resource that a request is about, as the host knows it; undefined or null for none. An error that it throws goes to
 * `onError`, and the answer is a 500.
 */
export type ResourceOf<Resource extends ProtectedResource = ProtectedResource> = (
  access: AuthInfo,
) => Resource | null | undefined | Promise<Resource | null | undefined>
