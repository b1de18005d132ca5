/**
 * The limit on live grants: ends the grants that must give way to a new one.
 * @module
 */

import type { OAuthError } from '../../core/errors.js'
import { isOAuthError } from '../../core/errors.js'
import type { Decision } from '../../core/grant/consents.js'
import { GIVES_WAY_AFTER } from '../../core/grant/consents.js'
import type { Grant } from '../../core/grant/grant.js'
import { isLive } from '../../core/grant/grant.js'
import type { GrantId, Seconds } from '../../core/values.js'
import { unavailable } from '../records/checked-store.js'
import type { ConsentContext, Deciding } from './grants.js'
import { endGrant, readGrants } from './grants.js'

/**
 * Ends some grants: first those that are over, then codes that nobody exchanged, then grants without a question to the user, then
 * the oldest. With `consent: 'once'`, the grant that spares the user questions is the last to end.
 * @param count - the number of grants to end
 * @param sparedBy - the grant that spared the user a question; by default the newest one that could
 * @returns the decisions whose grants were ended, or the error for the page
 */
export async function endOldest(
  context: ConsentContext,
  who: Deciding,
  decisions: readonly Decision[],
  count: number,
  sparedBy: GrantId | undefined,
): Promise<readonly Decision[] | OAuthError> {
  const { clock, consent } = context.settings
  const ids = decisions.map(({ grantId }) => grantId)
  const found = await readGrants(context, who, ids)
  if (isOAuthError(found)) return found
  const now = clock()
  const canSpare = ({ formExpiresAt }: Decision, index: number): boolean =>
    consent === 'once' && formExpiresAt !== undefined && found[index] !== undefined && isLive(found[index], now)
  const sparing = sparedBy ?? decisions.findLast(canSpare)?.grantId
  const leaving = decisions
    .map((decision, index) => ({ decision, rank: rankOf(decision, found[index], sparing, now) }))
    .filter(({ rank }) => rank !== Number.POSITIVE_INFINITY)
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, count)
  if (leaving.length < count) return unavailable('contention')
  const replies = await Promise.all(leaving.map(({ decision }) => endGrant(context, who, decision)))
  return replies.find((reply) => reply !== undefined) ?? leaving.map(({ decision }) => decision)
}

/**
 * Ranks the grant of a decision: the lowest ends first. Infinite for a grant that may be written at this moment. It must not end:
 * it would live on, and nothing would count it.
 */
function rankOf(decision: Decision, grant: Grant | undefined, sparing: GrantId | undefined, now: Seconds): number {
  if (grant === undefined) return now >= decision.at + GIVES_WAY_AFTER ? 0 : Number.POSITIVE_INFINITY
  if (!isLive(grant, now)) return 0
  if (decision.grantId === sparing) return 4
  if (grant.code.usedAt === undefined) return 1
  return decision.unasked ? 2 : 3
}
