/**
 * Node's adapter behind a real socket: what a test writes is on the wire byte by byte, and its answer is read off it.
 * @module
 */
import { Buffer } from 'node:buffer'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Agent, createServer, request as httpRequest, METHODS } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { AuthorizationServer, GuardResult, HttpRequest, HttpResponse } from 'grantwell'
import { createNodeHandler } from 'grantwell/node'
import type { Transport } from './transport.js'
import { areCarried, headerLines, isElsewhere, isImage } from './transport.js'

/** What takes a request at the other end. */
type Receive = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** Room for what the server's own limits are about; those of Node come first else. */
const maxHeaderSize = 1 << 20

const agent = new Agent({ keepAlive: true })

/** Who takes the next request that comes from a port of the client: so it bears no mark of the test. */
const receivers = new Map<number, Receive>()

let listening: Promise<number> | undefined

/** The port of the one HTTP server of this process; neither it nor a connection keeps the process alive. */
function port(): Promise<number> {
  listening ??= new Promise((resolve) => {
    // A connection ends when the process does, however long a test takes.
    const http: Server = createServer({ maxHeaderSize, keepAliveTimeout: 0 }, (incoming, outgoing) => {
      const from = incoming.socket.remotePort ?? 0
      const receive = receivers.get(from)
      receivers.delete(from)
      if (receive === undefined) outgoing.destroy(new Error('nobody asked for this'))
      else receive(incoming, outgoing)
    })
    http.on('connection', (socket) => socket.unref())
    http.unref().listen(0, '127.0.0.1', () => resolve((http.address() as AddressInfo).port)) // it listens on TCP
  })
  return listening
}

/** The bytes of a body: of text its characters where each is a byte, as the adapter reads them; else its UTF-8. */
function bytesOf({ body }: HttpRequest, bodyLimit: number): Buffer {
  if (body?.type === 'text') return Buffer.from(body.text, /^[\0-\xff]*$/.test(body.text) ? 'latin1' : 'utf8')
  return Buffer.alloc(body?.type === 'too_large' ? bodyLimit + 1 : 0, 'a')
}

/** The lines of a request's head: those of the test, and what HTTP needs beside them. */
function linesOf(server: AuthorizationServer, request: HttpRequest, length: number): readonly string[] {
  const { method, headers, body } = request
  const lines = headerLines(headers).flat()
  if (!Object.hasOwn(headers, 'host')) lines.push('Host', new URL(server.issuer).host)
  // What is too large does not say so beforehand: the adapter has to count.
  if (body?.type === 'too_large') lines.push('Transfer-Encoding', 'chunked')
  else if (length > 0 || method === 'POST') lines.push('Content-Length', String(length))
  return lines
}

/** Sends a request, and reads its answer. */
async function exchange(server: AuthorizationServer, request: HttpRequest, receive: Receive): Promise<HttpResponse> {
  const { method, url: path } = request
  const bytes = bytesOf(request, server.bodyLimit)
  const headers = linesOf(server, request, bytes.length)
  const to = { host: '127.0.0.1', port: await port(), agent, maxHeaderSize }
  let arrived = false
  const arriving: Receive = (incoming, outgoing) => {
    arrived = true
    receive(incoming, outgoing)
  }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ ...to, method, path, headers }, resolve)
      .on('socket', (socket) => {
        const expectFrom = (): void => void receivers.set(socket.localPort ?? 0, arriving)
        if (socket.connecting) socket.once('connect', expectFrom)
        else expectFrom()
      })
      .on('error', reject)
      .end(bytes)
  })
  const body = await buffer(response)
  const status = response.statusCode ?? 0
  if (!arrived) throw new Error(`Node itself answered ${status} to ${method} ${path}`)
  // No length may be said of a 204 (RFC 9110, section 8.6).
  const all = headersOf(response, method, status === 204 ? undefined : String(body.length))
  return { status, headers: all, body: body.toString(isImage(all) ? 'latin1' : 'utf8') }
}

/** What Node adds to an answer, and the length that the adapter does. */
const ADDED = ['date', 'connection', 'keep-alive', 'content-length']

/** The headers as they are spelled on the wire, without what was added to those of the server. */
function headersOf(
  { rawHeaders, headers }: IncomingMessage,
  method: string,
  length: string | undefined,
): Record<string, string> {
  if (method !== 'HEAD' && headers['content-length'] !== length)
    throw new Error(`a body of ${length} bytes, said to have ${headers['content-length']}`)
  const found: Record<string, string> = {}
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    if (!ADDED.includes(name.toLowerCase()))
      found[name] = Object.hasOwn(found, name) ? `${found[name]}, ${value}` : value
  }
  return found
}

/** A middleware of the host that takes the body off the request, and leaves there what it made of it. */
function bodyTaken(fields: unknown, next: Receive): Receive {
  return (incoming, outgoing) => {
    incoming.on('end', () => next(Object.assign(incoming, { body: fields }), outgoing)).resume()
  }
}

/** Over HTTP to `createNodeHandler`. A body that is parsed, or not there, was taken by a middleware before the adapter. */
export const node: Transport = {
  name: 'node',
  carries: ({ method, url, headers }) =>
    method !== 'CONNECT' &&
    METHODS.includes(method) &&
    /^(?:\/|https?:\/\/)[\x21-\x7e]*$/.test(url) &&
    areCarried(headers),
  handle: async (server, request) => {
    const { method, body } = request
    const handler: Receive = createNodeHandler(server)
    const taken = method === 'POST' && (body === undefined || body.type === 'parsed')
    const fields = body?.type === 'parsed' ? body.fields : undefined
    const response = await exchange(server, request, taken ? bodyTaken(fields, handler) : handler)
    return isElsewhere(response) ? undefined : response
  },
  authenticate: async (server, request, needed) => {
    let found: Promise<GuardResult> | undefined
    await exchange(server, request, (incoming, outgoing) => {
      found = server.authenticate(incoming, needed)
      found.catch(() => {}) // the caller gets it
      outgoing.setHeader('Content-Length', 0).end()
    })
    if (found === undefined) throw new Error('the request did not arrive')
    return found
  },
}
