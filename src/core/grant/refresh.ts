/**
 * The refresh of a token pair, its grace period, and the detection of replay.
 *
 * The secrets of the successor are derived from the presented refresh secret and a salt, so that every refresh with
 * one token gives the same successor while its grace runs, on whichever server, and nothing secret is stored for it.
 * @module
 * @see Specification, sections 3 and 4.3; RFC 6749, section 6; RFC 9700, section 4.14.2; RFC 5869
 */

import type { Audience } from '../audiences/audience.js'
import { audienceOf, coversAudience } from '../audiences/audience.js'
import { audienceOfSuccessor, audienceTooWide } from '../audiences/errors.js'
import { constantTimeEqual, decodeBase64url, encodeBase64url } from '../credentials/base64url.js'
import type { Credential } from '../credentials/credential.js'
import { SECRET_BYTES } from '../credentials/credential.js'
import { rulesOfEachKey } from '../credentials/derivation-keys.js'
import { bytesOfAscii, digestOf, hkdf, keyMaterialOf } from '../credentials/digests.js'
import { oauthError } from '../errors.js'
import type { Scope } from '../scopes.js'
import { narrowScopes } from '../scopes.js'
import type { ClientId, Digest, Seconds } from '../values.js'
import type { Grant, TokenPair } from './grant.js'
import { findPair, PAIRS_IN_GRACE, retire, worksUntil } from './grant.js'
import type { GrantOutcome } from './outcome.js'
import { about, invalidGrant, refused, withoutChange } from './outcome.js'
import type { IssuedTokens, PairSecrets } from './pair.js'
import { createPair, createSecrets, issuedTokens, scopesNow, tombstone, withoutScopes, withPairs } from './pair.js'
import type { GrantRules } from './rules.js'

/** The command of a client that refreshes a pair. */
export interface RefreshCommand {
  /** The name of the command. */
  readonly type: 'refresh'
  /** The refresh token that the client presents. */
  readonly credential: Credential
  /** The client that authenticated. */
  readonly clientId: ClientId
  /** In normal form; absent asks for all that the user permitted. */
  readonly scopes?: readonly Scope[] | undefined
  /** The protected resources that the access token is for; absent asks for all that the user permitted. */
  readonly audience?: Audience | undefined
  /** The scopes that the application is registered for now: its tokens have no others. */
  readonly registered: readonly Scope[]
  /** The type of the successor's access token; `bearer` where it is absent (specification, section 5.2). */
  readonly tokenType?: 'mac' | undefined
}

/** Names what is derived: `grantwell successor 1` in ASCII. */
const DERIVATION_LABEL = bytesOfAscii('grantwell successor 1')

/**
 * Refreshes a pair. The first refresh makes the one successor and starts the grace period of both old tokens; every
 * other one within it answers with the same successor and changes nothing; one after it is a replay.
 * @param entropy - 32 bytes
 */
export function refresh(
  grant: Grant | undefined,
  command: RefreshCommand,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): GrantOutcome<IssuedTokens> {
  const { credential } = command
  const digest = digestOf(rules.digests, credential.secret)
  if (grant === undefined || credential.kind !== 'refresh_token') return refused('credential_unknown')
  const pair = findPair(grant, 'refresh', digest)
  if (grant.clientId !== command.clientId) return refused('credential_of_another_client')
  if (grant.revokedAt !== undefined) return refused('credential_revoked')
  if (pair === undefined) return wasRetired(grant, digest) ? replayed(grant, now, rules) : refused('credential_unknown')
  if (pair.superseded !== undefined && now >= pair.superseded.until) return replayed(grant, now, rules)
  if (now >= pair.refresh.expiresAt) return refused('credential_expired')
  if (!coversAudience(audienceOf(grant), audienceOf(command))) return withoutChange(audienceTooWide())
  const scopes = narrowScopes(grant.scopes, command.scopes, rules.catalogue)
  if (scopes === undefined)
    return withoutChange(
      oauthError('invalid_scope', 'scope_insufficient', 'The scope is wider than what the user permitted.'),
    )
  return pair.superseded === undefined
    ? supersede(grant, pair, command, scopes, now, entropy, rules)
    : repeat(grant, pair, pair.superseded.salt, command, now, rules)
}

