/**
 * Pipelined requests, started one at a time. Node starts every request that one read of a socket brings. A client that pipelines
 * hundreds of them and reads no response would make the server hold as many responses in memory.
 * @module
 * @see RFC 9112, section 9.3.2
 */

/** The members of a socket that are used here. */
interface Connection {
  readonly destroyed: boolean
  readonly destroy: () => unknown
}

/** The members of Node's request that are used here. */
interface Incoming {
  readonly socket: Connection
  readonly url?: string | undefined
  readonly rawHeaders: readonly string[]
}

/** The members of Node's response that are used here. */
interface Outgoing {
  readonly socket: unknown
  readonly writableFinished?: boolean
  readonly once: (event: 'socket', listener: () => void) => unknown
}

/**
 * Limits of the requests of one connection that wait for earlier responses: their number, and the bytes of their heads and
 * bodies. Past either, the connection is closed. A client that pipelines must expect that (RFC 9112, section 9.3.2).
 */
const MAX_WAITING_REQUESTS = 32
const MAX_WAITING_BYTES = 262_144

/** Bytes that an empty string takes. */
const STRING_BYTES = 32

/** Calls `start` after the earlier responses of the connection are sent. The bytes of the body count while the request waits. */
export type StartInOrder = (bodyBytes: number, start: () => void) => void

/** Totals of the requests that wait on a connection. */
interface Waiting {
  requests: number
  bytes: number
}

const waitingOn = new WeakMap<Connection, Waiting>()

/**
 * Queues a request behind the earlier ones of its connection. It starts at once if their responses are sent, and if the host
 * has sent the request's own response already: that one has no socket and never gets one again.
 * @returns undefined if too much waits on the connection, which is then closed
 */
export function queueRequest(request: Incoming, response: Outgoing): StartInOrder | undefined {
  const mustWait = response.socket === null && response.writableFinished !== true && isBusy(request)
  return mustWait ? queue(request, response) : startAtOnce
}

/**
 * Queues a request of a platform that passes `Request` objects with Node's request and response beside them, as
 * `@hono/node-server` does. On every other platform it starts at once.
 * @param platform - the value that the platform passed beside the `Request`
 * @returns undefined if too much waits on the connection, which is then closed
 */
export function queuePlatformRequest(platform: unknown): StartInOrder | undefined {
  // Any value can be read as an object that may lack both members.
  const { incoming, outgoing } = Object(platform) as { readonly incoming?: unknown; readonly outgoing?: unknown }
  return isIncoming(incoming) && isOutgoing(outgoing) ? queueRequest(incoming, outgoing) : startAtOnce
}

function isIncoming(value: unknown): value is Incoming {
  const { socket, rawHeaders } = Object(value) as Partial<Incoming>
  return typeof socket?.destroy === 'function' && Array.isArray(rawHeaders)
}

function isOutgoing(value: unknown): value is Outgoing {
  return typeof (Object(value) as Partial<Outgoing>).once === 'function'
}

const startAtOnce: StartInOrder = (_, start) => start()

/** A connection with the response that is being sent. Node does not document this member. */
type Sending = Connection & { readonly _httpMessage?: { readonly req?: Pick<Incoming, 'rawHeaders'> } | null }

/**
 * Checks whether the response to an earlier request is still being sent. Node sets the socket of a response when it may be
 * sent. Two cases are not busy: a platform that never sets a socket has no `_httpMessage` either, and a host may create a
 * response of its own for the request that is being answered.
 */
function isBusy({ socket, rawHeaders }: Incoming): boolean {
  const current = (socket as Sending | undefined)?._httpMessage // some platforms have no socket
  // A request and any object that a host wraps around it share one list of headers.
  return Boolean(current) && current?.req?.rawHeaders !== rawHeaders
}

function queue(request: Incoming, response: Outgoing): StartInOrder | undefined {
  const { socket, url = '', rawHeaders } = request
  const total = waitingOn.get(socket) ?? { requests: 0, bytes: 0 }
  waitingOn.set(socket, total)
  let ownBytes = 0
  let mayStart = false
  let waitingStart: (() => void) | undefined
  const count = (bytes: number): boolean => {
    ownBytes += bytes
    total.bytes += bytes
    const isWithinLimits = total.requests <= MAX_WAITING_REQUESTS && total.bytes <= MAX_WAITING_BYTES
    if (isWithinLimits && !socket.destroyed) return true
    socket.destroy()
    return false
  }
  total.requests++
  if (!count(rawHeaders.reduce((sum, text) => sum + text.length + STRING_BYTES, url.length))) return undefined
  response.once('socket', () => {
    mayStart = true
    total.requests--
    total.bytes -= ownBytes
    // Later than Node's own work when it sets the socket.
    if (waitingStart !== undefined) queueMicrotask(waitingStart)
  })
  return (bodyBytes, start) => {
    if (mayStart) start()
    else if (count(bodyBytes)) waitingStart = start
  }
}
