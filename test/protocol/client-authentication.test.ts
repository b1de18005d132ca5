/**
 * Client authentication at the endpoints that have it.
 * @module
 * @see Specification, section 5.1; RFC 6749, sections 2.3 and 5.2; RFC 7617
 */
import * as fc from 'fast-check'
import type { Digests, HttpResponse } from 'grantwell'
import { portableDigests } from 'grantwell'
import { clientKeyOf, parseClientId } from 'grantwell/core'
import { describe, expect, it, vi } from 'vitest'
import { KEPT_MAX } from '../../src/shell/records/client-keys.js'
import type { WatchedServer } from '../server/helpers.js'
import {
  atRevocation,
  INVALID_CLIENT,
  NO_SECRET,
  REVOKED,
  tokenError,
  UNEXPECTED_SECRET,
  watchedServer,
  wrongMethod,
} from '../server/helpers.js'
import type { TestServer } from '../support.js'
import {
  authorize,
  basic,
  CHALLENGE,
  exchange,
  guard,
  NATIVE,
  NATIVE_CALLBACK,
  OTHER,
  post,
  registration,
  START,
  testServer,
  tokens,
  VERIFIER,
  WEB,
  works,
} from '../support.js'
import { transport } from '../transports/index.js'
import { codesOf, DEVICE_GRANT, decide, poll } from './device-form.js'
import { FORM_ENDPOINTS, formServer, probe as probeAt, refusalAt } from './form-endpoints.js'
import { API } from './resource-server.js'

type Headers = Record<string, string | readonly string[]>

/** A request that a client which authenticates is answered with `invalid_grant`, at the token endpoint. */
const PROBE = { grant_type: 'authorization_code', code: 'none' }

function probe({ server }: TestServer, headers: Headers = {}, form: Record<string, string> = {}) {
  return post(server, '/oauth2/token', { ...PROBE, ...form }, headers)
}

function probeRevocation({ server }: TestServer, headers: Headers = {}, form: Record<string, string> = {}) {
  return post(server, '/oauth2/revoke', { token: 'none', ...form }, headers)
}

/** Whether a client authenticated. */
function authenticated(response: HttpResponse): boolean {
  const { error } = response.status === 200 ? {} : JSON.parse(response.body)
  expect([
    [200, undefined],
    [400, 'invalid_grant'],
    [401, 'invalid_client'],
  ]).toContainEqual([response.status, error])
  return response.status !== 401
}

/** Sends the same client to every endpoint, which all refuse it and tell the audit trail why. */
async function refusedEverywhere(
  test: WatchedServer,
  headers: Headers,
  form: Record<string, string>,
  expected: HttpResponse,
  reason: string,
  clientId?: string,
): Promise<void> {
  const { error } = JSON.parse(expected.body)
  test.forget()
  for (const endpoint of FORM_ENDPOINTS) {
    test.events.length = 0
    expect(await probeAt(test, endpoint, headers, form), endpoint.url).toStrictEqual(endpoint.as(expected))
    expect(test.events).toStrictEqual([refusalAt(endpoint, error, reason, clientId)])
  }
  expect(test.trips.reads).toBeLessThanOrEqual(FORM_ENDPOINTS.length)
  expect(test.trips).toMatchObject({ writes: 0, lists: 0 })
}

/** Sends the same message to every endpoint, which all refuse it before they read anything. */
async function malformedEverywhere(
  test: WatchedServer,
  headers: Headers,
  form: Record<string, string>,
  expected: HttpResponse,
): Promise<void> {
  await refusedEverywhere(test, headers, form, expected, 'malformed_request')
  expect(test.trips.reads).toBe(0)
}

