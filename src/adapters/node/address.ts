/**
 * The remote address of a request on Node.
 * @module
 */
import type { IncomingMessage } from 'node:http'

/** The unspecified address (RFC 4291, section 2.5.2), which no connection has. */
const UNSPECIFIED = '::'

/**
 * Reads the address of a request's connection. It must be called when the request begins. Node forgets the address when the
 * connection (or the HTTP/2 stream) closes, so a client that resets it would have no address when a rate limit needs one.
 * @returns undefined if there is no address, as on a Unix socket; the unspecified address if the connection is reset already
 */
export function remoteAddressOf({ socket }: IncomingMessage): string | undefined {
  try {
    const address = socket?.remoteAddress // some platforms have no socket
    if (typeof address === 'string') return address
    // The system forgets the remote end of a connection before the local one.
    return socket?.destroyed || typeof socket?.localAddress === 'string' ? UNSPECIFIED : undefined
  } catch {
    return UNSPECIFIED // a socket of HTTP/2 throws if its session is closed
  }
}
