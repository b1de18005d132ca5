/**
 * Redirects of an API: where the token goes along, and what is sent, on a platform that would send every header everywhere.
 * @module
 * @see Fetch standard, "HTTP-redirect fetch"
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TokenSource, Tokens } from 'grantwell/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { authorizedFetch } from '../../src/client/fetch/authorized-fetch.js'
import { eventually, type Listening, listen } from '../adapters/http.js'
import { START } from '../support.js'
import { thrownBy } from './service.js'

/** Bearer tokens `token-1`, `token-2`, and so on. */
function sourceOf(issuer: string): TokenSource & { readonly refreshed: string[] } {
  const refreshed: string[] = []
  const tokens = (number: number): Tokens => ({
    v: 1,
    issuer,
    clientId: 'tool',
    issuedAt: START,
    accessToken: `token-${number}`,
    tokenType: 'bearer',
  })
  return {
    issuer,
    refreshed,
    get: async () => tokens(refreshed.length + 1),
    refresh: async ({ accessToken }) => {
      refreshed.push(accessToken)
      return tokens(refreshed.length + 1)
    },
    save: async () => expect.fail('nothing to save'),
    revoke: async () => expect.fail('nothing to revoke'),
  }
}

/** A request that the platform was asked to send. */
interface Sent {
  readonly url: string
  readonly method: string
  readonly authorization: string | null
  readonly headers: Headers
  readonly body: string
  readonly redirect: string
}

/**
 * A platform that keeps every header wherever a redirect leads to, as some do. Its web is a list of redirects by address.
 */
function careless(web: Readonly<Record<string, Response>>): { readonly fetch: typeof fetch; readonly sent: Sent[] } {
  const sent: Sent[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    let request = new Request(input, init)
    const { redirect } = request
    for (;;) {
      const { url, method, headers } = request
      const kept = request.clone()
      const authorization = headers.get('authorization')
      sent.push({ url, method, authorization, headers: new Headers(headers), body: await request.text(), redirect })
      const answer = web[url]?.clone() ?? new Response('fine')
      const location = answer.headers.get('location')
      if (redirect !== 'follow' || location === null) return answer
      request = new Request(new URL(location, url), kept)
    }
  }
  return { fetch, sent }
}

const to = (location: string, status = 302): Response => new Response(null, { status, headers: { Location: location } })

const ISSUER = 'https://git.example'
const API = 'https://api.example'
const EVIL = 'https://evil.example'

const tokensOf = (sent: readonly Sent[]): unknown[] => sent.map(({ url, authorization }) => [url, authorization])

