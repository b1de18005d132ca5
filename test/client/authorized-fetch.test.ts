/**
 * `fetch` with the user's token, against APIs over HTTP: what they get to see, and what the caller gets where they refuse it.
 * @module
 */
import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Tokens } from 'grantwell/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { ClientError } from '../../src/client/errors.js'
import { type AuthorizedFetchOptions, authorizedFetch } from '../../src/client/fetch/authorized-fetch.js'
import { tokensOf } from '../../src/client/token-endpoint.js'
import { memoryTokenStore } from '../../src/client/tokens/memory-token-store.js'
import { createTokenSource, type TokenSource } from '../../src/client/tokens/token-source.js'
import { eventually, type Listening, listen } from '../adapters/http.js'
import { authorize, exchange, registration, revoke, START } from '../support.js'
import { openService, type Service, thrownBy } from './service.js'
import { clientOf, loggedIn, many, requestsTo } from './sources.js'

type Body = NonNullable<RequestInit['body']>

const misused = (message: RegExp): unknown =>
  expect.objectContaining({ code: 'ERR_CONFIGURATION', message: expect.stringMatching(message) })

/** A request as an API has got it. */
interface Got {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** An API that writes down what it gets. */
interface Api extends Listening {
  readonly got: Got[]
  /** Sends the answer; 200 by default. */
  answer: (got: Got, response: ServerResponse) => void
}

async function openApi(): Promise<Api> {
  const got: Got[] = []
  const listening = await listen(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const { method = '', url = '', headers } = request
    const one = { method, url, headers, body: Buffer.concat(parts).toString('latin1') }
    got.push(one)
    api.answer(one, response)
  })
  const api: Api = { ...listening, got, answer: (_, response) => void response.end('fine') }
  return api
}

let api: Api
let other: Api
beforeEach(async () => {
  api = await openApi()
  other = await openApi()
})
afterEach(() => Promise.all([api.close(), other.close()]))

/** A source that gives what it is told to. */
interface MadeUpSource extends TokenSource {
  readonly calls: string[]
}

/** Bearer tokens `token-1`, `token-2`, and so on: another one for each refresh. */
function madeUpSource(of: (number: number) => Tokens = bearer): MadeUpSource {
  const calls: string[] = []
  let number = 1
  return {
    issuer: api.origin,
    calls,
    get: async () => {
      calls.push('get')
      return of(number)
    },
    refresh: async (stale) => {
      calls.push(`refresh ${stale.accessToken}`)
      return of(++number)
    },
    save: async () => expect.fail('nothing to save'),
    revoke: async () => expect.fail('nothing to revoke'),
  }
}

const base = { v: 1, issuer: 'https://git.example', clientId: 'tool', issuedAt: START } as const
const bearer = (number: number): Tokens => ({ ...base, accessToken: `token-${number}`, tokenType: 'bearer' })
const mac = (number: number): Tokens => ({
  ...base,
  accessToken: `token-${number}`,
  tokenType: 'mac',
  macKey: `key ${number}: ~`,
  macAlgorithm: 'hmac-sha-256',
})

/** Refuses `token-1`, or all tokens. */
function refuse(all = false): void {
  api.answer = ({ headers }, response) => {
    response.statusCode = all || headers.authorization === 'Bearer token-1' ? 401 : 200
    response.end(String(headers.authorization))
  }
}

const authorizations = ({ got }: Api): unknown[] => got.map(({ headers }) => headers.authorization)

