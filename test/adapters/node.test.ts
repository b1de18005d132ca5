/**
 * `grantwell/node`: the suite on Node's `http`, alone, in Express in every place, and behind a proxy that strips a path.
 * @module
 */

import type { RequestListener } from 'node:http'
import { Agent } from 'node:http'
import { runInNewContext } from 'node:vm'
import express from 'express'
import fc from 'fast-check'
import type { AuthorizationServer } from 'grantwell'
import { createAuthorizationServer, portableDigests } from 'grantwell'
import { createNodeHandler, nodeDigests, sendResponse } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { authorizationUrl, basic, ISSUER, laterServer, testServer, WEB } from '../support.js'
import { unicodeText } from '../unicode.js'
import { eventually, form, listen, open, raw, sender, wire } from './http.js'
import { api, isApi, overNode } from './node-listener.js'
import type { Platform } from './suite.js'
import { adapterSuite } from './suite.js'

/** An Express application that believes every proxy, with routes of its own in front of and behind the server. */
function inExpress(
  place: (app: express.Express, server: AuthorizationServer) => void,
): (server: AuthorizationServer) => RequestListener {
  return (server) => {
    const app = express().set('trust proxy', true)
    app.get('/before', (_, response) => void response.send('before'))
    place(app, server)
    app.get('/api', (request, response) => api(server, request, response))
    app.use((_, response) => void response.status(404).send('of the application'))
    return app
  }
}

const twoAuthorizations = { status: 400, error: 'invalid_request' }
const ownNotFound = { elsewhere: 'Not found\n', twoAuthorizations }
const expressNotFound = { elsewhere: 'of the application', twoAuthorizations }

const PLATFORMS: readonly Platform[] = [
  { title: 'http.createServer', ...ownNotFound, listener: overNode },
  {
    title: 'http.createServer, with an issuer that has a path',
    issuerPath: '/deep/down',
    ...ownNotFound,
    listener: overNode,
  },
  {
    title: 'http.createServer behind a proxy that strips the path of the issuer (mountPath)',
    issuerPath: '/prefix',
    options: { mountPath: '' },
    ...ownNotFound,
    listener: (server) => {
      const behind = overNode(server)
      return (request, response) => {
        const url = (request.url ?? '').replace(/^http:\/\/[^/]*/, '')
        if (url.startsWith('/prefix/')) request.url = url.slice('/prefix'.length)
        // What a proxy does not hand on at all.
        else if (!isApi(url) && !url.startsWith('/.well-known/')) request.url = '/'
        behind(request, response)
      }
    },
  },
  {
    title: 'Express',
    ...expressNotFound,
    listener: inExpress((app, server) => app.use(createNodeHandler(server))),
  },
  {
    title: 'Express under a path',
    issuerPath: '/prefix',
    metadataPath: '/prefix/.well-known/oauth-authorization-server',
    ...expressNotFound,
    listener: inExpress((app, server) => app.use('/prefix', createNodeHandler(server))),
  },
  {
    title: 'Express behind express.urlencoded()',
    ...expressNotFound,
    parser: 'forms',
    listener: inExpress((app, server) =>
      app.use(express.urlencoded({ parameterLimit: 10_000 }), createNodeHandler(server)),
    ),
  },
  {
    title: 'Express behind express.urlencoded({ extended: true }), under a path',
    issuerPath: '/prefix',
    metadataPath: '/prefix/.well-known/oauth-authorization-server',
    ...expressNotFound,
    parser: 'forms',
    listener: inExpress((app, server) => {
      app.use(express.urlencoded({ extended: true, parameterLimit: 10_000 }))
      app.use('/prefix', createNodeHandler(server))
    }),
  },
  {
    title: 'Express behind express.json() and express.text()',
    ...expressNotFound,
    listener: inExpress((app, server) => app.use(express.json(), express.text(), createNodeHandler(server))),
  },
  {
    title: "Express behind express.raw({ type: '*/*' })",
    ...expressNotFound,
    parser: 'bytes',
    listener: inExpress((app, server) => app.use(express.raw({ type: '*/*' }), createNodeHandler(server))),
  },
  {
    title: "Express behind express.text({ type: '*/*' })",
    ...expressNotFound,
    parser: 'bytes',
    listener: inExpress((app, server) => app.use(express.text({ type: '*/*' }), createNodeHandler(server))),
  },
]

