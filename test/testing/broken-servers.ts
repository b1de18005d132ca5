/**
 * Servers whose lifecycle is broken in one place, each in a way that somebody could write: what `lifecycle` must catch.
 * @module
 */
import type { LifecycleTerms } from '../../src/testing/lifecycle.js'
import type { Mutation } from './mutants.js'

/** A broken server, and the terms on which it runs where the default ones seldom lead there. */
export interface BrokenServer extends Mutation {
  readonly terms?: Partial<LifecycleTerms>
}

/** Lifetimes that end within each other, so that what seldom meets, meets. */
export const SHORT: Partial<LifecycleTerms> = {
  codeLifetime: 60,
  accessTokenLifetime: 100,
  refreshTokenLifetime: 400,
  gracePeriod: 300,
}

const REVOKED_AS_A_WHOLE = 'grant: tombstone(grant, now),'

export const BROKEN_SERVERS: readonly BrokenServer[] = [
  {
    name: 'the grace period is a second too long',
    file: 'core/grant/refresh.ts',
    find: 'until: now + rules.gracePeriod,',
    replace: 'until: now + rules.gracePeriod + 1,',
  },
  {
    name: 'the grace period is a second too short',
    file: 'core/grant/refresh.ts',
    find: 'until: now + rules.gracePeriod,',
    replace: 'until: now + rules.gracePeriod - 1,',
  },
  {
    name: 'the grace period begins anew at the second refresh',
    file: 'core/grant/refresh.ts',
    find: "events: [{ type: 'refreshed', scopes, retry: true, ...about(grant, now) }],",
    replace: `events: [],
      grant: { ...grant, pairs: grant.pairs.map((each) =>
        each === pair ? { ...pair, superseded: { ...pair.superseded, until: now + rules.gracePeriod } } : each) },`,
  },
  {
    name: 'a code can be redeemed twice',
    file: 'core/grant/exchange.ts',
    find: 'if (code.usedAt !== undefined) {',
    replace: 'if (false) {',
  },
  {
    name: 'a code that comes back leaves its tokens alone',
    file: 'core/grant/exchange.ts',
    find: REVOKED_AS_A_WHOLE,
    replace: '',
  },
  {
    name: 'a code lives a second too long',
    file: 'core/grant/exchange.ts',
    find: 'if (code.usedAt === undefined && now >= code.expiresAt)',
    replace: 'if (code.usedAt === undefined && now > code.expiresAt)',
    // With the default terms the store forgets the grant at the very moment when the code expires.
    terms: SHORT,
  },
  {
    name: 'an access token lives a second too long',
    file: 'core/grant/inspect.ts',
    find: 'if (now >= expiresAt) return',
    replace: 'if (now > expiresAt) return',
  },
  {
    name: 'nobody looks whether a refresh token has expired',
    file: 'core/grant/refresh.ts',
    find: "if (now >= pair.refresh.expiresAt) return refused('credential_expired')",
    replace: '',
    terms: SHORT,
  },
  {
    name: 'a refresh widens the scope',
    file: 'core/grant/refresh.ts',
    find: 'narrowScopes(grant.scopes, command.scopes)',
    replace: 'command.scopes ?? grant.scopes',
  },
  {
    name: 'a refresh asks for the scope in vain',
    file: 'core/grant/refresh.ts',
    find: 'const successor = createPair(secrets, scopes, tokenType, now, rules)',
    replace: 'const successor = createPair(secrets, grant.scopes, tokenType, now, rules)',
  },
  {
    name: 'every refresh with one token makes a successor of its own',
    file: 'core/grant/refresh.ts',
    find: 'return pair.superseded === undefined\n    ?',
    replace: 'return true\n    ?',
  },
  {
    name: 'a refresh whose answer was lost cannot be sent again',
    file: 'core/grant/refresh.ts',
    find: 'const secrets = deriveSuccessor(credential, salt, rules)',
    replace: 'const secrets = createSecrets(entropy)',
  },
  {
    name: 'a refresh token that comes back after its grace revokes nothing',
    file: 'core/grant/refresh.ts',
    find: "if (rules.refreshReplay === 'refuse') {",
    replace: 'if (true) {',
  },
  {
    name: 'a token that was never given counts as one that comes back',
    file: 'core/grant/refresh.ts',
    find: 'return wasRetired(grant, digest) ?',
    replace: 'return true ?',
  },
  {
    name: 'a successor whose access token was revoked is handed out again',
    file: 'core/grant/refresh.ts',
    find: "if (successor.access.revokedAt !== undefined) return refused('credential_revoked')",
    replace: '',
  },
  {
    name: 'one pair too few may be in grace',
    file: 'core/grant/refresh.ts',
    find: 'current.pairs.length > PAIRS_IN_GRACE',
    replace: 'current.pairs.length >= PAIRS_IN_GRACE',
  },
  {
    name: 'expires_in forgets the grace period',
    file: 'core/grant/pair.ts',
    find: "worksUntil(pair, 'access') - now",
    replace: 'pair.access.expiresAt - now',
  },
  {
    name: 'a redirect URI is not compared',
    file: 'core/grant/exchange.ts',
    find: 'if (command.redirectUri !== undefined && command.redirectUri !== code.redirectUri)',
    replace: 'if (false)',
  },
  {
    name: 'a verifier is not compared',
    file: 'core/grant/exchange.ts',
    find: 'if (!verifies(code.codeChallenge, command.codeVerifier, rules))',
    replace: 'if (false)',
  },
  {
    name: 'a verifier without a challenge passes',
    file: 'core/grant/exchange.ts',
    find: 'if (challenge === undefined || verifier === undefined) return challenge === verifier',
    replace: 'if (challenge === undefined) return true; if (verifier === undefined) return false',
  },
  {
    name: 'the revocation of a refresh token leaves the access token',
    file: 'core/grant/revoke.ts',
    find: REVOKED_AS_A_WHOLE,
    replace: `grant: { ...grant, pairs: grant.pairs.map((each) =>
      ({ ...each, refresh: { ...each.refresh, expiresAt: now } })) },`,
  },
  {
    name: 'a revoked refresh token can still be used',
    file: 'core/grant/revoke.ts',
    find: REVOKED_AS_A_WHOLE,
    replace: 'grant: { ...grant, pairs: grant.pairs.map((each) => withoutAccess(each, now)) },',
  },
  {
    name: 'the revocation of an access token revokes everything',
    file: 'core/grant/revoke.ts',
    find: "if (token === 'refresh') {",
    replace: 'if (true) {',
  },
  {
    name: 'a client revokes what is not its own',
    file: 'endpoints/revocation.ts',
    find: `clientId: application.clientId } as const
      const outcome = transition(grant, revoke, now, entropy, rules)
      // Under another client's key it is another client's, whatever else it says; decided on, so that it takes as long.
      return credential.clientKey === clientKey`,
    replace: `clientId: (grant as any)?.clientId ?? application.clientId } as const
      const outcome = transition(grant, revoke, now, entropy, rules)
      return true`,
  },
  {
    name: 'a client redeems what is not its own',
    file: 'endpoints/token.ts',
    find: `const credential = wanted.credential?.clientKey === clientKey ? wanted.credential : undefined
    const reply = await transactions.onGrant<IssuedTokens>(
      clientKey,
      credential?.grantId,
      (stored, grant, now, entropy) => {`,
    replace: `const credential = wanted.credential
    const reply = await transactions.onGrant<IssuedTokens>(
      clientKey,
      credential?.grantId,
      (stored, given, now, entropy) => {
      const grant = given && { ...given, clientId: client.clientId } as typeof given`,
  },
  {
    name: 'any client secret will do',
    file: 'protocol/client-authentication.ts',
    find: '} else if (!authentic) {',
    replace: '} else if (false) {',
  },
]
