/**
 * The introspection endpoint.
 * @module
 * @see RFC 7662; specification, sections 2.1 and 3
 */
import * as fc from 'fast-check'
import type { AuthorizationServerOptions, ClientId, HttpResponse, Scope } from 'grantwell'
import { createAuthorizationServer, portableDigests } from 'grantwell'
import { clientKeyOf, parseClientId, parseCredential } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { grantIdOf } from '../../src/core/credentials/credential.js'
import type { Introspected } from '../../src/protocol/introspection.js'
import { introspectionResponse } from '../../src/protocol/introspection.js'
import {
  BUSY,
  INVALID_CLIENT,
  NO_SECRET,
  StoreFailure,
  TOKEN_HEADERS,
  tokenError,
  watchedServer,
  wrongMethod,
} from '../server/helpers.js'
import type { TestServer } from '../support.js'
import {
  authorize,
  basic,
  CHALLENGE,
  call,
  exchange,
  grantNamedBy,
  ISSUER,
  NATIVE,
  NATIVE_CALLBACK,
  OTHER,
  openConsent,
  post,
  refresh,
  registration,
  revoke,
  START,
  testServer,
  tokens,
  VERIFIER,
  WEB,
} from '../support.js'
import { unicodeText } from '../unicode.js'
import { changeApplication, withItems } from './consent-form.js'
import { codesOf, decide, poll } from './device-form.js'
import { MAC_OPTIONS, macTokens, withSigner } from './mac-client.js'
import { API, countedDigests, INACTIVE, INTROSPECTION_PATH, introspect, told, withApi } from './resource-server.js'

const API_ONLY: readonly string[] = ['repo-code:rw']

async function apiServer(options: Partial<AuthorizationServerOptions> = {}): Promise<TestServer> {
  return withApi(await testServer(options))
}

/** Sends a form as it is. */
function ask(
  { server }: TestServer,
  form: Parameters<typeof post>[2],
  headers: Parameters<typeof post>[3] = basic(API),
  query = '',
): Promise<HttpResponse> {
  return post(server, INTROSPECTION_PATH + query, form, headers)
}

/** A token with one character changed. */
function flipped(token: string, index: number): string {
  return token.slice(0, index) + (token[index] === 'A' ? 'B' : 'A') + token.slice(index + 1)
}

/** A token that says it is of another client. */
function underKeyOf(token: string, clientId: string): string {
  const key = clientKeyOf(portableDigests, parseClientId(clientId) ?? expect.fail())
  return token.slice(0, 4) + key + token.slice(20)
}

const UNAUTHORIZED = tokenError(403, 'unauthorized_client', 'The client is not registered as a resource server.')
const MISSING = tokenError(400, 'invalid_request', 'The parameter token is missing.')

const activeWith = (scope: string): unknown =>
  expect.objectContaining({ status: 200, body: expect.stringContaining(`"scope":"${scope}"`) })

function invalidRequest(description: string): HttpResponse {
  return tokenError(400, 'invalid_request', description)
}

/** What the audit trail has of a refusal. */
function refusal(reason: string, error?: string, clientId?: string, token = '') {
  const grantId = grantNamedBy(token)
  return {
    type: 'refused',
    at: START,
    endpoint: 'introspection',
    ...(error !== undefined && { error }),
    reason,
    ...(clientId !== undefined && { clientId }),
    ...(grantId !== undefined && { grantId }),
  }
}

