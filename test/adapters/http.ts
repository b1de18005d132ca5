/**
 * HTTP from the client's side for the adapters' suite: whole requests with Node's client, and raw sockets for what no
 * client would send.
 * @module
 */
import type { Agent, RequestListener, Server } from 'node:http'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'

/** A request as a test writes it. */
export interface Ask {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** A response: header names in lower case, several of one name joined. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** However a request gets to the server. */
export type Send = (ask: Ask) => Promise<Answer>

/** A listening server, and how to end it. */
export interface Listening {
  readonly port: number
  readonly origin: string
  readonly http: Server
  readonly close: () => Promise<void>
}

/** Listens on a free port of the machine itself. */
export async function listen(listener: RequestListener): Promise<Listening> {
  const http = createServer(listener)
  // A server that closes an idle connection while its client sends on it resets a request: on a busy machine 5 seconds pass soon.
  http.keepAliveTimeout = 600_000
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo // it listens on TCP
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => http.close(resolve))
    http.closeAllConnections()
    await closed
  }
  return { port, origin: `http://127.0.0.1:${port}`, http, close }
}

/** Sends whole requests to a port, each on a connection of its own unless there is an agent. */
export function sender(port: number, agent?: Agent): Send {
  return ({ method = 'GET', path, headers = {}, body }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
      const options = { host: '127.0.0.1', port, method, path, headers: { ...length, ...headers } }
      httpRequest({ ...options, ...(agent === undefined ? { agent: false } : { agent }) }, (response) => {
        const parts: Buffer[] = []
        response
          .on('data', (part: Buffer) => parts.push(part))
          .on('error', reject)
          .on('end', () => {
            const joined = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const)
            const text = Buffer.concat(parts).toString('utf8')
            resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(joined), body: text })
          })
      })
        .on('error', reject)
        .end(body)
    })
}

/** A POST of a form. */
export function form(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Ask {
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  return { method: 'POST', path, headers: { ...type, ...headers }, body: new URLSearchParams(fields).toString() }
}

/** A socket to a port, what it has received so far, and its end. */
export interface RawSocket {
  readonly socket: Socket
  readonly received: () => string
  /** Resolves once the other side has ended or reset the connection. */
  readonly ended: Promise<void>
  /** Resolves once the text has been received so many times. */
  readonly until: (text: string, times?: number) => Promise<void>
}

/** Opens a raw socket. */
export async function open(port: number): Promise<RawSocket> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  let waiting = (): void => {}
  let failed = (_: Error): void => {}
  socket
    .setNoDelay(true)
    .setEncoding('latin1')
    .on('data', (text: string) => {
      received += text
      waiting()
    })
    .on('error', () => {}) // a reset is an end like any other here
    .on('close', () => failed(new Error(`closed after ${JSON.stringify(received.slice(-500))}`)))
  const ended = new Promise<void>((resolve) => socket.on('end', resolve).on('close', () => resolve()))
  await new Promise((resolve) => socket.on('connect', resolve))
  return {
    socket,
    received: () => received,
    ended,
    until: (text, times = 1) =>
      new Promise((resolve, reject) => {
        failed = reject
        waiting = () => {
          if (received.split(text).length > times) resolve()
        }
        waiting()
      }),
  }
}

/** Sends text over a socket of its own and gives back all that came until the other side ended it. */
export async function raw(port: number, text: string): Promise<string> {
  const { socket, received, ended } = await open(port)
  socket.write(text, 'latin1')
  await ended
  socket.destroy()
  return received()
}

/** A request as it goes over the wire; with `Connection: close`, so that the end of the answer is the end of the stream. */
export function wire(
  line: string,
  headers: readonly string[] = [],
  body = '',
  connection: 'close' | 'keep-alive' = 'close',
): string {
  const length = body === '' ? [] : [`Content-Length: ${body.length}`]
  return [`${line} HTTP/1.1`, 'Host: a.example', `Connection: ${connection}`, ...length, ...headers, '', body].join(
    '\r\n',
  )
}

/** Status and JSON of a raw answer. */
export function parsed(answer: string): { readonly status: number; readonly json: unknown } {
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  const chunked = /^transfer-encoding: chunked/im.test(answer)
  const text = chunked ? body.slice(body.indexOf('\r\n') + 2, body.lastIndexOf('\r\n0\r\n')) : body
  return { status: Number(answer.slice(9, 12)), json: text.startsWith('{') ? JSON.parse(text) : undefined }
}

/** Milliseconds until a wait is given up, against hanging alone: less than a test has, so that the wait says what is missing. */
const PATIENCE = 240_000

/** Waits until something holds, looking every few milliseconds. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE
  while (!(await holds())) {
    if (Date.now() > end) throw new Error('did not come to hold in time')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
