/**
 * Responses of the server and its guard, sent on Node's `http`.
 * @module
 */
import type { ServerResponse } from 'node:http'
import type { HttpResponse } from '../../protocol/message.js'
import { addHostValues, BODY_HEADERS } from '../headers.js'
import { endWithText } from './one-write.js'

/**
 * Sends a response that the server or its guard made; to a `HEAD`, without the body. Headers that the host set before
 * stay, except single-valued headers of the same name and headers that describe a body.
 * @param close - true to close the connection afterwards; false by default
 */
export function sendResponse(
  response: ServerResponse,
  { status, headers, body }: HttpResponse<string | Uint8Array>,
  close = false,
): void {
  if (response.destroyed) return
  if (response.headersSent) {
    // The host has begun a response. If the host never ends it, the client would wait forever.
    if (!response.writableEnded) response.destroy()
    return
  }
  // Most hosts set no headers, and then there is nothing to merge.
  const all = response.getHeaderNames().length === 0 ? headers : mergeHostHeaders(response, headers)
  if (close) response.setHeader('Connection', 'close')
  const length = Buffer.byteLength(body)
  // A 204 has no length (RFC 9110, section 8.6). The spread is last because V8 copies it many times as fast there as at the
  // start of a literal.
  response.writeHead(status, status === 204 ? all : { 'Content-Length': length, ...all })
  // With `rejectNonStandardBodyWrites`, Node throws for a body where none is allowed.
  if (length === 0 || response.req?.method === 'HEAD') response.end()
  // A text with one byte per character is ASCII, which needs no encoding.
  else if (typeof body === 'string') endWithText(response, body, length === body.length ? 'latin1' : 'utf8')
  else response.end(body)
}

/**
 * Sends a response, or closes the connection if Node refuses to send it because of what the host did to the response before.
 * An error thrown here would end the process.
 */
export function sendOrDestroy(
  response: ServerResponse,
  answer: HttpResponse<string | Uint8Array>,
  close = false,
): void {
  try {
    sendResponse(response, answer, close)
  } catch (error) {
    destroyResponse(response, error)
  }
}

/** Closes the connection of a response because of an error. */
export function destroyResponse(response: ServerResponse, error: unknown): void {
  response.destroy(error instanceof Error ? error : undefined)
}

/** Removes the host's headers that describe a body, and adds the host's values to our headers that are lists. */
function mergeHostHeaders(
  response: ServerResponse,
  headers: HttpResponse['headers'],
): Record<string, string | string[]> {
  for (const name of BODY_HEADERS) response.removeHeader(name)
  return addHostValues(headers, (name) => response.getHeader(name))
}