describe('RFC 7662, 2.1 who may ask', () => {
  type Fields = Record<string, string>
  const strangers: [string, Fields, Fields, string, string | undefined][] = [
    [
      'the API with a wrong secret',
      basic({ ...API, clientSecret: WEB.clientSecret }),
      {},
      'client_secret_wrong',
      'api',
    ],
    ['the API with no secret', {}, { client_id: 'api' }, 'client_not_authenticated', 'api'],
    [
      'the API with a wrong secret in the body',
      {},
      { client_id: 'api', client_secret: WEB.clientSecret },
      'client_secret_wrong',
      'api',
    ],
    ['who shows a token that works', { authorization: 'Bearer ' }, {}, 'client_authentication_method', undefined],
  ]

  it.each(strangers)(
    '[42] [24] %s: 401 with the challenge, whatever the token, and no more than one read',
    async (_who, headers, form, reason, clientId) => {
      const test = await withApi(await watchedServer())
      const { access_token } = await tokens(test)
      const sent = headers['authorization'] === 'Bearer ' ? { authorization: `Bearer ${access_token}` } : headers
      test.events.length = 0
      const asked = [access_token, 'unknown', '']
      for (const token of asked) {
        test.forget()
        expect(await ask(test, { ...form, token }, sent)).toStrictEqual(
          reason === 'client_not_authenticated' ? NO_SECRET : INVALID_CLIENT,
        )
        expect(test.trips).toMatchObject({ writes: 0, lists: 0 })
        expect(test.trips.reads).toBeLessThanOrEqual(1)
      }
      // Who does not say in a form who it is, of its token nothing is read.
      const isRead = (token: string): string => (reason === 'client_authentication_method' ? '' : token)
      expect(test.events).toStrictEqual(
        asked.map((token) => refusal(reason, 'invalid_client', clientId, isRead(token))),
      )
    },
  )

  it('[42] [27] a public client, and an ordinary confidential application, its own token too: 403', async () => {
    const test = await apiServer()
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
    const { code } = await authorize(test, { client_id: 'native', redirect_uri: NATIVE_CALLBACK, ...pkce })
    const { body: native } = await exchange(test, code, { code_verifier: VERIFIER }, NATIVE)
    const web = await tokens(test)
    test.events.length = 0
    const asked = [native.access_token, web.access_token, web.refresh_token, 'unknown', '']
    for (const token of asked) {
      expect(await ask(test, { token, client_id: 'native' }, {})).toStrictEqual(UNAUTHORIZED)
      expect(await ask(test, { token }, { authorization: `Basic ${btoa('native:')}` })).toStrictEqual(UNAUTHORIZED)
      for (const client of [WEB, OTHER]) expect(await introspect(test, token, {}, client)).toStrictEqual(UNAUTHORIZED)
    }
    const reasons = (token: string) =>
      ['native', 'native', 'web', 'other'].map((clientId) =>
        refusal('not_a_resource_server', 'unauthorized_client', clientId, token),
      )
    expect(test.events).toStrictEqual(asked.flatMap(reasons))
  })

  it('[42] nor one that was only handed in, or was refused', async () => {
    const test = await apiServer()
    const scopes = [{ scope: 'repo-code:rw', reason: 'To push' }]
    const { id, revision } = await test.server.applications.submit({ ...registration(), scopes })
    const client = { clientId: id, clientSecret: API.clientSecret }
    expect(await introspect(test, 'x', {}, client)).toStrictEqual(INVALID_CLIENT)
    await test.server.applications.reject(id, { revision, reason: 'No' })
    expect(await introspect(test, 'x', {}, client)).toStrictEqual(INVALID_CLIENT)
  })

  it('[42] [26] a suspended one is refused from the very next request on, until it is reinstated', async () => {
    const test = await apiServer()
    const { access_token } = await tokens(test)
    expect(await told(test, access_token)).toMatchObject({ active: true })
    await test.server.applications.suspend('api')
    test.events.length = 0
    const asked = [access_token, 'unknown', '']
    for (const token of asked) expect(await introspect(test, token)).toStrictEqual(INVALID_CLIENT)
    expect(test.events).toStrictEqual(asked.map((token) => refusal('client_suspended', 'invalid_client', 'api', token)))
    await test.server.applications.reinstate('api')
    expect(await told(test, access_token)).toMatchObject({ active: true })
  })

  it('[22] [42] with a new secret, and with the old one for the overlap, to the second', async () => {
    const test = await apiServer()
    const { access_token } = await tokens(test)
    const rotated = await test.server.applications.rotateSecret('api', { overlap: 60 })
    for (const [later, oldOne] of [
      [0, true],
      [59, true],
      [60, false],
    ] as const) {
      test.clock.now = START + later
      expect(await told(test, access_token, {}, rotated)).toMatchObject({ active: true })
      expect((await introspect(test, access_token)).status).toBe(oldOne ? 200 : 401)
    }
  })

  it('with its secret in the body, unless the server takes that away', async () => {
    for (const allowClientSecretPost of [true, false]) {
      const test = await apiServer({ allowClientSecretPost })
      const { access_token: token } = await tokens(test)
      const form = { token, client_id: 'api', client_secret: API.clientSecret }
      const { status, body } = await ask(test, form, {})
      expect([status, JSON.parse(body).active]).toEqual(allowClientSecretPost ? [200, true] : [401, undefined])
      const wrong = { ...form, client_secret: WEB.clientSecret }
      const refused = allowClientSecretPost ? INVALID_CLIENT : wrongMethod('client_secret_post', 'client_secret_basic')
      expect(await ask(test, wrong, {})).toStrictEqual(refused)
    }
  })
})

