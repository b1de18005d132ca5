/**
 * The code of docs/start/express.md: a service in Express, and its first token.
 * @module
 */

// #region imports
import { randomUUID } from 'node:crypto'
import type { Request, Response } from 'express'
import express from 'express'
import type { User } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { createNodeGuard, createNodeHandler, nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
// #endregion imports
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, vi } from 'vitest'
import { Browser } from '../../test/examples/visitor.js'
import { registration } from '../../test/support.js'
import { messageOf, readPage } from './page-words.js'

// #region session
const sessions = new Map<string, User>() // stands for your sessions

function userOf(request: Request): User | undefined {
  const id = /(?:^|; )session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1]
  return id === undefined ? undefined : sessions.get(id)
}
// #endregion session

async function startService() {
  // #region server
  const port = Number(process.env['PORT'] ?? 8080)
  const issuer = `http://127.0.0.1:${port}` // https://your.host in production
  const server = createAuthorizationServer<Request>({
    issuer,
    store: memoryStore(), // everything is gone when the process ends
    digests: nodeDigests,
    user: ({ native }) => (native === undefined ? undefined : userOf(native)),
    signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
    onEvent: (event) => console.log(JSON.stringify(event)), // keep these lines
  })

  const app = express()
  app.use(createNodeHandler(server))
  // #endregion server

  // #region sign-in
  app.get('/sign-in', (_request, response) => {
    response.send('<form method="post"><input name="name"><button>Sign in</button></form>')
  })
  app.post('/sign-in', express.urlencoded(), (request, response) => {
    const returnTo = new URL(String(request.query['return_to']), issuer)
    if (returnTo.origin !== issuer) {
      response.status(400).send('return_to leads to another site')
      return
    }
    const id = randomUUID()
    const name = String(request.body.name)
    sessions.set(id, { subject: name, name }) // check a password first
    response.cookie('session', id, { httpOnly: true, sameSite: 'lax', secure: issuer.startsWith('https:') })
    response.redirect(303, returnTo.href)
  })
  // #endregion sign-in

  // #region route
  const guard = createNodeGuard<Request, Response>(server)
  const profile = guard({ scope: 'account-profile:r' }, ({ auth }, response) => {
    response.json({ user: auth.subject, application: auth.clientId })
  })
  app.get('/api/profile', profile)
  // #endregion route

  // #region register
  if ((await server.applications.get('first')) === undefined) {
    const { clientId, clientSecret } = await server.applications.register(
      {
        name: 'First application',
        logo: Buffer.from('R0lGODlhAQABAIAAAB9vXP///ywAAAAAAQABAAACAkQBADs=', 'base64'),
        website: 'https://app.example',
        type: 'confidential',
        redirectUris: ['http://127.0.0.1/callback'], // on loopback, any port
        scopes: ['account-profile:r'],
        resourceScope: 'all',
      },
      { clientId: 'first' },
    )
    console.log(`${clientId} ${clientSecret}`) // for this page alone: a secret does not belong in a log
  }

  const http = app.listen(port, '127.0.0.1', () => console.log(`listening at ${issuer}`))
  // #endregion register

  return { server, guard, issuer, http }
}

/** Finds a port that is free at the moment. */
async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((listening) => probe.listen(0, '127.0.0.1', listening))
  const { port } = probe.address() as AddressInfo // it listens on TCP
  await new Promise((closed) => probe.close(closed))
  return port
}

const AGREED = [
  ['decision', 'agree'],
  ['resource_scope', 'all'],
] as const

/** Picks the two tokens of an answer. */
function newTokens(answer: unknown): { access_token: string; refresh_token: string } {
  const { access_token, refresh_token } = answer as { access_token: string; refresh_token: string } // of the token endpoint
  return { access_token, refresh_token }
}

