/**
 * The address that a request of Node comes from.
 * @module
 */
import type { IncomingMessage } from 'node:http'

/** The unspecified address (RFC 4291, section 2.5.2), which no connection has. */
const GONE = '::'

/**
 * Reads the address of a request's connection. Called as the request begins: Node forgets the address with the connection, and HTTP/2
 * with the stream, so a client that resets either would have none by the time that a limit asks for it.
 * @returns undefined where there is none, as on a Unix socket; the unspecified address where the connection was reset before
 */
export function remoteAddressOf({ socket }: IncomingMessage): string | undefined {
  try {
    const address = socket?.remoteAddress // some platforms have no socket
    if (typeof address === 'string') return address
    // The system forgets the other end of a connection before its own.
    return socket?.destroyed || typeof socket?.localAddress === 'string' ? GONE : undefined
  } catch {
    return GONE // a socket of HTTP/2 throws where its session is gone
  }
}
