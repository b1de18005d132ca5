/**
 * The grant: everything that one user permitted to one application, as one record. Here are its shape, and how long it lives.
 * `approve`, `exchange`, `refresh`, `revoke` and `device` change it; `inspect` reads a token of it.
 *
 * Its pairs are a chain: each but the last was refreshed, and what follows it is its one successor.
 * @module
 */

import type { Audience } from '../audiences/audience.js'
import { constantTimeEqual } from '../credentials/base64url.js'
import type { Resources } from '../resource.js'
import type { Scope } from '../scopes.js'
import type { ClientId, Digest, GrantId, Seconds, Subject } from '../values.js'

/** One user's permission to one application. JSON, so that any store can hold it. */
export interface Grant {
  /** Version of this shape. */
  readonly v: 1
  /** The identifier of the grant. */
  readonly id: GrantId
  /** The client that the user permitted it to. */
  readonly clientId: ClientId
  /** The user. */
  readonly subject: Subject
  /** The scopes that the user permitted; no token ever has more. */
  readonly scopes: readonly Scope[]
  /** The resources that the user permitted. */
  readonly resources: Resources
  /** The protected resources that the user permitted (RFC 8707); absent where the request named none. */
  readonly audience?: Audience
  /** The time of the user's decision, in seconds since the epoch. */
  readonly createdAt: Seconds
  /**
   * The record stays at least until then: while its code lives, and while the form that made it could come back by a clock that is
   * 600 seconds behind.
   */
  readonly keepUntil: Seconds
  /** The code that gave, or may give, the first pair. */
  readonly code: AuthorizationCode | DeviceCode
  /** The time of its last new pair: a token is used within its lifetime from then, or not at all. Absent before the first. */
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
  /** SHA-256 of the code's secret. */
  readonly digest: Digest
  /** Exactly as the authorization request had it. */
  readonly redirectUri: string
  /** S256 challenge (RFC 7636, section 4.2). */
  readonly codeChallenge?: string
  /** Exclusive. */
  readonly expiresAt: Seconds
  /** Salt of the code's derivation, 32 bytes of base64url: with the form's secret it gives the code again. Gone with the exchange. */
  readonly salt?: string
  /** The time of the exchange; absent before it. */
  readonly usedAt?: Seconds
}

/** The device code of a grant that was permitted for a device (RFC 8628, section 3.2), and how it is polled. */
export interface DeviceCode {
  /** SHA-256 of the code's secret. */
  readonly digest: Digest
  /** Never there: that tells it from an authorization code. */
  readonly redirectUri?: never
  /** Exclusive. */
  readonly expiresAt: Seconds
  /** Seconds that must lie between two polls; grows with each one that comes too soon. */
  readonly interval: Seconds
  /** The time of the last poll that was told to wait. */
  readonly polledAt?: Seconds
  /** The last wait that was too short, and how often in a row it was longer than the one before by what is asked for. */
  readonly tooSoon?: { readonly waited: Seconds; readonly slower: number }
  /** The time at which it gave tokens; absent before that. */
  readonly usedAt?: Seconds
}

/** A device that waits for somebody to decide: what the record of a grant is until then. JSON. */
export interface DeviceAuthorization {
  /** Version of this shape. */
  readonly v: 1
  /** The identifier of the grant that it becomes. */
  readonly id: GrantId
  /** The client that asked. */
  readonly clientId: ClientId
  /** The scopes that the device asks for. */
  readonly scopes: readonly Scope[]
  /** The protected resources that the device asks for; absent where it named none. */
  readonly audience?: Audience
  /** The time of the request, in seconds since the epoch. */
  readonly createdAt: Seconds
  /** The record stays at least until then, so that a late poll is told that the code expired. */
  readonly keepUntil: Seconds
  /** The device code. */
  readonly code: DeviceCode
}

/** A record under the identifier of a grant. */
export type GrantRecord = Grant | DeviceAuthorization

/** An access token and its refresh token. */
export interface TokenPair {
  /** The access token. */
  readonly access: {
    readonly digest: Digest
    /** Exclusive: the token works while `now < expiresAt`. */
    readonly expiresAt: Seconds
    readonly scopes: readonly Scope[]
    /** That of the grant, or a part of it; absent where the grant has none. */
    readonly audience?: Audience
    /** Absent for `bearer` (specification, section 5.2). */
    readonly type?: 'mac'
    /** Present when this token was revoked alone. */
    readonly revokedAt?: Seconds
  }
  /** The refresh token. */
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
    /** Salt of the successor's derivation, 32 bytes of base64url; gone with the pair at the first write after `until`. */
    readonly salt: string
  }
}

/** Seconds by which a clock may be set back without an old form deciding anew. */
export const CLOCK_SET_BACK: Seconds = 600

/** Retired refresh tokens that a grant remembers at most, to tell a replay from an unknown token. */
export const RETIRED_KEPT = 64

/** Pairs that may be in grace at once. */
export const PAIRS_IN_GRACE = 32

/** Finds the pair that has a token with this digest, newest first; each comparison takes constant time. */
export function findPair(grant: Grant | undefined, token: 'access' | 'refresh', digest: Digest): TokenPair | undefined {
  if (grant === undefined) return undefined
  for (let index = grant.pairs.length - 1; index >= 0; index--) {
    const pair = grant.pairs[index] as TokenPair // inside the list
    if (constantTimeEqual(pair[token].digest, digest)) return pair
  }
  return undefined
}

/** Returns the exclusive end of a token's life: its own expiry or, once its pair was refreshed, the end of grace where that is sooner. */
export function worksUntil(pair: TokenPair, token: 'access' | 'refresh'): Seconds {
  const { expiresAt } = pair[token]
  const { superseded } = pair
  // Not by Math.min: whatever a polluted prototype has in its place, no token works past its own expiry.
  return superseded !== undefined && superseded.until < expiresAt ? superseded.until : expiresAt
}

/**
 * Returns the grant without the pairs whose grace is over: their refresh tokens move to the retired ones, their salts are gone.
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
 * Returns the time until which a store must keep a grant: the last moment at which forgetting it could change an answer.
 * @returns seconds since the epoch, exclusive
 */
export function retention(grant: GrantRecord): Seconds {
  let until = grant.keepUntil
  if (!isGrant(grant) || grant.revokedAt !== undefined) return until
  for (const pair of grant.pairs) until = Math.max(until, pair.access.expiresAt, pair.refresh.expiresAt)
  return until
}

/** True if somebody has decided on a record: before that it is a device that waits. */
export function isGrant(record: GrantRecord | undefined): record is Grant {
  return (record as Partial<Grant> | undefined)?.pairs !== undefined // what it is to find out
}

/** True if anything of a grant still works or can still be exchanged. */
export function isLive(grant: Grant, now: Seconds): boolean {
  return grant.revokedAt === undefined && now < liveUntil(grant)
}

/** Returns the exclusive end of the last token of a grant or, before there are any, of its code. */
export function liveUntil(grant: Grant): Seconds {
  let until = grant.code.usedAt === undefined ? grant.code.expiresAt : 0
  for (const pair of grant.pairs) {
    const access = pair.access.revokedAt === undefined ? worksUntil(pair, 'access') : 0
    until = Math.max(until, access, worksUntil(pair, 'refresh'))
  }
  return until
}
