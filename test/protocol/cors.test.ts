/**
 * Pages of other origins: which of them can read which answers. A browser lets a page read an answer only if a header permits its
 * origin, so a foreign page is an attack that must never get one.
 * @module
 * @see RFC 9700, section 2.6; Fetch, section 3.3 (CORS protocol); SECURITY statement 53
 */
import fc from 'fast-check'
import type { AuthorizationServer, HttpHeaders, HttpResponse } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { parseOrigin } from '../../src/core/url.js'
import { mayRead } from '../../src/protocol/cors/readers.js'
import {
  BUSY,
  INVALID_CLIENT,
  INVALID_GRANT,
  REVOKED,
  StoreFailure,
  tokenError,
  watchedServer,
} from '../server/helpers.js'
import {
  authorizationUrl,
  authorize,
  basic,
  CHALLENGE,
  canSend,
  exchange,
  ISSUER,
  NATIVE_CALLBACK,
  OTHER,
  openConsent,
  post,
  registration,
  send,
  testServer,
  tokens,
  VERIFIER,
  WEB,
  works,
} from '../support.js'
import { unicodeText } from '../unicode.js'
import { logoIn } from './consent-form.js'
import { DEVICE_PATH } from './device-form.js'
import { API, introspect, withApi } from './resource-server.js'

const WELL_KNOWN = '/.well-known/oauth-authorization-server'
const APP = 'https://app.example'

/** The endpoints that a page may call, each with a form that fails behind the authentication of its client. */
const CALLED: Readonly<Record<string, string>> = {
  '/oauth2/token': 'grant_type=authorization_code&code=none',
  '/oauth2/revoke': 'token=none',
  '/oauth2/device_authorization': 'scope=none',
}

/** The headers of an answer that are for browsers with a page of another origin. */
function permitted({ headers }: HttpResponse): Record<string, string> {
  const forPages = ([name, value]: [string, string]) => /^access-control-/i.test(name) || value === 'Origin'
  return Object.fromEntries(Object.entries(headers).filter(forPages))
}

const readableFrom = (origin: string) => ({
  'Access-Control-Allow-Origin': origin,
  'Access-Control-Expose-Headers': 'WWW-Authenticate, Retry-After',
  Vary: 'Origin',
})

function readable(origin: string, response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, ...readableFrom(origin) } }
}

function preflight(server: AuthorizationServer, url: string, headers: HttpHeaders = {}): Promise<HttpResponse> {
  const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
  return send(server, { method: 'OPTIONS', url, headers: { origin: APP, ...asked, ...headers } })
}

/** Texts that are not the origin of an application, and would be taken for it by a check that is not exact. */
const FOREIGN: readonly string[] = [
  ...['null', '', '*', 'undefined', 'https', 'https://', 'app.example', '//app.example', 'file://', 'about:blank'],
  ...['https://evil.example', 'https://other.example', 'https://git.example', 'http://app.example'],
  // Where the one stands in the other.
  ...['https://app.example.evil.example', 'https://evilapp.example', 'https://app.example.', 'https://app.exampl'],
  ...['https://evil-app.example', 'https://sub.app.example', 'https://app.example.com', 'https://app-example'],
  ...['https://appxexample', 'https://app.example%2eevil.example', 'https://app.example%00.evil.example'],
  // Other ports, and the same one written out.
  ...['https://app.example:8443', 'https://app.example:443', 'https://app.example:', 'https://app.example:0443'],
  // What belongs to a URL and to no origin.
  ...['https://app.example/', 'https://app.example/callback', 'https://app.example?', 'https://app.example#'],
  ...['https://app.example@evil.example', 'https://evil.example@app.example', 'https://app.example:x@evil.example'],
  ...['https://app.example\\@evil.example', 'https://evil.example/https://app.example', 'blob:https://app.example'],
  // Other spellings.
  ...['HTTPS://app.example', 'https://APP.example', 'https://app.Example', 'https:app.example', 'https:///app.example'],
  ...['https:\\\\app.example', 'https://app。example', 'https://ａpp.example', 'view-source:https://app.example'],
  ...['https://app.example, https://app.example', 'https://app.example https://evil.example', 'https://app.example,'],
  ...['wss://app.example', 'chrome-extension://app.example', 'com.example.app://app.example', 'javascript:1'],
  // Loopback, which `native` has as 127.0.0.1 and http alone.
  ...[
    'http://localhost',
    'http://localhost:51004',
    'https://127.0.0.1',
    'http://[::1]',
    'http://127.0.0.2',
    'http://127.1',
  ],
  ...[
    'http://0x7f.0.0.1',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.1:x',
    'http://127.0.0.1:80',
    'http://127.0.0.1:',
  ],
  ...['http://127.0.0.1:65536', 'http://127.0.0.1:1@evil.example', 'http://evil.example:127.0.0.1', 'http://0.0.0.0'],
  ...['http://2130706433', 'http://127.0.0.1:080', 'http://127.0.0.1/', 'http://127.0.0.1:3000/', 'HTTP://127.0.0.1'],
]

