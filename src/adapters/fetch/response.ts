/**
 * Responses of the server and its guard, as the platform's `Response`.
 * @module
 */
import type { HttpResponse } from '../../protocol/message.js'

/** Bytes of a body that are sent at a time. */
const CHUNK_BYTES = 65_536

/**
 * Makes a `Response` from a response of the server or its guard. Headers can be added to it.
 * @example
 * ```ts
 * const response = await handler(request)
 * response.headers.append('Set-Cookie', session)
 * ```
 */
export function toResponse({ status, headers, body }: HttpResponse<string | Uint8Array>): Response {
  if (typeof body === 'string') {
    // The platform would add a content type to a string, even to an empty one.
    return new Response(body === '' ? null : body, { status, headers: { ...headers } })
  }
  return new Response(streamOf(body), { status, headers: { ...headers, 'Content-Length': String(body.length) } })
}

/** Streams bytes in chunks. If a `Response` got them whole, it would copy them. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream({
    pull: (controller) => {
      if (sent >= bytes.length) controller.close()
      else controller.enqueue(bytes.slice(sent, sent + CHUNK_BYTES))
      sent += CHUNK_BYTES
    },
  })
}
