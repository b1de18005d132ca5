/**
 * The guard of a route, whatever the platform: what the guards of adapters are made of.
 * @module
 */

import type { Access } from './access.js'
import { GrantwellError } from './core/errors.js'
import type { Guard, Guarding, ResourceOf } from './guard.js'
import type { HttpResponse, RequestLike } from './protocol/message.js'

/** A request that its guard let through. */
export type Authorized<Request> = Request & {
  /** Who is calling, for whom, and what is permitted. */
  readonly auth: Access
}

/** What a route needs. */
export interface RouteNeeds<Request, Context extends readonly unknown[] = []> {
  /** Scopes, such as `repo-code:rw`, separated by a space; none by default. */
  readonly scope?: string
  /**
   * Which resource a request is about, as the host knows it; undefined or null where there is none. Left out where a route is about
   * none, or enforces `request.auth.resources` itself.
   */
  readonly resource?: (request: Authorized<Request>, ...context: Context) => ReturnType<ResourceOf>
}

/**
 * The guard of a route on any platform: what adapters are made of. What it finds goes through {@link authorized} or {@link refusalOf}.
 * @throws GrantwellError `ERR_CONFIGURATION` for a need that there is not, or a scope that the catalogue does not have
 */
export function routeGuard<Request extends object, Context extends readonly unknown[]>(
  guarding: Guarding,
  needs: RouteNeeds<Request, Context>,
): (request: Request, message: RequestLike, context: Context) => ReturnType<Guard> {
  if (typeof guarding?.guard !== 'function') throw mistake('guards are made of a server, or of resourceServer()')
  if (typeof needs !== 'object' || needs === null) throw mistake('a guard takes { scope, resource }')
  const { resource, ...others } = needs
  if (Object.hasOwn(needs, 'resource') && typeof resource !== 'function')
    throw mistake('a guard takes the resource as a function')
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
export function authorized<Request extends object>(request: Request, auth: Access): Authorized<Request> {
  const own = request as { auth?: Access } // whatever it was before, it is the guard's from now on
  own.auth = auth
  return request as Authorized<Request> // as of the line above
}

/** A slip of the pen, found when the guard is made. */
export function mistake(message: string): GrantwellError {
  return new GrantwellError('ERR_CONFIGURATION', `grantwell: ${message}`)
}
