/**
 * The check of a route: an access must cover what the route needs. Otherwise this makes the response.
 * @module
 * @see RFC 6750, section 3.1; specification, section 2.1
 */
import type { OAuthError } from '../core/errors.js'
import { hostFailed, isOAuthError } from '../core/errors.js'
import type { ProtectedResource } from '../core/resource.js'
import { isProtectedResource, opensResource, RESOURCE_WORDS } from '../core/resource.js'
import { coversScopes } from '../core/scopes.js'
import { challenge, insufficientResources, insufficientScope } from '../protocol/bearer.js'
import type { RequestLike } from '../protocol/message.js'
import { wrongAnswer } from '../shell/host.js'
import type { Internals } from '../shell/internals.js'
import type { MaybePromise } from '../shell/maybe-promise.js'
import { andThen } from '../shell/maybe-promise.js'
import type { Settings } from '../shell/options/settings.js'
import { unavailable } from '../shell/records/checked-store.js'
import type { AuthInfo, GuardResult, ResourceOf } from './auth-info.js'
import type { Refusal } from './check-token.js'
import { refusal } from './check-token.js'
import type { MacGuard } from './mac-guard.js'
import type { Needed } from './route-options.js'

/** The parts of a server that a guard uses. */
export interface GuardContext extends Internals<never> {
  /** Loads the guard of signed requests. */
  readonly macGuard: () => MaybePromise<MacGuard>
}

/** The needs of a route, and the scheme of a request to it. */
export interface Checked extends Needed {
  readonly scheme: 'Bearer' | 'MAC'
}

/** Decides if the caller may do what the route needs. */
export function checkRoute(
  context: GuardContext,
  request: RequestLike,
  access: AuthInfo | Refusal,
  checked: Checked,
  resourceOf: ResourceOf | undefined,
): MaybePromise<GuardResult> {
  if (access.type === 'refusal') return answerRefusal(context, request, access, checked)
  const refuse = (error: OAuthError) =>
    answerRefusal(context, request, refusal(error, access.clientId, access.grantId, access.subject), checked)
  if (!coversScopes(access.scopes, checked.scopes, context.settings.scopes)) return refuse(insufficientScope())
  if (resourceOf === undefined) return access
  return withResource(context, access, resourceOf).then((found) => (isOAuthError(found) ? refuse(found) : found))
}

/** Returns the access with the resource that it opens, or the reason why it opens none. */
async function withResource(
  { settings }: GuardContext,
  access: AuthInfo,
  resourceOf: ResourceOf,
): Promise<(AuthInfo & { readonly resource: ProtectedResource }) | OAuthError> {
  try {
    const resource = await resourceOf(access)
    if (resource === undefined || resource === null) return insufficientResources()
    if (!isProtectedResource(resource)) throw wrongAnswer('resource()', RESOURCE_WORDS, resource)
    // A copy, since the host may have frozen or kept the access that it got.
    return opensResource(access.resources, resource) ? { ...access, resource } : insufficientResources()
  } catch (error) {
    return reportFailure(settings, error)
  }
}

/** Reports a failed function of the host to it. Returns the error for the client. */
export function reportFailure({ onError }: Settings<never>, error: unknown): OAuthError {
  onError(error)
  return hostFailed()
}

/** Refuses a request: reports it to the audit trail and makes the response. A request without a token is no news. */
function answerRefusal(
  { settings, audit }: GuardContext,
  request: RequestLike,
  { error, clientId, grantId, subject }: Refusal,
  { scopes, metadataUrl, scheme }: Checked,
): MaybePromise<GuardResult> {
  const refuse = (told: Refusal['error']): GuardResult => {
    const schemes = settings.macTokens && told.type === 'no_token' ? (['Bearer', 'MAC'] as const) : ([scheme] as const)
    return { type: 'refused', error: told, response: challenge(told, scopes, schemes, metadataUrl) }
  }
  if (!isOAuthError(error)) return refuse(error)
  audit.refuse(request, 'api', error.reason, error.code, { clientId, grantId, subject })
  return andThen(audit.isWritten(request), (isWritten) => refuse(isWritten ? error : unavailable('audit_failed')))
}
