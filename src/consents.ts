/**
 * The decisions of users on applications, in the store: the first decision on a form counts, and beyond a number of live
 * grants of one user to one application the oldest ends.
 * @module
 */
import type { Admission, Consents, Decision, NewDecision } from './core/consents.js'
import { admitDecision } from './core/consents.js'
import { clientKeyOf, digestOf } from './core/digests.js'
import type { OAuthError } from './core/errors.js'
import type { Grant } from './core/grant.js'
import { isLive } from './core/grant.js'
import { transition } from './core/transition.js'
import type { ClientKey, GrantId, Seconds, Subject } from './core/values.js'
import type { Settings } from './options.js'
import { notAccessible } from './protocol/authorization.js'
import type { JsonValue } from './storage/record-store.js'
import type { Transactions } from './transactions.js'
import { grantWrite, keys, recordAs, unavailable } from './transactions.js'

/** Whose decisions, and on which application. */
export interface Deciding {
  readonly clientKey: ClientKey
  readonly subject: Subject
}

/** The decisions in a store. */
export interface ConsentRecords {
  /**
   * Takes in a decision before it takes effect.
   * @returns undefined where it is the first one on its form, or repeats it; else the error for the page
   */
  readonly admit: (who: Deciding, decision: NewDecision) => Promise<OAuthError | undefined>
  /**
   * Returns the live grants that a user gave an application by a form of the authorization endpoint within the lifetime of a
   * refresh token, the newest first; none where the store fails. A grant of a device, or one for which nobody was asked,
   * spares no question.
   */
  readonly consentedGrants: (who: Deciding) => Promise<readonly Grant[]>
}

/** Seconds after which a grant that is not there will not be written by the request that was admitted. */
const WRITTEN_WITHIN: Seconds = 300

/** Attempts to make room anew after somebody else took it. */
const ATTEMPTS = 8

/** Binds the decisions to a server. */
export function consentRecordsOf<Native>(settings: Settings<Native>, transactions: Transactions): ConsentRecords {
  const { digests, clock, rules, grantLimit, consent } = settings
  const { read, transact } = transactions

  function keyOf({ clientKey, subject }: Deciding): string {
    return keys.consent(clientKey, digestOf(digests, subject))
  }

  async function admit(who: Deciding, decision: NewDecision): Promise<OAuthError | undefined> {
    const key = keyOf(who)
    const replaced: GrantId[] = []
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const admitted = await transact<Admission>([key], ([value], now) => {
        const reply = admitDecision(recordAs.consents(value), decision, now, grantLimit, replaced)
        return reply.type === 'first' ? { reply, write: { key, value: reply.consents } } : { reply }
      })
      if (admitted.type === 'error') return admitted
      if (admitted.type === 'refused') return notAccessible('consent_invalid')
      if (admitted.type !== 'full') {
        await Promise.all(replaced.map((grantId) => remove(who, grantId)))
        return undefined
      }
      // More than one where the limit was higher before.
      const ended = await endSome(who, admitted.grants, admitted.grants.length - grantLimit + 1)
      if ('type' in ended) return ended
      replaced.push(...ended)
    }
    return unavailable('contention')
  }

  /**
   * Ends grants: those that are over already, then codes that nobody exchanged, then those for which nobody was asked, then the
   * oldest. With `consent: 'once'` the grant by which questions are spared comes last. One that may be written this very moment is left alone: it would live on
   * with nobody counting it.
   */
  async function endSome(
    who: Deciding,
    decisions: readonly Decision[],
    count: number,
  ): Promise<readonly GrantId[] | OAuthError> {
    const found = await grantsOf(
      who,
      decisions.map(({ grantId }) => grantId),
    )
    if ('type' in found) return found
    const now = clock()
    const sparing =
      consent === 'once' ? decisions.findLast(({ formExpiresAt }) => formExpiresAt !== undefined) : undefined
    const worth = (each: Decision, grant: Grant | undefined): number => {
      if (grant === undefined) return now >= each.at + WRITTEN_WITHIN ? 0 : Number.POSITIVE_INFINITY
      if (!isLive(grant, now)) return 0
      if (each === sparing) return 4
      if (grant.code.usedAt === undefined) return 1
      return each.unasked ? 2 : 3
    }
    const leaving = decisions
      .map((each, index) => ({ grantId: each.grantId, worth: worth(each, found[index]) }))
      .filter((each) => each.worth !== Number.POSITIVE_INFINITY)
      .toSorted((a, b) => a.worth - b.worth)
      .slice(0, count)
    if (leaving.length < count) return unavailable('contention')
    const replies = await Promise.all(leaving.map(({ grantId }) => end(who, grantId)))
    return replies.find((reply) => reply !== undefined) ?? leaving.map(({ grantId }) => grantId)
  }

  async function end(who: Deciding, grantId: GrantId): Promise<OAuthError | undefined> {
    const key = keys.grant(grantId)
    const reply = await transact<'ended'>([key], ([value], at, entropy) => {
      const grant = ownGrant(who, value)
      if (grant === undefined) return { reply: 'ended' }
      const { events, ...after } = transition(grant, { type: 'withdraw', by: 'limit' }, at, entropy, rules)
      return { reply: 'ended', events, ...(after.grant !== undefined && { write: grantWrite(after.grant) }) }
    })
    return typeof reply === 'object' ? reply : undefined
  }

  /** Removes a grant that was ended and that the decisions count no more; where that fails, it expires by itself. */
  async function remove(who: Deciding, grantId: GrantId): Promise<void> {
    const key = keys.grant(grantId)
    await transact<'gone'>([key], ([value], now) => {
      const grant = ownGrant(who, value)
      return grant === undefined || isLive(grant, now)
        ? { reply: 'gone' }
        : { reply: 'gone', write: { ...grantWrite(grant), expiresAt: now } }
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
