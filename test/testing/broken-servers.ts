/**
 * Servers whose lifecycle is broken in one place, each in a way that somebody could write: `lifecycle` must find it.
 * @module
 */
import type { LifecycleTerms } from '../../src/testing/lifecycle.js'
import type { Mutation, RoomEdit } from './mutants.js'

/** A broken server, and the terms on which it runs where the default ones seldom lead there. */
export interface BrokenServer extends Mutation {
  readonly terms?: Partial<LifecycleTerms>
}

/** Lifetimes that end within each other, so that rare states meet. */
export const SHORT: Partial<LifecycleTerms> = {
  codeLifetime: 60,
  accessTokenLifetime: 100,
  refreshTokenLifetime: 400,
  gracePeriod: 300,
}

const ROOM = 'core/grant'

/** Makes an edit of a rule of grants. */
export function inGrant(within: string, find: string, replace: string): RoomEdit {
  return { room: ROOM, within, find, replace }
}

/** The grace period begins anew at the second refresh. */
export const GRACE_BEGINS_ANEW = inGrant(
  'repeat',
  '{ reply: $reply, events: $events }',
  `{
    reply: $reply,
    events: [],
    grant: { ...grant, pairs: grant.pairs.map((each) =>
      each === pair ? { ...pair, superseded: { ...pair.superseded, until: now + rules.gracePeriod } } : each) },
  }`,
)

/** Every endpoint takes a credential for one of the client that shows it. */
const ANY_CLIENT_KEY: RoomEdit = {
  room: 'endpoints',
  find: '$credential.clientKey === $key',
  replace: 'true',
  everywhere: true,
}

const ANOTHER_CLIENT = 'grant.clientId !== command.clientId'

