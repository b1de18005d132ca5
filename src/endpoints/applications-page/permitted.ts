/**
 * The applications that a user permitted something, read from the store and put in order.
 * @module
 */

import { isPublished } from '../../core/application/application.js'
import { isOAuthError } from '../../core/errors.js'
import type { ClientId, Subject } from '../../core/values.js'
import { listReadableGrants } from '../../management/grants/list.js'
import type { PermittedApplication } from '../../management/permitted-applications.js'
import { sumUp } from '../../management/permitted-applications.js'
import { keys, recordAs } from '../../shell/records.js'
import type { PageContext } from '../interaction/context.js'
import type { LogoLink } from '../logo.js'
import { logoLink } from '../logo.js'

/** The applications of a user. */
export interface Permitted {
  /** The one that the user agreed to last comes first. */
  readonly applications: readonly PermittedApplication[]
  /** True if the user has more grants than are read. */
  readonly more: boolean
  /** True if some grants cannot be read at present. */
  readonly isIncomplete: boolean
}

/** Grants that are read. */
const GRANTS_READ = 10_000

/** Loads what a user permitted, by application. */
export async function loadPermitted<Native>(context: PageContext<Native>, subject: Subject): Promise<Permitted> {
  let found: ReadonlyMap<ClientId, PermittedApplication> = new Map()
  let read = 0
  let isIncomplete = false
  let cursor: string | undefined
  do {
    const wanted = cursor === undefined ? {} : { cursor }
    const page: Awaited<ReturnType<typeof listReadableGrants>> = await listReadableGrants(
      context,
      context.transactions,
      subject,
      wanted,
    )
    found = sumUp(found, page.grants)
    read += page.grants.length
    isIncomplete ||= page.leftOut !== undefined
    cursor = page.cursor
  } while (cursor !== undefined && read < GRANTS_READ)
  return { applications: [...found.values()].sort(byAgreement), more: cursor !== undefined, isIncomplete }
}

/** Loads the addresses of the applications' logos; none where the store fails, since nobody needs a logo to revoke access. */
export async function loadLogos(
  { clientKeyOf, transactions, issuerPath }: PageContext<never>,
  permitted: readonly PermittedApplication[],
): Promise<ReadonlyMap<ClientId, LogoLink>> {
  if (permitted.length === 0) return new Map()
  const asked = permitted.map(({ clientId }) => keys.application(clientKeyOf(clientId)))
  const records = await transactions.read(asked)
  if (isOAuthError(records)) return new Map()
  return new Map(
    permitted.map(({ clientId }, index) => {
      const application = recordAs.application(records[index]?.value)
      return [clientId, isPublished(application) ? logoLink({ issuerPath }, application) : {}]
    }),
  )
}

/**
 * Orders applications by the user's last agreement, the newest first. An application cannot change it, so none can move to a page
 * that its user has left behind.
 */
function byAgreement(a: PermittedApplication, b: PermittedApplication): number {
  return b.agreedAt - a.agreedAt || (a.clientId < b.clientId ? -1 : 1)
}