describe('at a real service', () => {
  let service: Service
  let source: TokenSource
  let first: Tokens
  beforeAll(async () => {
    service = await openService()
  })
  afterAll(() => service.close())
  beforeEach(async () => {
    const client = await clientOf(service)
    first = await loggedIn(service, client)
    source = createTokenSource({ client, store: memoryTokenStore(first) })
    api.answer = async ({ headers }, response) => {
      const found = await service.test.server.authenticate({ headers }, { scope: 'repo-code:r' })
      response.statusCode = found.type === 'authenticated' ? 200 : found.response.status
      response.end(found.type === 'authenticated' ? found.subject : found.response.body)
    }
  })

  it('a token that was revoked alone is refreshed once for 1,000 concurrent requests', async () => {
    const authorized = authorizedFetch(source, { origins: [api.origin] })
    expect(await (await authorized(`${api.origin}/user`)).text()).toBe('ada')
    await revoke(service.test, first.accessToken)
    const requests = requestsTo(service)
    const answers = await many(1000, async () => (await authorized(`${api.origin}/user`)).text())
    expect(new Set(answers)).toEqual(new Set(['ada']))
    expect(requests()).toBe(1)
  })

  it('a mac token is taken, each request once', async () => {
    const strict = await openService({ macTokens: true, derivationKey: new Uint8Array(32).fill(7) })
    try {
      const credentials = { clientId: 'signing', clientSecret: 'a-secret-of-the-signing-application' }
      await strict.test.server.applications.register(registration({ name: 'Signing', tokenType: 'mac' }), credentials)
      const client = await clientOf(strict, { ...credentials, clock: () => Date.now() / 1000 })
      strict.test.clock.now = Math.floor(Date.now() / 1000)
      const { code } = await authorize(strict.test, { client_id: 'signing' })
      const { body } = await exchange(strict.test, code, {}, credentials)
      const tokens = tokensOf(client, { ...body, token_type: 'mac' }, {})
      const verdicts: string[] = []
      api.answer = async ({ headers, method, url }, response) => {
        const found = await strict.test.server.authenticate({ headers, method, url }, { scope: 'repo-code:r' })
        verdicts.push(found.type)
        // What was taken once is not taken again.
        verdicts.push((await strict.test.server.authenticate({ headers: { ...headers }, method, url })).type)
        response.writeHead(found.type === 'authenticated' ? 200 : 401).end()
      }
      const authorized = authorizedFetch(createTokenSource({ client, store: memoryTokenStore(tokens) }), {
        origins: [api.origin],
      })
      const answer = await authorized(`${api.origin}/a%20b?c=d`, { method: 'PUT', body: 'text' })
      expect([answer.status, ...verdicts]).toEqual([200, 'authenticated', 'refused'])
    } finally {
      await strict.close()
    }
  })

  it('a grant that was revoked is the source’s error, without a second request to the API', async () => {
    const authorized = authorizedFetch(source, { origins: [api.origin] })
    await authorized(api.origin)
    await revoke(service.test, first.refreshToken ?? '')
    expect(await thrownBy(authorized(api.origin))).toMatchObject({ code: 'ERR_AUTHORIZATION_REQUIRED' })
    expect(await thrownBy(authorized(api.origin))).toMatchObject({ code: 'ERR_AUTHORIZATION_REQUIRED' })
    expect(api.got).toHaveLength(2)
  })
})

