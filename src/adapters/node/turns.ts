/**
 * One request of a connection at a time. Node starts every request that one read of a socket brings; a client that pipelines
 * hundreds of them and reads nothing would have as many answers held in memory.
 * @module
 * @see RFC 9112, section 9.3.2
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Requests of one connection that may wait for the answers before them, and the bytes of their heads and bodies. Past either,
 * the connection is closed; a client must expect that of requests that it pipelines (RFC 9112, section 9.3.2).
 */
const WAITING_MAX = 32
const WAITING_BYTES_MAX = 262_144

/** Bytes of a string that has no characters. */
const STRING_BYTES = 32

/** Calls back once it is the request's turn, with the bytes of its body, which count while it waits. */
export type InTurn = (bodyBytes: number, go: () => void) => void

/** Everything that waits on a connection. */
interface Waiting {
  requests: number
  bytes: number
}

const waiting = new WeakMap<Socket, Waiting>()

/**
 * Finds out when it is a request's turn: at once, unless the answer to an earlier request of its connection is not sent yet.
 * @returns undefined where too much waits on the connection, which is then closed
 */
export function turnOf(request: IncomingMessage, response: ServerResponse): InTurn | undefined {
  return response.socket === null && isBusy(request.socket) ? queue(request, response) : atOnce
}

const atOnce: InTurn = (_, go) => go()

/**
 * Checks whether a response is being sent. Node gives a response its socket when its turn comes, and a platform that gives it
 * none at all has no `_httpMessage` either: that is the response whose turn it is, and is not documented.
 */
function isBusy(socket: Socket & { readonly _httpMessage?: unknown }): boolean {
  return Boolean(socket?._httpMessage)
}

function queue(request: IncomingMessage, response: ServerResponse): InTurn | undefined {
  const { socket, url = '', rawHeaders } = request
  const all = waiting.get(socket) ?? { requests: 0, bytes: 0 }
  waiting.set(socket, all)
  let own = 0
  let isItsTurn = false
  let go: (() => void) | undefined
  const hold = (bytes: number): boolean => {
    own += bytes
    all.bytes += bytes
    if (all.requests <= WAITING_MAX && all.bytes <= WAITING_BYTES_MAX && !socket.destroyed) return true
    socket.destroy()
    return false
  }
  all.requests++
  if (!hold(rawHeaders.reduce((sum, text) => sum + text.length + STRING_BYTES, url.length))) return undefined
  response.once('socket', () => {
    isItsTurn = true
    all.requests--
    all.bytes -= own
    // Behind what Node itself does when it gives the response its socket.
    if (go !== undefined) process.nextTick(go)
  })
  return (bodyBytes, then) => {
    if (isItsTurn) then()
    else if (hold(bodyBytes)) go = then
  }
}
