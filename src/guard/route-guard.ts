/**
 * The guard of a route, whatever the platform: what the guards of adapters are made of.
 * @module
 */

import { configurationError } from '../core/errors.js'
import type { ProtectedResource } from '../core/resource.js'
import type { Takes } from '../core/takes.js'
import { ANYTHING, came, FUNCTION, methods, mustBe, readOptions } from '../core/takes.js'
import type { HttpResponse, RequestLike } from '../protocol/message.js'
import { checkArgument } from '../shell/host.js'
import type { Access } from './access.js'
import type { Guard, Guarding, ResourceOf } from './guard.js'

/** A request that its guard let through; behind a guard with `resource`, `Authorized<Request, AccessTo<Resource>>`. */
export type Authorized<Request, Granted extends Access = Access> = Request & {
  /** Who is calling, for whom, what is permitted, and the resource that the guard decided on. */
  readonly auth: Granted
}

/** What a route needs. */
export interface RouteNeeds<Request, Context extends readonly unknown[] = []> {
  /** Scopes, such as `repo-code:rw`, separated by a space; none by default. */
  readonly scope?: string
  /**
   * Returns the resource that a request is about, as the host knows it; undefined or null where there is none. The handler finds this
   * very value in `request.auth.resource`. Left out where a route is about none, or enforces `request.auth.resources` itself.
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
   * Returns the resource that a request is about, as the host knows it; undefined or null where there is none. The handler finds this
   * very value in `request.auth.resource`.
   */
  readonly resource: (request: Authorized<Request>, ...context: Context) => ReturnType<ResourceOf<Resource>>
}

/**
 * The guard of a route on any platform: what adapters are made of. What it finds goes through {@link authorized} or {@link refusalOf}.
 * @throws GrantwellError `ERR_CONFIGURATION` for a need that there is not, or a scope that the catalogue does not have
 */
export function routeGuard<Request extends object, Context extends readonly unknown[]>(
  guarding: Guarding,
  needs: RouteNeeds<Request, Context>,
): (request: Request, message: RequestLike, context: Context) => ReturnType<Guard> {
  const own = readOptions<RouteNeeds<Request, Context>>(
    'guard',
    needs,
    { scope: ANYTHING, resource: FUNCTION },
    [],
    true,
  )
  if (typeof own === 'string') throw configurationError(own)
  const { resource } = own
  const { resource: _, ...others } = needs
  // One that is undefined was meant to be a function: left out, it would let everybody in.
  if (Object.hasOwn(needs, 'resource')) checkArgument('guard', 'resource', FUNCTION, resource)
  const check = guarding.guard(others)
  return (request, message, context) =>
    resource === undefined
      ? check(message)
      : check(message, (access) => resource(authorized(request, access), ...context))
}

/** The response to a request that is not let through. */
export function refusalOf(request: object, { response }: { readonly response: HttpResponse }): HttpResponse {
  // Whoever handles the refusal must not take it for somebody who was let in.
  Reflect.deleteProperty(request, 'auth')
  return response
}

/** The request that is let through, with who is calling. */
export function authorized<Request extends object, Granted extends Access>(
  request: Request,
  auth: Granted,
): Authorized<Request, Granted> {
  const own = request as { auth?: Access } // whatever it was before, it is the guard's from now on
  own.auth = auth
  return request as Authorized<Request, Granted> // as of the line above
}

const GUARDING: Takes = methods('a server, or an object of resourceServer(),', 'guard')

const SERVER: Takes = methods('a server of createAuthorizationServer(), an object', 'handle', 'owns')

/** Checks what guards are made of. @throws GrantwellError `ERR_CONFIGURATION` */
export function checkGuarding(of: string, guarding: unknown): void {
  checkArgument(of, 'guarding', GUARDING, guarding)
}

/** Checks what a handler is made of. @throws GrantwellError `ERR_CONFIGURATION` */
export function checkServer(of: string, server: unknown): void {
  checkArgument(of, 'server', SERVER, server)
}

/** Checks a function that a guard was given: one that is misspelt must not let everybody in. @throws GrantwellError `ERR_CONFIGURATION` */
export function checkFunction(name: string, given: unknown): void {
  checkArgument('guard', name, FUNCTION, given)
}

/** Reads options of which the only one is `onError`. @throws GrantwellError `ERR_CONFIGURATION` */
export function onErrorOption<OnError>(of: string, options: { readonly onError?: OnError }): OnError | undefined {
  const own = readOptions<{ readonly onError?: OnError }>(of, options, { onError: FUNCTION })
  if (typeof own === 'string') throw configurationError(own)
  return own.onError
}

/** The fault of a handler that passes a request on where there is nobody to take it. */
export function noNext(): Error {
  return configurationError(`guard: the argument next of a handler that called it ${mustBe(FUNCTION, undefined)}`)
}

/**
 * What a handler threw, as an error: Express and connect pass a request on, with its `auth`, where `next` gets a value that is
 * nothing, and Express takes two strings for an order to do so.
 */
export function thrown(error: unknown): unknown {
  const isError = Boolean(error) && error !== 'route' && error !== 'router'
  return isError ? error : new Error(`a handler behind a guard failed with ${came(error)}`, { cause: error })
}
