/**
 * The code of the page "Several issuers".
 * @module
 */
// #region imports
import http from 'node:http'
import type { AuthorizationServer, RecordStore } from 'grantwell'
import { createAuthorizationServer, scopeCatalogue } from 'grantwell'
import { createNodeHandler, nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'
// #endregion imports
import type { AddressInfo } from 'node:net'
import { Socket } from 'node:net'
import { createFetchHandler } from 'grantwell/fetch'
import { afterAll, expect, test } from 'vitest'

const DATABASE = ':memory:'
const HOST = 'https://git.example'
const errors: unknown[] = []

// #region options
const database = new Database(DATABASE)

/** What both servers have in common. */
const common = {
  digests: nodeDigests,
  user: (request: { readonly native: http.IncomingMessage }) => userOf(request.native),
  signInUrl: (returnTo: string) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
  onError: (error: unknown) => errors.push(error),
}

const code = createAuthorizationServer<http.IncomingMessage>({
  ...common,
  issuer: `${HOST}/code`,
  store: sqliteStore(database, { namespace: 'code' }),
})

const packages = createAuthorizationServer<http.IncomingMessage>({
  ...common,
  issuer: `${HOST}/packages`,
  store: sqliteStore(database, { namespace: 'packages' }),
  scopes: scopeCatalogue([{ name: 'package', permissions: ['r', 'rw'], description: 'Packages' }]),
})
// #endregion options

// #region handlers
const oauthOfCode = createNodeHandler(code)
const oauthOfPackages = createNodeHandler(packages)

const server = http.createServer((request, response) =>
  oauthOfCode(request, response, () =>
    oauthOfPackages(request, response, () => response.writeHead(404).end('The service itself\n')),
  ),
)
// #endregion handlers

// #region stripped
const stripped = createAuthorizationServer<Request>({
  issuer: 'https://git.example/tools',
  mountPath: '', // the router takes /tools away before the handler sees the request
  store: memoryStore(),
  user: () => undefined,
  signInUrl: () => '/sign-in',
})
// #endregion stripped

// #region tenants
const tenants = new Map<string, AuthorizationServer<http.IncomingMessage>>()

/** Gives the server of a tenant, and makes it at its first request. `name` comes from your list of tenants, never from a header. */
function serverOf(name: string): AuthorizationServer<http.IncomingMessage> {
  const known = tenants.get(name)
  if (known !== undefined) return known
  const store = sqliteStore(database, { namespace: `tenant-${name}` })
  const made = createAuthorizationServer<http.IncomingMessage>({ ...common, issuer: `https://${name}.example`, store })
  tenants.set(name, made)
  return made
}
// #endregion tenants

// #region move
/** Hands the records of a store to another issuer. Stop every server of the old one first. */
async function moveTo(issuer: string, store: RecordStore): Promise<void> {
  const [owner] = await store.read(['issuer'])
  const moved = await store.write('issuer', { v: 1, issuer }, { expected: owner?.version ?? 0 })
  if (!moved) throw new Error('A server wrote the record meanwhile: stop it, and try again.')
}
// #endregion move

function userOf(request: http.IncomingMessage) {
  return request.headers['x-demo-user'] === undefined ? undefined : { subject: 'ada' }
}

afterAll(() => {
  server.close()
  database.close()
})

async function start(): Promise<string> {
  if (!server.listening) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const get = async (path: string) => {
  const answer = await fetch((await start()) + path)
  const text = await answer.text()
  return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text }
}

const LOGO = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=='),
  (character) => character.charCodeAt(0),
)

const registration = {
  name: 'Mirror',
  logo: LOGO,
  website: 'https://mirror.example',
  type: 'confidential',
  redirectUris: ['https://mirror.example/callback'],
  resourceScope: 'all',
} as const

test('each issuer has its metadata, its endpoints and its applications', async () => {
  const one = await get('/.well-known/oauth-authorization-server/code')
  const two = await get('/.well-known/oauth-authorization-server/packages')
  expect(one.body).toMatchObject({ issuer: `${HOST}/code`, token_endpoint: `${HOST}/code/oauth2/token` })
  expect(two.body).toMatchObject({ issuer: `${HOST}/packages`, scopes_supported: ['package:r', 'package:rw'] })
  expect((await get('/other')).body).toBe('The service itself\n')
  const imported = { clientId: 'mirror' }
  await code.applications.register({ ...registration, scopes: ['repo-code:r'] }, imported)
  expect(await packages.applications.get('mirror')).toBeUndefined()
  await packages.applications.register({ ...registration, scopes: ['package:r'] }, imported)
  expect((await packages.applications.get('mirror'))?.state).toBe('approved')
})

test('a router that strips the prefix reaches the server by mountPath', async () => {
  const answer = await createFetchHandler(stripped)(new Request('https://git.example/oauth2/style.css'))
  expect(answer.status).toBe(200)
  expect(stripped.owns('/tools/oauth2/token')).toBe(false)
  expect(stripped.owns('/.well-known/oauth-authorization-server/tools')).toBe(true)
})

test('a namespace belongs to its first issuer, until it is moved', async () => {
  errors.length = 0
  const store = sqliteStore(database, { namespace: 'code' })
  const other = createAuthorizationServer<http.IncomingMessage>({ ...common, issuer: 'https://new.example', store })
  await expect(other.applications.get('mirror')).rejects.toMatchObject({ code: 'ERR_STORE' })
  expect(errors.map(String)).toContain(
    'GrantwellError: grantwell: the records of this store belong to the issuer https://git.example/code, and this server is https://new.example; give each issuer a namespace of its own',
  )
  const request = {
    method: 'GET',
    url: '/oauth2/auth?client_id=mirror',
    headers: {},
    native: new http.IncomingMessage(new Socket()),
  }
  expect((await other.handle(request))?.status).toBe(503)
  await moveTo('https://new.example', store)
  expect((await other.applications.get('mirror'))?.state).toBe('approved')
  await moveTo(`${HOST}/code`, store)
})

test('tenants have servers of their own, which are made once', async () => {
  expect(serverOf('ada')).toBe(serverOf('ada'))
  await serverOf('ada').applications.register({ ...registration, scopes: ['repo-code:r'] }, { clientId: 'mirror' })
  expect(await serverOf('grace').applications.get('mirror')).toBeUndefined()
  expect(serverOf('grace').issuer).toBe('https://grace.example')
})

test('a wrong namespace and a wrong issuer are refused at start', () => {
  expect(() => sqliteStore(database, { namespace: 'a b' })).toThrow('1 to 64 characters of A-Z a-z 0-9 . _ : -')
  const withSlash = () => createAuthorizationServer({ ...common, issuer: `${HOST}/`, store: memoryStore() })
  expect(withSlash).toThrow(
    'the option issuer must be a canonical URL without user info, query, fragment and a slash at its end',
  )
})
