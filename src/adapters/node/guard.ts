/**
 * Guards of API routes on Node: for `http`, Express and connect, and for Fastify.
 * @module
 * @see RFC 6750
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ProtectedResource } from '../../core/resource.js'
import type { AccessTo } from '../../guard/access.js'
import type { Authentication, Guarding } from '../../guard/guard.js'
import type { Authorized, ResourceNeeds, RouteNeeds } from '../../guard/route-guard.js'
import {
  authorized,
  checkFunction,
  checkGuarding,
  noNext,
  onErrorOption,
  refusalOf,
  routeGuard,
  thrown,
} from '../../guard/route-guard.js'
import type { HttpResponse } from '../../protocol/message.js'
import { harmless } from '../../shell/host.js'
import { addHostValues, BODY_HEADERS } from '../headers.js'

/** Passes a request on: of connect and Express. */
type Next = (error?: unknown) => void

/** Makes guards of routes: {@link createNodeGuard}. */
export interface NodeGuard<Request extends IncomingMessage, Response extends ServerResponse> {
  /**
   * A handler that is only called where the guard lets the request through, which then has `auth`, with the resource that was decided on.
   * @throws GrantwellError `ERR_CONFIGURATION` at once for a need that there is not, or a scope that the catalogue does not have
   */
  <Guarded extends Request = Request, Resource extends ProtectedResource = ProtectedResource>(
    needs: ResourceNeeds<Guarded, [], Resource>,
    handler: (request: Authorized<Guarded, AccessTo<Resource>>, response: Response, next: Next) => unknown,
  ): (request: Guarded, response: Response, next?: Next) => Promise<void> | undefined
  /** A handler on a route without `resource`. */
  <Guarded extends Request = Request>(
    needs: RouteNeeds<Guarded>,
    handler: (request: Authorized<Guarded>, response: Response, next: Next) => unknown,
  ): (request: Guarded, response: Response, next?: Next) => Promise<void> | undefined
  /** A middleware that passes on a request that is let through, with `auth`. */
  <Guarded extends Request = Request>(
    needs: RouteNeeds<Guarded>,
  ): (request: Guarded, response: Response, next: Next) => Promise<void> | undefined
}

/** Options of `createNodeGuard`. */
export interface NodeGuardOptions {
  /**
   * Told what a handler threw where there is no `next` to tell, and always where the guard itself failed; `console.error` by default.
   * The answer is then a 500.
   */
  readonly onError?: (error: unknown) => void
}

const FAILED: HttpResponse = {
  status: 500,
  headers: { 'Content-Type': 'text/plain;charset=UTF-8', 'Cache-Control': 'no-store' },
  body: 'The service failed.\n',
}

/**
 * Guards routes of `http`, Express and connect.
 * @param guarding - the server, or what `resourceServer` of `grantwell/client` gives
 * @param send - sends a response
 */
export function makeNodeGuard<Request extends IncomingMessage, Response extends ServerResponse>(
  guarding: Guarding,
  send: (response: Response, answer: HttpResponse) => void,
  options: NodeGuardOptions,
): NodeGuard<Request, Response> {
  checkGuarding('createNodeGuard', guarding)
  // biome-ignore lint/suspicious/noConsole: an error that nobody asked to be told of must not vanish
  const onError = onErrorOption('createNodeGuard', options) ?? ((error: unknown) => console.error(error))
  const tell = harmless(onError, nothing)
  return <Guarded extends Request>(
    needs: RouteNeeds<Guarded>,
    ...handlers: readonly ((request: Authorized<Guarded>, response: Response, next: Next) => unknown)[]
  ) => {
    const check = routeGuard(guarding, needs)
    const handler = handlerOf(handlers)
    return (request: Guarded, response: Response, next?: Next) => {
      // Of the guard itself. Never to `next`: one that does not look at its argument would let the request in.
      const fail = (error: unknown): void => {
        // Nobody waits for this: thrown on, one request that trips an error would end the process.
        tell(error)
        try {
          send(response, FAILED)
        } catch {
          response.destroy()
        }
      }
      const pass = (own: Authorized<Guarded>): unknown => {
        if (handler === undefined) return (next as Next)() // as was checked before
        const handlerFailed = (error: unknown): unknown => (next ?? fail)(thrown(error))
        try {
          const done = handler(own, response, next ?? ((error) => fail(error ? thrown(error) : noNext())))
          return isThenable(done) ? Promise.resolve(done).then(nothing, handlerFailed) : undefined
        } catch (error) {
          return handlerFailed(error)
        }
      }
      const proceed = (found: Authentication): Promise<void> | undefined => {
        let own: Authorized<Guarded>
        try {
          if (found.type !== 'authenticated') {
            send(response, refusalOf(request, found))
            return undefined
          }
          if (handler === undefined) checkFunction(NEXT, next)
          own = authorized(request, found)
        } catch (error) {
          fail(error)
          return undefined
        }
        const done = pass(own)
        return isThenable(done) ? Promise.resolve(done).then(nothing) : undefined
      }
      let found: ReturnType<typeof check>
      try {
        found = check(request, request, [])
      } catch (error) {
        fail(error)
        return undefined
      }
      return found instanceof Promise ? found.then(proceed, fail) : proceed(found)
    }
  }
}

