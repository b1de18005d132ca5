/**
 * The server on platforms that pass a `Request` and expect a `Response`.
 * @module
 */
import { checkServer } from '../../guard/adapter-guard.js'
import type { HttpBody } from '../../protocol/message.js'
import { originForm } from '../../protocol/message.js'
import type { HttpHandler } from '../../server.js'
import { append, isBytes, isMultipart, sizeOf, unreadableChunk } from '../body.js'
import { queuePlatformRequest } from '../pipelining.js'
import { toResponse } from './response.js'

/**
 * Handles a request. For a path that is not the server's own, the response is a 404.
 * @param platform - the value that the platform passes beside the request, in Hono `c.env`. If it has Node's request and response
 * (`@hono/node-server`), requests of one connection are answered one after the other, as on Node.
 */
export type FetchHandler = (request: Request, platform?: unknown) => Promise<Response>

/**
 * Creates a handler that puts a server on `Request` and `Response`.
 * @throws GrantwellError `ERR_CONFIGURATION` for anything but a server
 * @example
 * ```ts
 * const handler = createFetchHandler(server)
 * export default { fetch: (request) => (server.owns(request.url) ? handler(request) : app.fetch(request)) }
 * ```
 */
export function createFetchHandler(server: HttpHandler<Request>): FetchHandler {
  checkServer('createFetchHandler', server)
  return async (request, platform) => {
    const url = originForm(request.url)
    const startInOrder = queuePlatformRequest(platform)
    if (startInOrder === undefined) return new Response('Too many requests wait on this connection\n', { status: 503 })
    const body = server.owns(url) && request.method === 'POST' ? await readBody(request, server.bodyLimit) : undefined
    await new Promise<void>((start) => startInOrder(sizeOf(body), start))
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
 * Reads a body up to its limit, and leaves the rest unread.
 * @returns undefined if there is no body, if it was cut off, or if other code has read it
 */
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
        return unreadableChunk(value)
      }
      if (length + value.length > limit) {
        reader.cancel().catch(() => {}) // not awaited: the sender may never end the body
        return { type: 'too_large' }
      }
      bytes = append(bytes, length, value, limit)
      length += value.length
    }
  } catch {
    return undefined
  }
  const whole = bytes?.subarray(0, length)
  if (isMultipart(request.headers.get('content-type'))) return { type: 'bytes', bytes: whole ?? new Uint8Array(0) }
  return { type: 'text', text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(whole) }
}
