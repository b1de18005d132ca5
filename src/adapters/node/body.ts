/**
 * Bodies of Node's requests: read, left unread, or as an earlier middleware of the host left them.
 * @module
 */
import type { IncomingMessage } from 'node:http'
import type { HttpBody } from '../../protocol/message.js'
import { memberOf } from '../../protocol/message.js'
import { append, isBytes, wrongPiece } from '../body.js'

/** A request as frameworks hand it on: with a body that was parsed. */
type ParsedRequest = IncomingMessage & { readonly body?: unknown }

/** Lets a body go past that nobody wants, so that the pieces of it do not pile up while the request is answered. */
export function discardBody(request: IncomingMessage): void {
  const { 'transfer-encoding': coding, 'content-length': length = '0' } = request.headers
  // A body of HTTP/2 needs neither header.
  if (coding !== undefined || length !== '0' || isMultiplexed(request)) request.resume()
}

/**
 * Checks whether a request has a stream of its own, as in HTTP/2. That stays open, with what the client has sent on it, until somebody
 * reads it to its end: Node resets no stream of which something is unread.
 */
export function isMultiplexed(request: IncomingMessage): boolean {
  return request.httpVersionMajor >= 2
}

/** Bytes of a body that is read; what a middleware of the host has parsed is the host's to bound. */
export function sizeOf(body: HttpBody | undefined): number {
  return body?.type === 'text' ? body.text.length : 0
}

/**
 * Reads a body up to its limit; past it the rest is left unread, or on HTTP/2 goes past. Calls back at most once, never for a body that was cut,
 * and with nothing where somebody took it and left nothing behind.
 */
export function readBody(request: ParsedRequest, limit: number, done: (body?: HttpBody) => void): void {
  if (request.readableEnded) {
    if (!isCut(request)) done(leftBody(request))
    return
  }
  if (Number(request.headers['content-length']) > limit) {
    if (isMultiplexed(request)) request.resume()
    done({ type: 'too_large' })
    return
  }
  let bytes: Uint8Array | undefined
  let length = 0
  const stop = (body: HttpBody): void => {
    request.off('data', onData).off('end', onEnd)
    bytes = undefined
    done(body)
  }
  // Both listeners are called by Node: what they throw would end the process.
  const onData = (chunk: unknown): void => {
    // A string where an earlier middleware called setEncoding.
    const piece = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (!isBytes(piece)) stop(wrongPiece(piece))
    else if (length + piece.length > limit) {
      if (!isMultiplexed(request)) request.pause()
      stop({ type: 'too_large' })
    } else {
      bytes = append(bytes, length, piece, limit)
      length += piece.length
    }
  }
  const onEnd = (): void => {
    if (!isCut(request)) done({ type: 'text', text: bytes === undefined ? '' : latin1(bytes, length) })
  }
  request
    .on('data', onData)
    .on('end', onEnd)
    .on('error', () => {})
    // Where the host paused it, a listener alone sets nothing in motion.
    .resume()
}

/** Checks whether a body was cut: HTTP/2 of Node ends the body of a stream that was reset, too, and `complete` is always true there. */
function isCut(request: IncomingMessage): boolean {
  return request.aborted
}

/** The body that an earlier middleware left behind. */
function leftBody(request: ParsedRequest): HttpBody | undefined {
  try {
    const body = memberOf(request, 'body') // of some platforms a getter, which parses the body and may throw
    if (body === undefined) return undefined
    if (typeof body === 'string') return { type: 'text', text: body }
    return body instanceof Uint8Array ? { type: 'text', text: latin1(body) } : { type: 'parsed', fields: body }
  } catch (error) {
    return { type: 'unreadable', error }
  }
}

/** One character for each byte. */
function latin1(bytes: Uint8Array, length = bytes.length): string {
  const whole = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return whole.toString('latin1', 0, length)
}
