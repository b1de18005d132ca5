/**
 * Guards of API routes on Node's `http`, Express and connect.
 * @module
 * @see RFC 6750
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ProtectedResource } from '../../core/resource.js'
import type { Authorized, ResourceNeeds, RouteNeeds } from '../../guard/adapter-guard.js'
import {
  authorized,
  checkFunction,
  checkGuarding,
  noNext,
  onErrorOption,
  refusalOf,
  routeGuard,
  thrown,
} from '../../guard/adapter-guard.js'
import type { AuthInfo, GuardResult } from '../../guard/auth-info.js'
import type { GuardProvider } from '../../guard/guard.js'
import type { HttpResponse } from '../../protocol/message.js'
import { harmless } from '../../shell/host.js'
import { isPromise } from '../../shell/maybe-promise.js'
import { sendResponse } from './response.js'

/** Passes a request on: of connect and Express. */
export type Next = (error?: unknown) => void

/** Creates guards of routes: {@link createNodeGuard}. */
export interface NodeGuard<Request extends IncomingMessage, Response extends ServerResponse> {
  /**
   * Creates a handler that calls yours only for a request that the guard lets through. That request has `auth`, with the
   * resource that the guard decided on.
   * @throws GrantwellError `ERR_CONFIGURATION` at once for an unknown need, or a scope that the catalogue does not have
   */
  <Guarded extends Request = Request, Resource extends ProtectedResource = ProtectedResource>(
    needs: ResourceNeeds<Guarded, [], Resource>,
    handler: (
      request: Authorized<Guarded, AuthInfo<Resource> & { readonly resource: Resource }>,
      response: Response,
      next: Next,
    ) => unknown,
  ): (request: Guarded, response: Response, next?: Next) => Promise<void> | undefined
  /** Creates a handler for a route without `resource`. */
  <Guarded extends Request = Request>(
    needs: RouteNeeds<Guarded>,
    handler: (request: Authorized<Guarded>, response: Response, next: Next) => unknown,
  ): (request: Guarded, response: Response, next?: Next) => Promise<void> | undefined
  /** Creates a middleware that adds `auth` to a request that the guard lets through, and passes it on. */
  <Guarded extends Request = Request>(
    needs: RouteNeeds<Guarded>,
  ): (request: Guarded, response: Response, next: Next) => Promise<void> | undefined
}

/** Options of `createNodeGuard`. */
export interface NodeGuardOptions {
  /**
   * Gets the error of a handler if there is no `next`, and every error of the guard itself; `console.error` by default.
   * The response is then a 500.
   */
  readonly onError?: (error: unknown) => void
}

/** A guarded route: its check, its handler if it has one, and the function that gets errors of the guard. */
interface Route<Request extends IncomingMessage, Response extends ServerResponse> {
  readonly check: ReturnType<typeof routeGuard<Request, []>>
  readonly handler: Handler<Request, Response> | undefined
  readonly report: (error: unknown) => void
}

type Handler<Request, Response> = (request: Authorized<Request>, response: Response, next: Next) => unknown

/** One request to a guarded route. */
interface Call<Request extends IncomingMessage, Response extends ServerResponse> {
  readonly request: Request
  readonly response: Response
  readonly next: Next | undefined
}

const FAILED: HttpResponse = {
  status: 500,
  headers: { 'Content-Type': 'text/plain;charset=UTF-8', 'Cache-Control': 'no-store' },
  body: 'The service failed.\n',
}

/** The name of an argument in messages of configuration errors. */
const NEXT = 'next of a guard without a handler, which is a middleware,'

/**
 * Creates guards of routes of `http`, Express and connect. A handler behind a guard is only called for a request whose access
 * token works and permits what the route needs. The handler finds who is calling, and the resource, in `request.auth`. What a
 * handler throws goes to `next` or, if there is no `next`, to the option `onError`, and the response is a 500. If the guard
 * itself fails, `next` is never called: `onError` gets the error, and the response is a 500.
 * @param guarding - the server, or the result of `resourceServer` of `grantwell/client`
 * @example
 * ```ts
 * const guard = createNodeGuard(server)
 * app.put('/repositories/:id', guard({ scope: 'repo-code:rw', resource: repositoryOf }, (request, response) => {
 *   response.json({ by: request.auth.subject, wrote: request.auth.resource.id })
 * }))
 * ```
 * In TypeScript, `createNodeGuard<express.Request, express.Response>(server)` gives both their types. Without a handler, it
 * is a middleware that calls `next` once, without an argument, for a request that the guard lets through.
 */
