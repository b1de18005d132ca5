/**
 * Requests whose body was cut, or whose streams the host touched before: nothing is done by half, and nobody waits in vain.
 * @module
 * @see RFC 9112, section 8; RFC 9113, section 8.1.1
 */
import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { ServerResponse } from 'node:http'
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { connect as connectHttp2, constants, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { createNodeGuard, createNodeHandler } from 'grantwell/node'
import { describe, expect, it } from 'vitest'
import { authorize, basic, exchange, testServer, WEB } from '../support.js'
import { eventually, form, listen, open, sender, wire } from './http.js'

/** Reads a body to what it takes for its end, as a parser of the host does. */
function drain(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    request.on('end', resolve).on('close', resolve).on('error', ignored).resume()
  })
}

function ignored(): void {}

describe('[49] a body that HTTP/2 cut is not acted on', () => {
  const CUTS: readonly (readonly [string, (stream: ClientHttp2Stream, session: ClientHttp2Session) => void])[] = [
    ['CANCEL', (stream) => stream.close(constants.NGHTTP2_CANCEL)],
    ['NO_ERROR', (stream) => stream.close(constants.NGHTTP2_NO_ERROR)],
    ['an end before its length', (stream) => stream.end()],
    ['the end of its session', (_, session) => session.destroy()],
  ]
  const READERS: readonly (readonly [string, (request: IncomingMessage) => Promise<void> | void])[] = [
    ['by us', () => {}],
    ['by a middleware', drain],
  ]

  it.each(CUTS.flatMap(([cut, end]) => READERS.map(([reader, before]) => ({ cut, reader, end, before }))))(
    'by $cut, read $reader',
    async ({ end, before }) => {
      const test = await testServer()
      const { code } = await authorize(test)
      const listener: (...given: unknown[]) => void = createNodeHandler(test.server) as never // of HTTP/2's compatibility API
      let seen: Promise<void> | undefined
      const http = createHttp2Server((request, response) => {
        seen = new Promise<void>((resolve) => {
          request.stream.on('error', ignored).on('close', resolve)
        })
        // It has what is read of an `IncomingMessage`.
        void Promise.resolve(before(request as never)).then(() => listener(request, response))
      })
      await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
      const session = connectHttp2(`http://127.0.0.1:${(http.address() as AddressInfo).port}`) // it listens on TCP
      session.on('error', ignored)
      const { body = '', headers = {} } = form('/oauth2/token', { grant_type: 'authorization_code', code }, basic(WEB))
      const stream = session.request({
        ...headers,
        ':method': 'POST',
        ':path': '/oauth2/token',
        'content-length': body.length + 9,
      })
      stream.on('error', ignored)
      const { events } = test
      const told = events.length
      await new Promise((resolve) => stream.write(body, resolve))
      await eventually(() => seen !== undefined)
      end(stream, session)
      await seen
      session.destroy()
      await new Promise((resolve) => http.close(resolve))
      expect(events.slice(told)).toEqual([])
      expect(await exchange(test, code)).toMatchObject({ status: 200 })
    },
  )
})

describe('a body that nobody reads', () => {
  it.each([
    ['/oauth2/token', 413],
    ['/oauth2/none', 404],
    ['/oauth2/style.css', 405],
  ])('holds no stream of HTTP/2 open behind its answer: %s', async (path, status) => {
    for (const length of [{}, { 'content-length': 300_000 }]) {
      const test = await testServer()
      const listener: (...given: unknown[]) => void = createNodeHandler(test.server) as never // of HTTP/2's compatibility API
      let sent: readonly string[] = []
      const http = createHttp2Server((request, response) => {
        response.on('finish', () => {
          sent = response.getHeaderNames()
        })
        listener(request, response)
      })
      await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
      const session = connectHttp2(`http://127.0.0.1:${(http.address() as AddressInfo).port}`) // it listens on TCP
      session.on('error', ignored)
      const stream = session.request({
        ...form(path, {}, basic(WEB)).headers,
        ...length,
        ':method': 'POST',
        ':path': path,
      })
      let answered: unknown
      let body = ''
      stream
        .on('response', (headers) => {
          answered = headers[':status']
        })
        .on('data', (piece) => {
          body += piece
        })
        .on('error', ignored)
      const closed = new Promise<void>((resolve) => stream.on('close', resolve))
      stream.end('a='.padEnd(300_000, 'x'))
      await closed
      expect([answered, body.length > 0, sent.includes('connection')]).toEqual([status, true, false])
      session.destroy()
      await new Promise((resolve) => http.close(resolve))
    }
  })
})

