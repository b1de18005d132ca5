/**
 * The code of the page "Behind a proxy".
 * @module
 */
// #region imports
import http from 'node:http'
import type { HttpRequest } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { createNodeHandler, nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
// #endregion imports
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'

// #region address
/** Returns the address that our own proxy put at the end of the header; what stands before it came from the client. */
function addressOf({ headers }: HttpRequest): string | undefined {
  const forwarded = headers['x-forwarded-for']
  return typeof forwarded === 'string' ? forwarded.split(',').at(-1)?.trim() : undefined
}
// #endregion address

// #region server
const oauth = createNodeHandler(
  createAuthorizationServer<http.IncomingMessage>({
    issuer: 'https://git.example/auth', // as browsers and clients know it
    mountPath: '', // the proxy takes /auth away
    remoteAddress: addressOf,
    store: memoryStore(),
    digests: nodeDigests,
    user: () => ({ subject: 'ada' }),
    signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
  }),
)

const server = http.createServer((request, response) => oauth(request, response))
// Reachable by the proxy alone: who reaches it directly can write any X-Forwarded-For.
// server.listen(8080, '127.0.0.1')
// #endregion server

/** A proxy that removes `/auth`, and appends the address of its client, which a header of the test tells. */
const proxy = http.createServer((request, response) => {
  const { 'x-test-client': client = '192.0.2.1', ...headers } = request.headers
  const before = headers['x-forwarded-for']
  const forwarded = before === undefined ? String(client) : `${before}, ${client}`
  const path = (request.url ?? '').replace(/^\/auth(?=\/)/, '')
  const onward = http.request(
    {
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
      method: request.method,
      path,
      headers: { ...headers, 'x-forwarded-for': forwarded },
    },
    (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers)),
  )
  request.pipe(onward)
})

afterAll(() => {
  proxy.close()
  server.close()
})

async function start(): Promise<string> {
  if (!server.listening) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  if (!proxy.listening) await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

test('no header of a request changes the issuer', async () => {
  const path = '/.well-known/oauth-authorization-server/auth'
  const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http', forwarded: 'host=evil.example' }
  const document = await (await fetch((await start()) + path, { headers })).json()
  expect(document).toMatchObject({
    issuer: 'https://git.example/auth',
    authorization_endpoint: 'https://git.example/auth/oauth2/auth',
  })
})

test('the endpoints answer behind the prefix that the proxy removes', async () => {
  const answer = await fetch(`${await start()}/auth/oauth2/style.css`)
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, max-age=3600'])
})

test('the address is the one that the proxy appended, whatever the client wrote before it', () => {
  const request = { method: 'GET', url: '/', native: undefined }
  expect(addressOf({ ...request, headers: { 'x-forwarded-for': '203.0.113.9, 192.0.2.1' } })).toBe('192.0.2.1')
  expect(addressOf({ ...request, headers: {} })).toBeUndefined()
})

test('each address has a limit of its own', async () => {
  const errors: unknown[] = []
  const made = createAuthorizationServer({
    issuer: 'https://git.example',
    remoteAddress: (request) =>
      request.headers['x-test-list'] === undefined ? addressOf(request) : '192.0.2.1, 192.0.2.2',
    onError: (error) => errors.push(error),
    store: memoryStore({ clock: () => 1_800_000_000 }),
    clock: () => 1_800_000_000,
    user: () => undefined,
    signInUrl: () => '/sign-in',
  })
  await made.applications.register(
    {
      name: 'Tool',
      logo: LOGO,
      website: 'https://tool.example',
      type: 'public',
      redirectUris: ['http://127.0.0.1/callback'],
      scopes: ['repo-code:r'],
      resourceScope: 'all',
      deviceFlow: true,
    },
    { clientId: 'tool' },
  )
  const ask = async (forwarded: string, more: Record<string, string> = {}) => {
    const answer = await made.handle({
      method: 'POST',
      url: '/oauth2/device_authorization',
      headers: { 'x-forwarded-for': forwarded, 'content-type': 'application/x-www-form-urlencoded', ...more },
      body: { type: 'text', text: 'client_id=tool' },
      native: undefined,
    })
    return answer?.status
  }
  for (let count = 0; count < 100; count++) expect(await ask(`10.0.0.${count}, 192.0.2.1`)).toBe(200)
  expect(await ask('192.0.2.1')).toBe(429)
  expect(await ask('192.0.2.2')).toBe(200)
  expect(await ask('192.0.2.3', { 'x-test-list': 'yes' })).toBe(500)
  expect(errors.map(String)).toEqual([expect.stringContaining('remoteAddress() must give an IP address, or undefined')])
})

test('a body over the limit is refused with 413', async () => {
  const body = new URLSearchParams({ grant_type: 'authorization_code', code: 'x'.repeat(65_536) })
  const answer = await fetch(`${await start()}/auth/oauth2/token`, { method: 'POST', body })
  expect(answer.status).toBe(413)
})

test('an http issuer is refused off loopback, with the message that the guide shows', () => {
  const start = (issuer: string) => () =>
    createAuthorizationServer({ issuer, store: memoryStore(), user: () => undefined, signInUrl: () => '/sign-in' })
  expect(start('http://git.example')).toThrow(
    'the option issuer must be https, or http on loopback or with allowInsecureIssuer; got "http://git.example"',
  )
  expect(start('http://127.0.0.1:8080')).not.toThrow()
})

const LOGO = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=='),
  (character) => character.charCodeAt(0),
)
