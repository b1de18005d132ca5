/**
 * Tokens of the type `mac`: how they are given out, and how an API takes the requests that are signed with them.
 * @module
 * @see Specification, section 5.2; draft-ietf-oauth-v2-http-mac-01
 */
import { createHmac, hkdfSync } from 'node:crypto'
import * as fc from 'fast-check'
import type { AuthorizationServer, GuardResult, HttpRequest, HttpResponse, RecordStore, RequestLike } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { parseCredential } from 'grantwell/core'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it, vi } from 'vitest'
import { normalizedRequest, normalizedTime } from '../../src/core/credentials/mac.js'
import type { WatchedServer } from '../server/helpers.js'
import { StoreFailure, watchedServer } from '../server/helpers.js'
import type { TestServer } from '../support.js'
import {
  authorize,
  CHALLENGE,
  call,
  exchange,
  guard,
  ISSUER,
  NATIVE_CALLBACK,
  refresh,
  registration,
  revoke,
  START,
  testServer,
  tokens,
  VERIFIER,
  WEB,
} from '../support.js'
import { changeApplication } from './consent-form.js'
import { codesOf, decide, poll } from './device-form.js'
import type { MacTokens, Signed } from './mac-client.js'
import {
  headerOf,
  MAC_OPTIONS,
  macTokens,
  SIGNER,
  signatureOf,
  signedParts,
  signedRequest,
  withSigner,
} from './mac-client.js'
import { INACTIVE, introspect, withApi } from './resource-server.js'

/** A server that gives out tokens of the type, and an application that is registered for them. */
const macServer = async (options: Parameters<typeof watchedServer>[0] = {}): Promise<WatchedServer> =>
  withSigner(await watchedServer({ ...MAC_OPTIONS, ...options }))

/** Another server over the store of one, with its clock. */
function serverBeside(test: TestServer, options: Parameters<typeof testServer>[0] = {}): AuthorizationServer {
  return createAuthorizationServer({
    issuer: ISSUER,
    store: test.store,
    user: () => test.session.user,
    signInUrl: () => '/sign-in',
    clock: () => test.clock.now,
    onError: (error) => test.errors.push(error),
    ...MAC_OPTIONS,
    ...options,
  })
}

const HEADERS = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

function unauthorized(challenge: string): HttpResponse {
  return { status: 401, headers: { ...HEADERS, 'WWW-Authenticate': challenge }, body: '' }
}

/** A whole refusal with an error, and its challenge. */
function refusal(status: number, error: string, description: string, scheme = 'MAC', more = ''): HttpResponse {
  return {
    status,
    headers: {
      ...HEADERS,
      'WWW-Authenticate': `${scheme} realm="oauth2", error="${error}", error_description="${description}"${more}`,
      'Content-Type': 'application/json;charset=UTF-8',
    },
    body: JSON.stringify({ error, error_description: description }),
  }
}

const WORDS = 'The access token is invalid, expired or revoked.'
const INVALID = refusal(401, 'invalid_token', WORDS)
/** As `answered` gives it: its challenge tells the time, with a MAC that is right. */
const STALE = refusal(
  401,
  'invalid_token',
  'The timestamp is too far from the time of the service.',
  'MAC',
  ', <the time, authenticated>',
)
const REPLAYED = refusal(401, 'invalid_token', 'The nonce was used before.')
const MALFORMED = refusal(400, 'invalid_request', 'The Authorization header is not well-formed.')
const OFF = unauthorized('Bearer realm="oauth2"')
const BOTH = unauthorized('Bearer realm="oauth2", MAC realm="oauth2"')

/** The response to a request that was refused, or that it was let in. */
function answer(found: GuardResult): HttpResponse | 'authenticated' {
  return found.type === 'refused' ? found.response : found.type
}

/** What becomes of a request. */
async function answered(
  test: Pick<TestServer, 'server' | 'clock'>,
  request: Partial<HttpRequest>,
  needs?: { scope?: string },
): Promise<HttpResponse | 'authenticated'> {
  const found = answer(await guard(test.server, request, needs))
  if (found === 'authenticated') return found
  const { 'WWW-Authenticate': challenge = '', ...headers } = found.headers
  const told = toldTime(String(request.headers?.['authorization']), test.clock.now)
  if (told === undefined || !challenge.endsWith(told)) return found
  const shown = `${challenge.slice(0, -told.length)}, <the time, authenticated>`
  return { ...found, headers: { ...headers, 'WWW-Authenticate': shown } }
}

/** What a challenge to a stale request ends in: the recipe of `normalizedTime`, written apart from the sources. */
function toldTime(authorization: string, now: number): string | undefined {
  const [, id = '', ts, nonce] = /^MAC id="(.*?)", ts="(.*?)", nonce="(.*?)"/.exec(authorization) ?? []
  const secret = parseCredential(id)?.secret
  if (secret === undefined) return undefined
  const { derivationKey } = MAC_OPTIONS
  const key = Buffer.from(hkdfSync('sha256', derivationKey, secret, 'grantwell mac key 1', 32)).toString('base64url')
  const tsm = createHmac('sha256', key).update(`grantwell mac time 1\n${now}\n${ts}\n${nonce}\n`).digest('base64')
  return `, ts="${now}", tsm="${tsm}"`
}

/** A sound request, and what becomes of it. */
async function signedCall(test: TestServer, pair: MacTokens, changes: Partial<Signed> = {}) {
  return answered(test, signedRequest(pair, signedParts(test, changes)))
}

const GRANT = { grantId: expect.stringMatching(/^[\w-]{22}$/) }

/** What the audit trail has of a refusal; `clientId` null where nobody knows who it was. */
function eventOf(test: TestServer, reason: string, error = 'invalid_token', clientId: string | null = 'signer') {
  const event = { type: 'refused', at: test.clock.now, endpoint: 'api', error, reason }
  return expect.objectContaining(clientId === null ? event : { ...event, clientId, ...GRANT })
}