/** The header of HTTP Basic for parts that are written as they are. */
function raw(credentials: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(credentials, 'latin1').toString('base64')}` }
}

const clientIds = fc
  .string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: 255,
  })
  .filter((id) => !['web', 'other', 'native'].includes(id))
const secrets = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 24,
  maxLength: 255,
})

describe('5.1 HTTP Basic', () => {
  it('takes any client identifier and secret, each form-urlencoded in any way', async () => {
    const encodings: ((text: string) => string)[] = [
      encodeURIComponent,
      (text) => encodeURIComponent(text).replaceAll('%20', '+'),
      (text) => new URLSearchParams({ '': text }).toString().slice(1),
      (text) => text.replace(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`),
      (text) => text.replace(/[%+:]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`),
    ]
    await fc.assert(
      fc.asyncProperty(clientIds, secrets, fc.constantFrom(...encodings), async (clientId, clientSecret, encode) => {
        const test = await testServer()
        await test.server.applications.register(registration(), { clientId, clientSecret })
        const headers = raw(`${encode(clientId)}:${encode(clientSecret)}`)
        expect(authenticated(await probe(test, headers))).toBe(true)
        expect(authenticated(await probeRevocation(test, headers))).toBe(true)
        const wrong = raw(`${encode(clientId)}:${encode(`${clientSecret}x`)}`)
        expect(authenticated(await probe(test, wrong))).toBe(false)
      }),
      {
        numRuns: 60,
        examples: [['a:b c+d%41', `:+%&=%41${'x'.repeat(24)}`, encodeURIComponent]],
      },
    )
  })

  it('takes any secret as it is, too, as the specification writes it (4.2)', async () => {
    await fc.assert(
      fc.asyncProperty(secrets, async (clientSecret) => {
        const test = await testServer()
        await test.server.applications.register(registration(), { clientId: 'raw', clientSecret })
        const headers = raw(`raw:${clientSecret}`)
        expect(authenticated(await probe(test, headers))).toBe(true)
        expect(authenticated(await probeRevocation(test, headers))).toBe(true)
        expect(authenticated(await probe(test, raw(`raw:${clientSecret}x`)))).toBe(false)
      }),
      { numRuns: 40, examples: [[`%41+%2B%%zz:%FF${'x'.repeat(12)}`], ['++++++++++++++++++++++++']] },
    )
  })

  it('takes any identifier as it is, too, of a client that presents what was issued to it (4.2)', async () => {
    const withoutColon = clientIds.filter((id) => !id.includes(':'))
    await fc.assert(
      fc.asyncProperty(withoutColon, async (clientId) => {
        const test = await testServer()
        const { clientSecret } = WEB
        await test.server.applications.register(registration(), { clientId, clientSecret })
        const { code } = await authorize(test, { client_id: clientId })
        const exchange = { grant_type: 'authorization_code', code }
        const wrong = raw(`${clientId}:${clientSecret}x`)
        expect((await post(test.server, '/oauth2/token', exchange, wrong)).status).toBe(401)
        const headers = raw(`${clientId}:${clientSecret}`)
        const exchanged = await post(test.server, '/oauth2/token', exchange, headers)
        expect(exchanged.status).toBe(200)
        const { access_token } = JSON.parse(exchanged.body)
        expect(await works(test, access_token)).toBe(true)
        expect(await probeRevocation(test, headers, { token: access_token })).toStrictEqual(REVOKED)
        expect(await works(test, access_token)).toBe(false)
        // Or of one that says it once more, in the body, where it has one reading.
        expect(authenticated(await probe(test, headers, { client_id: clientId }))).toBe(true)
      }),
      { numRuns: 40, examples: [['a+b%41'], ['100%'], ['%FF'], ['+']] },
    )
  })

  it.each(['api+1', 'a%41', '100%'])(
    'takes any identifier as it is of a client that presents nothing of its own: %s',
    async (clientId) => {
      const test = await testServer()
      const { access_token } = await tokens(test)
      const { clientSecret } = WEB
      await test.server.applications.register(registration(), { clientId, clientSecret })
      const api = { clientId: `rs-${clientId}`, clientSecret: API.clientSecret }
      await test.server.applications.registerResourceServer(
        { name: 'API', website: 'https://api.example', scopes: ['repo-code:rw'] },
        api,
      )
      const app = [clientId, clientSecret] as const
      const code = 'gwc_'.padEnd(83, 'A')
      // Every endpoint that authenticates, with nothing of the client's own: its answer to the same client, encoded.
      for (const [status, path, fields, [client, secret]] of [
        [200, '/oauth2/device_authorization', {}, app],
        [200, '/oauth2/introspect', { token: access_token }, [api.clientId, api.clientSecret]],
        [200, '/oauth2/revoke', { token: access_token }, app],
        [200, '/oauth2/revoke', { token: 'unknown' }, app],
        [400, '/oauth2/revoke', {}, app],
        [400, '/oauth2/token', { grant_type: 'authorization_code', code: 'x' }, app],
        [400, '/oauth2/token', { grant_type: 'authorization_code', code }, app],
        [400, '/oauth2/token', { grant_type: 'refresh_token', refresh_token: access_token }, app],
        [400, '/oauth2/token', { grant_type: DEVICE_GRANT, device_code: 'x' }, app],
        [400, '/oauth2/token', { grant_type: 'password' }, app],
      ] as const) {
        const said = `${path} ${new URLSearchParams(fields)}`
        const ask = (id: string, ofIt: string) => post(test.server, path, fields, raw(`${id}:${ofIt}`))
        const encoded = await ask(encodeURIComponent(client), secret)
        expect([said, encoded.status]).toEqual([said, status])
        const asItIs = await ask(client, secret)
        expect([said, asItIs.status]).toEqual([said, status])
        expect(status === 400 ? asItIs.body : encoded.body).toBe(encoded.body)
        expect([said, (await ask(client, `${secret}x`)).status]).toEqual([said, 401])
      }
      expect(await works(test, access_token)).toBe(true)
    },
  )

  it('is refused where no client has the identifier, decoded or as it is (4.2)', async () => {
    const test = await formServer()
    for (const endpoint of FORM_ENDPOINTS) {
      test.events.length = 0
      const answer = await probeAt(test, endpoint, raw(`no+body:${WEB.clientSecret}`))
      expect(answer, endpoint.url).toStrictEqual(endpoint.as(INVALID_CLIENT))
      expect(test.events).toStrictEqual([refusalAt(endpoint, 'invalid_client', 'client_unknown')])
      expect(test.errors).toStrictEqual([])
    }
  })

  it('keeps two applications apart of which one identifier is the other, decoded', async () => {
    const test = await testServer()
    const [spaced, plus] = [
      { clientId: 'a b', clientSecret: 'the-secret-of-the-spaced-one' },
      { clientId: 'a+b', clientSecret: 'the-secret-of-the-one-with-a-plus' },
    ]
    for (const each of [spaced, plus]) await test.server.applications.register(registration(), each)
    for (const [mine, other] of [
      [spaced, plus],
      [plus, spaced],
    ] as const) {
      const { code } = await authorize(test, { client_id: mine.clientId })
      const exchange = { grant_type: 'authorization_code', code }
      const wrong = raw(`a+b:${other.clientSecret}`)
      expect((await post(test.server, '/oauth2/token', exchange, wrong)).status).toBe(401)
      expect(await probe(test, raw(`a+b:${mine.clientSecret}`), { client_id: other.clientId })).toStrictEqual(
        INVALID_CLIENT,
      )
      expect((await post(test.server, '/oauth2/token', exchange, raw(`a+b:${mine.clientSecret}`))).status).toBe(200)
    }
    // With nothing that tells, it is the reading of RFC 6749.
    expect(authenticated(await probe(test, raw(`a+b:${spaced.clientSecret}`)))).toBe(true)
    expect(authenticated(await probe(test, raw(`a+b:${plus.clientSecret}`)))).toBe(false)
  })

  it('takes no third reading: what is encoded twice, or once where it should be as it is, is another secret', async () => {
    const test = await testServer()
    const clientSecret = 'a%2Bsecret+of+many+readings'
    await test.server.applications.register(registration(), { clientId: 'raw', clientSecret })
    const once = encodeURIComponent(clientSecret)
    expect(authenticated(await probe(test, raw(`raw:${once}`)))).toBe(true)
    expect(authenticated(await probe(test, raw(`raw:${clientSecret}`)))).toBe(true)
    for (const other of [
      encodeURIComponent(once),
      decodeURIComponent(clientSecret),
      clientSecret.replaceAll('+', ' '),
    ]) {
      expect(authenticated(await probe(test, raw(`raw:${other}`)))).toBe(false)
    }
  })

  it.each(['basic', 'BASIC', 'bAsIc', 'Basic ', 'Basic   '])('takes the scheme as %s', async (scheme) => {
    const test = await testServer()
    const encoded = basic(WEB).authorization.slice(6)
    expect(authenticated(await probe(test, { authorization: `${scheme} ${encoded}` }))).toBe(true)
    expect(authenticated(await probe(test, { authorization: [`${scheme} ${encoded}  `] }))).toBe(true)
  })

  it('takes a secret with a colon, which begins after the first', async () => {
    const test = await testServer()
    const clientSecret = 'a:secret:with:colons:in:it'
    await test.server.applications.register(registration(), { clientId: 'colon', clientSecret })
    expect(authenticated(await probe(test, raw(`colon:${clientSecret}`)))).toBe(true)
  })

  it.each([
    ['no credentials', 'Basic'],
    ['no credentials but a space', 'Basic '],
    ['empty', ''],
    ['no scheme', basic(WEB).authorization.slice(6)],
    ['no space', basic(WEB).authorization.replace(' ', '')],
    ['a tab', basic(WEB).authorization.replace(' ', '\t')],
    ['characters that are not base64', 'Basic !!!!'],
    ['base64url', 'Basic _-_-'],
    ['a length that is not base64', 'Basic abcde'],
    ['padding in the middle', 'Basic d2Vi=OnNlY3JldA=='],
    ['too much padding', 'Basic d2ViOng==='],
    ['a second word', `${basic(WEB).authorization} x`],
    ['two in one', `${basic(WEB).authorization}, ${basic(WEB).authorization}`],
    ['no colon', raw('web').authorization],
    ['an empty identifier', raw(`:${WEB.clientSecret}`).authorization],
    ['only a colon', raw(':').authorization],
    ['an identifier that is not ASCII', raw(`w\xe9b:${WEB.clientSecret}`).authorization],
    ['a raw NUL', raw(`web\0:${WEB.clientSecret}`).authorization],
    ['an identifier of 256 characters', raw(`${'w'.repeat(256)}:${WEB.clientSecret}`).authorization],
    ['the scheme Bearer', `Bearer ${basic(WEB).authorization.slice(6)}`],
    ['the scheme Digest', 'Digest username="web"'],
    ['a scheme that begins alike', basic(WEB).authorization.replace('Basic', 'Basics')],
    ['a prototype name', '__proto__'],
  ])('[24] refuses %s: invalid_client, with the challenge', async (_what, authorization) => {
    const test = await formServer()
    for (const form of [{}, { client_id: 'web' }])
      await refusedEverywhere(test, { authorization }, form, INVALID_CLIENT, 'client_authentication_method')
    expect(test.trips.reads).toBe(0)
  })
})

describe('5.1 who is not authenticated', () => {
  it.each([
    ['a wrong secret', basic({ ...WEB, clientSecret: `${WEB.clientSecret}x` }), {}, 'client_secret_wrong'],
    ['a secret too short', basic({ ...WEB, clientSecret: WEB.clientSecret.slice(0, -1) }), {}, 'client_secret_wrong'],
    [
      'a secret in other case',
      basic({ ...WEB, clientSecret: WEB.clientSecret.toUpperCase() }),
      {},
      'client_secret_wrong',
    ],
    ['the secret of another client', basic({ ...WEB, clientSecret: OTHER.clientSecret }), {}, 'client_secret_wrong'],
    ['a secret with a broken escape behind it', raw(`web:${WEB.clientSecret}%`), {}, 'client_secret_wrong'],
    ['a secret that is no UTF-8', raw(`web:${WEB.clientSecret}%FF`), {}, 'client_secret_wrong'],
    ['a secret that is not ASCII', raw(`web:${WEB.clientSecret}\xe9`), {}, 'client_secret_wrong'],
    ['a secret with NUL', raw(`web:${WEB.clientSecret}\0`), {}, 'client_secret_wrong'],
    ['a secret with an encoded NUL', raw(`web:${WEB.clientSecret}%00`), {}, 'client_secret_wrong'],
    ['an unknown client', basic({ ...WEB, clientId: 'nobody' }), {}, 'client_unknown'],
    ['a client in other case', basic({ ...WEB, clientId: 'Web' }), {}, 'client_unknown'],
    ['a prototype name', basic({ ...WEB, clientId: '__proto__' }), {}, 'client_unknown'],
    ['an identifier that decodes to no ASCII', raw(`w%C3%A9b:${WEB.clientSecret}`), {}, 'client_unknown'],
    ['an identifier that decodes to NUL', raw(`web%00:${WEB.clientSecret}`), {}, 'client_unknown'],
    ['an identifier with a broken escape', raw(`web%:${WEB.clientSecret}`), {}, 'client_unknown'],
    ['an identifier that is no UTF-8', raw(`web%FF:${WEB.clientSecret}`), {}, 'client_unknown'],
    ['an unknown client with Basic and an empty secret', raw('nobody:'), {}, 'client_unknown'],
    ['an unknown client without a secret', {}, { client_id: 'nobody' }, 'client_unknown'],
  ] as [string, Headers, Record<string, string>, string][])(
    '%s: invalid_client, the same for all',
    async (_who, headers, form, reason) => {
      const test = await formServer()
      const clientId =
        form['client_id'] ?? Buffer.from(String(headers['authorization']).slice(6), 'base64').toString().split(':')[0]
      // Whoever is unknown may have put anything in its place, its secret too.
      const told = reason === 'client_unknown' ? undefined : clientId
      await refusedEverywhere(test, headers, form, INVALID_CLIENT, reason, told)
    },
  )

  it.each([
    ['[23] a confidential client without a secret', {}, { client_id: 'web' }, NO_SECRET],
    ['[23] a confidential client with an empty secret', {}, { client_id: 'web', client_secret: '' }, NO_SECRET],
    ['[23] a confidential client with Basic and an empty secret', raw('web:'), {}, NO_SECRET],
    [
      'a public client with a secret',
      basic({ ...WEB, clientId: 'native' }),
      {},
      UNEXPECTED_SECRET('client_secret_basic'),
    ],
    [
      'a public client with a secret in the body',
      {},
      { client_id: 'native', client_secret: 'x' },
      UNEXPECTED_SECRET('client_secret_post'),
    ],
  ] as [string, Headers, Record<string, string>, HttpResponse][])(
    '%s: invalid_client, with the method that was used and the one that it takes',
    async (_who, headers, form, answer) => {
      const test = await formServer()
      const reason = answer === NO_SECRET ? 'client_not_authenticated' : 'client_authentication_method'
      await refusedEverywhere(test, headers, form, answer, reason, answer === NO_SECRET ? 'web' : 'native')
    },
  )

  it.each([
    ['nothing at all', {}, 'client_not_authenticated'],
    ['an empty client_id', { client_id: '' }, 'client_not_authenticated'],
    ['a secret without an identifier', { client_secret: WEB.clientSecret }, 'client_not_authenticated'],
    ['an identifier that is not ASCII', { client_id: 'w\u{e9}b' }, 'client_unknown'],
    ['an identifier of 256 characters', { client_id: 'w'.repeat(256) }, 'client_unknown'],
  ] as [string, Record<string, string>, string][])('%s: invalid_client', async (_what, form, reason) => {
    const test = await formServer()
    await refusedEverywhere(test, {}, form, INVALID_CLIENT, reason)
    expect(test.trips.reads).toBe(0)
  })

  it('[26] a suspended application with its secret; only the audit trail tells it from a wrong secret', async () => {
    const test = await formServer()
    await test.server.applications.suspend('web')
    await test.server.applications.suspend('native')
    const wrong = basic({ ...WEB, clientSecret: OTHER.clientSecret })
    await refusedEverywhere(test, basic(WEB), {}, INVALID_CLIENT, 'client_suspended', 'web')
    await refusedEverywhere(test, wrong, {}, INVALID_CLIENT, 'client_secret_wrong', 'web')
    await refusedEverywhere(test, {}, { client_id: 'native' }, INVALID_CLIENT, 'client_suspended', 'native')
  })

  it('a client whose key is the first bytes of the same digest as the one of a registered client', async () => {
    const digests: Digests = {
      ...portableDigests,
      sha256: (data) => portableDigests.sha256(data === 'twin' ? 'web' : data),
    }
    const test = await testServer({ digests })
    const [web, twin] = ['web', 'twin'].map((id) => clientKeyOf(digests, parseClientId(id) ?? expect.fail()))
    expect(web).toBe(twin)
    expect(await probe(test, basic({ ...WEB, clientId: 'twin' }))).toStrictEqual(INVALID_CLIENT)
    expect(authenticated(await probe(test, basic(WEB)))).toBe(true)
  })
})

describe('RFC 6749, 2.3 one method alone', () => {
  const ONE_METHOD = tokenError(400, 'invalid_request', 'The client must authenticate by one method alone.')
  const REPEATED = tokenError(400, 'invalid_request', 'The Authorization header is repeated.')
  const CONTRADICTED = tokenError(400, 'invalid_request', 'The client_id is not the one that authenticates.')

  it('[23] Basic and a secret in the body: invalid_request, whatever both are', async () => {
    for (const allowClientSecretPost of [false, true]) {
      const test = await formServer({ allowClientSecretPost })
      for (const headers of [
        basic(WEB),
        basic(API),
        basic(OTHER),
        { authorization: 'Bearer x' },
        { authorization: '' },
      ]) {
        for (const form of [
          { client_secret: WEB.clientSecret },
          { client_id: 'web', client_secret: WEB.clientSecret },
        ]) {
          await malformedEverywhere(test, headers, form, ONE_METHOD)
        }
      }
    }
  })

  it('[23] two Authorization headers: invalid_request, also where both are the same', async () => {
    const test = await formServer()
    const { authorization } = basic(WEB)
    for (const both of [
      [authorization, authorization],
      [authorization, 'Bearer x'],
      ['', authorization],
    ]) {
      // The fetch API joins them with a comma, which credentials do not have.
      const sent = { authorization: both }
      if (transport.name === 'fetch')
        await refusedEverywhere(test, sent, {}, INVALID_CLIENT, 'client_authentication_method')
      else await malformedEverywhere(test, sent, {}, REPEATED)
    }
  })

  it('Basic and the same client_id in the body is one method; another client_id is refused', async () => {
    const test = await formServer()
    for (const endpoint of FORM_ENDPOINTS) {
      const { client, good } = endpoint
      for (const form of [{ client_id: client.clientId }, { client_id: client.clientId, client_secret: '' }])
        expect(await probeAt(test, endpoint, basic(client), form)).toStrictEqual(good)
    }
    for (const client_id of ['other', 'Web', 'web '])
      await malformedEverywhere(test, basic(WEB), { client_id }, CONTRADICTED)
  })

  it('[25] an access token in the query of an API is refused', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const atApi = await guard(test.server, { url: `/repos?access_token=${access_token}` })
    expect(atApi).toMatchObject({ type: 'refused', response: { status: 400 } })
  })
})

describe('4.4, DESIGN the secret in the body', () => {
  const inBody = { client_id: WEB.clientId, client_secret: WEB.clientSecret }

  it('is taken at the token endpoint, unless an option takes it away', async () => {
    const test = await testServer({ allowClientSecretPost: false })
    expect(await probe(test, {}, inBody)).toStrictEqual(wrongMethod('client_secret_post', 'client_secret_basic'))
    expect(test.events).toStrictEqual([
      {
        type: 'refused',
        at: START,
        endpoint: 'token',
        error: 'invalid_client',
        reason: 'client_authentication_method',
      },
    ])
    const admitting = await testServer()
    expect(authenticated(await probe(admitting, {}, inBody))).toBe(true)
    const { code } = await authorize(admitting)
    const form = { grant_type: 'authorization_code', code, ...inBody }
    expect((await post(admitting.server, '/oauth2/token', form)).status).toBe(200)
    for (const wrong of [{ client_secret: OTHER.clientSecret }, { client_id: 'other' }]) {
      expect(await probe(admitting, {}, { ...inBody, ...wrong })).toStrictEqual(INVALID_CLIENT)
    }
    const asPublic = await probe(admitting, {}, { ...inBody, client_id: 'native' })
    expect(asPublic).toStrictEqual(UNEXPECTED_SECRET('client_secret_post'))
  })

  it('is always taken at the revocation endpoint', async () => {
    const test = await testServer({ allowClientSecretPost: false })
    const { access_token } = await tokens(test)
    expect(await probeRevocation(test, {}, { ...inBody, token: access_token })).toStrictEqual(REVOKED)
    expect(await works(test, access_token)).toBe(false)
  })

  it('any client identifier and secret go through it', async () => {
    const test = await testServer()
    let count = 0
    await fc.assert(
      fc.asyncProperty(clientIds, secrets, async (id, clientSecret) => {
        const clientId = `${++count} ${id}`.slice(0, 255)
        await test.server.applications.register(registration(), { clientId, clientSecret })
        expect(authenticated(await probe(test, {}, { client_id: clientId, client_secret: clientSecret }))).toBe(true)
      }),
      { numRuns: 30 },
    )
  })
})

describe('RFC 6749, 2.1 public clients', () => {
  const request = {
    client_id: 'native',
    redirect_uri: NATIVE_CALLBACK,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  }

  it('authenticate by client_id alone', async () => {
    const test = await testServer()
    expect(authenticated(await probe(test, {}, { client_id: 'native' }))).toBe(true)
    expect(authenticated(await probeRevocation(test, {}, { client_id: 'native' }))).toBe(true)
  })

  it('authenticate by HTTP Basic with an empty secret, which may be left out (2.3.1)', async () => {
    const test = await testServer()
    for (const form of [{}, { client_id: 'native' }, { client_secret: '' }]) {
      expect(authenticated(await probe(test, raw('native:'), form))).toBe(true)
      expect(authenticated(await probeRevocation(test, raw('native:'), form))).toBe(true)
    }
    await test.server.applications.register(registration({ type: 'public', redirectUris: [NATIVE_CALLBACK] }), {
      clientId: 'a b+c',
    })
    for (const written of ['a+b%2Bc:', 'a%20b%2Bc:', 'a b+c:']) {
      expect(authenticated(await probe(test, raw(written), { client_id: 'a b+c' }))).toBe(true)
    }
    const { code } = await authorize(test, request)
    const form = { grant_type: 'authorization_code', code, code_verifier: VERIFIER }
    const { status, body } = await post(test.server, '/oauth2/token', form, raw('native:'))
    expect(status).toBe(200)
    const { refresh_token, access_token } = JSON.parse(body)
    const again = { grant_type: 'refresh_token', refresh_token }
    expect((await post(test.server, '/oauth2/token', again, raw('native:'))).status).toBe(200)
    expect(await probeRevocation(test, raw('native:'), { token: refresh_token })).toStrictEqual(REVOKED)
    expect(await works(test, access_token)).toBe(false)
  })

  it('[27] cannot pose as confidential ones, by any secret, and cannot use what is theirs', async () => {
    const test = await testServer()
    const { access_token, refresh_token } = await tokens(test)
    const { code } = await authorize(test)
    const codes = await codesOf(test)
    await decide(test, codes)
    const posing: [Headers, Record<string, string>, HttpResponse][] = [
      [{}, { client_id: 'web' }, NO_SECRET],
      [{}, { client_id: 'web', client_secret: '' }, NO_SECRET],
      [{}, { client_id: 'web', client_secret: 'native' }, INVALID_CLIENT],
      [raw('web:'), {}, NO_SECRET],
      [raw('web:native'), {}, INVALID_CLIENT],
      [raw('native:native'), {}, UNEXPECTED_SECRET('client_secret_basic')],
      [raw(`native:${WEB.clientSecret}`), {}, UNEXPECTED_SECRET('client_secret_basic')],
      [{}, { client_id: 'native', client_secret: WEB.clientSecret }, UNEXPECTED_SECRET('client_secret_post')],
      [{}, { client_id: 'native', client_secret: 'native' }, UNEXPECTED_SECRET('client_secret_post')],
    ]
    for (const [headers, form, refused] of posing) {
      const exchanging = { ...form, grant_type: 'authorization_code', code }
      const refreshing = { ...form, grant_type: 'refresh_token', refresh_token }
      expect(await post(test.server, '/oauth2/token', exchanging, headers)).toStrictEqual(refused)
      expect(await post(test.server, '/oauth2/token', refreshing, headers)).toStrictEqual(refused)
      const polling = { ...form, grant_type: DEVICE_GRANT, device_code: codes.device_code }
      expect(await post(test.server, '/oauth2/token', polling, headers)).toStrictEqual(refused)
      expect(await post(test.server, '/oauth2/device_authorization', form, headers)).toStrictEqual(refused)
      const revoking = await post(test.server, '/oauth2/revoke', { ...form, token: refresh_token }, headers)
      expect(revoking).toStrictEqual(atRevocation(refused))
    }
    // As itself it gets nothing of theirs either.
    expect((await exchange(test, code, {}, NATIVE)).status).toBe(400)
    expect((await poll(test, codes, NATIVE)).status).toBe(400)
    expect(await probeRevocation(test, {}, { client_id: 'native', token: refresh_token })).toStrictEqual(REVOKED)
    expect(await works(test, access_token)).toBe(true)
    expect((await exchange(test, code)).status).toBe(200)
  })

  it('[27] nor can a confidential client redeem what is a public one’s', async () => {
    const test = await testServer()
    const { code } = await authorize(test, request)
    expect((await exchange(test, code, { code_verifier: VERIFIER })).status).toBe(400)
    expect((await exchange(test, code, { code_verifier: VERIFIER }, NATIVE)).status).toBe(200)
  })
})

describe('DESIGN: secrets', () => {
  it('[22] are kept as digests: the store has none in any form that could be presented', async () => {
    const written: string[] = []
    const test = await watchedServer()
    test.instead.write = (key, value, options) => {
      written.push(JSON.stringify([key, value, options]))
      return test.store.write(key, value, options)
    }
    const made = await test.server.applications.register(registration())
    await test.server.applications.register(registration(), { ...WEB, clientId: 'imported' })
    for (const secret of [made.clientSecret ?? expect.fail(), WEB.clientSecret]) {
      expect(written.join()).not.toContain(secret)
      expect(written.join()).not.toContain(Buffer.from(secret).toString('base64url'))
      expect(written.join()).not.toContain(Buffer.from(secret).toString('hex'))
      const digest = portableDigests.sha256(secret)
      expect(written.join()).toContain(digest)
      expect(authenticated(await probe(test, raw(`web:${digest}`)))).toBe(false)
    }
  })

  it('[22] are compared in constant time, and an unknown client costs the same as a wrong secret', async () => {
    const calls = { sha256: 0, hmac: 0 }
    const digests: Digests = {
      sha256: (data) => {
        calls.sha256++
        return portableDigests.sha256(data)
      },
      hmacSha256: (key, data) => {
        calls.hmac++
        return portableDigests.hmacSha256(key, data)
      },
    }
    const test = await watchedServer({ digests })
    const stored = portableDigests.sha256(WEB.clientSecret)
    const wrongSecrets = ['x', 'a', 'y', 'z'].map((end) => WEB.clientSecret.slice(0, -1) + end)
    const presented = [
      ...wrongSecrets.map((clientSecret) => basic({ clientId: 'web', clientSecret })),
      // As long as the others, so that reading it costs the same.
      ...['wec', 'bew', 'xxx'].map((clientId) => basic({ clientId, clientSecret: wrongSecrets[0] ?? '' })),
    ]
    // Every comparison of ours reads both strings character by character; how often, is its time without the noise.
    const characters = vi.spyOn(String.prototype, 'charCodeAt')
    const costs = { first: new Set<string>(), again: new Set<string>() }
    const compared: number[] = []
    const others = Array.from({ length: KEPT_MAX }, (_, index) =>
      basic({ clientId: `other ${index}`, clientSecret: 'x' }),
    )
    try {
      for (const headers of presented) {
        // Then the server keeps the key of none of them.
        for (const other of others) await probe(test, other)
        for (const ask of ['first', 'again'] as const) {
          test.forget()
          Object.assign(calls, { sha256: 0, hmac: 0 })
          characters.mockClear()
          const { status } = await probe(test, headers)
          const { reads, writes } = test.trips
          costs[ask].add(JSON.stringify([status, calls, characters.mock.calls.length, reads, writes]))
          const event = test.events.at(-1)
          const comparisons = characters.mock.contexts.filter((text) => String(text) === stored)
          if (event?.type === 'refused' && event.reason === 'client_secret_wrong') compared.push(comparisons.length)
        }
      }
    } finally {
      characters.mockRestore()
    }
    expect(new Set(compared)).toEqual(new Set([43]))
    for (const all of [costs.first, costs.again]) {
      expect(all.size).toBe(1)
      expect([...all][0]).toMatch(/^\[401,/)
    }
  })
})
