/**
 * The code of docs/guides/registration-by-clients.md: a policy, a client that registers itself, and one whose identifier is a URL.
 * @module
 */

// #region imports
import type { ClientCandidate, ClientVerdict } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
// #endregion imports
// #region fetch-imports
import { fetchClientMetadata } from 'grantwell/node'
// #endregion fetch-imports
import { readFileSync } from 'node:fs'
import type { AuditEvent, AuthorizationServer, AuthorizationServerOptions, FetchedClientMetadata } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { expect, it } from 'vitest'
import { askToRegister, parametersOf, register, tokensOf } from '../../test/protocol/registration.js'
import type { TestServer } from '../../test/support.js'
import { authorizationUrl, send, works } from '../../test/support.js'

// #region policy
const READABLE = ['repo-code:r', 'account-profile:r']
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)[:/]/

/** Lets tools on the user's own machine read. People look at everything else. */
function clientPolicy({ type, redirectUris, scopes, deviceFlow }: ClientCandidate): ClientVerdict {
  const isLocal = redirectUris.length > 0 && redirectUris.every((uri) => LOOPBACK.test(uri))
  if (type !== 'public' || !isLocal || deviceFlow) return 'review'
  // A client that names no scope asks for all. `repo-code:rw` has `repo-code:r` in it.
  const approve = READABLE.filter((scope) => scopes.includes(scope) || scopes.includes(`${scope}w`))
  return approve.length === 0 ? 'review' : { approve }
}
// #endregion policy

function serve(yourOptions: Omit<AuthorizationServerOptions, 'clientPolicy'>) {
  // #region server
  const server = createAuthorizationServer({ ...yourOptions, clientPolicy })
  // #endregion server
  return server
}

function serveUrls(yourOptions: Omit<AuthorizationServerOptions, 'clientPolicy'>) {
  // #region fetch
  const server = createAuthorizationServer({ ...yourOptions, clientPolicy, fetchClientMetadata })
  // #endregion fetch
  return server
}

const page = readFileSync(new URL('../guides/registration-by-clients.md', import.meta.url), 'utf8')

/** Returns the code of the page in a language, in its order. */
function shown(language: string): readonly string[] {
  return [...page.matchAll(new RegExp(`^ *\`\`\`${language}\\n(.*?)^ *\`\`\``, 'gms'))].map(([, code = '']) => code)
}

/** Reads a request of the page: its first line, its headers, and what follows the empty line. */
function requestIn(text: string, values: Readonly<Record<string, string>> = {}) {
  const filled = Object.entries(values).reduce((before, [from, to]) => before.replaceAll(from, to), text)
  const [head = '', body = ''] = filled.split(/\n\n/)
  const [line = '', ...lines] = head.trim().split('\n')
  const [method = '', url = ''] = line.split(' ')
  const headers = Object.fromEntries(
    lines.map((each) => [each.split(': ')[0]?.toLowerCase() ?? '', each.split(': ')[1] ?? '']),
  )
  return { method, url, headers, ...(body !== '' && { body: { type: 'text', text: body } as const }) }
}

function started(more: Partial<AuthorizationServerOptions> = {}) {
  const events: AuditEvent[] = []
  const server = serve({
    issuer: 'https://git.example',
    store: memoryStore(),
    user: () => ({ subject: 'ada' }),
    signInUrl: () => '/sign-in',
    onEvent: (event) => events.push(event),
    ...more,
  })
  return { server, events } as unknown as TestServer // its server is all that is used
}

it('the policy approves tools on the machine for what can be read, and lets all others wait', async () => {
  const test = started()
  expect(await register(test)).toMatchObject({ scope: 'repo-code:r account-profile:r' })
  expect(await register(test, { scope: 'repo-code:rw' })).toMatchObject({ scope: 'repo-code:r' })
  for (const waiting of [
    { redirect_uris: ['https://app.example/callback'] },
    { redirect_uris: ['http://127.0.0.1/callback', 'https://app.example/callback'] },
    { token_endpoint_auth_method: 'client_secret_basic' },
    { scope: 'repo-delete:rw' },
    { grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] },
  ])
    await register(test, waiting)
  expect((await test.server.applications.list({ state: 'pending' })).applications).toHaveLength(5)
})

