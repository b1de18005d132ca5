/**
 * `grantwell/fetch`: the suite over HTTP through a bridge, and the handler called directly.
 * @module
 */
import { runInNewContext } from 'node:vm'
import { createFetchGuard, createFetchHandler, toResponse } from 'grantwell/fetch'
import { describe, expect, it } from 'vitest'
import { basic, ISSUER, testServer, WEB } from '../support.js'
import { overFetch } from './bridge.js'
import type { Send } from './http.js'
import { adapterSuite, apiAnswer, sessionUser, walk } from './suite.js'

const common = {
  elsewhere: 'Not found\n',
  listener: overFetch,
  twoAuthorizations: { status: 401, error: 'invalid_client' },
}

adapterSuite({ title: 'a fetch handler', ...common })
adapterSuite({ title: 'a fetch handler, with an issuer that has a path', ...common, issuerPath: '/deep' })

describe('the handler called directly', () => {
  const TOKEN = `${ISSUER}/oauth2/token`
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...basic(WEB) }

  async function made(options: Parameters<typeof testServer>[0] = {}) {
    const test = await testServer({ user: sessionUser, ...options })
    return { test, handler: createFetchHandler(test.server) }
  }

  const bodyOfParts = (pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void, cancel = () => {}) =>
    new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 })

  const posted = (body: string | ReadableStream<Uint8Array>) =>
    new Request(TOKEN, { method: 'POST', headers, body, duplex: 'half' })

  const errorOf = async (response: Response) => [response.status, JSON.parse(await response.text()).error_description]

  it('goes from the consent page to the revocation', async () => {
    for (const issuerPath of ['', '/deep']) {
      const issuer = ISSUER + issuerPath
      const { test, handler } = await made({ issuer })
      const send: Send = async ({ method = 'GET', path, headers: sent = {}, body }) => {
        const init = { method, headers: sent, ...(body !== undefined && { body: String(body) }) }
        const request = new Request(ISSUER + path, init)
        const response =
          path === '/api'
            ? toResponse(apiAnswer(await test.server.authenticate(request, { scope: 'repo-code:r' })))
            : await handler(request)
        return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
      }
      await walk({ send, issuer, issuerPath, metadataPath: `/.well-known/oauth-authorization-server${issuerPath}` })
    }
  })

  it('gives the server the request itself, for the session of the host', async () => {
    const seen: unknown[] = []
    const { handler } = await made({ user: ({ native }) => void seen.push(native) })
    const whole = new Request(`${ISSUER}/oauth2/auth?client_id=web&response_type=code`)
    expect((await handler(whole)).status).toBe(302)
    expect(seen[0]).toBe(whole)
  })

  it('answers another path with 404, and does not touch its body', async () => {
    const { handler } = await made()
    const request = new Request(`${ISSUER}/elsewhere`, { method: 'POST', body: 'a=b' })
    expect((await handler(request)).status).toBe(404)
    expect(request.bodyUsed).toBe(false)
  })

  it.each([
    ['/oauth2/style.css', 200],
    ['http://git.example/oauth2/style.css', 200],
    ['/x/../oauth2/style.css', 404],
    ['http://git.example/x/../oauth2/style.css', 404],
    ['http://git.example/%2e/oauth2/style.css', 404],
    ['http://git.example/oauth2\\style.css', 404],
    ['http://git.example\\oauth2/style.css', 404],
    ['http://a b<>/oauth2/style.css', 404],
    ['http://[::1/oauth2/style.css', 404],
    ['http://a:99999/elsewhere', 404],
    ['', 404],
  ])(
    '[50] answers the address %j, which a platform may make of an odd Host, and routers take as it is',
    async (url, status) => {
      const { handler, test } = await made()
      const request = Object.defineProperty(new Request(ISSUER), 'url', { value: url })
      expect((await handler(request)).status).toBe(status)
      const guard = createFetchGuard(test.server)({}, () => expect.fail('let in'))
      expect((await guard(request)).status).toBe(401)
    },
  )

  it('[47] reads a body no further than its limit, and lets go of it', async () => {
    const { handler } = await made()
    let pulled = 0
    let cancelled = false
    const endless = bodyOfParts(
      (controller) => {
        pulled++
        controller.enqueue(new Uint8Array(10_000).fill(97))
      },
      () => {
        cancelled = true
      },
    )
    expect(await errorOf(await handler(posted(endless)))).toEqual([413, 'The body is too large.'])
    expect([pulled, cancelled]).toEqual([7, true])
    const request = new Request(TOKEN, {
      method: 'POST',
      headers: { ...headers, 'content-length': '65537' },
      body: 'a=b',
    })
    expect(await errorOf(await handler(request))).toEqual([413, 'The body is too large.'])
    expect(request.bodyUsed).toBe(false)
  })

  it('[49] answers a request whose body breaks off, was taken, is locked or is not there, and the next one', async () => {
    const { handler, test } = await made()
    let parts = 0
    const cut = bodyOfParts((controller) => {
      if (parts++ < 2) controller.enqueue(new TextEncoder().encode('grant_type='))
      else controller.error(new Error('the connection was reset'))
    })
    const taken = posted('grant_type=refresh_token')
    await taken.text()
    const locked = posted('grant_type=refresh_token')
    locked.body?.getReader()
    const missing = new Request(TOKEN, { method: 'POST', headers })
    for (const request of [posted(cut), taken, locked])
      expect(await errorOf(await handler(request))).toEqual([400, 'The body is missing.'])
    expect((await handler(missing)).status).toBe(400)
    expect(test.errors).toEqual([])
    expect((await handler(posted('grant_type=other'))).status).toBe(400)
  })

  it.each<[string, unknown]>([
    ['a string', 'grant_type=other'],
    ['an ArrayBuffer', new TextEncoder().encode('grant_type=other').buffer],
    ['a DataView', new DataView(new ArrayBuffer(4))],
    ['an array of wider numbers', new Uint16Array([97, 61])],
    ['an array of signed numbers', new Int8Array([97, 61])],
    ['a list', [97, 61]],
    ['a number', 5],
    ['null', null],
    ['undefined', undefined],
    ['an object with a length', { length: -5 }],
  ])('[50] answers 500 and tells the host where a piece of a body is no bytes: %s', async (_name, piece) => {
    for (const before of [0, 1]) {
      const { handler, test } = await made()
      let parts = 0
      const body = bodyOfParts((controller) => {
        if (parts++ < before) controller.enqueue(new TextEncoder().encode('grant_type=other&'))
        else if (parts === before + 1)
          controller.enqueue(piece as Uint8Array) // as a stream of the host may give
        else controller.close()
      })
      const answer = await handler(posted(body))
      expect([answer.status, JSON.parse(await answer.text()).error]).toEqual([500, 'server_error'])
      expect(test.errors.splice(0)).toMatchObject([{ message: expect.stringContaining('must give a Uint8Array') }])
      expect((await handler(posted('grant_type=other'))).status).toBe(400)
    }
  })

  it('takes bytes of another realm, and of an array that is a part of a larger one', async () => {
    const { handler } = await made()
    const foreign: unknown = runInNewContext('new Uint8Array([103, 114, 97, 110, 116, 95])')
    const pieces = [foreign as Uint8Array, Buffer.from('xtype=other').subarray(1)] // what it is where it comes from
    const body = bodyOfParts((controller) => {
      const piece = pieces.shift()
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    })
    expect(JSON.parse(await (await handler(posted(body))).text()).error).toBe('unsupported_grant_type')
  })

  it('reads text that is cut inside a character as what it is', async () => {
    const { handler } = await made()
    const bytes = new TextEncoder().encode('grant_type=ü')
    let at = 0
    const body = bodyOfParts((controller) => {
      if (at < bytes.length) controller.enqueue(bytes.slice(at, ++at))
      else controller.close()
    })
    expect((await handler(posted(body))).status).toBe(400)
    const marked = posted('\ufeffgrant_type=refresh_token&refresh_token=a')
    expect(await errorOf(await handler(marked))).toEqual([400, 'A parameter name is not well-formed.'])
  })

  it('makes a response of what the guard answers', async () => {
    const { test } = await made()
    const request = new Request(`${ISSUER}/api`, { headers: { authorization: 'Bearer none' } })
    const found = await test.server.authenticate(request)
    const response = toResponse(apiAnswer(found))
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })
})
