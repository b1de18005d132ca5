/**
 * One request of a connection at a time. Node starts every request that one read of a socket brings; a client that pipelines
 * hundreds of them and reads nothing would have as many answers held in memory.
 * @module
 * @see RFC 9112, section 9.3.2
 */

/** A connection, as far as it is looked at. */
interface Connection {
  readonly destroyed: boolean
  readonly destroy: () => unknown
}

/** Node's request, as far as it is looked at. */
interface Incoming {
  readonly socket: Connection
  readonly url?: string | undefined
  readonly rawHeaders: readonly string[]
}

/** Node's response, as far as it is looked at. */
interface Outgoing {
  readonly socket: unknown
  readonly writableFinished?: boolean
  readonly once: (event: 'socket', listener: () => void) => unknown
}

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

const waiting = new WeakMap<Connection, Waiting>()

/**
 * Finds out when it is a request's turn: at once, unless the answer to an earlier request of its connection is not sent yet. A response
 * that the host has sent already has no socket either, and is never given one again.
 * @returns undefined where too much waits on the connection, which is then closed
 */
export function turnOf(request: Incoming, response: Outgoing): InTurn | undefined {
  const isWaiting = response.socket === null && response.writableFinished !== true && isBusy(request)
  return isWaiting ? queue(request, response) : atOnce
}

/**
 * Finds out the same for a platform that hands over `Request` objects and what Node has of each beside them, as `@hono/node-server`
 * does; at once for every other platform.
 * @param platform - what came behind the request
 */
export function turnOn(platform: unknown): InTurn | undefined {
  const { incoming, outgoing } = Object(platform) as { readonly incoming?: unknown; readonly outgoing?: unknown } // any object has none
  return isIncoming(incoming) && isOutgoing(outgoing) ? turnOf(incoming, outgoing) : atOnce
}

function isIncoming(value: unknown): value is Incoming {
  const { socket, rawHeaders } = Object(value) as Partial<Incoming>
  return typeof socket?.destroy === 'function' && Array.isArray(rawHeaders)
}

function isOutgoing(value: unknown): value is Outgoing {
  return typeof (Object(value) as Partial<Outgoing>).once === 'function'
}

const atOnce: InTurn = (_, go) => go()

/** A connection with the response whose turn it is, which is not documented. */
type Sending = Connection & { readonly _httpMessage?: { readonly req?: Pick<Incoming, 'rawHeaders'> } | null }

/**
 * Checks whether the response to another request is being sent. Node gives a response its socket when its turn comes. A platform that
 * gives it none at all has no `_httpMessage` either, and a host may make a response of its own for a request whose turn it is.
 */
function isBusy({ socket, rawHeaders }: Incoming): boolean {
  const sent = (socket as Sending | undefined)?._httpMessage // some platforms have no socket
  // By its headers, which are one list for a request and whatever a host wraps around it.
  return Boolean(sent) && sent?.req?.rawHeaders !== rawHeaders
}

function queue(request: Incoming, response: Outgoing): InTurn | undefined {
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
    if (go !== undefined) queueMicrotask(go)
  })
  return (bodyBytes, then) => {
    if (isItsTurn) then()
    else if (hold(bodyBytes)) go = then
  }
}