describe('5.2 tokens of the type mac', () => {
  it('are off by default: an application cannot be registered for them', async () => {
    for (const options of [{}, { derivationKey: MAC_OPTIONS.derivationKey }] as Parameters<typeof testServer>[0][]) {
      const { server } = await testServer(options)
      const { applications } = server
      const message = 'grantwell: tokenType must not be mac: the server has no option macTokens'
      const fault = { code: 'ERR_REGISTRATION', message, faults: [expect.objectContaining({ path: 'tokenType' })] }
      const scopes = [{ scope: 'repo-code:rw', reason: 'To push' }]
      await expect(applications.register(registration({ tokenType: 'mac' }))).rejects.toMatchObject(fault)
      const submission = { ...registration({ tokenType: 'mac' }), scopes }
      await expect(applications.submit(submission)).rejects.toMatchObject(fault)
      await expect(applications.change('web', submission)).rejects.toMatchObject(fault)
      expect((await applications.register(registration({ tokenType: 'bearer' }))).clientId).toBeDefined()
    }
  })

  it('are off by default: a request in the scheme MAC has no token', async () => {
    const on = await macServer()
    const pair = await macTokens(on)
    for (const options of [{}, { macTokens: false }] as const) {
      const test = await testServer(options)
      const request = signedRequest(pair, signedParts(test))
      for (const authorization of [request.headers.authorization, 'MAC', 'MAC x', 'MAC id="x"'])
        expect(await answered(test, { ...request, headers: { ...request.headers, authorization } })).toStrictEqual(OFF)
      expect(test.events).toStrictEqual([])
    }
  })

  it('need the derivation key, of which their keys are made', async () => {
    const test = await testServer()
    const { store } = test
    const options = { issuer: ISSUER, store, user: () => undefined, signInUrl: () => '/', macTokens: true }
    expect(() => createAuthorizationServer(options)).toThrowError(
      expect.objectContaining({
        code: 'ERR_CONFIGURATION',
        message:
          'grantwell: createAuthorizationServer: the option derivationKey must be given where macTokens is true; got undefined',
      }),
    )
  })

  it('come with their key and its algorithm, to those alone that are registered for them', async () => {
    const test = await macServer()
    const { code } = await authorize(test, { client_id: SIGNER.clientId })
    const { response } = await exchange(test, code, {}, SIGNER)
    const body: MacTokens = JSON.parse(response.body)
    expect(body).toStrictEqual({
      access_token: expect.stringMatching(/^gwa_[\w-]{81}$/),
      token_type: 'mac',
      expires_in: 28_800,
      refresh_token: expect.stringMatching(/^gwr_[\w-]{81}$/),
      scope: 'repo-code:rw account-profile:r',
      mac_key: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      mac_algorithm: 'hmac-sha-256',
    })
    expect(response.headers).toMatchObject({ 'Cache-Control': 'no-store', Pragma: 'no-cache' })
    const bearer = await tokens(test)
    expect(Object.keys(bearer)).toStrictEqual(['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope'])
    expect(bearer.token_type).toBe('bearer')
    expect((await call(test, bearer.access_token)).type).toBe('authenticated')
  })

  it('are the same for a public client, and for a device', async () => {
    const test = await macServer()
    const native = { clientId: 'native-signer' }
    const redirectUris = ['http://127.0.0.1/callback']
    await test.server.applications.register(registration({ type: 'public', redirectUris, tokenType: 'mac' }), native)
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
    const { code } = await authorize(test, { client_id: 'native-signer', redirect_uri: NATIVE_CALLBACK, ...pkce })
    const { body: ofNative } = await exchange(test, code, { code_verifier: VERIFIER }, native)
    const codes = await codesOf(test, {}, SIGNER)
    await decide(test, codes)
    const { body: ofDevice } = await poll(test, codes, SIGNER)
    for (const pair of [ofNative, ofDevice] as unknown as MacTokens[]) {
      expect([pair.token_type, pair.mac_algorithm]).toEqual(['mac', 'hmac-sha-256'])
      expect(await signedCall(test, pair)).toBe('authenticated')
      expect((await call(test, pair.access_token)).type).toBe('refused')
    }
  })

  it('[33] a retry of a refresh in its grace gives the same key, and every successor has another', async () => {
    const test = await macServer()
    const first = await macTokens(test)
    const refreshed = async (pair: MacTokens): Promise<MacTokens> => {
      const { status, body } = await refresh(test, pair.refresh_token, {}, SIGNER)
      expect([status, body.token_type]).toEqual([200, 'mac'])
      return body as MacTokens // of its client
    }
    const second = await refreshed(first)
    expect(await refreshed(first)).toStrictEqual(second)
    const { body: elsewhere } = await refresh({ ...test, server: serverBeside(test) }, first.refresh_token, {}, SIGNER)
    expect(elsewhere).toStrictEqual(second)
    const third = await refreshed(second)
    expect(new Set([first.mac_key, second.mac_key, third.mac_key]).size).toBe(3)
    for (const pair of [first, second, third]) expect(await signedCall(test, pair)).toBe('authenticated')
    // Of the pairs that are there, each has its own key alone.
    const crossed = { access_token: first.access_token, mac_key: second.mac_key }
    expect(await answered(test, signedRequest(crossed, signedParts(test)))).toStrictEqual(INVALID)
  })

  it('follow the registration: once that is for bearer again, new tokens are, and old ones are to be signed as before', async () => {
    const test = await macServer()
    const old = await macTokens(test)
    const { applications } = test.server
    const { revision } = await applications.change('signer', { tokenType: null })
    await applications.approve('signer', { revision })
    const { body } = await refresh(test, old.refresh_token, {}, SIGNER)
    expect([body.token_type, Object.hasOwn(body, 'mac_key')]).toEqual(['bearer', false])
    expect((await call(test, body.access_token)).type).toBe('authenticated')
    expect(await signedCall(test, old)).toBe('authenticated')
    expect((await call(test, old.access_token)).type).toBe('refused')
  })

  it('are refused in every way by a server that has the option no more, and new ones are bearer', async () => {
    const test = await withApi(await macServer())
    const used = await macTokens(test)
    const raced = await macTokens(test)
    const { body: lost } = await refresh(test, raced.refresh_token, {}, SIGNER)
    const keyless = { issuer: ISSUER, store: test.store, user: () => undefined, signInUrl: () => '/' }
    for (const server of [
      serverBeside(test, { macTokens: false }),
      createAuthorizationServer({ ...keyless, clock: () => test.clock.now }),
    ]) {
      const off = { ...test, server }
      for (const pair of [used, raced, lost as MacTokens]) {
        expect(await signedCall(off, pair)).toStrictEqual(OFF)
        const asBearer = await call(off, pair.access_token)
        expect(answer(asBearer)).toStrictEqual(refusal(401, 'invalid_token', WORDS, 'Bearer'))
        expect(await introspect(off, pair.access_token)).toStrictEqual(INACTIVE)
      }
    }
    const off = { ...test, server: serverBeside(test, { macTokens: false }) }
    const { code } = await authorize(off, { client_id: SIGNER.clientId })
    const { body: fresh } = await exchange(off, code, {}, SIGNER)
    const { body: next } = await refresh(off, used.refresh_token, {}, SIGNER)
    // What was handed out and got lost is handed out again; it is of no use but to be refreshed.
    const { body: again } = await refresh(off, raced.refresh_token, {}, SIGNER)
    expect(again).toStrictEqual(lost)
    const { body: afterIt } = await refresh(off, again.refresh_token, {}, SIGNER)
    for (const body of [fresh, next, afterIt]) {
      expect(Object.keys(body)).toStrictEqual(['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope'])
      expect([body.token_type, (await call(off, body.access_token)).type]).toEqual(['bearer', 'authenticated'])
    }
  })

  it('[28] have keys that nothing in the store makes, nor that and the token: the derivation key does', async () => {
    const test = await macServer()
    const written: string[] = []
    test.instead.write = (key, value, options) => {
      written.push(JSON.stringify([key, value, options]))
      return test.store.write(key, value, options)
    }
    const first = await macTokens(test)
    const { body } = await refresh(test, first.refresh_token, {}, SIGNER)
    const pairs = [first, body as MacTokens]
    for (const pair of pairs) expect(await signedCall(test, pair)).toBe('authenticated')
    const everything = written.join('\n')
    const secretOf = (token: string): Buffer => Buffer.from(parseCredential(token)?.secret ?? expect.fail(), 'ascii')
    const stored = [...everything.matchAll(/[\w-]{22,}/g)].flatMap(([text]) => [
      Buffer.from(text, 'base64url'),
      Buffer.from(text, 'ascii'),
    ])
    const issued = pairs.flatMap((pair) => [pair.access_token, pair.refresh_token])
    const materials = [
      ...stored,
      ...issued.map(secretOf),
      // The 32 bytes that a secret is written of.
      ...issued.map((token) => Buffer.from(token.slice(4), 'base64url').subarray(-32)),
      ...pairs.map((pair) => Buffer.from(pair.access_token)),
      new Uint8Array(0),
      new Uint8Array(32),
    ]
    const derive = (material: Uint8Array, token: string): string =>
      Buffer.from(hkdfSync('sha256', material, secretOf(token), 'grantwell mac key 1', 32)).toString('base64url')
    for (const { access_token, mac_key } of pairs) {
      const key = Buffer.from(mac_key, 'base64url')
      for (const form of [mac_key, key.toString('hex'), key.toString('base64'), JSON.stringify([...key])])
        expect(everything).not.toContain(form)
      for (const material of materials) {
        expect(Buffer.from(material).toString('base64url')).not.toBe(mac_key)
        expect(derive(material, access_token)).not.toBe(mac_key)
      }
      // So the search would find it.
      expect(derive(MAC_OPTIONS.derivationKey, access_token)).toBe(mac_key)
    }
  })
})

