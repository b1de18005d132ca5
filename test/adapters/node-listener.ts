/**
 * The server on Node's `http` alone, and the guarded route beside it.
 * @module
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AuthorizationServer } from 'grantwell'
import { createNodeHandler, sendResponse } from 'grantwell/node'
import { apiAnswer } from './suite.js'

/** The guarded route, for a request that came to it. */
export async function api(
  server: AuthorizationServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  sendResponse(response, apiAnswer(await server.authenticate(request, { scope: 'repo-code:r' })))
}

/** Checks whether a URL belongs to the guarded route. */
export function isApi(url = ''): boolean {
  return url === '/api' || url.startsWith('/api?')
}

/** `http.createServer(createNodeHandler(server))`, with the guarded route before it. */
export function overNode(server: AuthorizationServer): RequestListener {
  const handler = createNodeHandler(server)
  return (request, response) => {
    if (isApi(request.url)) api(server, request, response)
    else handler(request, response)
  }
}
