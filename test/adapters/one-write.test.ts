/**
 * The writes that a response of Node takes, and hosts that hold one back.
 * @module
 */
import type { RequestListener } from 'node:http'
import { OutgoingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpsServer, get } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import express from 'express'
import session, { MemoryStore } from 'express-session'
import { createNodeGuard, createNodeHandler } from 'grantwell/node'
import { describe, expect, it } from 'vitest'
import { describeWith, openssl } from '../engines/available.js'
import { testServer } from '../support.js'
import { listen, sender } from './http.js'
import { selfSigned } from './https.js'

/** Notes each write of a socket, with true for one of several chunks. */
function noteWrites(socket: Socket, notes: boolean[]): void {
  const { _write: write, _writev: writev } = socket
  Object.assign(socket, {
    _write(...given: Parameters<typeof write>) {
      notes.push(false)
      return Reflect.apply(write, socket, given)
    },
    _writev(...given: Parameters<NonNullable<typeof writev>>) {
      notes.push(true)
      return writev === undefined ? undefined : Reflect.apply(writev, socket, given)
    },
  })
}

/** Answers a request, and returns the writes that it took. */
async function writesOf(listener: RequestListener, path: string, method = 'GET') {
  const notes: boolean[] = []
  const { http, port, close } = await listen(listener)
  http.on('connection', (socket) => noteWrites(socket, notes))
  const { status, body } = await sender(port)({ path, method })
  await close()
  return { status, isEmpty: body === '', notes }
}

describe('a response', () => {
  it.each([
    ['/oauth2/style.css', 'GET', { status: 200, isEmpty: false }],
    ['/oauth2/auth', 'GET', { status: 400, isEmpty: false }],
    ['/oauth2/auth', 'HEAD', { status: 400, isEmpty: true }],
    ['/oauth2/token', 'POST', { status: 400, isEmpty: false }],
    ['/elsewhere', 'GET', { status: 404, isEmpty: false }],
    ['/api', 'GET', { status: 401, isEmpty: true }],
  ])('takes one write of one chunk: %s, %s', async (path, method, expected) => {
    const { server } = await testServer()
    const handler = createNodeHandler(server)
    const api = createNodeGuard(server)({ scope: 'repo-code:r' }, (_, response) => response.end())
    const listener: RequestListener = (request, response) =>
      request.url === '/api' ? api(request, response) : handler(request, response)
    expect(await writesOf(listener, path, method)).toEqual({ ...expected, notes: [false] })
  })

  it('goes through the functions of a tool that has replaced those of all responses', async () => {
    const { server } = await testServer()
    const seen: unknown[] = []
    ServerResponse.prototype.end = function end(this: ServerResponse, ...given: unknown[]) {
      seen.push(given[0])
      return Reflect.apply(OutgoingMessage.prototype.end, this, given)
    }
    try {
      expect(await writesOf(createNodeHandler(server), '/elsewhere')).toMatchObject({ status: 404 })
    } finally {
      // It is inherited.
      Reflect.deleteProperty(ServerResponse.prototype, 'end')
    }
    expect(seen).toEqual(['Not found\n'])
  })

  it('is not called sent where its connection was destroyed before', async () => {
    const { server } = await testServer()
    const handler = createNodeHandler(server)
    const told: string[] = []
    const { port, close } = await listen((request, response) => {
      for (const event of ['finish', 'close']) response.on(event, () => told.push(event))
      request.socket.destroy()
      handler(request, response)
    })
    await expect(sender(port)({ path: '/elsewhere' })).rejects.toThrow()
    await close()
    expect(told).toEqual(['close'])
  })

  it('is whole where it is more than a connection takes at once', async () => {
    const body = 'x'.repeat(8_000_000)
    const { server } = await testServer()
    const { port, close } = await listen(
      createNodeHandler({ ...server, handle: () => ({ status: 200, headers: {}, body }) }),
    )
    const answer = await sender(port)({ path: '/oauth2/style.css' })
    expect([answer.status, answer.headers['content-length'], answer.body === body]).toEqual([200, '8000000', true])
    await close()
  })
})

describeWith(describe, openssl, 'a response over TLS', () => {
  it('takes one write, since a second one would be a record of its own', async () => {
    const { server } = await testServer()
    const notes: boolean[] = []
    const https = createHttpsServer(selfSigned(), createNodeHandler(server))
    https.on('secureConnection', (socket) => noteWrites(socket, notes))
    await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve))
    const { port } = https.address() as AddressInfo // it listens on TCP
    const options = { host: '127.0.0.1', port, path: '/oauth2/style.css', rejectUnauthorized: false, agent: false }
    const status = await new Promise((resolve, reject) => {
      get(options, (response) => response.resume().on('end', () => resolve(response.statusCode))).on('error', reject)
    })
    await new Promise((resolve) => https.close(resolve))
    expect([status, notes.length]).toEqual([200, 1])
  })
})

/** A store of sessions that saves only after another request has been answered. */
class SlowSessions extends MemoryStore {
  readonly saved: string[] = []
  other = async (): Promise<unknown> => undefined

  override set(...[id, data, done]: Parameters<MemoryStore['set']>): void {
    void this.other().then(() => {
      this.saved.push(id)
      super.set(id, data, done)
    })
  }
}

it('a session of express-session is saved before the client has the whole response', async () => {
  const { server } = await testServer()
  const sessions = new SlowSessions()
  const app = express()
  app.get('/other', (_, response) => {
    response.end('other')
  })
  app.use(session({ secret: 'of the host', store: sessions, resave: true, saveUninitialized: true }))
  app.use(createNodeHandler(server))
  const { port, close } = await listen(app)
  const send = sender(port)
  sessions.other = () => send({ path: '/other' })
  const { status, body } = await send({ path: '/oauth2/auth' })
  expect([status, body.includes('</html>')]).toEqual([400, true])
  expect(sessions.saved).toHaveLength(1)
  await close()
})
