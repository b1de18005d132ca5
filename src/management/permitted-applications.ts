/**
 * The permissions of a user, summed up by application while they are read. A user may have thousands, and each may name hundreds
 * of resources. A page shows a few.
 * @module
 */
import type { Audience } from '../core/audiences/audience.js'
import { audienceOf } from '../core/audiences/audience.js'
import type { Resources } from '../core/resource.js'
import type { Scope } from '../core/scopes.js'
import type { ClientId, Seconds } from '../core/values.js'
import { ownOf } from '../core/values.js'
import type { GrantSummary } from './grants/interface.js'

/** The number of permissions of an application that are kept one by one. */
const KEPT = 5

/** The number of identifiers of resources that are kept of a permission, and of all older ones: as many as a page names. */
export const IDS_KEPT = 100

/** A user's permissions to one application. */
export interface PermittedApplication {
  readonly clientId: ClientId
  readonly application: GrantSummary['application']
  /** The time of the user's last agreement. */
  readonly agreedAt: Seconds
  /** The most recently used permissions, the latest first. */
  readonly newest: readonly KeptGrant[]
  /** All others, as one; absent if there are none. */
  readonly older?: OlderGrants
}

/** The parts of a permission that a page shows. */
export interface KeptGrant {
  readonly scopes: readonly Scope[]
  readonly resources: KeptResources
  readonly audience?: Audience
  readonly createdAt: Seconds
  readonly lastUsedAt?: Seconds
  readonly expiresAt: Seconds
}

/** Resources, with their first identifiers. */
export interface KeptResources {
  readonly kind: Resources['kind']
  /** {@link IDS_KEPT} at most; empty for any kind but `specified`. */
  readonly ids: ReadonlySet<string>
  /** The number of all identifiers, or a lower bound of it. */
  readonly count: number
  /** True if `count` is only a lower bound. */
  readonly isMore: boolean
}

/** Several permissions, summed up. */
export interface OlderGrants {
  readonly count: number
  readonly scopes: ReadonlySet<Scope>
  /** The resources of each kind. */
  readonly resources: ReadonlyMap<Resources['kind'], KeptResources>
  /** The protected resources of all of them; absent where the tokens of one are not limited so. */
  readonly audience?: Audience
}

/** Adds permissions to the sums of their applications. Returns new sums. */
export function sumUp(
  before: ReadonlyMap<ClientId, PermittedApplication>,
  grants: readonly GrantSummary[],
): ReadonlyMap<ClientId, PermittedApplication> {
  const sums = new Map(before)
  for (const grant of grants) sums.set(grant.clientId, withGrant(sums.get(grant.clientId), grant))
  return sums
}

function withGrant(before: PermittedApplication | undefined, grant: GrantSummary): PermittedApplication {
  const { clientId, application, createdAt } = grant
  const newest = [...(before?.newest ?? []), keptOf(grant)].sort((a, b) => usedAt(b) - usedAt(a))
  const oldest = newest.length > KEPT ? newest.pop() : undefined
  const olderBefore = before === undefined ? undefined : ownOf(before).older
  const older = oldest === undefined ? olderBefore : withOlder(olderBefore, oldest)
  const agreedAt = Math.max(before?.agreedAt ?? 0, createdAt)
  return { clientId, application, agreedAt, newest, ...(older !== undefined && { older }) }
}

function keptOf({ scopes, resources, audience, createdAt, lastUsedAt, expiresAt }: GrantSummary): KeptGrant {
  const all = resources.kind === 'specified' ? resources.ids : []
  const ids = new Set(all.slice(0, IDS_KEPT))
  return {
    scopes,
    resources: { kind: resources.kind, ids, count: all.length, isMore: false },
    createdAt,
    expiresAt,
    ...(audience !== undefined && { audience }),
    ...(lastUsedAt !== undefined && { lastUsedAt }),
  }
}

function usedAt({ lastUsedAt, createdAt }: KeptGrant): Seconds {
  return lastUsedAt ?? createdAt
}

function withOlder(before: OlderGrants | undefined, grant: KeptGrant): OlderGrants {
  const { scopes, resources } = grant
  const [audienceBefore, own] = [before === undefined ? [] : audienceOf(before), audienceOf(grant)]
  const audience =
    audienceBefore === undefined || own === undefined ? undefined : [...new Set([...audienceBefore, ...own])]
  const { kind } = resources
  const known = before?.resources.get(kind)
  return {
    count: (before?.count ?? 0) + 1,
    scopes: new Set([...(before?.scopes ?? []), ...scopes]),
    resources: new Map([
      ...(before?.resources ?? []),
      [kind, known === undefined ? resources : united(known, resources)],
    ]),
    ...(audience !== undefined && { audience }),
  }
}

function united(a: KeptResources, b: KeptResources): KeptResources {
  const all = new Set([...a.ids, ...b.ids])
  const count = Math.max(all.size, a.count, b.count)
  // Equal identifiers are only found among those that were kept.
  const isWhole = a.ids.size === a.count && b.ids.size === b.count
  return { kind: a.kind, ids: new Set([...all].slice(0, IDS_KEPT)), count, isMore: a.isMore || b.isMore || !isWhole }
}
