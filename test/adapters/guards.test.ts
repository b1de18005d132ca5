/**
 * Guards of routes on every platform: the same table of requests at plain `http`, Express, Fastify, a fetch-style server and
 * Hono, each by the framework itself and over HTTP.
 * @module
 * @see RFC 6750, section 3; specification, section 2.1
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { connect as connectHttp2, constants } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import express from 'express'
import { fastify } from 'fastify'
import type { AuthorizationServer, ProtectedResource } from 'grantwell'
import type { AuthInfo, Authorized } from 'grantwell/fetch'
import { createFetchGuard } from 'grantwell/fetch'
import { createFastifyGuard, createNodeGuard } from 'grantwell/node'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it, vi } from 'vitest'
import { attack } from '../examples/hostile.js'
import type { MacTokens } from '../protocol/mac-client.js'
import { MAC_OPTIONS, signedParts, signedRequest } from '../protocol/mac-client.js'
import type { TestServer } from '../support.js'
import { authorize, exchange, laterServer, PATIENCE, testServer } from '../support.js'
import { serveFetch } from './bridge.js'
import type { Send } from './http.js'
import { sender } from './http.js'

/** The owners of resources, as the host of these tests knows them. */
const REPOSITORIES = [
  { id: 'engine', owner: 'ada', public: true },
  { id: 'notes', owner: 'ada', public: false },
  { id: 'foreign', owner: 'bob', public: true },
]

/** More than a guard needs to know of a resource. */
interface Repository extends ProtectedResource {
  /** A number of its own for every value that a guard was given. */
  readonly asked: number
}

/** Number of calls of `resource`. */
let asked = 0

function known(id: string | undefined, subject: string): Repository | undefined {
  if (id === 'broken') throw new Error('the secret of the database')
  const found = REPOSITORIES.find((each) => each.id === id)
  return found && { id: found.id, public: found.public, accessible: found.owner === subject, asked: ++asked }
}

interface Site {
  readonly port: number
  readonly close: () => Promise<unknown>
}

/** Serves `/plain`, which needs repo-code:r, and `PUT /repositories/:id`, which needs repo-code:rw on that repository. */
type Start = (server: AuthorizationServer) => Promise<Site>