for (const platform of PLATFORMS) adapterSuite(platform)

describe('an Express application', () => {
  it('keeps its own routes, in front of the server and behind it', async () => {
    const { server } = await testServer()
    const app = inExpress((it, served) => it.use(createNodeHandler(served)))(server)
    const { port, close } = await listen(app)
    const send = sender(port)
    expect(await send({ path: '/before' })).toMatchObject({ status: 200, body: 'before' })
    expect(await send({ path: '/api' })).toMatchObject({ status: 401 })
    expect(await send({ path: '/nowhere' })).toMatchObject({ status: 404, body: 'of the application' })
    expect(await send({ path: '/oauth2/style.css' })).toMatchObject({ status: 200 })
    await close()
  })

  it.each([
    ...['e;x', 'e:x', "e'", 'e%2f', '%', 'e*', 'e{}', 'u:p@e'].map((host) => [host, false] as const),
    ...['e', 'e:99', '[::1]'].map((host) => [host, true] as const),
  ])(
    'does not serve what its own middleware under the same path passes over: a target at http://%s',
    async (host, isSound) => {
      const { server } = await testServer()
      let passed = 0
      const app = express().use('/oauth2', (_request, _response, next) => {
        passed++
        next()
      })
      const { port, close } = await listen(app.use(createNodeHandler(server)))
      const answer = await raw(port, wire(`POST http://${host}/oauth2/token`, ['Connection: close']))
      const isAnswered = passed === 1 && answer.includes('"error"')
      // A target that is sound is passed on and answered; any other may be, or is not answered at all.
      expect(isAnswered || (!isSound && (passed > 0 || !answer.includes('"error"')))).toBe(true)
      await close()
    },
  )

  it('gives the parsed fields of its own parser, whatever shape they have', async () => {
    const { server } = await testServer()
    const parse: express.RequestHandler = (request, _, next) => {
      const parts: Buffer[] = []
      request
        .on('data', (part: Buffer) => parts.push(part))
        .on('end', () => {
          request.body = JSON.parse(Buffer.concat(parts).toString())
          next()
        })
    }
    const { port, close } = await listen(inExpress((app, served) => app.use(parse, createNodeHandler(served)))(server))
    const send = sender(port)
    await fc.assert(
      fc.asyncProperty(fc.json(), async (body) => {
        const headers = { 'content-type': 'application/x-www-form-urlencoded', ...basic(WEB) }
        const { status } = await send({ method: 'POST', path: '/oauth2/token', headers, body })
        expect(status).toBe(400)
      }),
      { numRuns: 100, examples: [['null'], ['7'], ['{"grant_type":{"a":["b"]}}'], ['{"__proto__":{"code":"x"}}']] },
    )
    await close()
  })
})

it('gives the bytes of its own parser, also those of another realm', async () => {
  const { server } = await testServer()
  const bytesOf = runInNewContext('(codes) => Uint8Array.from(codes)')
  const parse: express.RequestHandler = (request, _, next) => {
    request.on('end', next).resume()
    request.body = bytesOf([...Buffer.from(String(new URLSearchParams({ token: 'x' })))])
  }
  const { port, close } = await listen(inExpress((app, served) => app.use(parse, createNodeHandler(served)))(server))
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...basic(WEB) }
  expect((await sender(port)({ method: 'POST', path: '/oauth2/revoke', headers, body: 'x=y' })).status).toBe(200)
  await close()
})

