/**
 * Guards of API routes for everything that hands over a `Request` and wants a `Response`.
 * @module
 * @see RFC 6750
 */

import type { ProtectedResource } from '../../core/resource.js'
import type { AccessTo } from '../../guard/access.js'
import type { Guarding } from '../../guard/guard.js'
import type { Authorized, ResourceNeeds, RouteNeeds } from '../../guard/route-guard.js'
import { authorized, checkFunction, checkGuarding, refusalOf, routeGuard } from '../../guard/route-guard.js'
import type { HttpResponse } from '../../protocol/message.js'

/** Makes guards of routes: {@link createFetchGuard}. */
export interface FetchGuard {
  /**
   * A handler that is only called where the guard lets the request through, which then has `auth`, with the resource that was decided on.
   * @throws GrantwellError `ERR_CONFIGURATION` at once for a need that there is not, or a scope that the catalogue does not have
   */
  <
    Context extends readonly unknown[],
    Guarded extends Request = Request,
    Resource extends ProtectedResource = ProtectedResource,
  >(
    needs: ResourceNeeds<Guarded, Context, Resource>,
    handler: (request: Authorized<Guarded, AccessTo<Resource>>, ...context: Context) => Response | Promise<Response>,
  ): (request: Guarded, ...context: Context) => Promise<Response>
  /** A handler on a route without `resource`. */
  <Context extends readonly unknown[], Guarded extends Request = Request>(
    needs: RouteNeeds<Guarded, Context>,
    handler: (request: Authorized<Guarded>, ...context: Context) => Response | Promise<Response>,
  ): (request: Guarded, ...context: Context) => Promise<Response>
}

/**
 * Guards routes.
 * @param guarding - the server, or what `resourceServer` of `grantwell/client` gives
 * @param respond - makes the response where the guard does not let a request through
 */
export function makeFetchGuard(guarding: Guarding, respond: (answer: HttpResponse) => Response): FetchGuard {
  checkGuarding('createFetchGuard', guarding)
  return <Context extends readonly unknown[], Guarded extends Request>(
    needs: RouteNeeds<Guarded, Context>,
    handler: (request: Authorized<Guarded>, ...context: Context) => Response | Promise<Response>,
  ) => {
    const check = routeGuard(guarding, needs)
    checkFunction('handler', handler)
    return async (request: Guarded, ...context: Context) => {
      const found = await check(request, request, context)
      // By what lets in: whatever else somebody's `guarding` may answer is no access.
      return found.type === 'authenticated'
        ? handler(authorized(request, found), ...context)
        : respond(refusalOf(request, found))
    }
  }
}
