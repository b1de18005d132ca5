/**
 * What users permitted: to list it, and to take it back. Functions for the host, and for the page that shows it.
 * @module
 */

import { isPublished, limitResources } from '../core/application/application.js'
import type { GrantwellError, OAuthError } from '../core/errors.js'
import type { Grant } from '../core/grant/grant.js'
import { isLive, liveUntil } from '../core/grant/grant.js'
import type { Withdraw } from '../core/grant/revoke.js'
import { transition } from '../core/grant/transition.js'
import type { Resources } from '../core/resource.js'
import type { Scope, ScopeCatalogue } from '../core/scopes.js'
import { limitScopes } from '../core/scopes.js'
import { NAME } from '../core/takes.js'
import { parseGrantId } from '../core/tokens/credential.js'
import { clientKeyOf } from '../core/tokens/digests.js'
import type { ClientId, GrantId, Seconds, Subject } from '../core/values.js'
import type { PageOptions } from '../shell/arguments.js'
import { ownOptions, PAGE, TEXT } from '../shell/arguments.js'
import { storeError } from '../shell/checked-store.js'
import { checkArgument } from '../shell/host.js'
import type { Settings } from '../shell/options.js'
import { grantWrite, keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'
import type { JsonValue, StoredRecord } from '../storage/record-store.js'

/** One permission that a user gave to an application and that still works. */
export interface PermittedGrant {
  readonly grantId: GrantId
  readonly clientId: ClientId
  /** Who has it; a suspended application can do nothing with it at present. */
  readonly application: { readonly name: string; readonly website: string; readonly state: 'approved' | 'suspended' }
  /** What it is good for now: what the user permitted, the application is still registered for, and the service still has. */
  readonly scopes: readonly Scope[]
  readonly resources: Resources
  /** Seconds since the epoch. */
  readonly createdAt: Seconds
  /**
   * When the application last got tokens by it, in seconds since the epoch; absent when it never did. It may have called
   * the API until the access token of that time expired: what each call does is not written down.
   */
  readonly lastUsedAt?: Seconds
  /** When it ends by itself unless the application refreshes it, in seconds since the epoch, exclusive. */
  readonly expiresAt: Seconds
}

/** A page of grants. */
export interface GrantPage {
  readonly grants: readonly PermittedGrant[]
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string
}

/**
 * What users permitted: to list it, and to take it back. Every function throws GrantwellError `ERR_STORE`, and
 * `ERR_CONFIGURATION` for a subject that is none.
 */
export interface Grants {
  /**
   * What a user permitted and still works, page by page, each once, in no order that means something.
   * @param page.limit - at most so many, 100 by default; a page may have fewer, or none, and still not be the last
   * @param page.cursor - from a page before
   */
  readonly listGrants: (
    subject: Subject,
    page?: { readonly limit?: number; readonly cursor?: string },
  ) => Promise<GrantPage>
  /**
   * Ends one grant of a user: its tokens do not work from the very next request on.
   * @returns whether there was one that worked; another user's is none
   */
  readonly revokeGrant: (subject: Subject, grantId: string) => Promise<boolean>
  /**
   * Ends everything that a user permitted, or all of it to one application. A grant that is made meanwhile may stay. Where some cannot
   * be ended, all others are, and `ERR_STORE` is thrown.
   * @throws GrantwellError `ERR_CONFIGURATION` for any other name than `clientId`, or a value that is no string, which would end
   * more than was meant
   * @returns how many grants that worked were ended
   */
  readonly revokeAll: (subject: Subject, only?: { readonly clientId?: string }) => Promise<number>
  /**
   * Ends every grant of an application, whoever gave it. Interrupted, it is called again and goes on with what is left. Where some
   * cannot be ended, all others are, and `ERR_STORE` is thrown.
   * Meanwhile users may permit it anew; `applications.suspend` stops the application at once.
   * @returns how many grants that worked were ended
   */
  readonly revokeApplication: (clientId: string) => Promise<number>
}

/** Binds the functions to a server. */
export function grantsOf<Native>(settings: Settings<Native>, transactions: Transactions): Grants {
  const { rules } = settings
  const { listReadable, transact } = transactions

  /** Ends the grant at a key, if it is one that may be ended. */
  async function end(key: string, by: Withdraw['by'], mayEnd: (grant: Grant) => boolean): Promise<boolean> {
    const reply = await transact([key], ([value], now, entropy) => {
      const found = recordAs.grant(value)
      const grant = found !== undefined && mayEnd(found) ? found : undefined
      const outcome = transition(grant, { type: 'withdraw', by }, now, entropy, rules)
      const { reply, events } = outcome
      return outcome.grant === undefined ? { reply, events } : { reply, events, write: grantWrite(outcome.grant) }
    })
    if (reply.type === 'error') throw storeError(reply)
    return reply.type === 'revoked'
  }

  /**
   * Ends every grant with a label, page by page: what was ended before costs no write. One that cannot be read or ended keeps none
   * of the others alive.
   * @throws GrantwellError `ERR_STORE` behind the last page, where some could not be ended
   */
  async function endAll(label: string, by: Withdraw['by'], mayEnd: (grant: Grant) => boolean): Promise<number> {
    let ended = 0
    let cursor: string | undefined
    const failures: GrantwellError[] = []
    do {
      const page: Awaited<ReturnType<typeof listReadable>> = await listReadable(
        label,
        cursor === undefined ? {} : { cursor },
      )
      if ('type' in page) throw storeError(page)
      if (page.leftOut !== undefined) failures.push(storeError(page.leftOut))
      // Those that ended by themselves too, so that a clock that steps back does not bring them to life again.
      const due = page.records.filter(({ value }) => {
        const grant = recordAs.grant(value)
        return grant !== undefined && grant.revokedAt === undefined && mayEnd(grant)
      })
      const results = await Promise.all(
        due.map(({ key }) =>
          end(key, by, mayEnd).catch((error: GrantwellError) => {
            failures.push(error)
            return false
          }),
        ),
      )
      ended += results.filter(Boolean).length
      cursor = page.cursor
    } while (cursor !== undefined)
    const [failure] = failures
    if (failure !== undefined) throw failure
    return ended
  }

  return {
    listGrants: async (subject, page = {}) => {
      const label = subjectLabel('listGrants', subject)
      const wanted = ownOptions<PageOptions>('grants.listGrants', page, PAGE)
      const { leftOut, ...listed } = await permittedPage(settings, transactions, subject, label, wanted)
      if (leftOut !== undefined) throw storeError(leftOut)
      return listed
    },

    revokeGrant: async (subject, grantId) => {
      checkArgument('grants.revokeGrant', 'subject', NAME, subject)
      checkArgument('grants.revokeGrant', 'grantId', TEXT, grantId)
      const id = parseGrantId(grantId)
      return id !== undefined && end(keys.grant(id), 'user', (grant) => grant.subject === subject)
    },

    revokeAll: async (subject, only = {}) => {
      const label = subjectLabel('revokeAll', subject)
      const { clientId } = ownOptions<{ clientId?: string }>('grants.revokeAll', only, { clientId: TEXT })
      // One that is undefined was meant to be somebody: left out, it would end everything.
      if (Object.hasOwn(only, 'clientId')) checkArgument('grants.revokeAll', 'clientId', TEXT, clientId)
      const mayEnd = (grant: Grant): boolean => clientId === undefined || grant.clientId === clientId
      return endAll(label, 'user', (grant) => grant.subject === subject && mayEnd(grant))
    },

    revokeApplication: async (clientId) => {
      checkArgument('grants.revokeApplication', 'clientId', TEXT, clientId)
      return endAll(`client:${clientId}`, 'administrator', (grant) => grant.clientId === clientId)
    },
  }
}

/** A page of grants, without those that this release cannot read. */
interface PermittedPage extends GrantPage {
  /** Why some are left out; absent where none is. */
  readonly leftOut?: OAuthError
}

/** Lists what a user permitted for the page that shows it, where one grant that cannot be read must not hide all others. */
export function readableGrants<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
  subject: Subject,
  page: PageOptions,
): Promise<PermittedPage> {
  return permittedPage(settings, transactions, subject, `subject:${subject}`, page)
}

