/**
 * The guard of an API: checks that the access token of a request works and permits what the route needs.
 * @module
 * @see RFC 6750; specification, sections 2.1 and 5.2
 */

import type { DeclaredResource } from '../core/audiences/audience.js'
import type { Credential } from '../core/credentials/credential.js'
import type { OAuthError } from '../core/errors.js'
import { configurationError, isOAuthError } from '../core/errors.js'
import { inheritedName } from '../core/options.js'
import type { ProtectedResource } from '../core/resource.js'
import { FUNCTION, MUST_BE_OWN, mustBe } from '../core/takes.js'
import type { NoToken } from '../protocol/bearer.js'
import { bearerToken, macAttributes, tokenInQuery } from '../protocol/bearer.js'
import type { HttpHeaders, RequestLike } from '../protocol/message.js'
import { headersOf, memberOf } from '../protocol/message.js'
import type { Internals } from '../shell/internals.js'
import { lazy } from '../shell/lazy.js'
import type { MaybePromise } from '../shell/maybe-promise.js'
import { andThen } from '../shell/maybe-promise.js'
import { keys } from '../shell/records.js'
import type { AuthInfo, GuardResult, ResourceOf } from './auth-info.js'
import type { Checked, GuardContext } from './check-route.js'
import { checkRoute, reportFailure } from './check-route.js'
import type { Refusal } from './check-token.js'
import { checkToken, refusal } from './check-token.js'
import type { MacGuard } from './mac-guard.js'
import type { WrittenNeeds } from './route-options.js'
import { readNeeds } from './route-options.js'

/** Checks one request. */
export interface Guard {
  /**
   * Checks a request about a resource.
   * @param request - Node's `IncomingMessage`, a fetch `Request`, or anything with their headers
   * @param resourceOf - returns the resource that the request is about
   * @returns who calls, with that resource in `resource`, or the response to send
   * @throws GrantwellError `ERR_CONFIGURATION` for a `resourceOf` that is undefined
   */
  <Resource extends ProtectedResource>(
    request: RequestLike,
    resourceOf: ResourceOf<Resource>,
  ):
    | GuardResult<AuthInfo<Resource> & { readonly resource: Resource }>
    | Promise<GuardResult<AuthInfo<Resource> & { readonly resource: Resource }>>
  /**
   * Checks a request.
   * @param resourceOf - left out if the request is about no resource, or if the host enforces `access.resources` itself
   * @returns the answer itself for a bearer token if the store answers at once, otherwise a promise
   */
  (request: RequestLike, resourceOf?: ResourceOf): GuardResult | Promise<GuardResult>
}

/** A maker of guards: the server itself, or an API elsewhere that asks it (`resourceServer` of `grantwell/client`). */
export interface GuardProvider {
  /**
   * Makes the guard of a route. Call it at start, to find a misspelt scope there.
   * @param needs.scope - scopes that the route needs, such as `repo-code:rw`, separated by a space; none by default
   * @param needs.audience - the protected resource that the route belongs to, a declared one: it takes tokens for it alone. By
   * default it takes tokens that are limited to none (RFC 8707)
   * @throws GrantwellError `ERR_CONFIGURATION` for a scope that the catalogue does not have, a resource that is not declared, or any
   * other name
   */
  readonly guard: (needs?: { readonly scope?: string; readonly audience?: string }) => Guard
}

/** Creates the function that makes the guards of a server's routes. */
export function createGuard(internals: Internals<never>): GuardProvider['guard'] {
  const { settings } = internals
  const macGuard = lazy(async () => {
    const { createMacGuard } = await import('./mac-guard.js')
    return createMacGuard(internals)
  })
  const context: GuardContext = { ...internals, macGuard }
  return (needs) => {
    const needed = readNeeds(settings, needs)
    const bearer: Checked = { ...needed, scheme: 'Bearer' }
    const signed: Checked = { ...needed, scheme: 'MAC' }
    const check = (request: RequestLike, ...rest: [resourceOf?: ResourceOf]): MaybePromise<GuardResult> => {
      const [resourceOf] = rest
      // It was meant to be a function: if it were ignored, everybody would be let in.
      if (rest.length > 0 && resourceOf === undefined)
        return Promise.reject(configurationError(`guard: the argument resourceOf ${mustBe(FUNCTION, resourceOf)}`))
      const headers = headersOf(request)
      const attributes = settings.macTokens ? macAttributes(headers) : undefined
      const checked = attributes === undefined ? bearer : signed
      const found = identify(context, request, headers, attributes, needed.audience)
      return andThen(found, (access) => checkRoute(context, request, access, checked, resourceOf))
    }
    return check as Guard // the resource that comes with an access is the one that resourceOf returned
  }
}

/** Finds out who calls, by a bearer token or by a signature. */
function identify(
  context: GuardContext,
  request: RequestLike,
  headers: HttpHeaders,
  attributes: string | undefined,
  audience: DeclaredResource | undefined,
): MaybePromise<AuthInfo | Refusal> {
  const url = memberOf(request, 'url') ?? ''
  if (attributes === undefined) {
    const token = bearerToken(headers, url)
    return isCredential(token) ? identifyByBearer(context, token, audience) : refusal(token)
  }
  const misplaced = tokenInQuery(url)
  return misplaced === undefined ? identifyByMac(context, attributes, request, audience) : refusal(misplaced)
}

function identifyByBearer(
  { settings, store }: GuardContext,
  credential: Credential,
  audience: DeclaredResource | undefined,
): MaybePromise<AuthInfo | Refusal> {
  const read = store.read([keys.application(credential.clientKey), keys.grant(credential.grantId)])
  return andThen(read, (records) => {
    if (isOAuthError(records)) return refusal(records, undefined, credential.grantId)
    const [application, grant] = records
    return checkToken(settings, credential, application?.value, grant?.value, settings.clock(), undefined, audience)
  })
}

/** Verifies a signed request. A guard that cannot be loaded counts as a function of the host that failed. */
async function identifyByMac(
  { settings, macGuard }: GuardContext,
  attributes: string,
  request: RequestLike,
  audience: DeclaredResource | undefined,
): Promise<AuthInfo | Refusal> {
  let verify: MacGuard
  try {
    verify = await macGuard()
  } catch (error) {
    return refusal(reportFailure(settings, error))
  }
  return verify(attributes, request, audience)
}

/** Creates the function that makes a guard and checks one request with it. */
export function createAuthenticate(
  guard: GuardProvider['guard'],
): (request: RequestLike, needs?: WrittenNeeds & { readonly resource?: ResourceOf }) => Promise<GuardResult> {
  return async (request, needs) => {
    if (inheritedName(needs, ['resource']) !== undefined)
      throw configurationError(`authenticate: the option resource ${MUST_BE_OWN}`)
    if (needs === undefined || needs === null || !Object.hasOwn(needs, 'resource')) return guard(needs)(request)
    const { resource, ...others } = needs
    if (typeof resource !== 'function')
      throw configurationError(`authenticate: the option resource ${mustBe(FUNCTION, resource)}`)
    return guard(others)(request, resource)
  }
}

/** Checks an own property, so that a polluted prototype cannot fake a credential. */
function isCredential(token: Credential | OAuthError | NoToken): token is Credential {
  return Object.hasOwn(token, 'secret')
}
