/**
 * The decisions of users on applications, in the store: the first decision on a form counts, and beyond a number of live
 * grants of one user to one application the oldest ends.
 *
 * A decision is taken in before its grant is made, and each is a record of its own. So whoever makes the grant looks at the decision
 * again, and whoever ends it leaves its record for as long as somebody may have looked before.
 * @module
 */

import type { OAuthError } from '../core/errors.js'
import type { Admission, Consents, Decision, NewDecision } from '../core/grant/consents.js'
import { admitDecision, GIVES_WAY_AFTER, isCounted, mayMake } from '../core/grant/consents.js'
import type { Grant } from '../core/grant/grant.js'
import { isGrant, isLive } from '../core/grant/grant.js'
import { transition } from '../core/grant/transition.js'
import { clientKeyOf, digestOf } from '../core/tokens/digests.js'
import type { ClientKey, GrantId, Seconds, Subject } from '../core/values.js'
import { notAccessible } from '../protocol/authorization.js'
import type { JsonValue } from '../storage/record-store.js'
import { unavailable } from './checked-store.js'
import type { MaybePromise } from './maybe-promise.js'
import type { Settings } from './options.js'
import { grantWrite, keys, recordAs } from './records.js'
import type { Decision as Change, DecideOnGrant, Transactions } from './transactions.js'
import { grantChange } from './transactions.js'

/** Whose decisions, and on which application. */
export interface Deciding {
  readonly clientKey: ClientKey
  readonly subject: Subject
}

/** The decisions in a store. */
export interface ConsentRecords {
  /**
   * Takes in a decision before it takes effect.
   * @param sparing - the grant by which this decision spared its user a question: it is the last that makes room
   * @returns undefined where it is the first one on its form, or repeats it; else the error for the page
   */
  readonly admit: (who: Deciding, decision: NewDecision, sparing?: GrantId) => Promise<OAuthError | undefined>
  /**
   * Decides on a grant and its application as `onGrant` of the transactions does. A grant that is not there yet is made only
   * where the decision that was taken in stands, in the same trip; else the answer is the error for the page.
   */
  readonly onGrant: <Reply>(
    who: Deciding,
    grantId: GrantId,
    decide: DecideOnGrant<Reply>,
  ) => MaybePromise<Reply | OAuthError>
  /**
   * Returns the live grants that a user gave an application by a form of the authorization endpoint within the lifetime of a
   * refresh token, the newest first; none where the store fails. A grant of a device, or one for which nobody was asked,
   * spares no question.
   */
  readonly consentedGrants: (who: Deciding) => Promise<readonly Grant[]>
}

/** Attempts to make room anew after somebody else took it. */
const ATTEMPTS = 8