async function permittedPage<Native>(
  { clock, digests, scopes: catalogue }: Settings<Native>,
  { read, listReadable }: Transactions,
  subject: Subject,
  label: string,
  page: PageOptions,
): Promise<PermittedPage> {
  const listed = await listReadable(label, page)
  if ('type' in listed) throw storeError(listed)
  const { records, cursor, leftOut } = listed
  const now = clock()
  const live = records.flatMap(({ value }) => {
    const grant = recordAs.grant(value)
    return grant !== undefined && grant.subject === subject && isLive(grant, now) ? [grant] : []
  })
  const applicationKeys = [...new Set(live.map(({ clientId }) => keys.application(clientKeyOf(digests, clientId))))]
  const { found, error = leftOut } = await readAll(read, applicationKeys)
  const applications = new Map(applicationKeys.map((key, index) => [key, found[index]?.value]))
  const grants = live.flatMap((grant) => {
    const value = applications.get(keys.application(clientKeyOf(digests, grant.clientId)))
    return permittedGrant(grant, value, catalogue)
  })
  return { grants, ...(cursor !== undefined && { cursor }), ...(error !== undefined && { leftOut: error }) }
}

/** Reads records; where not all of them can be read, each alone, so that one hides none of the others. */
async function readAll(
  read: Transactions['read'],
  wanted: readonly string[],
): Promise<{ readonly found: readonly (StoredRecord | undefined)[]; readonly error?: OAuthError }> {
  const together = wanted.length === 0 ? [] : await read(wanted)
  if (!('type' in together)) return { found: together }
  const each = await Promise.all(wanted.map((key) => read([key])))
  if (each.every((records) => 'type' in records)) throw storeError(together)
  return { found: each.map((records) => ('type' in records ? undefined : records[0])), error: together }
}

function subjectLabel(of: string, subject: Subject): string {
  checkArgument(`grants.${of}`, 'subject', NAME, subject)
  return `subject:${subject}`
}

/** None where the application is not there any more: then nothing of the grant works. */
function permittedGrant(
  grant: Grant,
  value: JsonValue | undefined,
  catalogue: ScopeCatalogue,
): readonly PermittedGrant[] {
  const application = recordAs.application(value)
  if (!isPublished(application) || application.clientId !== grant.clientId) return []
  const { id: grantId, clientId, createdAt, lastUsedAt } = grant
  const { name, website, state } = application
  return [
    {
      grantId,
      clientId,
      application: { name, website, state },
      // Copies: what a host does with them must not reach a record that a store in memory may still hold.
      scopes: [...limitScopes(grant.scopes, application.scopes, catalogue)],
      resources: copyOf(limitResources(grant.resources, application.resourceScope)),
      createdAt,
      ...(lastUsedAt !== undefined && { lastUsedAt }),
      expiresAt: liveUntil(grant),
    },
  ]
}

function copyOf(resources: Resources): Resources {
  return resources.kind === 'specified' ? { kind: resources.kind, ids: [...resources.ids] } : { kind: resources.kind }
}
