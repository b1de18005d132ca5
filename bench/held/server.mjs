// A server in a process of its own whose heap can be asked for: `node --expose-gc server.mjs node|fetch`. Every list that a page can
// show is longer than any page may be, and some applications have the largest logo. Over IPC it says its port, then answers each
// message with what it holds.
import http from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createAuthorizationServer } from 'grantwell'
import { createFetchGuard, createFetchHandler } from 'grantwell/fetch'
import { createNodeGuard, createNodeHandler, nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'

const APPLICATIONS = 24
const LARGE_LOGOS = 3
const GRANTS_EACH = 5
const RESOURCES = 4_000
const CALLBACK = 'https://app.example/callback'

const logo = new Uint8Array(1_048_576).fill(0x5a)
logo.set(Uint8Array.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01', (character) => character.charCodeAt(0)))
const resources = Array.from({ length: RESOURCES }, (_, index) => ({
  id: `${index}`.padEnd(100, '"'),
  name: '<'.repeat(100),
}))
const small = logo.slice(0, 1000)
let offered = resources.slice(0, 200)
let isSlow = false
const wait = new Promise(() => {})

const server = createAuthorizationServer({
  issuer: 'http://127.0.0.1:1',
  store: memoryStore(),
  digests: nodeDigests,
  // A host that takes its time: what waits for it is held.
  user: ({ headers }) =>
    isSlow ? wait : /session=ada/.test(`${headers.cookie}`) ? { subject: 'ada', name: '"'.repeat(10_000) } : undefined,
  signInUrl: () => '/sign-in',
  resources: () => offered,
})
const registration = {
  logo,
  name: '"'.repeat(50),
  description: '"'.repeat(350),
  website: 'https://app.example',
  redirectUris: [CALLBACK],
  type: 'confidential',
  scopes: ['repo-code:rw'],
  resourceScope: 'specified',
  deviceFlow: true,
}
for (let index = 0; index < APPLICATIONS; index++)
  await server.applications.register(index < LARGE_LOGOS ? registration : { ...registration, logo: small }, {
    clientId: `web-${index}`,
    clientSecret: 'a-secret-of-the-web-application',
  })

const query = (index) =>
  new URLSearchParams({ response_type: 'code', client_id: `web-${index}`, redirect_uri: CALLBACK })

/** One more grant of Ada's, for as many resources as one can name. */
async function permit(index) {
  const headers = { cookie: 'session=ada' }
  const page = await server.handle({ method: 'GET', url: `/oauth2/auth?${query(index)}`, headers })
  const field = (name) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.body)[1].replaceAll('&amp;', '&')
  const fields = new URLSearchParams({
    request: field('request'),
    consent: field('consent'),
    decision: 'agree',
    resource_scope: 'specified',
  })
  for (const { id } of offered) fields.append('resource', id)
  const cookie = `${headers.cookie}; ${page.headers['Set-Cookie'].split(';')[0]}`
  const form = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await server.handle({
    method: 'POST',
    url: '/oauth2/auth',
    headers: form,
    body: { type: 'text', text: `${fields}` },
  })
  if (answer.status !== 302) throw new Error(`no grant: ${answer.status}`)
}
for (let grant = 0; grant < GRANTS_EACH; grant++) for (let index = 0; index < APPLICATIONS; index++) await permit(index)
offered = resources

const needs = { scope: 'repo-code:r' }
const [handleNode, handleFetch] = [createNodeHandler(server), createFetchHandler(server)]
const guardNode = createNodeGuard(server)(needs, (_request, response) => response.end('ok'))
const guardFetch = createFetchGuard(server)(needs, () => new Response('ok'))
const isApi = (url) => new URL(url, 'http://a.example').pathname === '/api'
const listeners = {
  node: (request, response) => (isApi(request.url) ? guardNode(request, response) : handleNode(request, response)),
  fetch: getRequestListener((request, env) => (isApi(request.url) ? guardFetch(request) : handleFetch(request, env))),
}
const sockets = new Set()
let begun = 0
const listener = http.createServer((request, response) => {
  begun++
  listeners[process.argv[2]](request, response)
})
listener.on('connection', (socket) => {
  sockets.add(socket.on('close', () => sockets.delete(socket)))
})
// What is written to a client that has gone, or is cut off, is told to nobody.
process.on('unhandledRejection', () => {})

process.on('message', ({ slow = isSlow }) => {
  isSlow = slow
  globalThis.gc()
  setTimeout(() => {
    globalThis.gc()
    const { heapUsed, external } = process.memoryUsage()
    const read = [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0)
    process.send({ held: heapUsed + external, connections: sockets.size, begun, read })
  }, 20)
})
// A logo as pages name it, if they do: an address, without what HTML escapes.
const consent = await server.handle({
  method: 'GET',
  url: `/oauth2/auth?${query(0)}`,
  headers: { cookie: 'session=ada' },
})
const address = /<img class="logo" src="(\/[^"]*)"/.exec(consent.body)?.[1].replaceAll('&amp;', '&')
listener.listen(0, '127.0.0.1', () => process.send({ port: listener.address().port, logo: address }))