describe('a stream that the host touched before', () => {
  const BEFORE: readonly (readonly [string, (request: IncomingMessage) => Promise<unknown>])[] = [
    [
      'paused for a look-up',
      async (request) => {
        request.pause()
        await new Promise((resolve) => setTimeout(resolve, 20))
      },
    ],
    [
      'looked into, and put back',
      async (request) => {
        const [piece] = await once(request, 'data')
        request.pause()
        request.unshift(piece)
      },
    ],
  ]

  it.each(BEFORE)('is read whole: %s', async (_, before) => {
    const test = await testServer()
    const { code } = await authorize(test)
    const handler = createNodeHandler(test.server)
    const { port, close } = await listen((request, response) => {
      void before(request).then(() => handler(request, response))
    })
    const fields = { grant_type: 'authorization_code', code }
    expect(await sender(port)(form('/oauth2/token', fields, basic(WEB)))).toMatchObject({ status: 200 })
    await close()
  })

  const OURS: readonly (readonly [string, (test: Awaited<ReturnType<typeof testServer>>) => RequestListener])[] = [
    ['the handler', ({ server }) => createNodeHandler(server)],
    ['a guard', ({ server }) => createNodeGuard(server)({}, (_request, response) => response.end())],
  ]

  it.each(OURS)('nobody waits for the end of a response whose headers the host has sent: %s', async (_, listenerOf) => {
    const test = await testServer()
    const listener = listenerOf(test)
    const { port, close } = await listen((request, response) => {
      response.flushHeaders()
      listener(request, response)
    })
    await expect(sender(port)({ path: '/oauth2/auth' })).rejects.toThrow()
    await close()
  })

  it('an answer that the host has ended stays as it is', async () => {
    const test = await testServer()
    const handler = createNodeHandler(test.server)
    const { port, close } = await listen((request, response: ServerResponse) => {
      response.end('of the host')
      handler(request, response)
    })
    expect(await sender(port)({ path: '/oauth2/auth' })).toMatchObject({ status: 200, body: 'of the host' })
    await close()
  })

  it('a request that the host has answered waits for no turn: one connection has as many of them as it likes', async () => {
    const test = await testServer()
    const handler = createNodeHandler(test.server)
    let late = (): void => {}
    const { port, close } = await listen((request, response) => {
      if (request.url === '/next') {
        late() // while the next request of the connection is answered
        response.end('next')
        return
      }
      late = () => handler(request, response)
      response.end('of the host')
    })
    const { socket, until } = await open(port)
    for (let count = 1; count <= 40; count++) {
      socket.write(wire('GET /oauth2/style.css', [], '', 'keep-alive'))
      await until('of the host', count)
      socket.write(wire('GET /next', [], '', 'keep-alive'))
      await until('next', count)
    }
    socket.destroy()
    await close()
  })

  const WRAPPED: readonly (readonly [string, (request: IncomingMessage) => IncomingMessage])[] = [
    ['of the request', (request) => request],
    ['of a request that inherits from it', (request) => Object.create(request)],
  ]

  it.each(WRAPPED)('a response that the host made itself has its turn with the one %s', async (_, wrapped) => {
    const test = await testServer()
    const handler = createNodeHandler(test.server)
    const { port, close } = await listen((request, response) => {
      const captured = new ServerResponse(request)
      captured.end = () => {
        response.end(`captured ${captured.statusCode}`)
        return captured
      }
      handler(wrapped(request), captured)
    })
    expect(await sender(port)({ path: '/oauth2/style.css' })).toMatchObject({ body: 'captured 200' })
    const asked = form('/oauth2/token', { grant_type: 'other' }, basic(WEB))
    const answer = { body: 'captured 400' }
    expect(_ === 'of the request' ? await sender(port)(asked) : answer).toMatchObject(answer)
    await close()
  })
})
