// grantwell with as many grants as it is told to have, each of a user of its own; several processes may share an engine's records.
import http from 'node:http'
import { PerformanceObserver } from 'node:perf_hooks'
import { createAuthorizationServer } from 'grantwell'
import { createNodeGuard, createNodeHandler, nodeDigests } from 'grantwell/node'
import { CLIENT } from '../client.mjs'
import { populate, SCOPES } from '../population.mjs'
import { openStore } from '../stores/open.mjs'

const introspector = { id: 'bench-api', secret: 'bench-api-secret-0123456789abcdef' }

/** Time goes 20 times as fast, so that grants that are refreshed again and again have few pairs in their grace, as in life. */
const clock = () => Math.floor(Date.now() / 50)

/** @param store - such as `postgres`, or `postgres@bench` where others have a part in the records of `bench` */
export async function start({ port, store: where = 'memory' }) {
  const [kind, namespace] = where.split('@')
  const store = await openStore(kind, namespace, clock)
  const server = createAuthorizationServer({
    issuer: 'http://127.0.0.1',
    store,
    clock,
    digests: nodeDigests,
    user: () => undefined,
    signInUrl: () => '/sign-in',
  })
  if ((await server.applications.get(CLIENT.id)) === undefined) await register(server.applications)
  const handle = createNodeHandler(server)
  const api = createNodeGuard(server)({ scope: 'repo-code:r' }, ({ auth }, response) => {
    const body = JSON.stringify({ sub: auth.subject, client_id: auth.clientId })
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body)
  })
  const listener = http.createServer((request, response) =>
    request.url === '/api' ? api(request, response) : handle(request, response),
  )
  // Servers rest while others have their turn.
  listener.keepAliveTimeout = 60_000
  await new Promise((listening) => listener.listen(port, '127.0.0.1', listening))

  let grants = 0
  const pauses = []
  new PerformanceObserver((list) => pauses.push(...list.getEntries().map(({ duration }) => duration))).observe({
    type: 'gc',
  })
  const kinds = {
    grants: async (count) => {
      await populate(store, grants, grants + count, clock())
      grants += count
    },
    /** How long the collector of garbage held the process up since it was asked last, in milliseconds each. */
    pauses: () => pauses.splice(0),
    bytes: () => process.memoryUsage().rss,
  }
  return {
    token: '/oauth2/token',
    introspect: '/oauth2/introspect',
    introspector,
    api: '/api',
    seed: (what, count) => kinds[what](count),
  }
}

async function register(applications) {
  const application = { name: 'bench', website: 'https://app.example', scopes: SCOPES }
  const logo = Uint8Array.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01', (character) =>
    character.charCodeAt(0),
  )
  await applications.register(
    { ...application, logo, type: 'confidential', redirectUris: [CLIENT.redirectUri], resourceScope: 'all' },
    { clientId: CLIENT.id, clientSecret: CLIENT.secret },
  )
  await applications.registerResourceServer(
    { ...application, name: 'bench API' },
    { clientId: introspector.id, clientSecret: introspector.secret },
  )
}
