/**
 * The life of an application over HTTP, with codes and tokens that were issued before: what stops, what goes on, and
 * what is less than it was.
 * @module
 * @see Specification, sections 1, 2.1 and 5; RFC 6749, sections 5.2 and 6; RFC 6750, section 3.1
 */
import type { AuthorizationServerOptions, Submission } from 'grantwell'
import { createAuthorizationServer, scopeCatalogue } from 'grantwell'
import { createNodeHandler, sendResponse } from 'grantwell/node'
import { afterEach, describe, expect, it } from 'vitest'
import type { Answer, Listening, Send } from '../adapters/http.js'
import { form, listen, sender } from '../adapters/http.js'
import type { TestServer, Tokens } from '../support.js'
import {
  token as askToken,
  authorizationUrl,
  basic,
  CHALLENGE,
  call,
  hiddenFields,
  ISSUER,
  LOGO,
  NATIVE,
  NATIVE_CALLBACK,
  OTHER,
  registration,
  testServer,
  VERIFIER,
  WEB,
} from '../support.js'

interface Client {
  readonly clientId: string
  readonly clientSecret?: string
}

/** A server that listens, with a guarded route beside it that answers with what the guard said. */
interface Site extends TestServer {
  readonly send: Send
}

const open: Listening[] = []

afterEach(async () => {
  for (const listening of open.splice(0)) await listening.close()
})

/** Serves a server on Node's `http`; `GET /api?<scope>` is an API that needs the scope. */
async function served(options: Partial<AuthorizationServerOptions> = {}): Promise<Site> {
  let handle: Parameters<typeof listen>[0] = () => {}
  const listening = await listen((request, response) => handle(request, response))
  open.push(listening)
  const test = await testServer({ issuer: listening.origin, ...options })
  const handler = createNodeHandler(test.server)
  handle = async (request, response) => {
    const [path, scope = ''] = decodeURIComponent(request.url ?? '').split('?')
    if (path !== '/api') return handler(request, response)
    const found = await test.server.authenticate(request, scope === '' ? {} : { scope })
    const ok = { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(found) }
    sendResponse(response, found.type === 'refused' ? found.response : ok)
  }
  return { ...test, send: sender(listening.port) }
}

/** A POST of a client: HTTP Basic where it has a secret, its identifier in the body where it has none. */
function ask({ send }: Site, path: string, fields: Record<string, string>, client: Client = WEB): Promise<Answer> {
  const { clientId, clientSecret } = client
  return clientSecret === undefined
    ? send(form(path, { client_id: clientId, ...fields }))
    : send(form(path, fields, basic({ clientId, clientSecret })))
}

const token = (site: Site, fields: Record<string, string>, client?: Client) =>
  ask(site, '/oauth2/token', fields, client)

const exchange = (site: Site, code: string, client?: Client, more: Record<string, string> = {}) =>
  token(site, { grant_type: 'authorization_code', code, ...more }, client)

const refresh = (site: Site, refreshToken: string, client?: Client, more: Record<string, string> = {}) =>
  token(site, { grant_type: 'refresh_token', refresh_token: refreshToken, ...more }, client)

const revoke = (site: Site, text: string, client?: Client) => ask(site, '/oauth2/revoke', { token: text }, client)

const askForCodes = (site: Site, client?: Client) => ask(site, '/oauth2/device_authorization', {}, client)

const poll = (site: Site, deviceCode: string, client?: Client) =>
  token(site, { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: deviceCode }, client)

const api = ({ send }: Site, accessToken: string, scope = '') =>
  send({ path: `/api?${encodeURIComponent(scope)}`, headers: { authorization: `Bearer ${accessToken}` } })

/** Status and error of an answer, and its scope where it has tokens. */
function told({ status, body, headers }: Answer): string {
  const json: { error?: string; scope?: string } = body.startsWith('{') ? JSON.parse(body) : {}
  const challenge = /error="([^"]*)"/.exec(headers['www-authenticate'] ?? '')?.[1]
  return [status, json.error ?? challenge, json.scope].filter((part) => part !== undefined).join(' ')
}

/** What the guard tells of a token. */
async function guarded(site: Site, accessToken: string): Promise<{ scopes: string[]; resources: unknown }> {
  const { status, body } = await api(site, accessToken)
  if (status !== 200) expect.fail(`${status}`)
  const { scopes, resources } = JSON.parse(body)
  return { scopes, resources }
}

