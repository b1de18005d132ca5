/**
 * Guards of API routes on Fastify.
 * @module
 * @see RFC 6750
 */
import type { IncomingMessage } from 'node:http'
import type { ProtectedResource } from '../../core/resource.js'
import type { Authorized, ResourceNeeds, RouteNeeds } from '../../guard/adapter-guard.js'
import { authorized, checkGuarding, refusalOf, routeGuard } from '../../guard/adapter-guard.js'
import type { AuthInfo } from '../../guard/auth-info.js'
import type { GuardProvider } from '../../guard/guard.js'
import type { HttpResponse } from '../../protocol/message.js'
import { addHostValues, BODY_HEADERS } from '../headers.js'
import { handlerOf } from './guard.js'

/** The members of a Fastify request that its guard uses. */
export interface FastifyRequestLike {
  /** Node's own request. */
  readonly raw: IncomingMessage
}

/** The members of a Fastify reply that its guard uses. */
export interface FastifyReplyLike {
  /** Sets the status. */
  status(code: number): unknown
  /** Returns a header that was set before. */
  getHeader(name: string): string | number | string[] | undefined
  /** Removes a header that was set before. */
  removeHeader(name: string): unknown
  /** Sets headers. */
  headers(values: Readonly<Record<string, string>>): unknown
  /** Sends the reply. */
  send(payload?: string): unknown
  /** True once the whole reply is sent. */
  readonly sent?: boolean
}

/** Creates guards of routes: {@link createFastifyGuard}. */
export interface FastifyGuard {
  /**
   * Creates a handler that calls yours only for a request that the guard lets through. That request has `auth`, with the
   * resource that the guard decided on.
   * @throws GrantwellError `ERR_CONFIGURATION` at once for an unknown need, or a scope that the catalogue does not have
   */
  <
    Request extends FastifyRequestLike,
    Reply extends FastifyReplyLike,
    Resource extends ProtectedResource = ProtectedResource,
  >(
    needs: ResourceNeeds<Request, [], Resource>,
    handler: (
      request: Authorized<Request, AuthInfo<Resource> & { readonly resource: Resource }>,
      reply: Reply,
    ) => unknown,
  ): (request: Request, reply: Reply) => Promise<unknown>
  /** Creates a handler for a route without `resource`. */
  <Request extends FastifyRequestLike, Reply extends FastifyReplyLike>(
    needs: RouteNeeds<Request>,
    handler: (request: Authorized<Request>, reply: Reply) => unknown,
  ): (request: Request, reply: Reply) => Promise<unknown>
  /**
   * Creates a hook, such as `preHandler`. Its type of request is the parameter type of `resource`. The promise of a refusal
   * settles once the reply is sent. It never settles if the client leaves before that.
   */
  <Request extends FastifyRequestLike = FastifyRequestLike>(
    needs: RouteNeeds<Request>,
  ): (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>
}

/**
 * Creates guards of routes of Fastify.
 * @param guarding - the server, or the result of `resourceServer` of `grantwell/client`
 * @example
 * ```ts
 * const guard = createFastifyGuard(server)
 * app.get('/repositories/:id', guard({ scope: 'repo-code:r', resource: repositoryOf }, async (request) => request.auth.resource))
 * ```
 */
export function createFastifyGuard(guarding: GuardProvider): FastifyGuard {
  checkGuarding('createFastifyGuard', guarding)
  return <Request extends FastifyRequestLike, Reply extends FastifyReplyLike>(
    needs: RouteNeeds<Request>,
    ...handlers: readonly ((request: Authorized<Request>, reply: Reply) => unknown)[]
  ) => {
    const check = routeGuard(guarding, needs)
    const handler = handlerOf(handlers)
    return async (request: Request, reply: Reply) => {
      const found = await check(request, request.raw, [])
      if (found.type !== 'authenticated') {
        refuse(reply, refusalOf(request, found))
        return handler === undefined ? endOf(reply) : reply
      }
      const own = authorized(request, found)
      if (handler === undefined) return undefined
      const result = handler(own, reply)
      // A handler with a callback returns nothing and responds later. Fastify would send the result of an async function at once.
      return result === undefined ? reply : result
    }
  }
}

/** Sends a refusal. */
function refuse(reply: FastifyReplyLike, { status, headers, body }: HttpResponse): void {
  reply.status(status)
  for (const name of BODY_HEADERS) reply.removeHeader(name)
  const all = Object.entries(addHostValues(headers, (name) => reply.getHeader(name)))
  // Lists go on one line. Only cookies could not, and a refusal has none.
  reply.headers(Object.fromEntries(all.map(([name, value]) => [name, [value].flat().join(', ')])))
  // Fastify would add a content type to a string, even to an empty one.
  reply.send(body === '' ? undefined : body)
}

/**
 * Waits until a refusal is sent. A reply is a promise of its end, and it is fulfilled also if the client leaves while `onSend`
 * hooks of the host still run. Fastify would then go on to the route, because nothing is sent. So a hook must not settle.
 */
async function endOf(reply: FastifyReplyLike): Promise<undefined> {
  await reply
  return reply.sent === false ? new Promise(() => {}) : undefined
}