describe('a request whose body or client is gone', () => {
  it('is told that its body is missing where somebody took it and left nothing behind', async () => {
    const { server } = await testServer()
    const handler = createNodeHandler(server)
    const { port, close } = await listen((request, response) => {
      request.resume().on('end', () => handler(request, response))
    })
    const answer = await sender(port)(form('/oauth2/token', { grant_type: 'refresh_token' }, basic(WEB)))
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'The body is missing.' },
    ])
    await close()
  })

  it.each([7, null, undefined, [97, 61], { length: 2 }, new ArrayBuffer(2), new Uint16Array(2)])(
    '[50] is answered where a stream of the host gives a piece that is no bytes: %j',
    async (piece) => {
      for (const before of ['', 'grant_type=']) {
        const test = await testServer()
        const handler = createNodeHandler(test.server)
        const { port, close } = await listen((request, response) => {
          handler(request, response)
          // A middleware that plays a body back emits what it has kept.
          if (before !== '') request.emit('data', Buffer.from(before))
          request.emit('data', piece)
        })
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        const answer = await sender(port, agent)(form('/oauth2/token', { grant_type: 'other' }, basic(WEB)))
        expect([answer.status, JSON.parse(answer.body).error]).toEqual([500, 'server_error'])
        expect(test.errors).toMatchObject([{ message: expect.stringContaining('must give a Uint8Array') }])
        expect((await sender(port, agent)({ path: '/oauth2/style.css' })).status).toBe(200)
        agent.destroy()
        await close()
      }
    },
  )

  it.each([
    ['a form', 500, [{ message: 'of the host' }], 'application/x-www-form-urlencoded'],
    ['anything else', 400, [], 'application/json'],
  ])('[50] is answered where the body of %s is read by a getter that throws', async (_name, status, told, type) => {
    for (const made of [await testServer(), await laterServer()]) {
      const handler = createNodeHandler(made.server)
      const { port, close } = await listen((request, response) => {
        Object.defineProperty(request, 'body', {
          get() {
            throw new Error('of the host')
          },
        })
        request.resume().on('end', () => handler(request, response))
      })
      const asked = form('/oauth2/token', { grant_type: 'refresh_token' }, { ...basic(WEB), 'content-type': type })
      for (let count = 0; count < 2; count++) expect((await sender(port)(asked)).status).toBe(status)
      expect(made.errors).toMatchObject([...told, ...told])
      await close()
    }
  })

  it('[49] is no trouble when its client leaves while the host still looks for the user', async () => {
    let found = (): void => {}
    const asked = new Promise<void>((resolve) => {
      found = resolve
    })
    let answer = (): void => {}
    const test = await testServer({
      user: () =>
        new Promise((resolve) => {
          answer = () => resolve(undefined)
          found()
        }),
    })
    let handled: Promise<unknown> = Promise.resolve()
    const handle: typeof test.server.handle = (request) => {
      const result = test.server.handle(request)
      handled = Promise.resolve(result)
      return result
    }
    const { port, http, close } = await listen(createNodeHandler({ ...test.server, handle }))
    const { socket } = await open(port)
    socket.write(wire(`GET ${authorizationUrl()}`))
    await asked
    socket.destroy()
    await eventually(
      () => new Promise((resolve) => http.getConnections((_, connections) => resolve(connections === 0))),
    )
    answer()
    expect(await handled).toMatchObject({ status: 302 })
    expect((await sender(port)({ path: '/oauth2/style.css' })).status).toBe(200)
    expect(test.errors).toEqual([])
    await close()
  })

  it('[50] is cut off where the answer cannot be sent or made, and the process goes on', async () => {
    const { server } = await testServer()
    const answers: readonly (typeof server.handle)[] = [
      async () => ({ status: 200, headers: { 'X-Any': 'a\r\nb' }, body: '' }),
      async () => ({ status: 99, headers: {}, body: '' }),
      async () => Promise.reject(new Error('no answer')),
      async () => Promise.reject('no error either'),
      () => ({ status: 200, headers: { 'X-Any': 'a\r\nb' }, body: '' }),
      () => {
        throw new Error('no answer')
      },
    ]
    for (const handle of answers) {
      const { port, close } = await listen(createNodeHandler({ ...server, handle }))
      await expect(sender(port)({ path: '/oauth2/style.css' })).rejects.toMatchObject({ code: 'ECONNRESET' })
      expect((await sender(port)({ path: '/elsewhere' })).status).toBe(404)
      await close()
    }
  })

  it.each([
    'ASCII',
    '',
    'Latin-1: \u00e9\u00ff',
    'the edge: \x7f\x80',
    '\u{1f511} and \u4e2d',
    'half a character: \ud800',
  ])('gets the body %j whole, in UTF-8', async (body) => {
    const { port, close } = await listen((_, response) => sendResponse(response, { status: 200, headers: {}, body }))
    const expected = Buffer.from(body)
    const answer = await sender(port)({ path: '/' })
    expect([answer.body, answer.headers['content-length']]).toEqual([expected.toString(), String(expected.length)])
    await close()
  })

  it('gets one answer, be there two to send', async () => {
    const { port, close } = await listen((_, response) => {
      sendResponse(response, { status: 200, headers: {}, body: 'first' })
      sendResponse(response, { status: 500, headers: {}, body: 'second' })
    })
    expect(await sender(port)({ path: '/' })).toMatchObject({ status: 200, body: 'first' })
    await close()
  })
})