/** The clients of the test server as they present themselves, rightly and wrongly. */
const CLIENTS: readonly { readonly headers: Record<string, string>; readonly form: string }[] = [
  { headers: basic(WEB), form: '' },
  { headers: basic({ ...WEB, clientSecret: 'wrong' }), form: '' },
  { headers: basic(API), form: '' },
  { headers: {}, form: 'client_id=web' },
  { headers: {}, form: `client_id=web&client_secret=${WEB.clientSecret}` },
  { headers: {}, form: 'client_id=native' },
  { headers: {}, form: 'client_id=nobody' },
  { headers: {}, form: '' },
  { headers: { authorization: 'Basic x' }, form: 'client_id=native' },
]

describe('the answers of an endpoint that a page calls', () => {
  it('[53] can be read by the pages of the client, whether they succeed or fail', async () => {
    const test = await testServer()
    const page = { origin: APP }
    const { code } = await authorize(test)
    const web = { ...basic(WEB), ...page }
    const exchanged = await post(test.server, '/oauth2/token', { grant_type: 'authorization_code', code }, web)
    expect([exchanged.status, permitted(exchanged)]).toEqual([200, readableFrom(APP)])
    const { refresh_token } = JSON.parse(exchanged.body)
    const form = { grant_type: 'refresh_token', refresh_token }
    const refreshed = await post(test.server, '/oauth2/token', form, web)
    expect([refreshed.status, permitted(refreshed)]).toEqual([200, readableFrom(APP)])
    const replayed = await post(test.server, '/oauth2/token', { grant_type: 'authorization_code', code }, web)
    expect(replayed).toStrictEqual(readable(APP, INVALID_GRANT))
    const codes = await post(test.server, '/oauth2/device_authorization', '', web)
    expect([codes.status, permitted(codes)]).toEqual([200, readableFrom(APP)])
    expect(await post(test.server, '/oauth2/revoke', { token: refresh_token }, web)).toStrictEqual(
      readable(APP, REVOKED),
    )
    const wrong = { ...basic({ ...WEB, clientSecret: 'wrong' }), ...page }
    for (const [url, fields] of Object.entries(CALLED)) {
      const { status, headers } = await post(test.server, url, fields, wrong)
      expect([status, headers]).toMatchObject([401, readableFrom(APP)])
    }
  })

  it('of a public client work from loopback, on any port', async () => {
    const test = await testServer()
    const asked = { client_id: 'native', redirect_uri: NATIVE_CALLBACK, code_challenge: CHALLENGE }
    const { code } = await authorize(test, { ...asked, code_challenge_method: 'S256' })
    const form = { grant_type: 'authorization_code', code, client_id: 'native', code_verifier: VERIFIER }
    const answer = await post(test.server, '/oauth2/token', form, { origin: 'http://127.0.0.1:5173' })
    expect([answer.status, permitted(answer)]).toEqual([200, readableFrom('http://127.0.0.1:5173')])
    const again = await post(test.server, '/oauth2/token', form, { origin: 'http://127.0.0.1' })
    expect(again).toStrictEqual(readable('http://127.0.0.1', INVALID_GRANT))
  })

  it('[53] never permit a foreign page to read them, at any endpoint, whoever the client is, and are the same without', async () => {
    const test = await withApi(await testServer())
    const sendable = FOREIGN.filter((origin) => canSend({ headers: { origin } }))
    expect(sendable.length).toBeGreaterThan(FOREIGN.length / 2)
    for (const origin of sendable) {
      for (const client of CLIENTS) {
        for (const [url, fields] of Object.entries({ ...CALLED, '/oauth2/introspect': 'token=none' })) {
          const text = `${fields}&${client.form}`
          const headers = { ...client.headers, origin }
          const plain = await post(test.server, url, text, client.headers)
          expect(await post(test.server, url, text, headers), `${origin} at ${url}`).toStrictEqual(plain)
          expect(permitted(plain)).toEqual({})
        }
      }
    }
  })

  it('[53] never permit the page of another client', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    const page = { origin: 'https://other.example' }
    for (const [url, fields] of Object.entries(CALLED)) {
      expect(permitted(await post(test.server, url, fields, { ...basic(WEB), ...page }))).toEqual({})
      expect(permitted(await post(test.server, url, fields, { ...basic(OTHER), ...page }))).toEqual(
        readableFrom('https://other.example'),
      )
    }
    const stolen = await post(
      test.server,
      '/oauth2/token',
      { grant_type: 'authorization_code', code },
      { ...basic(OTHER), ...page },
    )
    expect(stolen).toStrictEqual(readable('https://other.example', INVALID_GRANT))
    expect((await exchange(test, code)).status).toBe(200)
  })

  it('permit nobody where no client is known: a malformed request, an unknown or pending client, a store that fails', async () => {
    const test = await watchedServer()
    const page = { origin: APP }
    const scopes = [{ scope: 'repo-code:r', reason: 'To read' }]
    const { id } = await test.server.applications.submit({ ...registration(), scopes })
    for (const [url, fields] of Object.entries(CALLED)) {
      for (const [form, headers] of [
        ['client_id=web&client_id=web', {}],
        ['%', basic(WEB)],
        [`${fields}&client_id=nobody`, {}],
        [`${fields}&client_id=${id}`, {}],
        [fields, basic({ ...WEB, clientId: 'nobody' })],
      ] as const)
        expect(permitted(await post(test.server, url, form, { ...headers, ...page }))).toEqual({})
    }
    expect(await post(test.server, '/oauth2/token', 'client_id=nobody', page)).toStrictEqual(INVALID_CLIENT)
    test.instead.read = () => Promise.reject(new StoreFailure())
    expect(
      await post(test.server, '/oauth2/token', CALLED['/oauth2/token'] ?? '', { ...basic(WEB), ...page }),
    ).toStrictEqual(BUSY)
  })

  it('permit what is registered now: not a change under review, and of a suspended application the error alone', async () => {
    const test = await testServer()
    const { applications } = test.server
    const ask = async (origin: string) => {
      const { status, headers } = await post(test.server, '/oauth2/revoke', 'token=none', { ...basic(WEB), origin })
      return [status, headers['Access-Control-Allow-Origin']]
    }
    const { logo, ...rest } = registration({ redirectUris: ['https://app.example:8443/callback'] })
    const scopes = [{ scope: 'repo-code:r', reason: 'To read' }]
    const { revision } = await applications.change('web', { ...rest, scopes })
    expect(await ask('https://app.example:8443')).toEqual([200, undefined])
    await applications.approve('web', { revision })
    expect(await ask('https://app.example:8443')).toEqual([200, 'https://app.example:8443'])
    expect(await ask(APP)).toEqual([200, undefined])
    await applications.suspend('web')
    expect(await ask('https://app.example:8443')).toEqual([401, 'https://app.example:8443'])
  })

  it('permit a page on localhost only while the option allows it as a redirect URI', async () => {
    const { server, store } = await testServer()
    const redirectUris = ['http://localhost/callback', 'com.example.app:/callback']
    await server.applications.register(registration({ type: 'public', redirectUris }), { clientId: 'local' })
    const strict = createAuthorizationServer({
      issuer: ISSUER,
      store,
      user: () => undefined,
      signInUrl: () => '/sign-in',
      allowLocalhost: false,
    })
    const page = { origin: 'http://localhost:5173' }
    const ask = (asked: AuthorizationServer) => post(asked, '/oauth2/revoke', 'token=none&client_id=local', page)
    expect(await ask(server)).toStrictEqual(readable('http://localhost:5173', REVOKED))
    expect(await ask(strict)).toStrictEqual(REVOKED)
  })

  it('change nothing but headers: a foreign page has its revocation and its exchange, and cannot read of them', async () => {
    const test = await testServer()
    const page = { ...basic(WEB), origin: 'https://evil.example' }
    const { access_token } = await tokens(test)
    expect(await post(test.server, '/oauth2/revoke', { token: access_token }, page)).toStrictEqual(REVOKED)
    expect(test.events.filter(({ type }) => type === 'refused')).toEqual([])
    expect(await works(test, access_token)).toBe(false)
  })
})

