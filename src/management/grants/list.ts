/**
 * Lists the permissions of a user, for the host and for the page that shows them.
 * @module
 */

import { isPublished, limitResources } from '../../core/application/application.js'
import { audienceOf } from '../../core/audiences/audience.js'
import type { OAuthError } from '../../core/errors.js'
import { isOAuthError } from '../../core/errors.js'
import type { Grant } from '../../core/grant/grant.js'
import { isLive, liveUntil } from '../../core/grant/grant.js'
import { scopesNow } from '../../core/grant/pair.js'
import type { GrantRules } from '../../core/grant/rules.js'
import type { Resources } from '../../core/resource.js'
import type { Subject } from '../../core/values.js'
import type { Settings } from '../../shell/options/settings.js'
import type { PageWanted } from '../../shell/records/checked-store.js'
import { storeError } from '../../shell/records/checked-store.js'
import { keys, recordAs } from '../../shell/records.js'
import type { Transactions } from '../../shell/transactions.js'
import type { JsonValue, StoredRecord } from '../../storage/record-store.js'
import type { GrantPage, GrantSummary } from './interface.js'

/** A page of grants, without those that this release cannot read. */
export interface ReadablePage extends GrantPage {
  /** The reason why some are left out; absent if none is. */
  readonly leftOut?: OAuthError
}

/**
 * Lists the permissions of a user that still work. A grant that cannot be read does not hide the others.
 * @throws GrantwellError `ERR_STORE`
 */
export async function listReadableGrants(
  { clock, clientKeyOf, rules }: Settings<never>,
  { read, listReadable }: Transactions,
  subject: Subject,
  page: PageWanted,
): Promise<ReadablePage> {
  const listed = await listReadable(`subject:${subject}`, page)
  if (isOAuthError(listed)) throw storeError(listed)
  const { records, cursor, leftOut } = listed
  const now = clock()
  const live = records.flatMap(({ value }) => {
    const grant = recordAs.grant(value)
    return grant !== undefined && grant.subject === subject && isLive(grant, now) ? [grant] : []
  })
  const applicationKeys = [...new Set(live.map(({ clientId }) => keys.application(clientKeyOf(clientId))))]
  const { found, error = leftOut } = await readAll(read, applicationKeys)
  const applications = new Map(applicationKeys.map((key, index) => [key, found[index]?.value]))
  const grants = live.flatMap((grant) => {
    const value = applications.get(keys.application(clientKeyOf(grant.clientId)))
    return permittedGrant(grant, value, rules)
  })
  return { grants, ...(cursor !== undefined && { cursor }), ...(error !== undefined && { leftOut: error }) }
}

/** Reads records. If not all of them can be read, it reads each alone, so that one does not hide the others. */
async function readAll(
  read: Transactions['read'],
  wanted: readonly string[],
): Promise<{ readonly found: readonly (StoredRecord | undefined)[]; readonly error?: OAuthError }> {
  const together = wanted.length === 0 ? [] : await read(wanted)
  if (!isOAuthError(together)) return { found: together }
  const each = await Promise.all(wanted.map((key) => read([key])))
  if (each.every((records) => isOAuthError(records))) throw storeError(together)
  return { found: each.map((records) => (isOAuthError(records) ? undefined : records[0])), error: together }
}

/** Returns the permission as its user sees it. Returns none if the application is gone: then the grant does not work. */
function permittedGrant(grant: Grant, value: JsonValue | undefined, rules: GrantRules): readonly GrantSummary[] {
  const application = recordAs.application(value)
  if (!isPublished(application) || application.clientId !== grant.clientId) return []
  const { id: grantId, clientId, createdAt, lastUsedAt } = grant
  const audience = audienceOf(grant)
  const { name, website, state } = application
  return [
    {
      grantId,
      clientId,
      application: { name, website, state },
      // Copies: what a host does with them must not reach a record that a store in memory may still hold.
      scopes: [...scopesNow(grant, application.scopes, rules)],
      resources: copyOf(limitResources(grant.resources, application.resourceScope)),
      ...(audience !== undefined && { audience: [...audience] }),
      createdAt,
      ...(lastUsedAt !== undefined && { lastUsedAt }),
      expiresAt: liveUntil(grant),
    },
  ]
}

function copyOf(resources: Resources): Resources {
  return resources.kind === 'specified' ? { kind: resources.kind, ids: [...resources.ids] } : { kind: resources.kind }
}
