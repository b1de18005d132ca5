/**
 * The code of docs/guides/remote-api.md: an API in another process than the service.
 * @module
 */

// #region imports
import type { NextFunction, Request, Response } from 'express'
import express from 'express'
import type { ProtectedResource } from 'grantwell'
import type { Client } from 'grantwell/client'
import { discover, resourceServer } from 'grantwell/client'
import { createNodeGuard } from 'grantwell/node'
// #endregion imports
// #region fastify-imports
import type { FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import type { Authorized } from 'grantwell/node'
import { createFastifyGuard } from 'grantwell/node'
// #endregion fastify-imports
// #region hono-imports
import { createFetchGuard } from 'grantwell/fetch'
import { Hono } from 'hono'
// #endregion hono-imports
import type { AuthorizationServer } from 'grantwell'
import { expect, it, vi } from 'vitest'
import { listen } from '../../test/adapters/http.js'
import { always, breaks, hangs, openService } from '../../test/client/service.js'
import { authorize, exchange, registration, revoke } from '../../test/support.js'
import { messageOf, readPage } from './page-words.js'

const APPROVED = registration({ scopes: ['registry-package:rw', 'account-profile:r'] })

async function registerApi(server: AuthorizationServer) {
  // #region register
  const clientId = 'package-registry' // of your choice
  const clientSecret = process.env['API_CLIENT_SECRET'] ?? '' // random, with at least 24 characters

  if ((await server.applications.get(clientId)) === undefined) {
    const api = {
      name: 'Package registry',
      website: 'https://packages.git.example',
      scopes: ['registry-package:rw'], // every scope that a guard of this API asks for
    }
    await server.applications.registerResourceServer(api, { clientId, clientSecret })
  }
  // #endregion register
  return { clientId, clientSecret }
}

const packages = new Map([
  ['left-pad', { name: 'left-pad', owner: 'ada', public: true }],
  ['secret-pad', { name: 'secret-pad', owner: 'ada', public: false }],
])

async function createApi() {
  // #region api
  const issuer = process.env['ISSUER'] ?? 'https://git.example'
  const clientId = process.env['API_CLIENT_ID'] ?? ''
  const clientSecret = process.env['API_CLIENT_SECRET'] ?? ''

  const client = await discover({ issuer, clientId, clientSecret })
  await checkCredentials(client, clientId, clientSecret)
  const guard = createNodeGuard<Request, Response>(resourceServer({ client }))

  const publish = guard(
    {
      scope: 'registry-package:rw',
      resource: ({ params, auth }) => findOwnPackage(String(params['name']), auth.subject),
    },
    ({ auth }, response) => {
      response.json({ published: auth.resource.id, by: auth.subject })
    },
  )

  const app = express()
  app.use(logRefusals)
  app.put('/packages/:name', publish)
  // #endregion api

  return { app, guard, client }
}

// #region check
async function checkCredentials({ metadata }: Client, clientId: string, clientSecret: string): Promise<void> {
  const response = await fetch(String(metadata.introspection_endpoint), {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({ token: 'any text' }),
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new Error(`the service answers ${response.status} to the credentials of this API`)
}
// #endregion check

function createFastifyApi(client: Client) {
  // #region fastify
  const guard = createFastifyGuard(resourceServer({ client }))

  const publish = guard(
    {
      scope: 'registry-package:rw',
      resource: ({ params, auth }: Authorized<FastifyRequest<{ Params: { name: string } }>>) =>
        findOwnPackage(params.name, auth.subject),
    },
    async ({ auth }) => ({ published: auth.resource.id, by: auth.subject }),
  )

  const app = fastify()
  app.addHook('onResponse', async ({ method, routeOptions }, reply) => {
    const challenge = reply.getHeader('www-authenticate')
    if (challenge !== undefined) console.warn(`${method} ${routeOptions.url} ${reply.statusCode}: ${challenge}`)
  })
  app.put('/packages/:name', publish)
  // #endregion fastify
  return app
}

function createHonoApi(client: Client) {
  // #region hono
  const guard = createFetchGuard(resourceServer({ client }))
  const show = guard(
    { scope: 'registry-package:r', resource: ({ auth }, name: string) => findOwnPackage(name, auth.subject) },
    ({ auth }) => Response.json({ name: auth.resource.id }),
  )
  const publish = guard(
    { scope: 'registry-package:rw', resource: ({ auth }, name: string) => findOwnPackage(name, auth.subject) },
    ({ auth }) => Response.json({ published: auth.resource.id, by: auth.subject }),
  )

  const app = new Hono()
  app.use(async (c, next) => {
    await next()
    const challenge = c.res.headers.get('WWW-Authenticate')
    if (challenge !== null) console.warn(`${c.req.method} ${c.req.path} ${c.res.status}: ${challenge}`)
  })
  app.get('/packages/:name', (c) => show(c.req.raw, c.req.param('name')))
  app.put('/packages/:name', (c) => publish(c.req.raw, c.req.param('name')))
  // #endregion hono
  return app
}

// #region refusals
function logRefusals({ method, path }: Request, response: Response, next: NextFunction): void {
  response.on('finish', () => {
    const challenge = response.getHeader('WWW-Authenticate')
    if (challenge !== undefined) console.warn(`${method} ${path} ${response.statusCode}: ${challenge}`)
  })
  next()
}
// #endregion refusals

// #region resource
function findOwnPackage(name: string, subject: string): ProtectedResource | undefined {
  const found = packages.get(name) // stands for your database
  return found && { id: found.name, public: found.public, accessible: found.owner === subject }
}
// #endregion resource

it('guards an API in another process by introspection', async () => {
  const service = await openService()
  const { test, issuer } = service
  const { server } = test
  await server.applications.register(APPROVED, { clientId: 'publisher', clientSecret: 'a-secret-of-the-publisher' })
  vi.stubEnv('API_CLIENT_SECRET', 'a-secret-of-the-package-registry')
  const credentials = await registerApi(server)
  expect(await registerApi(server)).toEqual(credentials) // the next start of the service
  vi.stubEnv('ISSUER', issuer)
  vi.stubEnv('API_CLIENT_ID', credentials.clientId)
  const errors: unknown[] = []
  const refusals: string[] = []
  vi.spyOn(console, 'warn').mockImplementation((text) => refusals.push(text))
  vi.spyOn(console, 'error').mockImplementation((error) => errors.push(error))
  const { app, guard, client } = await createApi()
  const { origin, close } = await listen(app.set('env', 'test'))
  const publisher = { clientId: 'publisher', clientSecret: 'a-secret-of-the-publisher' }
  try {
    const get = async (scope: string, kind = 'all') => {
      const { code } = await authorize(test, { client_id: 'publisher', scope }, { resource_scope: kind })
      return (await exchange(test, code, {}, publisher)).body.access_token
    }
    const put = (name: string, token: string) =>
      fetch(`${origin}/packages/${name}`, { method: 'PUT', headers: { authorization: `Bearer ${token}` } })
    const statusOf = async (name: string, token: string) => (await put(name, token)).status

    const token = await get('registry-package:rw account-profile:r')
    expect(await (await put('secret-pad', token)).json()).toEqual({ published: 'secret-pad', by: 'ada' })
    const forPublic = await get('registry-package:rw', 'public')
    expect([await statusOf('left-pad', forPublic), await statusOf('secret-pad', forPublic)]).toEqual([200, 403])
    expect(await statusOf('left-pad', await get('registry-package:r'))).toBe(403)
    expect(await statusOf('left-pad', await get('account-profile:r'))).toBe(401)
    expect((await fetch(`${origin}/packages/left-pad?access_token=${token}`, { method: 'PUT' })).status).toBe(400)
    expect(refusals.map((line) => line.replace(/error_description="[^"]*"/, '…'))).toEqual([
      'PUT /packages/secret-pad 403: Bearer realm="oauth2", error="insufficient_scope", …',
      'PUT /packages/left-pad 403: Bearer realm="oauth2", error="insufficient_scope", …, scope="registry-package:rw"',
      'PUT /packages/left-pad 401: Bearer realm="oauth2", error="invalid_token", …',
      'PUT /packages/left-pad 400: Bearer realm="oauth2", error="invalid_request", …',
    ])
    expect(errors).toEqual([])

    const introspect = async (text: string): Promise<unknown> => {
      const { clientId, clientSecret } = credentials
      const headers = { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` }
      const body = new URLSearchParams({ token: text })
      return (await fetch(`${issuer}/oauth2/introspect`, { method: 'POST', headers, body })).json()
    }
    expect(await introspect(token)).toEqual({
      active: true,
      token_type: 'bearer',
      exp: expect.any(Number),
      client_id: 'publisher',
      sub: 'ada',
      iss: issuer,
      scope: 'registry-package:rw',
      resources: { kind: 'all' },
      grant_id: expect.any(String),
    })

    await revoke(test, token, {}, publisher)
    expect(await statusOf('left-pad', token)).toBe(401)
    expect(await introspect(token)).toEqual({ active: false })

    service.faults.push({ path: '/oauth2/introspect', fault: breaks })
    const unanswered = await put('left-pad', forPublic)
    expect([unanswered.status, unanswered.headers.get('retry-after')]).toEqual([503, '1'])
    expect(errors).toMatchObject([{ code: 'ERR_UNREACHABLE' }])

    const page = readPage('guides/remote-api')
    expect(page).toContain(await messageOf(() => guard({ scope: 'registry-packages:r' })))
    const empty = { issuer, clientId: 'package-registry', clientSecret: '' }
    expect(page).toContain(await messageOf(() => discover(empty)))
    expect(page).toContain(await messageOf(() => discover({ ...empty, clientId: '' })))
    const withoutSecret = await discover({ issuer, clientId: 'publisher' })
    expect(page).toContain(await messageOf(() => resourceServer({ client: withoutSecret })))
    const wrong = resourceServer({
      client: await discover({ issuer, clientId: credentials.clientId, clientSecret: 'wrong' }),
    })
    const request = { headers: { authorization: `Bearer ${forPublic}` } }
    expect(await wrong.guard()(request)).toMatchObject({ response: { status: 500 } })
    const application = resourceServer({
      client: await discover({ issuer, ...publisher }),
    })
    expect(await application.guard()(request)).toMatchObject({ response: { status: 500 } })
    for (const error of errors.slice(-2)) expect(page).toContain(await messageOf(() => Promise.reject(error)))
    expect(client.issuer).toBe(issuer)
  } finally {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    await Promise.all([close(), service.close()])
  }
})

it('guards an API in Fastify in the same way', async () => {
  const service = await openService()
  const { test, issuer } = service
  const publisher = { clientId: 'publisher', clientSecret: 'a-secret-of-the-publisher' }
  await test.server.applications.register(APPROVED, publisher)
  vi.stubEnv('API_CLIENT_SECRET', 'a-secret-of-the-package-registry')
  const credentials = await registerApi(test.server)
  const refusals: string[] = []
  vi.spyOn(console, 'warn').mockImplementation((text) => refusals.push(text))
  const app = createFastifyApi(await discover({ issuer, ...credentials }))
  try {
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const { code } = await authorize(
      test,
      { client_id: 'publisher', scope: 'registry-package:rw' },
      { resource_scope: 'public' },
    )
    const { access_token } = (await exchange(test, code, {}, publisher)).body
    const put = async (name: string) => {
      const headers = { authorization: `Bearer ${access_token}` }
      const answer = await fetch(`${origin}/packages/${name}`, { method: 'PUT', headers })
      return `${answer.status} ${await answer.text()}`
    }
    expect(await put('left-pad')).toBe('200 {"published":"left-pad","by":"ada"}')
    expect(await put('secret-pad')).toMatch(/^403/)
    expect(refusals).toEqual([expect.stringMatching(/^PUT \/packages\/:name 403: Bearer realm="oauth2"/)])
  } finally {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    await Promise.all([app.close(), service.close()])
  }
})

it('guards an API in Hono, and answers as the page says', async () => {
  const service = await openService({ resources: () => [{ id: 'secret-pad', name: 'secret-pad' }] })
  const { test, issuer } = service
  const publisher = { clientId: 'publisher', clientSecret: 'a-secret-of-the-publisher' }
  await test.server.applications.register(APPROVED, publisher)
  vi.stubEnv('API_CLIENT_SECRET', 'a-secret-of-the-package-registry')
  const credentials = await registerApi(test.server)
  const refusals: string[] = []
  vi.spyOn(console, 'warn').mockImplementation((text) => refusals.push(text))
  const app = createHonoApi(await discover({ issuer, ...credentials }))
  try {
    const { code } = await authorize(
      test,
      { client_id: 'publisher', scope: 'registry-package:rw' },
      { resource_scope: 'specified', resource: 'secret-pad' },
    )
    const { access_token } = (await exchange(test, code, {}, publisher)).body
    const ask = async (method: string, name: string, token = access_token) => {
      const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` }
      const answer = await app.request(`/packages/${name}`, { method, headers })
      return `${answer.status} ${answer.status === 200 ? await answer.text() : ''}`
    }
    expect(await ask('PUT', 'secret-pad')).toBe('200 {"published":"secret-pad","by":"ada"}')
    expect(await ask('GET', 'secret-pad')).toBe('200 {"name":"secret-pad"}')
    expect(await ask('PUT', 'left-pad')).toBe('403 ')
    expect(await ask('PUT', 'secret-pad', '')).toBe('401 ')
    expect(await ask('PUT', 'unknown')).toBe('403 ')
    expect(refusals).toHaveLength(3)
    await revoke(test, access_token, {}, publisher)
    expect(await ask('PUT', 'secret-pad')).toBe('401 ')
  } finally {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    await service.close()
  }
})

it('gets a new secret while processes with the older one work on', async () => {
  const service = await openService()
  const { test, issuer } = service
  const { server } = test
  vi.stubEnv('API_CLIENT_SECRET', 'a-secret-of-the-package-registry')
  const { clientId, clientSecret: older } = await registerApi(server)
  const publisher = { clientId: 'publisher', clientSecret: 'a-secret-of-the-publisher' }
  await server.applications.register(APPROVED, publisher)
  const newToken = async () => {
    const { code } = await authorize(test, { client_id: 'publisher', scope: 'registry-package:rw' })
    return (await exchange(test, code, {}, publisher)).body.access_token
  }
  /** Starts a process of the API with a secret. */
  const start = async (clientSecret: string) => {
    const client = await discover({ issuer, clientId, clientSecret })
    const guard = resourceServer({ client, onError: () => {} }).guard()
    return async (token: string) => {
      const found = await guard({ headers: { authorization: `Bearer ${token}` } })
      return found.type === 'refused' ? found.response.status : 200
    }
  }
  try {
    const running = await start(older)
    // #region rotate
    const { clientSecret } = await server.applications.rotateSecret('package-registry') // the older one works for a day
    // #endregion rotate
    const restarted = await start(clientSecret)
    const token = await newToken()
    expect([await running(token), await restarted(token)]).toEqual([200, 200])
    await registerApi(server) // the next start of the service, with the older secret in its environment
    expect([await running(token), await restarted(token)]).toEqual([200, 200])
    test.clock.now += 86_400
    const later = await newToken()
    expect([await running(later), await restarted(later)]).toEqual([500, 200])

    // #region rotate-leaked
    const fresh = await server.applications.rotateSecret('package-registry', { overlap: 0 }) // all older ones stop now
    // #endregion rotate-leaked
    const last = await start(fresh.clientSecret)
    expect([await restarted(later), await last(later)]).toEqual([500, 200])
  } finally {
    vi.unstubAllEnvs()
    await service.close()
  }
})

it('tells wrong credentials at start, and a suspended API by its reason', async () => {
  const service = await openService()
  const { test, issuer } = service
  const { server } = test
  vi.stubEnv('ISSUER', issuer)
  vi.stubEnv('API_CLIENT_ID', 'package-registry')
  vi.stubEnv('API_CLIENT_SECRET', 'a-secret-of-the-package-registry')
  const reasons = () => test.events.splice(0).map((event) => (event.type === 'refused' ? event.reason : event.type))
  const refused = (status: number) => `the service answers ${status} to the credentials of this API`
  try {
    expect(await messageOf(createApi)).toBe(refused(401))
    await registerApi(server)
    reasons()
    await createApi()
    expect(reasons()).toEqual(['credential_unknown'])
    vi.stubEnv('API_CLIENT_SECRET', 'wrong')
    expect(await messageOf(createApi)).toBe(refused(401))
    vi.stubEnv('API_CLIENT_SECRET', 'a-secret-of-the-package-registry')
    await server.applications.suspend('package-registry')
    expect(await messageOf(createApi)).toBe(refused(401))
    const application = { clientId: 'publisher', clientSecret: 'a-secret-of-the-publisher' }
    await server.applications.register(APPROVED, application)
    vi.stubEnv('API_CLIENT_ID', application.clientId)
    vi.stubEnv('API_CLIENT_SECRET', application.clientSecret)
    expect(await messageOf(createApi)).toBe(refused(403))
    expect(reasons().filter((reason) => reason.startsWith('client_') || reason.startsWith('not_'))).toEqual([
      'client_secret_wrong',
      'client_suspended',
      'not_a_resource_server',
    ])
    const change = () => server.applications.change('package-registry', { ...APPROVED, scopes: [] })
    await expect(change()).rejects.toMatchObject({ code: expect.any(String) })
    always(service, '/.well-known/oauth-authorization-server', hangs)
    const hanging = { issuer, ...application, timeout: 0.2 } as const
    await expect(discover(hanging)).rejects.toMatchObject({ code: 'ERR_UNREACHABLE' })
  } finally {
    vi.unstubAllEnvs()
    await service.close()
  }
})

it('has refused tokens in the audit trail of the service', async () => {
  const service = await openService()
  const { test, issuer } = service
  const { server } = test
  try {
    const api = { name: 'API', website: 'https://packages.git.example', scopes: ['repo-code:rw'] }
    const clientId = 'package-registry'
    const credentials = await server.applications.registerResourceServer(api, { clientId })
    const guard = resourceServer({ client: await discover({ issuer, ...credentials }) }).guard()
    const get = async (scope: string) => {
      const { code } = await authorize(test, { scope })
      return (await exchange(test, code)).body.access_token
    }
    const [revoked, unseen, late] = [await get('repo-code:r'), await get('account-profile:r'), await get('repo-code:r')]
    const statuses: number[] = []
    const ask = async (token: string) => {
      const found = await guard({ headers: { authorization: `Bearer ${token}` } })
      statuses.push(found.type === 'refused' ? found.response.status : 200)
    }
    await revoke(test, revoked)
    test.events.length = 0
    const last = late.endsWith('A') ? 'E' : 'A'
    for (const token of [revoked, unseen, `${late.slice(0, -1)}${last}`, 'no token of this service']) await ask(token)
    test.clock.now += 28_800
    await ask(late)
    expect(statuses).toEqual([401, 401, 401, 400, 401])
    const reasons = ['credential_revoked', 'scope_not_registered', 'credential_unknown', 'credential_expired']
    const any = { at: expect.any(Number), grantId: expect.any(String) }
    const event = { type: 'refused', ...any, endpoint: 'introspection', clientId }
    expect(test.events).toEqual(reasons.map((reason) => ({ ...event, reason })))
    const page = readPage('guides/remote-api')
    for (const reason of reasons) expect(page).toContain(`| \`${reason}\` |`)
  } finally {
    await service.close()
  }
})

it('keeps answers for the time that the service permits', async () => {
  // #region max-age
  const introspectionMaxAge = 10 // seconds; an option of createAuthorizationServer
  // #endregion max-age
  const service = await openService({ introspectionMaxAge })
  const { test, issuer } = service
  try {
    const api = { name: 'API', website: 'https://api.git.example', scopes: ['repo-code:rw'] }
    const credentials = await test.server.applications.registerResourceServer(api)
    const guard = resourceServer({ client: await discover({ issuer, ...credentials }) }).guard()
    const { code } = await authorize(test)
    const { access_token } = (await exchange(test, code)).body
    const request = { headers: { authorization: `Bearer ${access_token}` } }
    for (const _ of [1, 2, 3]) expect(await guard(request)).toMatchObject({ type: 'authenticated' })
    expect(service.paths.filter((path) => path === '/oauth2/introspect')).toHaveLength(1)

    const fresh = resourceServer({ client: await discover({ issuer, ...credentials }), onError: () => {} }).guard()
    always(service, '/oauth2/introspect', breaks)
    expect(await guard(request)).toMatchObject({ type: 'authenticated' })
    expect(await fresh(request)).toMatchObject({ response: { status: 503 } })
    await test.server.grants.revokeAll('ada')
    await test.server.applications.suspend(credentials.clientId)
    expect(await guard(request)).toMatchObject({ type: 'authenticated' })
  } finally {
    await service.close()
  }
})