describe('a request that is signed', () => {
  it('as it was made: tells who is calling, for whom, and what is permitted', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const found = await guard(test.server, signedRequest(pair, signedParts(test)), { scope: 'repo-code:rw' })
    expect(found).toStrictEqual({
      type: 'authenticated',
      subject: 'ada',
      clientId: 'signer',
      grantId: parseCredential(pair.access_token)?.grantId,
      scopes: ['repo-code:rw', 'account-profile:r'],
      resources: { kind: 'all' },
      expiresAt: START + 28_800,
    })
    expect(test.events.at(-1)?.type).toBe('exchanged')
  })

  it('with any method, path, query, host, port, nonce and ext that there is', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const parts = fc.record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH'),
      url: fc.stringMatching(/^\/[a-z0-9/._~:@!$&()*+,;=-]{0,20}(?:\?[a-z0-9/?._~:@!$&()*+,;=-]{0,20})?$/),
      host: fc.constantFrom('git.example', 'GIT.example', '127.0.0.1', '[::1]', 'a.b.c.example'),
      port: fc.constantFrom('443', '80', '8443', '1'),
      nonce: fc.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]{1,30}$/),
      ext: fc.option(fc.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]{0,30}$/), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(parts, async (changes) => {
        // A path that a browser would write otherwise is not the one that was signed, and two slashes would be a host.
        fc.pre(!/\/\.|\/\//.test(changes.url))
        const nonce = `${signedParts(test).nonce}${changes.nonce}`
        expect(await signedCall(test, pair, { ...changes, nonce })).toBe('authenticated')
      }),
      { numRuns: 100 },
    )
  })

  it('[36] and changed in any part on its way is refused, and as what it was it is good still', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const other = await macTokens(test)
    const changes: { readonly [Name in keyof Signed]-?: readonly string[] } = {
      method: ['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'],
      url: [
        '/repos/2?page=2&page=3',
        '/repos/1',
        '/repos/1?',
        '/repos/1?page=3&page=2',
        '/repos/1?page=2',
        '/Repos/1?page=2&page=3',
        '/repos/1?page=2&page=3&',
        '/repos%2F1?page=2&page=3',
        '/repos//1?page=2&page=3',
        '/',
      ],
      host: ['git.example.evil.example', 'evil.example', 'it.example', '127.0.0.1', '[::1]'],
      port: ['80', '8443', '44', '4430', '1'],
      ts: ['-1', '+1', '+60', '-60', '+600'],
      nonce: ['x', 'N', ' ', 'signed'],
      ext: ['', 'x', 'A', 'a ', ' a'],
    }
    for (const [name, values] of Object.entries(changes) as [keyof Signed, readonly string[]][]) {
      for (const value of values) {
        const parts = signedParts(test, { ext: 'a' })
        const sound = signedRequest(pair, parts)
        const to = name === 'ts' ? String(Number(parts.ts) + Number(value)) : value
        const changed = { ...parts, [name]: to }
        const mac = signatureOf(pair.mac_key, parts)
        const authority = changed.port === '443' ? changed.host : `${changed.host}:${changed.port}`
        const authorization = headerOf(pair.access_token, changed, mac)
        const headers = { host: authority, authorization }
        const request = { method: changed.method, url: changed.url, headers }
        test.forget()
        expect([name, to, await answered(test, request)]).toStrictEqual([name, to, INVALID])
        expect(test.trips).toMatchObject({ reads: 1, writes: 0 })
        expect(test.events.at(-1)).toStrictEqual(eventOf(test, 'mac_mismatch'))
        // Nor does it work with another token, or with its key.
        const swapped = headerOf(other.access_token, parts, mac)
        expect(await answered(test, { ...sound, headers: { ...sound.headers, authorization: swapped } })).toStrictEqual(
          INVALID,
        )
        expect(await answered(test, sound)).toBe('authenticated')
      }
    }
  })

  it.each([
    ['a fragment that frameworks read a query from', (url: string) => `${url}#&admin=1`],
    ['a fragment behind an absolute target', (url: string) => `http://git.example${url}#&admin=1`],
    ['a host in front of its path', (url: string) => `/${url}`],
    ['segments that URL parsers take away', (url: string) => url.replace('/repos/', '/repos/x/../')],
    ['another host in its target', (url: string) => `http://evil.example${url}`],
    ['no target', () => undefined],
  ])('[36] is refused before the store is asked, where its target was given %s', async (_, change) => {
    const test = await macServer()
    const pair = await macTokens(test)
    const { method, url, headers } = signedRequest(pair, signedParts(test))
    const { host, authorization } = headers
    test.forget()
    const words = 'The method, target or Host of the request is missing or malformed.'
    const found = await test.server.authenticate({ method, url: change(url), headers })
    expect(answer(found)).toStrictEqual(refusal(400, 'invalid_request', words))
    expect(test.events.at(-1)).toStrictEqual(eventOf(test, 'malformed_request', 'invalid_request', null))
    expect(test.trips).toMatchObject({ reads: 0, writes: 0 })
    expect(answer(await test.server.authenticate({ method, url, headers: { host, authorization } }))).toBe(
      'authenticated',
    )
  })

  it('[36] with any other mac is refused: another bit, a part of it, another alphabet, none', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const parts = signedParts(test)
    const mac = signatureOf(pair.mac_key, parts)
    const bytes = Buffer.from(mac, 'base64')
    const others = Array.from({ length: 256 }, (_, bit) =>
      Buffer.from(bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))).toString('base64'),
    )
    const wrong = [
      ...others,
      '',
      '=',
      mac.slice(0, -1),
      `${mac}=`,
      `${mac} `,
      ` ${mac}`,
      mac.slice(0, 20),
      mac + mac,
      mac.toLowerCase(),
      bytes.toString('hex'),
      `${bytes.toString('base64url')}`,
      // The last character has two bits that say nothing.
      ...['A', 'B', 'C', 'D'].map((last) => `${mac.slice(0, -2)}${last}=`).filter((each) => each !== mac),
      signatureOf('', parts),
      signatureOf(pair.access_token, parts),
      signatureOf(pair.refresh_token, parts),
      signatureOf(Buffer.from(pair.mac_key, 'base64url').toString('latin1'), parts),
      pair.mac_key,
    ]
    const { method, url, headers } = signedRequest(pair, parts)
    for (const each of wrong) {
      const authorization = headerOf(pair.access_token, parts, each)
      const found = await test.server.authenticate({ method, url, headers: { ...headers, authorization } })
      expect([each, answer(found)]).toStrictEqual([each, INVALID])
    }
    expect(answer(await test.server.authenticate({ method, url, headers }))).toBe('authenticated')
  })

  it('[36] is the only way to use such a token, and none to use a bearer token', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const bearer = await tokens(test)
    test.events.length = 0
    expect(answer(await call(test, pair.access_token))).toStrictEqual(refusal(401, 'invalid_token', WORDS, 'Bearer'))
    expect(test.events.at(-1)).toStrictEqual(eventOf(test, 'token_type_mismatch'))
    // Whatever key who only saw a bearer token would take for one.
    const token = bearer.access_token
    for (const key of [pair.mac_key, token, bearer.refresh_token, WEB.clientSecret, derivedKey(token)]) {
      expect(await signedCall(test, { ...pair, access_token: token, mac_key: key })).toStrictEqual(INVALID)
      expect(test.events.at(-1)).toStrictEqual(eventOf(test, 'token_type_mismatch', 'invalid_token', 'web'))
    }
    const asRefresh = { ...pair, access_token: pair.refresh_token }
    expect(await signedCall(test, asRefresh)).toStrictEqual(INVALID)
    expect((await call(test, token)).type).toBe('authenticated')
  })

  it('[26] [38] is refused once its token is expired, revoked, or its application suspended', async () => {
    const test = await macServer()
    const revoked = await macTokens(test)
    await revoke(test, revoked.access_token, {}, SIGNER)
    const live = await macTokens(test)
    const reasons: [string, MacTokens, () => unknown, () => unknown][] = [
      ['credential_revoked', revoked, () => {}, () => {}],
      [
        'client_suspended',
        live,
        () => test.server.applications.suspend('signer'),
        () => test.server.applications.reinstate('signer'),
      ],
      [
        'scope_not_registered',
        live,
        () => changeApplication(test, { scopes: ['repo-delete:rw'] }, 'signer'),
        () => changeApplication(test, { scopes: ['repo-code:rw'] }, 'signer'),
      ],
      [
        'credential_expired',
        live,
        () => {
          test.clock.now += 28_800
        },
        () => {
          test.clock.now -= 28_800
        },
      ],
    ]
    for (const [reason, pair, before, after] of reasons) {
      await before()
      test.forget()
      expect(await signedCall(test, pair)).toStrictEqual(INVALID)
      expect(test.trips).toMatchObject({ reads: 1, writes: 0 })
      expect(test.events.at(-1)).toStrictEqual(eventOf(test, reason))
      await after()
    }
    expect(await signedCall(test, live)).toBe('authenticated')
  })

  it('[37] may lack a scope: 403 in its scheme, with the scope that is needed', async () => {
    const test = await macServer()
    const pair = await macTokens(test, { scope: 'repo-code:r' })
    const request = signedRequest(pair, signedParts(test))
    const description = 'The access token does not permit this.'
    const forbidden = refusal(403, 'insufficient_scope', description, 'MAC', ', scope="repo-code:rw"')
    expect(await answered(test, request, { scope: 'repo-code:rw' })).toStrictEqual(forbidden)
    expect(test.events.at(-1)).toStrictEqual(eventOf(test, 'scope_insufficient', 'insufficient_scope'))
    // It was made, though it was refused.
    expect(await answered(test, request, { scope: 'repo-code:r' })).toStrictEqual(REPLAYED)
  })

  it('is read from the request of any platform, by any path that a framework leaves of it', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const requests: ((parts: Signed, headers: { host: string; authorization: string }) => RequestLike)[] = [
      ({ method, url }, headers) => ({ method, url, headers }),
      ({ method, url }, headers) => ({ method, url, headers, rawHeaders: ['AUTHORIZATION', headers.authorization] }),
      ({ method, url }, headers) => ({ method, url: '/1?page=2', originalUrl: url, headers }),
      ({ method, url }, headers) => ({ method, url: `http://${headers.host}${url}`, headers }),
      ({ method, url }, headers) => ({ method, url: `${ISSUER}${url}`, headers: new Headers(headers) }),
      ({ method, url }, headers) => new Request(`${ISSUER}${url}`, { method, headers }),
      ({ method, url }, { authorization }) => new Request(`${ISSUER}${url}`, { method, headers: { authorization } }),
      ({ method, url }, headers) => new Request(`http://10.0.0.1:3000${url}`, { method, headers }),
    ]
    for (const [index, request] of requests.entries()) {
      const parts = signedParts(test)
      const { headers } = signedRequest(pair, parts)
      const found = await test.server.authenticate(request(parts, headers))
      expect([index, found.type]).toEqual([index, 'authenticated'])
    }
  })

  it('is signed for the port of https where the issuer has that, and for that of http where it has http', async () => {
    for (const [issuer, port, other] of [
      ['https://git.example', '443', '80'],
      ['http://127.0.0.1', '80', '443'],
      ['http://git.example', '80', '443'],
    ] as const) {
      const test = await macServer({ issuer, allowInsecureIssuer: true })
      const pair = await macTokens(test)
      for (const [signed, expected] of [
        [port, 'authenticated'],
        [other, INVALID],
      ] as const) {
        const parts = signedParts(test, { host: 'git.example', port: signed })
        const { authorization } = signedRequest(pair, parts).headers
        const { method, url } = parts
        const headers = { host: 'git.example', authorization }
        expect(answer(await test.server.authenticate({ method, url, headers }))).toStrictEqual(expected)
      }
    }
  })
})

