/**
 * One suite over HTTP for every way to serve a server: what clients and browsers get must not depend on the platform.
 * @module
 */
import type { IncomingMessage, RequestListener } from 'node:http'
import { Agent } from 'node:http'
import fc from 'fast-check'
import type {
  AuthorizationServer,
  AuthorizationServerOptions,
  GuardResult,
  HttpRequest,
  HttpResponse,
  RecordStore,
} from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServer, Tokens } from '../support.js'
import {
  authorizationUrl,
  basic,
  CHALLENGE,
  hiddenFields,
  NATIVE,
  NATIVE_CALLBACK,
  OTHER,
  START,
  testServer,
  VERIFIER,
  WEB,
  WEB_CALLBACK,
} from '../support.js'
import { textOf } from '../transports/transport.js'
import type { Answer, Ask, Listening, Send } from './http.js'
import { eventually, form, listen, open, parsed, raw, sender, wire } from './http.js'

/** A way to serve a server. */
export interface Platform {
  readonly title: string
  /** The path of the issuer; none by default. */
  readonly issuerPath?: string
  /** The path of the metadata; between the origin and the issuer's path by default (RFC 8414, section 3.1). */
  readonly metadataPath?: string
  readonly options?: Partial<AuthorizationServerOptions>
  /** Serves the server and, beside it at `/api`, what `apiAnswer` makes of the guard's verdict on `repo-code:r`. */
  readonly listener: (server: AuthorizationServer) => RequestListener
  /** The answer to a path that nobody has: the adapter's own 404, or the one of the host's application. */
  readonly elsewhere: string
  /** The parser with which the host reads bodies before the adapter. Its limit applies first and, for forms, its leniency. */
  readonly parser?: 'forms' | 'bytes'
  /** The answer to two `Authorization` headers. A fetch platform joins them into an invalid one. */
  readonly twoAuthorizations: { readonly status: number; readonly error: string }
}

/** The answer of the guarded route: the caller, or the challenge. */
export function apiAnswer(found: GuardResult): HttpResponse {
  if (found.type === 'refused') return found.response
  const { subject, clientId, scopes } = found
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ subject, clientId, scopes }),
  }
}

/** Returns the user who is signed in, by the host's cookie on the platform's own request. */
export function sessionUser({ native }: HttpRequest): { subject: string; name: string } | undefined {
  const cookie = native instanceof Request ? native.headers.get('cookie') : (native as IncomingMessage).headers.cookie // one or the other
  return /(?:^|; )session=ada(?:;|$)/.test(cookie ?? '') ? { subject: 'ada', name: 'Ada' } : undefined
}

const SESSION = { cookie: 'session=ada' }

/** A server that is being served, and how to reach it. */
export interface Site {
  readonly test: TestServer
  readonly issuer: string
  readonly issuerPath: string
  readonly metadataPath: string
  readonly send: Send
  /** Number of requests that the server got, and number of those that it has answered. */
  readonly calls: { begun: number; ended: number; answer?: HttpResponse }
}

/** An app with the port on which it listens. */
export interface ListeningSite extends Site {
  readonly listening: Listening
}

/** Serves a server by a platform; it listens first, since its port is part of the issuer. */
export async function serve(
  platform: Platform,
  options: Partial<AuthorizationServerOptions> = {},
): Promise<ListeningSite> {
  const calls: Site['calls'] = { begun: 0, ended: 0 }
  let listener: RequestListener = () => {}
  const listening = await listen((request, response) => listener(request, response))
  const { issuerPath = '', metadataPath = `/.well-known/oauth-authorization-server${issuerPath}` } = platform
  const issuer = listening.origin + issuerPath
  const test = await testServer({ issuer, user: sessionUser, ...platform.options, ...options })
  const handle: AuthorizationServer['handle'] = async (request) => {
    calls.begun++
    try {
      const answer = await test.server.handle(request)
      if (answer !== undefined) calls.answer = textOf(answer)
      return answer
    } finally {
      calls.ended++
    }
  }
  listener = platform.listener({ ...test.server, handle })
  return { test, issuer, issuerPath, metadataPath, send: sender(listening.port), calls, listening }
}

/** Opens the consent page: the request that its form makes when the user agrees. */
export async function consentForm(
  { send, issuerPath }: Pick<Site, 'send' | 'issuerPath'>,
  parameters: Record<string, string | undefined> = {},
): Promise<{ page: Answer; agree: Ask }> {
  const page = await send({ path: issuerPath + authorizationUrl(parameters), headers: SESSION })
  expect(page.status, page.body).toBe(200)
  const key = page.headers['set-cookie']?.split(';')[0]
  const action = /<form[^>]* action="([^"]*)"/.exec(page.body)?.[1] ?? 'no form'
  const fields = { ...hiddenFields(page.body), resource_scope: 'all', decision: 'agree' }
  return { page, agree: form(action, fields, { cookie: `${SESSION.cookie}; ${key}` }) }
}

