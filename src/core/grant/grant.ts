/**
 * The grant: everything that one user permitted to one application, as one record. Here are its shape, what it says at
 * a moment (`inspect`), and how long it is worth keeping; how it changes is in `exchange`, `device`, `refresh` and `revoke`.
 *
 * Its pairs are a chain: each but the last was refreshed, and what follows it is its one successor.
 * @module
 */

import type { OAuthError, RefusalReason } from '../errors.js'
import { oauthError } from '../errors.js'
import type { Resources } from '../resource.js'
import type { Scope } from '../scopes.js'
import { constantTimeEqual } from '../tokens/base64url.js'
import type { Credential } from '../tokens/credential.js'
import type { DerivationRules, Digests } from '../tokens/digests.js'
import { digestOf } from '../tokens/digests.js'
import type { ClientId, Digest, GrantId, Seconds, Subject } from '../values.js'

/** One user's permission to one application. JSON, so that any store can hold it. */
export interface Grant {
  /** Version of this shape. */
  readonly v: 1
  readonly id: GrantId
  readonly clientId: ClientId
  readonly subject: Subject
  /** What the user permitted; no token ever has more. */
  readonly scopes: readonly Scope[]
  readonly resources: Resources
  readonly createdAt: Seconds
  /**
   * The record stays at least until then: while its code lives, and while the form that made it could come back by a clock that is
   * 600 seconds behind.
   */
  readonly keepUntil: Seconds
  readonly code: AuthorizationCode | DeviceCode
  /** When it last gave out a new pair: a token is used within its lifetime from then, or not at all. Absent before the first. */
  readonly lastUsedAt?: Seconds
  /** Oldest first; all but the last are superseded, each by the one behind it. */
  readonly pairs: readonly TokenPair[]
  /** Digests of refresh tokens whose grace is over, newest last, at most {@link RETIRED_KEPT}. */
  readonly retired: readonly Digest[]
  /** Present from the moment when nothing of this grant works any more. */
  readonly revokedAt?: Seconds
}

/** The authorization code of a grant (specification, section 2.2). */
export interface AuthorizationCode {
  readonly digest: Digest
  /** Exactly as the authorization request had it. */
  readonly redirectUri: string
  /** S256 challenge (RFC 7636, section 4.2). */
  readonly codeChallenge?: string
  readonly expiresAt: Seconds
  /** Salt of the code's derivation, 32 bytes of base64url: with the form's secret it gives the code again. Gone with the exchange. */
  readonly salt?: string
  readonly usedAt?: Seconds
}

/** The device code of a grant that was permitted for a device (RFC 8628, section 3.2), and how it is polled. */
export interface DeviceCode {
  readonly digest: Digest
  /** What tells it from an authorization code. */
  readonly redirectUri?: never
  /** Exclusive. */
  readonly expiresAt: Seconds
  /** Seconds that must lie between two polls; grows with each one that comes too soon. */
  readonly interval: Seconds
  /** When it was last polled without an end. */
  readonly polledAt?: Seconds
  /** The last wait that was too short, and how often in a row it was longer than the one before by what is asked for. */
  readonly tooSoon?: { readonly waited: Seconds; readonly slower: number }
  readonly usedAt?: Seconds
}

/** A device that waits for somebody to decide: what the record of a grant is until then. JSON. */
export interface DeviceAuthorization {
  /** Version of this shape. */
  readonly v: 1
  /** Of the grant that it becomes. */
  readonly id: GrantId
  readonly clientId: ClientId
  /** What the device asks for. */
  readonly scopes: readonly Scope[]
  readonly createdAt: Seconds
  /** The record stays at least until then, so that a late poll is told that the code expired. */
  readonly keepUntil: Seconds
  readonly code: DeviceCode
}

/** What can be stored under the identifier of a grant. */
export type GrantRecord = Grant | DeviceAuthorization

/** An access token and its refresh token. */
export interface TokenPair {
  readonly access: {
    readonly digest: Digest
    /** Exclusive: the token works while `now < expiresAt`. */
    readonly expiresAt: Seconds
    readonly scopes: readonly Scope[]
    /** Absent for `bearer` (specification, section 5.2). */
    readonly type?: 'mac'
    /** Present when this token was revoked alone. */
    readonly revokedAt?: Seconds
  }
  readonly refresh: {
    readonly digest: Digest
    /** Exclusive. */
    readonly expiresAt: Seconds
  }
  /** Present from the first refresh on. */
  readonly superseded?: {
    readonly at: Seconds
    /** Exclusive end of the grace period, fixed by the first refresh: both tokens work until then, or their own expiry. */
    readonly until: Seconds
    /** What the successor is derived with, 32 bytes of base64url; gone with the pair at the first write after `until`. */
    readonly salt: string
  }
}

