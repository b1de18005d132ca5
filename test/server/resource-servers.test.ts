/**
 * APIs of the service that live elsewhere: how they are registered, what they cannot do, and how a stock client asks.
 * @module
 * @see RFC 7662; DESIGN, registration
 */
import type { Registration } from 'grantwell'
import { portableDigests, scopeCatalogue } from 'grantwell'
import type { PublishedApplication } from 'grantwell/core'
import { clientKeyOf, parseClientId, SECRETS_KEPT } from 'grantwell/core'
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discovered, INSECURE, PLATFORMS } from '../adapters/stock-client.js'
import type { ListeningSite } from '../adapters/suite.js'
import { consentForm } from '../adapters/suite.js'
import { askForCodes, codesOf, poll } from '../protocol/device-form.js'
import { API, INACTIVE, introspect, told, withApi } from '../protocol/resource-server.js'
import type { TestServer } from '../support.js'
import {
  authorizationUrl,
  authorize,
  basic,
  CHALLENGE,
  exchange,
  ISSUER,
  NATIVE,
  OTHER,
  post,
  refresh,
  registration,
  revoke,
  START,
  send,
  testServer,
  token,
  tokens,
  WEB,
  works,
} from '../support.js'
import { INVALID_GRANT, inaccessible, REVOKED, StoreFailure, tokenError, watchedServer } from './helpers.js'

type Asked = Parameters<TestServer['server']['applications']['registerResourceServer']>

const SOUND = {
  name: 'Packages',
  description: 'Where packages are',
  website: 'https://packages.example',
  scopes: ['registry-package:rw', 'repo-code:r'],
}

/** What a program without types could hand in. */
function register({ server }: TestServer, changes: Record<string, unknown> = {}, ...rest: readonly unknown[]) {
  const [given, imported] = [{ ...SOUND, ...changes }, ...rest] as unknown as Asked // on purpose, of any type
  return server.applications.registerResourceServer(given, imported)
}

function keyOf(clientId: string): string {
  return `application:${clientKeyOf(portableDigests, parseClientId(clientId) ?? expect.fail())}`
}

/** How many records there are that are labelled. */
async function countOf({ store }: Pick<TestServer, 'store'>): Promise<number> {
  return (await store.list('applications:approved')).records.length
}

const MISTAKE = { name: 'GrantwellError', code: 'ERR_CONFIGURATION' }
const FAULT = { name: 'GrantwellError', code: 'ERR_REGISTRATION' }