/** Opens the consent page: what its form would send. */
async function consent({ send }: Site, parameters: Record<string, string | undefined> = {}) {
  const page = await send({ path: authorizationUrl(parameters) })
  const cookie = page.headers['set-cookie']?.split(';')[0] ?? ''
  const fields = { resource_scope: 'all', ...hiddenFields(page.body), decision: 'agree' }
  return { page, agree: () => send(form('/oauth2/auth', fields, { cookie })) }
}

/** The user agrees: the code. */
async function codeOf(site: Site, parameters: Record<string, string | undefined> = {}): Promise<string> {
  const { page, agree } = await consent(site, parameters)
  expect(page.status, page.body).toBe(200)
  const { headers } = await agree()
  return new URL(headers['location'] ?? 'none:').searchParams.get('code') ?? expect.fail('no code')
}

/** The whole way to a pair. */
async function pairOf(
  site: Site,
  parameters: Record<string, string | undefined> = {},
  client?: Client,
): Promise<Tokens> {
  const { status, body } = await exchange(site, await codeOf(site, parameters), client)
  expect(status, body).toBe(200)
  return JSON.parse(body)
}

const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
const OF_OTHER = { client_id: 'other', redirect_uri: 'https://other.example/callback' }
const OF_NATIVE = { client_id: 'native', redirect_uri: NATIVE_CALLBACK, ...PKCE }

/** A device that asked; its user agreed, unless told otherwise. */
async function deviceCodeOf(site: Site, client?: Client, agrees = true): Promise<string> {
  const { device_code, user_code } = JSON.parse((await askForCodes(site, client)).body)
  if (!agrees) return device_code
  const first = await site.send({ path: '/oauth2/device' })
  const cookie = first.headers['set-cookie']?.split(';')[0] ?? ''
  const second = await site.send(form('/oauth2/device', { ...hiddenFields(first.body), user_code }, { cookie }))
  const fields = { resource_scope: 'all', ...hiddenFields(second.body), decision: 'agree' }
  expect((await site.send(form('/oauth2/device', fields, { cookie }))).status).toBe(200)
  return device_code
}

/** The whole of a registration as it is to be. */
function amendment(changes: Partial<Submission> = {}): Omit<Submission, 'logo'> & { readonly logo?: Uint8Array } {
  const { logo, ...rest } = registration()
  return { ...rest, scopes: asked('repo-code:rw', 'account-profile:r'), ...changes }
}

const asked = (...scopes: readonly string[]) => scopes.map((scope) => ({ scope, reason: 'It is needed' }))

const submission = (changes: Partial<Submission> = {}): Submission => ({ ...amendment(), logo: LOGO, ...changes })

/** The applicant of `web` hands in a change, and an administrator approves it. */
async function reapproved({ server }: Site, changes: Partial<Submission>, scopes?: readonly string[]): Promise<void> {
  const { revision } = await server.applications.change('web', amendment(changes))
  await server.applications.approve('web', { revision, ...(scopes !== undefined && { scopes }) })
}

/** Everything that the store has of the grants of `ada`. */
const grantsOf = async ({ store }: Site) => JSON.stringify((await store.list('subject:ada')).records)