/** What somebody without the server's key would derive of a token that was seen. */
function derivedKey(token: string): string {
  const secret = parseCredential(token)?.secret ?? expect.fail()
  return Buffer.from(hkdfSync('sha256', new Uint8Array(0), secret, 'grantwell mac key 1', 32)).toString('base64url')
}

describe('the time of a signed request', () => {
  it.each([undefined, 1, 30, 300])(
    '[30] may differ by the window, to the second, on both sides: %s',
    async (macWindow) => {
      const test = await macServer(macWindow === undefined ? {} : { macWindow })
      const pair = await macTokens(test)
      const window = macWindow ?? 300
      for (const [seconds, expected] of [
        [-window - 1, STALE],
        [-window, 'authenticated'],
        [0, 'authenticated'],
        [window, 'authenticated'],
        [window + 1, STALE],
        [-1_000_000_000, STALE],
        [90_000_000_000, STALE],
      ] as const) {
        const ts = String(test.clock.now + seconds)
        test.forget()
        expect([seconds, await signedCall(test, pair, { ts })]).toStrictEqual([seconds, expected])
        expect(test.trips).toMatchObject({ reads: 1, writes: expected === STALE ? 0 : 1 })
        const refusal = eventOf(test, 'mac_stale')
        expect(expected === STALE ? test.events.at(-1) : refusal).toStrictEqual(refusal)
      }
    },
  )

  it('is told to be wrong to those alone who have the key', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    for (const ts of [String(START - 301), String(START)]) {
      const wrong = { ...pair, mac_key: `${pair.mac_key.slice(0, -1)}_` }
      expect(await signedCall(test, wrong, { ts })).toStrictEqual(INVALID)
    }
  })

  it('is told in no other answer, and never signed twice alike', async () => {
    const test = await macServer()
    const pair = await macTokens(test, { scope: 'repo-code:r' })
    const other = await macTokens(test)
    const stale = (changes: Partial<Signed> = {}) => signedRequest(pair, signedParts(test, { ts: '1', ...changes }))
    const sound = signedRequest(pair, signedParts(test))
    const { authorization } = stale().headers
    const silent: Partial<HttpRequest>[] = [
      {},
      { headers: { authorization: `Bearer ${pair.access_token}` } },
      { headers: { authorization } },
      { ...stale(), url: '/elsewhere' },
      { ...stale(), headers: { ...stale().headers, host: 'evil.example' } },
      signedRequest({ ...pair, mac_key: other.mac_key }, signedParts(test, { ts: '1' })),
      signedRequest({ ...other, mac_key: pair.mac_key }, signedParts(test, { ts: '1' })),
    ]
    for (const request of silent) expect(JSON.stringify(await guard(test.server, request))).not.toMatch(/\bts|tsm/)
    expect(answer(await guard(test.server, sound, { scope: 'repo-code:rw' }))).toMatchObject({ status: 403 })
    expect(JSON.stringify(await guard(test.server, sound))).not.toMatch(/\bts|tsm/)

    const challengeOf = async (request: HttpRequest): Promise<string> => {
      const found = answer(await guard(test.server, request))
      return found === 'authenticated' ? expect.fail() : (found.headers['WWW-Authenticate'] ?? '')
    }
    const parts = signedParts(test, { ts: '1' })
    const told = [
      await challengeOf(signedRequest(pair, parts)),
      await challengeOf(signedRequest(pair, { ...parts, nonce: `${parts.nonce}x` })),
      await challengeOf(signedRequest(pair, { ...parts, ts: '2' })),
      await challengeOf(signedRequest(other, parts)),
    ]
    test.clock.now++
    told.push(await challengeOf(signedRequest(pair, parts)))
    expect(new Set(told.map((each) => /tsm="([A-Za-z0-9+/]{43}=)"$/.exec(each)?.[1])).size).toBe(5)
    // Nor is what it is signed with good for a request.
    for (const each of told) {
      const mac = /tsm="(.*)"/.exec(each)?.[1] ?? expect.fail()
      const presented = headerOf(pair.access_token, { ...parts, ts: String(test.clock.now) }, mac)
      const request = { ...signedRequest(pair, parts), headers: { host: parts.host, authorization: presented } }
      expect(await answered(test, request)).toStrictEqual(INVALID)
    }
  })

  it('is signed as no request is: whatever a client signs, the string is another', () => {
    const text = fc.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]{1,20}$/)
    const ts = fc.stringMatching(/^[1-9][0-9]{0,11}$/)
    const input = fc.record({ ts, nonce: text, method: text, requestUri: text, host: text, port: ts, ext: text })
    fc.assert(
      fc.property(input, ts, fc.record({ ts, nonce: text }), (request, told, refused) => {
        const time = normalizedTime(told, refused)
        expect(normalizedRequest(request)).not.toBe(time)
        // The first line decides, since that of a request is digits.
        expect(/^[0-9]/.test(time)).toBe(false)
        expect(time).toBe(`grantwell mac time 1\n${told}\n${refused.ts}\n${refused.nonce}\n`)
      }),
    )
  })

  it('may go back for a client whose clock was set, and come again with other nonces', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    for (const seconds of [100, 0, -100, 100, 0])
      expect(await signedCall(test, pair, { ts: String(START + seconds) })).toBe('authenticated')
  })
})