describe('registerResourceServer', () => {
  it('makes an identifier and a secret, which is shown this once and works at once', async () => {
    const test = await testServer()
    const { clientId, clientSecret, ...rest } = await register(test)
    expect(rest).toStrictEqual({})
    expect(clientId).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(clientSecret).toMatch(/^gws_[A-Za-z0-9_-]{43}$/)
    expect(await introspect(test, 'x', {}, { clientId, clientSecret })).toStrictEqual(INACTIVE)
    expect(test.events.map((event) => event.type === 'application' && event.change)).toEqual([
      'submitted',
      'approved',
      false,
    ])
    const again = await register(test)
    expect([again.clientId === clientId, again.clientSecret === clientSecret]).toEqual([false, false])
  })

  it('keeps this record: of an application that has nowhere to send a user, and may have nothing', async () => {
    const test = await testServer()
    const { clientId } = await register(test, {}, API)
    const record = {
      v: 1,
      id: 'api',
      clientId: 'api',
      state: 'approved',
      revision: 1,
      createdAt: START,
      approvedAt: START,
      secrets: [{ digest: portableDigests.sha256(API.clientSecret) }],
      type: 'confidential',
      ...SOUND,
      redirectUris: [],
      allowSubdomains: false,
      scopes: ['repo-code:r', 'registry-package:rw'],
      reasons: {},
      resourceScope: 'all',
      deviceFlow: false,
      logo: '',
      resourceServer: true,
    }
    expect(await test.server.applications.get(clientId)).toStrictEqual(record)
    const [stored] = await test.store.read([keyOf('api')])
    expect(stored?.value).toStrictEqual(record)
    expect(JSON.stringify(stored)).not.toContain(API.clientSecret)
  })

  it('has no logo, in its record or in the store', async () => {
    const test = await testServer()
    const { size } = test.store
    await register(test, {}, API)
    expect(test.store.size).toBe(size + 1)
    expect(await test.server.applications.logo('')).toBeUndefined()
    const { description, ...rest } = SOUND
    const { clientId } = await test.server.applications.registerResourceServer(rest)
    expect(description).toBeDefined()
    expect(await test.server.applications.get(clientId)).not.toHaveProperty('description')
  })

  it('with an identifier and a secret from elsewhere, or one of the two', async () => {
    const test = await testServer()
    expect(await register(test, {}, API)).toStrictEqual(API)
    const named = await register(test, {}, { clientId: 'an api: of ours' })
    expect(named).toStrictEqual({ clientId: 'an api: of ours', clientSecret: expect.stringMatching(/^gws_/) })
    const secret = await register(test, {}, { clientSecret: API.clientSecret })
    expect(secret).toStrictEqual({ clientId: expect.stringMatching(/^[\w-]{22}$/), clientSecret: API.clientSecret })
    for (const client of [API, named, secret]) expect(await introspect(test, 'x', {}, client)).toStrictEqual(INACTIVE)
    expect(await register(test, {}, {})).toMatchObject({ clientId: expect.any(String) })
    expect(await register(test, {}, undefined)).toMatchObject({ clientId: expect.any(String) })
  })

  it.each([
    ['nothing', { name: undefined, website: undefined, scopes: undefined }, ['name', 'website', 'scopes']],
    ['a description that is none', { description: null }, ['description']],
    ['an empty list of scopes', { scopes: [] }, ['scopes']],
    ['a scope twice', { scopes: ['repo-code:r', 'repo-code:rw'] }, ['scopes[1]']],
    [
      'every limit passed at once',
      {
        name: 'x'.repeat(51),
        description: 'x'.repeat(351),
        website: 'https://packages.example/'.padEnd(129, 'x'),
        scopes: ['repo-code:r', 'typo:r', 'repo-delete:r'],
      },
      ['name', 'description', 'website', 'scopes[1]', 'scopes[2]'],
    ],
  ])('not with %s; nothing is kept', async (_, changes, paths) => {
    const test = await testServer()
    const { size } = test.store
    await expect(register(test, changes)).rejects.toMatchObject({
      ...FAULT,
      faults: paths.map((path) => expect.objectContaining({ path })),
    })
    expect([test.store.size, test.events]).toEqual([size, []])
  })

  it('not with a field that it does not have: of an application, or a slip of the pen', async () => {
    const test = await testServer()
    const { size } = test.store
    const fields = ['type', 'redirectUris', 'resourceScope', 'deviceFlow', 'logo', 'tokenType', 'authorizedDomain']
    for (const field of [...fields, 'resourceServer', 'scope', 'secrets', 'constructor', ''])
      await expect(register(test, { [field]: 'x' })).rejects.toMatchObject({
        ...MISTAKE,
        message: expect.stringMatching(
          `^grantwell: applications.registerResourceServer, registration: there is no option ${/^\w+$/.test(field) ? field : JSON.stringify(field)}; (did you mean|it takes name, description, website, scopes)`,
        ),
      })
    for (const imported of [null, 'api', { client_id: 'api' }, { secret: API.clientSecret }])
      await expect(register(test, {}, imported)).rejects.toMatchObject(MISTAKE)
    const { applications } = test.server
    for (const given of [null, undefined, 'api', 7] as unknown as Asked[0][])
      await expect(applications.registerResourceServer(given)).rejects.toMatchObject(MISTAKE)
    expect(test.store.size).toBe(size)
  })

  it('not under an identifier that there is, and what has it stays what it is', async () => {
    const test = await withApi(await testServer())
    const exists = { code: 'ERR_CLIENT_EXISTS' }
    const before = await Promise.all(['web', 'api'].map((id) => test.server.applications.get(id)))
    for (const clientId of ['web', 'api', 'native'])
      await expect(register(test, {}, { ...API, clientId })).rejects.toMatchObject(exists)
    await expect(test.server.applications.register(registration(), { ...WEB, clientId: 'api' })).rejects.toMatchObject(
      exists,
    )
    expect(await Promise.all(['web', 'api'].map((id) => test.server.applications.get(id)))).toStrictEqual(before)
  })

  it('[49] not where the store fails: ERR_STORE, and no secret is handed out', async () => {
    for (const failing of ['read', 'write'] as const) {
      const test = await watchedServer()
      const fail = (): Promise<never> => Promise.reject(new StoreFailure())
      test.instead[failing] = fail
      await expect(register(test, {}, API)).rejects.toMatchObject({ code: 'ERR_STORE' })
      test.instead[failing] = undefined
      expect(await test.server.applications.get('api')).toBeUndefined()
      expect(await register(test, {}, API)).toStrictEqual(API)
    }
  })

  it('with the catalogue of the host', async () => {
    const define = (name: string) => ({ name, permissions: ['r', 'rw'] as const, description: name })
    const scopes = scopeCatalogue(['wiki', 'repo-code', 'account-profile'].map(define))
    const test = await testServer({ scopes })
    const { clientId } = await register(test, { scopes: ['repo-code:r', 'wiki:rw'] })
    expect(await test.server.applications.get(clientId)).toMatchObject({ scopes: ['wiki:rw', 'repo-code:r'] })
    await expect(register(test, { scopes: ['registry-package:r'] })).rejects.toMatchObject(FAULT)
  })
})

