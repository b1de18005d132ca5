/**
 * The events of the audit trail, and the function that reports a refused request to it.
 * @module
 */
import type { ApplicationEvent } from '../core/application/life/outcome.js'
import type { OAuthErrorCode, RefusalReason } from '../core/errors.js'
import type { GrantEvent } from '../core/grant/outcome.js'
import type { GrantId, Seconds, Subject } from '../core/values.js'

/** A request that was refused, for the audit trail. */
export interface RefusedEvent {
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
  /** The user, if a user code was refused. */
  readonly subject?: Subject
  /** The rule that a redirect URI breaks, in words for the application's developer. It contains nothing of the URI. */
  readonly rule?: string
}

/** One entry of the audit trail. Holds no secret, so it may be kept. */
export type AuditEvent = GrantEvent | ApplicationEvent | RefusedEvent

/** The parts of a `RefusedEvent` that are not always known. */
export type RefusedAbout = {
  readonly [Part in 'clientId' | 'grantId' | 'subject' | 'rule']?: RefusedEvent[Part] | undefined
}

/** Reports a refusal to the audit trail. */
export type ReportRefusal = (
  endpoint: RefusedEvent['endpoint'],
  reason: RefusalReason,
  error?: OAuthErrorCode,
  about?: RefusedAbout,
) => void

/** Reasons for which the client identifier was not verified. It may be any text then, even a misplaced secret. */
const UNVERIFIED: ReadonlySet<RefusalReason> = new Set(['client_unknown', 'store_failed'])

/** Own properties alone: a polluted prototype would be read otherwise. */
const NOTHING: RefusedAbout = Object.freeze(Object.create(null))

/** Creates the function that reports refusals. */
export function createReportRefusal({
  clock,
  onEvent,
}: {
  readonly clock: () => Seconds
  readonly onEvent: (event: AuditEvent) => void
}): ReportRefusal {
  return (endpoint, reason, error, { clientId, grantId, subject, rule } = NOTHING) => {
    const code = error === undefined ? {} : { error }
    const client = clientId === undefined || UNVERIFIED.has(reason) ? {} : { clientId }
    const grant = grantId === undefined ? {} : { grantId }
    const user = subject === undefined ? {} : { subject }
    const broken = rule === undefined ? {} : { rule }
    onEvent({ type: 'refused', at: clock(), endpoint, reason, ...code, ...client, ...grant, ...user, ...broken })
  }
}