describe('1 an application is suspended', () => {
  it('[26] it gets nothing from the very next request on: tokens, codes and devices of before are refused', async () => {
    const site = await served()
    const pair = await pairOf(site)
    const code = await codeOf(site)
    const agreed = await deviceCodeOf(site)
    const waiting = await deviceCodeOf(site, WEB, false)
    const opened = await consent(site)
    expect(told(await api(site, pair.access_token, 'repo-code:rw'))).toBe('200')
    const before = await grantsOf(site)
    await site.server.applications.suspend('web')
    expect(told(await api(site, pair.access_token, 'repo-code:rw'))).toBe('401 invalid_token')
    expect(told(await api(site, pair.access_token))).toBe('401 invalid_token')
    expect(told(await refresh(site, pair.refresh_token))).toBe('401 invalid_client')
    expect(told(await exchange(site, code))).toBe('401 invalid_client')
    expect(told(await poll(site, agreed))).toBe('401 invalid_client')
    expect(told(await poll(site, waiting))).toBe('401 invalid_client')
    expect(told(await revoke(site, pair.access_token))).toBe('401 invalid_client')
    expect(told(await revoke(site, pair.refresh_token))).toBe('401 invalid_client')
    expect(told(await askForCodes(site))).toBe('401 invalid_client')
    expect((await consent(site)).page.status).toBe(400)
    const answer = await opened.agree()
    expect([answer.status, answer.headers['location']]).toEqual([400, undefined])
    expect(await grantsOf(site)).toBe(before)
  })

  it('[26] nobody can authorize a device of it, and the page does not say whose it is', async () => {
    const site = await served()
    const { user_code } = JSON.parse((await askForCodes(site)).body)
    await site.server.applications.suspend('web')
    const first = await site.send({ path: '/oauth2/device' })
    const cookie = first.headers['set-cookie']?.split(';')[0] ?? ''
    const second = await site.send(form('/oauth2/device', { ...hiddenFields(first.body), user_code }, { cookie }))
    expect([second.status, second.body.includes('Sample')]).toEqual([400, false])
  })

  it('[26] so it is with a public client, which has no secret to be refused for', async () => {
    const site = await served()
    const code = await codeOf(site, OF_NATIVE)
    const { body } = await exchange(site, await codeOf(site, OF_NATIVE), NATIVE, { code_verifier: VERIFIER })
    const pair: Tokens = JSON.parse(body)
    const agreed = await deviceCodeOf(site, NATIVE)
    await site.server.applications.suspend('native')
    expect(told(await api(site, pair.access_token))).toBe('401 invalid_token')
    expect(told(await refresh(site, pair.refresh_token, NATIVE))).toBe('401 invalid_client')
    expect(told(await exchange(site, code, NATIVE, { code_verifier: VERIFIER }))).toBe('401 invalid_client')
    expect(told(await poll(site, agreed, NATIVE))).toBe('401 invalid_client')
    expect(told(await revoke(site, pair.refresh_token, NATIVE))).toBe('401 invalid_client')
    expect(told(await askForCodes(site, NATIVE))).toBe('401 invalid_client')
    await site.server.applications.reinstate('native')
    expect(told(await api(site, pair.access_token))).toBe('200')
    expect(told(await exchange(site, code, NATIVE, { code_verifier: VERIFIER }))).toMatch(/^200 /)
  })

  it('[26] other applications of the same user go on', async () => {
    const site = await served()
    const pair = await pairOf(site, OF_OTHER, OTHER)
    await site.server.applications.suspend('web')
    expect(told(await api(site, pair.access_token))).toBe('200')
    expect(told(await refresh(site, pair.refresh_token, OTHER))).toMatch(/^200 /)
  })

  it('[26] lifted, what has not expired works again: tokens, codes, devices, and a revocation', async () => {
    const site = await served()
    const pair = await pairOf(site)
    const another = await pairOf(site)
    const code = await codeOf(site)
    const agreed = await deviceCodeOf(site)
    await site.server.applications.suspend('web')
    for (const answer of [await api(site, pair.access_token), await exchange(site, code), await poll(site, agreed)])
      expect(answer.status).toBe(401)
    site.clock.now += 599
    await site.server.applications.reinstate('web')
    expect(told(await api(site, pair.access_token, 'repo-code:rw'))).toBe('200')
    expect(told(await exchange(site, code))).toBe('200 repo-code:rw account-profile:r')
    expect(told(await poll(site, agreed))).toBe('200 repo-code:rw account-profile:r')
    expect(told(await refresh(site, pair.refresh_token))).toBe('200 repo-code:rw account-profile:r')
    expect(told(await revoke(site, another.refresh_token))).toBe('200')
    expect(told(await api(site, another.access_token))).toBe('401 invalid_token')
  })

  it('[26] what expired meanwhile does not come back, and what was revoked before neither', async () => {
    const site = await served()
    const pair = await pairOf(site)
    const revoked = await pairOf(site)
    await revoke(site, revoked.refresh_token)
    const code = await codeOf(site)
    const agreed = await deviceCodeOf(site)
    await site.server.applications.suspend('web')
    site.clock.now += 28_800
    await site.server.applications.reinstate('web')
    expect(told(await api(site, pair.access_token))).toBe('401 invalid_token')
    expect(told(await exchange(site, code))).toBe('400 invalid_grant')
    expect(told(await poll(site, agreed))).toBe('400 invalid_grant')
    expect(told(await refresh(site, revoked.refresh_token))).toBe('400 invalid_grant')
    const { body } = await refresh(site, pair.refresh_token)
    expect(told(await api(site, JSON.parse(body).access_token))).toBe('200')
  })

  it('[26] a code that is shown again meanwhile costs nobody anything: a suspended application is not answered at all', async () => {
    const site = await served()
    const code = await codeOf(site)
    const pair: Tokens = JSON.parse((await exchange(site, code)).body)
    await site.server.applications.suspend('web')
    expect(told(await exchange(site, code))).toBe('401 invalid_client')
    await site.server.applications.reinstate('web')
    expect(told(await api(site, pair.access_token))).toBe('200')
  })
})

