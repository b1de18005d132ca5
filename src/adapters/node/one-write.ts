/**
 * Sends the head and the text of a response in one `write`. `end(text)` of Node 20 and 22 adds an empty chunk, and sends all with a `writev`:
 * 3 µs more of processor time, 5 % of a refresh over HTTP.
 * @module
 */
import type { ServerResponse } from 'node:http'
import { OutgoingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** A socket, which is encrypted if it is one of TLS. */
type AnySocket = Socket & { readonly encrypted?: boolean }

/**
 * Ends a response with a text. Where a host has replaced `end` or `write` of the response, that `end` gets the text: the one of
 * `express-session` holds the last byte back until the session is saved.
 */
export function endWithText(response: ServerResponse, text: string, encoding: 'latin1' | 'utf8'): void {
  if (!isUntouched(response) || !writesAtOnce(response.socket)) {
    response.end(text, encoding)
    return
  }
  // `write` corks the socket until the next tick, unless it is corked already. So the text leaves before `end` can add its chunk.
  response.cork()
  response.write(text, encoding)
  response.uncork()
  response.end()
}

/** Checks whether a response has the functions of Node itself. One of HTTP/2 has others. */
function isUntouched({ write, end }: ServerResponse): boolean {
  return end === OutgoingMessage.prototype.end && write === OutgoingMessage.prototype.write
}

/**
 * Checks whether a socket takes a chunk while `write` is called. One of TLS takes it later, so that the empty chunk would be a record
 * of its own. A response that waits for an earlier one has no socket yet. On a destroyed one, `end()` would emit `finish` for a response
 * that was never sent.
 */
function writesAtOnce(socket: AnySocket | null): boolean {
  return socket !== null && !socket.destroyed && socket.encrypted !== true
}
