/**
 * The events of the audit trail: what happened, and which requests were refused.
 * @module
 */
import type { ApplicationEvent } from '../core/application/life/outcome.js'
import type { OAuthError, OAuthErrorCode, RefusalReason } from '../core/errors.js'
import type { GrantEvent } from '../core/grant/outcome.js'
import type { GrantId, Seconds, Subject } from '../core/values.js'
import type { HttpRequest, RequestLike } from '../protocol/message.js'
import type { MaybePromise } from './maybe-promise.js'

/** One entry of the audit trail. Holds no secret, so it may be kept. */
export type AuditEvent = (
  | GrantEvent
  | ApplicationEvent
  /** A request that was refused. */
  | {
      /** The kind of the event. */
      readonly type: 'refused'
      /** The time, in seconds since the epoch. */
      readonly at: Seconds
      /** The endpoint that refused; `api` for a guard. */
      readonly endpoint:
        | 'authorization'
        | 'token'
        | 'revocation'
        | 'introspection'
        | 'device_authorization'
        | 'device'
        | 'applications'
        | 'registration'
        | 'api'
      /** The error that the client got; absent if it got none (a revocation that changed nothing). */
      readonly error?: OAuthErrorCode
      /** The reason, which the client does not get. */
      readonly reason: RefusalReason
      /** The application; absent if it is unknown: the request failed too early, there is none, or the store failed. */
      readonly clientId?: string
      /**
       * The grant that the code or token of the request names, so that the events of its life can be found. Whether the request had a right
       * to it, `reason` says. Absent if there was none that could be read, and at the pages.
       */
      readonly grantId?: GrantId
      /** The user: who typed a user code that was refused, or whose access token a guard refused. Absent for a token that is unknown or revoked. */
      readonly subject?: Subject
      /** The rule that a redirect URI breaks, in words for the application's developer. It contains nothing of the URI. */
      readonly rule?: string
      /**
       * The redirect URI that matches none of the application's, or is not that of the authorization request: as it was sent, but without
       * user information, query and fragment, without parts that are so long that they may be a secret, and at most 512 characters.
       */
      readonly redirectUri?: string
      /** The method and the path of a request that a guard refused, such as `GET /repositories/7`; without its query. */
      readonly route?: string
    }
  /**
   * Events that were reported before their change, with `audit: 'required'`, and whose change then was not stored. They never happened,
   * or it is not known.
   */
  | {
      /** The kind of the event. */
      readonly type: 'not_stored'
      /** The time, in seconds since the epoch. */
      readonly at: Seconds
      /**
       * `overtaken`: another request changed the same record first, so the change was decided anew, and its events follow. `unknown`: the
       * store failed, and may have stored the change.
       */
      readonly cause: 'overtaken' | 'unknown'
      /** The events as they were reported, but for `request`. */
      readonly events: readonly (GrantEvent | ApplicationEvent)[]
    }
) & {
  /**
   * The request that it came by; absent where nothing is known of it, and where the host passed none. It is about a person: keep it no
   * longer than it is needed.
   */
  readonly request?: {
    /** The address that it came from, as the option `remoteAddress` returns it; absent if it is unknown. */
    readonly address?: string
    /** Its header `User-Agent`, at most 256 characters. Whoever sends a request chooses it. */
    readonly userAgent?: string
    /** The identifier that the option `requestId` returned, at most 256 characters. */
    readonly id?: string
  }
}

/** The event of a refused request. */
export type RefusedEvent = Extract<AuditEvent, { readonly type: 'refused' }>

/** A request that an event came by: one of the server, or one of the platform. */
export type RequestSource = HttpRequest | RequestLike

/** An event of a change. */
export type ChangeEvent = GrantEvent | ApplicationEvent

/** The parts of a `RefusedEvent` that are not always known. */
export type RefusedAbout = {
  readonly [Part in 'clientId' | 'grantId' | 'subject' | 'rule' | 'redirectUri']?: RefusedEvent[Part] | undefined
}

/** Reports a refusal to the audit trail. */
export type ReportRefusal = (
  endpoint: RefusedEvent['endpoint'],
  reason: RefusalReason,
  error?: OAuthErrorCode,
  about?: RefusedAbout,
) => void

/** The audit trail of a server. */
export interface AuditTrail {
  /**
   * Called with the events of a change before it is stored. Answers the error of a change that must not be made, since its events could
   * not be written.
   */
  readonly announce: (
    events: readonly ChangeEvent[],
    request: RequestSource | undefined,
  ) => MaybePromise<OAuthError | undefined>
  /** Called with the same events afterwards: with true where the change is stored, and false where another request came first. */
  readonly conclude: (
    events: readonly ChangeEvent[],
    stored: boolean | OAuthError,
    request: RequestSource | undefined,
  ) => MaybePromise<unknown>
  /** Reports the refusal of a request. */
  readonly refuse: (request: RequestSource, ...refusal: Parameters<ReportRefusal>) => void
  /** Tells if every refusal of a request is written, as far as it must be. */
  readonly isWritten: (request: RequestSource) => MaybePromise<boolean>
}

/** The settings of a server that tell of requests. */
export interface RequestSettings {
  readonly remoteAddress: (request: HttpRequest<never>) => string | null | undefined
  readonly requestId: ((request: HttpRequest<never>) => string | null | undefined) | undefined
  readonly onError: (error: unknown) => void
}

/** The settings of a server that its audit trail depends on. */
export interface AuditSettings extends RequestSettings {
  readonly clock: () => Seconds
}