it('gives a first token to an application whose user signs in and agrees', async () => {
  process.env['PORT'] = String(await freePort())
  const printed = vi.spyOn(console, 'log')
  const { server, guard, issuer, http } = await startService()
  const lines = printed.mock.calls.map(([line]) => String(line))
  printed.mockRestore()
  const clientSecret =
    lines.find((line) => line.startsWith('first gws_'))?.slice('first '.length) ?? expect.fail('none')
  try {
    const browser = new Browser()
    const link =
      `${issuer}/oauth2/auth?response_type=code&client_id=first&state=anything` +
      '&redirect_uri=http://127.0.0.1:9000/callback&scope=account-profile:r'
    const signIn = await browser.open(link)
    expect(signIn.startsWith(`${issuer}/sign-in?return_to=${encodeURIComponent(`${issuer}/oauth2/auth?`)}`)).toBe(true)
    await browser.open(signIn)
    await browser.open(await browser.submit([['name', 'ada']]))
    expect(browser.html).toContain('First application')

    const callback = new URL(await browser.submit(AGREED))
    expect(callback.href).toMatch(/^http:\/\/127\.0\.0\.1:9000\/callback\?code=gwc_/)
    expect([...callback.searchParams.keys()]).toEqual(['code', 'state', 'iss'])

    const redeem = async (secret: string, code = callback.searchParams.get('code') ?? ''): Promise<unknown> => {
      const body = new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: 'http://127.0.0.1:9000/callback',
      })
      const headers = { authorization: `Basic ${btoa(`first:${secret}`)}` }
      return (await fetch(`${issuer}/oauth2/token`, { method: 'POST', headers, body })).json()
    }
    expect(await redeem('wrong')).toMatchObject({ error: 'invalid_client' })
    const tokens = await redeem(clientSecret)
    expect(tokens).toEqual({
      access_token: expect.any(String),
      token_type: 'bearer',
      expires_in: 28_800,
      refresh_token: expect.any(String),
      scope: 'account-profile:r',
    })

    const { access_token } = tokens as { access_token: string } // as above
    const call = (headers: Record<string, string>) => fetch(`${issuer}/api/profile`, { headers })
    const profile = await call({ authorization: `Bearer ${access_token}` })
    expect(await profile.json()).toEqual({ user: 'ada', application: 'first' })
    const refused = await call({})
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="oauth2"'])

    expect(await redeem(clientSecret)).toMatchObject({ error: 'invalid_grant' })
    expect((await call({ authorization: `Bearer ${access_token}` })).status).toBe(401)
    await browser.open(link) // the session is still there
    const second = new URL(await browser.submit(AGREED)).searchParams.get('code') ?? ''
    const granted = await redeem(clientSecret, second)
    const { access_token: first, refresh_token } = newTokens(granted)
    const post = (path: string, fields: Record<string, string>) => {
      const headers = { authorization: `Basic ${btoa(`first:${clientSecret}`)}` }
      return fetch(issuer + path, { method: 'POST', headers, body: new URLSearchParams(fields) })
    }
    const refreshed = await (await post('/oauth2/token', { grant_type: 'refresh_token', refresh_token })).json()
    expect(refreshed).toEqual({ ...(granted as object), ...newTokens(refreshed) })
    const retried = await (await post('/oauth2/token', { grant_type: 'refresh_token', refresh_token })).json()
    expect(newTokens(retried)).toEqual(newTokens(refreshed))
    expect(newTokens(refreshed)).not.toEqual(newTokens(granted))
    const statusWith = async (token: string) => (await call({ authorization: `Bearer ${token}` })).status
    expect(await statusWith(newTokens(refreshed).access_token)).toBe(200)
    expect(await statusWith(first)).toBe(200) // for 5 minutes

    const revoked = await post('/oauth2/revoke', { token: newTokens(refreshed).refresh_token })
    expect([revoked.status, await revoked.text()]).toEqual([200, ''])
    expect(await statusWith(newTokens(refreshed).access_token)).toBe(401)
    const late = await post('/oauth2/token', {
      grant_type: 'refresh_token',
      refresh_token: newTokens(refreshed).refresh_token,
    })
    expect([late.status, await late.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })])
    const unknown = await post('/oauth2/revoke', { token: 'unknown' })
    expect([unknown.status, await unknown.text()]).toEqual([200, ''])

    await browser.open(link.replace('127.0.0.1:9000', 'elsewhere.example'))
    expect([browser.status, browser.html.includes('This link cannot be accessed')]).toEqual([400, true])

    const elsewhere = `${issuer}/sign-in?return_to=https://evil.example/`
    const body = new URLSearchParams({ name: 'ada' })
    expect((await fetch(elsewhere, { method: 'POST', body, redirect: 'manual' })).status).toBe(400)

    const page = readPage('start/express')
    const options = { store: memoryStore(), user: () => undefined, signInUrl: () => '/' }
    const wrongIssuer = () => createAuthorizationServer({ ...options, issuer: 'http://git.example' })
    expect(page).toContain(`| \`${await messageOf(wrongIssuer)}\` |`)
    expect(page).toContain(`| \`${await messageOf(() => guard({ scope: 'acount-profile:r' }))}\` |`)
    const application = await server.applications.get('first')
    expect(application?.state).toBe('approved')
    const again = () => server.applications.register(registration(), { clientId: 'first' })
    expect(page).toContain(`| \`${await messageOf(again)}\`, with the code \`ERR_CLIENT_EXISTS\` |`)
    const both = [1, 2].map(() => server.applications.register(registration(), { clientId: 'second' }))
    const lost = (await Promise.allSettled(both)).filter(({ status }) => status === 'rejected')
    expect(lost).toEqual([{ status: 'rejected', reason: expect.objectContaining({ code: 'ERR_CLIENT_EXISTS' }) }])
  } finally {
    await new Promise((closed) => http.close(closed))
  }
})