describe('what a resource server cannot do', () => {
  it('[42] [1] send anybody to the authorization endpoint: an error page, never a redirect', async () => {
    for (const redirectMatching of ['domain', 'exact'] as const) {
      const test = await withApi(await testServer({ redirectMatching, allowLocalhost: true }))
      test.events.length = 0
      const targets = [
        undefined,
        '',
        'https://packages.example',
        'https://packages.example/',
        'https://packages.example/callback',
        'http://127.0.0.1/',
        'http://localhost:3000/callback',
        'http://[::1]/',
        'com.example.app:/callback',
        'https://app.example/callback',
        `${ISSUER}/oauth2/auth`,
      ]
      for (const redirect_uri of targets) {
        for (const more of [{}, { code_challenge: CHALLENGE, code_challenge_method: 'S256' }, { response_type: 'x' }]) {
          const url = authorizationUrl({ client_id: 'api', redirect_uri, state: 's', ...more })
          expect(await send(test.server, { url })).toStrictEqual(inaccessible())
        }
        const query = authorizationUrl({ client_id: 'api', redirect_uri }).split('?')[1] ?? ''
        const answer = await post(test.server, '/oauth2/auth', { request: query, decision: 'agree' })
        expect(answer).toStrictEqual(inaccessible())
      }
      expect(test.events[0]).toMatchObject({ endpoint: 'authorization', reason: 'redirect_uri_mismatch' })
    }
  })

  it('[42] begin the device flow, or poll in it', async () => {
    const test = await withApi(await testServer())
    const response = tokenError(400, 'unauthorized_client', 'The application is not registered for the device flow.')
    expect(await askForCodes(test, {}, API)).toStrictEqual(response)
    expect((await poll(test, await codesOf(test), API)).response).toStrictEqual(INVALID_GRANT)
  })

  it('[42] [17] [34] redeem, refresh or revoke anything that there is', async () => {
    const test = await withApi(await testServer())
    const { code } = await authorize(test)
    const pair = await tokens(test)
    expect((await exchange(test, code, {}, API)).response).toStrictEqual(INVALID_GRANT)
    expect((await refresh(test, pair.refresh_token, {}, API)).response).toStrictEqual(INVALID_GRANT)
    for (const text of [pair.access_token, pair.refresh_token])
      expect(await revoke(test, text, {}, API)).toStrictEqual(REVOKED)
    for (const grant_type of ['client_credentials', 'password', 'implicit'])
      expect((await token(test, { grant_type, scope: 'repo-code:r' }, API)).status).toBe(400)
    expect(await works(test, pair.access_token)).toBe(true)
    expect((await exchange(test, code)).status).toBe(200)
    expect((await refresh(test, pair.refresh_token)).status).toBe(200)
  })

  it('[42] be changed by handing something in; and nothing of that is kept', async () => {
    const test = await withApi(await testServer())
    const { applications } = test.server
    const before = await applications.get('api')
    const { size } = test.store
    const scopes = [{ scope: 'repo-delete:rw', reason: 'To delete' }]
    const { logo, ...amendment } = { ...registration(), scopes }
    const state = { code: 'ERR_APPLICATION_STATE' }
    for (const change of [amendment, { ...amendment, logo }, { ...amendment, type: 'public' as const }])
      await expect(applications.change('api', change)).rejects.toMatchObject(state)
    await expect(applications.approve('api', { revision: 1 })).rejects.toMatchObject(state)
    await expect(applications.reject('api', { revision: 1, reason: 'No' })).rejects.toMatchObject(state)
    expect(await applications.get('api')).toStrictEqual(before)
    expect(test.store.size).toBe(size)
    expect((await applications.list({ state: 'pending' })).applications).toStrictEqual([])
  })
})