describe('a preflight', () => {
  it('of an endpoint is answered for any page, since it does not say which client will ask', async () => {
    const { server, events } = await testServer()
    for (const url of Object.keys(CALLED))
      for (const origin of [
        APP,
        'https://evil.example',
        'http://127.0.0.1:5173',
        'http://[::1]:1',
        'https://xn--bcher-kva.example',
      ])
        expect(await preflight(server, url, { origin })).toStrictEqual({
          status: 204,
          headers: {
            'Access-Control-Allow-Origin': origin,
            'Access-Control-Allow-Methods': 'POST',
            'Access-Control-Allow-Headers': 'authorization, content-type',
            'Access-Control-Max-Age': '7200',
            Vary: 'Origin',
          },
          body: '',
        })
    expect(events).toEqual([])
  })

  it('[53] permits nothing to a page without an origin, or with one that no browser writes', async () => {
    const { server } = await testServer()
    const odd = [
      'null',
      '*',
      'https://APP.example',
      'https://app.example/',
      'https://app.example:443',
      'https://a@b',
      'file://',
    ]
    for (const url of Object.keys(CALLED)) {
      for (const origin of odd)
        expect(await preflight(server, url, { origin })).toStrictEqual({
          status: 204,
          headers: { Vary: 'Origin' },
          body: '',
        })
      expect(permitted(await preflight(server, url, { origin: [APP, APP] }))).not.toHaveProperty(
        'Access-Control-Allow-Origin',
      )
    }
  })

  it('of a document is answered alike for every page', async () => {
    const { server } = await testServer({ openidConfiguration: true })
    for (const url of [WELL_KNOWN, '/.well-known/openid-configuration'])
      for (const origin of [APP, 'null'])
        expect(await preflight(server, url, { origin, 'access-control-request-method': 'GET' })).toStrictEqual({
          status: 204,
          headers: {
            'Access-Control-Allow-Origin': '*',
            'Access-Control-Allow-Methods': 'GET, HEAD',
            'Access-Control-Allow-Headers': '*',
            'Access-Control-Max-Age': '7200',
          },
          body: '',
        })
  })

  it('is a method like any other without its headers, with another method, and where no page may call', async () => {
    const { server } = await testServer()
    const notAllowed = tokenError(405, 'invalid_request', 'The method must be POST.', { Allow: 'POST' })
    for (const url of Object.keys(CALLED)) {
      const method = 'access-control-request-method'
      for (const headers of [{}, { origin: APP }, { [method]: 'POST' }])
        expect(await send(server, { method: 'OPTIONS', url, headers })).toStrictEqual(notAllowed)
      expect(await send(server, { method: 'PUT', url, headers: { origin: APP, [method]: 'POST' } })).toStrictEqual(
        notAllowed,
      )
    }
  })
})

