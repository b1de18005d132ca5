/**
 * The entry point `grantwell/fetch`: the server for everything that hands over a `Request` and wants a `Response`.
 * @module
 */

import type { Guarding } from '../guard.js'
import type { HttpBody, HttpResponse } from '../protocol/message.js'
import type { AuthorizationServer } from '../server.js'
import type { FetchGuard } from './fetch/guard.js'
import { makeFetchGuard } from './fetch/guard.js'

export type { Access } from '../access.js'
export type { Guarding } from '../guard.js'
export type { Authorized, RouteNeeds } from '../route-guard.js'
export type { FetchGuard } from './fetch/guard.js'

/** Handles a request; a 404 for a path that is not the server's own. */
export type FetchHandler = (request: Request) => Promise<Response>

/**
 * Puts a server on `Request` and `Response`.
 * @example
 * ```ts
 * const handler = createFetchHandler(server)
 * export default { fetch: (request) => (server.owns(new URL(request.url).pathname) ? handler(request) : app.fetch(request)) }
 * ```
 */
export function createFetchHandler(server: AuthorizationServer<Request>): FetchHandler {
  return async (request) => {
    const { pathname, search } = new URL(request.url)
    const url = pathname + search
    const body = server.owns(url) && request.method === 'POST' ? await readBody(request, server.bodyLimit) : undefined
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
 * needs, and finds who is calling in `request.auth`. What comes behind the request (a context, parameters) is passed on.
 * @param guarding - the server, or what `resourceServer` of `grantwell/client` gives
 * @example
 * ```ts
 * const guard = createFetchGuard(server)
 * export const PUT = guard({ scope: 'repo-code:rw', resource: repositoryOf }, (request) => Response.json({ by: request.auth.subject }))
 * ```
 */
export function createFetchGuard(guarding: Guarding): FetchGuard {
  return makeFetchGuard(guarding, toResponse)
}

/** Makes a `Response` of what the server or its guard answered. */
export function toResponse({ status, headers, body }: HttpResponse): Response {
  // A string, be it empty, would bring a content type of its own.
  return new Response(body === '' ? null : body, { status, headers: { ...headers } })
}

/** Reads a body up to its limit; past it the rest is left unread. Undefined where there is none, or it was cut or taken. */
async function readBody(request: Request, limit: number): Promise<HttpBody | undefined> {
  if (Number(request.headers.get('content-length')) > limit) return { type: 'too_large' }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let text = ''
  let length = 0
  try {
    const reader = request.body?.getReader()
    while (reader !== undefined) {
      const { done, value } = await reader.read()
      if (done) break
      length += value.length
      if (length > limit) {
        reader.cancel().catch(() => {}) // not waited for: it is the sender's to end
        return { type: 'too_large' }
      }
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    return undefined
  }
  return { type: 'text', text: text + decoder.decode() }
}
