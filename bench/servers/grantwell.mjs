// grantwell on node:http, as a user would have it: every check, every secret hashed at rest, reuse detection, the grace period.
import { createHash, randomBytes } from 'node:crypto'
import http from 'node:http'
import { createAuthorizationServer } from 'grantwell'
import { createNodeGuard, createNodeHandler, nodeDigests } from 'grantwell/node'
import { basic, CLIENT } from '../client.mjs'
import { openStore } from '../stores/open.mjs'

const logo = Uint8Array.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01', (character) =>
  character.charCodeAt(0),
)
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const introspector = { id: 'bench-api', secret: 'bench-api-secret-0123456789abcdef' }

export async function start({ port, store: kind = 'memory' }) {
  const server = createAuthorizationServer({
    issuer: `http://127.0.0.1:${port}`,
    store: await openStore(kind),
    digests: nodeDigests,
    user: ({ headers }) => ({ subject: headers['x-user'] }),
    signInUrl: () => '/sign-in',
    // Thousands of devices are made ready at once, with no address.
    deviceLimiter: () => 0,
  })
  const application = { name: 'bench', website: 'https://app.example', scopes: ['repo-code:rw'] }
  await server.applications.register(
    {
      ...application,
      logo,
      type: 'confidential',
      redirectUris: [CLIENT.redirectUri],
      resourceScope: 'all',
      deviceFlow: true,
    },
    { clientId: CLIENT.id, clientSecret: CLIENT.secret },
  )
  await server.applications.registerResourceServer(
    { ...application, name: 'bench API' },
    { clientId: introspector.id, clientSecret: introspector.secret },
  )
  const handle = createNodeHandler(server)
  const api = createNodeGuard(server)({ scope: 'repo-code:r' }, ({ auth }, response) => {
    const body = JSON.stringify({ sub: auth.subject, client_id: auth.clientId })
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body)
  })
  const listener = http.createServer((request, response) =>
    request.url === '/api' ? api(request, response) : handle(request, response),
  )
  await new Promise((listening) => listener.listen(port, '127.0.0.1', listening))
  const make = { pairs: pairOf, codes: codeOf, deviceCodes: deviceCodeOf }
  return {
    token: '/oauth2/token',
    revoke: '/oauth2/revoke',
    introspect: '/oauth2/introspect',
    introspector,
    api: '/api',
    deviceGrant: true,
    replay: 'same pair',
    seed: async (what, count) => {
      const seeds = []
      while (seeds.length < count) {
        const some = Math.min(50, count - seeds.length)
        seeds.push(...(await Promise.all(Array.from({ length: some }, () => make[what](server)))))
      }
      return seeds
    },
  }
}

/** Nobody has thousands of grants of one application. */
let users = 0
const nextUser = () => `user-${users++}`

/** A code that a user has permitted: the flow as a browser walks it, without the network. */
export async function codeOf(server, user = nextUser()) {
  const code_verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT.id,
    redirect_uri: CLIENT.redirectUri,
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const page = await server.handle({ method: 'GET', url: `/oauth2/auth?${query}`, headers: { 'x-user': user } })
  const field = (name) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.body)[1].replaceAll('&amp;', '&')
  const consent = { request: field('request'), consent: field('consent'), resource_scope: 'all', decision: 'agree' }
  const cookie = page.headers['Set-Cookie'].split(';')[0]
  const agreed = await post(server, '/oauth2/auth', consent, { cookie, 'x-user': user })
  return { code: new URL(agreed.headers.Location).searchParams.get('code'), code_verifier }
}

export async function pairOf(server) {
  const sub = nextUser()
  const seed = await codeOf(server, sub)
  const fields = { grant_type: 'authorization_code', redirect_uri: CLIENT.redirectUri, ...seed }
  return { ...JSON.parse((await post(server, '/oauth2/token', fields, { authorization: basic(CLIENT) })).body), sub }
}

async function deviceCodeOf(server) {
  const answer = await post(
    server,
    '/oauth2/device_authorization',
    { scope: 'repo-code:r' },
    { authorization: basic(CLIENT) },
  )
  return JSON.parse(answer.body)
}

function post(server, url, fields, headers) {
  const body = { type: 'text', text: new URLSearchParams(fields).toString() }
  return server.handle({ method: 'POST', url, headers: { ...form, ...headers }, body })
}
