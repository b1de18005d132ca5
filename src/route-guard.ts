/**
 * The guard of a route, whatever the platform: what the guards of adapters are made of.
 * @module
 */
import { GrantwellError } from './core/errors.js'
import type { Access, Guarding, ResourceOf } from './guard.js'
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

/** What came of a request: it may go on, or this is its answer. */
export type Guarded<Request> =
  | { readonly type: 'authorized'; readonly request: Authorized<Request> }
  | { readonly type: 'refused'; readonly response: HttpResponse }

/**
 * The guard of a route on any platform: what adapters are made of.
 * @throws GrantwellError `ERR_CONFIGURATION` for a need that there is not, or a scope that the catalogue does not have
 */
export function routeGuard<Request extends object, Context extends readonly unknown[]>(
  guarding: Guarding,
  needs: RouteNeeds<Request, Context>,
): (request: Request, message: RequestLike, context: Context) => Promise<Guarded<Request>> {
  if (typeof guarding?.guard !== 'function') throw mistake('guards are made of a server, or of resourceServer()')
  if (typeof needs !== 'object' || needs === null) throw mistake('a guard takes { scope, resource }')
  const { resource, ...others } = needs
  if (Object.hasOwn(needs, 'resource') && typeof resource !== 'function')
    throw mistake('a guard takes the resource as a function')
  const check = guarding.guard(others)
  return async (request, message, context) => {
    const authorized = (auth: Access): Authorized<Request> => Object.assign(request, { auth })
    const found = await (resource === undefined
      ? check(message)
      : check(message, (access) => resource(authorized(access), ...context)))
    if (found.type === 'authenticated') return { type: 'authorized', request: authorized(found) }
    // Whoever handles the refusal must not take it for somebody who was let in.
    Reflect.deleteProperty(request, 'auth')
    return { type: 'refused', response: found.response }
  }
}

/** A slip of the pen, found when the guard is made. */
export function mistake(message: string): GrantwellError {
  return new GrantwellError('ERR_CONFIGURATION', `grantwell: ${message}`)
}