describe('1 an application that nobody has approved, or that was rejected', () => {
  const states = {
    pending: async () => {},
    'pending, and changed': async ({ server }: Site, id: string) =>
      void (await server.applications.change(id, amendment())),
    rejected: ({ server }: Site, id: string) => server.applications.reject(id, { revision: 1, reason: 'No' }),
  }

  it.each(Object.entries(states))(
    '[26] %s: nothing works with its identifier, at no endpoint',
    async (_state, into) => {
      const site = await served()
      const theirs = await pairOf(site)
      const code = await codeOf(site)
      for (const changes of [{}, { type: 'public', redirectUris: ['http://127.0.0.1/callback'] }] as const) {
        const { id } = await site.server.applications.submit(submission(changes))
        await into(site, id)
        site.events.length = 0
        expect((await consent(site, { client_id: id })).page.status).toBe(400)
        expect((await consent(site, { client_id: id, ...PKCE, redirect_uri: NATIVE_CALLBACK })).page.status).toBe(400)
        for (const client of [{ clientId: id }, { clientId: id, clientSecret: WEB.clientSecret }]) {
          expect(told(await exchange(site, code, client))).toBe('401 invalid_client')
          expect(told(await refresh(site, theirs.refresh_token, client))).toBe('401 invalid_client')
          expect(told(await poll(site, 'none', client))).toBe('401 invalid_client')
          expect(told(await token(site, { grant_type: 'client_credentials' }, client))).toBe('401 invalid_client')
          expect(told(await revoke(site, theirs.access_token, client))).toBe('401 invalid_client')
          expect(told(await askForCodes(site, client))).toBe('401 invalid_client')
        }
        const reasons = site.events.map((event) => (event.type === 'refused' ? event.reason : event.type))
        expect(reasons).toEqual(Array(14).fill('client_not_approved'))
      }
      expect(told(await api(site, theirs.access_token))).toBe('200')
    },
  )
})

describe('1 a change that waits, or was rejected', () => {
  it('[26] takes nothing from the tokens of before, and gives nothing', async () => {
    const site = await served()
    const pair = await pairOf(site)
    const code = await codeOf(site)
    const { applications } = site.server
    const wanted = {
      scopes: asked('repo-delete:rw', 'account-profile:r'),
      redirectUris: ['https://new.example/callback'],
      resourceScope: 'public',
    } as const
    const goesOn = async (): Promise<void> => {
      expect(await guarded(site, pair.access_token)).toEqual({
        scopes: ['repo-code:rw', 'account-profile:r'],
        resources: { kind: 'all' },
      })
      expect(told(await api(site, pair.access_token, 'repo-delete:rw'))).toBe('403 insufficient_scope')
      expect(told(await refresh(site, pair.refresh_token))).toBe('200 repo-code:rw account-profile:r')
      expect((await consent(site)).page.status).toBe(200)
      expect((await consent(site, { redirect_uri: 'https://new.example/callback' })).page.status).toBe(400)
      expect((await consent(site, { scope: 'repo-delete:rw' })).page.headers['location']).toContain('invalid_scope')
    }
    await applications.change('web', amendment(wanted))
    await goesOn()
    await applications.reject('web', { revision: 2, reason: 'Not needed' })
    await goesOn()
    expect(told(await exchange(site, code))).toBe('200 repo-code:rw account-profile:r')
  })
})