describe('RFC 7662, 2.1 what is asked', () => {
  it('[48] prototype names are data, and unknown parameters are ignored, whatever they are', async () => {
    const test = await apiServer()
    const { access_token: token } = await tokens(test)
    const extra = '__proto__=a&constructor=b&toString=c&resource=x&resource=y&hint=%FF'
    expect(JSON.parse((await ask(test, `${extra}&token=${token}`)).body)).toMatchObject({ active: true })
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect(await introspect(test, name)).toStrictEqual(INACTIVE)
  })

  it('[40] token_type_hint, right, wrong, unknown or malformed, changes nothing', async () => {
    const test = await apiServer()
    const { access_token: token } = await tokens(test)
    const [active, inactive] = [await introspect(test, token), await introspect(test, 'unknown')]
    expect([JSON.parse(active.body).active, JSON.parse(inactive.body).active]).toEqual([true, false])
    const hints = ['', 'access_token', 'refresh_token', 'code', '__proto__', 'x'.repeat(8193), '\u{e9}']
    for (const token_type_hint of hints) {
      expect(await introspect(test, token, { token_type_hint })).toStrictEqual(active)
      expect(await introspect(test, 'unknown', { token_type_hint })).toStrictEqual(inactive)
    }
    for (const hint of ['token_type_hint=a&token_type_hint=b', 'token_type_hint=%FF'])
      expect(await ask(test, `token=${token}&${hint}`)).toStrictEqual(active)
  })
})

