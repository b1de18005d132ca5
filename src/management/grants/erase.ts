/**
 * Erases a user from the records of a store.
 * @module
 */
import { digestOf } from '../../core/credentials/digests.js'
import { isOAuthError } from '../../core/errors.js'
import type { Consents } from '../../core/grant/consents.js'
import type { Grant } from '../../core/grant/grant.js'
import type { Subject } from '../../core/values.js'
import { consentLabel } from '../../shell/consents/grants.js'
import type { Settings } from '../../shell/options/settings.js'
import { storeError } from '../../shell/records/checked-store.js'
import type { Transactions } from '../../shell/transactions.js'
import type { ActedBy } from '../arguments.js'
import { LONG_PAST } from '../removed.js'
import { endGrants } from './end.js'
import { clearIndex, pagesOf } from './pages.js'

/** The decisions in place of those of a user, until the engine removes the record. */
const NO_DECISIONS: Consents = { v: 1, decisions: [] }

/**
 * Ends every grant of a user, and removes the user from its record and from the records of decisions. The decisions go first: without
 * one, a grant that is being made meanwhile is refused.
 * @returns the number of grants that worked until now
 * @throws GrantwellError `ERR_STORE`
 */
export async function eraseSubject(
  settings: Settings<never>,
  transactions: Transactions,
  subject: Subject,
  by: ActedBy,
): Promise<number> {
  await eraseDecisions(settings, transactions, subject)
  const label = `subject:${subject}`
  const ended = await endGrants(transactions, settings.rules, label, {
    ...by,
    by: 'administrator',
    mayEnd: (grant: Grant) => grant.subject === subject,
    erase: true,
  })
  await clearIndex(transactions, label)
  // Of applications that the user handed in, and that were deleted or given away.
  await clearIndex(transactions, `applicant:${subject}`)
  return ended
}

async function eraseDecisions(
  { digests }: Settings<never>,
  transactions: Transactions,
  subject: Subject,
): Promise<void> {
  const label = consentLabel(digestOf(digests, subject))
  for await (const page of pagesOf(transactions.list, label))
    for (const { key } of page.records) {
      const write = { key, value: NO_DECISIONS, expiresAt: LONG_PAST }
      const erased = await transactions.transact<'erased'>([key], () => ({ reply: 'erased', write }))
      if (isOAuthError(erased)) throw storeError(erased)
    }
  await clearIndex(transactions, label)
}