describe('1 the secret of an application is changed', () => {
  it('[22] old and new work at every endpoint for the overlap, and the old one is dead in the very second', async () => {
    const site = await served()
    const pair = await pairOf(site)
    const doomed = await pairOf(site)
    const code = await codeOf(site)
    const rotated = await site.server.applications.rotateSecret('web', { overlap: 60 })
    site.clock.now += 59
    expect(told(await exchange(site, code, WEB))).toMatch(/^200 /)
    for (const client of [WEB, rotated]) {
      expect(told(await refresh(site, pair.refresh_token, client))).toBe('200 repo-code:rw account-profile:r')
      expect(told(await revoke(site, 'unknown', client))).toBe('200')
      expect(told(await askForCodes(site, client))).toBe('200')
    }
    const { clientSecret } = WEB
    const inBody = { token: doomed.access_token, client_id: 'web', client_secret: clientSecret }
    expect(told(await site.send(form('/oauth2/revoke', inBody)))).toBe('200')
    site.clock.now += 1
    expect(told(await refresh(site, pair.refresh_token, WEB))).toBe('401 invalid_client')
    expect(told(await revoke(site, pair.access_token, WEB))).toBe('401 invalid_client')
    expect(told(await site.send(form('/oauth2/revoke', inBody)))).toBe('401 invalid_client')
    expect(told(await askForCodes(site, WEB))).toBe('401 invalid_client')
    expect(told(await api(site, pair.access_token))).toBe('200')
    expect(told(await refresh(site, pair.refresh_token, rotated))).toBe('200 repo-code:rw account-profile:r')
    expect(told(await revoke(site, pair.access_token, rotated))).toBe('200')
    expect(told(await api(site, pair.access_token))).toBe('401 invalid_token')
  })

  it('[22] without an overlap it is dead at the very next request, and the tokens go on', async () => {
    const site = await served()
    const pair = await pairOf(site)
    const rotated = await site.server.applications.rotateSecret('web', { overlap: 0 })
    expect(told(await refresh(site, pair.refresh_token, WEB))).toBe('401 invalid_client')
    expect(told(await api(site, pair.access_token))).toBe('200')
    expect(told(await refresh(site, pair.refresh_token, rotated))).toBe('200 repo-code:rw account-profile:r')
  })
})