async function listening(listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<Site> {
  const http = createServer(listener)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo // it listens on TCP
  return { port, close: () => new Promise((resolve) => http.close(resolve).closeAllConnections()) }
}

const lastOf = (url = ''): string | undefined => url.split('/').at(-1)

const PLATFORMS: Record<string, Start> = {
  'http alone': (server) => {
    const guard = createNodeGuard(server)
    const plain = guard({ scope: 'repo-code:r' }, (request, response) => {
      response.end(JSON.stringify(request.auth))
    })
    const write = guard(
      { scope: 'repo-code:rw', resource: ({ url, auth }) => known(lastOf(url), auth.subject) },
      (request, response) => {
        expectTypeOf(request.auth.resource).toEqualTypeOf<Repository>()
        response.end(JSON.stringify(request.auth))
      },
    )
    return listening((request, response) => {
      if (request.url === '/plain') plain(request, response)
      else write(request, response)
    })
  },

  'Express, handlers behind their guards': (server) => {
    const guard = createNodeGuard<express.Request, express.Response>(server)
    const app = express()
    app.get(
      '/plain',
      guard({ scope: 'repo-code:r' }, (request, response) => response.json(request.auth)),
    )
    app.put(
      '/repositories/:id',
      guard<express.Request<{ id: string }>>(
        { scope: 'repo-code:rw', resource: ({ params, auth }) => known(params.id, auth.subject) },
        (request, response) => {
          expectTypeOf(request.auth.resource).toEqualTypeOf<ProtectedResource>() // one type is given, and the other is not
          response.json(request.auth)
        },
      ),
    )
    return listening(app)
  },

  'Express, guards as middleware in a router': (server) => {
    const guard = createNodeGuard<express.Request, express.Response>(server)
    const router = express.Router()
    const answer: express.RequestHandler = (request, response) => {
      response.json(
        (request as Authorized<express.Request, AuthInfo<Repository> & { readonly resource: Repository }>).auth,
      ) // it came through the guard
    }
    router.get('/plain', guard({ scope: 'repo-code:r' }), answer)
    const resource = ({ params, auth }: Authorized<express.Request>) => known(String(params['id']), auth.subject)
    router.put('/repositories/:id', guard({ scope: 'repo-code:rw', resource }), answer)
    return listening(express().use('/', router))
  },

  'Fastify, handlers behind their guards': async (server) => {
    const guard = createFastifyGuard(server)
    const app = fastify()
    app.get(
      '/plain',
      guard({ scope: 'repo-code:r' }, async (request) => request.auth),
    )
    app.put<{ Params: { id: string } }>(
      '/repositories/:id',
      guard(
        { scope: 'repo-code:rw', resource: async ({ params, auth }) => known(params.id, auth.subject) },
        (request, reply) => {
          expectTypeOf(request.auth.resource).toEqualTypeOf<Repository>()
          expectTypeOf(request.params.id).toEqualTypeOf<string>()
          return reply.send(request.auth)
        },
      ),
    )
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() } // it listens on TCP
  },

  'Fastify, guards as hooks': async (server) => {
    const guard = createFastifyGuard(server)
    const app = fastify()
    const auth = (request: object) => (request as Authorized<object>).auth // it came through the guard
    app.get('/plain', { preHandler: guard({ scope: 'repo-code:r' }) }, (request, reply) => reply.send(auth(request)))
    app.route<{ Params: { id: string } }>({
      method: 'PUT',
      url: '/repositories/:id',
      onRequest: guard({
        scope: 'repo-code:rw',
        resource: (request: Authorized<{ raw: IncomingMessage; params: { id: string } }>) =>
          known(request.params.id, request.auth.subject),
      }),
      handler: async (request) => auth(request),
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() } // it listens on TCP
  },

  'route handlers of Request and Response': (server) => {
    const guard = createFetchGuard(server)
    const GET = guard({ scope: 'repo-code:r' }, (request) => Response.json(request.auth))
    // As Next.js calls them: the parameters are a promise.
    const PUT = guard(
      {
        scope: 'repo-code:rw',
        resource: async ({ auth }, { params }: { params: Promise<{ id: string }> }) =>
          known((await params).id, auth.subject),
      },
      async ({ auth }, { params }) => {
        expectTypeOf(auth.resource).toEqualTypeOf<Repository>()
        return Response.json({ ...auth, ...((await params).id === '' && { id: '' }) })
      },
    )
    return listening(
      serveFetch((request) =>
        new URL(request.url).pathname === '/plain'
          ? GET(request)
          : PUT(request, { params: Promise.resolve({ id: lastOf(request.url) ?? '' }) }),
      ),
    )
  },

  Hono: (server) => {
    const guard = createFetchGuard(server)
    const app = new Hono()
    app.get('/plain', (c) => guard({ scope: 'repo-code:r' }, ({ auth }) => c.json(auth))(c.req.raw))
    app.put('/repositories/:id', (c) =>
      guard({ scope: 'repo-code:rw', resource: ({ auth }) => known(c.req.param('id'), auth.subject) }, ({ auth }) =>
        c.json(auth),
      )(c.req.raw),
    )
    return listening(serveFetch(async (request) => app.fetch(request)))
  },
}

/** Tokens for every kind of permission. */
async function tokenFor(test: TestServer, scope: string, kind: string): Promise<string> {
  const { code } = await authorize(test, { scope }, { resource_scope: kind, resource: 'notes' })
  return (await exchange(test, code)).body.access_token
}

describe.each(Object.entries(PLATFORMS))('%s', (_title, start) => {
  let test: TestServer
  let site: Site
  let send: Send
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const put = (id: string, token: string) =>
    send({ method: 'PUT', path: `/repositories/${id}`, headers: bearer(token) })

  beforeAll(async () => {
    test = await testServer({ resources: () => REPOSITORIES.map(({ id }) => ({ id })) })
    site = await start(test.server)
    send = sender(site.port)
  })
  afterAll(() => site.close())

  it('gives the handler who is calling, for whom, and what is permitted', async () => {
    const answer = await send({ path: '/plain', headers: bearer(await tokenFor(test, 'repo-code:r', 'public')) })
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
      200,
      { subject: 'ada', clientId: 'web', scopes: ['repo-code:r'], resources: { kind: 'public' } },
    ])
  })

  it('[37] sends a challenge where nothing, or nothing good, is presented', async () => {
    const none = await send({ path: '/plain' })
    expect([none.status, none.headers['www-authenticate'], none.body]).toEqual([401, 'Bearer realm="oauth2"', ''])
    expect(none.headers['content-type']).toBeUndefined()
    expect(none.headers['cache-control']).toBe('no-store')
    const unknown = await send({ path: '/plain', headers: bearer('unknown') })
    expect([unknown.status, JSON.parse(unknown.body).error]).toEqual([401, 'invalid_token'])
    expect(unknown.headers['content-type']).toBe('application/json;charset=UTF-8')
    const narrow = await put('engine', await tokenFor(test, 'repo-code:r', 'all'))
    expect(narrow.status).toBe(403)
    expect(narrow.headers['www-authenticate']).toContain('error="insufficient_scope"')
    expect(narrow.headers['www-authenticate']).toContain('scope="repo-code:rw"')
  })

  it.each([
    ['all', { engine: 200, notes: 200, foreign: 403, absent: 403 }],
    ['public', { engine: 200, notes: 403, foreign: 403, absent: 403 }],
    ['specified', { engine: 403, notes: 200, foreign: 403, absent: 403 }],
  ])('opens with "%s" what the user permitted and may', async (kind, statuses) => {
    const token = await tokenFor(test, 'repo-code:rw', kind)
    const refusals = new Set<string>()
    for (const [id, status] of Object.entries(statuses)) {
      const answer = await put(id, token)
      expect(answer.status, id).toBe(status)
      if (status === 403) refusals.add(answer.body + answer.headers['www-authenticate'])
    }
    // What is not there is told like what is not open.
    expect(refusals.size).toBe(1)
  })

  it('hands on the resource that it decided on, and none where the route has none', async () => {
    const token = await tokenFor(test, 'repo-code:rw', 'all')
    for (const id of ['engine', 'notes'])
      expect(JSON.parse((await put(id, token)).body).resource).toMatchObject({ id, accessible: true, asked })
    expect(JSON.parse((await send({ path: '/plain', headers: bearer(token) })).body)).not.toHaveProperty('resource')
  })

  it('touches no resource but the one that it decided on, whatever path and query are sent', async () => {
    await attack(
      site.port,
      { base: '/repositories', ids: ['notes', 'engine'] },
      // Each opens that one of the two alone.
      (opens) => tokenFor(test, 'repo-code:rw', opens === 'notes' ? 'specified' : 'public'),
      (opens, { target, body }) => expect(JSON.parse(body).resource, target).toMatchObject({ id: opens, asked }),
    )
  })

  it('[52] says nothing of what the host threw', async () => {
    const answer = await put('broken', await tokenFor(test, 'repo-code:rw', 'all'))
    expect([answer.status, JSON.parse(answer.body).error]).toEqual([500, 'server_error'])
    expect(answer.body).not.toContain('database')
    expect(test.errors.splice(0)).toMatchObject([{ message: 'the secret of the database' }])
  })
})

