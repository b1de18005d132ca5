/**
 * Ends grants: one, or every grant with a label.
 * @module
 */

import type { GrantwellError } from '../../core/errors.js'
import { isOAuthError } from '../../core/errors.js'
import type { Grant } from '../../core/grant/grant.js'
import type { WithdrawCommand } from '../../core/grant/revoke.js'
import type { GrantRules } from '../../core/grant/rules.js'
import { transition } from '../../core/grant/transition.js'
import { storeError } from '../../shell/records/checked-store.js'
import { withoutUser } from '../../shell/records/without-user.js'
import { grantWrite, NOBODY, recordAs } from '../../shell/records.js'
import type { Transactions } from '../../shell/transactions.js'
import { grantChange } from '../../shell/transactions.js'
import type { ActedBy } from '../arguments.js'
import { pagesOf } from './pages.js'

/** A wish to end grants. */
export interface Ending extends ActedBy {
  readonly by: WithdrawCommand['by']
  /** Returns true for a grant that may be ended. */
  readonly mayEnd: (grant: Grant) => boolean
  /** True if the records are to say nothing of their users from then on, those of grants that ended before too. */
  readonly erase?: true
}

/**
 * Ends the grant at a key, if it may be ended.
 * @returns true if it worked until now
 * @throws GrantwellError `ERR_STORE`
 */
export async function endGrant(
  transactions: Transactions,
  rules: GrantRules,
  key: string,
  { by, actor, request, mayEnd, erase }: Ending,
): Promise<boolean> {
  const reply = await transactions.by(request).transact([key], ([value], now, entropy) => {
    const found = recordAs.grant(value)
    const grant = found !== undefined && mayEnd(found) ? found : undefined
    const outcome = transition(grant, { type: 'withdraw', by }, now, entropy, rules)
    const events = outcome.events.map((event) => (actor === undefined ? event : { ...event, actor }))
    const { revokedAt = now } = grant ?? {}
    const isLeft = erase === true && grant !== undefined && grant.subject !== NOBODY
    const change = grantChange({ ...outcome, events })
    return isLeft ? { ...change, write: grantWrite(withoutUser(grant, revokedAt)) } : change
  })
  if (isOAuthError(reply)) throw storeError(reply)
  return reply.type === 'revoked'
}

/** True for a grant that ended before, and whose record still says something of its user. */
function isLeft({ subject }: Grant, { erase }: Ending): boolean {
  return erase === true && subject !== NOBODY
}

/**
 * Ends every grant with a label, page by page. A grant that ended before costs no write. A grant that cannot be read or ended
 * does not keep the others alive.
 * @returns the number of grants that worked until now
 * @throws GrantwellError `ERR_STORE` after the last page, if some could not be ended
 */
export async function endGrants(
  transactions: Transactions,
  rules: GrantRules,
  label: string,
  ending: Ending,
): Promise<number> {
  let ended = 0
  const failures: GrantwellError[] = []
  for await (const page of pagesOf(transactions.listReadable, label)) {
    if (page.leftOut !== undefined) failures.push(storeError(page.leftOut))
    // Expired ones too, so that a clock that steps back does not make them work again.
    const due = page.records.filter(({ value }) => {
      const grant = recordAs.grant(value)
      return grant !== undefined && (grant.revokedAt === undefined || isLeft(grant, ending)) && ending.mayEnd(grant)
    })
    const results = await Promise.all(
      due.map(({ key }) =>
        endGrant(transactions, rules, key, ending).catch((error: GrantwellError) => {
          failures.push(error)
          return false
        }),
      ),
    )
    ended += results.filter(Boolean).length
  }
  const [failure] = failures
  if (failure !== undefined) throw failure
  return ended
}

/**
 * Ends every grant of every application. What cannot be read or ended does not keep the others alive.
 * @returns the number of grants that worked until now
 * @throws GrantwellError `ERR_STORE` at the end, if some could not be ended
 */
export async function endEverything(transactions: Transactions, rules: GrantRules, from: ActedBy): Promise<number> {
  let ended = 0
  const failures: GrantwellError[] = []
  for (const state of ['approved', 'suspended'])
    for await (const page of pagesOf(transactions.listReadable, `applications:${state}`)) {
      if (page.leftOut !== undefined) failures.push(storeError(page.leftOut))
      for (const { value } of page.records) {
        const clientId = recordAs.application(value)?.id
        const ending = { ...from, by: 'administrator', mayEnd: (grant: Grant) => grant.clientId === clientId } as const
        try {
          ended += await endGrants(transactions, rules, `client:${clientId}`, ending)
        } catch (error) {
          failures.push(error as GrantwellError) // endGrants throws nothing else
        }
      }
    }
  const [failure] = failures
  if (failure !== undefined) throw failure
  return ended
}