describe('1, 5.3 an application is approved again with other scopes', () => {
  it('[31] with fewer ones: tokens of before have only what is left, at the guard and in the answer to a refresh', async () => {
    const site = await served()
    const pair = await pairOf(site)
    const code = await codeOf(site)
    const agreed = await deviceCodeOf(site)
    await reapproved(site, { scopes: asked('account-profile:r') })
    expect((await guarded(site, pair.access_token)).scopes).toEqual(['account-profile:r'])
    expect(told(await api(site, pair.access_token, 'account-profile:r'))).toBe('200')
    for (const scope of ['repo-code:r', 'repo-code:rw', 'repo-code:r account-profile:r'])
      expect(told(await api(site, pair.access_token, scope))).toBe('403 insufficient_scope')
    const refreshed = await refresh(site, pair.refresh_token)
    expect(told(refreshed)).toBe('200 account-profile:r')
    const { access_token } = JSON.parse(refreshed.body)
    expect(told(await api(site, access_token, 'repo-code:r'))).toBe('403 insufficient_scope')
    expect((await guarded(site, access_token)).scopes).toEqual(['account-profile:r'])
    expect(told(await exchange(site, code))).toBe('200 account-profile:r')
    expect(told(await poll(site, agreed))).toBe('200 account-profile:r')
    const handedOut = site.events.filter(({ type }) => type === 'refreshed' || type === 'exchanged')
    expect(handedOut.slice(-3).map((event) => 'scopes' in event && event.scopes)).toEqual(
      Array(3).fill(['account-profile:r']),
    )
    expect((await consent(site, { scope: 'repo-code:r' })).page.headers['location']).toContain('invalid_scope')
  })

  it('[31] with read-only for read-write: tokens of before read, and write no more', async () => {
    const site = await served()
    const pair = await pairOf(site)
    await reapproved(site, { scopes: asked('repo-code:r', 'account-profile:r') })
    expect((await guarded(site, pair.access_token)).scopes).toEqual(['repo-code:r', 'account-profile:r'])
    expect(told(await api(site, pair.access_token, 'repo-code:r'))).toBe('200')
    expect(told(await api(site, pair.access_token, 'repo-code:rw'))).toBe('403 insufficient_scope')
    expect(told(await refresh(site, pair.refresh_token))).toBe('200 repo-code:r account-profile:r')
    expect(told(await refresh(site, pair.refresh_token))).toBe('200 repo-code:r account-profile:r')
  })

  it('[31] narrowed by the administrator, it is the same: what was asked for is not what counts', async () => {
    const site = await served()
    const pair = await pairOf(site)
    await reapproved(site, { scopes: asked('repo-code:rw', 'account-profile:r') }, ['repo-code:r'])
    expect((await guarded(site, pair.access_token)).scopes).toEqual(['repo-code:r'])
    expect(told(await refresh(site, pair.refresh_token))).toBe('200 repo-code:r')
    const fresh = await pairOf(site)
    expect(fresh.scope).toBe('repo-code:r')
  })

  it('[31] with scopes that the service does not have any more: they are on no answer, and come back with them', async () => {
    const site = await served({ issuer: ISSUER })
    const pair = await pairOf(site)
    const code = await codeOf(site)
    const server = createAuthorizationServer({
      issuer: ISSUER,
      store: site.store,
      clock: () => site.clock.now,
      user: () => undefined,
      signInUrl: () => '/sign-in',
      scopes: scopeCatalogue([{ name: 'repo-code', permissions: ['r'], description: 'Code' }]),
    })
    const left = { ...site, server }
    expect(await call(left, pair.access_token)).toMatchObject({ type: 'authenticated', scopes: ['repo-code:r'] })
    const { grants } = await server.grants.listGrants('ada')
    expect(grants.map(({ scopes }) => scopes)).toEqual([['repo-code:r'], ['repo-code:r']])
    const grant = { grant_type: 'refresh_token', refresh_token: pair.refresh_token }
    expect((await askToken(left, grant)).body).toMatchObject({ scope: 'repo-code:r' })
    const exchanged = await askToken(left, { grant_type: 'authorization_code', code })
    expect(exchanged.body).toMatchObject({ scope: 'repo-code:r' })
    expect((await guarded(site, pair.access_token)).scopes).toEqual(['repo-code:rw', 'account-profile:r'])
  })

  it('[31] with none of those that were granted: nothing is handed out, and nothing changes', async () => {
    const site = await served()
    const pair = await pairOf(site, { scope: 'repo-code:rw' })
    const code = await codeOf(site, { scope: 'repo-code:rw' })
    const agreed = await deviceCodeOf(site)
    const partly = await pairOf(site)
    const before = await grantsOf(site)
    await reapproved(site, { scopes: asked('repo-pr:rw') })
    site.events.length = 0
    for (const { access_token } of [pair, partly]) {
      for (const scope of ['repo-code:r', 'repo-pr:r', ''])
        expect(told(await api(site, access_token, scope))).toBe('401 invalid_token')
    }
    for (let count = 0; count < 2; count++) {
      expect(told(await refresh(site, pair.refresh_token))).toBe('400 invalid_grant')
      expect(told(await refresh(site, partly.refresh_token, WEB, { scope: 'account-profile:r' }))).toBe(
        '400 invalid_grant',
      )
      expect(told(await exchange(site, code))).toBe('400 invalid_grant')
      expect(told(await poll(site, agreed))).toBe('400 invalid_grant')
    }
    expect(await grantsOf(site)).toBe(before)
    const reasons = new Set(site.events.map((event) => (event.type === 'refused' ? event.reason : event.type)))
    expect([...reasons]).toEqual(['scope_not_registered'])
    await reapproved(site, {})
    expect(told(await refresh(site, pair.refresh_token))).toBe('200 repo-code:rw')
    expect(told(await exchange(site, code))).toBe('200 repo-code:rw')
    expect(told(await poll(site, agreed))).toBe('200 repo-code:rw account-profile:r')
    expect(told(await api(site, partly.access_token, 'account-profile:r'))).toBe('200')
  })

  it('[31] with wider and other ones: tokens of before gain nothing, whatever they ask for', async () => {
    const site = await served()
    const pair = await pairOf(site, { scope: 'repo-code:r account-profile:r' })
    await reapproved(site, { scopes: asked('repo-code:rw', 'account-profile:rw', 'repo-delete:rw') })
    expect((await guarded(site, pair.access_token)).scopes).toEqual(['repo-code:r', 'account-profile:r'])
    for (const scope of ['repo-code:rw', 'account-profile:rw', 'repo-delete:rw']) {
      expect(told(await api(site, pair.access_token, scope))).toBe('403 insufficient_scope')
      expect(told(await refresh(site, pair.refresh_token, WEB, { scope }))).toBe('400 invalid_scope')
    }
    expect(told(await refresh(site, pair.refresh_token))).toBe('200 repo-code:r account-profile:r')
    const fresh = await pairOf(site, { scope: 'repo-delete:rw' })
    expect(told(await api(site, fresh.access_token, 'repo-delete:rw'))).toBe('200')
  })

  it('[31] a consent page that was open meanwhile grants nothing that is not registered any more', async () => {
    const site = await served()
    const opened = await consent(site)
    await reapproved(site, { scopes: asked('account-profile:r') })
    const answer = await opened.agree()
    expect([answer.status, answer.headers['location']]).toEqual([400, undefined])
    expect(await site.server.grants.listGrants('ada')).toStrictEqual({ grants: [] })
  })
})

