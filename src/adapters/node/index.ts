/**
 * The entry point `grantwell/node`: the server on Node's `http`, alone or as connect-style middleware, and Node's own
 * digests.
 * @module
 */
import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Digests } from '../../core/tokens/digests.js'
import type { Guarding } from '../../guard/guard.js'
import { checkServer } from '../../guard/route-guard.js'
import type { HttpBody, HttpRequest, HttpResponse } from '../../protocol/message.js'
import { headersOf, memberOf, originForm } from '../../protocol/message.js'
import type { AuthorizationServer } from '../../server.js'
import { addHostValues, BODY_HEADERS } from '../headers.js'
import { turnOf } from '../turns.js'
import { remoteAddressOf } from './address.js'
import { discardBody, isMultiplexed, readBody, sizeOf } from './body.js'
import type { NodeGuard, NodeGuardOptions } from './guard.js'
import { makeNodeGuard } from './guard.js'

export type { Access, AccessTo } from '../../guard/access.js'
export type { Guarding } from '../../guard/guard.js'
export type { Authorized, ResourceNeeds, RouteNeeds } from '../../guard/route-guard.js'
export type {
  FastifyGuard,
  FastifyReplyLike,
  FastifyRequestLike,
  NodeGuard,
  NodeGuardOptions,
} from './guard.js'
export { createFastifyGuard } from './guard.js'

