/**
 * The exchange of a code for the first token pair, once.
 * @module
 * @see Specification, sections 2.2, 3 and 4.2; RFC 6749, section 4.1.3; RFC 7636
 */

import type { Audience } from '../audiences/audience.js'
import { audienceOf, coversAudience } from '../audiences/audience.js'
import { audienceTooWide } from '../audiences/errors.js'
import { constantTimeEqual } from '../credentials/base64url.js'
import type { Credential } from '../credentials/credential.js'
import { digestOf } from '../credentials/digests.js'
import type { Scope } from '../scopes.js'
import type { ClientId, Seconds } from '../values.js'
import type { AuthorizationCode, Grant } from './grant.js'
import type { GrantOutcome } from './outcome.js'
import { about, invalidGrant, refused, withoutChange } from './outcome.js'
import type { IssuedTokens } from './pair.js'
import { createPair, createSecrets, issuedTokens, redeemed, scopesNow, tombstone, withoutScopes } from './pair.js'
import type { GrantRules } from './rules.js'

/** The command of a client that exchanges its code. */
export interface ExchangeCommand {
  /** The name of the command. */
  readonly type: 'exchange'
  /** The code that the client presents. */
  readonly credential: Credential
  /** The client that authenticated. */
  readonly clientId: ClientId
  /** Must be the one that the code is bound to. Absent, client and PKCE alone bind the code (specification, section 4.2). */
  readonly redirectUri?: string | undefined
  /** The verifier of PKCE (RFC 7636, section 4.5). */
  readonly codeVerifier?: string | undefined
  /** The protected resources that the access token is for; absent asks for all that the user permitted. */
  readonly audience?: Audience | undefined
  /** The scopes that the application is registered for now: its tokens have no others. */
  readonly registered: readonly Scope[]
  /** The type of the access token that it gets; `bearer` where it is absent (specification, section 5.2). */
  readonly tokenType?: 'mac' | undefined
}

/**
 * A verifier: 43 to 128 visible ASCII characters. RFC 7636 (section 4.1) has unreserved ones alone; git-credential-oauth of
 * Debian 12 makes padded base64, and what matters is that it hashes to the challenge.
 */
const VERIFIER = /^[\x21-\x7e]{43,128}$/

/**
 * Redeems a code for the first token pair, once. A second redemption by the same client revokes what the first one
 * gave; a client, redirect URI or verifier that does not match changes nothing, the second time either.
 * @param entropy - 64 bytes
 * @see RFC 6749, section 4.1.2; RFC 7636, section 4.6; RFC 9700, section 4.8.2
 */
export function exchange(
  grant: Grant | undefined,
  command: ExchangeCommand,
  now: Seconds,
  entropy: Uint8Array,
  rules: GrantRules,
): GrantOutcome<IssuedTokens> {
  const { credential } = command
  const digest = digestOf(rules.digests, credential.secret)
  if (grant === undefined || credential.kind !== 'code' || !constantTimeEqual(grant.code.digest, digest))
    return refused('credential_unknown')
  const { code } = grant
  if (code.redirectUri === undefined) return refused('credential_unknown')
  if (grant.clientId !== command.clientId) return refused('credential_of_another_client')
  if (grant.revokedAt !== undefined) return refused('credential_revoked')
  if (code.usedAt === undefined && now >= code.expiresAt) return refused('credential_expired')
  if (command.redirectUri !== undefined && command.redirectUri !== code.redirectUri)
    return refused('redirect_uri_mismatch')
  if (!verifies(code.codeChallenge, command.codeVerifier, rules)) return refused('pkce_mismatch')
  // Behind the checks above: whoever saw a code, and has no verifier, must not be able to end what became of it.
  if (code.usedAt !== undefined) {
    return {
      reply: invalidGrant('credential_replayed'),
      grant: tombstone(grant, now),
      events: [
        { type: 'replayed', credential: 'code', ...about(grant, now) },
        { type: 'revoked', what: 'grant', cause: 'replay', ...about(grant, now) },
      ],
    }
  }

  const [granted, requested] = [audienceOf(grant), audienceOf(command)]
  if (!coversAudience(granted, requested)) return withoutChange(audienceTooWide())
  const access = { scopes: grant.scopes, audience: requested ?? granted, type: command.tokenType }
  const scopes = scopesNow(access, command.registered, rules)
  if (scopes.length === 0) return withoutScopes(access, command.registered, rules)
  const secrets = createSecrets(entropy)
  const pair = createPair(secrets, access, now, rules)
  return {
    reply: issuedTokens(credential, secrets, pair, scopes, now, rules),
    grant: redeemed(grant, usedCode(code, now), pair, now),
    events: [{ type: 'exchanged', scopes, ...about(grant, now) }],
  }
}

/** The code after its exchange, without the salt from which it was derived. */
function usedCode(
  { digest, redirectUri, codeChallenge, expiresAt }: AuthorizationCode,
  usedAt: Seconds,
): AuthorizationCode {
  const used = { digest, redirectUri, expiresAt, usedAt }
  return codeChallenge === undefined ? used : { codeChallenge, ...used }
}

/** Checks the verifier against the challenge. Without a challenge there must be no verifier: a downgrade has one. */
function verifies(challenge: string | undefined, verifier: string | undefined, rules: GrantRules): boolean {
  if (challenge === undefined || verifier === undefined) return challenge === verifier
  return VERIFIER.test(verifier) && constantTimeEqual(challenge, rules.digests.sha256(verifier))
}