describe('2.1 an application is approved again with other redirect URIs', () => {
  const moved = { redirectUris: ['https://new.example/callback'] }

  it('a code of before is still exchanged, to where it was sent; new requests go to the new URIs alone', async () => {
    const site = await served()
    const pair = await pairOf(site)
    const [code, bare] = [await codeOf(site), await codeOf(site, { redirect_uri: undefined })]
    await reapproved(site, moved)
    const old = { redirect_uri: 'https://app.example/callback' }
    expect(told(await exchange(site, code, WEB, { redirect_uri: 'https://new.example/callback' }))).toBe(
      '400 invalid_grant',
    )
    expect(told(await exchange(site, code, WEB, old))).toBe('200 repo-code:rw account-profile:r')
    expect(told(await exchange(site, bare))).toBe('200 repo-code:rw account-profile:r')
    expect(told(await api(site, pair.access_token))).toBe('200')
    expect(told(await refresh(site, pair.refresh_token))).toMatch(/^200 /)
    for (const redirect_uri of ['https://app.example/callback', 'https://app.example/other']) {
      const { page } = await consent(site, { redirect_uri })
      expect([page.status, page.headers['location']]).toEqual([400, undefined])
    }
    expect(told(await exchange(site, await codeOf(site, { redirect_uri: 'https://new.example/callback' })))).toMatch(
      /^200 /,
    )
  })

  it('a consent page that was open meanwhile sends nothing to an old URI', async () => {
    const site = await served()
    const opened = await consent(site)
    await reapproved(site, moved)
    const answer = await opened.agree()
    expect([answer.status, answer.headers['location']]).toEqual([400, undefined])
  })
})

describe('2.1 an application is approved again with a narrower resource scope', () => {
  const options = { resources: () => [{ id: 'repo-1' }, { id: 'repo-2' }] }

  it('tokens of before open no more than what is left, and all of it again once it is back', async () => {
    const site = await served(options)
    const pair = await pairOf(site)
    expect((await guarded(site, pair.access_token)).resources).toEqual({ kind: 'all' })
    await reapproved(site, { resourceScope: 'public' })
    expect((await guarded(site, pair.access_token)).resources).toEqual({ kind: 'public' })
    const { access_token } = JSON.parse((await refresh(site, pair.refresh_token)).body)
    expect((await guarded(site, access_token)).resources).toEqual({ kind: 'public' })
    await reapproved(site, { resourceScope: 'specified' })
    expect((await guarded(site, pair.access_token)).resources).toEqual({ kind: 'specified', ids: [] })
    await reapproved(site, { resourceScope: 'all' })
    expect((await guarded(site, pair.access_token)).resources).toEqual({ kind: 'all' })
  })

  it('and what a user specified stays what it is under each of them', async () => {
    const site = await served(options)
    await reapproved(site, { resourceScope: 'specified' })
    const page = await site.send({ path: authorizationUrl() })
    const cookie = page.headers['set-cookie']?.split(';')[0] ?? ''
    const name = /<input[^>]*type="checkbox"[^>]*>/.exec(page.body)?.[0].match(/name="([^"]*)"/)?.[1] ?? 'none'
    const fields = { ...hiddenFields(page.body), resource_scope: 'specified', [name]: 'repo-1', decision: 'agree' }
    const { headers } = await site.send(form('/oauth2/auth', fields, { cookie }))
    const code = new URL(headers['location'] ?? 'none:').searchParams.get('code') ?? ''
    const { access_token } = JSON.parse((await exchange(site, code)).body)
    for (const resourceScope of ['specified', 'public', 'all'] as const) {
      await reapproved(site, { resourceScope })
      expect((await guarded(site, access_token)).resources).toEqual({ kind: 'specified', ids: ['repo-1'] })
    }
  })
})