describe('the other paths', () => {
  it('[53] never permit a page of another origin to read them: pages, images, the stylesheet and introspection', async () => {
    const test = await withApi(await testServer({ corsOrigins: ['https://added.example'] }))
    const { page } = await openConsent(test)
    const paths = ['/oauth2/auth', authorizationUrl(), DEVICE_PATH, '/oauth2/applications', '/oauth2/style.css']
    for (const origin of [APP, 'https://added.example', 'https://evil.example', 'null']) {
      for (const url of [...paths, logoIn(page.body), '/oauth2/introspect']) {
        for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS'])
          expect(permitted(await send(test.server, { method, url, headers: { origin } }))).toEqual({})
        const asked = await preflight(test.server, url, { origin })
        expect([asked.status, permitted(asked)]).toEqual([405, {}])
      }
    }
    const introspected = await post(test.server, '/oauth2/introspect', 'token=x', { ...basic(API), origin: APP })
    expect([introspected.status, permitted(introspected)]).toEqual([200, {}])
    expect((await introspect(test, 'x')).status).toBe(200)
  })

  it('have documents that every page may read, the same for all', async () => {
    const { server } = await testServer({ openidConfiguration: true })
    for (const url of [WELL_KNOWN, '/.well-known/openid-configuration'])
      for (const origin of [undefined, APP, 'https://evil.example', 'null']) {
        const document = await send(server, { url, headers: origin === undefined ? {} : { origin } })
        expect([document.status, permitted(document)]).toEqual([200, { 'Access-Control-Allow-Origin': '*' }])
      }
  })
})