it('answers the request of the page as the page says, and the requests about the registration', async () => {
  const test = started()
  const [toRegister = '', toRead = '', toDelete = ''] = shown('http')
  const answer = await send(test.server, requestIn(toRegister))
  expect(answer.status).toBe(201)
  const made = JSON.parse(answer.body as string)
  const documented = JSON.parse(shown('json')[0] ?? '')
  const random = {
    client_id: expect.stringMatching(/^[\w-]{22}$/),
    client_id_issued_at: expect.any(Number),
    registration_access_token: expect.stringMatching(/^gwm_[\w-]{43}$/),
    registration_client_uri: `https://git.example/oauth2/register?client_id=${made.client_id}`,
  }
  expect(made).toStrictEqual({ ...documented, ...random })
  expect(documented).toMatchObject({
    ...random,
    registration_client_uri: expect.stringContaining(documented.client_id),
  })
  const { access_token: token } = await tokensOf(test, made.client_id)
  const values = {
    [documented.client_id]: made.client_id,
    [documented.registration_access_token]: made.registration_access_token,
  }
  const read = await send(test.server, requestIn(toRead, values))
  expect([read.status, JSON.parse(read.body as string)]).toStrictEqual([200, made])
  expect((await send(test.server, requestIn(toDelete, values))).status).toBe(204)
  expect(await works(test, token)).toBe(false)
  expect((await send(test.server, requestIn(toRead, values))).status).toBe(401)
  expect(test.events).toContainEqual(expect.objectContaining({ type: 'application', change: 'deleted' }))
})

async function approveAll(server: AuthorizationServer) {
  const found: string[] = []
  const print = (line: string) => found.push(line)
  // #region review
  const { applications } = await server.applications.list({ state: 'pending' })
  for (const { id, review, selfRegistered } of applications) {
    if (selfRegistered === undefined || review === undefined) continue // an applicant handed it in
    const { name, redirectUris, scopes } = review.details
    print(`${id}: ${name}, for ${scopes.join(' ')}, goes to ${redirectUris.join(' ')}`)
    // After somebody has looked at it:
    await server.applications.approve(id, { revision: review.revision, scopes: ['repo-code:r'] })
  }
  // #endregion review
  return found
}

it('a client that waits gets no tokens, and works after an administrator approved it', async () => {
  const test = started()
  const redirectUri = 'https://app.example/callback'
  const { client_id: clientId } = await register(test, { redirect_uris: [redirectUri], scope: 'repo-code:rw' })
  const url = authorizationUrl(parametersOf(clientId, redirectUri))
  expect((await send(test.server, { url })).body).toContain('This application is not approved')
  expect(page).toContain('“This application is not approved”')
  expect(await approveAll(test.server)).toEqual([`${clientId}: A tool, for repo-code:rw, goes to ${redirectUri}`])
  const consent = await send(test.server, { url })
  expect([consent.status, consent.body]).toEqual([200, expect.not.stringContaining('registered itself')])
  expect((await tokensOf(test, clientId, redirectUri)).scope).toBe('repo-code:r')
})

it('a client whose identifier is a URL needs no registration, and users see its host in front', async () => {
  const url = 'https://tool.example/oauth/client.json'
  const documents = new Map([[url, shown('json')[1] ?? '']])
  const fetchFromMap = async (asked: string): Promise<FetchedClientMetadata> => {
    const text = documents.get(asked)
    return text === undefined ? { type: 'none', reason: 'status' } : { type: 'document', text }
  }
  const test = started({ fetchClientMetadata: fetchFromMap })
  const redirectUri = 'http://127.0.0.1:5000/callback'
  const consent = await send(test.server, { url: authorizationUrl(parametersOf(url, redirectUri)) })
  const words = String(consent.body)
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
  for (const sentence of [
    'tool.example calls itself Branch viewer and wants to access your account',
    'This application registered itself. Nobody at this service has checked its name.',
  ]) {
    expect(words).toContain(sentence)
    expect(page.replaceAll(/\s+/g, ' ')).toContain(sentence)
  }
  expect((await tokensOf(test, url)).scope).toBe('repo-code:r')
  const unknown = await send(test.server, {
    url: authorizationUrl(parametersOf('https://tool.example/other.json', redirectUri)),
  })
  expect([unknown.status, unknown.body]).toEqual([400, expect.stringContaining('This application cannot be read')])
})

it('the metadata of the service name the endpoint, and say whether URLs are identifiers', async () => {
  const options = { issuer: 'https://git.example', user: () => undefined, signInUrl: () => '/sign-in' }
  const [names, urls] = [serve({ ...options, store: memoryStore() }), serveUrls({ ...options, store: memoryStore() })]
  for (const [server, supported] of [
    [names, undefined],
    [urls, true],
  ] as const) {
    const { body } = await send(server, { url: '/.well-known/oauth-authorization-server' })
    const metadata = JSON.parse(String(body))
    expect(metadata.registration_endpoint).toBe('https://git.example/oauth2/register')
    expect(metadata.client_id_metadata_document_supported).toBe(supported)
  }
})

it('what cannot be registered is told by an error of RFC 7591', async () => {
  const test = started()
  const error = async (changes: object) =>
    JSON.parse((await askToRegister(test, { client_name: 'A tool', ...changes })).body as string)
  expect((await error({ redirect_uris: ['http://app.example/'] })).error).toBe('invalid_redirect_uri')
  const wrong = await error({ token_endpoint_auth_method: 'private_key_jwt' })
  expect(wrong.error).toBe('invalid_client_metadata')
  expect(page).toContain(wrong.error_description)
})