describe('a polluted prototype', () => {
  it.each([
    ['originalUrl', '/elsewhere'],
    ['body', { grant_type: 'authorization_code' }],
  ])('[48] with %s changes no answer', async (name, value) => {
    const { server } = await testServer()
    const handler = createNodeHandler(server)
    const { port, close } = await listen((request, response) => {
      if (request.headers['x-read'] === undefined) handler(request, response)
      else request.resume().on('end', () => handler(request, response))
    })
    const asked = form('/oauth2/token', { grant_type: 'other' }, basic(WEB))
    const asks = [
      asked,
      { ...asked, headers: { ...asked.headers, 'x-read': '1' } },
      { path: '/oauth2/style.css', body: '' },
    ]
    const answers = async () => {
      const all = []
      for (const ask of asks) all.push(await sender(port)(ask))
      return all.map(({ status, body }) => [status, body])
    }
    const before = await answers()
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
    try {
      expect(await answers()).toEqual(before)
    } finally {
      Reflect.deleteProperty(Object.prototype, name)
    }
    await close()
  })
})

describe('nodeDigests', () => {
  it('gives the same as the portable digests, for any bytes and any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), unicodeText()), (data) => {
        expect(nodeDigests.sha256(data)).toBe(portableDigests.sha256(data))
      }),
      { examples: [[''], ['\ud800'], [new Uint8Array(0)]] },
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 200 }), (key, data) => {
        expect(Uint8Array.from(nodeDigests.hmacSha256(key, data))).toEqual(portableDigests.hmacSha256(key, data))
      }),
    )
  })
})

describe('the issuer', () => {
  const made = (issuer: string, allowInsecureIssuer?: boolean) =>
    createAuthorizationServer({
      issuer,
      store: memoryStore(),
      user: () => undefined,
      signInUrl: () => '/sign-in',
      ...(allowInsecureIssuer !== undefined && { allowInsecureIssuer }),
    }).issuer

  it('[51] is refused as http off loopback unless the host says so, and no header changes it (the suite above)', () => {
    const offLoopback = [
      'http://git.example',
      'http://git.example:8080/path',
      'http://127.0.0.1.git.example',
      'http://localhost.git.example',
      'http://10.0.0.1',
      'http://[::2]',
      'http://0.0.0.0',
    ]
    for (const issuer of offLoopback) {
      expect(() => made(issuer), issuer).toThrowError(expect.objectContaining({ code: 'ERR_CONFIGURATION' }))
      expect(() => made(issuer, false), issuer).toThrowError(expect.objectContaining({ code: 'ERR_CONFIGURATION' }))
      expect(made(issuer, true)).toBe(issuer)
    }
    for (const issuer of ['http://127.0.0.1:1', 'http://[::1]', 'http://localhost:8080/a', ISSUER])
      expect(made(issuer)).toBe(issuer)
    for (const issuer of ['ftp://127.0.0.1', 'ws://localhost', 'git.example', 'javascript:alert(1)'])
      expect(() => made(issuer, true), issuer).toThrowError(expect.objectContaining({ code: 'ERR_CONFIGURATION' }))
  })
})
