/**
 * Answers that Node, or what a host did to a response, refuses to send: one request ends no process, and lets nobody in.
 * @module
 */
import type { IncomingMessage, RequestListener, ServerOptions, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyReply } from 'fastify'
import { fastify } from 'fastify'
import type { AuthorizationServer } from 'grantwell'
import { createFastifyGuard, createNodeGuard, createNodeHandler } from 'grantwell/node'
import { describe, expect, it } from 'vitest'
import { authorize, exchange, laterServer, type TestServer, testServer } from '../support.js'
import { sender } from './http.js'

async function serving(listener: RequestListener, options: ServerOptions = {}) {
  const http = createServer(options, listener)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo // it listens on TCP
  return {
    send: sender(port),
    close: () => new Promise((resolve) => http.close(resolve).closeAllConnections()),
  }
}

async function tokenOf(test: TestServer): Promise<string> {
  const { code } = await authorize(test, { scope: 'repo-code:r' }, { resource_scope: 'all' })
  return (await exchange(test, code)).body.access_token
}

/** Every sender: the handler for its own paths and others, and guards that refuse, in both forms. */
const senders = (server: AuthorizationServer, told: unknown[] = []): Readonly<Record<string, RequestListener>> => {
  const handler = createNodeHandler(server)
  const guard = createNodeGuard(server, { onError: (error) => told.push(error) })
  const middleware = guard({ scope: 'repo-code:r' })
  return {
    '/elsewhere': handler,
    '/oauth2/style.css': handler,
    '/oauth2/auth': handler,
    '/oauth2/token': handler,
    '/handler': guard({ scope: 'repo-code:r' }, (_, response) => response.end()),
    '/middleware': (request, response) => middleware(request, response, () => response.end('let in')),
  }
}

describe.each([
  ['at once', testServer],
  ['later', laterServer],
])('over a store that answers %s', (_, make) => {
  it('a HEAD has the length and no body, where Node throws for a body', async () => {
    const { server } = await make()
    const all = senders(server)
    const site = await serving((request, response) => all[request.url ?? '']?.(request, response), {
      rejectNonStandardBodyWrites: true,
    })
    let same = 0
    for (const path of Object.keys(all)) {
      const [whole, head] = [await site.send({ path }), await site.send({ method: 'HEAD', path })]
      expect([path, head.body]).toEqual([path, ''])
      const isSame = whole.status === head.status
      const length = (isSame ? whole : head).headers['content-length']
      expect([path, head.headers['content-length']]).toEqual([path, length])
      same += Number(isSame)
    }
    expect(same).toBeGreaterThan(1)
    await site.close()
  })

  /** Changes that a host may have made to a response, each with true if an answer can still be sent. */
  const SPOILT: readonly (readonly [string, boolean, (response: ServerResponse) => void])[] = [
    ['the header Trailer', true, (response) => response.setHeader('Trailer', 'Server-Timing')],
    [
      'a status text that Node refuses',
      false,
      (response) => {
        response.statusMessage = 'a\nb'
      },
    ],
    [
      'a writeHead that throws',
      false,
      (response) => {
        response.writeHead = () => {
          throw new Error('of the host')
        }
      },
    ],
    [
      'a write that throws',
      true, // it is not called
      (response) => {
        response.write = () => {
          throw new Error('of the host')
        }
      },
    ],
    [
      'an end that throws',
      false,
      (response) => {
        response.end = () => {
          throw new Error('of the host')
        }
      },
    ],
  ]

  it.each(SPOILT)('%s ends no process', async (_name, isSent, spoil) => {
    const { server } = await make()
    const told: unknown[] = []
    const all = senders(server, told)
    const site = await serving((request, response) => {
      if (request.headers['x-sound'] === undefined) spoil(response)
      all[request.url ?? '']?.(request, response)
    })
    for (const path of Object.keys(all)) {
      const sound = await site.send({ path, headers: { 'x-sound': '1' } })
      const answer = await site.send({ path }).catch(() => undefined)
      expect([path, answer?.status, answer?.body]).toEqual(
        isSent ? [path, sound.status, sound.body] : [path, undefined, undefined],
      )
    }
    expect(told).toHaveLength(isSent ? 0 : 2)
    await site.close()
  })

  it('a guard that fails never passes the request on', async () => {
    const test = await make()
    const told: unknown[] = []
    let passed = 0
    const next = () => void passed++
    const guard = createNodeGuard(test.server, { onError: (error) => told.push(error) })
    const failing = createNodeGuard(
      { guard: () => () => Promise.reject(new Error('of the guard')) },
      { onError: (error) => told.push(error) },
    )
    const throwing = createNodeGuard(
      {
        guard: () => () => {
          throw new Error('of the guard')
        },
      },
      { onError: (error) => told.push(error) },
    )
    const headers = { authorization: `Bearer ${await tokenOf(test)}` }
    for (const made of [guard, failing, throwing]) {
      for (const middleware of [made({ scope: 'repo-code:r' }), made({ scope: 'repo-code:r' }, () => void passed++)]) {
        const site = await serving((request, response) => {
          // Neither an answer nor `auth` can be set.
          if (made === guard && request.headers.authorization === undefined)
            response.writeHead = () => {
              throw new Error('of the host')
            }
          if (made === guard) Object.defineProperty(request, 'auth', { value: undefined })
          middleware(request, response, next)
        })
        const answer = await site.send({ path: '/' }).catch(() => undefined)
        expect(answer?.status).toBe(made === guard ? undefined : 500)
        expect((await site.send({ path: '/', headers }).catch(() => undefined))?.status).toBe(500)
        await site.close()
      }
    }
    expect([passed, told.length]).toEqual([0, 12])
  })

  it('a middleware calls next once, and what that throws passes on', async () => {
    const test = await make()
    const request = { headers: { authorization: `Bearer ${await tokenOf(test)}` } } as unknown as IncomingMessage // all that is looked at
    const told: unknown[] = []
    const middleware = createNodeGuard(test.server, { onError: (error) => told.push(error) })({})
    for (const later of [false, true]) {
      const calls: unknown[][] = []
      const call = async (): Promise<unknown> =>
        middleware(request, {} as unknown as ServerResponse, (...args) => {
          calls.push(args)
          if (later) return Promise.reject(new Error('of next')) as never // as an async service behind it gives
          throw new Error('of next')
        })
      await expect(call()).rejects.toThrow('of next')
      expect([calls, told]).toEqual([[[]], []])
    }
  })
})

it('a Fastify handler that answers later, by a callback, is waited for behind a guard', async () => {
  const test = await testServer()
  const guard = createFastifyGuard(test.server)
  const app = fastify()
  const needs = { scope: 'repo-code:r' }
  app.get(
    '/later',
    guard(needs, (_request, reply: FastifyReply) => void setImmediate(() => reply.send({ saved: true }))),
  )
  app.get(
    '/sent',
    guard(needs, (_request, reply: FastifyReply) => void reply.send({ saved: true })),
  )
  app.get(
    '/given',
    guard(needs, async () => ({ saved: true })),
  )
  const headers = { authorization: `Bearer ${await tokenOf(test)}` }
  for (const url of ['/later', '/sent', '/given']) {
    const { statusCode, body } = await app.inject({ url, headers })
    expect([url, statusCode, body]).toEqual([url, 200, '{"saved":true}'])
  }
  await app.close()
})