describe('RFC 7662, 2.2 a token that it may see', () => {
  it('[42] is told whole, and nothing else: what it permits, to whom, for whom, until when, and on what', async () => {
    const test = await apiServer()
    const { access_token } = await tokens(test)
    test.events.length = 0
    const { status, headers, body } = await introspect(test, access_token)
    expect([status, headers]).toStrictEqual([200, TOKEN_HEADERS])
    expect(JSON.parse(body)).toStrictEqual({
      active: true,
      scope: 'repo-code:rw account-profile:r',
      client_id: 'web',
      token_type: 'bearer',
      exp: START + 28_800,
      sub: 'ada',
      iss: ISSUER,
      resources: { kind: 'all' },
      grant_id: parseCredential(access_token)?.grantId,
    })
    // To ask is no event; what a token is used for is the API's to know.
    expect(test.events).toStrictEqual([])
  })

  it('of a public client, and of a device, as of any other', async () => {
    const test = await apiServer()
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
    const { code } = await authorize(test, { client_id: 'native', redirect_uri: NATIVE_CALLBACK, ...pkce })
    const { body: native } = await exchange(test, code, { code_verifier: VERIFIER }, NATIVE)
    expect(await told(test, native.access_token)).toMatchObject({ active: true, client_id: 'native' })
    const codes = await codesOf(test)
    await decide(test, codes)
    test.clock.now += 10
    const { body: device } = await poll(test, codes)
    expect(await told(test, device.access_token)).toMatchObject({ active: true, client_id: 'web', exp: START + 28_810 })
  })

  it.each([
    // scopes of the API, of the token, and what is told
    ['repo-code:rw account-profile:r', '', 'repo-code:rw account-profile:r'],
    ['repo-code:rw', '', 'repo-code:rw'],
    ['repo-code:r', '', 'repo-code:r'],
    ['repo-code:r', 'repo-code:rw', 'repo-code:r'],
    ['repo-code:rw', 'repo-code:r', 'repo-code:r'],
    ['repo-code:r account-profile:rw', '', 'repo-code:r account-profile:r'],
    ['account-profile:r repo-delete:rw', '', 'account-profile:r'],
    ['account-profile:r', 'repo-code:rw', undefined],
    ['repo-delete:rw', '', undefined],
    ['repo-code:r', 'account-profile:r', undefined],
  ])('[42] an API that is registered for %s, of a token for %j, is told: %s', async (registered, asked, scope) => {
    const test = await withApi(await testServer(), registered.split(' '))
    const { access_token } = await tokens(test, asked === '' ? {} : { scope: asked })
    expect(await introspect(test, access_token)).toStrictEqual(scope === undefined ? INACTIVE : activeWith(scope))
  })

  it('[42] with no more scopes than its application is registered for by now', async () => {
    const test = await apiServer()
    const { access_token } = await tokens(test)
    for (const [scopes, scope] of [
      [['repo-code:r', 'account-profile:r'], 'repo-code:r account-profile:r'],
      [['account-profile:r'], 'account-profile:r'],
      [['repo-delete:rw'], undefined],
      [['repo-code:rw', 'account-profile:r', 'repo-delete:rw'], 'repo-code:rw account-profile:r'],
    ] as const) {
      await changeApplication(test, { scopes: [...scopes] })
      expect(await introspect(test, access_token)).toStrictEqual(scope === undefined ? INACTIVE : activeWith(scope))
    }
  })

  it('[42] whatever three lists of scopes there are, it tells none that is not in all of them', async () => {
    const some = fc.uniqueArray(fc.constantFrom('repo-code', 'repo-pr', 'account-email'), { minLength: 1 })
    const scopes = some.chain((names) =>
      fc.tuple(...names.map((name) => fc.constantFrom('r', 'rw').map((permission) => `${name}:${permission}`))),
    )
    const permits = (list: readonly string[], scope: string): boolean =>
      list.includes(scope) || (scope.endsWith(':r') && list.includes(`${scope}w`))
    const every = ['repo-code:rw', 'repo-pr:rw', 'account-email:rw']
    const test = await testServer()
    await test.server.applications.register(registration({ scopes: every }), { ...WEB, clientId: 'wide' })
    let apis = 0
    await fc.assert(
      fc.asyncProperty(scopes, scopes, scopes, async (ofApi, ofToken, ofApplication) => {
        const api = { ...API, clientId: `api-${apis++}` }
        await withApi(test, ofApi, api)
        await changeApplication(test, { scopes: every }, 'wide')
        const { code } = await authorize(test, { client_id: 'wide', scope: ofToken.join(' ') })
        const { body } = await exchange(test, code, {}, { ...WEB, clientId: 'wide' })
        await changeApplication(test, { scopes: [...ofApplication] }, 'wide')
        const answer = await told(test, body.access_token, {}, api)
        const seen = String(answer['scope'] ?? '')
          .split(' ')
          .filter(Boolean)
        const asked = every.flatMap((scope) => [scope, scope.slice(0, -1)])
        for (const scope of asked) {
          const inAll = [ofApi, ofToken, ofApplication].every((list) => permits(list, scope))
          expect([scope, permits(seen, scope)]).toEqual([scope, inAll])
        }
        expect(answer['active']).toBe(seen.length > 0)
      }),
      { numRuns: 40 },
    )
  })

  it('[42] with the resources that the user specified, and none of them once the application may have others alone', async () => {
    const test = await apiServer(withItems)
    const cases = [
      ['specified', { kind: 'specified', ids: ['repo/1', 'repo/2'] }],
      ['public', { kind: 'public' }],
      ['all', { kind: 'all' }],
    ] as const
    for (const [chosen, resources] of cases) {
      const form = chosen === 'specified' ? '&resource=repo%2F1&resource=repo%2F2' : ''
      const { code } = await authorizeWith(test, chosen, form)
      const { body } = await exchange(test, code)
      expect((await told(test, body.access_token))['resources']).toStrictEqual(resources)
      // What the application may have was narrowed since.
      await changeApplication(test, { resourceScope: 'public' })
      expect((await told(test, body.access_token))['resources']).toStrictEqual(
        chosen === 'all' ? { kind: 'public' } : resources,
      )
      await changeApplication(test, { resourceScope: 'specified' })
      expect((await told(test, body.access_token))['resources']).toStrictEqual(
        chosen === 'specified' ? resources : { kind: 'specified', ids: [] },
      )
      await changeApplication(test, { resourceScope: 'all' })
    }
  })

  it('[30] until the end of its life, or of its grace, to the second, and says so', async () => {
    const test = await apiServer()
    const { access_token, refresh_token } = await tokens(test)
    test.clock.now = START + 28_799
    expect(await told(test, access_token)).toMatchObject({ active: true, exp: START + 28_800 })
    test.clock.now = START + 28_800
    expect(await introspect(test, access_token)).toStrictEqual(INACTIVE)
    test.clock.now = START + 1000
    await refresh(test, refresh_token)
    expect(await told(test, access_token)).toMatchObject({ active: true, exp: START + 1300 })
    test.clock.now = START + 1299
    expect(await told(test, access_token)).toMatchObject({ active: true, exp: START + 1300 })
    test.clock.now = START + 1300
    expect(await introspect(test, access_token)).toStrictEqual(INACTIVE)
  })

  it('by every server over the same store, with the issuer of each as it is', async () => {
    const test = await apiServer({ issuer: 'https://git.example/deep', mountPath: '' })
    const { access_token } = await tokens(test)
    expect(await told(test, access_token)).toMatchObject({ active: true, iss: 'https://git.example/deep' })
  })
})

