/**
 * A fetch handler on Node's `http`, as small as it can be.
 * @module
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AuthorizationServer } from 'grantwell'
import { createFetchHandler, toResponse } from 'grantwell/fetch'
import { apiAnswer } from './suite.js'

/** The server by its fetch handler, and the guarded route beside it. */
export function overFetch(server: AuthorizationServer): RequestListener {
  const handler = createFetchHandler(server)
  return serveFetch(async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname !== '/api') return handler(request)
    return toResponse(apiAnswer(await server.authenticate(request, { scope: 'repo-code:r' })))
  })
}

/** The URL of a request is made of its `Host` header, as platforms do. What cannot be a `Request` at all gets a 400. */
export function serveFetch(handler: (request: Request) => Promise<Response>): RequestListener {
  return (incoming, outgoing) => {
    const request = requestOf(incoming)
    if (request === undefined) {
      outgoing.writeHead(400).end()
      return
    }
    handler(request).then(
      (response) => send(response, incoming, outgoing),
      () => outgoing.writeHead(500).end(),
    )
  }
}

function requestOf(incoming: IncomingMessage): Request | undefined {
  const { method = 'GET', url = '/', rawHeaders } = incoming
  const hasBody = method !== 'GET' && method !== 'HEAD'
  try {
    const headers = new Headers()
    for (let index = 0; index < rawHeaders.length; index += 2)
      headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '')
    return new Request(new URL(url, `http://${incoming.headers.host}`), {
      method,
      headers,
      ...(hasBody && { body: bodyOf(incoming), duplex: 'half' }),
    })
  } catch {
    return undefined
  }
}

/** Pulled piece by piece, so that what nobody reads is not taken off the wire. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      incoming
        .on('data', (part: Buffer) => {
          incoming.pause()
          controller.enqueue(new Uint8Array(part))
        })
        .on('end', () => controller.close())
        .on('error', (error) => controller.error(error))
        .pause()
    },
    pull: () => void incoming.resume(),
    cancel: () => void incoming.removeAllListeners('data').removeAllListeners('end').pause(),
  })
}

/** Sends the response. After a 413 the connection ends; else what is left of the body goes past, for the next request. */
async function send(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const tooLarge = response.status === 413
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    ...(tooLarge && { Connection: 'close' }),
  })
  outgoing.end(Buffer.from(await response.arrayBuffer()))
  if (!tooLarge) incoming.removeAllListeners('data').removeAllListeners('end').resume()
}
