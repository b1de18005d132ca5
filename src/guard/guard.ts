/**
 * The guard of an API: whether a request's access token works and permits what the route needs.
 * @module
 * @see RFC 6750; specification, sections 2.1 and 5.2
 */

import type { OAuthError } from '../core/errors.js'
import { configurationError, hostFailed, isOAuthError } from '../core/errors.js'
import { nearest } from '../core/nearest.js'
import type { ProtectedResource } from '../core/resource.js'
import { isProtectedResource, opensResource, RESOURCE_WORDS } from '../core/resource.js'
import type { Scope } from '../core/scopes.js'
import { coversScopes, parseScopes } from '../core/scopes.js'
import type { Takes } from '../core/takes.js'
import { FUNCTION, MUST_BE_OWN, mustBe, readOptions, strayName } from '../core/takes.js'
import type { Credential } from '../core/tokens/credential.js'
import type { NoToken } from '../protocol/bearer.js'
import {
  bearerToken,
  challenge,
  insufficientResources,
  insufficientScope,
  macAttributes,
  tokenInQuery,
} from '../protocol/bearer.js'
import type { HttpHeaders, HttpResponse, RequestLike } from '../protocol/message.js'
import { headersOf, memberOf } from '../protocol/message.js'
import { wrongAnswer } from '../shell/host.js'
import { loadLater } from '../shell/lazy.js'
import type { MaybePromise } from '../shell/maybe-promise.js'
import { andThen } from '../shell/maybe-promise.js'
import type { Refused, Settings } from '../shell/options.js'
import { keys } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'
import type { Access, AccessTo, Refusal } from './access.js'
import { accessBy, refusal } from './access.js'

/** What the guard found: who is calling for whom, or the response to send. */
export type Authentication<Granted extends Access = Access> =
  | Granted
  | { readonly type: 'refused'; readonly error: OAuthError | NoToken; readonly response: HttpResponse }

/**
 * The resource that a request is about, as the host knows it; undefined or null where there is none. What it throws goes to
 * `onError`, and the answer is a 500.
 */
export type ResourceOf<Resource extends ProtectedResource = ProtectedResource> = (
  access: Access,
) => Resource | null | undefined | Promise<Resource | null | undefined>

/** Checks one request. */
export interface Guard {
  /**
   * Checks a request about a resource.
   * @param request - Node's `IncomingMessage`, a fetch `Request`, or anything with their headers
   * @param resourceOf - returns the resource that the request is about
   * @returns who is calling, with that resource in `resource`, or the response to send
   * @throws GrantwellError `ERR_CONFIGURATION` for a `resourceOf` that is undefined
   */
  <Resource extends ProtectedResource>(
    request: RequestLike,
    resourceOf: ResourceOf<Resource>,
  ): Authentication<AccessTo<Resource>> | Promise<Authentication<AccessTo<Resource>>>
  /**
   * Checks a request.
   * @param resourceOf - left out where the request is about no resource, or where the host enforces `access.resources` itself
   * @returns at once for a bearer token where the store answers at once, else a promise
   */
  (request: RequestLike, resourceOf?: ResourceOf): Authentication | Promise<Authentication>
}

/** What makes guards: the server itself, or an API elsewhere that asks it (`resourceServer` of `grantwell/client`). */
export interface Guarding {
  /**
   * Makes the guard of a route. Called at start, so that a slip of the pen is found there.
   * @param needs.scope - scopes that the route needs, such as `repo-code:rw`, separated by a space; none by default
   * @throws GrantwellError `ERR_CONFIGURATION` for a scope that the catalogue does not have, or any other name
   */
  readonly guard: (needs?: { readonly scope?: string }) => Guard
}

/** Checks one request without a route: `authenticate` of the server. */
export interface Authenticate {
  /** Checks a request about a resource, which an access then has in `resource`. */
  <Resource extends ProtectedResource>(
    request: RequestLike,
    needs: { readonly scope?: string; readonly resource: ResourceOf<Resource> },
  ): Promise<Authentication<AccessTo<Resource>>>
  /** Checks a request. */
  (request: RequestLike, needs?: { readonly scope?: string; readonly resource?: ResourceOf }): Promise<Authentication>
}

const NO_SCOPES: readonly Scope[] = []

const SCOPES: Takes = {
  words: 'scopes of the catalogue in a string, separated by a space',
  fits: (value) => typeof value === 'string',
}