describe('a request', () => {
  it('has the token, and all else that the caller gave it', async () => {
    const authorized = authorizedFetch(madeUpSource())
    const init = { method: 'PUT', headers: { 'X-Mine': 'yes' }, body: 'text' }
    const answer = await authorized(`${api.origin}/a/b?c=d#e`, init)
    expect([answer.status, await answer.text()]).toEqual([200, 'fine'])
    expect(api.got).toMatchObject([{ method: 'PUT', url: '/a/b?c=d', body: 'text' }])
    expect(api.got[0]?.headers).toMatchObject({ authorization: 'Bearer token-1', 'x-mine': 'yes' })
    expect(init).toEqual({ method: 'PUT', headers: { 'X-Mine': 'yes' }, body: 'text' })
  })

  it('may be a string, a URL or a Request', async () => {
    const authorized = authorizedFetch(madeUpSource())
    for (const input of [api.origin, new URL(api.origin), new Request(api.origin, { headers: { 'X-Mine': 'yes' } })])
      expect((await authorized(input)).status).toBe(200)
    expect(authorizations(api)).toEqual(Array(3).fill('Bearer token-1'))
    expect(api.got[2]?.headers).toMatchObject({ 'x-mine': 'yes' })
  })

  it('has no fragment, whatever it was given as, and all else that a Request says', async () => {
    const sent: (readonly [url: string, method: string, mine: string | null, body: string])[] = []
    const fetch = async (input: Parameters<typeof globalThis.fetch>[0], init?: RequestInit): Promise<Response> => {
      const request = new Request(input, init)
      sent.push([request.url, request.method, request.headers.get('x-mine'), await request.text()])
      return new Response('', { status: sent.length % 2 === 0 ? 200 : 401 })
    }
    const address = `${api.origin}/a?b#c`
    const options = { method: 'PUT', headers: { 'X-Mine': 'yes' }, body: 'text' }
    for (const [input, init] of [
      [address, options],
      [new URL(address), options],
      [new Request(address, options), undefined],
      [new Request(address), options],
    ] as const) {
      sent.length = 0
      // The second time with another token.
      await authorizedFetch(madeUpSource(), { fetch })(input, init)
      expect(sent).toEqual(Array(2).fill([`${api.origin}/a?b`, 'PUT', 'yes', 'text']))
    }
  })

  it('goes by the caller’s fetch, as the caller wrote it', async () => {
    const fetch = vi.fn(async (_input: unknown, _init?: RequestInit) => new Response('mine'))
    const authorized = authorizedFetch(madeUpSource(), { fetch })
    const body = new URLSearchParams({ a: 'b' })
    const extra: object = { dispatcher: 'mine' }
    expect(await (await authorized(`${api.origin}/`, { method: 'POST', body, ...extra })).text()).toBe('mine')
    const [input, init] = fetch.mock.calls[0] ?? []
    expect(input).toBe(`${api.origin}/`)
    expect(init).toMatchObject({ method: 'POST', body, dispatcher: 'mine' })
    expect(Object.fromEntries(new Headers(init?.headers))).toEqual({ authorization: 'Bearer token-1' })
  })

  class Options {
    get method() {
      return 'PUT'
    }
    get body() {
      return 'text'
    }
    get headers() {
      return { 'X-Mine': 'yes' }
    }
  }
  const json = { method: 'POST', headers: { 'X-Mine': 'yes', 'Content-Type': 'application/json' }, body: '{}' }
  it.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['null', () => null],
    ['a Request', () => new Request(api.origin, { method: 'DELETE', headers: { 'X-Mine': 'yes' } })],
    ['a Request with a body', () => new Request(api.origin, json)],
    ['an object with a prototype', () => Object.create(json)],
    ['an object of a class', () => new Options()],
    ['an object without a prototype', () => Object.assign(Object.create(null), json)],
    ['a function', () => Object.assign(() => {}, json)],
    [
      'members that nobody lists',
      () => Object.defineProperties({}, { method: { value: 'PUT' }, body: { value: 'a' } }),
    ],
  ])('takes as options what fetch takes, as fetch takes it: %s', async (_, make) => {
    const authorized = authorizedFetch(madeUpSource())
    for (const send of [fetch, authorized])
      expect((await send(`${api.origin}/a`, make() as RequestInit)).status).toBe(200)
    const [plain, sent] = api.got.map(({ headers: { authorization, ...headers }, ...rest }) => ({ ...rest, headers }))
    expect(sent).toEqual(plain)
    expect(api.got[1]?.headers.authorization).toBe('Bearer token-1')
  })

  it.each([0, 'GET', true])('has options that are an object: %j is none', async (options) => {
    for (const send of [fetch, authorizedFetch(madeUpSource())])
      expect(await thrownBy(send(api.origin, options as unknown as RequestInit))).toBeInstanceOf(TypeError)
    expect(api.got).toEqual([])
  })

  it('has each of its options read once, so that what is checked is what is sent', async () => {
    const read: string[] = []
    const options = new Proxy(json, {
      get: (target, name, receiver) => {
        read.push(String(name))
        return Reflect.get(target, name, receiver)
      },
    })
    await authorizedFetch(madeUpSource())(api.origin, options)
    expect(read.filter((name, index) => read.indexOf(name) !== index)).toEqual([])
    expect(read).toContain('method')
  })

  it('has no signal where null stands for that of its Request', async () => {
    const input = new Request(api.origin, { signal: AbortSignal.abort() })
    expect((await authorizedFetch(madeUpSource())(input, { signal: null })).status).toBe(200)
  })

  it('with an Authorization of its own is refused', async () => {
    const source = madeUpSource()
    const authorized = authorizedFetch(source)
    const headers = { AUTHORIZATION: 'Basic eDp5' }
    for (const call of [authorized(api.origin, { headers }), authorized(new Request(api.origin, { headers }))])
      expect(await thrownBy(call)).toEqual(misused(/has an Authorization header of its own/))
    expect([source.calls, api.got]).toEqual([[], []])
  })

  it('that is none is what fetch says', async () => {
    const authorized = authorizedFetch(madeUpSource())
    expect(await thrownBy(authorized('/relative'))).toBeInstanceOf(TypeError)
    expect(await thrownBy(authorized(api.origin, { method: 'TRACE' }))).toBeInstanceOf(TypeError)
    expect(await thrownBy(authorized(api.origin, { body: 'of a GET' }))).toBeInstanceOf(TypeError)
  })

  it('ends by its signal, also while the source is asked', async () => {
    const source = madeUpSource()
    const reason = new Error('enough')
    const controller = new AbortController()
    const get: TokenSource['get'] = (options) =>
      new Promise((_, reject) => {
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason))
        controller.abort(reason)
      })
    const waiting = { ...source, get }
    expect(await thrownBy(authorizedFetch(waiting)(api.origin, { signal: controller.signal }))).toBe(reason)
    expect(await thrownBy(authorizedFetch(source)(api.origin, { signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(api.got).toEqual([])
  })
})