describe('on a platform that keeps every header', () => {
  it.each([301, 302, 303, 307, 308])('the token does not go to another origin by %i', async (status) => {
    const { fetch, sent } = careless({ [`${ISSUER}/here`]: to(`${EVIL}/there`, status) })
    const answer = await authorizedFetch(sourceOf(ISSUER), { fetch })(`${ISSUER}/here`)
    expect([await answer.text(), answer.redirected]).toEqual(['fine', true])
    expect(tokensOf(sent)).toEqual([
      [`${ISSUER}/here`, 'Bearer token-1'],
      [`${EVIL}/there`, null],
    ])
  })

  it('nor from there back to one that may have it', async () => {
    const { fetch, sent } = careless({
      [`${ISSUER}/1`]: to(`${API}/2`),
      [`${API}/2`]: to(`${EVIL}/3`),
      [`${EVIL}/3`]: to(`${ISSUER}/4`),
      [`${ISSUER}/4`]: to(`${API}/5`),
      [`${API}/5`]: new Response('who?', { status: 401 }),
    })
    const source = sourceOf(ISSUER)
    const answer = await authorizedFetch(source, { fetch, origins: [API] })(`${ISSUER}/1`)
    expect(answer.status).toBe(401)
    expect(tokensOf(sent)).toEqual([
      [`${ISSUER}/1`, 'Bearer token-1'],
      [`${API}/2`, 'Bearer token-1'],
      [`${EVIL}/3`, null],
      [`${ISSUER}/4`, null],
      [`${API}/5`, null],
    ])
    expect(source.refreshed).toEqual([])
  })

  it('nor do other headers that are meant for one origin', async () => {
    const { fetch, sent } = careless({ [`${ISSUER}/1`]: to(`${ISSUER}/2`), [`${ISSUER}/2`]: to(`${API}/3`) })
    const headers = { Cookie: 'a=b', 'Proxy-Authorization': 'Basic eDp5', 'X-Mine': 'yes' }
    await authorizedFetch(sourceOf(ISSUER), { fetch, origins: [API] })(`${ISSUER}/1`, { headers })
    const seen = sent.map((each) => [...each.headers.keys()])
    const all = ['authorization', 'cookie', 'proxy-authorization', 'x-mine']
    expect(seen).toEqual([all, all, ['authorization', 'x-mine']])
  })

  it.each([
    ['http://git.example/there', /where others could read along$/],
    ['http://10.0.0.1/', /where others could read along$/],
    ['ftp://git.example/', /none of the web$/],
    ['data:text/plain,hello', /none of the web$/],
    ['https://', /none of the web$/],
    ['https://user:word@git.example/', /with a user in it$/],
  ])('none is followed to %s', async (location, message) => {
    const { fetch, sent } = careless({ [`${ISSUER}/here`]: to(location) })
    const error = await thrownBy(authorizedFetch(sourceOf(ISSUER), { fetch })(`${ISSUER}/here`))
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toMatch(message)
    expect(sent).toHaveLength(1)
  })

  it('none is followed to an address of more than 8192 bytes', async () => {
    const [short, long] = [8192, 8193].map((length) => `${ISSUER}/`.padEnd(length, 'a'))
    const { fetch } = careless({ [`${ISSUER}/1`]: to(short ?? ''), [`${ISSUER}/2`]: to(long ?? '') })
    const authorized = authorizedFetch(sourceOf(ISSUER), { fetch })
    expect((await authorized(`${ISSUER}/1`)).status).toBe(200)
    expect(String(await thrownBy(authorized(`${ISSUER}/2`)))).toMatch(/^TypeError: .* of more than 8192 bytes$/)
  })

  it('from https to http it is followed on loopback, where nobody reads along', async () => {
    const { fetch, sent } = careless({ [`${ISSUER}/here`]: to('http://127.0.0.1:1/there') })
    await authorizedFetch(sourceOf(ISSUER), { fetch })(`${ISSUER}/here`)
    await authorizedFetch(sourceOf(ISSUER), { fetch, origins: ['http://127.0.0.1:1'] })(`${ISSUER}/here`)
    expect(sent.map((each) => each.authorization)).toEqual(['Bearer token-1', null, 'Bearer token-1', 'Bearer token-1'])
  })

  it('20 are followed, and no more', async () => {
    for (const [count, isFollowed] of [
      [20, true],
      [21, false],
    ] as const) {
      const { fetch, sent } = careless(
        Object.fromEntries(Array.from({ length: count }, (_, at) => [`${ISSUER}/${at}`, to(`/${at + 1}`)])),
      )
      const answer = authorizedFetch(sourceOf(ISSUER), { fetch })(`${ISSUER}/0`)
      const outcome = await answer.then(({ status }) => status).catch((error: unknown) => error)
      expect(outcome).toEqual(isFollowed ? 200 : expect.any(TypeError))
      expect(sent).toHaveLength(21)
    }
  })

  it.each<['manual' | 'error', boolean]>([
    ['manual', false],
    ['manual', true],
    ['error', false],
    ['error', true],
  ])('the caller’s redirect: %s is the platform’s business (in a Request: %s)', async (redirect, isRequest) => {
    const { fetch, sent } = careless({ [`${ISSUER}/here`]: to('/there') })
    const authorized = authorizedFetch(sourceOf(ISSUER), { fetch })
    const answer = isRequest
      ? await authorized(new Request(`${ISSUER}/here`, { redirect }))
      : await authorized(`${ISSUER}/here`, { redirect })
    expect([answer.status, answer.redirected, sent.map((each) => each.redirect)]).toEqual([302, false, [redirect]])
  })

  it('an option of the call stands for that of its Request', async () => {
    const { fetch, sent } = careless({ [`${ISSUER}/here`]: to(`${EVIL}/there`) })
    const request = new Request(`${ISSUER}/here`, { redirect: 'manual' })
    await authorizedFetch(sourceOf(ISSUER), { fetch })(request, { redirect: 'follow' })
    expect(tokensOf(sent)).toEqual([
      [`${ISSUER}/here`, 'Bearer token-1'],
      [`${EVIL}/there`, null],
    ])
  })

  it('what only looks like one is the caller’s', async () => {
    for (const odd of [new Response(null, { status: 302 }), to('/there', 300), to('/there', 304), to('/x', 201)]) {
      const { fetch, sent } = careless({ [`${ISSUER}/here`]: odd })
      const answer = await authorizedFetch(sourceOf(ISSUER), { fetch })(`${ISSUER}/here`)
      expect([answer.status, sent.length]).toEqual([odd.status, 1])
    }
  })
})

