/**
 * The code of docs/guides/remote-api.md: an API in another process than the service.
 * @module
 */

// #region imports
import type { Request, Response } from 'express'
import express from 'express'
import type { ProtectedResource } from 'grantwell'
import { discover, resourceServer } from 'grantwell/client'
import { createNodeGuard } from 'grantwell/node'
// #endregion imports
import type { AuthorizationServer } from 'grantwell'
import { expect, it, vi } from 'vitest'
import { listen } from '../../test/adapters/http.js'
import { breaks, openService } from '../../test/client/service.js'
import { authorize, exchange, registration, revoke } from '../../test/support.js'
import { messageOf, readPage } from './page-words.js'

const APPROVED = registration({ scopes: ['registry-package:rw', 'account-profile:r'] })

async function registerApi(server: AuthorizationServer) {
  // #region register
  const { clientId, clientSecret } = await server.applications.registerResourceServer({
    name: 'Package registry',
    website: 'https://packages.git.example',
    scopes: ['registry-package:rw'], // the scopes that this API may see
  })
  // #endregion register
  return { clientId, clientSecret }
}

const packages = new Map([
  ['left-pad', { owner: 'ada', public: true }],
  ['secret-pad', { owner: 'ada', public: false }],
])

async function createApi() {
  // #region api
  const client = await discover({
    issuer: process.env['ISSUER'] ?? 'https://git.example',
    clientId: process.env['API_CLIENT_ID'] ?? '',
    clientSecret: process.env['API_CLIENT_SECRET'] ?? '',
  })
  const guard = createNodeGuard<Request, Response>(resourceServer({ client }))

  const publish = guard(
    {
      scope: 'registry-package:rw',
      resource: ({ params, auth }) => findPackage(String(params['name']), auth.subject),
    },
    ({ auth }, response) => {
      response.json({ published: auth.resource.id, by: auth.subject })
    },
  )

  const app = express()
  app.put('/packages/:name', publish)
  // #endregion api
  return { app, guard, client }
}

// #region resource
function findPackage(name: string, subject: string): ProtectedResource | undefined {
  const found = packages.get(name) // stands for your database
  return found && { id: name, public: found.public, accessible: found.owner === subject }
}
// #endregion resource

it('guards an API in another process by introspection', async () => {
  const service = await openService()
  const { test, issuer } = service
  const { server } = test
  await server.applications.register(APPROVED, { clientId: 'publisher', clientSecret: 'a-secret-of-the-publisher' })
  const credentials = await registerApi(server)
  process.env['ISSUER'] = issuer
  process.env['API_CLIENT_ID'] = credentials.clientId
  process.env['API_CLIENT_SECRET'] = credentials.clientSecret
  const errors: unknown[] = []
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
    await Promise.all([close(), service.close()])
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
  } finally {
    await service.close()
  }
})