/** Agrees on the consent page, with a resource scope and resources. */
async function authorizeWith(test: TestServer, resourceScope: string, resources: string): Promise<{ code: string }> {
  const { fields, headers } = await openConsent(test)
  const form = new URLSearchParams({ ...fields, decision: 'agree', resource_scope: resourceScope })
  const response = await post(test.server, '/oauth2/auth', form.toString() + resources, headers)
  return { code: new URL(response.headers['Location'] ?? 'none:').searchParams.get('code') ?? '' }
}

describe('RFC 7662, 4 how long an answer may be kept', () => {
  it('[42] for as long as the option says, and no longer than the token lives', async () => {
    const test = await apiServer({ introspectionMaxAge: 60 })
    const { access_token, refresh_token } = await tokens(test)
    const kept = async (): Promise<Readonly<Record<string, string>>> => (await introspect(test, access_token)).headers
    const headers = (maxAge: number) => ({
      'Content-Type': 'application/json;charset=UTF-8',
      'Cache-Control': `private, max-age=${maxAge}`,
    })
    expect(await kept()).toStrictEqual(headers(60))
    for (const [left, maxAge] of [
      [61, 60],
      [60, 60],
      [59, 59],
      [1, 1],
    ] as const) {
      test.clock.now = START + 28_800 - left
      expect(await kept()).toStrictEqual(headers(maxAge))
    }
    test.clock.now = START
    await refresh(test, refresh_token)
    test.clock.now = START + 290
    expect(await kept()).toStrictEqual(headers(10))
  })

  it('[42] not at all by default, and never where it is no, or an error', async () => {
    for (const introspectionMaxAge of [0, undefined, 86_400]) {
      const test = await apiServer(introspectionMaxAge === undefined ? {} : { introspectionMaxAge })
      const { access_token, refresh_token } = await tokens(test)
      const active = await introspect(test, access_token)
      expect(active.status).toBe(200)
      const isKept = introspectionMaxAge === 86_400
      expect(active.headers).toStrictEqual(isKept ? expect.not.objectContaining(TOKEN_HEADERS) : TOKEN_HEADERS)
      expect(await introspect(test, refresh_token)).toStrictEqual(INACTIVE)
      await revoke(test, access_token)
      expect(await introspect(test, access_token)).toStrictEqual(INACTIVE)
      for (const response of [
        await ask(test, ''),
        await ask(test, { token: access_token }, {}),
        await ask(test, { token: access_token }, basic(WEB)),
      ])
        expect(response.headers).toMatchObject({ 'Cache-Control': 'no-store', Pragma: 'no-cache' })
    }
  })
})

