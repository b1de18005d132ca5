/**
 * A token pair: its secrets, its record, and the answer that hands it out; and a grant after it gave one, or was revoked.
 * @module
 * @see Specification, section 3; RFC 6749, section 5.1
 */

import type { Audience } from '../audiences/audience.js'
import { audienceOf, limitToAudience } from '../audiences/audience.js'
import { scopesUnknownToAudience } from '../audiences/errors.js'
import type { Credential } from '../credentials/credential.js'
import { printCredential, SECRET_BYTES, secretFrom } from '../credentials/credential.js'
import { digestOf } from '../credentials/digests.js'
import { macKeyOf } from '../credentials/mac.js'
import type { Scope } from '../scopes.js'
import { limitScopes } from '../scopes.js'
import type { Seconds } from '../values.js'
import type { Grant, TokenPair } from './grant.js'
import { worksUntil } from './grant.js'
import type { GrantOutcome } from './outcome.js'
import { refused, withoutChange } from './outcome.js'
import type { GrantRules } from './rules.js'

/** A token pair as it is handed to the client: the only moment when its secrets exist. */
export interface IssuedTokens {
  /** The kind of the reply. */
  readonly type: 'tokens'
  /** The access token. */
  readonly accessToken: string
  /** The refresh token. */
  readonly refreshToken: string
  /** Seconds until the access token expires. */
  readonly expiresIn: Seconds
  /** The scopes of the access token, in normal form. */
  readonly scopes: readonly Scope[]
  /** The key that signs each request, 43 characters; present for a token of the type `mac` alone. */
  readonly macKey?: string
}

/** The secrets of a pair. */
export interface PairSecrets {
  readonly access: string
  readonly refresh: string
}

/** Makes the secrets of a pair from 64 bytes, the access token's first. */
export function createSecrets(bytes: Uint8Array): PairSecrets {
  return { access: secretFrom(bytes, 0), refresh: secretFrom(bytes, SECRET_BYTES) }
}

/** The part of an access token that its request decides. */
export interface RequestedAccess {
  readonly scopes: readonly Scope[]
  readonly audience: Audience | undefined
  readonly type: 'mac' | undefined
}

/** Makes the record of a pair. */
export function createPair(
  secrets: PairSecrets,
  { scopes, audience, type }: RequestedAccess,
  now: Seconds,
  { digests, accessTokenLifetime, refreshTokenLifetime }: GrantRules,
): TokenPair {
  const digest = digestOf(digests, secrets.access)
  const expiresAt = now + accessTokenLifetime
  const access = type === undefined ? { digest, expiresAt, scopes } : { digest, expiresAt, scopes, type }
  return {
    access: audience === undefined ? access : { ...access, audience },
    refresh: { digest: digestOf(digests, secrets.refresh), expiresAt: now + refreshTokenLifetime },
  }
}

/** Returns the scopes that a token has now: those that its application is registered for, and that its audience knows. */
export function scopesNow(
  of: Pick<RequestedAccess, 'scopes'> & { readonly audience?: Audience | undefined },
  registered: readonly Scope[],
  rules: GrantRules,
): readonly Scope[] {
  return limitToAudience(limitScopes(of.scopes, registered, rules.catalogue), audienceOf(of), rules)
}

/** Makes the error of a token that would have no scope: for want of a registration, or since its audience knows none. */
export function withoutScopes(
  { scopes }: Pick<RequestedAccess, 'scopes'>,
  registered: readonly Scope[],
  { catalogue }: GrantRules,
): GrantOutcome<never, never> {
  return limitScopes(scopes, registered, catalogue).length === 0
    ? refused('scope_not_registered')
    : withoutChange(scopesUnknownToAudience())
}

/**
 * Makes the answer that hands out a pair. Its tokens name the records that the presented credential named.
 * @param scopes - those of the pair that the application is still registered for
 */
export function issuedTokens(
  { clientKey, grantId }: Credential,
  secrets: PairSecrets,
  pair: TokenPair,
  scopes: readonly Scope[],
  now: Seconds,
  rules: GrantRules,
): IssuedTokens {
  const accessToken = printCredential({ kind: 'access_token', clientKey, grantId, secret: secrets.access })
  const refreshToken = printCredential({ kind: 'refresh_token', clientKey, grantId, secret: secrets.refresh })
  const expiresIn = Math.max(0, worksUntil(pair, 'access') - now)
  if (pair.access.type === undefined) return { type: 'tokens', accessToken, refreshToken, expiresIn, scopes }
  return { type: 'tokens', accessToken, refreshToken, expiresIn, scopes, macKey: macKeyOf(secrets.access, rules) }
}

/** Returns a grant after a code of it gave its first pair. */
export function redeemed(grant: Grant, code: Grant['code'], pair: TokenPair, now: Seconds): Grant {
  return withPairs(grant, [pair], now, code)
}

/** Returns a grant that gave out a pair at a moment. Written out: objects of one shape are copied and read fastest. */
export function withPairs(
  grant: Grant,
  pairs: readonly TokenPair[],
  lastUsedAt: Seconds,
  code: Grant['code'] = grant.code,
): Grant {
  const { v, id, clientId, subject, scopes, resources, createdAt, keepUntil, retired } = grant
  const audience = audienceOf(grant)
  const next = { v, id, clientId, subject, scopes, resources, createdAt, keepUntil, code, pairs, retired, lastUsedAt }
  return audience === undefined ? next : { ...next, audience }
}

/** Returns a grant after its revocation. It says that it was revoked, and holds no digest of a token. Written out, as `withPairs`. */
export function tombstone(grant: Grant, now: Seconds): Grant {
  const { v, id, clientId, subject, scopes, resources, createdAt, keepUntil, code, revokedAt = now } = grant
  const { lastUsedAt } = grant
  const audience = audienceOf(grant)
  const pairs = NONE
  const retired = NONE
  const ended =
    lastUsedAt === undefined
      ? { v, id, clientId, subject, scopes, resources, createdAt, keepUntil, code, pairs, retired, revokedAt }
      : {
          v,
          id,
          clientId,
          subject,
          scopes,
          resources,
          createdAt,
          keepUntil,
          code,
          pairs,
          retired,
          lastUsedAt,
          revokedAt,
        }
  return audience === undefined ? ended : { ...ended, audience }
}

const NONE: readonly never[] = []
