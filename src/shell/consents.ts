/**
 * The decisions of users on applications, in the store. The first decision on a form counts. If a user has too many live grants
 * to one application, the oldest ends.
 *
 * A decision is recorded before its grant is made, and each is a record of its own. So the server reads the decision again when
 * it makes the grant. And a grant that ends leaves its record for as long as another server may have read the decision before.
 * @module
 */

import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import type { Admission, Consents, Decision, NewDecision } from '../core/grant/consents.js'
import { admitDecision, mayMake } from '../core/grant/consents.js'
import type { Grant } from '../core/grant/grant.js'
import { isGrant, isLive } from '../core/grant/grant.js'
import type { GrantId } from '../core/values.js'
import { notAccessible } from '../protocol/authorization.js'
import type { StoredRecord } from '../storage/record-store.js'
import type { ConsentContext, Deciding } from './consents/grants.js'
import { consentKey, consentWrite, readGrants, removeGrant } from './consents/grants.js'
import { endOldest } from './consents/limit.js'
import type { Settings } from './options/settings.js'
import { unavailable } from './records/checked-store.js'
import { keys, recordAs } from './records.js'
import type { DecideOnGrant, Transactions } from './transactions.js'
import { grantChange } from './transactions.js'

/** The decisions in a store. */
export interface ConsentRecords {
  /**
   * Records a decision before it takes effect.
   * @param sparing - the grant that spared the user a question; it is the last to end if there are too many
   * @returns undefined for the first decision on its form, and for its repetition; otherwise the error for the page
   */
  readonly admit: (who: Deciding, decision: NewDecision, sparing?: GrantId) => Promise<OAuthError | undefined>
  /**
   * Decides on a grant and its application as `onGrant` of the transactions does. A new grant is only made if its recorded
   * decision still counts, which is read with it; otherwise the answer is the error for the page.
   */
  readonly onGrant: <Reply>(
    who: Deciding,
    grantId: GrantId,
    decide: DecideOnGrant<Reply>,
  ) => Promise<Reply | OAuthError>
  /** Returns the key of the record of a user's decisions, to be read together with others. */
  readonly keyOf: (who: Deciding) => string
  /**
   * Returns the live grants of a user to an application, the decision of which is the newest first; none if the store fails. It takes
   * one read, and none where the record names no grant.
   * @param record - the record of the user's decisions, as it was read
   */
  readonly liveGrants: (who: Deciding, record: StoredRecord | undefined) => Promise<readonly LiveGrant[]>
}

/** A grant that works. */
export interface LiveGrant {
  readonly grant: Grant
  /** True where the user agreed to it by a form of the authorization endpoint: not on a device, nor by an earlier consent. */
  readonly wasAsked: boolean
}

/** The maximum number of attempts to record a decision: the place of an ended grant may be taken by another request. */
const ATTEMPTS = 8

/** Creates the functions on the decisions in a server's store. */
export function createConsentRecords(settings: Settings<never>, transactions: Transactions): ConsentRecords {
  const context: ConsentContext = { settings, transactions }
  return {
    admit: (who, decision, sparing) => admit(context, who, decision, sparing),

    onGrant: (who, grantId, decide) => {
      const asked = [keys.application(who.clientKey), keys.grant(grantId), consentKey(context, who)]
      return transactions.transact(asked, ([application, value, consents], now, entropy) => {
        const record = recordAs.grantRecord(value)
        const outcome = decide(recordAs.application(application), record, now, entropy)
        // The grant of a device that is refused is over at once, and takes no room.
        const isMade = !isGrant(record) && isGrant(outcome.grant) && outcome.grant.revokedAt === undefined
        return isMade && !mayMake(recordAs.consents(consents), grantId, now)
          ? { reply: notAccessible('consent_invalid') }
          : grantChange(outcome)
      })
    },

    keyOf: (who) => consentKey(context, who),
    liveGrants: (who, record) => liveGrants(context, who, record),
  }
}

async function admit(
  context: ConsentContext,
  who: Deciding,
  decision: NewDecision,
  sparing: GrantId | undefined,
): Promise<OAuthError | undefined> {
  const { grantLimit } = context.settings
  const key = consentKey(context, who)
  const replaced = new Map<GrantId, Decision>()
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const admitted = await context.transactions.transact<Admission>([key], ([value], now) => {
      const reply = admitDecision(recordAs.consents(value), decision, now, grantLimit, [...replaced.values()])
      return reply.type === 'first' ? { reply, write: consentWrite(context, who, reply.consents) } : { reply }
    })
    if (isOAuthError(admitted)) return admitted
    if (admitted.type === 'refused') return notAccessible('consent_invalid')
    if (admitted.type !== 'full') {
      await Promise.all([...replaced.values()].map((each) => removeGrant(context, who, each)))
      return undefined
    }
    // More than one if the limit was higher before.
    const count = admitted.grants.length - grantLimit + 1
    const ended = await endOldest(context, who, admitted.grants, count, sparing)
    if (isOAuthError(ended)) return ended
    for (const each of ended) replaced.set(each.grantId, each)
  }
  return unavailable('contention')
}

async function liveGrants(
  context: ConsentContext,
  who: Deciding,
  record: StoredRecord | undefined,
): Promise<readonly LiveGrant[]> {
  const { decisions = [] }: Partial<Consents> = recordAs.consents(record?.value) ?? {}
  const agreed = decisions.filter(({ over }) => over === undefined).reverse()
  const ids = agreed.map(({ grantId }) => grantId)
  const found = ids.length === 0 ? [] : await readGrants(context, who, ids)
  if (isOAuthError(found)) return []
  const now = context.settings.clock()
  return agreed.flatMap(({ formExpiresAt }, index) => {
    const grant = found[index]
    return grant !== undefined && isLive(grant, now) ? [{ grant, wasAsked: formExpiresAt !== undefined }] : []
  })
}
