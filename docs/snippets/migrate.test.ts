/**
 * The code of the page "Migrate from another server".
 * @module
 */
// #region imports
import type { AuthorizationServer, Registration } from 'grantwell'
import { createAuthorizationServer, GrantwellError } from 'grantwell'
import { CREDENTIAL_PREFIXES } from 'grantwell/core'
import { createFetchGuard, createFetchHandler } from 'grantwell/fetch'
import { memoryStore } from 'grantwell/storage/memory'
// #endregion imports
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'

// #region application
/** An application as the old server knew it; whatever it calls these fields. */
interface OldApplication {
  readonly id: string
  /** Absent for a public client, and where the old server kept a digest alone. */
  readonly secret?: string
  /** Where the old server kept the SHA-256 of a random secret. */
  readonly secretDigest?: string
  readonly isPublic: boolean
  readonly name: string
  readonly website: string
  readonly redirectUris: readonly string[]
  readonly scopes: readonly string[]
}

/** The scopes of the old server, and what each is now. */
const SCOPES = new Map([
  ['repo', 'repo-code:rw'],
  ['repo:read', 'repo-code:r'],
  ['profile', 'account-profile:r'],
])

/** Translates scopes; those that mean nothing here, such as `openid`, are left out. */
function newScopes(old: readonly string[]): string[] {
  return [...new Set(old.flatMap((each) => SCOPES.get(each) ?? []))]
}

/** Registers an application with the identifier and the secret that it has already. */
async function bringOver(server: Pick<AuthorizationServer, 'applications'>, old: OldApplication, logo: Uint8Array) {
  const registration: Registration = {
    name: old.name,
    logo,
    website: old.website,
    type: old.isPublic ? 'public' : 'confidential',
    redirectUris: old.redirectUris,
    scopes: newScopes(old.scopes),
    resourceScope: 'all',
  }
  const imported = {
    clientId: old.id,
    ...(old.secret !== undefined && { clientSecret: old.secret }),
    ...(old.secretDigest !== undefined && { clientSecretDigest: old.secretDigest }),
  }
  return server.applications.register(registration, imported)
}
// #endregion application

// #region all
/** Brings all applications over. Run it again after you corrected a fault: those that are there already stay as they are. */
async function bringAllOver(
  server: Pick<AuthorizationServer, 'applications'>,
  all: readonly OldApplication[],
  logo: Uint8Array,
) {
  const newSecrets = new Map<string, string>()
  const faults: string[] = []
  for (const old of all) {
    try {
      const { clientSecret } = await bringOver(server, old, logo)
      if (clientSecret !== undefined && clientSecret !== old.secret) newSecrets.set(old.id, clientSecret)
    } catch (error) {
      if (!(error instanceof GrantwellError)) throw error
      if (error.code === 'ERR_CLIENT_EXISTS') continue
      if (error.code !== 'ERR_REGISTRATION') throw error
      faults.push(...error.faults.map(({ path, message }) => `${old.id}: ${path} ${message}`))
    }
  }
  return { newSecrets, faults }
}
// #endregion all

const user = { subject: 'ada' }

// #region server
const server = createAuthorizationServer<Request>({
  issuer: 'https://git.example',
  store: memoryStore(), // yours
  user: () => user, // the subject that the old server had
  signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
  redirectMatching: 'exact', // as the old server had it
})
// #endregion server

// #region paths
const oauth = createFetchHandler(server)

const PATHS = new Map([
  ['/auth', '/oauth2/auth'],
  ['/token', '/oauth2/token'],
])

/** Answers requests to the old paths, and with the old scopes, until every application has changed. */
function oauthForOldClients(request: Request): Promise<Response> {
  const url = new URL(request.url)
  url.pathname = PATHS.get(url.pathname) ?? url.pathname
  const scope = url.searchParams.get('scope')
  if (scope !== null) url.searchParams.set('scope', newScopes(scope.split(' ')).join(' '))
  return oauth(new Request(url, request))
}
// #endregion paths