describe('RFC 7662, 2.2 a token that it may not see', () => {
  /** Tokens of every kind that is none of an API's business, each with what the audit trail says of it. */
  async function invisible(test: TestServer): Promise<readonly (readonly [string, string, string])[]> {
    const expired = await tokens(test)
    const superseded = await tokens(test)
    const { body: successor } = await refresh(test, superseded.refresh_token)
    test.clock.now = START + 28_800
    // One more write, which takes the old pair out of the record.
    await refresh(test, successor.refresh_token)
    const graceOver = await tokens(test)
    await refresh(test, graceOver.refresh_token)
    test.clock.now += 300
    const live = await tokens(test)
    const revoked = await tokens(test)
    await revoke(test, revoked.access_token)
    const ended = await tokens(test)
    await revoke(test, ended.refresh_token)
    const { code: ofOther } = await authorize(test, {
      client_id: 'other',
      redirect_uri: 'https://other.example/callback',
    })
    const { body: other } = await exchange(test, ofOther, {}, OTHER)
    await test.server.applications.suspend('other')
    const { access_token: signed } = await macTokens(test)
    const { access_token: elsewhere } = await tokens(test, { scope: 'account-profile:r' })
    const { code } = await authorize(test)
    const codes = await codesOf(test)
    const asAccess = (credential: string): string => `gwa_${credential.slice(4)}`
    return [
      ['malformed', 'x', 'credential_unknown'],
      ['a JWT', 'eyJhbGciOiJub25lIn0.e30.', 'credential_unknown'],
      ['no ASCII', '\u{1f511}', 'credential_unknown'],
      ['a space', ' ', 'credential_unknown'],
      ['one character short', live.access_token.slice(0, -1), 'credential_unknown'],
      ['one character long', `${live.access_token}A`, 'credential_unknown'],
      ['with a space around', ` ${live.access_token}`, 'credential_unknown'],
      ['under another prefix', `gwx_${live.access_token.slice(4)}`, 'credential_unknown'],
      ['of another client key', flipped(live.access_token, 5), 'credential_unknown'],
      ['of another grant', flipped(live.access_token, 30), 'credential_unknown'],
      ['of another secret', flipped(live.access_token, 60), 'credential_unknown'],
      ['under the key of another application', underKeyOf(live.access_token, 'native'), 'credential_unknown'],
      ['under the key of a suspended application', underKeyOf(live.access_token, 'other'), 'credential_unknown'],
      ['under the key of the API itself', underKeyOf(live.access_token, 'api'), 'credential_unknown'],
      ['a refresh token', live.refresh_token, 'credential_unknown'],
      ['a refresh token as an access token', asAccess(live.refresh_token), 'credential_unknown'],
      ['a code', code, 'credential_unknown'],
      ['a code as an access token', asAccess(code), 'credential_unknown'],
      ['a device code', codes.device_code, 'credential_unknown'],
      ['a device code as an access token', asAccess(codes.device_code), 'credential_unknown'],
      ['a client secret', WEB.clientSecret, 'credential_unknown'],
      ['expired', expired.access_token, 'credential_expired'],
      ['superseded, and its grace over', graceOver.access_token, 'credential_expired'],
      ['superseded, and forgotten', superseded.access_token, 'credential_unknown'],
      ['revoked', revoked.access_token, 'credential_revoked'],
      ['of a revoked grant', ended.access_token, 'credential_revoked'],
      ['of a suspended application', other.access_token, 'client_suspended'],
      ['of the type mac', signed, 'token_type_mismatch'],
      ['of scopes that the API is not registered for', elsewhere, 'scope_not_registered'],
    ]
  }

  it('[42] [27] whyever: byte for byte the same answer, for the same round trips and digests; why is for the audit trail', async () => {
    const { digests, calls } = countedDigests()
    const test = await withSigner(await withApi(await watchedServer({ ...MAC_OPTIONS, digests }), API_ONLY))
    const asked = await invisible(test)
    const { access_token: visible } = await tokens(test)
    await introspect(test, visible)
    const costs = new Set<string>()
    const cost = async (token: string): Promise<HttpResponse> => {
      test.forget()
      test.events.length = 0
      Object.assign(calls, { sha256: 0, hmac: 0 })
      const response = await introspect(test, token)
      const { keys, ...trips } = test.trips
      costs.add(JSON.stringify([calls, trips, keys.length, new Set(keys.map((key) => key.split(':')[0])).size]))
      return response
    }
    for (const [what, token, reason] of asked) {
      const response = await cost(token)
      expect([what, response]).toStrictEqual([what, INACTIVE])
      const event = { ...refusal(reason, undefined, 'api', token), at: test.clock.now }
      expect([what, test.events]).toStrictEqual([what, [event]])
    }
    // No less for what it may see.
    expect(JSON.parse((await cost(visible)).body)).toMatchObject({ active: true, scope: 'repo-code:rw' })
    expect(test.events).toStrictEqual([])
    // The client's secret, and that of the token; the client's key is known by now.
    expect([...costs]).toStrictEqual(['[{"sha256":2,"hmac":0},{"reads":1,"writes":0,"lists":0},3,2]'])
  })

  it('[42] [26] at the next request after its application is suspended, and visible again once that is reinstated', async () => {
    const test = await apiServer()
    const { access_token } = await tokens(test)
    await test.server.applications.suspend('web')
    expect(await introspect(test, access_token)).toStrictEqual(INACTIVE)
    await test.server.applications.reinstate('web')
    expect(await told(test, access_token)).toMatchObject({ active: true })
  })

  it('[38] [42] at the next request after its revocation, on every server over the same store', async () => {
    const test = await apiServer()
    const { access_token } = await tokens(test)
    const another = createAuthorizationServer({
      issuer: ISSUER,
      store: test.store,
      user: () => undefined,
      signInUrl: () => '/',
      clock: () => test.clock.now,
    })
    expect(await told({ server: another }, access_token)).toMatchObject({ active: true })
    await revoke(test, access_token)
    expect(await introspect({ server: another }, access_token)).toStrictEqual(INACTIVE)
  })

  it('[42] where its application is gone, or its grant is', async () => {
    const test = await withApi(await watchedServer())
    const { access_token } = await tokens(test)
    for (const missing of [1, 2]) {
      test.instead.read = async (keys) =>
        (await test.store.read(keys)).map((record, index) => (index === missing ? undefined : record))
      expect(await introspect(test, access_token)).toStrictEqual(INACTIVE)
    }
    test.instead.read = undefined
    expect(await told(test, access_token)).toMatchObject({ active: true })
  })

  it('[42] of any string, it tells of the one token that there is and of nothing else', async () => {
    const test = await apiServer()
    const { access_token } = await tokens(test)
    const active = await introspect(test, access_token)
    expect(JSON.parse(active.body)).toMatchObject({ active: true })
    const near = fc
      .tuple(fc.nat(85), fc.string({ maxLength: 2 }))
      .map(([at, put]) => access_token.slice(0, at) + put + access_token.slice(at + put.length))
    await fc.assert(
      fc.asyncProperty(fc.oneof(near, fc.string({ unit: 'binary-ascii' }), fc.string()), async (token) => {
        const response = await introspect(test, token)
        const malformed = invalidRequest('The parameter token is not well-formed.')
        const possible = token === '' ? [MISSING] : token === access_token ? [active] : [INACTIVE, malformed]
        expect(possible).toContainEqual(response)
      }),
      { numRuns: 200 },
    )
  })
})