describe('an application is approved again without the device flow', () => {
  it('a device of before gets nothing and nothing changes, until it is back; other tokens go on', async () => {
    const site = await served()
    const pair = await pairOf(site)
    const agreed = await deviceCodeOf(site)
    const before = await grantsOf(site)
    await reapproved(site, { deviceFlow: false })
    expect(told(await poll(site, agreed))).toBe('400 unauthorized_client')
    expect(told(await askForCodes(site))).toBe('400 unauthorized_client')
    expect(await grantsOf(site)).toBe(before)
    expect(told(await api(site, pair.access_token))).toBe('200')
    expect(told(await refresh(site, pair.refresh_token))).toMatch(/^200 /)
    await reapproved(site, { deviceFlow: true })
    expect(told(await poll(site, agreed))).toMatch(/^200 /)
  })
})

describe('2.1, 5.1 a public client', () => {
  it('[27] authenticates by no secret, whichever it shows, and has none to be changed', async () => {
    const site = await served()
    for (const clientSecret of [WEB.clientSecret, 'x', ' ', '-'.repeat(43), 'undefined', 'null']) {
      const client = { clientId: 'native', clientSecret }
      expect(told(await token(site, { grant_type: 'refresh_token', refresh_token: 'x' }, client))).toBe(
        '401 invalid_client',
      )
      expect(told(await revoke(site, 'x', client))).toBe('401 invalid_client')
      expect(told(await askForCodes(site, client))).toBe('401 invalid_client')
      const inBody = { client_id: 'native', client_secret: clientSecret }
      for (const path of ['/oauth2/token', '/oauth2/revoke', '/oauth2/device_authorization'])
        expect(told(await site.send(form(path, { ...inBody, token: 'x', grant_type: 'x' })))).toBe('401 invalid_client')
    }
    await expect(site.server.applications.rotateSecret('native')).rejects.toMatchObject({
      code: 'ERR_APPLICATION_STATE',
    })
    expect(told(await askForCodes(site, NATIVE))).toBe('200')
  })

  it('[27] cannot use what a confidential one was given, nor revoke it; nor the other way round', async () => {
    const site = await served()
    const theirs = await pairOf(site)
    const code = await codeOf(site, PKCE)
    const agreed = await deviceCodeOf(site)
    expect(told(await exchange(site, code, NATIVE, { code_verifier: VERIFIER }))).toBe('400 invalid_grant')
    expect(told(await refresh(site, theirs.refresh_token, NATIVE))).toBe('400 invalid_grant')
    expect(told(await poll(site, agreed, NATIVE))).toBe('400 invalid_grant')
    expect(told(await revoke(site, theirs.refresh_token, NATIVE))).toBe('200')
    expect(told(await api(site, theirs.access_token))).toBe('200')
    expect(told(await exchange(site, code, WEB, { code_verifier: VERIFIER }))).toMatch(/^200 /)
    const own: Tokens = JSON.parse(
      (await exchange(site, await codeOf(site, OF_NATIVE), NATIVE, { code_verifier: VERIFIER })).body,
    )
    expect(told(await refresh(site, own.refresh_token, WEB))).toBe('400 invalid_grant')
    expect(told(await revoke(site, own.refresh_token, WEB))).toBe('200')
    expect(told(await api(site, own.access_token))).toBe('200')
  })

  it('[27] does not become a confidential one by a change, nor the reverse, and its tokens go on meanwhile', async () => {
    const site = await served()
    const pair = await pairOf(site)
    const loopback = { redirectUris: ['http://127.0.0.1/callback'] }
    const { applications } = site.server
    const refused = { code: 'ERR_REGISTRATION', faults: [{ path: 'type' }] }
    await expect(applications.change('web', amendment({ type: 'public', ...loopback }))).rejects.toMatchObject(refused)
    await expect(applications.change('native', amendment({ type: 'confidential' }))).rejects.toMatchObject(refused)
    expect(told(await api(site, pair.access_token))).toBe('200')
    expect(told(await refresh(site, pair.refresh_token, { clientId: 'web' }))).toBe('401 invalid_client')
  })
})