// #region guards
type Handler = (request: Request) => Response | Promise<Response>

/** Lets a route take tokens of both servers, until the last access token of the old one has expired. */
function eitherGuard(current: Handler, previous: Handler): Handler {
  const ours = `bearer ${CREDENTIAL_PREFIXES.access_token}`
  return (request) => {
    const authorization = request.headers.get('authorization') ?? ''
    return authorization.slice(0, ours.length).toLowerCase() === ours ? current(request) : previous(request)
  }
}

const list = ({ auth }: { auth: { subject: string } }) => Response.json({ owner: auth.subject })
const route = eitherGuard(createFetchGuard(server)({ scope: 'repo-code:r' }, list), (request) => oldGuard(request))
// #endregion guards

function oldGuard(request: Request): Response {
  return new Response(request.headers.get('authorization') === 'Bearer old-token' ? 'old' : null, { status: 200 })
}

const LOGO = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=='),
  (character) => character.charCodeAt(0),
)

const mirror: OldApplication = {
  id: 'b7c2d0a4-mirror',
  secret: 'an-old-secret-of-36-random-characters',
  isPublic: false,
  name: 'Mirror',
  website: 'https://mirror.example',
  redirectUris: ['https://mirror.example/callback'],
  scopes: ['openid', 'repo', 'profile'],
}

test('applications come over with identifiers and secrets, and every fault is told', async () => {
  const { secret: _, ...old } = mirror
  const { newSecrets, faults } = await bringAllOver(
    server,
    [
      mirror,
      { ...old, id: 'without' },
      { ...old, id: 'digest', secretDigest: createHash('sha256').update('what only the client has').digest('hex') },
      { ...mirror, id: 'short', secret: 'password' },
      { ...mirror, id: 'hashed', secret: `$2b$12$${'a'.repeat(53)}` },
      { ...mirror, id: 'tool', isPublic: true, redirectUris: ['http://127.0.0.1/callback'] },
    ],
    LOGO,
  )
  expect([...newSecrets.keys()]).toEqual(['without'])
  expect(faults).toEqual([
    'short: clientSecret must have 24 to 255 visible ASCII characters',
    'hashed: clientSecret must be the secret itself, not a hash of it (bcrypt): leave it out, and the client gets a new one',
    'tool: clientSecret must not be given: a public client has none',
  ])
  expect(await bringAllOver(server, [mirror], LOGO)).toEqual({ newSecrets: new Map(), faults: [] })
})

test('an old client works by its old paths, scopes and secret', async () => {
  const query = new URLSearchParams({ response_type: 'code', client_id: mirror.id, scope: 'openid repo' })
  const page = await oauthForOldClients(new Request(`https://git.example/auth?${query}`))
  const text = await page.text()
  const form = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value.replaceAll('&amp;', '&')],
  )
  const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const agreed = await oauthForOldClients(
    new Request('https://git.example/oauth2/auth', {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams([...form, ['decision', 'agree'], ['resource_scope', 'all']]),
    }),
  )
  const code = new URL(agreed.headers.get('location') ?? '').searchParams.get('code') ?? ''
  const answer = await oauthForOldClients(
    new Request('https://git.example/token', {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${mirror.id}:${mirror.secret}`)}` },
      body: new URLSearchParams({ grant_type: 'authorization_code', code }),
    }),
  )
  const tokens = (await answer.json()) as { access_token: string; scope: string }
  expect(tokens.scope).toBe('repo-code:rw')
  const call = (token: string) =>
    route(new Request('https://git.example/api', { headers: { authorization: `Bearer ${token}` } }))
  expect(await (await call(tokens.access_token)).json()).toEqual({ owner: 'ada' })
  expect(await (await call('old-token')).text()).toBe('old')
})

test('a refresh token of the old server is invalid_grant', async () => {
  const answer = await oauthForOldClients(
    new Request('https://git.example/token', {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${mirror.id}:${mirror.secret}`)}` },
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'an-old-refresh-token' }),
    }),
  )
  expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })])
})
