/**
 * Headers that a host has set before an answer of ours: none is lost but those that our answer decides.
 * @module
 */
import { request as httpRequest, type RequestListener } from 'node:http'
import express from 'express'
import { fastify } from 'fastify'
import type { AuthorizationServer } from 'grantwell'
import { createFastifyGuard, createNodeGuard, createNodeHandler } from 'grantwell/node'
import { describe, expect, it } from 'vitest'
import { authorizationUrl, basic, testServer, WEB } from '../support.js'
import type { Ask } from './http.js'
import { form, listen } from './http.js'

/** Headers that a host may have set, with names in upper or lower case. */
const HOST: Readonly<Record<string, string | string[]>> = {
  'set-cookie': ['session=1; Path=/', 'theme=dark'],
  VARY: 'Accept-Encoding',
  Link: '</a.css>; rel=preload',
  'WWW-authenticate': 'Negotiate',
  'Server-Timing': 'host;dur=1',
  'X-Request-Id': '7',
  'Strict-Transport-Security': 'max-age=1',
  'Access-Control-Allow-Origin': 'https://app.example',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'content-security-policy': "default-src 'self'",
  'X-FRAME-OPTIONS': 'SAMEORIGIN',
  'referrer-policy': 'origin',
  'cache-control': 'public',
  pragma: 'host',
  'content-type': 'text/x-host',
  'content-encoding': 'br',
  location: '/host',
}
const LISTS = ['set-cookie', 'vary', 'link', 'www-authenticate', 'server-timing']
const OF_BODIES = ['content-type', 'content-encoding']

const PLACES: Readonly<Record<string, (server: AuthorizationServer, headers: typeof HOST) => RequestListener>> = {
  http: (server, headers) => {
    const [handler, guard] = [
      createNodeHandler(server),
      createNodeGuard(server)({ scope: 'repo-code:r' }, (_, r) => r.end()),
    ]
    return (request, response) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
      if (request.url === '/api') guard(request, response)
      else handler(request, response)
    }
  },
  Express: (server, headers) => {
    const app = express()
    app.use((_, response, next) => {
      response.set(headers)
      next()
    })
    app.use('/api', createNodeGuard(server)({ scope: 'repo-code:r' }))
    return app.use(createNodeHandler(server))
  },
}

/** A response's headers, each with its lines. */
function linesOf(port: number, { method = 'GET', path, headers = {}, body }: Ask) {
  return new Promise<{ status: number; headers: Record<string, readonly string[]> }>((resolve, reject) => {
    httpRequest({ port, host: '127.0.0.1', method, path, headers, agent: false }, (response) => {
      const { date, connection, 'keep-alive': kept, ...rest } = response.headersDistinct
      const all = Object.entries(rest).map(([name, lines]) => [name, lines ?? []] as const)
      response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(all) }))
    })
      .on('error', reject)
      .end(body)
  })
}

const ASKS: readonly Ask[] = [
  { path: authorizationUrl() },
  { path: authorizationUrl({ client_id: 'nobody' }) },
  { path: authorizationUrl({ scope: 'x' }) },
  form('/oauth2/auth', { request: 'x' }),
  form('/oauth2/token', { grant_type: 'x' }, basic(WEB)),
  form('/oauth2/token', { grant_type: 'refresh_token', refresh_token: 'x' }),
  form('/oauth2/token', { grant_type: 'refresh_token' }, basic({ ...WEB, clientSecret: 'wrong' })),
  { path: '/oauth2/token' },
  form('/oauth2/revoke', { token: 'x' }, basic(WEB)),
  form('/oauth2/introspect', { token: 'x' }, basic(WEB)),
  form('/oauth2/device_authorization', { scope: 'repo-code:r' }, basic(WEB)),
  { path: '/oauth2/device' },
  form('/oauth2/device', { user_code: 'x' }),
  { path: '/oauth2/applications' },
  { path: '/oauth2/style.css' },
  { path: '/oauth2/logo' },
  { path: '/.well-known/oauth-authorization-server' },
  { path: '/api' },
  { path: '/api', headers: { authorization: 'Bearer x' } },
]

describe.each(Object.entries(PLACES))('headers of the host at %s', (_name, listener) => {
  it.each(ASKS.map((ask) => [ask.method ?? 'GET', ask.path, ask] as const))(
    '%s %s: all stay that may',
    async (...[, , ask]) => {
      const { server } = await testServer()
      const [bare, full] = [await listen(listener(server, {})), await listen(listener(server, HOST))]
      const ours = await linesOf(bare.port, ask)
      const both = await linesOf(full.port, ask)
      expect(both.status).toBe(ours.status)
      for (const [name, lines] of Object.entries(ours.headers)) {
        const isKey = name === 'set-cookie' // whose value is random
        const known = LISTS.includes(name) ? both.headers[name]?.slice(-lines.length) : both.headers[name]
        const isOther = name === 'content-length' || name === 'etag' || name === 'x-powered-by'
        const found = isOther ? lines : known
        expect([name, isKey ? found?.length : found]).toEqual([name, isKey ? lines.length : lines])
      }
      const host = Object.entries(HOST).map(([given, value]) => [given.toLowerCase(), value] as const)
      for (const [name, value] of host.filter(([each]) => LISTS.includes(each)))
        expect(both.headers[name]).toEqual(expect.arrayContaining([value].flat()))
      const others = host.filter(([each]) => !LISTS.includes(each) && ours.headers[each] === undefined)
      for (const [name, value] of others)
        expect([name, both.headers[name]]).toEqual([name, OF_BODIES.includes(name) ? undefined : [value]])
      await Promise.all([bare.close(), full.close()])
    },
  )
})

describe('headers of the host at Fastify', () => {
  it('stay where its guard refuses, and challenges are added to', async () => {
    const { server } = await testServer()
    const app = fastify()
    app.addHook('onRequest', async (_request, reply) => {
      for (const [name, value] of Object.entries(HOST)) reply.header(name, value)
    })
    app.get(
      '/api',
      createFastifyGuard(server)({ scope: 'repo-code:r' }, async () => 'ok'),
    )
    const { statusCode, headers } = await app.inject({ url: '/api', headers: { authorization: 'Bearer x' } })
    expect(statusCode).toBe(401)
    expect(headers['www-authenticate']).toMatch(/^Negotiate, Bearer .*error="invalid_token"/)
    expect(headers['set-cookie']).toEqual(HOST['set-cookie'])
    for (const name of ['vary', 'link', 'x-request-id', 'strict-transport-security', 'server-timing'])
      expect(headers[name]).toBe(Object.entries(HOST).find(([given]) => given.toLowerCase() === name)?.[1])
    expect(headers['content-type']).toBe('application/json;charset=UTF-8')
    const empty = await app.inject({ url: '/api' })
    for (const each of [headers, empty.headers]) expect(each['content-encoding']).toBeUndefined()
    expect(empty.headers['content-type']).toBeUndefined()
    await app.close()
  })
})
