/**
 * The check of a token: the access that it gives now, which is what its grant permits, limited to what its application is registered for.
 * @module
 * @see Specification, section 2.1; RFC 6750, section 3.1
 */
import { isPublished, limitResources } from '../core/application/application.js'
import type { DeclaredResource } from '../core/audiences/audience.js'
import { audienceOf } from '../core/audiences/audience.js'
import type { Credential } from '../core/credentials/credential.js'
import type { OAuthError, RefusalReason } from '../core/errors.js'
import { inspect } from '../core/grant/inspect.js'
import { limitScopes } from '../core/scopes.js'
import type { ClientId, GrantId, Seconds, Subject } from '../core/values.js'
import type { NoToken } from '../protocol/bearer.js'
import { invalidToken } from '../protocol/bearer.js'
import type { Settings } from '../shell/options/settings.js'
import { recordAs } from '../shell/records.js'
import type { JsonValue } from '../storage/record-store.js'
import type { AuthInfo } from './auth-info.js'

/** The reason why a caller is refused, its application and its user if they are known, and the grant that its token names. */
export interface Refusal {
  readonly type: 'refusal'
  readonly error: OAuthError | NoToken
  readonly clientId?: ClientId | undefined
  readonly grantId?: GrantId | undefined
  readonly subject?: Subject | undefined
}

/**
 * Checks the credential of a caller, for the guard and for introspection.
 * @param tokenType - the way it was presented; undefined for a bearer token
 * @param audience - the protected resource that asks: it takes its own tokens alone, and nobody else takes them
 */
export function checkToken(
  { digests, macTokens, scopes: catalogue }: Pick<Settings<never>, 'digests' | 'macTokens' | 'scopes'>,
  credential: Credential,
  storedApplication: JsonValue | undefined,
  storedGrant: JsonValue | undefined,
  now: Seconds,
  tokenType: 'mac' | undefined,
  audience: DeclaredResource | undefined,
): AuthInfo | Refusal {
  const application = recordAs.application(storedApplication)
  const grant = recordAs.grant(storedGrant)
  const found = inspect(grant, credential, now, digests)
  if (found.type === 'inactive') {
    // Only the secret of a token that expired is known to be right.
    const user = found.reason === 'credential_expired' ? grant?.subject : undefined
    return refusal(invalidToken(found.reason), application?.id, credential.grantId, user)
  }
  const { grantId, clientId, subject, expiresAt } = found
  // The key in the credential is only a claim until the grant is of that very application.
  if (!isPublished(application) || application.clientId !== clientId)
    return refusal(invalidToken('credential_unknown'), undefined, grantId)
  const refuse = (reason: RefusalReason) => refusal(invalidToken(reason), clientId, grantId, subject)
  if (application.state !== 'approved') return refuse('client_suspended')
  // A token whose uses must be signed is of no use to who only saw it. Nor is one from before they had to be signed.
  if (found.tokenType !== tokenType || (macTokens && tokenType === undefined && application.tokenType === 'mac'))
    return refuse('token_type_mismatch')
  const meant = audienceOf(found)
  const isMeant = audience === undefined ? meant === undefined : meant?.includes(audience.resource)
  if (!isMeant) return refuse('audience_mismatch')
  const registered = limitScopes(found.scopes, application.scopes, catalogue)
  const scopes = audience === undefined ? registered : limitScopes(registered, audience.scopes, catalogue)
  if (scopes.length === 0) return refuse('scope_not_registered')
  // Copies, so that a change by the host cannot reach a record that a store in memory may still hold.
  const open = limitResources(found.resources, application.resourceScope)
  const resources = open.kind === 'specified' ? { kind: open.kind, ids: [...open.ids] } : { kind: open.kind }
  const access = {
    type: 'authenticated',
    subject,
    clientId,
    grantId,
    scopes: [...scopes],
    resources,
    expiresAt,
  } as const
  return audience === undefined ? access : { ...access, audience: audience.resource }
}

/** Makes a refusal. */
export function refusal(
  error: OAuthError | NoToken,
  clientId?: ClientId,
  grantId?: GrantId,
  subject?: Subject,
): Refusal {
  return { type: 'refusal', error, clientId, grantId, subject }
}