/** The whole flow as a browser, a client and an API go through it, whatever carries the requests. */
export async function walk({ send, issuer, issuerPath, metadataPath }: Omit<Site, 'test' | 'calls'>): Promise<Tokens> {
  const metadata = await send({ path: metadataPath })
  expect(metadata.status).toBe(200)
  expect(JSON.parse(metadata.body)).toMatchObject({
    issuer,
    authorization_endpoint: `${issuer}/oauth2/auth`,
    token_endpoint: `${issuer}/oauth2/token`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
  })
  const css = await send({ path: `${issuerPath}/oauth2/style.css` })
  expect([css.status, css.headers['content-type']]).toEqual([200, 'text/css;charset=UTF-8'])

  const parameters = { state: 'a state of any & kind ü', code_challenge: CHALLENGE, code_challenge_method: 'S256' }
  const stranger = await send({ path: issuerPath + authorizationUrl(parameters) })
  expect(stranger.status).toBe(302)
  const returnTo = new URL(stranger.headers['location'] ?? '', issuer).searchParams.get('return_to') ?? ''
  expect(returnTo.startsWith(`${issuer}/oauth2/auth?`)).toBe(true)
  const { page, agree } = await consentForm({ send, issuerPath }, parameters)
  expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(page.body).toContain(`href="${issuerPath}/oauth2/style.css"`)
  expect(agree.path).toBe(`${issuerPath}/oauth2/auth`)
  const back = await send(agree)
  expect(back.status).toBe(302)
  const location = new URL(back.headers['location'] ?? '')
  expect(location.origin + location.pathname).toBe(WEB_CALLBACK)
  const { code = '', ...others } = Object.fromEntries(location.searchParams)
  expect(others).toEqual({ state: parameters.state, iss: issuer })
  expect((await send(agree)).headers['location']).toBe(back.headers['location'])

  const token = (fields: Record<string, string>) => send(form(`${issuerPath}/oauth2/token`, fields, basic(WEB)))
  const revoke = (text: string) => send(form(`${issuerPath}/oauth2/revoke`, { token: text }, basic(WEB)))
  const api = async (text: string) =>
    (await send({ path: '/api', headers: { authorization: `Bearer ${text}` } })).status
  const exchanged = await token({ grant_type: 'authorization_code', code, code_verifier: VERIFIER })
  expect((await send(agree)).status).toBe(400)
  expect(exchanged.status, exchanged.body).toBe(200)
  expect(exchanged.headers).toMatchObject({
    'content-type': 'application/json;charset=UTF-8',
    'cache-control': 'no-store',
    pragma: 'no-cache',
  })
  const first: Tokens = JSON.parse(exchanged.body)
  expect(first).toMatchObject({ token_type: 'bearer', expires_in: 28_800, scope: 'repo-code:rw account-profile:r' })
  const called = await send({ path: '/api', headers: { authorization: `Bearer ${first.access_token}` } })
  expect(JSON.parse(called.body)).toEqual({ subject: 'ada', clientId: 'web', scopes: first.scope.split(' ') })

  const refreshing = Date.now()
  const refreshed = await token({ grant_type: 'refresh_token', refresh_token: first.refresh_token })
  const second: Tokens = JSON.parse(refreshed.body)
  expect(refreshed.status).toBe(200)
  expect(second.access_token).not.toBe(first.access_token)
  const retried = await token({ grant_type: 'refresh_token', refresh_token: first.refresh_token })
  // The same pair, with the seconds that are left of it by now: a server in another process has the system's clock.
  const { expires_in: left, ...again } = JSON.parse(retried.body)
  const { expires_in: lifetime, ...pair } = second
  expect(again).toEqual(pair)
  const elapsed = Math.ceil((Date.now() - refreshing) / 1000)
  expect([left <= lifetime, left >= lifetime - elapsed]).toEqual([true, true])
  expect([await api(first.access_token), await api(second.access_token)]).toEqual([200, 200])

  const revoked = await revoke(first.access_token)
  expect([revoked.status, revoked.body]).toEqual([200, ''])
  expect([await api(first.access_token), await api(second.access_token)]).toEqual([401, 200])
  expect((await revoke(second.refresh_token)).status).toBe(200)
  expect(await api(second.access_token)).toBe(401)
  const late = await token({ grant_type: 'refresh_token', refresh_token: second.refresh_token })
  expect([late.status, JSON.parse(late.body).error]).toEqual([400, 'invalid_grant'])
  return second
}

/** Headers by which a client or a proxy could try to say what the server is called, or what was asked of it. */
const HOSTILE_HEADERS = [
  'x-forwarded-host',
  'x-forwarded-server',
  'x-forwarded-proto',
  'x-forwarded-scheme',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-path',
  'x-forwarded-uri',
  'x-forwarded-for',
  'forwarded',
  'x-host',
  'x-original-host',
  'x-original-url',
  'x-rewrite-url',
  'x-http-method-override',
  'front-end-https',
]