/** Binds the decisions to a server. */
export function consentRecordsOf<Native>(settings: Settings<Native>, transactions: Transactions): ConsentRecords {
  const { digests, clock, rules, grantLimit, consent } = settings
  const { read, transact } = transactions

  function keyOf({ clientKey, subject }: Deciding): string {
    return keys.consent(clientKey, digestOf(digests, subject))
  }

  async function admit(who: Deciding, decision: NewDecision, sparing?: GrantId): Promise<OAuthError | undefined> {
    const key = keyOf(who)
    const replaced = new Map<GrantId, Decision>()
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const admitted = await transact<Admission>([key], ([value], now) => {
        const reply = admitDecision(recordAs.consents(value), decision, now, grantLimit, [...replaced.values()])
        return reply.type === 'first' ? { reply, write: { key, value: reply.consents } } : { reply }
      })
      if (admitted.type === 'error') return admitted
      if (admitted.type === 'refused') return notAccessible('consent_invalid')
      if (admitted.type !== 'full') {
        await Promise.all([...replaced.values()].map((each) => remove(who, each)))
        return undefined
      }
      // More than one where the limit was higher before.
      const ended = await endSome(who, admitted.grants, admitted.grants.length - grantLimit + 1, sparing)
      if ('type' in ended) return ended
      for (const each of ended) replaced.set(each.grantId, each)
    }
    return unavailable('contention')
  }

  /**
   * Ends grants: those that are over already, then codes that nobody exchanged, then those for which nobody was asked, then the
   * oldest. With `consent: 'once'` the grant by which questions are spared comes last: this one, or the newest that could. One that may be written this very moment is left alone: it would live on
   * with nobody counting it.
   */
  async function endSome(
    who: Deciding,
    decisions: readonly Decision[],
    count: number,
    sparedBy: GrantId | undefined,
  ): Promise<readonly Decision[] | OAuthError> {
    const found = await grantsOf(
      who,
      decisions.map(({ grantId }) => grantId),
    )
    if ('type' in found) return found
    const now = clock()
    const canSpare = ({ formExpiresAt }: Decision, index: number): boolean =>
      consent === 'once' && formExpiresAt !== undefined && found[index] !== undefined && isLive(found[index], now)
    const sparing = sparedBy ?? decisions.findLast(canSpare)?.grantId
    const worth = (each: Decision, grant: Grant | undefined): number => {
      if (grant === undefined) return now >= each.at + GIVES_WAY_AFTER ? 0 : Number.POSITIVE_INFINITY
      if (!isLive(grant, now)) return 0
      if (each.grantId === sparing) return 4
      if (grant.code.usedAt === undefined) return 1
      return each.unasked ? 2 : 3
    }
    const leaving = decisions
      .map((decision, index) => ({ decision, worth: worth(decision, found[index]) }))
      .filter((each) => each.worth !== Number.POSITIVE_INFINITY)
      .toSorted((a, b) => a.worth - b.worth)
      .slice(0, count)
    if (leaving.length < count) return unavailable('contention')
    const replies = await Promise.all(leaving.map(({ decision }) => end(who, decision)))
    return replies.find((reply) => reply !== undefined) ?? leaving.map(({ decision }) => decision)
  }

  async function end(who: Deciding, { grantId }: Decision): Promise<OAuthError | undefined> {
    const reply = await transact<'ended'>([keys.grant(grantId)], ([value], now, entropy) => {
      const grant = ownGrant(who, value)
      return grant === undefined ? { reply: 'ended' } : ended(grant, now, entropy)
    })
    return typeof reply === 'object' ? reply : undefined
  }

  function ended(grant: Grant, now: Seconds, entropy: Uint8Array): Change<'ended'> {
    return { ...grantChange(transition(grant, { type: 'withdraw', by: 'limit' }, now, entropy, rules)), reply: 'ended' }
  }

  /**
   * Removes a grant that was ended and that the decisions count no more; where that fails, it expires by itself. For as long as its
   * form could make it once more, a record stays that is on nobody's list.
   */
  async function remove(who: Deciding, { grantId, at, formExpiresAt }: Decision): Promise<void> {
    await transact<'ended'>([keys.grant(grantId), keyOf(who)], ([value, consents], now, entropy) => {
      const grant = ownGrant(who, value)
      if (grant === undefined || isCounted(recordAs.consents(consents), grantId)) return { reply: 'ended' }
      // A server whose clock is behind made it after it was found not to be there.
      if (isLive(grant, now)) return ended(grant, now, entropy)
      const expiresAt = formExpiresAt === undefined ? now : Math.max(now, at + GIVES_WAY_AFTER)
      return { reply: 'ended', write: { ...grantWrite(grant), expiresAt, labels: [] } }
    })
  }

  async function grantsOf(
    who: Deciding,
    ids: readonly GrantId[],
  ): Promise<readonly (Grant | undefined)[] | OAuthError> {
    const records = await read(ids.map((id) => keys.grant(id)))
    return 'type' in records ? records : records.map((record) => ownGrant(who, record?.value))
  }

  /** A grant, if it is of this user and application: of two users who agree to one device, one only makes the grant. */
  function ownGrant({ subject, clientKey }: Deciding, value: JsonValue | undefined): Grant | undefined {
    const grant = recordAs.grant(value)
    return grant?.subject === subject && clientKeyOf(digests, grant.clientId) === clientKey ? grant : undefined
  }

  return {
    admit,

    onGrant: (who, grantId, decide) => {
      const asked = [keys.application(who.clientKey), keys.grant(grantId), keyOf(who)]
      return transact(asked, ([application, value, consents], now, entropy) => {
        const record = recordAs.grantRecord(value)
        const outcome = decide(recordAs.application(application), record, now, entropy)
        // A device that is refused becomes a grant that is over, and takes no room.
        const isMade = !isGrant(record) && isGrant(outcome.grant) && outcome.grant.revokedAt === undefined
        return isMade && !mayMake(recordAs.consents(consents), grantId, now)
          ? { reply: notAccessible('consent_invalid') }
          : grantChange(outcome)
      })
    },

    consentedGrants: async (who) => {
      const records = await read([keyOf(who)])
      const { decisions = [] }: Partial<Consents> =
        ('type' in records ? undefined : recordAs.consents(records[0]?.value)) ?? {}
      const agreed = decisions.filter(({ over, formExpiresAt }) => over === undefined && formExpiresAt !== undefined)
      const ids = agreed.map(({ grantId }) => grantId).reverse()
      const found = ids.length === 0 ? [] : await grantsOf(who, ids)
      if ('type' in found) return []
      const now = clock()
      const counts = (grant: Grant): boolean => isLive(grant, now) && now < grant.createdAt + rules.refreshTokenLifetime
      return found.flatMap((grant) => (grant !== undefined && counts(grant) ? [grant] : []))
    },
  }
}