describe('[42] nobody becomes a resource server', () => {
  it('by saying so in a registration, a submission or a change', async () => {
    const test = await testServer()
    const { applications } = test.server
    const scopes = [{ scope: 'repo-code:rw', reason: 'To push' }]
    const fault = { ...FAULT, faults: [{ path: 'resourceServer', message: 'is not a field of a registration' }] }
    for (const resourceServer of [true, false, undefined]) {
      const given = { ...registration(), scopes, resourceServer } as Registration & { scopes: typeof scopes } // on purpose
      await expect(applications.register(given)).rejects.toMatchObject(fault)
      await expect(applications.submit(given)).rejects.toMatchObject(fault)
      await expect(applications.change('web', given)).rejects.toMatchObject(fault)
    }
  })

  it('by what a polluted prototype has', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const polluted = { value: true, configurable: true, enumerable: true, writable: true }
    Object.defineProperty(Object.prototype, 'resourceServer', polluted)
    let found: unknown[] = []
    try {
      const clients = [WEB, OTHER, await test.server.applications.register(registration())]
      for (const { clientId, clientSecret = '' } of clients)
        found.push((await introspect(test, access_token, {}, { clientId, clientSecret })).status)
      const form = { token: access_token, client_id: NATIVE.clientId }
      found.push((await post(test.server, '/oauth2/introspect', form)).status)
    } catch (error) {
      found = [error]
    }
    Reflect.deleteProperty(Object.prototype, 'resourceServer')
    expect(found).toEqual([403, 403, 403, 403])
  })

  it('by losing the secret of one that is', async () => {
    const test = await withApi(await testServer())
    for (const client of [WEB, OTHER])
      expect((await introspect(test, 'x', {}, { ...API, clientSecret: client.clientSecret })).status).toBe(401)
    expect(
      (await post(test.server, '/oauth2/introspect', { token: 'x' }, basic({ ...WEB, clientId: 'api' }))).status,
    ).toBe(401)
  })
})

describe('the life of a resource server', () => {
  it('is looked up and listed as an application is', async () => {
    const test = await withApi(await testServer())
    const { applications } = test.server
    const { applications: listed } = await applications.list({ state: 'approved' })
    const marked = listed.map((each) => [each.id, Object.hasOwn(each, 'resourceServer')])
    expect(marked).toEqual([
      ['web', false],
      ['other', false],
      ['native', false],
      ['api', true],
    ])
    expect(await countOf(test)).toBe(4)
    expect(listed.at(-1)).toStrictEqual(await applications.get('api'))
  })

  it('[26] is suspended and reinstated, and listed so', async () => {
    const test = await withApi(await testServer())
    const { applications } = test.server
    const { access_token } = await tokens(test)
    const ids = async (state: 'approved' | 'suspended') =>
      (await applications.list({ state })).applications.map(({ id }) => String(id))
    await applications.suspend('api')
    expect([await ids('suspended'), (await ids('approved')).includes('api')]).toEqual([['api'], false])
    expect((await introspect(test, access_token)).status).toBe(401)
    expect(await works(test, access_token)).toBe(true)
    await applications.suspend('api')
    await applications.reinstate('api')
    expect([await ids('suspended'), (await ids('approved')).includes('api')]).toEqual([[], true])
    expect(await told(test, access_token)).toMatchObject({ active: true })
    const { logo, ...record } = (await applications.get('api')) as PublishedApplication
    expect([logo, Object.hasOwn(record, 'resourceServer')]).toEqual(['', true])
  })

  it('[22] gets new secrets, each shown once; the old one ends with its overlap', async () => {
    const test = await withApi(await testServer())
    const { applications } = test.server
    const second = await applications.rotateSecret('api', { overlap: 0 })
    expect(second).toStrictEqual({ clientId: 'api', clientSecret: expect.stringMatching(/^gws_[\w-]{43}$/) })
    expect((await introspect(test, 'x')).status).toBe(401)
    expect((await introspect(test, 'x', {}, second)).status).toBe(200)
    const more = []
    for (let count = 1; count < SECRETS_KEPT; count++) more.push(await applications.rotateSecret('api'))
    for (const client of [second, ...more]) expect((await introspect(test, 'x', {}, client)).status).toBe(200)
    await expect(applications.rotateSecret('api')).rejects.toMatchObject({ code: 'ERR_APPLICATION_STATE' })
    expect(JSON.stringify(await applications.get('api'))).not.toContain(second.clientSecret)
  })

  it('is none of what users permitted: neither their page nor their grants name it', async () => {
    const test = await withApi(await testServer())
    await tokens(test)
    const page = await send(test.server, { url: '/oauth2/applications' })
    expect([page.status, page.body.includes('Packages'), page.body.includes('Sample')]).toEqual([200, false, true])
    const { grants } = await test.server.grants.listGrants('ada')
    expect(grants.map(({ clientId }) => clientId)).toEqual(['web'])
  })
})

