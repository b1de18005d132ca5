/**
 * The server on Node's `http`: alone, or as a middleware of connect or Express.
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkServer } from '../../guard/adapter-guard.js'
import type { HttpBody, HttpResponse } from '../../protocol/message.js'
import { headersOf, memberOf, originForm } from '../../protocol/message.js'
import type { HttpHandler } from '../../server.js'
import { isPromise } from '../../shell/maybe-promise.js'
import { sizeOf } from '../body.js'
import { queueRequest } from '../pipelining.js'
import { remoteAddressOf } from './address.js'
import { discardBody, isMultiplexed, readBody } from './body.js'
import { destroyResponse, sendOrDestroy } from './response.js'

/** Handles a request: a listener of `http.createServer`, and a middleware of connect or Express. */
export type NodeHandler<Request extends IncomingMessage = IncomingMessage> = (
  request: Request,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** A request as frameworks pass it on: with the whole URL when they are mounted under a path. */
type FrameworkRequest = IncomingMessage & { readonly originalUrl?: string }

/** A request to the server, and the response to fill. */
interface Exchange<Request extends IncomingMessage> {
  readonly request: Request
  readonly response: ServerResponse
  readonly url: string
  readonly remoteAddress: string | undefined
}

const NOT_FOUND: HttpResponse = {
  status: 404,
  headers: { 'Content-Type': 'text/plain;charset=UTF-8' },
  body: 'Not found\n',
}

/**
 * Creates a handler that puts a server on Node's `http`. Requests for other paths go to `next`, or get a 404 if there is no
 * `next`. A body that an earlier middleware has parsed is used as it is.
 * @throws GrantwellError `ERR_CONFIGURATION` for anything but a server
 * @example
 * ```ts
 * http.createServer(createNodeHandler(server)).listen(8080)
 * app.use(createNodeHandler(server)) // Express
 * ```
 */
export function createNodeHandler<Request extends IncomingMessage>(server: HttpHandler<Request>): NodeHandler<Request> {
  checkServer('createNodeHandler', server)
  return (request, response, next) => {
    // Express and connect add `originalUrl`.
    const url = originForm(memberOf(request as FrameworkRequest, 'originalUrl') ?? request.url ?? '/')
    const isOwn = server.owns(url)
    if (!isOwn && next !== undefined) {
      next()
      return
    }
    const startInOrder = queueRequest(request, response)
    if (startInOrder === undefined) return
    const exchange = { request, response, url, remoteAddress: isOwn ? remoteAddressOf(request) : undefined }
    if (isOwn && request.method === 'POST') {
      readBody(request, server.bodyLimit, (body) => startInOrder(sizeOf(body), () => answer(server, exchange, body)))
    } else {
      discardBody(request)
      startInOrder(0, () => (isOwn ? answer(server, exchange) : sendOrDestroy(response, NOT_FOUND)))
    }
  }
}

/** Lets the server handle a request, and sends its response. */
function answer<Request extends IncomingMessage>(
  server: HttpHandler<Request>,
  { request, response, url, remoteAddress }: Exchange<Request>,
  body?: HttpBody,
): void {
  const send = (answered: HttpResponse<string | Uint8Array> | undefined): void => {
    // The rest of a body that is too large is still on the connection, unless the request has a stream of its own.
    const close = body?.type === 'too_large' && !isMultiplexed(request)
    if (answered !== undefined) sendOrDestroy(response, answered, close)
  }
  const fail = (error: unknown): void => destroyResponse(response, error)
  try {
    const answered = server.handle({
      method: request.method ?? 'GET',
      url,
      headers: headersOf(request),
      body,
      remoteAddress,
      native: request,
    })
    if (isPromise(answered)) answered.then(send, fail)
    else send(answered)
  } catch (error) {
    fail(error)
  }
}
