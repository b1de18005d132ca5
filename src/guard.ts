/**
 * The guard of an API: whether a request's access token works and permits what the route needs.
 * @module
 * @see RFC 6750; specification, sections 2.1 and 5.2
 */
import type { Access, Refusal } from './access.js'
import { accessBy, refusal } from './access.js'
import type { Credential } from './core/credential.js'
import type { OAuthError } from './core/errors.js'
import { hostFailed } from './core/errors.js'
import type { ProtectedResource } from './core/resource.js'
import { isProtectedResource, opensResource, RESOURCE_SHAPE } from './core/resource.js'
import type { Scope } from './core/scopes.js'
import { coversScopes, parseScopes } from './core/scopes.js'
import { atFirstUse } from './first-use.js'
import type { Refused, Settings } from './options.js'
import { mistake } from './options.js'
import type { NoToken } from './protocol/bearer.js'
import {
  bearerToken,
  challenge,
  insufficientResources,
  insufficientScope,
  macAttributes,
  tokenInQuery,
} from './protocol/bearer.js'
import type { HttpHeaders, HttpResponse, RequestLike } from './protocol/message.js'
import { headersOf } from './protocol/message.js'
import { isError } from './protocol/parameters.js'
import type { Soon, Transactions } from './transactions.js'
import { after, keys } from './transactions.js'

/** What the guard found: who is calling for whom, or the response to send. */
export type Authentication =
  | Access
  | { readonly type: 'refused'; readonly error: OAuthError | NoToken; readonly response: HttpResponse }

/**
 * The resource that a request is about, as the host knows it; undefined or null where there is none. What it throws goes to
 * `onError`, and the answer is a 500.
 */
export type ResourceOf = (
  access: Access,
) => ProtectedResource | null | undefined | Promise<ProtectedResource | null | undefined>

/**
 * Checks one request.
 * @param request - Node's `IncomingMessage`, a fetch `Request`, or anything with their headers
 * @param resourceOf - which resource the request is about; left out where it is about none, or where the host enforces
 * `access.resources` itself
 * @returns at once for a bearer token where the store answers at once, else a promise
 * @throws GrantwellError `ERR_CONFIGURATION` for a resource that is undefined
 */
export type Guard = (request: RequestLike, resourceOf?: ResourceOf) => Authentication | Promise<Authentication>

/** What makes guards: the server itself, or an API elsewhere that asks it (`resourceServer` of `grantwell/client`). */
export interface Guarding {
  /**
   * Makes the guard of a route. Called at start, so that a slip of the pen is found there.
   * @param needs.scope - scopes that the route needs, such as `repo-code:rw`, separated by a space; none by default
   * @throws GrantwellError `ERR_CONFIGURATION` for a scope that the catalogue does not have, or any other name
   */
  readonly guard: (needs?: { readonly scope?: string }) => Guard
}

const NO_SCOPES: readonly Scope[] = []

/** Binds the guard to a server. */
export function guardOf<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
  refused: Refused,
): Guarding['guard'] {
  const { clock, macTokens } = settings

  /** Strict with what a host wrote, since a guard that passes over a slip of the pen would let everybody in. */
  function neededScopes(needs: { readonly scope?: unknown } | null | undefined): readonly Scope[] {
    if (needs === undefined) return NO_SCOPES
    const names = typeof needs === 'object' && needs !== null ? Object.keys(needs) : undefined
    if (names?.length === 0) return NO_SCOPES
    const scope = names?.length === 1 && names[0] === 'scope' ? needs?.scope : undefined
    const scopes = typeof scope === 'string' ? parseScopes(settings.scopes, scope) : undefined
    if (scopes !== undefined) return scopes
    const given = typeof scope === 'string' ? `, not ${JSON.stringify(scope)}` : ''
    throw mistake(`a guard takes { scope }, scopes of the catalogue in a string${given}`)
  }

  function accessByBearer(credential: Credential): Soon<Access | Refusal> {
    const read = transactions.read([keys.application(credential.clientKey), keys.grant(credential.grantId)])
    return after(read, (records) => {
      if (isError(records)) return refusal(records)
      return accessBy(settings, credential, records[0]?.value, records[1]?.value, clock(), undefined)
    })
  }

  const macGuard = atFirstUse(async () => {
    const { macGuardOf } = await import('./mac-guard.js')
    return macGuardOf(settings, transactions)
  })

  /** What verifies signatures is loaded with the first request that has one. Where that fails, it is as a function of the host that failed. */
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
    return (request, ...rest) => {
      const [resourceOf] = rest
      // A slip of the pen, which must not let everybody in.
      if (rest.length > 0 && resourceOf === undefined)
        return Promise.reject(mistake('a guard takes the resource as a function'))
      const headers = headersOf(request)
      const attributes = macTokens ? macAttributes(headers) : undefined
      const scheme = attributes === undefined ? 'Bearer' : 'MAC'
      return after(accessOf(request, headers, attributes), (access) =>
        authentication(access, scheme, scopes, resourceOf),
      )
    }
  }

  /** Whether who is calling may do what the route needs. */
  function authentication(
    access: Access | Refusal,
    scheme: 'Bearer' | 'MAC',
    needed: readonly Scope[],
    resourceOf: ResourceOf | undefined,
  ): Soon<Authentication> {
    if (access.type === 'refusal') return refuse(access, scheme, needed)
    if (!coversScopes(access.scopes, needed))
      return refuse(refusal(insufficientScope(), access.clientId), scheme, needed)
    if (resourceOf === undefined) return access
    return openedBy(access, resourceOf).then((error) =>
      error === undefined ? access : refuse(refusal(error, access.clientId), scheme, needed),
    )
  }

  /** Why a resource is not open to who is calling; undefined where it is. */
  async function openedBy(access: Access, resourceOf: ResourceOf): Promise<OAuthError | undefined> {
    try {
      const resource = (await resourceOf(access)) ?? undefined
      if (resource !== undefined && !isProtectedResource(resource)) throw mistake(RESOURCE_SHAPE)
      return opensResource(access.resources, resource) ? undefined : insufficientResources()
    } catch (error) {
      return failed(error)
    }
  }

  function accessOf(
    request: RequestLike,
    headers: HttpHeaders,
    attributes: string | undefined,
  ): Soon<Access | Refusal> {
    const url = request.url ?? ''
    if (attributes === undefined) {
      const own = bearerToken(headers, url)
      return isCredential(own) ? accessByBearer(own) : refusal(own)
    }
    const misplaced = tokenInQuery(url)
    return misplaced === undefined ? accessByMac(attributes, request) : refusal(misplaced)
  }

  function refuse({ error, clientId }: Refusal, scheme: 'Bearer' | 'MAC', scopes: readonly Scope[]): Authentication {
    if (error.type === 'error') refused('api', error.reason, error.code, clientId)
    const every = macTokens && error.type === 'no_token' ? (['Bearer', 'MAC'] as const) : ([scheme] as const)
    return { type: 'refused', error, response: challenge(error, scopes, every) }
  }
}

/** Told by a property of its own, whatever has been done to the prototype of all objects. */
function isCredential(own: Credential | OAuthError | NoToken): own is Credential {
  return Object.hasOwn(own, 'secret')
}
