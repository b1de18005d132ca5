// grantwell for `../shared/bench/run.mjs --add`: the whole server over node:http with the memory store, every check that
// a user gets, every secret hashed at rest. Needs `npm run build`.
import http from 'node:http'
import { createAuthorizationServer } from 'grantwell'
import { createNodeHandler, nodeDigests, sendResponse } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'

const callback = 'https://app.example/cb'
const logo = Uint8Array.from('\x89PNG\r\n\x1a\n', (character) => character.charCodeAt(0))
const form = { 'content-type': 'application/x-www-form-urlencoded' }

export async function start({ port, client, seeds }) {
  const server = createAuthorizationServer({
    issuer: `http://127.0.0.1:${port}`,
    store: memoryStore(),
    digests: nodeDigests,
    user: () => ({ subject: 'u' }),
    signInUrl: () => '/sign-in',
  })
  await server.applications.register(
    {
      name: 'bench',
      logo,
      website: 'https://app.example',
      type: 'confidential',
      redirectUris: [callback],
      scopes: ['repo-code:rw'],
      resourceScope: 'all',
    },
    { clientId: client.id, clientSecret: client.secret },
  )
  const handle = createNodeHandler(server)
  const listener = http.createServer((request, response) => {
    if (request.url !== '/api') return handle(request, response)
    server.authenticate(request, { scope: 'repo-code:r' }).then((found) => {
      if (found.type === 'refused') return sendResponse(response, found.response)
      const body = JSON.stringify({ sub: found.subject, client_id: found.clientId })
      sendResponse(response, { status: 200, headers: { 'Content-Type': 'application/json' }, body })
    })
  })
  await new Promise((done) => listener.listen(port, '127.0.0.1', done))
  const pairs = []
  for (let i = 0; i < seeds; i++) pairs.push(await pairOf(server, client))
  return { token: '/oauth2/token', api: '/api', pairs }
}

/** Walks the flow once, without the network: each pair is of a grant of its own, made as a user makes it. */
export async function pairOf(server, client) {
  const query = new URLSearchParams({ response_type: 'code', client_id: client.id, redirect_uri: callback })
  const page = await server.handle({ method: 'GET', url: `/oauth2/auth?${query}`, headers: {} })
  const field = (name) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.body)[1].replaceAll('&amp;', '&')
  const consent = { request: field('request'), consent: field('consent'), resource_scope: 'all', decision: 'agree' }
  const cookie = page.headers['Set-Cookie'].split(';')[0]
  const agreed = await post(server, '/oauth2/auth', consent, { cookie })
  const code = new URL(agreed.headers.Location).searchParams.get('code')
  const authorization = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`
  const exchanged = await post(server, '/oauth2/token', { grant_type: 'authorization_code', code }, { authorization })
  return JSON.parse(exchanged.body)
}

function post(server, url, fields, headers) {
  const body = { type: 'text', text: new URLSearchParams(fields).toString() }
  return server.handle({ method: 'POST', url, headers: { ...form, ...headers }, body })
}