describe('a guard with a slip of the pen', () => {
  it('is found when it is made', async () => {
    const { server } = await testServer()
    const makers = [createNodeGuard(server), createFastifyGuard(server), createFetchGuard(server)]
    for (const make of makers as ((needs: object, handler: () => undefined) => unknown)[]) {
      for (const needs of [{ scope: 'repo-cod:rw' }, { scope: undefined }, { scopes: 'repo-code:r' }, { resource: 1 }])
        expect(() => make(needs, () => undefined), JSON.stringify(needs)).toThrow(
          expect.objectContaining({ code: 'ERR_CONFIGURATION' }),
        )
    }
  })
})

describe('a guard that is made wrongly', () => {
  it('says so at once', async () => {
    const { server } = await testServer()
    const mistake = expect.objectContaining({ code: 'ERR_CONFIGURATION' })
    type Make = (guarding: unknown) => (...given: unknown[]) => unknown
    for (const make of [createNodeGuard, createFastifyGuard, createFetchGuard] as unknown as Make[]) {
      for (const guarding of [undefined, null, {}, () => {}])
        expect(() => make(guarding)({}, () => {})).toThrow(mistake)
      for (const needs of [undefined, null, 'repo-code:r', () => {}])
        expect(() => make(server)(needs, () => {})).toThrow(mistake)
      for (const handler of [undefined, null, 'handler']) expect(() => make(server)({}, handler)).toThrow(mistake)
    }
  })

  it('as a middleware without anybody to pass a request on to: 500, and the host is told', async () => {
    const test = await testServer()
    const told: unknown[] = []
    const guard = createNodeGuard(test.server, { onError: (error) => told.push(error) })
    const middleware = guard({}) as unknown as (request: IncomingMessage, response: ServerResponse) => void // as a slip would
    const site = await listening((request, response) => middleware(request, response))
    const headers = { authorization: `Bearer ${await tokenFor(test, 'repo-code:r', 'all')}` }
    expect((await sender(site.port)({ path: '/', headers })).status).toBe(500)
    expect(told).toMatchObject([{ code: 'ERR_CONFIGURATION' }])
    await site.close()
  })
})

