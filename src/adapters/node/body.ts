/**
 * Bodies of Node's requests: read, left unread, or as an earlier middleware of the host left them.
 * @module
 */
import type { IncomingMessage } from 'node:http'
import type { HttpBody } from '../../protocol/message.js'
import { memberOf } from '../../protocol/message.js'
import { append } from '../body.js'

/** A request as frameworks hand it on: with a body that was parsed. */
type ParsedRequest = IncomingMessage & { readonly body?: unknown }

/** Lets a body go past that nobody wants, so that the pieces of it do not pile up while the request is answered. */
export function discardBody(request: IncomingMessage): void {
  const { 'transfer-encoding': coding, 'content-length': length = '0' } = request.headers
  if (coding !== undefined || length !== '0') request.resume()
}

/** Bytes of a body that is read; what a middleware of the host has parsed is the host's to bound. */
export function sizeOf(body: HttpBody | undefined): number {
  return body?.type === 'text' ? body.text.length : 0
}

/**
 * Reads a body up to its limit; past it the rest is left unread. Calls back at most once, never for a body that was cut,
 * and with nothing where somebody took it and left nothing behind.
 */
export function readBody(request: ParsedRequest, limit: number, done: (body?: HttpBody) => void): void {
  if (request.readableEnded) {
    done(leftBody(request))
    return
  }
  if (Number(request.headers['content-length']) > limit) {
    done({ type: 'too_large' })
    return
  }
  let bytes: Uint8Array | undefined
  let length = 0
  // A string where an earlier middleware called setEncoding.
  const onData = (chunk: Buffer | string): void => {
    const piece = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (length + piece.length > limit) {
      request.off('data', onData).off('end', onEnd).pause()
      bytes = undefined
      done({ type: 'too_large' })
    } else {
      bytes = append(bytes, length, piece, limit)
      length += piece.length
    }
  }
  const onEnd = (): void => {
    done({ type: 'text', text: bytes === undefined ? '' : latin1(bytes, length) })
  }
  request
    .on('data', onData)
    .on('end', onEnd)
    .on('error', () => {})
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