/** Refreshes a pair for the first time: it gets its successor, and its grace period begins. */
function supersede(
  grant: Grant,
  pair: TokenPair,
  command: RefreshCommand,
  scopes: readonly Scope[],
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): GrantOutcome<IssuedTokens> {
  const { credential, tokenType, registered } = command
  const current = retire(grant, now)
  if (current.pairs.length > PAIRS_IN_GRACE) {
    const soonest = Math.min(...current.pairs.flatMap(({ superseded }) => superseded?.until ?? []))
    const description = 'This token was refreshed too often in too short a time.'
    const limits = { status: 429, retryAfter: soonest - now }
    return { reply: oauthError('temporarily_unavailable', 'too_many_pairs_in_grace', description, limits), events: [] }
  }
  const audience = audienceOf(command) ?? audienceOf(grant)
  const access = { scopes, audience, type: tokenType }
  const limited = scopesNow(access, registered, rules)
  if (limited.length === 0) return withoutScopes(access, registered, rules)
  const salt = entropy.subarray(0, SECRET_BYTES)
  const secrets = deriveSuccessor(credential, salt, rules)
  const successor = createPair(secrets, access, now, rules)
  const superseded: TokenPair = {
    access: pair.access,
    refresh: pair.refresh,
    superseded: { at: now, until: now + rules.gracePeriod, salt: encodeBase64url(salt) },
  }
  return {
    reply: issuedTokens(credential, secrets, successor, limited, now, rules),
    grant: withPairs(current, [...current.pairs.slice(0, -1), superseded, successor], now),
    events: [{ type: 'refreshed', scopes: limited, retry: false, ...about(grant, now) }],
  }
}

/** Repeats the refresh of a pair within its grace period: with the same successor, as it is by now. */
function repeat(
  grant: Grant,
  pair: TokenPair,
  salt: string,
  command: RefreshCommand,
  now: Seconds,
  rules: GrantRules,
): GrantOutcome<IssuedTokens> {
  const { credential, registered } = command
  const successor = grant.pairs[grant.pairs.indexOf(pair) + 1] as TokenPair // a superseded pair has one behind it
  const derived = deriveAgain(credential, decodeBase64url(salt) as Uint8Array, successor, rules) // written by supersede
  if (derived === undefined) return refused('credential_unknown')
  if (successor.access.revokedAt !== undefined) return refused('credential_revoked')
  // Only where a clock stepped back: what is handed out must not be a replay as soon as it is used.
  if (now >= worksUntil(successor, 'refresh')) return refused('credential_expired')
  // A client that asks for one API must not be handed a token that another one can use.
  const requested = audienceOf(command)
  if (requested !== undefined && !coversAudience(requested, audienceOf(successor.access)))
    return withoutChange(audienceOfSuccessor())
  const scopes = scopesNow(successor.access, registered, rules)
  if (scopes.length === 0) return withoutScopes(successor.access, registered, rules)
  return {
    reply: issuedTokens(credential, derived.secrets, successor, scopes, now, derived.rules),
    events: [{ type: 'refreshed', scopes, retry: true, ...about(grant, now) }],
  }
}

/**
 * Derives the secrets of a successor that is there, with the key of its first time. Undefined for another pair, where a clock stepped back
 * and the successor is gone, and for a key that is on no list any more: nothing that we could hand out would work.
 * @returns the secrets, and the rules under that key
 */
function deriveAgain(
  credential: Credential,
  salt: Uint8Array,
  { refresh: { digest } }: TokenPair,
  rules: GrantRules,
): { readonly secrets: PairSecrets; readonly rules: GrantRules } | undefined {
  return rulesOfEachKey(rules)
    .map((each) => ({ secrets: deriveSuccessor(credential, salt, each), rules: each }))
    .find(({ secrets }) => constantTimeEqual(digest, digestOf(rules.digests, secrets.refresh)))
}

/** Answers a refresh token that comes back after its grace: somebody has it who should not. */
function replayed(grant: Grant, now: Seconds, rules: GrantRules): GrantOutcome<never> {
  const event = { type: 'replayed', credential: 'refresh_token', ...about(grant, now) } as const
  const reply = invalidGrant('credential_replayed')
  if (rules.refreshReplay === 'refuse') {
    // Kept, so that a clock that steps back does not bring the token to life again.
    const current = retire(grant, now)
    return { reply, ...(current !== grant && { grant: current }), events: [event] }
  }
  return {
    reply,
    grant: tombstone(grant, now),
    events: [event, { type: 'revoked', what: 'grant', cause: 'replay', ...about(grant, now) }],
  }
}

/** Derives the secrets of the successor (RFC 5869). */
function deriveSuccessor({ secret }: Credential, salt: Uint8Array, rules: GrantRules): PairSecrets {
  const keyMaterial = keyMaterialOf(bytesOfAscii(secret), rules)
  return createSecrets(hkdf(rules.digests, keyMaterial, salt, DERIVATION_LABEL, 2 * SECRET_BYTES))
}

function wasRetired(grant: Grant, digest: Digest): boolean {
  return grant.retired.some((retired) => constantTimeEqual(retired, digest))
}