describe('where a browser hides the redirect', () => {
  /** As a browser does: nothing is told but that there is one, and the token is dropped on the way. */
  function browser(): { readonly fetch: typeof fetch; readonly modes: unknown[] } {
    const modes: unknown[] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { redirect } = new Request(input, init)
      modes.push(redirect)
      if (redirect === 'follow') return new Response('there')
      const hidden = Response.error()
      Object.defineProperty(hidden, 'type', { value: 'opaqueredirect' })
      return hidden
    }
    return { fetch, modes }
  }

  it('the browser follows it', async () => {
    const { fetch, modes } = browser()
    const authorized = authorizedFetch(sourceOf(ISSUER), { fetch })
    expect(await (await authorized(ISSUER, { method: 'POST', body: 'text' })).text()).toBe('there')
    expect(await (await authorized(new Request(ISSUER, { method: 'POST', body: 'text' }))).text()).toBe('there')
    expect(modes).toEqual(['manual', 'follow', 'manual', 'follow'])
    expect((await authorized(ISSUER, { redirect: 'manual' })).type).toBe('opaqueredirect')
  })

  it('but not with a stream', async () => {
    const { fetch, modes } = browser()
    const init = { method: 'POST', body: new Response('text').body, duplex: 'half' } as const
    expect(await thrownBy(authorizedFetch(sourceOf(ISSUER), { fetch })(ISSUER, init))).toBeInstanceOf(TypeError)
    expect(modes).toEqual(['manual'])
  })
})

