/**
 * The address of a client that resets its connection, or its stream of HTTP/2, right behind its request.
 * @module
 * @see RFC 8628, section 5.1
 */
import type { IncomingMessage, RequestListener } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { AuthorizationServerOptions, RecordStore } from 'grantwell'
import { createNodeHandler } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { expect, it, vi } from 'vitest'
import { remoteAddressOf } from '../../src/adapters/node/address.js'
import { NATIVE, PATIENCE, testServer } from '../support.js'
import { form, listen, open, wire } from './http.js'

const PATH = '/oauth2/device_authorization'
const { body = '', headers = {} } = form(PATH, { client_id: NATIVE.clientId, scope: 'repo-code:r' })

/** A server whose store answers nothing until it is let go, and the addresses that its limit was asked for. */
async function held() {
  const inner = memoryStore()
  let gate: Promise<void> | undefined
  let letGo = (): void => {}
  let reads = 0
  const store: RecordStore = {
    ...inner,
    read: async (keys) => {
      if (gate !== undefined) reads++
      await gate
      return inner.read(keys)
    },
  }
  const asked: Parameters<NonNullable<AuthorizationServerOptions['deviceLimiter']>>[0][] = []
  const { server } = await testServer({
    store,
    deviceLimiter: (attempt) => {
      asked.push(attempt)
      return 0
    },
  })
  return {
    listener: createNodeHandler(server),
    hold: () => {
      gate = new Promise((resolve) => {
        letGo = resolve
      })
    },
    isAsked: () => vi.waitFor(() => expect(reads).toBeGreaterThan(0), PATIENCE),
    /** Lets the store answer: the addresses. */
    addresses: async () => {
      letGo()
      await vi.waitFor(() => expect(asked).toHaveLength(1), PATIENCE)
      return asked.map(({ address }) => address)
    },
  }
}

it('[44] is known where the connection is gone by the time that a limit asks', async () => {
  const { listener, hold, isAsked, addresses } = await held()
  hold()
  let closed = false
  const { port, close } = await listen((request, response) => {
    request.socket.once('close', () => {
      closed = true
    })
    listener(request, response)
  })
  const { socket } = await open(port)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.write(wire(`POST ${PATH}`, lines, String(body)))
  await isAsked()
  socket.resetAndDestroy()
  await vi.waitFor(() => expect(closed).toBe(true), PATIENCE)
  expect(await addresses()).toEqual(['127.0.0.1'])
  await close()
})

it('[44] is known where the stream of HTTP/2 is gone by then', async () => {
  const { listener, hold, isAsked, addresses } = await held()
  hold()
  let closed = false
  const http = createHttp2Server((request, response) => {
    request.stream.once('close', () => {
      closed = true
    })
    ;(listener as unknown as (...given: unknown[]) => void)(request, response) // as its compatibility API has it
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const session = connectHttp2(`http://127.0.0.1:${(http.address() as AddressInfo).port}`) // it listens on TCP
  const stream = session.request({ ...headers, ':method': 'POST', ':path': PATH }).on('error', () => {})
  stream.end(body)
  await isAsked()
  stream.close(8)
  await vi.waitFor(() => expect(closed).toBe(true), PATIENCE)
  expect(await addresses()).toEqual(['127.0.0.1'])
  session.destroy()
  await new Promise((resolve) => http.close(resolve))
})

it('[44] is the unspecified one, and not unknown, where it was gone before the request was seen', () => {
  const of = (socket: unknown) => remoteAddressOf({ socket } as IncomingMessage) // all that is looked at
  expect(of({ remoteAddress: '192.0.2.1', localAddress: '192.0.2.2' })).toBe('192.0.2.1')
  for (const gone of [{ localAddress: '192.0.2.2' }, { destroyed: true }]) expect(of(gone)).toBe('::')
  const unbound = {
    get remoteAddress() {
      throw new Error('of a socket of HTTP/2')
    },
  }
  expect(of(unbound)).toBe('::')
  // A Unix socket, and a platform that has none.
  for (const none of [{}, { destroyed: false }, null, undefined]) expect(of(none)).toBeUndefined()
})

it('[44] is never unknown to a limit, however many connections are reset behind their requests', async () => {
  const asked: unknown[] = []
  const { server } = await testServer({
    deviceLimiter: ({ address }) => {
      asked.push(address)
      return 0
    },
  })
  const handler: RequestListener = createNodeHandler(server)
  const { port, close } = await listen(handler)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  for (let count = 0; count < 50; count++) {
    const { socket } = await open(port)
    socket.on('error', () => {})
    await new Promise((resolve) => socket.write(wire(`POST ${PATH}`, lines, String(body)), resolve))
    socket.resetAndDestroy()
  }
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(10), PATIENCE)
  for (const address of asked) expect(['127.0.0.1', '::']).toContain(address)
  await close()
})