/** The suite. */
export function adapterSuite(platform: Platform): void {
  const parsesForms = platform.parser === 'forms'
  const itWhere = (holds: boolean): ((title: string, body: () => Promise<void>) => void) => (holds ? it : () => {})
  describe(platform.title, () => {
    let site: ListeningSite
    let send: Send
    let port: number
    let token: string
    let pair: Tokens

    beforeAll(async () => {
      site = await serve(platform)
      send = site.send
      port = site.listening.port
      token = `${site.issuerPath}/oauth2/token`
      pair = await newPair()
    })
    afterAll(() => site.listening.close())

    /** A pair of tokens of the application `web`. */
    async function newPair(parameters: Record<string, string> = {}, from: Site = site): Promise<Tokens> {
      const back = await from.send((await consentForm(from, parameters)).agree)
      const code = new URL(back.headers['location'] ?? '').searchParams.get('code') ?? ''
      const answer = await from.send(exchanging(code, from))
      expect(answer.status, answer.body).toBe(200)
      return JSON.parse(answer.body)
    }

    const exchanging = (code: string, { issuerPath }: Site = site): Ask =>
      form(`${issuerPath}/oauth2/token`, { grant_type: 'authorization_code', code }, basic(WEB))

    /** A refresh that is a retry, so that it may be sent any number of times and always has the same answer. */
    const retry = () => form(token, { grant_type: 'refresh_token', refresh_token: pair.refresh_token }, basic(WEB))

    const isWell = async (): Promise<void> => {
      expect((await send(retry())).status).toBe(200)
    }

    describe('the flow', () => {
      it('goes from the consent page to the revocation', async () => {
        await walk(site)
      })

      it('goes from the consent page to the API for a public client on loopback', async () => {
        const parameters = {
          client_id: NATIVE.clientId,
          redirect_uri: NATIVE_CALLBACK,
          code_challenge: CHALLENGE,
          code_challenge_method: 'S256',
        }
        const { agree } = await consentForm(site, parameters)
        const location = new URL((await send(agree)).headers['location'] ?? '')
        const code = location.searchParams.get('code') ?? ''
        const fields = { grant_type: 'authorization_code', client_id: 'native', code, code_verifier: VERIFIER }
        const answer = await send(form(token, fields))
        expect(answer.status).toBe(200)
        const authorization = `Bearer ${JSON.parse(answer.body).access_token}`
        expect((await send({ path: '/api', headers: { authorization } })).status).toBe(200)
      })

      it('goes back with access_denied when the user refuses', async () => {
        const { agree } = await consentForm(site, { state: 's' })
        const body = String(agree.body).replace('decision=agree', 'decision=refuse')
        const location = new URL((await send({ ...agree, body })).headers['location'] ?? '')
        expect(Object.fromEntries(location.searchParams)).toMatchObject({
          error: 'access_denied',
          state: 's',
          iss: site.issuer,
        })
      })

      it('sends every answer as the server made it, and adds nothing that has a meaning', async () => {
        const { issuerPath, metadataPath, calls } = site
        const ofTransport = /^(date|connection|keep-alive|transfer-encoding|content-length|x-powered-by|etag)$/
        const revoking = form(`${issuerPath}/oauth2/revoke`, { token: 'none' }, basic(WEB))
        const asks: readonly Ask[] = [
          retry(),
          revoking,
          { ...revoking, headers: { ...revoking.headers, authorization: '' } },
          { path: token },
          { path: metadataPath },
          { path: `${issuerPath}/oauth2/style.css` },
          { path: issuerPath + authorizationUrl() },
          { path: issuerPath + authorizationUrl(), headers: SESSION },
        ]
        for (const ask of asks) {
          const { status, headers, body } = await send(ask)
          const { answer } = calls
          const sent = Object.entries(headers).filter(([name]) => !ofTransport.test(name))
          const made = Object.entries(answer?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
          expect([ask.path, status, body]).toEqual([ask.path, answer?.status, answer?.body])
          expect([ask.path, Object.fromEntries(sent)]).toEqual([ask.path, Object.fromEntries(made)])
        }
      })

      it('gives the challenges of the guard as they are', async () => {
        const narrow = await newPair({ scope: 'account-profile:r' })
        const challenge = async (headers: Record<string, string>, path = '/api') => {
          const answer = await send({ path, headers })
          return [answer.status, answer.headers['www-authenticate']?.replace(/ error_description="[^"]*",?/, '')]
        }
        expect(await challenge({})).toEqual([401, 'Bearer realm="oauth2"'])
        expect(await challenge(basic(WEB))).toEqual([401, 'Bearer realm="oauth2"'])
        expect(await challenge({ authorization: 'Bearer' })).toEqual([
          400,
          'Bearer realm="oauth2", error="invalid_request",',
        ])
        expect(await challenge({ authorization: 'Bearer gwa_none' })).toEqual([
          401,
          'Bearer realm="oauth2", error="invalid_token",',
        ])
        expect(await challenge({ authorization: `Bearer ${narrow.access_token}` })).toEqual([
          403,
          'Bearer realm="oauth2", error="insufficient_scope", scope="repo-code:r"',
        ])
        expect(await challenge({}, `/api?access_token=${pair.access_token}`)).toEqual([
          400,
          'Bearer realm="oauth2", error="invalid_request",',
        ])
      })
    })

    describe('methods and paths', () => {
      it('answers HEAD as GET, without the body', async () => {
        const paths = [
          site.metadataPath,
          `${site.issuerPath}/oauth2/style.css`,
          site.issuerPath + authorizationUrl(),
          site.issuerPath + authorizationUrl({ client_id: 'nobody' }),
        ]
        for (const path of paths) {
          const get = await send({ path })
          const head = await send({ method: 'HEAD', path })
          expect(head.status).toBe(get.status)
          expect(head.body).toBe('')
          expect(head.headers['content-type']).toBe(get.headers['content-type'])
          expect(head.headers['location']).toBe(get.headers['location'])
        }
        // On the wire too: nothing follows the headers.
        const answer = await raw(port, wire(`HEAD ${site.metadataPath}`))
        expect(answer.endsWith('\r\n\r\n')).toBe(true)
      })

      it('answers a method that an endpoint does not have with 405 and the ones that it has', async () => {
        const endpoints = [
          [`${site.issuerPath}/oauth2/auth`, 'GET, HEAD, POST'],
          [token, 'POST'],
          [`${site.issuerPath}/oauth2/revoke`, 'POST'],
          [`${site.issuerPath}/oauth2/style.css`, 'GET, HEAD'],
          [site.metadataPath, 'GET, HEAD'],
        ] as const
        for (const [path, allow] of endpoints) {
          const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']
          for (const method of methods.filter((each) => !allow.split(', ').includes(each))) {
            const answer = await send(method === 'POST' ? form(path, { a: 'b' }) : { method, path })
            expect([method, path, answer.status, answer.headers['allow']]).toEqual([method, path, 405, allow])
          }
        }
      })

      it('answers preflights where pages of other origins may call, and lets them read what is theirs', async () => {
        const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' }
        for (const [path, status, allowed] of [
          [token, 204, 'https://app.example'],
          [`${site.issuerPath}/oauth2/device_authorization`, 204, 'https://app.example'],
          [site.metadataPath, 204, '*'],
          [`${site.issuerPath}/oauth2/introspect`, 405, undefined],
          [`${site.issuerPath}/oauth2/auth`, 405, undefined],
        ] as const) {
          const answer = await send({ method: 'OPTIONS', path, headers })
          expect([path, answer.status, answer.headers['access-control-allow-origin']]).toEqual([path, status, allowed])
          const written = status === 204 ? [answer.headers['content-length'], answer.body] : [undefined, '']
          expect(written).toEqual([undefined, ''])
        }
        const readerOf = async (origin: string) => {
          const answer = await send(form(token, { grant_type: 'x' }, { ...basic(WEB), origin }))
          return [answer.status, answer.headers['access-control-allow-origin']]
        }
        expect(await readerOf('https://app.example')).toEqual([400, 'https://app.example'])
        expect(await readerOf('https://evil.example')).toEqual([400, undefined])
      })

      it('leaves every other path to whoever else is there', async () => {
        const { issuerPath } = site
        const paths = ['/', `${issuerPath}/oauth2`, `${token}/`, `${issuerPath}/OAuth2/token`, `${token}%20`]
        for (const path of [...paths, `/evil${token}`, `/evil${site.metadataPath}`]) {
          expect([path, (await send({ path })).body]).toEqual([path, platform.elsewhere])
          expect([path, (await send({ ...retry(), path })).body]).toEqual([path, platform.elsewhere])
        }
      })

      it('knows its paths whatever the query', async () => {
        for (const query of ['?', '?a=b', '?__proto__=c', '?a=/oauth2/token', '??'])
          expect((await send({ ...retry(), path: token + query })).status).toBe(200)
      })
    })

    describe('a body over the limit', () => {
      itWhere(platform.parser === undefined)(
        '[47] is refused by its Content-Length alone, before any of it comes',
        async () => {
          for (const length of [65_537, 1e9, Number.MAX_SAFE_INTEGER]) {
            const head = [`Content-Length: ${length}`, 'Content-Type: application/x-www-form-urlencoded']
            const answer = await raw(port, wire(`POST ${token}`, head, '', 'keep-alive'))
            expect(parsed(answer)).toMatchObject({ status: 413, json: { error: 'invalid_request' } })
          }
          await isWell()
        },
      )

      itWhere(platform.parser === undefined)(
        '[47] is refused as soon as it goes over, to the byte, whatever its frames',
        async () => {
          const head = ['Transfer-Encoding: chunked', 'Content-Type: application/x-www-form-urlencoded']
          const start = wire(`POST ${token}`, [...head, `Authorization: ${basic(WEB).authorization}`])
          const body = `${new URLSearchParams({ grant_type: 'refresh_token', refresh_token: pair.refresh_token })}&a=`
          const filled = (length: number) => body + 'a'.repeat(length - body.length)
          const frames = (text: string, size: number) =>
            (text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [])
              .map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
              .join('')
          for (const size of [100, 65_000]) {
            const within = await raw(port, `${start}${frames(filled(65_536), size)}0\r\n\r\n`)
            expect(parsed(within).status).toBe(200)
            const over = await raw(port, start + frames(filled(65_537), size)) // without its end
            expect(parsed(over)).toMatchObject({ status: 413, json: { error: 'invalid_request' } })
          }
          await isWell()
        },
      )

      itWhere(platform.parser === undefined)('[47] is not read on: who goes on sending is cut off', async () => {
        const bodies = [
          ['Transfer-Encoding: chunked', `${(50_000).toString(16)}\r\n${'a'.repeat(50_000)}\r\n`],
          ['Content-Length: 1000000000000', 'a'.repeat(50_000)],
        ] as const
        for (const [header, part] of bodies) {
          let read = (): number => 0
          site.listening.http.once('connection', (socket) => {
            read = () => socket.bytesRead
          })
          const { socket, ended } = await open(port)
          let over = false
          ended.then(() => {
            over = true
          })
          socket.write(
            wire(`POST ${token}`, [header, 'Content-Type: application/x-www-form-urlencoded'], '', 'keep-alive'),
          )
          let sent = 0
          while (!over && sent < 1e9) {
            sent += part.length
            if (!socket.write(part))
              await Promise.race([ended, new Promise((resolve) => socket.once('drain', resolve))])
            await new Promise((resolve) => setImmediate(resolve))
          }
          expect(over).toBe(true)
          expect(read()).toBeGreaterThan(0)
          expect(read()).toBeLessThan(1e6)
          socket.destroy()
        }
        await isWell()
      })

      itWhere(platform.parser !== undefined)('is refused by the limit of the host’s own parser', async () => {
        const answer = await send(form(token, { grant_type: 'refresh_token', a: 'a'.repeat(200_000) }))
        expect(answer.status).toBe(413)
        await isWell()
      })

      it('[47] also at the authorization endpoint, with a page', async () => {
        const answer = await send(form(`${site.issuerPath}/oauth2/auth`, { a: 'a'.repeat(200_000) }))
        expect(answer.status).toBe(413)
        expect(answer.headers['content-type']?.toLowerCase().replace(' ', '')).toBe('text/html;charset=utf-8')
      })
    })

    describe('invalid requests', () => {
      it('refuses two Authorization headers, at the token endpoint and at the guard', async () => {
        const authorization = basic(WEB).authorization
        const body = String(retry().body)
        const type = 'Content-Type: application/x-www-form-urlencoded'
        const pairs = [
          [`Authorization: ${authorization}`, `Authorization: ${authorization}`],
          [`Authorization: ${authorization}`, `AUTHORIZATION: ${basic(OTHER).authorization}`],
          ['Authorization: ', `authorization: ${authorization}`],
          [`Authorization: Bearer ${pair.access_token}`, `Authorization: ${authorization}`],
        ]
        for (const headers of pairs) {
          const { status, json } = parsed(await raw(port, wire(`POST ${token}`, [type, ...headers], body)))
          expect([status, json]).toMatchObject([
            platform.twoAuthorizations.status,
            { error: platform.twoAuthorizations.error },
          ])
        }
        const bearer = `Authorization: Bearer ${pair.access_token}`
        for (const headers of [
          [bearer, bearer],
          [bearer, `authorization: ${authorization}`],
        ]) {
          expect(parsed(await raw(port, wire('GET /api', headers)))).toMatchObject({
            status: 400,
            json: { error: 'invalid_request' },
          })
        }
        expect(parsed(await raw(port, wire('GET /api', [bearer]))).status).toBe(200)
      })

      it('answers every kind of them with its error, and the next request as ever', async () => {
        const { issuerPath } = site
        const good = { grant_type: 'refresh_token', refresh_token: pair.refresh_token }
        const goodBody = new URLSearchParams(good).toString()
        const auth = basic(WEB)
        const type = { 'content-type': 'application/x-www-form-urlencoded' }
        const sound: Ask = { method: 'POST', path: token, headers: { ...type, ...auth }, body: goodBody }
        const typed = (contentType: string): Ask => ({ ...sound, headers: { ...auth, 'content-type': contentType } })
        const withBody = (body: string | Uint8Array): Ask => ({ ...sound, body })
        const withAuth = (authorization: string): Ask => ({ ...sound, headers: { ...type, authorization } })
        const many = Array.from({ length: 2049 }, (_, index) => `a${index}=b`).join('&')
        const cases: readonly (readonly [Ask, number, string])[] = [
          [{ ...sound, headers: auth }, 400, 'invalid_request'],
          [typed('text/plain'), 400, 'invalid_request'],
          [typed('multipart/form-data; boundary=a'), 400, 'invalid_request'],
          [typed('application/x-www-form-urlencoded; charset=iso-8859-1'), 400, 'invalid_request'],
          [{ ...typed('application/json'), body: JSON.stringify(good) }, 400, 'invalid_request'],
          [{ method: 'POST', path: token, headers: { ...type, ...auth } }, 400, 'invalid_request'],
          [withBody(''), 400, 'invalid_request'],
          [withBody('&&&=&='), 400, 'invalid_request'],
          [withBody(`${goodBody}%00`), 400, 'invalid_request'],
          [withBody(`${goodBody}&${goodBody}`), 400, 'invalid_request'],
          [withBody(`${goodBody}&${many}`), 400, 'invalid_request'],
          [withBody(`${goodBody}${'a'.repeat(9_000)}`), 400, 'invalid_request'],
          // A lenient parser of the host hands these on as they are: tokens that nobody has.
          [withBody(`${goodBody}%zz`), 400, parsesForms ? 'invalid_grant' : 'invalid_request'],
          [withBody(`${goodBody}%ff`), 400, parsesForms ? 'invalid_grant' : 'invalid_request'],
          [withBody(`${goodBody}ü`), 400, parsesForms ? 'invalid_grant' : 'invalid_request'],
          [
            withBody(Buffer.concat([Buffer.from(goodBody), Uint8Array.of(0xff, 0xc0, 0x80)])),
            400,
            parsesForms ? 'invalid_grant' : 'invalid_request',
          ],
          [withBody('__proto__=a&constructor=b&prototype[c]=d&toString=e'), 400, 'invalid_request'],
          [withBody('grant_type=__proto__'), 400, 'unsupported_grant_type'],
          [withBody('grant_type=password&username=a&password=b'), 400, 'unsupported_grant_type'],
          [withBody('grant_type=authorization_code'), 400, 'invalid_request'],
          [withBody('grant_type=authorization_code&code=gwc_none'), 400, 'invalid_grant'],
          [withBody(`grant_type=refresh_token&refresh_token=${pair.access_token}`), 400, 'invalid_grant'],
          [withBody(`${goodBody}&scope=repo-delete%3Arw`), 400, 'invalid_scope'],
          [withBody(`${goodBody}&client_secret=a-second-secret`), 400, 'invalid_request'],
          [{ ...sound, path: `${token}?client_secret=a` }, 400, 'invalid_request'],
          [{ ...sound, path: `${token}?%zz=a` }, 400, 'invalid_request'],
          [{ ...sound, headers: type }, 401, 'invalid_client'],
          [withAuth(''), 401, 'invalid_client'],
          [withAuth('Basic'), 401, 'invalid_client'],
          [withAuth('Basic ====='), 401, 'invalid_client'],
          [withAuth(`Basic ${btoa('web')}`), 401, 'invalid_client'],
          [withAuth(`Bearer ${pair.access_token}`), 401, 'invalid_client'],
          [withAuth(basic({ ...WEB, clientSecret: 'wrong' }).authorization), 401, 'invalid_client'],
          [withAuth(basic({ ...WEB, clientId: '__proto__' }).authorization), 401, 'invalid_client'],
          [withAuth(basic(OTHER).authorization), 400, 'invalid_grant'],
          [{ ...sound, path: `${issuerPath}/oauth2/revoke` }, 400, 'invalid_request'],
          [
            { ...form(`${issuerPath}/oauth2/revoke`, { token: pair.refresh_token }), headers: type },
            401,
            'invalid_client',
          ],
        ]
        // A refresh that was made before these makes all of them free of effect.
        await isWell()
        const size = site.test.store.size
        for (const [ask, status, error] of cases) {
          const answer = await send(ask)
          const shown = `${JSON.stringify(ask.headers)} ${ask.path} ${String(ask.body).slice(0, 200)}`
          expect([shown, answer.status]).toEqual([shown, status])
          expect(answer.headers['cache-control']).toBe('no-store')
          expect([shown, JSON.parse(answer.body).error]).toEqual([shown, error])
        }
        expect(site.test.store.size).toBe(size)
        expect(site.test.errors).toEqual([])
        await isWell()
      })

      it('answers every kind of them at the authorization endpoint with a page or a redirect', async () => {
        const { issuerPath } = site
        const path = `${issuerPath}/oauth2/auth`
        const { agree } = await consentForm(site)
        const foreign = { ...agree, headers: { ...agree.headers, origin: 'https://evil.example' } }
        const cases: readonly (readonly [Ask, number])[] = [
          [{ path }, 400],
          [{ path: `${path}?%zz` }, 400],
          [{ path: `${path}?${'a=b&'.repeat(2049)}` }, 400],
          [{ path: issuerPath + authorizationUrl({ client_id: '__proto__' }) }, 400],
          [{ path: issuerPath + authorizationUrl({ redirect_uri: 'https://evil.example/callback' }) }, 400],
          [{ path: `${issuerPath}${authorizationUrl()}&client_id=web` }, 400],
          [{ path: issuerPath + authorizationUrl({ response_type: 'token' }) }, 400],
          [{ path: issuerPath + authorizationUrl({ scope: 'everything' }) }, 400],
          [{ path: issuerPath + authorizationUrl({ response_type: 'token' }), headers: SESSION }, 302],
          [{ path: issuerPath + authorizationUrl({ scope: 'everything' }), headers: SESSION }, 302],
          [form(path, {}, SESSION), 400],
          [{ ...agree, headers: { ...agree.headers, 'content-type': 'text/plain' } }, 400],
          [{ ...agree, headers: { ...agree.headers, cookie: SESSION.cookie } }, 400],
          [{ ...agree, body: String(agree.body).replace(/consent=[^&]*/, 'consent=1.2.3') }, 400],
          [foreign, 400],
        ]
        for (const [ask, status] of cases) {
          const answer = await send(ask)
          expect([ask.path, ask.body, answer.status]).toEqual([ask.path, ask.body, status])
          if (status === 302) {
            const location = new URL(answer.headers['location'] ?? '')
            expect(location.origin).toBe('https://app.example')
            expect(location.searchParams.get('error')).toMatch(/^(unsupported_response_type|invalid_scope)$/)
          } else {
            expect(answer.headers['location']).toBeUndefined()
            expect(answer.body).toContain('<html')
          }
        }
        expect((await send(agree)).status).toBe(302)
      })

      it('[48] takes prototype names in a form as data, and does what the form asks beside them', async () => {
        for (const name of ['__proto__', 'constructor', 'hasOwnProperty', '__proto__[grant_type]']) {
          const ask = retry()
          const body = `${encodeURIComponent(name)}=x&${ask.body}&${encodeURIComponent(name)}=y`
          expect([name, (await send({ ...ask, body })).status]).toEqual([name, 200])
        }
        expect(Object.keys(Object.prototype)).toEqual([])
      })
    })

    describe('connections', () => {
      it('reads a body the same in whatever pieces it comes', async () => {
        const ask = retry()
        const text = String(ask.body)
        const headers = [
          'Content-Type: application/x-www-form-urlencoded',
          `Authorization: ${basic(WEB).authorization}`,
          'Transfer-Encoding: chunked',
        ]
        const expected = JSON.parse((await send(ask)).body)
        await fc.assert(
          fc.asyncProperty(fc.uniqueArray(fc.nat(text.length), { maxLength: 6 }), async (places) => {
            const ends = [...places.sort((a, b) => a - b), text.length]
            const parts = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end)).filter((part) => part !== '')
            const { socket, received, ended } = await open(port)
            socket.write(wire(`POST ${token}`, headers))
            for (const part of parts) {
              socket.write(`${part.length.toString(16)}\r\n${part}\r\n`)
              await new Promise((resolve) => setImmediate(resolve))
            }
            socket.write('0\r\n\r\n')
            await ended
            socket.destroy()
            expect(parsed(received())).toEqual({ status: 200, json: expected })
          }),
          { numRuns: 30 },
        )
      })

      it('[49] waits for a slow body, and answers others meanwhile', async () => {
        const body = String(retry().body)
        const headers = [
          'Content-Type: application/x-www-form-urlencoded',
          `Content-Length: ${body.length}`,
          `Authorization: ${basic(WEB).authorization}`,
        ]
        const { socket, received, ended } = await open(port)
        socket.write(wire(`POST ${token}`, headers))
        for (const [index, character] of [...body].entries()) {
          expect(received()).toBe('')
          socket.write(character)
          if (index % 20 === 0) await isWell()
          else await new Promise((resolve) => setTimeout(resolve, 1))
        }
        await ended
        expect(parsed(received()).status).toBe(200)
        socket.destroy()
      })

      it('[49] loses nothing and half-makes nothing by requests that are cut anywhere', async () => {
        await isWell()
        const agreed = (await consentForm(site)).agree
        const code = new URL((await send(agreed)).headers['location'] ?? '').searchParams.get('code') ?? ''
        // What is missing of it when it is cut late is of no importance, so that what is there would do.
        const fields = new URLSearchParams({
          grant_type: 'authorization_code',
          code,
          other: 'a'.repeat(200),
        }).toString()
        const whole = wire(
          `POST ${token}`,
          ['Content-Type: application/x-www-form-urlencoded', `Authorization: ${basic(WEB).authorization}`],
          fields,
        )
        const size = site.test.store.size
        // Every place but the very end: cut before it is whole, a request must not be acted on.
        const places = Array.from({ length: 60 }, (_, index) => Math.floor((index / 60) * whole.length))
        const cut = [...places, whole.length - 1, whole.length - fields.length, whole.length - fields.length + 1]
        await Promise.all(
          cut.map(async (place) => {
            const { socket } = await open(port)
            socket.write(whole.slice(0, place), () => socket.destroy())
          }),
        )
        const connections = () =>
          new Promise<boolean>((resolve) => site.listening.http.getConnections((_, count) => resolve(count === 0)))
        await eventually(connections)
        await eventually(() => site.calls.begun === site.calls.ended)
        expect(site.test.store.size).toBe(size)
        // So the code is unused still, and this is its first redemption.
        const exchanged = await send(exchanging(code))
        expect(exchanged.status).toBe(200)
        const { refresh_token }: Tokens = JSON.parse(exchanged.body)

        // Cut once it is whole, the answer is lost: asked again, it is the same as ever.
        const lost = wire(
          `POST ${token}`,
          ['Content-Type: application/x-www-form-urlencoded', `Authorization: ${basic(WEB).authorization}`],
          new URLSearchParams({ grant_type: 'refresh_token', refresh_token }).toString(),
        )
        for (let times = 0; times < 10; times++) {
          const { socket } = await open(port)
          socket.write(lost, () => setTimeout(() => socket.destroy(), times % 3))
        }
        await eventually(connections)
        await eventually(() => site.calls.begun === site.calls.ended)
        const again = form(token, { grant_type: 'refresh_token', refresh_token }, basic(WEB))
        const answers = [await send(again), await send(again)]
        expect(answers.map(({ status }) => status)).toEqual([200, 200])
        expect(answers[0]?.body).toBe(answers[1]?.body)
        expect(site.test.errors).toEqual([])
      })

      it('keeps a connection through good and bad requests, and answers pipelined ones in their order', async () => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        let connections = 0
        const count = (): void => {
          connections++
        }
        site.listening.http.on('connection', count)
        const keptAlive = sender(port, agent)
        const bodies: (readonly [Ask, number])[] = [
          [retry(), 200],
          [{ ...retry(), method: 'PUT' }, 405],
          [{ ...retry(), body: 'a=b' }, 400],
          [{ path: token }, 405],
          [{ path: '/api' }, 401],
          [{ path: site.metadataPath }, 200],
          [form(site.metadataPath, { a: 'a'.repeat(10_000) }), 405],
          [{ path: site.issuerPath + authorizationUrl() }, 302],
        ]
        for (let round = 0; round < 5; round++)
          for (const [ask, status] of bodies) expect((await keptAlive(ask)).status).toBe(status)
        expect(connections).toBe(1)
        site.listening.http.off('connection', count)
        agent.destroy()

        const { socket, received, ended } = await open(port)
        const post = (body: string): string =>
          wire(
            `POST ${token}`,
            ['Content-Type: application/x-www-form-urlencoded', `Authorization: ${basic(WEB).authorization}`],
            body,
            'keep-alive',
          )
        const asked = [post(String(retry().body)), wire(`GET ${token}`, [], '', 'keep-alive'), post('a=b')]
        socket.write([...asked, ...asked, wire(`HEAD ${site.metadataPath}`)].join(''))
        await ended
        socket.destroy()
        const statuses = [...received().matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]))
        expect(statuses).toEqual([200, 405, 400, 200, 405, 400, 200])
      })
    })

    describe('who the server is', () => {
      it('[51] is never changed by a Host header or a forwarded header', async () => {
        const { issuerPath, metadataPath } = site
        const asks: readonly Ask[] = [
          { path: metadataPath },
          { path: issuerPath + authorizationUrl({ state: 's' }) },
          { path: issuerPath + authorizationUrl({ client_id: 'nobody' }) },
          { path: issuerPath + authorizationUrl({ response_type: 'token' }) },
          { path: token },
          { path: '/api' },
          retry(),
        ]
        const comparable = ({ status, headers, body }: Answer) => {
          const { date, connection, 'keep-alive': keepAlive, ...rest } = headers
          return { status, headers: rest, body }
        }
        const usual = await Promise.all(asks.map(async (ask) => comparable(await send(ask))))
        const host = fc.oneof(
          fc.domain(),
          fc.constantFrom('evil.example:8443', 'localhost', '[::1]:1', '127.0.0.1'),
          fc.constant(undefined),
        )
        const origin = fc.webAuthority({ withPort: true, withIPv4: true, withIPv6: true })
        const path = fc.constantFrom('', '/', '/oauth2/token', '/a%20b?c#d')
        const address = fc.tuple(fc.constantFrom('http://', 'https://'), origin, path).map((parts) => parts.join(''))
        const value = fc.oneof(
          fc.domain(),
          address,
          fc.constantFrom('https', 'http', '/evil', '443', 'for=1.2.3.4;host=evil.example;proto=https', 'POST', token),
        )
        const headers = fc.dictionary(fc.constantFrom(...HOSTILE_HEADERS), value)
        await fc.assert(
          fc.asyncProperty(fc.nat(asks.length - 1), host, headers, async (index, hostname, forwarded) => {
            const ask = asks[index] ?? retry()
            const named = hostname === undefined ? {} : { Host: hostname }
            const answer = await send({ ...ask, headers: { ...ask.headers, ...named, ...forwarded } })
            expect(comparable(answer)).toEqual(usual[index])
          }),
          { numRuns: 150 },
        )
        // A target in absolute form names a host too (RFC 9112, section 3.2.2), and is understood without it.
        for (const [index, ask] of asks.entries()) {
          const answer = await send({ ...ask, path: `http://evil.example:99${ask.path}` })
          // The guard of the host's route is for the host's router to find.
          const found = ask.path === '/api' ? usual[index] : comparable(answer)
          expect([index, found]).toEqual([index, usual[index]])
        }
        // And in a whole flow: nothing of it is anywhere in what comes back.
        const hostile = Object.fromEntries(HOSTILE_HEADERS.map((name) => [name, 'evil.example']))
        const answers: Answer[] = []
        await walk({
          ...site,
          send: async (ask) => {
            const answer = await send({ ...ask, headers: { ...ask.headers, Host: 'evil.example', ...hostile } })
            answers.push(answer)
            return answer
          },
        })
        expect(JSON.stringify(answers)).not.toContain('evil')
      })
    })

    describe('failures', () => {
      it('[49] tells a client to come again when the store fails, and then nothing is half-made', async () => {
        const kept = memoryStore({ clock: () => START })
        let broken: 'nothing' | 'reads' | 'writes' = 'nothing'
        const failing = <Result>(part: typeof broken, result: () => Result): Result => {
          if (broken === part) throw new Error('secret of the store')
          return result()
        }
        const store: RecordStore = {
          read: (keys) => failing('reads', () => kept.read(keys)),
          write: (key, value, options) => failing('writes', () => kept.write(key, value, options)),
          list: (label, page) => kept.list(label, page),
        }
        const other = await serve(platform, { store })
        try {
          const { test, issuerPath } = other
          const { refresh_token, access_token } = await newPair({}, other)
          const refreshing = form(token, { grant_type: 'refresh_token', refresh_token }, basic(WEB))
          const revoking = form(`${issuerPath}/oauth2/revoke`, { token: access_token }, basic(WEB))
          const calling: Ask = { path: '/api', headers: { authorization: `Bearer ${access_token}` } }
          const { agree } = await consentForm(other)
          const cases = [
            ['reads', refreshing],
            ['reads', revoking],
            ['reads', calling],
            ['reads', { path: issuerPath + authorizationUrl(), headers: SESSION }],
            ['reads', agree],
            ['writes', refreshing],
            ['writes', revoking],
            ['writes', agree],
          ] as const
          for (const [part, ask] of cases) {
            const before = kept.list('client:web')
            broken = part
            const { status, headers, body } = await other.send(ask)
            broken = 'nothing'
            expect([part, ask.path, status]).toEqual([part, ask.path, 503])
            expect(Number(headers['retry-after'])).toBeGreaterThan(0)
            expect(body).not.toContain('secret')
            expect(kept.list('client:web')).toEqual(before)
          }
          expect(test.errors.length).toBeGreaterThanOrEqual(cases.length)
          const answers = [await other.send(refreshing), await other.send(refreshing)]
          expect(answers.map(({ status }) => status)).toEqual([200, 200])
          expect(answers[0]?.body).toBe(answers[1]?.body)
          expect((await other.send(agree)).status).toBe(302)
          expect((await other.send(revoking)).status).toBe(200)
          expect((await other.send(calling)).status).toBe(401)
        } finally {
          await other.listening.close()
        }
      })

      it('[50] outlives a function of the host that fails or gives what no header can hold', async () => {
        let wrong: 'nothing' | 'user' | 'signInUrl' | 'header' | 'entropy' = 'nothing'
        const other = await serve(platform, {
          user: (request) => {
            if (wrong === 'user') throw new Error('secret of the host')
            return sessionUser(request)
          },
          signInUrl: () => {
            if (wrong === 'signInUrl') throw new Error('secret of the host')
            return wrong === 'header' ? '/sign-in\r\nSet-Cookie: a=b; \u0141' : '/sign-in'
          },
          entropy: (length) => {
            if (wrong === 'entropy') throw new Error('secret of the host')
            return globalThis.crypto.getRandomValues(new Uint8Array(length))
          },
        })
        try {
          const path = other.issuerPath + authorizationUrl()
          const { agree } = await consentForm(other)
          const asks = [{ path }, { path, headers: SESSION }, agree, form(token, { grant_type: 'a' }, basic(WEB))]
          for (const part of ['user', 'signInUrl', 'header', 'entropy'] as const) {
            wrong = part
            const answers = await Promise.all(asks.map((ask) => other.send(ask).catch(() => undefined)))
            wrong = 'nothing'
            for (const answer of answers) {
              expect(answer?.body).not.toContain('secret')
              expect(answer?.headers['set-cookie'] ?? '').not.toContain('a=b')
            }
            const failed = answers.filter((answer) => answer?.status === 500)
            expect(failed.length).toBeGreaterThan(0)
            // The host is told what its client is not.
            expect(other.test.errors.length).toBe(failed.length)
            other.test.errors.length = 0
            expect((await other.send({ path })).status).toBe(302)
          }
        } finally {
          await other.listening.close()
        }
      })

      it('[50] answers or ends whatever bytes come, and is there for the next request', async () => {
        const { issuerPath } = site
        const text = fc.string({ unit: 'binary-ascii', maxLength: 60 })
        const name = fc.constantFrom('Content-Type', 'Authorization', 'Cookie', 'Expect', 'Upgrade', 'Range', 'X-Any')
        const value = fc.oneof(
          text.map((any) => any.replaceAll(/[\r\n\0]/g, ' ')),
          fc.constantFrom(
            'application/x-www-form-urlencoded',
            '100-continue',
            'websocket',
            'Basic Og==',
            'Bearer a',
            '',
          ),
        )
        const request = fc
          .record({
            method: fc.constantFrom('GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'CONNECT', 'TRACE'),
            path: fc.oneof(
              fc.constantFrom(token, `${issuerPath}/oauth2/auth`, `${issuerPath}/oauth2/revoke`, '/api', '*'),
              fc
                .constantFrom(`${token}?`, `${issuerPath}/oauth2/auth?`)
                .chain((start) => text.map((any) => start + encodeURI(any))),
              text.map((any) => `/${any.replaceAll(/[^!-~]/g, '')}`),
            ),
            headers: fc.array(fc.tuple(name, value), { maxLength: 4 }),
            body: fc.oneof(
              fc.constant(''),
              fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
              fc
                .array(fc.tuple(fc.constantFrom('grant_type', 'code', 'token', 'request', '__proto__', 'a[b]'), text))
                .map((fields) => String(new URLSearchParams(fields))),
            ),
          })
          .map(({ method, path, headers, body }) =>
            wire(
              `${method} ${path}`,
              headers.map(([each, says]) => `${each}: ${says}`),
              body,
            ),
          )
        const bytes = fc.uint8Array({ maxLength: 200 }).map((any) => Buffer.from(any).toString('latin1'))
        await fc.assert(
          fc.asyncProperty(
            fc.oneof({ weight: 5, arbitrary: request }, { weight: 1, arbitrary: bytes }),
            async (sent) => {
              const { socket, received, ended } = await open(port)
              socket.end(sent, 'latin1')
              await ended
              socket.destroy()
              expect(received()).toMatch(/^$|^HTTP\/1\.1 (?!5)\d{3} /)
            },
          ),
          { numRuns: 150 },
        )
        expect(site.test.errors).toEqual([])
        await isWell()
      })
    })
  })
}
