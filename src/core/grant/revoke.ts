/**
 * The revocation of a token by its client, and of a whole grant by its user or an administrator.
 * @module
 * @see Specification, section 4.4; RFC 7009, section 2.1
 */

import { audienceOf } from '../audiences/audience.js'
import type { Credential } from '../credentials/credential.js'
import { digestOf } from '../credentials/digests.js'
import type { RefusalReason } from '../errors.js'
import type { ClientId, Seconds } from '../values.js'
import type { Grant, TokenPair } from './grant.js'
import { findPair, isLive, retire, worksUntil } from './grant.js'
import type { GrantOutcome } from './outcome.js'
import { about } from './outcome.js'
import { tombstone, withPairs } from './pair.js'
import type { GrantRules } from './rules.js'

/** The command of a client that revokes a token. */
export interface RevokeCommand {
  /** The name of the command. */
  readonly type: 'revoke'
  /** The token that the client presents. */
  readonly credential: Credential
  /** The client that authenticated. */
  readonly clientId: ClientId
}

/** The command of somebody who ends a grant and has no token of it. */
export interface WithdrawCommand {
  /** The name of the command. */
  readonly type: 'withdraw'
  /** The one who ends the grant: its user, an administrator, or newer grants (the option `grantLimit`). */
  readonly by: 'user' | 'administrator' | 'limit'
}

/** The answer to {@link RevokeCommand} and {@link WithdrawCommand}: the client sees the same in both cases. */
export type Revocation = { readonly type: 'revoked' } | { readonly type: 'unchanged'; readonly reason: RefusalReason }

/**
 * Revokes an access token alone, or by a refresh token its whole grant. A token that is unknown, that no longer works,
 * or that is another client's changes nothing.
 *
 * A refresh token in its grace period still works, so it still revokes.
 */
export function revoke(
  grant: Grant | undefined,
  command: RevokeCommand,
  now: Seconds,
  rules: GrantRules,
): GrantOutcome<Revocation> {
  const { credential } = command
  const digest = digestOf(rules.digests, credential.secret)
  const token = credential.kind === 'access_token' ? 'access' : 'refresh'
  const pair =
    credential.kind === 'access_token' || credential.kind === 'refresh_token'
      ? findPair(grant, token, digest)
      : undefined
  if (grant === undefined || pair === undefined) return unchanged('credential_unknown')
  if (grant.clientId !== command.clientId) return unchanged('credential_of_another_client')
  if (grant.revokedAt !== undefined) return unchanged('credential_revoked')
  if (now >= worksUntil(pair, token)) return unchanged('credential_expired')
  if (token === 'refresh') {
    return {
      reply: { type: 'revoked' },
      grant: tombstone(grant, now),
      events: [{ type: 'revoked', what: 'grant', cause: 'client', ...about(grant, now) }],
    }
  }
  if (pair.access.revokedAt !== undefined) return unchanged('credential_revoked')
  const current = retire(grant, now)
  const { lastUsedAt } = current
  const pairs = current.pairs.map((each) => (each === pair ? withoutAccess(pair, now) : each))
  return {
    reply: { type: 'revoked' },
    grant: lastUsedAt === undefined ? { ...current, pairs } : withPairs(current, pairs, lastUsedAt),
    events: [{ type: 'revoked', what: 'access_token', cause: 'client', ...about(grant, now) }],
  }
}

/**
 * Ends a grant, with whatever of it is yet to be redeemed. One that ended by itself is ended all the same, and told apart
 * in the answer, so that a clock that steps back does not bring it to life again.
 */
export function withdraw(grant: Grant | undefined, command: WithdrawCommand, now: Seconds): GrantOutcome<Revocation> {
  if (grant === undefined) return unchanged('credential_unknown')
  if (grant.revokedAt !== undefined) return unchanged('credential_revoked')
  const ended = tombstone(grant, now)
  if (!isLive(grant, now)) return { ...unchanged('credential_expired'), grant: ended }
  return {
    reply: { type: 'revoked' },
    grant: ended,
    events: [{ type: 'revoked', what: 'grant', cause: command.by, ...about(grant, now) }],
  }
}

/** Returns a pair whose access token is revoked. Written out, as `withPairs`. */
function withoutAccess({ access, refresh, superseded }: TokenPair, revokedAt: Seconds): TokenPair {
  const { digest, expiresAt, scopes, type } = access
  const audience = audienceOf(access)
  const plain =
    type === undefined ? { digest, expiresAt, scopes, revokedAt } : { digest, expiresAt, scopes, type, revokedAt }
  const revoked = audience === undefined ? plain : { ...plain, audience }
  return superseded === undefined ? { access: revoked, refresh } : { access: revoked, refresh, superseded }
}

function unchanged(reason: RefusalReason): GrantOutcome<Revocation> {
  return { reply: { type: 'unchanged', reason }, events: [] }
}