describe('what a handler throws', () => {
  async function throwing() {
    const test = await testServer()
    const told: unknown[] = []
    const guard = createNodeGuard(test.server, { onError: (error) => told.push(error) })
    const headers = { authorization: `Bearer ${await tokenFor(test, 'repo-code:r', 'all')}` }
    return { guard, told, headers }
  }

  it('goes to next where there is one', async () => {
    const { guard, told, headers } = await throwing()
    const app = express()
    app.get(
      '/',
      guard({}, () => Promise.reject(new Error('of the handler'))),
    )
    const handled: unknown[] = []
    const answer: express.ErrorRequestHandler = (error, _request, response, _next) => {
      handled.push(error)
      response.sendStatus(503)
    }
    const site = await listening(app.use(answer))
    expect((await sender(site.port)({ path: '/', headers })).status).toBe(503)
    expect(handled).toMatchObject([{ message: 'of the handler' }])
    expect(told).toEqual([])
    await site.close()
  })

  it.each([undefined, null, false, 0, '', 'route', 'router'])(
    'goes to next as an error where it is %j, by which Express would pass the request on',
    async (reason) => {
      for (const test of [await testServer(), await laterServer()]) {
        const guard = createNodeGuard(test.server)
        const router = express.Router()
        for (const path of ['/thrown', '/rejected'])
          router.get(
            path,
            guard({}, () => {
              if (path === '/rejected') return Promise.reject(reason)
              throw reason
            }),
            (_request, response) => void response.send('passed on'),
          )
        const handled: unknown[] = []
        const answer: express.ErrorRequestHandler = (error, _request, response, _next) => {
          handled.push(error)
          response.sendStatus(503)
        }
        const app = express().use(router, answer)
        const site = await listening(app.use((_request, response) => void response.send('passed on')))
        const headers = { authorization: `Bearer ${await tokenFor(test, 'repo-code:r', 'all')}` }
        for (const path of ['/thrown', '/rejected'])
          expect((await sender(site.port)({ path, headers })).status).toBe(503)
        expect(handled).toMatchObject([{ cause: reason }, { cause: reason }])
        expect(handled.every((error) => error instanceof Error)).toBe(true)
        await site.close()
      }
    },
  )

  it.each<[string, unknown, object]>([
    ['an error', new Error('of the handler'), { message: 'of the handler' }],
    ['nothing, where nobody is next', undefined, { code: 'ERR_CONFIGURATION' }],
    ['null, as callbacks do', null, { code: 'ERR_CONFIGURATION' }],
    ['a string that is an order to Express', 'route', { cause: 'route' }],
  ])('[50] is a 500 too where a callback gives next %s, and the process goes on', async (_name, given, expected) => {
    const { guard, told, headers } = await throwing()
    const site = await listening(
      guard({}, (request, response, next) => {
        if (request.url === '/begun') response.write('begun')
        if (request.url === '/ended') response.end('ended')
        if (request.url === '/at-once') next(given)
        else setImmediate(() => next(given))
      }),
    )
    const send = sender(site.port)
    for (const path of ['/', '/at-once']) expect((await send({ path, headers })).status).toBe(500)
    await expect(send({ path: '/begun', headers })).rejects.toThrow()
    expect((await send({ path: '/ended', headers })).body).toBe('ended')
    await vi.waitFor(() => expect(told).toMatchObject(Array(4).fill(expected)), PATIENCE)
    await site.close()
  })

  it('[50] is a 500 that says nothing of it where there is none, told to the host, and the process goes on', async () => {
    const { guard, told, headers } = await throwing()
    const site = await listening(
      guard({}, (request, response) => {
        if (request.url === '/late') response.write('begun')
        return Promise.reject(new Error('of the handler'))
      }),
    )
    const send = sender(site.port)
    const answer = await send({ path: '/', headers })
    expect([answer.status, answer.body]).toEqual([500, 'The service failed.\n'])
    await expect(send({ path: '/late', headers })).rejects.toThrow()
    expect((await send({ path: '/', headers })).status).toBe(500)
    expect(told).toMatchObject(Array(3).fill({ message: 'of the handler' }))
    await site.close()
  })
})

