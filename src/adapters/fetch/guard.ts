/**
 * Guards of API routes for everything that hands over a `Request` and wants a `Response`.
 * @module
 * @see RFC 6750
 */
import type { Guarding } from '../../guard.js'
import type { HttpResponse } from '../../protocol/message.js'
import type { Authorized, RouteNeeds } from '../../route-guard.js'
import { authorized, mistake, refusalOf, routeGuard } from '../../route-guard.js'

/** Makes guards of routes: {@link createFetchGuard}. */
export type FetchGuard = <Context extends readonly unknown[], Guarded extends Request = Request>(
  needs: RouteNeeds<Guarded, Context>,
  handler: (request: Authorized<Guarded>, ...context: Context) => Response | Promise<Response>,
) => (request: Guarded, ...context: Context) => Promise<Response>

/**
 * Guards routes.
 * @param guarding - the server, or what `resourceServer` of `grantwell/client` gives
 * @param respond - makes the response where the guard does not let a request through
 */
export function makeFetchGuard(guarding: Guarding, respond: (answer: HttpResponse) => Response): FetchGuard {
  return (needs, handler) => {
    const check = routeGuard(guarding, needs)
    if (typeof handler !== 'function') throw mistake('a guard takes the handler as a function')
    return async (request, ...context) => {
      const found = await check(request, request, context)
      return found.type === 'refused'
        ? respond(refusalOf(request, found))
        : handler(authorized(request, found), ...context)
    }
  }
}
