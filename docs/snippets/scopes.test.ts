/**
 * The code of the page "Scopes of your own".
 * @module
 */
// #region imports
import { createAuthorizationServer, scopeCatalogue } from 'grantwell'
import { createFetchGuard } from 'grantwell/fetch'
// #endregion imports
import { serviceScopes } from 'grantwell'
import { createFetchHandler } from 'grantwell/fetch'
import { memoryStore } from 'grantwell/storage/memory'
import { expect, test } from 'vitest'

// #region catalogue
const scopes = scopeCatalogue([
  { name: 'page', permissions: ['r', 'rw'], description: 'The pages of your wikis' },
  { name: 'comment', permissions: ['r', 'rw'], description: 'Comments on pages' },
  { name: 'history', permissions: ['r'], description: 'Who changed which page, and when' },
  { name: 'wiki-delete', permissions: ['rw'], description: 'Delete a whole wiki' },
])
// #endregion catalogue

const store = memoryStore()
const signedIn = { subject: 'ada' }

// #region server
const server = createAuthorizationServer<Request>({
  issuer: 'https://wiki.example',
  store,
  scopes,
  user: () => signedIn,
  signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
})

const guard = createFetchGuard(server)
const readPages = guard({ scope: 'page:r' }, ({ auth }) => Response.json(auth.scopes))
const deleteWiki = guard({ scope: 'wiki-delete:rw' }, () => new Response(null, { status: 204 }))
// #endregion server

// #region extended
const extended = scopeCatalogue([
  ...serviceScopes({ service: 'forge' }).definitions,
  { name: 'wiki', permissions: ['r', 'rw'], description: 'Wiki pages' },
])
// #endregion extended

// #region tokens
const tokens = scopeCatalogue([
  { scope: 'repo', permission: 'rw', description: 'All your repositories', includes: ['repo:status'] },
  { scope: 'repo:status', permission: 'r', description: 'The states of commits' },
  { scope: 'read:user', permission: 'r', description: 'Your name and picture' },
])
// #endregion tokens

// #region lenient
const lenient = scopeCatalogue(tokens.definitions, { unknown: 'leave_out' })
// #endregion lenient

const LOGO = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=='),
  (character) => character.charCodeAt(0),
)
const SECRET = 'a-secret-of-the-reader-application'

function register(of: typeof server, asked: readonly string[]) {
  return of.applications.register(
    {
      name: 'Reader',
      logo: LOGO,
      website: 'https://reader.example',
      type: 'confidential',
      redirectUris: ['https://reader.example/callback'],
      scopes: asked,
      resourceScope: 'all',
    },
    { clientId: 'reader', clientSecret: SECRET },
  )
}

/** Asks for scopes as the application does; gives the address that the browser ends at, or the page. */
async function ask(of: typeof server, scope: string) {
  const oauth = createFetchHandler(of)
  const address = 'https://wiki.example/oauth2/auth'
  const query = new URLSearchParams({ response_type: 'code', client_id: 'reader', scope })
  const page = await oauth(new Request(`${address}?${query}`))
  if (page.status === 302) return new URL(page.headers.get('location') ?? '')
  const text = await page.text()
  const form = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value.replaceAll('&amp;', '&')],
  )
  const body = new URLSearchParams([...form, ['decision', 'agree'], ['resource_scope', 'all']])
  const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const answer = await oauth(new Request(address, { method: 'POST', headers: { cookie }, body }))
  return new URL(answer.headers.get('location') ?? '')
}

async function tokenFor(of: typeof server, scope: string): Promise<Request> {
  const code = (await ask(of, scope)).searchParams.get('code') ?? ''
  const answer = await createFetchHandler(of)(
    new Request('https://wiki.example/oauth2/token', {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`reader:${SECRET}`)}` },
      body: new URLSearchParams({ grant_type: 'authorization_code', code }),
    }),
  )
  const { access_token } = (await answer.json()) as { access_token: string }
  return new Request('https://wiki.example/api', { headers: { authorization: `Bearer ${access_token}` } })
}

test('rw includes r, and a guard refuses what the token does not have', async () => {
  await register(server, ['page:rw', 'history:r'])
  const request = await tokenFor(server, 'history:r page:rw')
  const answer = await readPages(request)
  expect(await answer.json()).toEqual(['page:rw', 'history:r'])
  const refused = await deleteWiki(request)
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    403,
    expect.stringContaining('error="insufficient_scope"'),
  ])
})

test('a request for an unknown scope, or one that is not registered, is invalid_scope', async () => {
  for (const scope of ['pages:r', 'comment:r', 'page'])
    expect((await ask(server, scope)).searchParams.get('error')).toBe('invalid_scope')
})

test('nobody who is signed out is sent on with invalid_scope', async () => {
  const signedOut = createAuthorizationServer<Request>({
    issuer: 'https://wiki.example',
    store,
    scopes,
    user: () => undefined,
    signInUrl: () => '/sign-in',
  })
  const query = new URLSearchParams({ response_type: 'code', client_id: 'reader', scope: 'comment:r' })
  const page = await createFetchHandler(signedOut)(new Request(`https://wiki.example/oauth2/auth?${query}`))
  expect([page.status, page.headers.get('location')]).toEqual([400, null])
  expect(await page.text()).toContain('This link cannot be accessed')
})