describe('over HTTP', () => {
  interface Api extends Listening {
    readonly got: (readonly [method: string, url: string, authorization: string | undefined, body: string])[]
    readonly types: (string | undefined)[]
    answer: (request: IncomingMessage, response: ServerResponse) => void
  }

  async function openApi(): Promise<Api> {
    const got: Api['got'] = []
    const types: Api['types'] = []
    const listening = await listen(async (request, response) => {
      let body = ''
      for await (const part of request) body += part
      const { method = '', url = '', headers } = request
      got.push([method, url, headers.authorization, body])
      types.push(headers['content-type'])
      api.answer(request, response)
    })
    const api: Api = { ...listening, got, types, answer: (_, response) => void response.end('fine') }
    return api
  }

  let api: Api
  let other: Api
  beforeEach(async () => {
    api = await openApi()
    other = await openApi()
  })
  afterEach(() => Promise.all([api.close(), other.close()]))

  const redirect = (location: string, status: number): void => {
    api.answer = ({ url }, response) =>
      void (url === '/old' ? response.writeHead(status, { Location: location }).end() : response.end('fine'))
  }

  const T = 'Bearer token-1'

  it('the token goes along to origins that may have it, and to no other', async () => {
    redirect(`${other.origin}/new`, 307)
    await authorizedFetch(sourceOf(api.origin), { origins: [other.origin] })(`${api.origin}/old`)
    await authorizedFetch(sourceOf(api.origin))(`${api.origin}/old`)
    expect(other.got).toEqual([
      ['GET', '/new', T, ''],
      ['GET', '/new', undefined, ''],
    ])
  })

  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [301, 'PUT', 'PUT'],
    [302, 'PUT', 'PUT'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
    [308, 'PATCH', 'PATCH'],
  ])('after %i a %s becomes a %s', async (status, method, then) => {
    redirect('/new', status)
    const authorized = authorizedFetch(sourceOf(api.origin))
    const body = new URLSearchParams({ a: 'b' })
    const type = { 'Content-Type': 'text/csv' }
    const request = new Request(`${api.origin}/old`, { method, body, headers: type })
    for (const answer of [
      await authorized(`${api.origin}/old`, { method, body, headers: type }),
      await authorized(request),
    ])
      expect([await answer.text(), answer.redirected, answer.url]).toEqual(['fine', true, `${api.origin}/new`])
    const first = [method, '/old', T, 'a=b']
    const second = then === 'GET' ? ['GET', '/new', T, ''] : [then, '/new', T, 'a=b']
    expect(api.got).toEqual([first, second, first, second])
    const left = then === 'GET' ? undefined : 'text/csv'
    expect(api.types).toEqual(['text/csv', left, 'text/csv', left])
    expect(request.bodyUsed).toBe(true)
  })

  it.each(['GET', 'HEAD'])('after 303 a %s stays one', async (method) => {
    redirect('/new', 303)
    await authorizedFetch(sourceOf(api.origin))(`${api.origin}/old`, { method })
    expect(api.got.map(([each]) => each)).toEqual([method, method])
  })

  it('a stream is not sent again: the answer is a TypeError, but after 303', async () => {
    const authorized = authorizedFetch(sourceOf(api.origin))
    const init = () => ({ method: 'POST', body: new Response('text').body, duplex: 'half' }) as const
    for (const status of [301, 302, 307, 308]) {
      redirect('/new', status)
      expect(await thrownBy(authorized(`${api.origin}/old`, init()))).toBeInstanceOf(TypeError)
    }
    expect(api.got.map(([, url]) => url)).toEqual(Array(4).fill('/old'))
    redirect('/new', 303)
    expect((await authorized(`${api.origin}/old`, init())).status).toBe(200)
    expect(api.got.at(-1)).toEqual(['GET', '/new', T, ''])
  })

  it('error is an error, and manual the redirect itself', async () => {
    redirect('/new', 302)
    const authorized = authorizedFetch(sourceOf(api.origin))
    expect(await thrownBy(authorized(`${api.origin}/old`, { redirect: 'error' }))).toBeInstanceOf(TypeError)
    expect((await authorized(`${api.origin}/old`, { redirect: 'manual' })).status).toBe(302)
    expect(api.got.map(([, url]) => url)).toEqual(['/old', '/old'])
  })

  it('a refusal behind a redirect is asked again there, with other tokens: what was done is not done twice', async () => {
    api.answer = ({ url, headers }, response) => {
      if (url === '/old') response.writeHead(303, { Location: '/new' }).end()
      else response.writeHead(headers.authorization === T ? 401 : 200).end('done')
    }
    const answer = await authorizedFetch(sourceOf(api.origin))(`${api.origin}/old`, { method: 'POST', body: 'text' })
    expect([answer.status, await answer.text()]).toEqual([200, 'done'])
    expect(api.got).toEqual([
      ['POST', '/old', T, 'text'],
      ['GET', '/new', T, ''],
      ['GET', '/new', 'Bearer token-2', ''],
    ])
  })

  it('an address that is written in UTF-8 is the one that was meant', async () => {
    redirect(Buffer.from('/n\u00e4\u6771').toString('latin1'), 302)
    await authorizedFetch(sourceOf(api.origin))(`${api.origin}/old`)
    expect(api.got.at(-1)?.[1]).toBe('/n%C3%A4%E6%9D%B1')
  })

  it('the body of a redirect is let go, followed or not', async () => {
    for (const location of ['/new', 'data:,x']) {
      let closed = false
      api.answer = ({ url }, response) => {
        if (url === '/new') response.end('fine')
        // It never ends by itself.
        else
          response
            .writeHead(302, { Location: location })
            .on('close', () => (closed = true))
            .write('over there')
      }
      const answer = authorizedFetch(sourceOf(api.origin))(`${api.origin}/old`)
      await answer.catch(() => {})
      await eventually(() => closed)
    }
  })

  it('the signal of a Request ends what a redirect leads to', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    api.answer = ({ url }, response) => {
      if (url === '/old') response.writeHead(302, { Location: '/new' }).end()
      else controller.abort(reason)
    }
    const request = new Request(`${api.origin}/old`, { signal: controller.signal })
    expect(await thrownBy(authorizedFetch(sourceOf(api.origin))(request))).toBe(reason)
  })
})
