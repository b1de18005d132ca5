/**
 * A server whose scopes have the host's own spelling: what clients ask for, get, and may do.
 * @module
 * @see RFC 6749, sections 3.3, 5.1 and 6
 */
import { createAuthorizationServer, scopeCatalogue, serviceScopes } from 'grantwell'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../support.js'
import { authorize, call, exchange, ISSUER, openConsent, refresh, registration, send, testServer } from '../support.js'

const definitions = [
  ...serviceScopes().definitions,
  { scope: 'repo', permission: 'rw', description: 'All of your repositories', includes: ['repo:status'] },
  { scope: 'repo:status', permission: 'r', description: 'States of commits' },
  { scope: 'openid', permission: 'r', description: 'Who you are' },
] as const

const APP = { clientId: 'app', clientSecret: 'a-secret-of-the-application-with-tokens' }
const CALLBACK = 'https://tokens.example/callback'

async function serverWith(unknown: 'refuse' | 'leave_out'): Promise<TestServer> {
  const test = await testServer({ scopes: scopeCatalogue(definitions, { unknown }) })
  const details = registration({
    redirectUris: [CALLBACK],
    scopes: ['repo', { scope: 'openid', reason: 'To greet you by your name.' }],
    deviceFlow: true,
  })
  await test.server.applications.register(details, APP)
  return test
}

const asked = (scope?: string) => ({ client_id: APP.clientId, redirect_uri: CALLBACK, scope })

async function pairFor(test: TestServer, scope?: string) {
  const { code } = await authorize(test, asked(scope))
  return (await exchange(test, code, { redirect_uri: CALLBACK }, APP)).body
}

describe('a scope in the host’s own spelling', () => {
  it('is granted, narrowed at a refresh to one that it includes, and opens what it includes', async () => {
    const test = await serverWith('refuse')
    const first = await pairFor(test)
    expect(first.scope).toBe('repo openid')
    expect((await call(test, first.access_token, 'repo:status openid')).type).toBe('authenticated')
    const narrowed = (await refresh(test, first.refresh_token, { scope: 'repo:status' }, APP)).body
    expect(narrowed.scope).toBe('repo:status')
    expect((await call(test, narrowed.access_token, 'repo:status')).type).toBe('authenticated')
    expect(await call(test, narrowed.access_token, 'repo')).toMatchObject({
      type: 'refused',
      error: { code: 'insufficient_scope' },
    })
  })

  it('stands on the consent page under the heading of its permission', async () => {
    const { page } = await openConsent(await serverWith('refuse'), asked('openid repo'))
    expect(page.body).toMatch(/Read and change<.*All of your repositories.*>Read<.*Who you are/s)
  })

  it('may be asked for where one that includes it is registered', async () => {
    const test = await serverWith('refuse')
    expect((await pairFor(test, 'repo:status')).scope).toBe('repo:status')
    const { response } = await authorize(test, asked('repo repo:status'))
    expect(response.headers['Location']).toContain('code=')
  })

  it('is in the metadata, beside the names', async () => {
    const { server } = await serverWith('refuse')
    const { body } = await send(server, { url: '/.well-known/oauth-authorization-server' })
    expect(JSON.parse(body).scopes_supported).toEqual(
      expect.arrayContaining(['repo-code:r', 'repo-code:rw', 'repo', 'repo:status', 'openid']),
    )
  })

  it('may be approved as one that it includes, with the reason that was given for the wider one', async () => {
    const test = await serverWith('refuse')
    const scopes = [{ scope: 'repo', reason: 'To show builds.' }]
    const { id } = await test.server.applications.submit({ ...registration(), scopes })
    await test.server.applications.approve(id, { revision: 1, scopes: ['repo:status'] })
    expect(await test.server.applications.get(id)).toMatchObject({
      scopes: ['repo:status'],
      reasons: { 'repo:status': 'To show builds.' },
    })
  })
})

describe('a catalogue that changed', () => {
  it('leaves a form that can be answered, although the registration has scopes that are gone or included by now', async () => {
    const gone = { scope: 'gone', permission: 'r', description: '' } as const
    const apart = definitions.map((each) => ('includes' in each ? { ...each, includes: [] } : each))
    const test = await testServer({ scopes: scopeCatalogue([...apart, gone]) })
    const details = registration({ redirectUris: [CALLBACK], scopes: ['gone', 'repo', 'repo:status'] })
    await test.server.applications.register(details, APP)
    const server = createAuthorizationServer({
      issuer: ISSUER,
      store: test.store,
      scopes: scopeCatalogue(definitions),
      user: () => test.session.user,
      signInUrl: () => '/sign-in',
      clock: () => test.clock.now,
    })
    const { response } = await authorize({ ...test, server }, asked())
    expect(response.headers['Location']).toContain('code=')
  })
})

describe('an unknown scope', () => {
  it('is an error by default, and always where no known one is beside it', async () => {
    const strict = await serverWith('refuse')
    const lenient = await serverWith('leave_out')
    for (const [test, scope] of [
      [strict, 'openid profile'],
      [strict, 'profile'],
      [lenient, 'profile email'],
    ] as const)
      await expect(openConsent(test, asked(scope))).rejects.toThrow('error=invalid_scope')
  })

  it('is left out of the grant where the catalogue says so, and `scope` tells the client', async () => {
    const test = await serverWith('leave_out')
    const first = await pairFor(test, 'openid profile email')
    expect(first.scope).toBe('openid')
    expect((await refresh(test, first.refresh_token, { scope: 'openid offline_access' }, APP)).body.scope).toBe(
      'openid',
    )
  })

  it('is left out of what a device asks for, too', async () => {
    const test = await serverWith('leave_out')
    const form = new URLSearchParams({ client_id: 'app', client_secret: APP.clientSecret, scope: 'openid profile' })
    const response = await send(test.server, {
      method: 'POST',
      url: '/oauth2/device_authorization',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: { type: 'text', text: form.toString() },
    })
    const { user_code }: { readonly user_code: string } = JSON.parse(response.body)
    const { body } = await send(test.server, { url: `/oauth2/device?user_code=${user_code}` })
    expect(body).toContain('user_code')
    expect(response.status).toBe(200)
  })

  it('never opens a route: a guard that needs one is refused at the start', async () => {
    const { server } = await serverWith('leave_out')
    expect(() => server.guard({ scope: 'openid profile' })).toThrow('must be scopes of the catalogue')
  })
})