/** Seconds by which a clock may be set back without an old form deciding anew. */
export const CLOCK_SET_BACK: Seconds = 600

/** How many retired refresh tokens a grant remembers, to tell a replay from an unknown token. */
export const RETIRED_KEPT = 64

/** How many pairs may be in grace at once. */
export const PAIRS_IN_GRACE = 32

/** What the transitions of a grant need besides the grant: settings and digest functions, the same for every request. */
export interface GrantRules extends DerivationRules {
  /** Lifetimes and the grace period, in seconds. */
  readonly codeLifetime: Seconds
  readonly accessTokenLifetime: Seconds
  readonly refreshTokenLifetime: Seconds
  readonly gracePeriod: Seconds
  /** What a refresh token does that comes back after its grace: revoke its grant, or be refused and no more. */
  readonly refreshReplay: 'revoke' | 'refuse'
  /** Seconds that a device waits for a decision, and that it waits between two polls at first. */
  readonly deviceCodeLifetime: Seconds
  readonly devicePollingInterval: Seconds
}

/** What happened to a grant, for the audit trail; holds no secret and no digest. */
export type GrantEvent = DecidedEvent | DeviceRequestedEvent

/** A device asks for a permission: nobody is known yet who could give it. */
export interface DeviceRequestedEvent {
  readonly type: 'device_requested'
  readonly at: Seconds
  readonly grantId: GrantId
  readonly clientId: ClientId
  readonly scopes: readonly Scope[]
}

/** What happened after a user decided. */
export type DecidedEvent = {
  readonly at: Seconds
  readonly grantId: GrantId
  readonly clientId: ClientId
  readonly subject: Subject
} & (
  | {
      readonly type: 'issued'
      readonly scopes: readonly Scope[]
      readonly resources: Resources
      /** Present where the same form came again and got the same code. */
      readonly retry?: true
      /** Present where nobody was asked, since a consent of before was remembered (the option `consent`). */
      readonly unasked?: true
    }
  /** Refused on the page of a device; a refused authorization request is a `refused` with its reason. */
  | { readonly type: 'device_refused' }
  | { readonly type: 'exchanged'; readonly scopes: readonly Scope[] }
  | {
      readonly type: 'refreshed'
      readonly scopes: readonly Scope[]
      /** Whether it is the same successor, asked for again. */
      readonly retry: boolean
    }
  | { readonly type: 'replayed'; readonly credential: 'code' | 'refresh_token' }
  | { readonly type: 'revoked'; readonly what: 'access_token' | 'grant'; readonly cause: RevocationCause }
)

/**
 * Who or what ended a grant: its client, a credential that came back, its user, an administrator, or newer grants of the same
 * user to the same application (the option `grantLimit`).
 */
export type RevocationCause = 'client' | 'replay' | 'user' | 'administrator' | 'limit'

/** The result of a transition: an answer, and the grant as it must be from now on, absent where nothing changes. */
export interface Outcome<Reply, Written extends GrantRecord = Grant> {
  readonly reply: Reply | OAuthError
  readonly grant?: Written
  readonly events: readonly GrantEvent[]
}

/** A token pair as it is handed to the client: the only moment when its secrets exist. */
export interface IssuedTokens {
  readonly type: 'tokens'
  readonly accessToken: string
  readonly refreshToken: string
  /** Seconds until the access token expires. */
  readonly expiresIn: Seconds
  readonly scopes: readonly Scope[]
  /** What each request is signed with, 43 characters; present for a token of the type `mac` alone. */
  readonly macKey?: string
}

/** What an access token is good for at a moment. */
export type Inspection =
  | {
      readonly type: 'active'
      readonly grantId: GrantId
      readonly clientId: ClientId
      readonly subject: Subject
      readonly scopes: readonly Scope[]
      readonly resources: Resources
      /** Exclusive; the end of the grace period where that comes first. */
      readonly expiresAt: Seconds
      /** Absent for `bearer`: then presenting it is enough. */
      readonly tokenType?: 'mac'
    }
  | { readonly type: 'inactive'; readonly reason: RefusalReason }

/**
 * What an access token says at a moment.
 * @param grant - the record that the credential names, if there is one
 * @param credential - of any kind; only an access token is ever active
 * @see Specification, section 3
 */