/** Handles a request: a listener of `http.createServer`, and a middleware of connect or Express. */
export type NodeHandler<Request extends IncomingMessage = IncomingMessage> = (
  request: Request,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** A request as frameworks hand it on: with the whole URL under a mount path. */
type FrameworkRequest = IncomingMessage & { readonly originalUrl?: string }

/** `Digests` of `node:crypto`: pass them as the option `digests`; several times as fast, with the same results. */
export const nodeDigests: Digests = {
  sha256: (data) => hash('sha256', data, 'base64url'),
  hmacSha256: (key, data) => {
    const block = key.length > HMAC_BLOCK_BYTES ? bytesOf(hash('sha256', key, 'binary'), new Uint8Array(32), 0) : key
    const inner = innerOf(HMAC_BLOCK_BYTES + data.length)
    if (isInUse) restore()
    isInUse = true
    try {
      for (let index = 0; index < block.length; index++) {
        const byte = block[index] as number // inside it
        inner[index] = byte ^ INNER_PAD
        outer[index] = byte ^ OUTER_PAD
      }
      inner.set(data, HMAC_BLOCK_BYTES)
      bytesOf(hash('sha256', inner, 'binary'), outer, HMAC_BLOCK_BYTES)
      return bytesOf(hash('sha256', outer, 'binary'), new Uint8Array(32), 0)
    } finally {
      inner.fill(INNER_PAD)
      outer.fill(OUTER_PAD)
      isInUse = false
    }
  },
}

/**
 * HMAC from two one-shot hashes (RFC 2104, section 2), since `createHmac` takes twice as long to set up. A string that has one
 * character for each byte is the quickest that `hash` gives, and an array of bytes is the dearest to make: what is hashed lies in
 * arrays that are used over and over. Between calls they hold nothing but the padding, which the next one counts on.
 */
const HMAC_BLOCK_BYTES = 64
const INNER_PAD = 0x36
const OUTER_PAD = 0x5c

/** Still set where a call came to no end: a time-out of `node:vm` runs no `finally`. */
let isInUse = false

function restore(): void {
  outer.fill(OUTER_PAD)
  for (const inner of inners) inner?.fill(INNER_PAD)
}

/** What the outer hash is of. */
const outer = new Uint8Array(HMAC_BLOCK_BYTES + 32).fill(OUTER_PAD)

/** What the inner hash is of, by its length; longer ones are made anew. */
const inners: (Uint8Array | undefined)[] = new Array(256).fill(undefined)

function innerOf(length: number): Uint8Array {
  const kept = inners[length]
  if (kept !== undefined) return kept
  const made = new Uint8Array(length).fill(INNER_PAD)
  if (length < inners.length) inners[length] = made
  return made
}

/** Writes the bytes of a digest, one a character, into an array from a place on. */
function bytesOf(digest: string, into: Uint8Array, at: number): Uint8Array {
  for (let index = 0; index < digest.length; index++) into[at + index] = digest.charCodeAt(index)
  return into
}

/**
 * Puts a server on Node's `http`. Paths that are not the server's own go to `next`, or get a 404 where there is none. A
 * body that an earlier middleware has parsed is taken as it is.
 * @throws GrantwellError `ERR_CONFIGURATION` for anything but a server
 * @example
 * ```ts
 * http.createServer(createNodeHandler(server)).listen(8080)
 * app.use(createNodeHandler(server)) // Express
 * ```
 */
export function createNodeHandler<Request extends IncomingMessage>(
  server: AuthorizationServer<Request>,
): NodeHandler<Request> {
  checkServer('createNodeHandler', server)
  return (request, response, next) => {
    const url = originForm(memberOf(request as FrameworkRequest, 'originalUrl') ?? request.url ?? '/') // Express and connect add it
    const isOwn = server.owns(url)
    if (!isOwn && next !== undefined) {
      next()
      return
    }
    const inTurn = turnOf(request, response)
    if (inTurn === undefined) return
    const remoteAddress = isOwn ? remoteAddressOf(request) : undefined
    const answer = (body?: HttpBody): void => {
      const message: HttpRequest<Request> = {
        method: request.method ?? 'GET',
        url,
        headers: headersOf(request),
        body,
        remoteAddress,
        native: request,
      }
      const send = (answered: HttpResponse<string | Uint8Array> | undefined): void => {
        const isLeft = body?.type === 'too_large' && !isMultiplexed(request)
        if (answered !== undefined) sendOrDestroy(response, answered, isLeft)
      }
      const fail = (error: unknown): void => destroy(response, error)
      try {
        const answered = server.handle(message)
        if (answered instanceof Promise) answered.then(send, fail)
        else send(answered)
      } catch (error) {
        fail(error)
      }
    }
    if (isOwn && request.method === 'POST') {
      readBody(request, server.bodyLimit, (body) => inTurn(sizeOf(body), () => answer(body)))
    } else {
      discardBody(request)
      inTurn(0, () => (isOwn ? answer() : sendOrDestroy(response, NOT_FOUND)))
    }
  }
}

const NOT_FOUND: HttpResponse = {
  status: 404,
  headers: { 'Content-Type': 'text/plain;charset=UTF-8' },
  body: 'Not found\n',
}

/**
 * Guards routes of `http`, Express and connect: a handler behind a guard is only called for a request whose access token
 * works and permits what the route needs. It finds who is calling, and the resource, in `request.auth`. What a handler throws goes to `next`
 * or, where there is none, to the option `onError`, and the answer is a 500. Where the guard itself fails, `next` is never called: the
 * option `onError` is told, and the answer is a 500.
 * @param guarding - the server, or what `resourceServer` of `grantwell/client` gives
 * @example
 * ```ts
 * const guard = createNodeGuard(server)
 * app.put('/repositories/:id', guard({ scope: 'repo-code:rw', resource: repositoryOf }, (request, response) => {
 *   response.json({ by: request.auth.subject, wrote: request.auth.resource.id })
 * }))
 * ```
 * In TypeScript, `createNodeGuard<express.Request, express.Response>(server)` gives both their types. Without a handler, it
 * is a middleware that calls `next` once, without an argument, for a request that is let through.
 */
export function createNodeGuard<
  Request extends IncomingMessage = IncomingMessage,
  Response extends ServerResponse = ServerResponse,
>(guarding: Guarding, options: NodeGuardOptions = {}): NodeGuard<Request, Response> {
  return makeNodeGuard<Request, Response>(guarding, sendResponse, options)
}

/** Sends a response, or nothing more where Node refuses it for what the host did to the response: one request must end no process. */
function sendOrDestroy(response: ServerResponse, answer: HttpResponse<string | Uint8Array>, close = false): void {
  try {
    sendResponse(response, answer, close)
  } catch (error) {
    destroy(response, error)
  }
}

function destroy(response: ServerResponse, error: unknown): void {
  response.destroy(error instanceof Error ? error : undefined)
}

/**
 * Sends a response that the server or its guard made; to a `HEAD`, without the body. Headers that the host set before
 * stay, but for those of the same name that are no lists, and those that describe a body.
 * @param close - ends the connection behind it; false by default
 */
export function sendResponse(
  response: ServerResponse,
  { status, headers, body }: HttpResponse<string | Uint8Array>,
  close = false,
): void {
  if (response.destroyed) return
  if (response.headersSent) {
    // Sent before by the host: one that is not ended would be waited for in vain.
    if (!response.writableEnded) response.destroy()
    return
  }
  // Mostly there are none, and then Node has no names to list.
  const all = response.getHeaderNames().length === 0 ? headers : addedTo(response, headers)
  if (close) response.setHeader('Connection', 'close')
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  // The spread at the end, where engines copy it many times as fast as at the head of a literal.
  response.writeHead(status, { 'Content-Length': length, ...all })
  // Node may be set to throw for a body where none belongs (`rejectNonStandardBodyWrites`).
  if (length === 0 || response.req?.method === 'HEAD') response.end()
  // What has a byte for each character is ASCII, which needs no encoding.
  else if (typeof body === 'string') response.end(body, length === body.length ? 'latin1' : 'utf8')
  else response.end(body)
}

/** Our headers with those of the host that they are added to; the host's that no answer of ours may have are gone. */
function addedTo(response: ServerResponse, headers: HttpResponse['headers']): Record<string, string | string[]> {
  for (const name of BODY_HEADERS) response.removeHeader(name)
  return addHostValues(headers, (name) => response.getHeader(name))
}
