/**
 * The grants of one user to one application: reads them, ends them and removes them.
 * @module
 */

import { digestOf } from '../../core/credentials/digests.js'
import type { OAuthError } from '../../core/errors.js'
import { isOAuthError } from '../../core/errors.js'
import type { Consents, Decision } from '../../core/grant/consents.js'
import { GIVES_WAY_AFTER, isCounted } from '../../core/grant/consents.js'
import type { Grant } from '../../core/grant/grant.js'
import { isLive } from '../../core/grant/grant.js'
import { transition } from '../../core/grant/transition.js'
import type { ClientKey, Digest, GrantId, Seconds, Subject } from '../../core/values.js'
import type { JsonValue } from '../../storage/record-store.js'
import type { Settings } from '../options/settings.js'
import { withoutUser } from '../records/without-user.js'
import type { RecordWrite } from '../records.js'
import { grantWrite, keys, recordAs } from '../records.js'
import type { Decision as Change, Transactions } from '../transactions.js'
import { grantChange } from '../transactions.js'

/** A user who decides, and the application that the decision is about. */
export interface Deciding {
  readonly clientKey: ClientKey
  readonly subject: Subject
}

/** The parts of a server that the decisions of users need. */
export interface ConsentContext {
  readonly settings: Settings<never>
  readonly transactions: Transactions
}

/** Returns the key of the record of a user's decisions on an application. */
export function consentKey({ settings }: ConsentContext, { clientKey, subject }: Deciding): string {
  return keys.consent(clientKey, digestOf(settings.digests, subject))
}

/** Returns the label of the records of a user's decisions, on whatever application. */
export function consentLabel(subjectDigest: Digest): string {
  return `consents:${subjectDigest}`
}

/** Makes the write of a user's decisions on an application. */
export function consentWrite(
  { settings }: ConsentContext,
  { clientKey, subject }: Deciding,
  value: Consents,
): RecordWrite {
  const digest = digestOf(settings.digests, subject)
  return { key: keys.consent(clientKey, digest), value, labels: [consentLabel(digest)] }
}

/** Reads grants; undefined for each that is gone, or of another user or application. */
export async function readGrants(
  context: ConsentContext,
  who: Deciding,
  ids: readonly GrantId[],
): Promise<readonly (Grant | undefined)[] | OAuthError> {
  const records = await context.transactions.read(ids.map((id) => keys.grant(id)))
  return isOAuthError(records) ? records : records.map((record) => ownGrant(context, who, record?.value))
}

/** Ends the grant of a decision. */
export async function endGrant(
  context: ConsentContext,
  who: Deciding,
  { grantId }: Decision,
): Promise<OAuthError | undefined> {
  const reply = await context.transactions.transact<'ended'>([keys.grant(grantId)], ([value], now, entropy) => {
    const grant = ownGrant(context, who, value)
    return grant === undefined ? { reply: 'ended' } : ended(context, grant, now, entropy)
  })
  return typeof reply === 'object' ? reply : undefined
}

/**
 * Removes a grant that was ended and that no decision counts. If that fails, it expires by itself. While its form could make it
 * once more, a record stays that names no user and that no list finds.
 */
export async function removeGrant(
  context: ConsentContext,
  who: Deciding,
  { grantId, at, formExpiresAt }: Decision,
): Promise<void> {
  const asked = [keys.grant(grantId), consentKey(context, who)]
  await context.transactions.transact<'ended'>(asked, ([value, consents], now, entropy) => {
    const grant = ownGrant(context, who, value)
    if (grant === undefined || isCounted(recordAs.consents(consents), grantId)) return { reply: 'ended' }
    // A server whose clock is behind made it after it was found to be gone.
    if (isLive(grant, now)) return ended(context, grant, now, entropy)
    const expiresAt = formExpiresAt === undefined ? now : Math.max(now, at + GIVES_WAY_AFTER)
    const write = grantWrite(withoutUser(grant, grant.revokedAt ?? now))
    return { reply: 'ended', write: { ...write, expiresAt, labels: [] } }
  })
}

function ended({ settings }: ConsentContext, grant: Grant, now: Seconds, entropy: Uint8Array): Change<'ended'> {
  const outcome = transition(grant, { type: 'withdraw', by: 'limit' }, now, entropy, settings.rules)
  return { ...grantChange(outcome), reply: 'ended' }
}

/** Returns a grant of this user and application. Of two users who agree to one device, only one makes the grant. */
function ownGrant(
  { settings }: ConsentContext,
  { subject, clientKey }: Deciding,
  value: JsonValue | undefined,
): Grant | undefined {
  const grant = recordAs.grant(value)
  return grant?.subject === subject && settings.clientKeyOf(grant.clientId) === clientKey ? grant : undefined
}
