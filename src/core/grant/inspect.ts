/**
 * The inspection of an access token: who may do what by it, at a moment.
 * @module
 * @see Specification, section 3
 */

import type { Audience } from '../audiences/audience.js'
import { audienceOf } from '../audiences/audience.js'
import type { Credential } from '../credentials/credential.js'
import type { Digests } from '../credentials/digests.js'
import { digestOf } from '../credentials/digests.js'
import type { RefusalReason } from '../errors.js'
import type { Resources } from '../resource.js'
import type { Scope } from '../scopes.js'
import type { ClientId, GrantId, Seconds, Subject } from '../values.js'
import type { Grant } from './grant.js'
import { findPair, worksUntil } from './grant.js'

/** The state of an access token at a moment. */
export type Inspection =
  | {
      readonly type: 'active'
      readonly grantId: GrantId
      readonly clientId: ClientId
      readonly subject: Subject
      readonly scopes: readonly Scope[]
      readonly resources: Resources
      /** The protected resources that the token is for; absent for the service itself. */
      readonly audience?: Audience
      /** Exclusive; the end of the grace period where that comes first. */
      readonly expiresAt: Seconds
      /** Absent for `bearer`: then presenting it is enough. */
      readonly tokenType?: 'mac'
    }
  | { readonly type: 'inactive'; readonly reason: RefusalReason }

/**
 * Tells who may do what by an access token at a moment.
 * @param grant - the record that the credential names, if there is one
 * @param credential - of any kind; only an access token is ever active
 * @see Specification, section 3
 */
export function inspect(grant: Grant | undefined, credential: Credential, now: Seconds, digests: Digests): Inspection {
  const digest = digestOf(digests, credential.secret)
  const pair = credential.kind === 'access_token' ? findPair(grant, 'access', digest) : undefined
  if (grant?.revokedAt !== undefined) return { type: 'inactive', reason: 'credential_revoked' }
  if (grant === undefined || pair === undefined) return { type: 'inactive', reason: 'credential_unknown' }
  if (pair.access.revokedAt !== undefined) return { type: 'inactive', reason: 'credential_revoked' }
  const expiresAt = worksUntil(pair, 'access')
  if (now >= expiresAt) return { type: 'inactive', reason: 'credential_expired' }
  const { id: grantId, clientId, subject, resources } = grant
  const { scopes, type: tokenType } = pair.access
  const audience = audienceOf(pair.access)
  const active = { type: 'active', grantId, clientId, subject, scopes, resources, expiresAt } as const
  const bound = audience === undefined ? active : { ...active, audience }
  return tokenType === undefined ? bound : { tokenType, ...bound }
}