describe('the answer for a token that works', () => {
  const text = fc.oneof(
    unicodeText(),
    fc.string({ unit: fc.constantFrom('"', '\\', 'a', '\n', '\ud800', '\u{1f511}') }),
  )
  const resources = fc.oneof(
    fc.constantFrom<Introspected['resources']>({ kind: 'all' }, { kind: 'public' }),
    fc.array(text).map((ids) => ({ kind: 'specified' as const, ids })),
  )
  const scope = fc.constantFrom<Scope>('repo-code:rw', 'account-profile:r', "!#$&'()*+,-./0:r", '<=>?@[]^_`{|}~:rw')
  const active = fc.record({
    scopes: fc.array(scope),
    clientId: text.map((id) => id as ClientId), // whatever it says, it is no more than written
    subject: text,
    expiresAt: fc.nat({ max: 2 ** 40 }),
    resources,
    grantId: fc.uint8Array({ minLength: 16, maxLength: 16 }).map(grantIdOf),
  })

  it('is JSON as JSON.stringify writes it, whatever is in a client identifier, a subject, an issuer or a resource', () => {
    fc.assert(
      fc.property(active, text, (given, issuer) => {
        const { body } = introspectionResponse(given, issuer, 0)
        const said = JSON.parse(body)
        expect(said).toStrictEqual({
          active: true,
          token_type: 'bearer',
          exp: given.expiresAt,
          client_id: given.clientId,
          sub: given.subject,
          iss: issuer,
          scope: given.scopes.join(' '),
          resources: given.resources,
          grant_id: given.grantId,
        })
        expect(body).toBe(JSON.stringify(said))
      }),
      { numRuns: 250 },
    )
  })
})

describe('a store that fails', () => {
  it('[49] [52] 503 with Retry-After, whoever asks; nothing of it is told, and then all is as before', async () => {
    const test = await withApi(await watchedServer())
    const { access_token } = await tokens(test)
    test.events.length = 0
    test.instead.read = () => Promise.reject(new StoreFailure())
    for (const headers of [basic(API), basic(WEB), basic({ ...API, clientId: 'nobody' })])
      expect(await ask(test, { token: access_token }, headers)).toStrictEqual(BUSY)
    expect(test.errors).toStrictEqual(Array(3).fill(new StoreFailure()))
    expect(test.events).toStrictEqual(
      Array(3).fill(refusal('store_failed', 'temporarily_unavailable', undefined, access_token)),
    )
    test.instead.read = undefined
    expect(await told(test, access_token)).toMatchObject({ active: true })
    expect((await call(test, access_token)).type).toBe('authenticated')
  })
})
