/**
 * The functions of a server on the permissions that users gave: functions that the host calls.
 * @module
 */

import type { Audience } from '../../core/audiences/audience.js'
import type { Resources } from '../../core/resource.js'
import type { Scope } from '../../core/scopes.js'
import type { ClientId, GrantId, Seconds, Subject } from '../../core/values.js'
import type { ActedBy } from '../arguments.js'

/** A permission that a user gave to an application and that still works. */
export interface GrantSummary {
  /** The identifier of the grant, for `revoke`. */
  readonly grantId: GrantId
  /** The client identifier of the application. */
  readonly clientId: ClientId
  /** The application that has it. While it is suspended, it can do nothing with it. */
  readonly application: { readonly name: string; readonly website: string; readonly state: 'approved' | 'suspended' }
  /** The scopes that work now: the user permitted them, the application is registered for them, and the service has them. */
  readonly scopes: readonly Scope[]
  /** The resources that the user permitted. */
  readonly resources: Resources
  /** The protected resources that its tokens work at, and nowhere else; absent if they are not limited so (RFC 8707). */
  readonly audience?: Audience
  /** Seconds since the epoch. */
  readonly createdAt: Seconds
  /**
   * The time when the application last got tokens by it, in seconds since the epoch; absent if it never did. It may have called
   * the API until that access token expired: single calls are not recorded.
   */
  readonly lastUsedAt?: Seconds
  /** The time when it ends unless the application refreshes it, in seconds since the epoch, exclusive. */
  readonly expiresAt: Seconds
}

/**
 * Functions that list the permissions of users, and end them. Each throws GrantwellError: `ERR_STORE` if the store fails, and
 * `ERR_CONFIGURATION` for a wrong subject.
 */
export interface Grants {
  /**
   * Lists the permissions of a user that still work, page by page, each once, in no particular order.
   * @param page.limit - the maximum number of grants; 100 by default. A page may have fewer, or none, and not be the last
   * @param page.cursor - the cursor of the page before
   */
  readonly listGrants: (
    subject: Subject,
    page?: { readonly limit?: number; readonly cursor?: string },
  ) => Promise<{
    /** The grants, in the order of their creation. */
    readonly grants: readonly GrantSummary[]
    /** The start of the next page; absent on the last one. */
    readonly cursor?: string
  }>
  /**
   * Ends one grant of a user. Its tokens stop working with the next request.
   * @param options.actor - the administrator who ends it, for the audit trail; the user by default
   * @param options.request - the request by which it was asked for, for the audit trail
   * @returns true if the user had such a grant, and it worked
   */
  readonly revokeGrant: (subject: Subject, grantId: string, options?: ActedBy) => Promise<boolean>
  /**
   * Ends every grant of a user, or every grant to one application. A grant that is made meanwhile may stay. If some cannot be
   * ended, all others are, and `ERR_STORE` is thrown.
   * @param only.actor - the administrator who ends them, for the audit trail; the user by default
   * @param only.request - the request by which it was asked for, for the audit trail
   * @throws GrantwellError `ERR_CONFIGURATION` for another name than `clientId`, `actor` or `request`, or for a value that is no string, which would
   * end more than was meant
   * @returns the number of working grants that were ended
   */
  readonly revokeAll: (subject: Subject, only?: { readonly clientId?: string } & ActedBy) => Promise<number>
  /**
   * Ends every grant of an application, of all users. After an interruption, a second call ends the rest. If some cannot be
   * ended, all others are, and `ERR_STORE` is thrown. Users may permit the application again meanwhile: `applications.suspend`
   * stops it at once.
   * @param options.actor - the administrator, for the audit trail
   * @returns the number of working grants that were ended
   */
  readonly revokeApplication: (clientId: string, options?: ActedBy) => Promise<number>
  /**
   * Ends every grant of every application: for the day after a copy of the store was restored, since what was revoked after the copy was
   * made works again. After an interruption, a second call ends the rest.
   * @param options.actor - the administrator, for the audit trail
   * @returns the number of working grants that were ended
   */
  readonly revokeEverything: (options?: ActedBy) => Promise<number>
  /**
   * Ends every grant of a user, and erases the user: no record of the store holds the subject any more, nor what the user permitted. Of
   * each grant the digest of its code and its end stay until they expire, so that a code that comes back is refused. Sign the user out
   * first: who is signed in can permit something anew. Applications that the user handed in stay: see `applications.erase`. After an
   * interruption, a second call erases the rest.
   * @param options.actor - the one who asks for it, for the audit trail
   * @returns the number of working grants that were ended
   * @throws GrantwellError `ERR_STORE` if some could not be erased; all others are
   */
  readonly erase: (subject: Subject, options?: ActedBy) => Promise<number>
  /** Counts the grants of an application that work, and their users. It reads each of them, so it is for administrators. */
  readonly countGrants: (clientId: string) => Promise<{
    /** The number of grants that work. */
    readonly grants: number
    /** The number of users who gave them. */
    readonly users: number
    /** The time when the application last got tokens by one of them, in seconds since the epoch; absent if it never did. */
    readonly lastUsedAt?: Seconds
  }>
}

/** A page of grants. */
export type GrantPage = Awaited<ReturnType<Grants['listGrants']>>

/** The grants of an application in numbers. */
export type GrantCount = Awaited<ReturnType<Grants['countGrants']>>