export function inspect(grant: Grant | undefined, credential: Credential, now: Seconds, digests: Digests): Inspection {
  const digest = digestOf(digests, credential.secret)
  const pair = credential.kind === 'access_token' ? findPair(grant, 'access', digest) : undefined
  if (grant?.revokedAt !== undefined) return { type: 'inactive', reason: 'credential_revoked' }
  if (grant === undefined || pair === undefined) return { type: 'inactive', reason: 'credential_unknown' }
  if (pair.access.revokedAt !== undefined) return { type: 'inactive', reason: 'credential_revoked' }
  const expiresAt = worksUntil(pair, 'access')
  if (now >= expiresAt) return { type: 'inactive', reason: 'credential_expired' }
  const { id: grantId, clientId, subject, resources } = grant
  const active = {
    type: 'active',
    grantId,
    clientId,
    subject,
    scopes: pair.access.scopes,
    resources,
    expiresAt,
  } as const
  return pair.access.type === undefined ? active : { tokenType: pair.access.type, ...active }
}

/** The pair that has a token with this digest, newest first; each comparison takes constant time. */
export function findPair(grant: Grant | undefined, token: 'access' | 'refresh', digest: Digest): TokenPair | undefined {
  if (grant === undefined) return undefined
  for (let index = grant.pairs.length - 1; index >= 0; index--) {
    const pair = grant.pairs[index] as TokenPair // inside the list
    if (constantTimeEqual(pair[token].digest, digest)) return pair
  }
  return undefined
}

/** The exclusive end of a token's life: its own expiry or, once its pair was refreshed, the end of grace where that is sooner. */
export function worksUntil(pair: TokenPair, token: 'access' | 'refresh'): Seconds {
  const { expiresAt } = pair[token]
  const { superseded } = pair
  // Not by Math.min: whatever a polluted prototype has in its place, no token works past its own expiry.
  return superseded !== undefined && superseded.until < expiresAt ? superseded.until : expiresAt
}

/**
 * The grant without the pairs whose grace is over: their refresh tokens move to the retired ones, their salts are gone.
 * Every transition that changes a grant begins with it.
 */
export function retire(grant: Grant, now: Seconds): Grant {
  const isOver = ({ superseded }: TokenPair): boolean => superseded !== undefined && now >= superseded.until
  if (!grant.pairs.some(isOver)) return grant
  const over = grant.pairs.filter(isOver)
  const retired = [...grant.retired, ...over.map((pair) => pair.refresh.digest)]
  return { ...grant, pairs: grant.pairs.filter((pair) => !isOver(pair)), retired: retired.slice(-RETIRED_KEPT) }
}

/**
 * Until when a store must keep a grant: the last moment at which forgetting it could change an answer.
 * @returns seconds since the epoch, exclusive
 */
export function retention(grant: GrantRecord): Seconds {
  let until = grant.keepUntil
  if (!isGrant(grant) || grant.revokedAt !== undefined) return until
  for (const pair of grant.pairs) until = Math.max(until, pair.access.expiresAt, pair.refresh.expiresAt)
  return until
}

/** Whether somebody has decided on a record: before that it is a device that waits. */
export function isGrant(record: GrantRecord | undefined): record is Grant {
  return (record as Partial<Grant> | undefined)?.pairs !== undefined // what it is to find out
}

/** Whether anything of a grant still works or can still be exchanged. */
export function isLive(grant: Grant, now: Seconds): boolean {
  return grant.revokedAt === undefined && now < liveUntil(grant)
}

/** The exclusive end of the last token of a grant or, before there are any, of its code. */
export function liveUntil(grant: Grant): Seconds {
  let until = grant.code.usedAt === undefined ? grant.code.expiresAt : 0
  for (const pair of grant.pairs) {
    const access = pair.access.revokedAt === undefined ? worksUntil(pair, 'access') : 0
    until = Math.max(until, access, worksUntil(pair, 'refresh'))
  }
  return until
}

/** A grant that was not revoked before, after its revocation: what is left says that it was, and holds no digest of a token. */
export function tombstone(grant: Grant, now: Seconds): Grant {
  return { revokedAt: now, ...grant, pairs: [], retired: [] }
}

/** What every event of a grant says; spread at the end of a literal, where engines copy it many times as fast as at its head. */
export function about(grant: Grant, now: Seconds): Pick<DecidedEvent, 'at' | 'grantId' | 'clientId' | 'subject'> {
  return { at: now, grantId: grant.id, clientId: grant.clientId, subject: grant.subject }
}

/**
 * A refusal of a code or refresh token. The client is told the same whatever the cause, so that nothing can be learned
 * by trying (RFC 6749, section 5.2).
 */
export function invalidGrant(reason: RefusalReason): OAuthError {
  return oauthError(
    'invalid_grant',
    reason,
    'The code or refresh token is invalid, expired, revoked, was issued to another client, or does not match its authorization request.',
  )
}