test('the metadata names every scope', async () => {
  const address = 'https://wiki.example/.well-known/oauth-authorization-server'
  const { scopes_supported } = (await (await createFetchHandler(server)(new Request(address))).json()) as {
    scopes_supported: string[]
  }
  expect(scopes_supported).toEqual(['page:r', 'page:rw', 'comment:r', 'comment:rw', 'history:r', 'wiki-delete:rw'])
})

test('a scope that leaves the catalogue leaves the tokens', async () => {
  const request = await tokenFor(server, 'history:r page:rw')
  const later = createAuthorizationServer<Request>({
    issuer: 'https://wiki.example',
    store,
    scopes: scopeCatalogue([{ name: 'page', permissions: ['r'], description: 'The pages of your wikis' }]),
    user: () => signedIn,
    signInUrl: () => '/sign-in',
  })
  const route = createFetchGuard(later)({ scope: 'page:r' }, ({ auth }) => Response.json(auth.scopes))
  expect(await (await route(request)).json()).toEqual(['page:r'])
})

test('the default catalogue can be extended', () => {
  expect(extended.entries.has('repo-forge-trigger:r')).toBe(true)
  expect(extended.entries.has('wiki:rw')).toBe(true)
  expect(serviceScopes().definitions).toHaveLength(26)
})

test('the names that a service has stay as they are, and include each other', async () => {
  const named = createAuthorizationServer<Request>({
    issuer: 'https://wiki.example',
    store: memoryStore(),
    scopes: lenient,
    user: () => signedIn,
    signInUrl: () => '/sign-in',
  })
  await register(named, ['repo', 'read:user'])
  for (const scope of ['repo repo:status', 'repo:status openid'])
    expect((await ask(named, scope)).searchParams.get('code')).not.toBeNull()
  expect((await ask(named, 'openid')).searchParams.get('error')).toBe('invalid_scope')
})

test('mistakes are thrown at start, with the messages that the guide shows', async () => {
  expect(() => guard({ scope: 'page:w' }, () => new Response())).toThrow(
    'must be scopes of the catalogue in a string, separated by a space; got "page:w" (did you mean page:r?)',
  )
  const twice = { name: 'page', permissions: ['r'], description: '' } as const
  expect(() => scopeCatalogue([twice, twice])).toThrow(
    'scopeCatalogue, definitions[1]: the option name must be given once; got "page" again',
  )
  expect(() => scopeCatalogue([{ ...twice, name: 'read:page' }])).toThrow(
    'the option name must be 1 to 64 visible ASCII characters but " : \\; got "read:page"',
  )
  expect(() => scopeCatalogue([{ ...twice, permissions: [] }])).toThrow("must be ['r'], ['rw'] or both")
  const repo = { scope: 'repo', permission: 'rw', description: '' } as const
  const status = { scope: 'repo:status', permission: 'r', description: '' } as const
  expect(() => scopeCatalogue([{ ...repo, includes: ['repo:stats'] }, status])).toThrow(
    'the option includes must be scopes of the catalogue; got "repo:stats" (did you mean repo:status?)',
  )
  const page = { name: 'page', permissions: ['rw'], description: '' } as const
  expect(() => scopeCatalogue([{ ...status, includes: ['page:rw'] }, page])).toThrow(
    `the option permission must be 'rw', since it includes "page:rw"`,
  )
  expect(() => scopeCatalogue([{ ...repo, includes: ['repo'] }])).toThrow(
    'the option includes must lead to other scopes alone; "repo" includes itself',
  )
  const other = register(server, ['pages:r']).catch((error) => error.faults)
  expect(await other).toMatchObject([
    { path: 'scopes[0]', message: 'must be a scope of the catalogue, such as page:r' },
  ])
})
