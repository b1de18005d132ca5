/**
 * Guards of API routes on Node: for `http`, Express and connect, and for Fastify.
 * @module
 * @see RFC 6750
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Authentication, Guarding } from '../../guard.js'
import type { HttpResponse } from '../../protocol/message.js'
import type { Authorized, RouteNeeds } from '../../route-guard.js'
import { authorized, mistake, refusalOf, routeGuard } from '../../route-guard.js'

/** Passes a request on: of connect and Express. */
type Next = (error?: unknown) => void

/** Makes guards of routes: {@link createNodeGuard}. */
export interface NodeGuard<Request extends IncomingMessage, Response extends ServerResponse> {
  /**
   * A handler that is only called where the guard lets the request through, which then has `auth`.
   * @throws GrantwellError `ERR_CONFIGURATION` at once for a need that there is not, or a scope that the catalogue does not have
   */
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
  /** Told what a handler threw where there is no `next` to tell; `console.error` by default. The answer is then a 500. */
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
  // biome-ignore lint/suspicious/noConsole: an error that nobody asked to be told of must not vanish
  { onError = (error) => console.error(error) }: NodeGuardOptions,
): NodeGuard<Request, Response> {
  return <Guarded extends Request>(
    needs: RouteNeeds<Guarded>,
    ...handlers: readonly ((request: Authorized<Guarded>, response: Response, next: Next) => unknown)[]
  ) => {
    const check = routeGuard(guarding, needs)
    const handler = handlerOf(handlers) ?? ((_request, _response, next) => next())
    return (request: Guarded, response: Response, next?: Next) => {
      const proceed = (found: Authentication): unknown => {
        if (found.type === 'authenticated') return handler(authorized(request, found), response, next ?? nowhere)
        return send(response, refusalOf(request, found))
      }
      const fail = (error: unknown): void => {
        if (next !== undefined) {
          next(error)
          return
        }
        // Nobody waits for this: thrown on, one request that trips an error would end the process.
        onError(error)
        if (response.headersSent) response.destroy()
        else send(response, FAILED)
      }
      try {
        const found = check(request, request, [])
        const done = found instanceof Promise ? found.then(proceed) : proceed(found)
        if (isThenable(done)) return Promise.resolve(done).then(nothing, fail)
      } catch (error) {
        fail(error)
      }
      return undefined
    }
  }
}

function nothing(): void {}

/** Whether something is a promise, be it of a library. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
}

/** What a guard without a handler is called for, where nobody passes requests on. */
function nowhere(error?: unknown): void {
  throw error ?? mistake('a guard without a handler is a middleware, and was called without next')
}

/** The handler that was given, if one was: a misspelt one must not make a middleware. */
function handlerOf<Handler>(handlers: readonly Handler[]): Handler | undefined {
  if (handlers.length > 0 && typeof handlers[0] !== 'function') throw mistake('a guard takes the handler as a function')
  return handlers[0]
}

/** What a Fastify request is to its guard. */
export interface FastifyRequestLike {
  readonly raw: IncomingMessage
}

/** What a Fastify reply is to its guard. */
export interface FastifyReplyLike {
  status(code: number): unknown
  headers(values: Readonly<Record<string, string>>): unknown
  send(payload?: string): unknown
}

/** Makes guards of routes: {@link createFastifyGuard}. */
export interface FastifyGuard {
  /**
   * A handler that is only called where the guard lets the request through, which then has `auth`.
   * @throws GrantwellError `ERR_CONFIGURATION` at once for a need that there is not, or a scope that the catalogue does not have
   */
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
 * app.get('/repositories/:id', guard({ scope: 'repo-code:r', resource: repositoryOf }, async (request) => request.auth.subject))
 * ```
 */
export function createFastifyGuard(guarding: Guarding): FastifyGuard {
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
        return handler?.(own, reply)
      }
      const { status, headers, body } = refusalOf(request, found)
      reply.status(status)
      reply.headers(headers)
      // A string, be it empty, would get a content type of Fastify's own.
      reply.send(body === '' ? undefined : body)
      return reply
    }
  }
}
