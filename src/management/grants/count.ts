/**
 * Counts the grants of an application.
 * @module
 */
import { isLive } from '../../core/grant/grant.js'
import type { Seconds, Subject } from '../../core/values.js'
import type { Settings } from '../../shell/options/settings.js'
import { recordAs } from '../../shell/records.js'
import type { Transactions } from '../../shell/transactions.js'
import type { GrantCount } from './interface.js'
import { pagesOf } from './pages.js'

/**
 * Counts the grants of an application that work, page by page.
 * @throws GrantwellError `ERR_STORE`, also where some cannot be read
 */
export async function countGrants(
  { clock }: Pick<Settings<never>, 'clock'>,
  { list }: Pick<Transactions, 'list'>,
  clientId: string,
): Promise<GrantCount> {
  const now = clock()
  const users = new Set<Subject>()
  let grants = 0
  let last: Seconds | undefined
  for await (const page of pagesOf(list, `client:${clientId}`)) {
    for (const { value } of page.records) {
      const grant = recordAs.grant(value)
      if (grant?.clientId !== clientId || !isLive(grant, now)) continue
      grants++
      users.add(grant.subject)
      if (grant.lastUsedAt !== undefined) last = Math.max(last ?? 0, grant.lastUsedAt)
    }
  }
  return { grants, users: users.size, ...(last !== undefined && { lastUsedAt: last }) }
}