describe('a guard over something that answers neither that it lets in, nor a refusal', () => {
  it.each([undefined, {}, { type: 'error' }, { type: 'refusal' }, 'refused', false])(
    'lets nobody in: %j',
    async (answer) => {
      const guarding = { guard: () => async () => answer } as unknown as AuthorizationServer // as somebody's own may be
      const letIn = () => expect.fail('let in')
      const request = new Request('https://git.example/')
      const fetched = createFetchGuard(guarding)({}, letIn)
      await expect(fetched(request)).rejects.not.toThrow('let in')
      const reply = {
        status: () => {},
        getHeader: () => undefined,
        removeHeader: () => {},
        headers: () => {},
        send: () => {},
      }
      const raw = { headers: {} } as unknown as IncomingMessage // all that is looked at
      await expect(createFastifyGuard(guarding)({}, letIn)({ raw }, reply)).rejects.not.toThrow('let in')
      const response = { headersSent: true, destroy: () => {} } as unknown as ServerResponse // as above
      let isIn = false
      const passed = () => {
        isIn = true
      }
      await createNodeGuard(guarding, { onError: () => {} })({}, passed)(raw, response, passed)
      expect(isIn).toBe(false)
    },
  )
})

describe('a guard over a store that answers at once', () => {
  it('calls the handler before it returns, and has nothing to wait for; over any other, later', async () => {
    const [test, slow] = [await testServer(), await laterServer()]
    for (const [{ server }, headers] of [
      [test, { authorization: `Bearer ${await tokenFor(test, 'repo-code:r', 'all')}` }],
      [slow, { authorization: `Bearer ${await tokenFor(slow, 'repo-code:r', 'all')}` }],
    ] as const) {
      const seen: unknown[] = []
      const handle = createNodeGuard(server)({ scope: 'repo-code:r' }, ({ auth }) => void seen.push(auth.subject))
      const done = handle({ headers } as unknown as IncomingMessage, {} as unknown as ServerResponse) // all that is looked at
      expect([seen, done instanceof Promise]).toEqual(server === test.server ? [['ada'], false] : [[], true])
      await done
      expect(seen).toEqual(['ada'])
    }
  })

  it.each<readonly [string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('of the handler')
      },
    ],
    ['gives as a promise', () => Promise.reject(new Error('of the handler'))],
    [
      'gives as a promise of a library',
      // biome-ignore lint/suspicious/noThenProperty: that is what it is
      () => ({ then: (_: unknown, fail: (error: Error) => void) => fail(new Error('of the handler')) }),
    ],
  ])('hands on what its handler %s', async (_, handler) => {
    const test = await testServer()
    const headers = { authorization: `Bearer ${await tokenFor(test, 'repo-code:r', 'all')}` }
    const [request, response] = [{ headers } as unknown as IncomingMessage, {} as unknown as ServerResponse] // as above
    const handled: unknown[] = []
    await createNodeGuard(test.server)({}, handler)(request, response, (error) => handled.push(error))
    expect(handled).toMatchObject([{ message: 'of the handler' }])
  })
})

describe('what a request has that was refused', () => {
  it('is no auth, though its resource was asked for with it', async () => {
    const test = await testServer()
    const request = { headers: { authorization: `Bearer ${await tokenFor(test, 'repo-code:r', 'all')}` } }
    const asked: unknown[] = []
    const guard = createFastifyGuard(test.server)({
      resource: ({ auth }) => {
        asked.push(auth.subject)
        return undefined
      },
    })
    const reply = {
      status: () => reply,
      getHeader: () => undefined,
      removeHeader: () => reply,
      headers: () => reply,
      send: () => reply,
    }
    const wrapped = { raw: request as unknown as IncomingMessage } // all that is looked at
    await guard(wrapped, reply)
    expect([asked, 'auth' in wrapped]).toEqual([['ada'], false])
  })

  it('is no auth of a guard before it either, with the resource of another route', async () => {
    const test = await testServer()
    const headers = { authorization: `Bearer ${await tokenFor(test, 'repo-code:r', 'all')}` }
    const [node, fetched] = [createNodeGuard(test.server), createFetchGuard(test.server)]
    const open = () => ({ id: 'engine', public: true, accessible: true })
    const closed = () => undefined

    const request = { headers } as unknown as IncomingMessage // all that is looked at
    const response = { headersSent: true, writableEnded: true } as unknown as ServerResponse // what was sent already is not sent again
    await node({ resource: open })(request, response, () => {})
    expect(request).toMatchObject({ auth: { resource: open() } })
    await node({ resource: closed })(request, response, () => expect.fail('let in'))
    expect('auth' in request).toBe(false)

    const another = new Request('https://git.example/', { headers })
    await fetched({ resource: open }, () => new Response())(another)
    expect(another).toMatchObject({ auth: { resource: open() } })
    await fetched({}, ({ auth }) => {
      expect('resource' in auth).toBe(false)
      return new Response()
    })(another)
    await fetched({ resource: closed }, () => expect.fail('let in'))(another)
    expect('auth' in another).toBe(false)
  })
})