describe('a token goes to no other origin', () => {
  it.each(['https://api.example', 'https://127.0.0.1:1', 'http://localhost:1', 'http://api.example'])(
    'than the issuer’s: not to %s',
    async (origin) => {
      const source = madeUpSource()
      expect(await thrownBy(authorizedFetch(source)(`${origin}/x`))).toEqual(
        misused(/the option origins does not contain it$/),
      )
      expect(await thrownBy(authorizedFetch(source)(new Request(origin)))).toEqual(misused(/may not go to/))
      expect(source.calls).toEqual([])
    },
  )

  it('were the address changed while the source is asked', async () => {
    const address = new URL(`${api.origin}/x`)
    const init = { method: 'PUT', body: 'text' }
    const answer = authorizedFetch(madeUpSource())(address, init)
    address.href = `${other.origin}/y`
    init.method = 'DELETE'
    expect((await answer).status).toBe(200)
    expect([api.got, other.got]).toMatchObject([[{ method: 'PUT', url: '/x', body: 'text' }], []])
  })

  it('than those that the caller names', async () => {
    const authorized = authorizedFetch(madeUpSource(), { origins: [other.origin] })
    await authorized(`${other.origin}/x`)
    await authorized(`${api.origin}/y`)
    expect([...authorizations(other), ...authorizations(api)]).toEqual(['Bearer token-1', 'Bearer token-1'])
  })

  it.each<[unknown, RegExp]>([
    ['https://api.example', /the option origins must be a list of origins .+; got "https:\/\/api\.example"$/],
    [['https://api.example/'], /must be an origin such as https:\/\/api\.example; got "https:\/\/api\.example\/"$/],
    [['https://api.example/v1'], /must be an origin/],
    [['api.example'], /must be an origin/],
    [['https://user@api.example'], /must be an origin/],
    [['null'], /must be an origin/],
    [['http://api.example'], /where others on the network could read it/],
    [['ws://127.0.0.1'], /where others on the network could read it/],
    [[3], /the option origins must be .+; got an array of 1$/],
  ])('and what is no origin is refused: %j', (origins, message) => {
    const options = { origins } as AuthorizedFetchOptions
    expect(() => authorizedFetch(madeUpSource(), options)).toThrow(misused(message))
  })

  it('nor over http off loopback, were it the issuer’s', () => {
    const source = { ...madeUpSource(), issuer: 'http://git.example/path' }
    expect(() => authorizedFetch(source)).toThrow(misused(/may not go to http:\/\/git\.example,/))
  })

  it.each([301, 302, 303, 307, 308])('when the API redirects there by %i', async (status) => {
    const source = madeUpSource()
    other.answer = (_, response) => void response.writeHead(401).end('who are you?')
    api.answer = (_, response) => void response.writeHead(status, { Location: `${other.origin}/there` }).end()
    const answer = await authorizedFetch(source)(`${api.origin}/here`)
    expect([answer.status, await answer.text()]).toEqual([401, 'who are you?'])
    expect(other.got.map(({ url, headers }) => [url, headers.authorization])).toEqual([['/there', undefined]])
    // That answer says nothing of the token.
    expect(source.calls).toEqual(['get'])
  })
})

