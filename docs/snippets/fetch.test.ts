/**
 * The code of docs/start/fetch.md: a service on `Request` and `Response`, and its first token.
 * @module
 */

// #region imports
import type { User } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { createFetchGuard, createFetchHandler } from 'grantwell/fetch'
import { memoryStore } from 'grantwell/storage/memory'
// #endregion imports
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { listen } from '../../test/adapters/http.js'
import { Browser } from '../../test/examples/visitor.js'

// #region hono-imports
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
// #endregion hono-imports

// #region session
const sessions = new Map<string, User>() // stands for your sessions

function userOf(request: Request): User | undefined {
  const id = /(?:^|; )session=([^;]+)/.exec(request.headers.get('cookie') ?? '')?.[1]
  return id === undefined ? undefined : sessions.get(id)
}
// #endregion session

/** Makes the service for an issuer. */
async function createService(issuer: string) {
  // #region server
  const server = createAuthorizationServer<Request>({
    issuer, // 'http://127.0.0.1:8080' here, https://your.host in production
    store: memoryStore(), // everything is gone when the process ends
    user: ({ native }) => (native === undefined ? undefined : userOf(native)),
    signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
  })
  const oauth = createFetchHandler(server)
  // #endregion server

  // #region sign-in
  async function signIn(request: Request): Promise<Response> {
    if (request.method !== 'POST') {
      const form = '<form method="post"><input name="name"><button>Sign in</button></form>'
      return new Response(form, { headers: { 'content-type': 'text/html;charset=UTF-8' } })
    }
    const returnTo = new URL(new URL(request.url).searchParams.get('return_to') ?? '', issuer)
    if (returnTo.origin !== issuer) return new Response('return_to leads to another site', { status: 400 })
    const id = crypto.randomUUID()
    const name = String((await request.formData()).get('name'))
    sessions.set(id, { subject: name, name }) // check a password first
    const secure = issuer.startsWith('https:') ? '; Secure' : ''
    const cookie = `session=${id}; Path=/; HttpOnly; SameSite=Lax${secure}`
    return new Response(null, { status: 303, headers: { location: returnTo.href, 'set-cookie': cookie } })
  }
  // #endregion sign-in

  // #region route
  const guard = createFetchGuard(server)
  const profile = guard({ scope: 'account-profile:r' }, ({ auth }) =>
    Response.json({ user: auth.subject, application: auth.clientId }),
  )
  // #endregion route

  // #region service
  const service = {
    async fetch(request: Request): Promise<Response> {
      if (server.owns(request.url)) return oauth(request)
      const { pathname } = new URL(request.url)
      if (pathname === '/sign-in') return signIn(request)
      if (pathname === '/api/profile') return profile(request)
      return new Response('Not found\n', { status: 404 })
    },
  }
  // #endregion service

  // #region register
  const { clientId, clientSecret } = await server.applications.register(
    {
      name: 'First application',
      logo: Uint8Array.from(atob('R0lGODlhAQABAIAAAB9vXP///ywAAAAAAQABAAACAkQBADs='), (each) => each.charCodeAt(0)),
      website: 'https://app.example',
      type: 'confidential',
      redirectUris: ['http://127.0.0.1/callback'],
      scopes: ['account-profile:r'],
      resourceScope: 'all',
    },
    { clientId: 'first' },
  )
  console.log(`${clientId} ${clientSecret}`) // for this page alone: a secret does not belong in a log
  // #endregion register

  return { server, oauth, signIn, profile, service, clientSecret: clientSecret ?? expect.fail('no secret') }
}

/** Walks the flow at a service that listens, and checks that the token opens the route. */
async function getToken(issuer: string, clientSecret: string): Promise<void> {
  const browser = new Browser()
  const link =
    `${issuer}/oauth2/auth?response_type=code&client_id=first&state=anything` +
    '&redirect_uri=http://127.0.0.1:9000/callback&scope=account-profile:r'
  const signIn = await browser.open(link)
  await browser.open(signIn)
  await browser.open(await browser.submit([['name', 'ada']]))
  expect(browser.html).toContain('First application')
  const callback = await browser.submit([
    ['decision', 'agree'],
    ['resource_scope', 'all'],
  ])
  const answer = await fetch(`${issuer}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`first:${clientSecret}`)}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: new URL(callback).searchParams.get('code') ?? '',
      redirect_uri: 'http://127.0.0.1:9000/callback',
    }),
  })
  const { access_token } = (await answer.json()) as { access_token: string } // else the next call fails
  const headers = { authorization: `Bearer ${access_token}` }
  const profile = await fetch(`${issuer}/api/profile`, { headers })
  expect(await profile.json()).toEqual({ user: 'ada', application: 'first' })
  expect((await fetch(`${issuer}/api/profile`)).status).toBe(401)
  expect((await fetch(`${issuer}/elsewhere`)).status).toBe(404)
}

it('gives a first token as a service with fetch', async () => {
  let handle: (request: Request) => Promise<Response> = () => expect.fail('not ready')
  const app = new Hono().all('*', (context) => handle(context.req.raw))
  const http = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo // it listens on TCP
  try {
    const issuer = `http://127.0.0.1:${port}`
    const { service, clientSecret } = await createService(issuer)
    handle = service.fetch
    await getToken(issuer, clientSecret)
  } finally {
    await new Promise((closed) => http.close(closed))
  }
})

it('gives a first token in Hono', async () => {
  const probe = await listen(() => {})
  await probe.close()
  const { port } = probe
  const issuer = `http://127.0.0.1:${port}`
  const { oauth, signIn, profile, clientSecret } = await createService(issuer)
  // #region hono
  const app = new Hono()
  app.on(['GET', 'POST'], '/sign-in', (c) => signIn(c.req.raw))
  app.get('/api/profile', (c) => profile(c.req.raw))
  app.all('*', (c) => oauth(c.req.raw, c.env)) // last: it answers 404 for paths that are not its own

  const http = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' })
  // #endregion hono
  await once(http, 'listening')
  try {
    await getToken(issuer, clientSecret)
  } finally {
    await new Promise((closed) => http.close(closed))
  }
})

it('answers as the page says where a body was read before, and where a router strips a prefix', async () => {
  const { oauth } = await createService('http://127.0.0.1')
  const body = new URLSearchParams({ grant_type: 'authorization_code', client_id: 'first' })
  const read = new Request('http://127.0.0.1/oauth2/token', { method: 'POST', body })
  await read.text()
  const answer = await oauth(read)
  expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_request' })])

  const options = { store: memoryStore(), user: () => undefined, signInUrl: () => '/' }
  const statusOf = async (more: { readonly mountPath?: string }): Promise<number> => {
    const server = createAuthorizationServer<Request>({ ...options, issuer: 'http://127.0.0.1/auth', ...more })
    return (await createFetchHandler(server)(new Request('http://127.0.0.1/oauth2/style.css'))).status
  }
  expect([await statusOf({}), await statusOf({ mountPath: '' })]).toEqual([404, 200])
})