describe('a client that leaves while the host still works on a refusal', () => {
  const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const
  /** Sends a request without a token. Returns a function that ends its connection or stream. */
  const CLIENTS: Record<string, (port: number) => () => void> = {
    'closes its connection': (port) => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write('PUT /route HTTP/1.1\r\nHost: git.example\r\nContent-Length: 0\r\n\r\n')
      return () => socket.destroy()
    },
    'resets its connection': (port) => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write('PUT /route HTTP/1.1\r\nHost: git.example\r\nContent-Length: 0\r\n\r\n')
      return () => socket.resetAndDestroy()
    },
    'resets its stream of HTTP/2': (port) => {
      const session = connectHttp2(`http://127.0.0.1:${port}`).on('error', () => {})
      const stream = session.request({ ':method': 'PUT', ':path': '/route' }).on('error', () => {})
      stream.on('close', () => session.destroy()).end()
      return () => stream.close(constants.NGHTTP2_CANCEL)
    },
  }

  it.each(HOOKS.flatMap((hook) => Object.entries(CLIENTS).map(([leaves, send]) => [hook, leaves, send] as const)))(
    'does not get to a route of Fastify whose guard is its %s: it %s',
    async (hook, leaves, send) => {
      const { server } = await testServer()
      const options: object = { http2: leaves.includes('HTTP/2') } // of this type, the instances of both have one type
      const app = fastify(options)
      const called: string[] = []
      let leave = (): void => {}
      const ended = new Promise<void>((resolve) => {
        app.addHook('onSend', async (_request, reply, payload) => {
          const closed = once(reply.raw, 'close')
          leave()
          await closed
          // Whatever Fastify does next, it does before the second turn of the event loop.
          for (let turn = 0; turn < 2; turn++) await new Promise((next) => setImmediate(next))
          resolve()
          return payload
        })
      })
      app.put('/route', { [hook]: createFastifyGuard(server)({ scope: 'repo-code:r' }) }, async () =>
        called.push('route'),
      )
      await app.listen({ port: 0, host: '127.0.0.1' })
      leave = send((app.server.address() as AddressInfo).port) // it listens on TCP
      await ended
      expect(called).toEqual([])
      await app.close()
    },
  )
})

describe('a polluted prototype', () => {
  it.each([
    ['auth', 'user:pass'],
    ['type', 'authenticated'],
    ['type', 'authorized'],
    ['resource', () => ({ id: '', public: true, accessible: true })],
    ['secret', new Uint8Array(32)],
  ])('[48] with %s lets nobody in', async (name, value) => {
    const test = await testServer(MAC_OPTIONS)
    const guards = [
      createFetchGuard(test.server)({ scope: 'repo-code:r' }, () => new Response('let in')),
      createFetchGuard(test.server)({}, () => new Response('let in')),
    ]
    const made = { access_token: `gwa_${'A'.repeat(81)}`, mac_key: 'A'.repeat(43) }
    const signed = signedRequest(made as MacTokens, signedParts(test)) // all that it takes
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
    try {
      for (const guard of guards)
        for (const headers of [
          {},
          { authorization: 'Bearer made-up' },
          { authorization: `Bearer ${made.access_token}` },
          { authorization: String(signed.headers['authorization']) },
        ])
          expect((await guard(new Request('https://git.example/', { headers }))).status).toBe(401)
    } finally {
      Reflect.deleteProperty(Object.prototype, name)
    }
  })
})