describe('after a 401', () => {
  it('the request is sent once more, with other tokens', async () => {
    refuse()
    const source = madeUpSource()
    const answer = await authorizedFetch(source)(`${api.origin}/x?y`, {
      method: 'DELETE',
      headers: { 'X-Mine': 'yes' },
    })
    expect([answer.status, await answer.text()]).toEqual([200, 'Bearer token-2'])
    expect(source.calls).toEqual(['get', 'refresh token-1'])
    expect(authorizations(api)).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(api.got).toMatchObject(Array(2).fill({ method: 'DELETE', url: '/x?y' }))
    expect(api.got.map(({ headers }) => headers['x-mine'])).toEqual(['yes', 'yes'])
  })

  it('a second one is the caller’s', async () => {
    refuse(true)
    const source = madeUpSource()
    const answer = await authorizedFetch(source)(api.origin)
    expect([answer.status, await answer.text()]).toEqual([401, 'Bearer token-2'])
    expect(source.calls).toEqual(['get', 'refresh token-1'])
  })

  it.each([400, 403, 404, 500])('and after no other status: %i', async (status) => {
    api.answer = (_, response) => void response.writeHead(status).end('no')
    const source = madeUpSource()
    expect((await authorizedFetch(source)(api.origin)).status).toBe(status)
    expect(source.calls).toEqual(['get'])
  })

  it('what the source throws is what the caller gets', async () => {
    refuse()
    const error = new Error('nothing more')
    const source = { ...madeUpSource(), refresh: () => Promise.reject(error) }
    expect(await thrownBy(authorizedFetch(source)(api.origin))).toBe(error)
    const none = { ...source, get: () => Promise.reject(error) }
    expect(await thrownBy(authorizedFetch(none)(api.origin))).toBe(error)
  })

  it('the API’s answer is the caller’s where the service cannot be reached', async () => {
    refuse()
    const error = new ClientError('ERR_UNREACHABLE', 'the service is busy')
    const source = { ...madeUpSource(), refresh: () => Promise.reject(error) }
    const answer = await authorizedFetch(source)(api.origin)
    expect([answer.status, await answer.text()]).toEqual([401, 'Bearer token-1'])
  })

  describe('again and again', () => {
    afterEach(() => vi.restoreAllMocks())

    it('it costs one refresh a minute, however many call, and by however many functions', async () => {
      refuse(true)
      let passed = 0
      const real = performance.now.bind(performance)
      vi.spyOn(performance, 'now').mockImplementation(() => real() + passed * 1000)
      const source = madeUpSource()
      for (let time = 1; time <= 3; time++) {
        for (let call = 0; call < 10; call++) expect((await authorizedFetch(source)(api.origin)).status).toBe(401)
        expect(source.calls.filter((each) => each !== 'get')).toHaveLength(time)
        expect(authorizations(api).at(-1)).toBe(`Bearer token-${time + 1}`)
        passed += 61
      }
    })

    it('it costs one refresh, where bodies are streams', async () => {
      refuse(true)
      const source = madeUpSource()
      for (let call = 0; call < 5; call++) {
        const init = { method: 'POST', body: new Response('text').body, duplex: 'half' } as const
        expect((await authorizedFetch(source)(api.origin, init)).status).toBe(401)
      }
      expect(source.calls.filter((each) => each !== 'get')).toEqual(['refresh token-1'])
    })

    it('tokens that worked in between are refreshed', async () => {
      let dead = ['token-1']
      api.answer = ({ headers }, response) => {
        response.statusCode = dead.some((each) => headers.authorization === `Bearer ${each}`) ? 401 : 200
        response.end()
      }
      const authorized = authorizedFetch(madeUpSource())
      expect((await authorized(api.origin)).status).toBe(200)
      dead = ['token-2']
      expect((await authorized(api.origin)).status).toBe(200)
      dead = ['token-3', 'token-4']
      expect((await authorized(api.origin)).status).toBe(401)
      // Others that somebody has got meanwhile have not been tried.
      dead = []
      expect((await authorized(api.origin)).status).toBe(200)
    })

    it('tokens that are refused twice are not asked for anew because another address takes them', async () => {
      const source = madeUpSource()
      const authorized = authorizedFetch(source)
      api.answer = async ({ url, headers }, response) => {
        const isOpen = url === '/open'
        if (!isOpen && headers.authorization === 'Bearer token-2') await authorized(`${api.origin}/open`)
        response.writeHead(isOpen ? 200 : 401).end()
      }
      for (let call = 0; call < 5; call++) expect((await authorized(`${api.origin}/closed`)).status).toBe(401)
      expect(source.calls.filter((each) => each !== 'get')).toEqual(['refresh token-1'])
    })

    it('a real service is asked once', async () => {
      const service = await openService()
      try {
        const client = await clientOf(service)
        const source = createTokenSource({ client, store: memoryTokenStore(await loggedIn(service, client)) })
        api.answer = (_, response) => void response.writeHead(401).end('never')
        const requests = requestsTo(service)
        for (let call = 0; call < 30; call++) {
          const answer = await authorizedFetch(source, { origins: [api.origin] })(api.origin)
          expect([answer.status, await answer.text()]).toEqual([401, 'never'])
        }
        expect(requests()).toBe(1)
      } finally {
        await service.close()
      }
    })
  })

  it('its body is let go', async () => {
    let closed = false
    api.answer = ({ headers }, response) => {
      if (headers.authorization !== 'Bearer token-1') response.end('fine')
      // It never ends by itself.
      else
        response
          .writeHead(401)
          .on('close', () => (closed = true))
          .write('no, ')
    }
    expect(await (await authorizedFetch(madeUpSource())(api.origin)).text()).toBe('fine')
    await eventually(() => closed)
  })

  const bytes = new TextEncoder().encode('some bytes')
  const form = new FormData()
  form.set('field', 'value')
  form.set('file', new Blob(['content']), 'name.txt')
  const bodies: [string, () => Body, RegExp, RegExp][] = [
    ['a string', () => 'täxt', /^text\/plain/, /^t\xc3\xa4xt$/],
    ['URLSearchParams', () => new URLSearchParams({ a: 'b c' }), /^application\/x-www-form-urlencoded/, /^a=b\+c$/],
    [
      'FormData',
      () => form,
      /^multipart\/form-data; boundary=/,
      /name="field"\r\n\r\nvalue\r\n[\s\S]*filename="name.txt"[\s\S]*content\r\n/,
    ],
    ['a Blob', () => new Blob(['blob'], { type: 'image/png' }), /^image\/png$/, /^blob$/],
    ['an ArrayBuffer', () => bytes.slice().buffer, /^undefined$/, /^some bytes$/],
    ['a typed array', () => bytes, /^undefined$/, /^some bytes$/],
    ['a DataView', () => new DataView(bytes.buffer, 5), /^undefined$/, /^bytes$/],
  ]

  it.each(bodies)('the body is sent again: %s', async (_, body, type, text) => {
    refuse()
    const authorized = authorizedFetch(madeUpSource())
    expect((await authorized(api.origin, { method: 'POST', body: body() })).status).toBe(200)
    expect((await authorized(new Request(api.origin, { method: 'POST' }), { body: body() })).status).toBe(200)
    expect(api.got).toHaveLength(3)
    for (const got of api.got) {
      expect(String(got.headers['content-type'])).toMatch(type)
      expect(got.body).toMatch(text)
    }
  })

  it.each(bodies)('the body of a Request is sent again: %s', async (_, body, type, text) => {
    refuse()
    const request = new Request(api.origin, { method: 'POST', body: body(), headers: { 'X-Mine': 'yes' } })
    expect((await authorizedFetch(madeUpSource())(request)).status).toBe(200)
    expect(api.got).toHaveLength(2)
    for (const got of api.got) {
      expect(got.method).toBe('POST')
      expect(got.headers['x-mine']).toBe('yes')
      expect(String(got.headers['content-type'])).toMatch(type)
      expect(got.body).toMatch(text)
    }
    expect(request.bodyUsed).toBe(true)
  })

  it('a Request whose answer was good is used up, as by fetch', async () => {
    const request = new Request(api.origin, { method: 'POST', body: 'text' })
    expect((await authorizedFetch(madeUpSource())(request)).status).toBe(200)
    expect(request.bodyUsed).toBe(true)
    expect(api.got).toMatchObject([{ body: 'text' }])
    expect(await thrownBy(authorizedFetch(madeUpSource())(request))).toBeInstanceOf(TypeError)
  })

  it('a Request that was not sent is the caller’s still', async () => {
    const request = new Request(api.origin, { method: 'POST', body: 'text' })
    const source = madeUpSource()
    const none = { ...source, get: () => Promise.reject(new Error('nothing')) }
    await thrownBy(authorizedFetch(none)(request))
    expect(request.bodyUsed).toBe(false)
    expect((await authorizedFetch(source)(request)).status).toBe(200)
    expect(api.got).toMatchObject([{ body: 'text' }])
  })

  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield bytes
    yield bytes
  }
  it.each([
    ['a stream', () => ReadableStream.from(pieces())],
    ['an iterable', () => pieces() as unknown as Body],
  ])('a request whose body is %s is not sent again, but the next one has other tokens', async (_, body) => {
    refuse()
    const source = madeUpSource()
    const authorized = authorizedFetch(source)
    const init = { method: 'POST', body: body(), duplex: 'half' } as const
    const answer = await authorized(api.origin, init)
    expect([answer.status, await answer.text()]).toEqual([401, 'Bearer token-1'])
    expect(api.got).toMatchObject([{ body: 'some bytessome bytes' }])
    expect(source.calls).toEqual(['get', 'refresh token-1'])
    expect(await (await authorized(api.origin)).text()).toBe('Bearer token-2')
  })

  it('a refresh that fails for the next one is not an error of this one', async () => {
    refuse()
    const source = { ...madeUpSource(), refresh: () => Promise.reject(new Error('nothing more')) }
    const init = { method: 'POST', body: ReadableStream.from(pieces()), duplex: 'half' } as const
    expect((await authorizedFetch(source)(api.origin, init)).status).toBe(401)
  })
})

