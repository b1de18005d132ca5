/**
 * Guards of API routes on platforms that pass a `Request` and expect a `Response`.
 * @module
 * @see RFC 6750
 */
import type { ProtectedResource } from '../../core/resource.js'
import type { Authorized, ResourceNeeds, RouteNeeds } from '../../guard/adapter-guard.js'
import { authorized, checkFunction, checkGuarding, refusalOf, routeGuard } from '../../guard/adapter-guard.js'
import type { AuthInfo } from '../../guard/auth-info.js'
import type { GuardProvider } from '../../guard/guard.js'
import { toResponse } from './response.js'

/** Creates guards of routes: {@link createFetchGuard}. */
export interface FetchGuard {
  /**
   * Creates a handler that calls yours only for a request that the guard lets through. That request has `auth`, with the
   * resource that the guard decided on.
   * @throws GrantwellError `ERR_CONFIGURATION` at once for an unknown need, or a scope that the catalogue does not have
   */
  <
    Context extends readonly unknown[],
    Guarded extends Request = Request,
    Resource extends ProtectedResource = ProtectedResource,
  >(
    needs: ResourceNeeds<Guarded, Context, Resource>,
    handler: (
      request: Authorized<Guarded, AuthInfo<Resource> & { readonly resource: Resource }>,
      ...context: Context
    ) => Response | Promise<Response>,
  ): (request: Guarded, ...context: Context) => Promise<Response>
  /** Creates a handler for a route without `resource`. */
  <Context extends readonly unknown[], Guarded extends Request = Request>(
    needs: RouteNeeds<Guarded, Context>,
    handler: (request: Authorized<Guarded>, ...context: Context) => Response | Promise<Response>,
  ): (request: Guarded, ...context: Context) => Promise<Response>
}

/**
 * Creates guards of routes. A handler behind a guard is only called for a request whose access token works and permits what
 * the route needs. The handler finds who is calling, and the resource, in `request.auth`. Arguments behind the request (a
 * context, parameters) are passed on to the handler.
 * @param guarding - the server, or the result of `resourceServer` of `grantwell/client`
 * @example
 * ```ts
 * const guard = createFetchGuard(server)
 * export const PUT = guard({ scope: 'repo-code:rw', resource: repositoryOf }, ({ auth }) => Response.json({ wrote: auth.resource.id }))
 * ```
 */
export function createFetchGuard(guarding: GuardProvider): FetchGuard {
  checkGuarding('createFetchGuard', guarding)
  return <Context extends readonly unknown[], Guarded extends Request>(
    needs: RouteNeeds<Guarded, Context>,
    handler: (request: Authorized<Guarded>, ...context: Context) => Response | Promise<Response>,
  ) => {
    const check = routeGuard(guarding, needs)
    checkFunction('handler', handler)
    return async (request: Guarded, ...context: Context) => {
      const found = await check(request, request, context)
      // Only this type lets a request in, whatever else an implementation of `GuardProvider` may return.
      return found.type === 'authenticated'
        ? handler(authorized(request, found), ...context)
        : toResponse(refusalOf(request, found))
    }
  }
}