export const BROKEN_SERVERS: readonly BrokenServer[] = [
  {
    name: 'the grace period is a second too long',
    edits: [inGrant('supersede', 'now + rules.gracePeriod', 'now + rules.gracePeriod + 1')],
  },
  {
    name: 'the grace period is a second too short',
    edits: [inGrant('supersede', 'now + rules.gracePeriod', 'now + rules.gracePeriod - 1')],
  },
  { name: 'the grace period begins anew at the second refresh', edits: [GRACE_BEGINS_ANEW] },
  {
    name: 'a code can be redeemed twice',
    edits: [inGrant('exchange', 'code.usedAt !== undefined', 'false')],
  },
  {
    name: 'a code that comes back leaves its tokens alone',
    edits: [inGrant('exchange', 'tombstone(grant, now)', 'undefined')],
  },
  {
    name: 'a code lives a second too long',
    edits: [inGrant('exchange', 'now >= code.expiresAt', 'now > code.expiresAt')],
    // With the default terms the store forgets the grant at the very moment when the code expires.
    terms: SHORT,
  },
  {
    name: 'an access token lives a second too long',
    edits: [inGrant('inspect', 'now >= expiresAt', 'now > expiresAt')],
  },
  {
    name: 'nobody looks whether a refresh token has expired',
    edits: [inGrant('refresh', 'now >= pair.refresh.expiresAt', 'false')],
    terms: SHORT,
  },
  {
    name: 'a refresh widens the scope',
    edits: [
      inGrant(
        'refresh',
        'narrowScopes(grant.scopes, command.scopes, rules.catalogue)',
        'command.scopes ?? grant.scopes',
      ),
    ],
  },
  {
    name: 'a refresh asks for the scope in vain',
    edits: [
      inGrant(
        'supersede',
        '{ scopes, audience, type: tokenType }',
        '{ scopes: grant.scopes, audience, type: tokenType }',
      ),
    ],
  },
  {
    name: 'a refresh widens the audience',
    edits: [inGrant('refresh', '!coversAudience(audienceOf(grant), audienceOf(command))', 'false')],
  },
  {
    name: 'a refresh asks for a resource in vain',
    edits: [inGrant('supersede', 'audienceOf(command) ?? audienceOf(grant)', 'audienceOf(grant)')],
  },
  {
    name: 'a repeated refresh gives a token for another resource',
    edits: [inGrant('repeat', '!coversAudience(requested, audienceOf(successor.access))', 'false')],
  },
  {
    name: 'an exchange widens the audience',
    edits: [inGrant('exchange', '!coversAudience(granted, requested)', 'false')],
  },
  {
    name: 'a refreshed grant loses its audience',
    edits: [inGrant('withPairs', 'audience === undefined ? next : $whole', 'next')],
  },
  {
    name: 'a guard of a resource takes any token',
    edits: [{ room: 'guard', within: 'checkToken', find: '!isMeant', replace: 'audience === undefined && !isMeant' }],
  },
  {
    name: 'a guard of none takes a token for a resource',
    edits: [{ room: 'guard', within: 'checkToken', find: '!isMeant', replace: 'audience !== undefined && !isMeant' }],
  },
  {
    name: 'every refresh with one token makes a successor of its own',
    edits: [inGrant('refresh', 'pair.superseded === undefined', 'true')],
  },
  {
    name: 'a refresh whose answer was lost cannot be sent again',
    edits: [inGrant('supersede', 'deriveSuccessor($credential, $salt, $rules)', 'createSecrets(entropy)')],
  },
  {
    name: 'a refresh token that comes back after its grace revokes nothing',
    edits: [inGrant('replayed', "rules.refreshReplay === 'refuse'", 'true')],
  },
  {
    name: 'a token that was never given counts as one that comes back',
    edits: [inGrant('refresh', 'wasRetired(grant, digest)', 'true')],
  },
  {
    name: 'a successor whose access token was revoked is handed out again',
    edits: [inGrant('repeat', 'successor.access.revokedAt !== undefined', 'false')],
  },
  {
    name: 'one pair too few may be in grace',
    edits: [inGrant('supersede', '$count > PAIRS_IN_GRACE', '$count >= PAIRS_IN_GRACE')],
  },
  {
    name: 'expires_in forgets the grace period',
    edits: [inGrant('issuedTokens', "worksUntil(pair, 'access')", 'pair.access.expiresAt')],
  },
  {
    name: 'a redirect URI is not compared',
    edits: [inGrant('exchange', 'command.redirectUri !== code.redirectUri', 'false')],
  },
  {
    name: 'a verifier is not compared',
    edits: [inGrant('exchange', 'verifies($challenge, $verifier, $rules)', 'true')],
  },
  {
    name: 'a verifier without a challenge passes',
    edits: [inGrant('verifies', 'challenge === verifier', 'challenge === undefined')],
  },
  {
    name: 'the revocation of a refresh token leaves the access token',
    edits: [
      inGrant(
        'revoke',
        'tombstone(grant, now)',
        `{ ...grant, pairs: grant.pairs.map((each) => ({ ...each, refresh: { ...each.refresh, expiresAt: now } })) }`,
      ),
    ],
  },
  {
    name: 'a revoked refresh token can still be used',
    edits: [
      inGrant(
        'revoke',
        'tombstone(grant, now)',
        '{ ...grant, pairs: grant.pairs.map((each) => withoutAccess(each, now)) }',
      ),
    ],
  },
  {
    name: 'the revocation of an access token revokes everything',
    edits: [inGrant('revoke', "token === 'refresh'", 'true')],
  },
  {
    name: 'a client revokes what is not its own',
    edits: [ANY_CLIENT_KEY, inGrant('revoke', ANOTHER_CLIENT, 'false')],
  },
  {
    name: 'a client redeems what is not its own',
    edits: [ANY_CLIENT_KEY, inGrant('exchange', ANOTHER_CLIENT, 'false'), inGrant('refresh', ANOTHER_CLIENT, 'false')],
  },
  {
    name: 'any client secret will do',
    edits: [{ room: 'protocol', within: 'authenticateClient', find: '!authentic', replace: 'false' }],
  },
]
