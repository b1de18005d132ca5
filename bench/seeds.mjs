/**
 * What requests need, made by a server of grantwell as users and devices would make it, without the network. Run as a process of its own,
 * it makes what it is asked for over a store in memory, and sends it with the records: then a server whose requests are timed has never
 * shown a page. What thousands of pages leave in a heap makes an exchange over HTTP dearer by some 4 %.
 *   fork('seeds.mjs', [issuer, first user])
 */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { basic, CLIENT } from './client.mjs'
import { openStore } from './stores/open.mjs'

const logo = Uint8Array.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01', (character) =>
  character.charCodeAt(0),
)
const form = { 'content-type': 'application/x-www-form-urlencoded' }

export const INTROSPECTOR = { id: 'bench-api', secret: 'bench-api-secret-0123456789abcdef' }

/** Makes a server with its application and its API. */
export async function createServer(issuer, store) {
  const server = createAuthorizationServer({
    issuer,
    store,
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
    { clientId: INTROSPECTOR.id, clientSecret: INTROSPECTOR.secret },
  )
  return server
}

const makers = { pairs: pairOf, codes: codeOf, deviceCodes: deviceCodeOf }

/** Makes so many `pairs`, `codes` or `deviceCodes`. */
export async function makeSeeds(server, what, count) {
  const seeds = []
  while (seeds.length < count) {
    const some = Math.min(50, count - seeds.length)
    seeds.push(...(await Promise.all(Array.from({ length: some }, () => makers[what](server)))))
  }
  return seeds
}

/** Nobody has thousands of grants of one application. */
let users = 0
const nextUser = () => `user-${users++}`

/** A code that a user has permitted: the flow as a browser walks it, without the network. */
async function codeOf(server, user = nextUser()) {
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

/** Makes what it is asked for, and says it with the last value of each record, and with the number of the next user. */
async function serve(issuer, firstUser) {
  users = Number(firstUser)
  const store = await openStore('memory')
  const records = new Map()
  const write = (key, value, options) => {
    records.set(key, [key, JSON.stringify(value), options])
    return store.write(key, value, options)
  }
  const server = await createServer(issuer, { ...store, write })
  const [{ what, count }] = await once(process, 'message')
  const seeds = await makeSeeds(server, what, count)
  process.send({ seeds, records: [...records.values()], users })
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await serve(process.argv[2], process.argv[3])