/** Binds the guard to a server. */
export function guardOf<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
  refused: Refused,
): Guarding['guard'] {
  const { clock, macTokens } = settings

  /** Strict with what a host wrote, since a guard that passes over a slip of the pen would let everybody in. */
  function neededScopes(needs: unknown): readonly Scope[] {
    if (needs === undefined) return NO_SCOPES
    const own = readOptions<{ scope?: string }>('guard', needs, { scope: SCOPES }, [], true)
    if (typeof own === 'string') throw configurationError(own)
    const { scope } = own
    // One that is undefined was meant to be some: left out, it would let everybody in.
    if (scope === undefined && !Object.hasOwn(needs as object, 'scope')) return NO_SCOPES
    const scopes = scope === undefined ? undefined : parseScopes(settings.scopes, scope)
    if (scopes !== undefined) return scopes
    const wrong = scope?.split(' ').find((each) => !settings.scopes.entries.has(each)) ?? ''
    const meant = nearest(wrong, [...settings.scopes.entries.keys()])
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
    throw configurationError(`guard: the option scope ${mustBe(SCOPES, scope)}${hint}`)
  }

  function accessByBearer(credential: Credential): MaybePromise<Access | Refusal> {
    const read = transactions.read([keys.application(credential.clientKey), keys.grant(credential.grantId)])
    return andThen(read, (records) => {
      if (isOAuthError(records)) return refusal(records)
      return accessBy(settings, credential, records[0]?.value, records[1]?.value, clock(), undefined)
    })
  }

  const macGuard = loadLater(async () => {
    const { macGuardOf } = await import('./mac-guard.js')
    return macGuardOf(settings, transactions)
  })

  /** Verifies a signed request. A guard that cannot be loaded counts as a function of the host that failed. */
  async function accessByMac(attributes: string, request: RequestLike): Promise<Access | Refusal> {
    const signedBy = await macGuard().catch(failed)
    return typeof signedBy === 'function' ? signedBy(attributes, request) : refusal(signedBy)
  }

  function failed(error: unknown): OAuthError {
    settings.onError(error)
    return hostFailed()
  }

  return (needs) => {
    const scopes = neededScopes(needs)
    const check = (request: RequestLike, ...rest: [resourceOf?: ResourceOf]): MaybePromise<Authentication> => {
      const [resourceOf] = rest
      // A slip of the pen, which must not let everybody in.
      if (rest.length > 0 && resourceOf === undefined)
        return Promise.reject(configurationError(`guard: the argument resourceOf ${mustBe(FUNCTION, resourceOf)}`))
      const headers = headersOf(request)
      const attributes = macTokens ? macAttributes(headers) : undefined
      const scheme = attributes === undefined ? 'Bearer' : 'MAC'
      return andThen(accessOf(request, headers, attributes), (access) =>
        authentication(access, scheme, scopes, resourceOf),
      )
    }
    return check as Guard // the resource that comes with an access is the one that resourceOf returned
  }

  /** Whether who is calling may do what the route needs. */
  function authentication(
    access: Access | Refusal,
    scheme: 'Bearer' | 'MAC',
    needed: readonly Scope[],
    resourceOf: ResourceOf | undefined,
  ): MaybePromise<Authentication> {
    if (access.type === 'refusal') return refuse(access, scheme, needed)
    if (!coversScopes(access.scopes, needed))
      return refuse(refusal(insufficientScope(), access.clientId), scheme, needed)
    if (resourceOf === undefined) return access
    return openedBy(access, resourceOf).then((found) =>
      isOAuthError(found) ? refuse(refusal(found, access.clientId), scheme, needed) : found,
    )
  }

  /** Returns the access with the resource that it opens, or why it opens none. */
  async function openedBy(access: Access, resourceOf: ResourceOf): Promise<AccessTo<ProtectedResource> | OAuthError> {
    try {
      const resource = await resourceOf(access)
      if (resource === undefined || resource === null) return insufficientResources()
      if (!isProtectedResource(resource)) throw wrongAnswer('resource()', RESOURCE_WORDS, resource)
      // A copy, since the host may have frozen or kept what it was given.
      return opensResource(access.resources, resource) ? { ...access, resource } : insufficientResources()
    } catch (error) {
      return failed(error)
    }
  }

  function accessOf(
    request: RequestLike,
    headers: HttpHeaders,
    attributes: string | undefined,
  ): MaybePromise<Access | Refusal> {
    const url = memberOf(request, 'url') ?? ''
    if (attributes === undefined) {
      const own = bearerToken(headers, url)
      return isCredential(own) ? accessByBearer(own) : refusal(own)
    }
    const misplaced = tokenInQuery(url)
    return misplaced === undefined ? accessByMac(attributes, request) : refusal(misplaced)
  }

  function refuse({ error, clientId }: Refusal, scheme: 'Bearer' | 'MAC', scopes: readonly Scope[]): Authentication {
    if (isOAuthError(error)) refused('api', error.reason, error.code, clientId)
    const every = macTokens && error.type === 'no_token' ? (['Bearer', 'MAC'] as const) : ([scheme] as const)
    return { type: 'refused', error, response: challenge(error, scopes, every) }
  }
}

/** Makes the guard of a route and checks one request by it. */
export function authenticateBy(guard: Guarding['guard']): Authenticate {
  const authenticate = async (
    request: RequestLike,
    needs?: { readonly scope?: string; readonly resource?: ResourceOf },
  ): Promise<Authentication> => {
    if (strayName(needs, ['resource']) !== undefined)
      throw configurationError(`authenticate: the option resource ${MUST_BE_OWN}`)
    if (needs === undefined || needs === null || !Object.hasOwn(needs, 'resource')) return guard(needs)(request)
    const { resource, ...others } = needs
    if (typeof resource !== 'function')
      throw configurationError(`authenticate: the option resource ${mustBe(FUNCTION, resource)}`)
    return guard(others)(request, resource)
  }
  return authenticate as Authenticate // the resource that comes with an access is the one that `needs.resource` returned
}

/** Told by a property of its own, whatever has been done to the prototype of all objects. */
function isCredential(own: Credential | OAuthError | NoToken): own is Credential {
  return Object.hasOwn(own, 'secret')
}
