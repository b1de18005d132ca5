/**
 * The entry point `grantwell/fetch`: the server for everything that hands over a `Request` and wants a `Response`.
 * @module
 */

import type { Guarding } from '../../guard/guard.js'
import { checkServer } from '../../guard/route-guard.js'
import type { HttpBody, HttpResponse } from '../../protocol/message.js'
import { originForm } from '../../protocol/message.js'
import type { AuthorizationServer } from '../../server.js'
import { append, isBytes, wrongPiece } from '../body.js'
import { turnOn } from '../turns.js'
import type { FetchGuard } from './guard.js'
import { makeFetchGuard } from './guard.js'

export type { Access, AccessTo } from '../../guard/access.js'
export type { Guarding } from '../../guard/guard.js'
export type { Authorized, ResourceNeeds, RouteNeeds } from '../../guard/route-guard.js'
export type { FetchGuard } from './guard.js'

/**
 * Handles a request; a 404 for a path that is not the server's own.
 * @param platform - what the platform gives beside the request, in Hono `c.env`. Where that has Node's request and response
 * (`@hono/node-server`), requests of one connection are answered one after the other, as on Node.
 */
export type FetchHandler = (request: Request, platform?: unknown) => Promise<Response>

/**
 * Puts a server on `Request` and `Response`.
 * @throws GrantwellError `ERR_CONFIGURATION` for anything but a server
 * @example
 * ```ts
 * const handler = createFetchHandler(server)
 * export default { fetch: (request) => (server.owns(request.url) ? handler(request) : app.fetch(request)) }
 * ```
 */
export function createFetchHandler(server: AuthorizationServer<Request>): FetchHandler {
  checkServer('createFetchHandler', server)
  return async (request, platform) => {
    const url = originForm(request.url)
    const inTurn = turnOn(platform)
    if (inTurn === undefined) return new Response('Too many requests wait on this connection\n', { status: 503 })
    const body = server.owns(url) && request.method === 'POST' ? await readBody(request, server.bodyLimit) : undefined
    await new Promise<void>((go) => inTurn(body?.type === 'text' ? body.text.length : 0, go))
    const headers = Object.fromEntries(request.headers)
    const answer = await server.handle({
      method: request.method,
      url,
      headers,
      body,
      native: request,
    })
    if (answer === undefined) return new Response('Not found\n', { status: 404 })
    return toResponse(request.method === 'HEAD' ? { ...answer, body: '' } : answer)
  }
}

/**
 * Guards routes: a handler behind a guard is only called for a request whose access token works and permits what the route
 * needs. It finds who is calling, and the resource, in `request.auth`. What comes behind the request (a context, parameters) is passed on.
 * @param guarding - the server, or what `resourceServer` of `grantwell/client` gives
 * @example
 * ```ts
 * const guard = createFetchGuard(server)
 * export const PUT = guard({ scope: 'repo-code:rw', resource: repositoryOf }, ({ auth }) => Response.json({ wrote: auth.resource.id }))
 * ```
 */
export function createFetchGuard(guarding: Guarding): FetchGuard {
  return makeFetchGuard(guarding, toResponse)
}

/**
 * Makes a `Response` of what the server or its guard answered. Its headers can be added to.
 * @example
 * ```ts
 * const response = await handler(request)
 * response.headers.append('Set-Cookie', session)
 * ```
 */
export function toResponse({ status, headers, body }: HttpResponse<string | Uint8Array>): Response {
  if (typeof body === 'string') {
    // A string, be it empty, would bring a content type of its own.
    return new Response(body === '' ? null : body, { status, headers: { ...headers } })
  }
  return new Response(streamOf(body), { status, headers: { ...headers, 'Content-Length': String(body.length) } })
}

const PIECE_BYTES = 65_536

/** Bytes piece by piece, as they are sent: given whole, each response would have a copy of them. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream({
    pull: (controller) => {
      if (sent >= bytes.length) controller.close()
      else controller.enqueue(bytes.slice(sent, sent + PIECE_BYTES))
      sent += PIECE_BYTES
    },
  })
}

/** Reads a body up to its limit; past it the rest is left unread. Undefined where there is none, or it was cut or taken. */
async function readBody(request: Request, limit: number): Promise<HttpBody | undefined> {
  if (Number(request.headers.get('content-length')) > limit) return { type: 'too_large' }
  let bytes: Uint8Array | undefined
  let length = 0
  try {
    const reader = request.body?.getReader()
    while (reader !== undefined) {
      const { done, value } = await reader.read()
      if (done) break
      if (!isBytes(value)) {
        reader.cancel().catch(() => {})
        return wrongPiece(value)
      }
      if (length + value.length > limit) {
        reader.cancel().catch(() => {}) // not waited for: it is the sender's to end
        return { type: 'too_large' }
      }
      bytes = append(bytes, length, value, limit)
      length += value.length
    }
  } catch {
    return undefined
  }
  return { type: 'text', text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes?.subarray(0, length)) }
}