describe('a request that is made again', () => {
  it('[30] is refused, on any server over the same store, as long as its time would be good, and after', async () => {
    for (const offset of [-300, 0, 300]) {
      const test = await macServer()
      const pair = await macTokens(test)
      const request = signedRequest(pair, signedParts(test, { ts: String(START + offset) }))
      expect(await answered(test, request)).toBe('authenticated')
      const another = { ...test, server: serverBeside(test) }
      const until = offset + 300
      for (let later = 0; later <= until; later += 25) {
        test.clock.now = START + later
        for (const each of [test, another]) expect(await answered(each, request)).toStrictEqual(REPLAYED)
      }
      expect(test.events.at(-1)).toStrictEqual(eventOf(test, 'mac_replayed'))
      test.clock.now = START + until
      expect(await answered(test, request)).toStrictEqual(REPLAYED)
      test.clock.now = START + until + 1
      expect(await answered(test, request)).toStrictEqual(STALE)
    }
  })

  it('is not the one request that two guards look at, one behind the other: each decides on what it needs', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const { method, url, headers } = signedRequest(pair, signedParts(test))
    const request = { method, url, headers }
    const ask = async (scope: string) => answer(await test.server.authenticate({ ...request }, { scope }))
    expect(await ask('repo-code:r')).toBe('authenticated')
    expect(await ask('repo-code:rw')).toBe('authenticated')
    expect(await ask('repo-delete:rw')).toMatchObject({ status: 403 })
    // What was made again is another message.
    expect(await answered(test, request)).toStrictEqual(REPLAYED)
    await test.server.grants.revokeAll('ada')
    expect(await ask('repo-code:r')).toMatchObject({ status: 401 })
  })

  it('is not the one request that other guards look at while the store has not answered the first', async () => {
    const memory = memoryStore({ clock: () => START })
    const answers: (() => void)[] = []
    let isSlow = false
    const store: RecordStore = {
      read: async (keys) => memory.read(keys),
      list: async (...list) => memory.list(...list),
      write: async (...write) => {
        const written = await memory.write(...write)
        if (isSlow) await new Promise<void>((resolve) => answers.push(resolve))
        return written
      },
    }
    const test = await macServer({ store })
    const pair = await macTokens(test)
    const { method, url, headers } = signedRequest(pair, signedParts(test))
    const ask = async (scope: string) => answer(await test.server.authenticate({ method, url, headers }, { scope }))
    isSlow = true
    const first = ask('repo-code:r')
    await vi.waitUntil(() => answers.length > 0)
    const others = ['repo-code:rw', 'repo-code:r', 'repo-delete:rw'].map(ask)
    // Long enough for them to read what the first has written.
    await new Promise((resolve) => setTimeout(resolve, 20))
    for (const go of answers) go()
    expect([await first, ...(await Promise.all(others))]).toMatchObject([
      'authenticated',
      'authenticated',
      'authenticated',
      { status: 403 },
    ])
    expect(answers).toHaveLength(1)
    isSlow = false
    expect(await answered(test, { method, url, headers: { ...headers } })).toStrictEqual(REPLAYED)
  })

  it('is not the one request whose guards lie further apart than the window, as before and behind a long upload', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const { method, url, headers } = signedRequest(pair, signedParts(test))
    const request = { method, url, headers }
    const ask = async (changes: Partial<HttpRequest> = {}) =>
      answer(await test.server.authenticate({ ...request, ...changes }))
    expect(await ask()).toBe('authenticated')
    for (const passed of [301, 1200, 1201, 5000]) {
      test.clock.now = START + passed
      expect(await ask()).toBe('authenticated')
      for (const changes of [{ url: '/elsewhere' }, { headers: { ...headers } }])
        expect(await ask(changes)).toMatchObject({ status: 401 })
    }
    await test.server.grants.revokeAll('ada')
    expect(await ask()).toMatchObject({ status: 401 })
  })

  it('[30] stays refused where a clock steps back by as much as the window', async () => {
    const test = await macServer({ macWindow: 10 })
    const pair = await macTokens(test)
    const request = signedRequest(pair, signedParts(test))
    expect(await answered(test, request)).toBe('authenticated')
    for (const now of [START + 10, START + 20, START, START + 20, START + 10, START - 10]) {
      test.clock.now = now
      expect(await answered(test, request)).toStrictEqual(now > START + 10 ? STALE : REPLAYED)
    }
  })

  it('[30] stays refused whenever a clock jumps ahead by less than the window and ten minutes, and back; no longer from then on', async () => {
    for (const macWindow of [1, 10, 300, 3600]) {
      const test = await macServer({ macWindow, accessTokenLifetime: 86_400 })
      const pair = await macTokens(test)
      // The time of the signature, when it comes, and when the clock jumps; all as seconds behind the first of them.
      for (const comes of [-macWindow, 0, macWindow]) {
        for (const jumps of [comes, 0, macWindow].filter((each) => each >= comes)) {
          for (const [ahead, outcome] of [
            [macWindow + 599, REPLAYED],
            [macWindow + 600, jumps === macWindow ? 'authenticated' : REPLAYED],
          ] as const) {
            const request = signedRequest(pair, signedParts(test, { ts: String(START) }))
            const at = (time: number): Promise<unknown> => {
              test.clock.now = START + time
              return answered(test, request)
            }
            expect(await at(comes)).toBe('authenticated')
            await at(jumps + ahead)
            // A write makes the store forget what has expired.
            await signedCall(test, pair)
            expect(await at(jumps), `window ${macWindow}, ${comes}, ${jumps}, ${ahead}`).toStrictEqual(outcome)
            test.clock.now = START
          }
        }
      }
    }
  })

  it('has the same nonce; what differs in nonce, time or token is another request', async () => {
    const test = await macServer()
    const [one, other] = [await macTokens(test), await macTokens(test)]
    const parts = signedParts(test)
    const again = (pair: MacTokens, changes: Partial<Signed>) =>
      answered(test, signedRequest(pair, { ...parts, ...changes }))
    expect(await again(one, {})).toBe('authenticated')
    for (const changes of [{}, { method: 'POST' }, { url: '/' }, { host: 'evil.example' }, { port: '1' }, { ext: 'x' }])
      expect(await again(one, changes)).toStrictEqual(REPLAYED)
    expect(await again(one, { nonce: `${parts.nonce}x` })).toBe('authenticated')
    expect(await again(one, { nonce: parts.nonce.toUpperCase() })).toBe('authenticated')
    expect(await again(one, { ts: String(START + 1) })).toBe('authenticated')
    expect(await again(other, {})).toBe('authenticated')
    expect(await again(other, {})).toStrictEqual(REPLAYED)
  })

  it('among many at once on several servers: exactly one passes', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    // Every read before every write, so that all of them decide on the same.
    const servers = Array.from({ length: 4 }, () => serverBeside(test, { store: slow(test) }))
    for (let round = 0; round < 20; round++) {
      const { method, url, headers } = signedRequest(pair, signedParts(test))
      const copies = Array.from({ length: 12 }, (_, copy) =>
        (servers[copy % 4] ?? test.server).authenticate({ method, url, headers: { ...headers } }),
      )
      const answers = (await Promise.all(copies)).map(answer)
      expect(answers.filter((each) => each === 'authenticated')).toHaveLength(1)
      expect(answers.filter((each) => each !== 'authenticated')).toStrictEqual(Array(11).fill(REPLAYED))
    }
  })

  it('[49] after the store failed: 503 with Retry-After and no challenge, and it passes if it was not written, once', async () => {
    for (const failing of ['read', 'write'] as const) {
      const test = await macServer()
      const pair = await macTokens(test)
      const request = signedRequest(pair, signedParts(test))
      const fail = (): Promise<never> => Promise.reject(new StoreFailure())
      test.instead[failing] = fail
      expect(await answered(test, request)).toStrictEqual({
        status: 503,
        headers: { ...HEADERS, 'Retry-After': '1', 'Content-Type': 'application/json;charset=UTF-8' },
        body: '{"error":"temporarily_unavailable","error_description":"The service is busy; try again."}',
      })
      expect(test.events.at(-1)).toMatchObject(GRANT)
      expect(test.events.at(-1)).toStrictEqual(eventOf(test, 'store_failed', 'temporarily_unavailable', null))
      test.instead[failing] = undefined
      expect(await answered(test, request)).toBe('authenticated')
      expect(await answered(test, request)).toStrictEqual(REPLAYED)
    }
  })

  it('[49] passes where the store lost the answer to its write, and is refused from then on', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const request = signedRequest(pair, signedParts(test))
    test.instead.write = async (...args) => {
      await test.store.write(...args)
      throw new StoreFailure()
    }
    test.forget()
    expect(await answered(test, request)).toBe('authenticated')
    expect(test.trips).toMatchObject({ reads: 2, writes: 1 })
    expect(await answered(test, request)).toStrictEqual(REPLAYED)
  })

  it('[49] of two copies whose answers were lost, no two servers take the one write for theirs', async () => {
    // Each server's write comes to pass or not, in either order, and the answers to both are lost.
    for (const happen of [
      [true, false],
      [false, true],
      [true, true],
      [false, false],
    ]) {
      const test = await macServer()
      const pair = await macTokens(test)
      const arrived: (() => void)[] = []
      const servers = happen.map((happens) =>
        serverBeside(test, {
          store: {
            read: (keys) => test.store.read(keys),
            list: (label, page) => test.store.list(label, page),
            write: async (...args) => {
              // Both have read by then that nobody made the request before.
              await new Promise<void>((resolve) => {
                arrived.push(resolve)
                if (arrived.length === 2) for (const go of arrived) go()
              })
              if (happens) await test.store.write(...args)
              throw new StoreFailure()
            },
          },
        }),
      )
      const { method, url, headers } = signedRequest(pair, signedParts(test))
      const found = await Promise.all(servers.map((server) => server.authenticate({ method, url, headers })))
      const passed = found.map(({ type }) => type === 'authenticated')
      expect(passed.filter(Boolean)).toHaveLength(happen.includes(true) ? 1 : 0)
      expect(found.flatMap((each) => (each.type === 'refused' && each.response.status !== 503 ? [each] : []))).toEqual(
        [],
      )
    }
  })

  it('[49] that was never written is not taken for one that has expired since, however short the window', async () => {
    for (const macWindow of [1, 2, 10]) {
      const test = await macServer({ macWindow })
      const pair = await macTokens(test)
      const arrived: (() => void)[] = []
      const store: typeof test.store = {
        ...test.store,
        write: async () => {
          // All of them have read; then the engine takes its time, and fails.
          await new Promise<void>((resolve) => {
            arrived.push(resolve)
            if (arrived.length === 3) {
              test.clock.now = START + 2 * macWindow + 5
              for (const go of arrived) go()
            }
          })
          throw new StoreFailure()
        },
      } as unknown as typeof test.store // asynchronous, as most are
      const parts = signedParts(test, { ts: String(START - macWindow) })
      const { method, url, headers } = signedRequest(pair, parts)
      const copies = [1, 2, 3].map(() => serverBeside(test, { store }).authenticate({ method, url, headers }))
      for (const found of await Promise.all(copies)) expect(answer(found)).toMatchObject({ status: 503 })
    }
  })

  it('is told to be so to those alone who have the key', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const parts = signedParts(test)
    expect(await answered(test, signedRequest(pair, parts))).toBe('authenticated')
    const { method, url, headers } = signedRequest({ ...pair, mac_key: 'a'.repeat(43) }, parts)
    expect(await answered(test, { method, url, headers })).toStrictEqual(INVALID)
  })

  it('is remembered for as long as it must be, and not longer', async () => {
    const test = await macServer({ macWindow: 10 })
    const pair = await macTokens(test)
    const { size } = test.store
    for (let count = 0; count < 50; count++) expect(await signedCall(test, pair)).toBe('authenticated')
    expect(test.store.size).toBe(size + 50)
    test.clock.now += 3600
    expect(await signedCall(test, pair)).toBe('authenticated')
    expect(test.store.size).toBe(size + 1)
  })

  it('[50] by who has no key leaves nothing in the store, however often it is tried', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const { size } = test.store
    for (let count = 0; count < 100; count++) {
      expect(await signedCall(test, { ...pair, mac_key: `${count}` })).toStrictEqual(INVALID)
      expect(await signedCall(test, pair, { ts: '1' })).toStrictEqual(STALE)
    }
    expect(test.store.size).toBe(size)
  })
})