describe('a mac token', () => {
  /** Parses the attributes of the header. */
  function parse(authorization: unknown): Record<string, string> {
    const [, attributes = ''] = /^MAC (.*)$/.exec(String(authorization)) ?? []
    return Object.fromEntries(
      attributes.split(', ').map((each) => /^([a-z]+)="([^"\\]*)"$/.exec(each)?.slice(1) ?? ['?', each]),
    )
  }

  /** The draft's own recipe (section 3.2), written apart from the sources. */
  function expected(
    key: string,
    { ts, nonce }: Record<string, string>,
    method: string,
    uri: string,
    host: string,
    port: string,
  ): string {
    const lines = [ts, nonce, method, uri, host, port, '']
    return createHmac('sha256', Buffer.from(key, 'utf8'))
      .update(lines.map((line) => `${line}\n`).join(''))
      .digest('base64')
  }

  it.each([
    ['GET', '/'],
    ['get', '/a%20b/./c/../ä?x=1&y=%2F+z#fragment'],
    ['DELETE', '/?'],
    ['PATCH', '//double'],
  ])('signs %s %s as it is sent', async (method, address) => {
    const authorized = authorizedFetch(madeUpSource(mac))
    const before = Math.floor(Date.now() / 1000)
    await authorized(api.origin + address, { method })
    const [got] = api.got
    const attributes = parse(got?.headers.authorization)
    expect(Object.keys(attributes)).toEqual(['id', 'ts', 'nonce', 'mac'])
    expect(attributes['id']).toBe('token-1')
    expect(Number(attributes['ts'])).toBeGreaterThanOrEqual(before)
    expect(Number(attributes['ts'])).toBeLessThanOrEqual(Date.now() / 1000)
    const port = String(api.port)
    expect(got?.headers.host).toBe(`127.0.0.1:${port}`)
    const { method: sent = '', url = '' } = got ?? {}
    expect(attributes['mac']).toBe(expected('key 1: ~', attributes, sent.toUpperCase(), url, '127.0.0.1', port))
    expect(attributes['mac']).toMatch(/^[A-Za-z0-9+/]{43}=$/)
  })

  it.each([
    ['https://Api.Example/x', 'api.example', '443'],
    ['https://api.example:443/x', 'api.example', '443'],
    ['https://api.example:8443/x', 'api.example', '8443'],
    ['http://localhost/x', 'localhost', '80'],
    ['http://[::1]:8080/x', '[::1]', '8080'],
  ])('signs the host and port of %s', async (address, host, port) => {
    const sent: Headers[] = []
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      sent.push(new Headers(init?.headers))
      return new Response()
    }
    const authorized = authorizedFetch(madeUpSource(mac), { origins: [new URL(address).origin], fetch })
    await authorized(address)
    const attributes = parse(sent[0]?.get('authorization'))
    expect(attributes['mac']).toBe(expected('key 1: ~', attributes, 'GET', '/x', host, port))
  })

  it('is signed anew for each sending, with the key of its own', async () => {
    api.answer = ({ headers }, response) => {
      const isFirst = parse(headers.authorization)['id'] === 'token-1'
      response.writeHead(isFirst ? 401 : 200).end()
    }
    const authorized = authorizedFetch(madeUpSource(mac))
    for (let time = 0; time < 3; time++) expect((await authorized(`${api.origin}/x`)).status).toBe(200)
    const all = authorizations(api).map(parse)
    expect(all.map(({ id }) => id)).toEqual(['token-1', 'token-2', 'token-2', 'token-2'])
    expect(new Set(all.map(({ nonce }) => nonce)).size).toBe(4)
    for (const attributes of all) {
      const key = `key ${attributes['id']?.at(-1)}: ~`
      expect(attributes['mac']).toBe(expected(key, attributes, 'GET', '/x', '127.0.0.1', String(api.port)))
    }
  })

  it.each([301, 302, 303, 307, 308])(
    'is signed for no address that an answer leads to, which whoever stands between could have written: %i',
    async (status) => {
      const signed: unknown[] = []
      api.answer = ({ url, headers }, response) => {
        signed.push([url, headers.authorization !== undefined])
        if (url === '/') response.writeHead(status, { Location: '/repos/2' }).end()
        else if (url === '/repos/2') response.writeHead(status, { Location: '/' }).end()
        else response.writeHead(status, { Location: `${other.origin}/` }).end()
      }
      const authorized = authorizedFetch(madeUpSource(mac), { origins: [other.origin] })
      for (const init of [{}, { method: 'PUT', body: 'text' }]) {
        signed.length = 0
        await thrownBy(authorized(api.origin, init))
        expect(signed.slice(0, 3)).toEqual([
          ['/', true],
          ['/repos/2', false],
          ['/', false],
        ])
      }
      // Nor for another origin that may have signed requests.
      expect((await authorized(`${api.origin}/elsewhere`)).status).toBe(200)
      expect(other.got.map(({ headers }) => headers.authorization)).toEqual([undefined])
    },
  )

  it('is signed by the clock of the client', async () => {
    const service = await openService()
    try {
      const client = await clientOf(service, { clock: () => START + 0.5 })
      const tokens: Tokens = { ...mac(1), issuer: client.issuer, clientId: client.clientId }
      const source = createTokenSource({ client, store: memoryTokenStore(tokens) })
      // Also where somebody has made another source of it.
      for (const each of [source, { ...source }]) await authorizedFetch(each, { origins: [api.origin] })(api.origin)
      expect(authorizations(api).map((each) => parse(each)['ts'])).toEqual([String(START), String(START)])
    } finally {
      await service.close()
    }
  })

  describe('where the clock of the API says otherwise', () => {
    const AHEAD = 3600
    const MINE = START

    /** The recipe of `normalizedTime`, written apart from the sources. */
    function challenge({ id, ts, nonce }: Record<string, string>, told: number): string {
      const text = `grantwell mac time 1\n${told}\n${ts}\n${nonce}\n`
      const tsm = createHmac('sha256', `key ${id?.at(-1)}: ~`)
        .update(text)
        .digest('base64')
      return `MAC realm="oauth2", error="invalid_token", ts="${told}", tsm="${tsm}"`
    }

    /** Takes what is signed by its own clock, which is so many seconds ahead; tells its time so that it can be believed, or not. */
    function strict(ahead: number, isTold = true): void {
      api.answer = ({ headers }, response) => {
        const there = MINE + ahead
        response.setHeader('Date', new Date(there * 1000).toUTCString())
        const attributes = parse(headers.authorization)
        const { ts, id } = attributes
        if (isTold) response.setHeader('WWW-Authenticate', ['Bearer realm="other"', challenge(attributes, there)])
        response.writeHead(Math.abs(Number(ts) - there) < 30 || id === 'token-2' ? 200 : 401).end()
      }
    }

    /** A source whose client has a clock that stands still. */
    function timed(): MadeUpSource {
      const source = madeUpSource(mac)
      return Object.assign(source, { [Symbol.for('grantwell.client.clock')]: () => MINE })
    }

    it.each([AHEAD, -AHEAD, 31])('by %i seconds it is signed again by that one, and not refreshed', async (ahead) => {
      strict(ahead)
      const source = timed()
      const authorized = authorizedFetch(source)
      expect((await authorized(api.origin)).status).toBe(200)
      expect((await authorized(api.origin, { method: 'POST', body: 'text' })).status).toBe(200)
      // The second request has learnt from the first.
      const times = authorizations(api).map((each) => Number(parse(each)['ts']) - MINE)
      // By a stopwatch, which a busy machine lets run on.
      const near = expect.closeTo(ahead, -1.5)
      expect(times).toEqual([0, near, near])
      expect(source.calls).toEqual(['get', 'get'])
    })

    it('it is for the next request, where the body is a stream', async () => {
      strict(AHEAD)
      const source = timed()
      const body = new Response('text').body
      const init = { method: 'POST', body, duplex: 'half' } as const
      expect((await authorizedFetch(source)(api.origin, init)).status).toBe(401)
      expect((await authorizedFetch(source)(api.origin)).status).toBe(200)
      expect(source.calls).toEqual(['get', 'get'])
    })

    it('but with nothing that could be believed, it is refreshed as ever', async () => {
      strict(AHEAD, false)
      const source = timed()
      expect((await authorizedFetch(source)(api.origin)).status).toBe(200)
      expect(source.calls).toEqual(['get', 'refresh token-1'])
      expect(authorizations(api).map((each) => parse(each)['ts'])).toEqual([String(MINE), String(MINE)])
    })

    it('and the token is refused all the same, it is refreshed after that', async () => {
      api.answer = ({ headers }, response) => {
        const attributes = parse(headers.authorization)
        response.setHeader('WWW-Authenticate', challenge(attributes, MINE + AHEAD))
        response.writeHead(attributes['id'] === 'token-2' ? 200 : 401).end()
      }
      const source = timed()
      expect((await authorizedFetch(source)(api.origin)).status).toBe(200)
      expect(source.calls).toEqual(['get', 'refresh token-1'])
      expect(api.got).toHaveLength(3)
    })

    it('a bearer token does not mind', async () => {
      api.answer = (_, response) => {
        response.setHeader('WWW-Authenticate', challenge({ id: 'token-1' }, MINE + AHEAD))
        response.writeHead(401).end()
      }
      const source = madeUpSource()
      expect((await authorizedFetch(source)(api.origin)).status).toBe(401)
      expect(source.calls).toEqual(['get', 'refresh token-1'])
    })
  })
})

