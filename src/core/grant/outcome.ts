/**
 * The outcome of a transition: its answer, the grant to write, and the events of the audit trail.
 * @module
 */
import type { Audience } from '../audiences/audience.js'
import { audienceOf } from '../audiences/audience.js'
import type { OAuthError, RefusalReason } from '../errors.js'
import { oauthError } from '../errors.js'
import type { Resources } from '../resource.js'
import type { Scope } from '../scopes.js'
import type { ClientId, GrantId, Seconds, Subject } from '../values.js'
import type { Grant, GrantRecord } from './grant.js'

/** An event of a grant, for the audit trail. It holds no secret and no digest. */
export type GrantEvent = DecidedEvent | DeviceRequestedEvent

/** The event of a device that asks for a permission: no user is known yet. */
export interface DeviceRequestedEvent {
  /** The kind of the event. */
  readonly type: 'device_requested'
  /** Seconds since the epoch. */
  readonly at: Seconds
  /** The identifier of the grant that it may become. */
  readonly grantId: GrantId
  /** The client that asked. */
  readonly clientId: ClientId
  /** The scopes that the device asks for. */
  readonly scopes: readonly Scope[]
  /** The protected resources that it asks for; absent where it named none. */
  readonly audience?: Audience
}

/** An event after a user decided. */
export type DecidedEvent = {
  readonly at: Seconds
  readonly grantId: GrantId
  readonly clientId: ClientId
  readonly subject: Subject
  /** The administrator who ended it, as the host named it; absent otherwise. */
  readonly actor?: Subject
} & (
  | {
      /** A user agreed: the application gets a code. */
      readonly type: 'issued'
      readonly scopes: readonly Scope[]
      readonly resources: Resources
      /** The protected resources that were permitted; absent where the request named none. */
      readonly audience?: Audience
      /** Present where the same form came again and got the same code. */
      readonly retry?: true
      /** Present where nobody was asked, since a consent of before was remembered (the option `consent`). */
      readonly unasked?: true
    }
  /** Refused on the page of a device; a refused authorization request is a `refused` with its reason. */
  | { readonly type: 'device_refused' }
  /** A code or device code gave its first pair of tokens. */
  | { readonly type: 'exchanged'; readonly scopes: readonly Scope[] }
  /** A pair of tokens was refreshed. */
  | {
      readonly type: 'refreshed'
      readonly scopes: readonly Scope[]
      /** True if it is the same successor, asked for again. */
      readonly retry: boolean
    }
  /** A code or refresh token came back after it was used. */
  | { readonly type: 'replayed'; readonly credential: 'code' | 'refresh_token' }
  /** An access token or a whole grant ended. */
  | { readonly type: 'revoked'; readonly what: 'access_token' | 'grant'; readonly cause: RevocationCause }
)

/**
 * The cause of a grant's end: its client, a credential that came back, its user, an administrator, or newer grants of the same
 * user to the same application (the option `grantLimit`).
 */
export type RevocationCause = 'client' | 'replay' | 'user' | 'administrator' | 'limit'

/** The result of a transition: an answer, and the grant as it must be from now on, absent where nothing changes. */
export interface GrantOutcome<Reply, Written extends GrantRecord = Grant> {
  /** The answer, or the error. */
  readonly reply: Reply | OAuthError
  /** The record to write; absent where nothing changes. */
  readonly grant?: Written
  /** The events for the audit trail, once the record is written. */
  readonly events: readonly GrantEvent[]
}

/** Returns the fields that every event of a grant has. */
export function about(grant: Grant, now: Seconds): Pick<DecidedEvent, 'at' | 'grantId' | 'clientId' | 'subject'> {
  return { at: now, grantId: grant.id, clientId: grant.clientId, subject: grant.subject }
}

/** Makes the event of a grant that a user agreed to. Written out: spreads of absent fields were a third of what `approve` costs. */
export function issuedEvent(grant: Grant, at: Seconds): Extract<DecidedEvent, { readonly type: 'issued' }> {
  const { id: grantId, clientId, subject, scopes, resources } = grant
  const audience = audienceOf(grant)
  const event = { type: 'issued', at, grantId, clientId, subject, scopes, resources } as const
  return audience === undefined ? event : { ...event, audience }
}

/**
 * Makes the error of a code or refresh token that is refused. The client is told the same whatever the cause, so that nothing can be learned
 * by trying (RFC 6749, section 5.2).
 */
export function invalidGrant(reason: RefusalReason): OAuthError {
  return oauthError(
    'invalid_grant',
    reason,
    'The code or refresh token is invalid, expired, revoked, was issued to another client, or does not match its authorization request.',
  )
}

/** Makes the outcome that changes nothing. */
export function withoutChange<Reply>(reply: Reply): { readonly reply: Reply; readonly events: readonly never[] } {
  return { reply, events: [] }
}

/** Makes the outcome of a code or refresh token that is refused. */
export function refused(reason: RefusalReason): GrantOutcome<never, never> {
  return withoutChange(invalidGrant(reason))
}
