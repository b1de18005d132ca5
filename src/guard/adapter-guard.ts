/**
 * The parts that the adapters make their guards of: a route's options, and helpers for its handler. The check of a request is in
 * `guard.ts`.
 * @module
 */

import { configurationError } from '../core/errors.js'
import { checkArgument, readOptions, readStrictOptions } from '../core/options.js'
import type { ProtectedResource } from '../core/resource.js'
import type { Takes } from '../core/takes.js'
import { ANYTHING, came, FUNCTION, methods, mustBe } from '../core/takes.js'
import type { HttpResponse, RequestLike } from '../protocol/message.js'
import type { AuthInfo, ResourceOf } from './auth-info.js'
import type { Guard, GuardProvider } from './guard.js'

/**
 * A request that its guard let through; behind a guard with `resource`,
 * `Authorized<Request, AuthInfo<Resource> & { readonly resource: Resource }>`.
 */
export type Authorized<Request, Granted extends AuthInfo = AuthInfo> = Request & {
  /** The application that calls, its user, the permissions, and the resource that the guard decided on. */
  readonly auth: Granted
}

/** The needs of a route. */
export interface RouteNeeds<Request, Context extends readonly unknown[] = []> {
  /** Scopes, such as `repo-code:rw`, separated by a space; none by default. */
  readonly scope?: string
  /** The protected resource that the route belongs to, as `audiences` declares it: it takes tokens for it alone; none by default. */
  readonly audience?: string
  /**
   * Returns the resource that a request is about, as the host knows it; undefined or null for none. The handler finds this very
   * value in `request.auth.resource`. Left out if a route is about no resource, or enforces `request.auth.resources` itself.
   */
  readonly resource?: (request: Authorized<Request>, ...context: Context) => ReturnType<ResourceOf>
}

/** Needs of a route about a resource. */
export interface ResourceNeeds<
  Request,
  Context extends readonly unknown[] = [],
  Resource extends ProtectedResource = ProtectedResource,
> extends RouteNeeds<Request, Context> {
  /**
   * Returns the resource that a request is about, as the host knows it; undefined or null for none. The handler finds this very
   * value in `request.auth.resource`.
   */
  readonly resource: (request: Authorized<Request>, ...context: Context) => ReturnType<ResourceOf<Resource>>
}

/**
 * Creates the guard of a route on any platform. The adapter passes its answer on by {@link authorized} or {@link refusalOf}.
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown need, or a scope that the catalogue does not have
 */
export function routeGuard<Request extends object, Context extends readonly unknown[]>(
  guarding: GuardProvider,
  needs: RouteNeeds<Request, Context>,
): (request: Request, message: RequestLike, context: Context) => ReturnType<Guard> {
  const takes = { scope: ANYTHING, audience: ANYTHING, resource: FUNCTION }
  const { resource } = readStrictOptions<RouteNeeds<Request, Context>>('guard', needs, takes)
  const { resource: _, ...others } = needs
  // An undefined option was meant to be a function: if it were ignored, everybody would be let in.
  if (Object.hasOwn(needs, 'resource')) checkArgument('guard', 'resource', FUNCTION, resource)
  const check = guarding.guard(others)
  return (request, message, context) =>
    resource === undefined
      ? check(message)
      : check(message, (access) => resource(authorized(request, access), ...context))
}

/** Returns the response to a request that is refused. */
export function refusalOf(request: object, { response }: { readonly response: HttpResponse }): HttpResponse {
  // The handler of the refusal must not find the access of an earlier guard.
  Reflect.deleteProperty(request, 'auth')
  return response
}

/** Adds the access to a request that is let through. */
export function authorized<Request extends object, Granted extends AuthInfo>(
  request: Request,
  auth: Granted,
): Authorized<Request, Granted> {
  const own = request as { auth?: AuthInfo } // whatever it was before, it is the guard's from now on
  own.auth = auth
  return request as Authorized<Request, Granted> // as of the line above
}

const GUARDING: Takes = methods('a server, or an object of resourceServer(),', 'guard')

const SERVER: Takes = methods('a server of createAuthorizationServer() or createConsole(), an object', 'handle', 'owns')

/** Checks the maker of guards. @throws GrantwellError `ERR_CONFIGURATION` */
export function checkGuarding(of: string, guarding: unknown): void {
  checkArgument(of, 'guarding', GUARDING, guarding)
}

/** Checks the server of a handler. @throws GrantwellError `ERR_CONFIGURATION` */
export function checkServer(of: string, server: unknown): void {
  checkArgument(of, 'server', SERVER, server)
}

/**
 * Checks a function that a guard got, so that a missing one cannot let everybody in.
 * @throws GrantwellError `ERR_CONFIGURATION`
 */
export function checkFunction(name: string, given: unknown): void {
  checkArgument('guard', name, FUNCTION, given)
}

/** Reads options whose only one is `onError`. @throws GrantwellError `ERR_CONFIGURATION` */
export function onErrorOption<OnError>(of: string, options: { readonly onError?: OnError }): OnError | undefined {
  return readOptions<{ readonly onError?: OnError }>(of, options, { onError: FUNCTION }).onError
}

/** Makes the error of a handler that called `next` where the platform has no next handler. */
export function noNext(): Error {
  return configurationError(`guard: the argument next of a handler that called it ${mustBe(FUNCTION, undefined)}`)
}

/**
 * Makes an error of a value that a handler threw. Express and connect take an empty value for `next` as the order to go on to the
 * next handler, with `auth` in the request, and Express takes two strings so.
 */
export function thrown(error: unknown): unknown {
  const isError = Boolean(error) && error !== 'route' && error !== 'router'
  return isError ? error : new Error(`a handler behind a guard failed with ${came(error)}`, { cause: error })
}
