/**
 * Request bodies on Node: read here, discarded, or already parsed by an earlier middleware of the host.
 * @module
 */
import type { IncomingMessage } from 'node:http'
import type { HttpBody } from '../../protocol/message.js'
import { memberOf } from '../../protocol/message.js'
import { append, isBytes, isMultipart, unreadableChunk } from '../body.js'

/** A request as frameworks pass it on: with a parsed body. */
type ParsedRequest = IncomingMessage & { readonly body?: unknown }

/** Discards a body, so that its chunks do not pile up in memory while the request is answered. */
export function discardBody(request: IncomingMessage): void {
  const { 'transfer-encoding': coding, 'content-length': length = '0' } = request.headers
  // A body of HTTP/2 needs neither header.
  if (coding !== undefined || length !== '0' || isMultiplexed(request)) request.resume()
}

/**
 * Checks whether a request has a stream of its own, as in HTTP/2. Node keeps such a stream open, with all unread data, until
 * it is read to its end.
 */
export function isMultiplexed(request: IncomingMessage): boolean {
  return request.httpVersionMajor >= 2
}

/**
 * Reads a body up to its limit. The rest of a body that is too large is left unread or, on HTTP/2, discarded.
 * @param done - called at most once: never for a body that was cut off, without a body if other code has read it and kept nothing
 */
export function readBody(request: ParsedRequest, limit: number, done: (body?: HttpBody) => void): void {
  if (request.readableEnded) {
    if (!isCutOff(request)) done(parsedBody(request))
    return
  }
  if (Number(request.headers['content-length']) > limit) {
    if (isMultiplexed(request)) request.resume()
    done({ type: 'too_large' })
    return
  }
  readStream(request, limit, done)
}

/** Reads a body from its stream. */
function readStream(request: IncomingMessage, limit: number, done: (body: HttpBody) => void): void {
  let bytes: Uint8Array | undefined
  let length = 0
  const stop = (body: HttpBody): void => {
    request.off('data', onData).off('end', onEnd)
    bytes = undefined
    done(body)
  }
  // Node calls both listeners: an error thrown in them would end the process.
  const onData = (data: unknown): void => {
    // A string if an earlier middleware called setEncoding.
    const chunk = typeof data === 'string' ? Buffer.from(data) : data
    if (!isBytes(chunk)) stop(unreadableChunk(chunk))
    else if (length + chunk.length > limit) {
      if (!isMultiplexed(request)) request.pause()
      stop({ type: 'too_large' })
    } else {
      bytes = append(bytes, length, chunk, limit)
      length += chunk.length
    }
  }
  const onEnd = (): void => {
    if (!isCutOff(request)) done(wholeBody(request, bytes?.subarray(0, length) ?? NOTHING))
  }
  request
    .on('data', onData)
    .on('end', onEnd)
    .on('error', () => {})
    // If the host has paused the request, a listener alone does not start it.
    .resume()
}

/**
 * Checks whether a body was cut off. `complete` cannot tell on HTTP/2: Node also ends the body of a stream that was reset,
 * and sets `complete` to true.
 */
function isCutOff(request: IncomingMessage): boolean {
  return request.aborted
}

/** Returns the body that an earlier middleware has parsed. */
function parsedBody(request: ParsedRequest): HttpBody | undefined {
  try {
    const body = memberOf(request, 'body') // a getter on some platforms, which parses the body and may throw
    if (body === undefined) return undefined
    if (typeof body === 'string') return { type: 'text', text: body }
    return isBytes(body) ? wholeBody(request, body) : { type: 'parsed', fields: body }
  } catch (error) {
    return { type: 'unreadable', error }
  }
}

const NOTHING = new Uint8Array(0)

/** Makes the body of bytes that came whole. */
function wholeBody(request: IncomingMessage, bytes: Uint8Array): HttpBody {
  const isForm = isMultipart(request.headers['content-type'])
  return isForm ? { type: 'bytes', bytes } : { type: 'text', text: decode(request, bytes) }
}

/** Decodes a body: JSON is UTF-8, and a form is ASCII, which is decoded fastest as one character for each byte. */
function decode({ headers }: IncomingMessage, bytes: Uint8Array): string {
  const whole = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return whole.toString(/^application\/json/i.test(headers['content-type'] ?? '') ? 'utf8' : 'latin1')
}