export function createNodeGuard<
  Request extends IncomingMessage = IncomingMessage,
  Response extends ServerResponse = ServerResponse,
>(guarding: GuardProvider, options: NodeGuardOptions = {}): NodeGuard<Request, Response> {
  checkGuarding('createNodeGuard', guarding)
  // biome-ignore lint/suspicious/noConsole: an error without a listener must not vanish
  const onError = onErrorOption('createNodeGuard', options) ?? ((error: unknown) => console.error(error))
  const report = harmless(onError, ignore)
  return <Guarded extends Request>(needs: RouteNeeds<Guarded>, ...handlers: readonly Handler<Guarded, Response>[]) => {
    const check = routeGuard(guarding, needs)
    const route: Route<Guarded, Response> = { check, handler: handlerOf(handlers), report }
    return (request: Guarded, response: Response, next?: Next) => guardRequest(route, { request, response, next })
  }
}

/** Checks a request, and responds to it or passes it on. */
function guardRequest<Request extends IncomingMessage, Response extends ServerResponse>(
  route: Route<Request, Response>,
  call: Call<Request, Response>,
): Promise<void> | undefined {
  let found: GuardResult | Promise<GuardResult>
  try {
    found = route.check(call.request, call.request, [])
  } catch (error) {
    fail(route, call, error)
    return undefined
  }
  if (!isPromise(found)) return decide(route, call, found)
  return found.then(
    (later) => decide(route, call, later),
    (error: unknown) => fail(route, call, error),
  )
}

/** Refuses a request, or passes it to the handler or to `next`. */
function decide<Request extends IncomingMessage, Response extends ServerResponse>(
  route: Route<Request, Response>,
  call: Call<Request, Response>,
  found: GuardResult,
): Promise<void> | undefined {
  let own: Authorized<Request>
  try {
    if (found.type !== 'authenticated') {
      sendResponse(call.response, refusalOf(call.request, found))
      return undefined
    }
    if (route.handler === undefined) checkFunction(NEXT, call.next)
    own = authorized(call.request, found)
  } catch (error) {
    fail(route, call, error)
    return undefined
  }
  const done: unknown =
    route.handler === undefined
      ? (call.next as Next)() // checked above
      : runHandler(route, call, route.handler, own)
  return isThenable(done) ? Promise.resolve(done).then(ignore) : undefined
}

/**
 * Runs the handler of a route. Its errors go to `next` or, if there is no `next`, to the option `onError`.
 * @returns the result of the handler or, after an error, of `next`
 */
function runHandler<Request extends IncomingMessage, Response extends ServerResponse>(
  route: Route<Request, Response>,
  call: Call<Request, Response>,
  handler: Handler<Request, Response>,
  own: Authorized<Request>,
): unknown {
  const { response, next } = call
  const failGuard = (error: unknown): void => fail(route, call, error)
  const failHandler = (error: unknown): unknown => (next ?? failGuard)(thrown(error))
  try {
    const done = handler(own, response, next ?? ((error) => failGuard(error ? thrown(error) : noNext())))
    return isThenable(done) ? Promise.resolve(done).then(ignore, failHandler) : undefined
  } catch (error) {
    return failHandler(error)
  }
}

/**
 * Reports an error and responds with a 500. Errors of the guard never go to `next`: a `next` that ignores its argument would
 * let the request in.
 */
function fail<Request extends IncomingMessage, Response extends ServerResponse>(
  { report }: Route<Request, Response>,
  { response }: Call<Request, Response>,
  error: unknown,
): void {
  report(error)
  // Nothing catches an error here, so it would end the process.
  try {
    sendResponse(response, FAILED)
  } catch {
    response.destroy()
  }
}

/** Returns the handler that was given, if any. A misspelt one must not turn the guard into a middleware. */
export function handlerOf<Handler>(handlers: readonly Handler[]): Handler | undefined {
  if (handlers.length > 0) checkFunction('handler', handlers[0])
  return handlers[0]
}

/** Checks whether a value is a promise, also one of a library. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
}

function ignore(): void {}
