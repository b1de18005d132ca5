/**
 * The code of docs/guides/browser-clients.md: an application that is a page, its exchange, and an API that it calls.
 * @module
 */

// #region imports
import type { User } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { createNodeGuard, createNodeHandler } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import type { Request, Response } from 'express'
import express from 'express'
// #endregion imports

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { authorize, CHALLENGE, LOGO, VERIFIER } from '../../test/support.js'
import { messageOf, readPage } from './page-words.js'

const APP = 'https://app.example'

/** Opens the service of the page. */
async function openService() {
  const http = createServer()
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}` // it listens on TCP
  const store = memoryStore()
  const user = (): User => ({ subject: 'ada' })
  const signInUrl = () => '/sign-in'
  const logo = LOGO

  // #region server
  const server = createAuthorizationServer<Request>({
    issuer,
    store,
    user,
    signInUrl,
    openidConfiguration: true, // where oidc-client-ts looks
    corsOrigins: ['https://console.example'], // more pages, for every application; leave it out if you need none
  })
  // #endregion server

  // #region register
  await server.applications.register(
    {
      name: 'Board',
      logo,
      description: 'Shows the issues of a repository',
      website: 'https://app.example',
      type: 'public', // a page can keep no secret
      redirectUris: ['https://app.example/callback', 'http://localhost/callback'],
      scopes: ['repo-issue:r'],
      resourceScope: 'public',
    },
    { clientId: 'board' },
  )
  // #endregion register

  // #region api
  const app = express()
  app.use(createNodeHandler(server)) // first: it sets the headers of its own paths

  app.use('/api', (request, response, next) => {
    response.set({ 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'WWW-Authenticate' })
    if (request.method !== 'OPTIONS') return next()
    response.set('Access-Control-Allow-Headers', 'authorization').sendStatus(204) // a preflight has no token
  })
  const guard = createNodeGuard<Request, Response>(server)
  const listIssues = guard({ scope: 'repo-issue:r' }, ({ auth }, response) => {
    response.json({ issuesFor: auth.subject })
  })
  app.get('/api/issues', listIssues)
  // #endregion api
  http.on('request', app)
  const close = () => {
    http.closeAllConnections()
    http.close()
  }
  return { issuer, server, close }
}

// #region exchange
async function exchange(issuer: string, code: string, verifier: string): Promise<string> {
  const answer = await fetch(`${issuer}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'board',
      redirect_uri: 'https://app.example/callback',
      code,
      code_verifier: verifier,
    }),
  })
  const { access_token, error } = (await answer.json()) as { access_token?: string; error?: string }
  if (access_token === undefined) throw new Error(error)
  return access_token
}
// #endregion exchange

/** Returns the origin that may read an answer. */
const readerOf = async (answer: Promise<globalThis.Response>) =>
  (await answer).headers.get('access-control-allow-origin')

it('lets the page of the application read its tokens and its API, and no other page', async () => {
  const { issuer, server, close } = await openService()
  const post = (form: Record<string, string>, origin: string, path = '/oauth2/token') =>
    fetch(issuer + path, { method: 'POST', body: new URLSearchParams(form), headers: { origin } })
  try {
    const asked = { client_id: 'board', redirect_uri: `${APP}/callback`, code_challenge: CHALLENGE }
    const test = { server } as Parameters<typeof authorize>[0] // the rest is for tests
    const choice = { resource_scope: 'public' }
    const { code } = await authorize(test, { ...asked, code_challenge_method: 'S256' }, choice)
    const token = await exchange(issuer, code, VERIFIER)

    const form = { grant_type: 'refresh_token', refresh_token: 'none', client_id: 'board' }
    for (const origin of [APP, 'http://localhost:5173', 'https://console.example'])
      expect(await readerOf(post(form, origin))).toBe(origin)
    for (const origin of ['https://evil.example', 'https://sub.app.example', 'http://127.0.0.1:5173', 'null'])
      expect(await readerOf(post(form, origin))).toBeNull()
    expect(await readerOf(post({ token }, APP, '/oauth2/introspect'))).toBeNull()
    const unknown = { ...form, client_id: 'nobody' }
    expect(await readerOf(post(unknown, APP))).toBeNull()

    const headers = { origin: APP, 'access-control-request-method': 'GET' }
    const preflight = await fetch(`${issuer}/api/issues`, { method: 'OPTIONS', headers })
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, 'authorization'])
    const answer = await fetch(`${issuer}/api/issues`, { headers: { authorization: `Bearer ${token}` } })
    expect(await answer.json()).toEqual({ issuesFor: 'ada' })
    expect(await readerOf(fetch(`${issuer}/api/issues`))).toBe('*')
    expect(await readerOf(fetch(`${issuer}/.well-known/openid-configuration`))).toBe('*')
    expect(await readerOf(fetch(`${issuer}/oauth2/device`))).toBeNull()
    await expect(exchange(issuer, code, VERIFIER)).rejects.toThrow('invalid_grant')
  } finally {
    close()
  }
})

it('is undone by a middleware around the handler that permits every page', async () => {
  const { server, close } = await openService()
  const app = express()
  app.use((_request, response, next) => {
    response.set('Access-Control-Allow-Origin', '*')
    next()
  })
  app.use(createNodeHandler(server))
  const http = app.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/oauth2/token` // it listens on TCP
  try {
    const body = new URLSearchParams({ client_id: 'board' })
    const ask = (origin: string) => readerOf(fetch(url, { method: 'POST', body, headers: { origin } }))
    expect(await ask('https://evil.example')).toBe('*')
    expect(await ask(APP)).toBe(APP)
  } finally {
    http.closeAllConnections()
    http.close()
    close()
  }
})

it('quotes the error of an origin that is none', async () => {
  const store = memoryStore()
  const wrong = () =>
    createAuthorizationServer({
      issuer: 'https://git.example',
      store,
      user: () => undefined,
      signInUrl: () => '/sign-in',
      corsOrigins: ['https://app.example/'],
    })
  expect(readPage('guides/browser-clients')).toContain(await messageOf(wrong))
})