/** The store of a server, that takes its time. */
function slow({ store }: WatchedServer): Parameters<typeof createAuthorizationServer>[0]['store'] {
  const later = () => new Promise((resolve) => setImmediate(resolve))
  return {
    read: async (keys) => {
      const found = await store.read(keys)
      await later()
      return found
    },
    write: async (...args) => {
      await later()
      return store.write(...args)
    },
    list: (label, page) => store.list(label, page),
  }
}

describe('an application that is to sign from now on', () => {
  it('uses no token of before that, here or where somebody introspects; a refresh gives one that signs', async () => {
    const test = await withApi(await watchedServer(MAC_OPTIONS))
    const before = await tokens(test)
    expect((await call(test, before.access_token)).type).toBe('authenticated')
    await changeApplication(test, { tokenType: 'mac' })
    expect(await call(test, before.access_token)).toMatchObject({
      type: 'refused',
      error: { code: 'invalid_token', reason: 'token_type_mismatch' },
    })
    expect(await introspect(test, before.access_token)).toStrictEqual(INACTIVE)
    const { body } = await refresh(test, before.refresh_token)
    const pair = body as unknown as MacTokens // it is registered for them
    expect(pair.token_type).toBe('mac')
    expect((await guard(test.server, signedRequest(pair, signedParts(test)))).type).toBe('authenticated')
    // Where the server gives out none of the type, all goes on as before.
    const server = serverBeside(test, { macTokens: false })
    expect((await call({ ...test, server }, before.access_token)).type).toBe('authenticated')
  })
})