/** Arguments of a middleware guard, in the words of a configuration error. */
const NEXT = 'next of a guard without a handler, which is a middleware,'

function nothing(): void {}

/** Whether something is a promise, be it of a library. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
}

/** The handler that was given, if one was: a misspelt one must not make a middleware. */
function handlerOf<Handler>(handlers: readonly Handler[]): Handler | undefined {
  if (handlers.length > 0) checkFunction('handler', handlers[0])
  return handlers[0]
}

/** What a Fastify request is to its guard. */
export interface FastifyRequestLike {
  readonly raw: IncomingMessage
}

/** What a Fastify reply is to its guard. */
export interface FastifyReplyLike {
  status(code: number): unknown
  getHeader(name: string): string | number | string[] | undefined
  removeHeader(name: string): unknown
  headers(values: Readonly<Record<string, string>>): unknown
  send(payload?: string): unknown
}

/** Makes guards of routes: {@link createFastifyGuard}. */
export interface FastifyGuard {
  /**
   * A handler that is only called where the guard lets the request through, which then has `auth`, with the resource that was decided on.
   * @throws GrantwellError `ERR_CONFIGURATION` at once for a need that there is not, or a scope that the catalogue does not have
   */
  <
    Request extends FastifyRequestLike,
    Reply extends FastifyReplyLike,
    Resource extends ProtectedResource = ProtectedResource,
  >(
    needs: ResourceNeeds<Request, [], Resource>,
    handler: (request: Authorized<Request, AccessTo<Resource>>, reply: Reply) => unknown,
  ): (request: Request, reply: Reply) => Promise<unknown>
  /** A handler on a route without `resource`. */
  <Request extends FastifyRequestLike, Reply extends FastifyReplyLike>(
    needs: RouteNeeds<Request>,
    handler: (request: Authorized<Request>, reply: Reply) => unknown,
  ): (request: Request, reply: Reply) => Promise<unknown>
  /** A hook, for `preHandler` and the like; what its requests have is what `resource` says it takes. */
  <Request extends FastifyRequestLike = FastifyRequestLike>(
    needs: RouteNeeds<Request>,
  ): (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>
}

/**
 * Guards routes of Fastify.
 * @param guarding - the server, or what `resourceServer` of `grantwell/client` gives
 * @example
 * ```ts
 * const guard = createFastifyGuard(server)
 * app.get('/repositories/:id', guard({ scope: 'repo-code:r', resource: repositoryOf }, async (request) => request.auth.resource))
 * ```
 */
export function createFastifyGuard(guarding: Guarding): FastifyGuard {
  checkGuarding('createFastifyGuard', guarding)
  return <Request extends FastifyRequestLike, Reply extends FastifyReplyLike>(
    needs: RouteNeeds<Request>,
    ...handlers: readonly ((request: Authorized<Request>, reply: Reply) => unknown)[]
  ) => {
    const check = routeGuard(guarding, needs)
    const handler = handlerOf(handlers)
    return async (request: Request, reply: Reply) => {
      const found = await check(request, request.raw, [])
      if (found.type === 'authenticated') {
        const own = authorized(request, found)
        if (handler === undefined) return undefined
        const given = handler(own, reply)
        // One in the style of callbacks, which answers later: what an async function gives, Fastify would send at once.
        return given === undefined ? reply : given
      }
      const { status, headers, body } = refusalOf(request, found)
      reply.status(status)
      for (const name of BODY_HEADERS) reply.removeHeader(name)
      const all = Object.entries(addHostValues(headers, (name) => reply.getHeader(name)))
      // Lists in one line: a refusal has no cookie, which could not be in one.
      reply.headers(Object.fromEntries(all.map(([name, value]) => [name, [value].flat().join(', ')])))
      // A string, be it empty, would get a content type of Fastify's own.
      reply.send(body === '' ? undefined : body)
      return reply
    }
  }
}
