// grantwell on node:http, as a user would have it: every check, every secret hashed at rest, reuse detection, the grace period.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import { createNodeGuard, createNodeHandler } from 'grantwell/node'
import { createServer, INTROSPECTOR, makeSeeds } from '../seeds.mjs'
import { openStore } from '../stores/open.mjs'

export async function start({ port, store: kind = 'memory' }) {
  const issuer = `http://127.0.0.1:${port}`
  const store = await openStore(kind)
  const server = await createServer(issuer, store)
  const handle = createNodeHandler(server)
  const api = createNodeGuard(server)({ scope: 'repo-code:r' }, ({ auth }, response) => {
    const body = JSON.stringify({ sub: auth.subject, client_id: auth.clientId })
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body)
  })
  const listener = http.createServer((request, response) =>
    request.url === '/api' ? api(request, response) : handle(request, response),
  )
  await new Promise((listening) => listener.listen(port, '127.0.0.1', listening))

  let users = 0
  /** Takes seeds and their records from a process that makes them. */
  async function seedApart(what, count) {
    const maker = fork(new URL('../seeds.mjs', import.meta.url), [issuer, String(users)])
    maker.send({ what, count })
    const exited = once(maker, 'exit').then(([code]) => {
      throw new Error(`the process that makes ${what} ended with ${code}`)
    })
    exited.catch(() => {}) // that it ends afterwards is as it should be
    const [made] = await Promise.race([once(maker, 'message'), exited])
    maker.kill()
    users = made.users
    for (const [key, text, { expiresAt, labels }] of made.records) {
      const [present] = await store.read([key])
      if (present === undefined) await store.write(key, JSON.parse(text), { expected: 0, expiresAt, labels })
    }
    return made.seeds
  }

  return {
    token: '/oauth2/token',
    revoke: '/oauth2/revoke',
    introspect: '/oauth2/introspect',
    introspector: INTROSPECTOR,
    api: '/api',
    deviceGrant: true,
    replay: 'same pair',
    seed: (what, count) => (kind === 'memory' && count > 0 ? seedApart(what, count) : makeSeeds(server, what, count)),
  }
}