describe('what an API asks for', () => {
  it('[36] no token in the query, beside a signature either', async () => {
    const test = await macServer()
    const request = signedRequest(await macTokens(test), signedParts(test, { url: '/repos?access_token=x' }))
    const found = await test.server.authenticate(request)
    expect(answer(found)).toMatchObject({ status: 400 })
    expect(test.events.at(-1)).toMatchObject({ reason: 'malformed_request' })
  })

  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['of another scheme', 'Basic d2ViOnNlY3JldA=='],
    ['of a scheme that begins alike', 'MACaroon id="x"'],
  ])('[37] either scheme, where a request has no token: %s', async (_how, authorization) => {
    const test = await macServer()
    const headers = authorization === undefined ? {} : { authorization }
    expect(await answered(test, { headers })).toStrictEqual(BOTH)
    expect(await answered(test, { headers }, { scope: 'repo-code:rw' })).toStrictEqual(BOTH)
    expect(test.events).toStrictEqual([])
  })

  it('[37] the scheme that the request has, where something is wrong with it', async () => {
    const test = await macServer()
    const bearer = (status: number, error: string, words: string) => refusal(status, error, words, 'Bearer')
    const malformed = 'The Authorization header is not well-formed.'
    for (const [authorization, response, reason] of [
      ['Bearer x', bearer(401, 'invalid_token', WORDS), 'credential_unknown'],
      ['Bearer x y', bearer(400, 'invalid_request', malformed), 'malformed_request'],
      ['MAC', MALFORMED, 'malformed_request'],
      ['mac id="x"', MALFORMED, 'malformed_request'],
      ['MAC id="x", ts="1", nonce="n", mac="m"', INVALID, 'credential_unknown'],
    ] as const) {
      test.forget()
      const found = await test.server.authenticate({ headers: { authorization } })
      expect(answer(found)).toStrictEqual(response)
      const error = response.status === 400 ? 'invalid_request' : 'invalid_token'
      expect(test.events.at(-1)).toStrictEqual(eventOf(test, reason, error, null))
      expect(test.trips).toMatchObject({ reads: 0, writes: 0 })
    }
  })

  it('[36] one header: two of them are refused, whatever they are', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const bearer = `Bearer ${(await tokens(test)).access_token}`
    const { headers, ...request } = signedRequest(pair, signedParts(test))
    const { authorization, host } = headers
    for (const two of [
      [authorization, authorization],
      [authorization, bearer],
      [bearer, authorization],
      [authorization, ''],
    ]) {
      const rawHeaders = two.flatMap((each) => ['Authorization', each])
      for (const sent of [
        { ...request, headers: { host, authorization: two } },
        { ...request, headers, rawHeaders },
      ])
        expect(answer(await test.server.authenticate(sent))).toMatchObject({ status: 400 })
      // The fetch API joins them.
      const joined = new Headers([['host', host], ...two.map((each): [string, string] => ['authorization', each])])
      const found = answer(await test.server.authenticate({ ...request, headers: joined }))
      const isOne = two[1] === ''
      expect(isOne ? { status: 400 } : found).toMatchObject({ status: 400 })
    }
  })

  it('[52] nothing of a key, a token or the store in what it answers, throws or tells', async () => {
    const test = await macServer()
    const pair = await macTokens(test)
    const sound = signedRequest(pair, signedParts(test))
    const texts: unknown[] = []
    const note = async (request: Partial<HttpRequest>, needs?: { scope?: string }) =>
      texts.push(await answered(test, request, needs))
    await note(sound, { scope: 'repo-delete:rw' })
    await note(sound)
    await note(signedRequest(pair, signedParts(test, { ts: '1' })))
    await note(signedRequest({ ...pair, mac_key: 'x' }, signedParts(test)))
    await note({ ...sound, headers: { ...sound.headers, authorization: `Bearer ${pair.access_token}` } })
    test.instead.write = () => Promise.reject(new StoreFailure())
    await note(signedRequest(pair, signedParts(test)))
    expect(texts.map((each) => (each as HttpResponse).status)).toEqual([403, 401, 401, 401, 401, 503])
    const seen = JSON.stringify([texts, test.events])
    const { authorization } = sound.headers
    const mac = /mac="([^"]*)"/.exec(authorization)?.[1] ?? expect.fail()
    for (const secret of [pair.mac_key, pair.access_token, pair.access_token.slice(-42), mac, 'hunter2'])
      expect(seen).not.toContain(secret)
  })
})