describe('the option corsOrigins', () => {
  it('adds origins for all clients, and for answers before a client is known', async () => {
    const given = ['https://added.example']
    const test = await testServer({ corsOrigins: given })
    given[0] = 'https://evil.example'
    const page = { origin: 'https://added.example' }
    for (const [url, fields] of Object.entries(CALLED)) {
      for (const client of CLIENTS) {
        const answer = await post(test.server, url, `${fields}&${client.form}`, { ...client.headers, ...page })
        expect(permitted(answer)).toEqual(readableFrom('https://added.example'))
      }
      expect(permitted(await post(test.server, url, fields, { ...basic(WEB), origin: APP }))).toEqual(readableFrom(APP))
      for (const origin of ['https://evil.example', 'https://added.example.evil.example', 'null'])
        expect(permitted(await post(test.server, url, fields, { ...basic(WEB), origin }))).toEqual({})
    }
  })

  it('switches everything off as false: no header anywhere, and a preflight is a method like any other', async () => {
    const test = await testServer({ corsOrigins: false, openidConfiguration: true })
    for (const [url, fields] of Object.entries(CALLED)) {
      expect(permitted(await post(test.server, url, fields, { ...basic(WEB), origin: APP }))).toEqual({})
      const asked = await preflight(test.server, url)
      expect([asked.status, permitted(asked)]).toEqual([405, {}])
    }
    for (const url of [WELL_KNOWN, '/.well-known/openid-configuration']) {
      expect(permitted(await send(test.server, { url, headers: { origin: APP } }))).toEqual({})
      expect((await preflight(test.server, url)).status).toBe(405)
    }
  })
})

describe('the decision', () => {
  const rules = { matching: 'domain', allowLocalhost: true } as const
  const label = fc.stringMatching(/^[a-z0-9-]{1,8}$/)
  const origin = fc
    .tuple(
      fc.constantFrom('http', 'https'),
      fc.oneof(
        fc.constantFrom('127.0.0.1', 'localhost', '[::1]', 'app.example'),
        fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.')),
      ),
      fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined }),
    )
    .map(([scheme, host, port]) => `${scheme}://${host}${port === undefined ? '' : `:${port}`}`)
    .filter((text) => parseOrigin(text) !== undefined)

  /** Reads an origin that the generator wrote. */
  const of = (text: string) => parseOrigin(text) ?? expect.fail(text)

  it('is the equality of origins, but for the port on loopback', () => {
    const loopback = (text: string) => /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.exec(text)?.[1]
    fc.assert(
      fc.property(
        origin,
        origin,
        fc.constantFrom('/', '/callback', '/callback?a=https://evil.example'),
        (own, page, path) => {
          const registered = own.startsWith('https:') || loopback(own) !== undefined
          const same = own === page || (loopback(own) !== undefined && loopback(own) === loopback(page))
          expect(mayRead(of(page), [own + path], new Set(), rules)).toBe(registered && same)
          expect(mayRead(of(page), [], new Set(), rules)).toBe(false)
          expect(mayRead(of(page), [], new Set([of(own)]), rules)).toBe(own === page)
          expect(mayRead(of(page), ['com.example.app:/callback', 'nonsense', ''], new Set(), rules)).toBe(false)
        },
      ),
    )
  })

  it('[53] takes a changed origin for another one, or for none', () => {
    const change = fc.tuple(fc.nat(APP.length), fc.nat(2), unicodeText({ maxLength: 3 }))
    fc.assert(
      fc.property(change, ([place, cut, text]) => {
        const changed = APP.slice(0, place) + text + APP.slice(place + cut)
        fc.pre(changed !== APP)
        const page = parseOrigin(changed)
        expect(page !== undefined && mayRead(page, ['https://app.example/callback'], new Set(), rules)).toBe(false)
      }),
      { numRuns: 1000 },
    )
  })

  it('is about origins that are no longer than a host name can be', () => {
    const longest = `https://${'a.'.repeat(126)}a`
    expect([parseOrigin(`${longest}:65000`), longest.length]).toEqual([`${longest}:65000`, 261])
    expect(parseOrigin(`https://${'a.'.repeat(130)}a`)).toBeUndefined()
  })
})