describe('a token that no header can hold', () => {
  it.each(['with space', 'with"quote', 'back\\slash', 'line\nbreak', 'ümlaut', ''])(
    'is not sent, nor told: %j',
    async (token) => {
      for (const of of [bearer, mac]) {
        const authorized = authorizedFetch(madeUpSource((number) => ({ ...of(number), accessToken: token })))
        const error = await thrownBy(authorized(api.origin))
        expect(error).toMatchObject({ code: 'ERR_RESPONSE' })
        expect(String(error).includes(token)).toBe(token === '')
      }
      expect(api.got).toEqual([])
    },
  )
})

describe('options', () => {
  it.each<[unknown, unknown]>([
    [undefined, undefined],
    [{}, undefined],
    [{ issuer: 'git.example', get: () => {} }, undefined],
    ['source', undefined],
    [null, undefined],
  ])('are refused: %j, %j', (source, options) => {
    expect(() => authorizedFetch(source as TokenSource, options as AuthorizedFetchOptions)).toThrow(
      misused(/authorizedFetch: the argument source must be a token source, .+; got ./),
    )
  })

  it('are refused: unknown ones, and a fetch that is none', () => {
    const source = madeUpSource()
    expect(() => authorizedFetch(source, { origin: [] } as AuthorizedFetchOptions)).toThrow(
      misused(/there is no option origin; did you mean origins\?/),
    )
    expect(() => authorizedFetch(source, { fetch: 'fetch' } as unknown as AuthorizedFetchOptions)).toThrow(
      misused(/fetch/),
    )
  })
})