for (const platform of PLATFORMS) {
  describe(`oauth4webapi as a resource server, ${platform.title}`, () => {
    let site: ListeningSite
    let as: oauth.AuthorizationServer
    const client = { client_id: API.clientId }

    beforeAll(async () => {
      const found = await discovered(platform)
      site = found.site
      as = found.as
      await withApi(site.test)
    })
    afterAll(() => site.listening.close())

    async function ask(text: string, secret = API.clientSecret): Promise<oauth.IntrospectionResponse> {
      const authentication = oauth.ClientSecretBasic(secret)
      const response = await oauth.introspectionRequest(as, client, authentication, text, INSECURE)
      return oauth.processIntrospectionResponse(as, client, response)
    }

    it('finds the endpoint by itself, and is told what a token is good for, until it is revoked', async () => {
      expect(as.introspection_endpoint).toBe(`${site.issuer}/oauth2/introspect`)
      expect(as.introspection_endpoint_auth_methods_supported).toEqual(['client_secret_basic', 'client_secret_post'])
      const { agree } = await consentForm(site)
      const { headers } = await site.send(agree)
      const code = new URL(headers['location'] ?? '').searchParams.get('code') ?? ''
      const web = { client_id: WEB.clientId }
      const authentication = oauth.ClientSecretBasic(WEB.clientSecret)
      const grant = await oauth.genericTokenEndpointRequest(
        as,
        web,
        authentication,
        'authorization_code',
        { code },
        INSECURE,
      )
      const body = await oauth.processGenericTokenEndpointResponse(as, web, grant)
      expect(await ask(body.access_token)).toEqual({
        active: true,
        scope: 'repo-code:rw account-profile:r',
        client_id: 'web',
        token_type: 'bearer',
        exp: START + 28_800,
        sub: 'ada',
        iss: site.issuer,
        resources: { kind: 'all' },
        grant_id: expect.stringMatching(/^[\w-]{22}$/),
      })
      expect(await ask(body.refresh_token ?? '')).toEqual({ active: false })
      await oauth.revocationRequest(as, web, authentication, body.access_token, INSECURE)
      expect(await ask(body.access_token)).toEqual({ active: false })
    })

    it('is told in its own words when it is not who it says', async () => {
      await expect(ask('x', WEB.clientSecret)).rejects.toMatchObject({
        status: 401,
        cause: [{ scheme: 'basic', parameters: { realm: 'oauth2', charset: 'UTF-8' } }],
      })
      const response = await oauth.introspectionRequest(
        as,
        { client_id: WEB.clientId },
        oauth.ClientSecretBasic(WEB.clientSecret),
        'x',
        INSECURE,
      )
      await expect(oauth.processIntrospectionResponse(as, client, response)).rejects.toMatchObject({
        status: 403,
        error: 'unauthorized_client',
      })
    })
  })
}
