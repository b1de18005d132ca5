/**
 * The composition root: makes a server of its options, with its routes, its guard and its management.
 * @module
 */

import { hostFailed, oauthError } from './core/errors.js'
import type { ProtectedResource } from './core/resource.js'
import type { AuthInfo, GuardResult, ResourceOf } from './guard/auth-info.js'
import type { GuardProvider } from './guard/guard.js'
import { createAuthenticate, createGuard } from './guard/guard.js'
import { createAdministration } from './management/administration.js'
import type { Applications } from './management/applications/interface.js'
import type { Grants } from './management/grants/interface.js'
import type { Health } from './management/health.js'
import { isPreflight } from './protocol/cors/preflight.js'
import type { HttpRequest, HttpResponse, RequestLike } from './protocol/message.js'
import { errorResponse, originForm, pathOf, withAllow } from './protocol/message.js'
import type { Route } from './routes.js'
import { createRoutes } from './routes.js'
import { createAuditTrail } from './shell/audit/trail.js'
import type { AuditTrail } from './shell/audit.js'
import type { Internals, WithInternals } from './shell/internals.js'
import { INTERNALS } from './shell/internals.js'
import { andThen, isPromise } from './shell/maybe-promise.js'
import type { Settings } from './shell/options/settings.js'
import { resolveOptions } from './shell/options/settings.js'
import type { AuthorizationServerOptions } from './shell/options.js'
import { unavailable } from './shell/records/checked-store.js'
import { createOwnedStore } from './shell/records/owned-store.js'

/** The part of a server that an adapter needs: it answers the requests for some paths. */
export interface HttpHandler<Native = unknown> {
  /** The maximum number of bytes of a body that an adapter may read. */
  readonly bodyLimit: number
  /** Returns true for a path of this server: alone, with its query, or in a whole URL. Never throws. */
  readonly owns: (url: string) => boolean
  /**
   * Answers a request, by a promise where it must wait; undefined if its path is not one of this server. Never throws or rejects.
   * The answer to a `HEAD` has its body, which the adapter leaves out.
   */
  readonly handle: (
    request: HttpRequest<Native>,
  ) => HttpResponse<string | Uint8Array> | undefined | Promise<HttpResponse<string | Uint8Array> | undefined>
}

/** An authorization server. */
export interface AuthorizationServer<Native = unknown> extends GuardProvider, HttpHandler<Native> {
  /** The issuer identifier, as the option has it. */
  readonly issuer: string
  /**
   * Checks that the access token of a request works and permits what the route needs, like `guard(needs)(request)`. For routes
   * whose needs are only known with the request. One read of the store, and for a token of the type `mac` one write.
   * @param request - Node's `IncomingMessage`, a fetch `Request`, or anything with their headers
   * @param needs.scope - scopes that the route needs, such as `repo-code:r`; none by default
   * @param needs.audience - the protected resource that the route belongs to; none by default
   * @param needs.resource - returns the resource that the request is about; absent if it is about none, or if the host enforces
   * `resources` of the answer itself
   * @returns the application that calls, its user, the permissions and that resource; otherwise the response to send
   * @throws GrantwellError `ERR_CONFIGURATION` for a scope that the catalogue does not have, or any other option
   * @see RFC 6750
   */
  readonly authenticate: {
    /** Checks a request about a resource, which an access then has in `resource`. */
    <Resource extends ProtectedResource>(
      request: RequestLike,
      needs: { readonly scope?: string; readonly audience?: string; readonly resource: ResourceOf<Resource> },
    ): Promise<GuardResult<AuthInfo<Resource> & { readonly resource: Resource }>>
    /** Checks a request. */
    (
      request: RequestLike,
      needs?: { readonly scope?: string; readonly audience?: string; readonly resource?: ResourceOf },
    ): Promise<GuardResult>
  }
  /** Functions for the host's applicants and administrators. */
  readonly applications: Applications
  /** Functions that list the permissions of users, and end them. */
  readonly grants: Grants
  /**
   * Asks the store and the clock once, and says what is wrong: for a route that tells a load balancer if this server can work. One round
   * trip; nothing is written but the record of the issuer, where the store is new. Never rejects.
   */
  readonly health: () => Promise<Health>
}

/**
 * Creates an authorization server.
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown, missing or wrong option
 * @example
 * ```ts
 * const server = createAuthorizationServer({
 *   issuer: 'https://git.example',
 *   store: memoryStore(),
 *   user: (request) => sessions.userOf(request.native),
 *   signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
 * })
 * http.createServer(createNodeHandler(server)).listen(8080)
 * ```
 * In TypeScript, `createAuthorizationServer<IncomingMessage>({ ... })` (or Express's or the fetch `Request`) gives
 * `request.native` its type.
 */
export function createAuthorizationServer<Native = unknown>(
  options: AuthorizationServerOptions<Native>,
): AuthorizationServer<Native> {
  const settings = resolveOptions(options)
  const { issuer, bodyLimit } = settings
  const internals = createInternals(settings)
  const guard = createGuard(internals)
  const routes = createRoutes(internals)
  const server: AuthorizationServer<Native> & WithInternals<Native> = {
    issuer,
    bodyLimit,
    owns: (url) => routes.has(pathOf(originForm(url))),
    handle: createHandle(internals, routes),
    guard,
    // The resource that comes with an access is the one that `needs.resource` returned.
    authenticate: createAuthenticate(guard) as AuthorizationServer['authenticate'],
    ...createAdministration(internals),
    [INTERNALS]: internals,
  }
  return server
}

/** Creates the parts of a server from its options. */
export function createInternals<Native>(settings: Settings<Native>): Internals<Native> {
  return { settings, store: createOwnedStore(settings), audit: createAuditTrail(settings) }
}

/** Creates the function that answers requests. */
function createHandle<Native>(
  { settings, audit }: Internals<Native>,
  routes: ReadonlyMap<string, Route<Native>>,
): AuthorizationServer<Native>['handle'] {
  function failed(error: unknown): HttpResponse {
    settings.onError(error)
    return errorResponse(hostFailed())
  }

  /** Holds an answer back until the refusals of its request are written, as far as they must be. */
  function finish(request: HttpRequest<Native>, answer: HttpResponse<string | Uint8Array>) {
    return andThen(audit.isWritten(request), (isWritten) =>
      withOwnHeaders(isWritten ? answer : errorResponse(unavailable('audit_failed'))),
    )
  }

  return (request) => {
    const route = routes.get(pathOf(request.url))
    if (route === undefined) return undefined
    try {
      if (!route.methods.includes(request.method) && !(route.cors && isPreflight(request)))
        return finish(request, methodNotAllowed(request, route, audit))
      const answer = route.answer(request)
      return isPromise(answer) ? answer.then((made) => finish(request, made), failed) : finish(request, answer)
    } catch (error) {
      return failed(error)
    }
  }
}

function methodNotAllowed<Native>(
  request: HttpRequest<Native>,
  { endpoint, methods }: Route<Native>,
  audit: AuditTrail,
): HttpResponse {
  const words = methods.filter((method) => method !== 'HEAD').join(' or ')
  const error = oauthError('invalid_request', 'method_not_allowed', `The method must be ${words}.`, { status: 405 })
  if (endpoint !== undefined) audit.refuse(request, endpoint, error.reason, error.code)
  return withAllow(errorResponse(error), methods.join(', '))
}

/** Gives an answer headers of its own, since a host may add some and many answers have the same. */
function withOwnHeaders<Body extends string | Uint8Array>({ status, headers, body }: HttpResponse<Body>) {
  return { status, headers: { ...headers }, body }
}
