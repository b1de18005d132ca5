/**
 * How often the store is asked: the bar of the design, counted.
 * @module
 * @see DESIGN, "Cost, which is also the bar"
 */
import type { HttpResponse } from 'grantwell'
import { portableDigests } from 'grantwell'
import { clientKeyOf, parseClientId, parseCredential } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { gif } from '../core/images.js'
import { logoIn } from '../protocol/consent-form.js'
import {
  askForCodes,
  codesOf,
  decide,
  decideOn,
  enter,
  enterCode,
  openDevicePage,
  poll,
} from '../protocol/device-form.js'
import { MAC_OPTIONS, macTokens, SIGNER, signedParts, signedRequest, withSigner } from '../protocol/mac-client.js'
import { API, introspect, withApi } from '../protocol/resource-server.js'
import {
  authorizationUrl,
  authorize,
  basic,
  CHALLENGE,
  call,
  exchange,
  guard,
  NATIVE,
  NATIVE_CALLBACK,
  OTHER,
  openConsent,
  post,
  refresh,
  registration,
  revoke,
  send,
  testServer,
  tokens,
  VERIFIER,
  WEB,
} from '../support.js'
import { tripsOf, watchedServer } from './helpers.js'

function keyOf(clientId: string): string {
  return clientKeyOf(portableDigests, parseClientId(clientId) ?? expect.fail())
}

const NONE = { reads: 0, writes: 0 }
const READ = { reads: 1, writes: 0 }
const READ_AND_WRITE = { reads: 1, writes: 1 }

describe('DESIGN: round trips to the store', () => {
  it('validate an access token: 1 read, of the application and the grant together', async () => {
    const test = await watchedServer()
    const { access_token } = await tokens(test)
    expect(await tripsOf(test, () => call(test, access_token))).toStrictEqual(READ)
    const grant = Buffer.from(access_token.slice(4), 'base64url').subarray(12, 28).toString('base64url')
    expect(test.trips.keys).toStrictEqual([`application:${access_token.slice(4, 20)}`, `grant:${grant}`])
    expect(await tripsOf(test, () => call(test, access_token, 'repo-code:rw'))).toStrictEqual(READ)
  })

  it('refuse an access token: 1 read, whyever', async () => {
    const test = await watchedServer()
    const { access_token, refresh_token } = await tokens(test)
    expect(await tripsOf(test, () => call(test, access_token, 'repo-delete:rw'))).toStrictEqual(READ)
    expect(await tripsOf(test, () => call(test, refresh_token))).toStrictEqual(READ)
    await revoke(test, refresh_token)
    expect(await tripsOf(test, () => call(test, access_token))).toStrictEqual(READ)
    test.clock.now += 100_000_000
    expect(await tripsOf(test, () => call(test, access_token))).toStrictEqual(READ)
  })

  it('validate an access token of a suspended application, or of one that has less than before: 1 read', async () => {
    const test = await watchedServer()
    const { access_token, refresh_token } = await tokens(test)
    const { applications } = test.server
    const { logo, ...rest } = registration()
    const scopes = [{ scope: 'repo-code:r', reason: 'To read' }]
    const { revision } = await applications.change('web', { ...rest, scopes, resourceScope: 'public' })
    expect(await tripsOf(test, () => call(test, access_token))).toStrictEqual(READ)
    await applications.approve('web', { revision })
    expect(await tripsOf(test, () => call(test, access_token, 'repo-code:r'))).toStrictEqual(READ)
    expect(await tripsOf(test, () => call(test, access_token, 'repo-code:rw'))).toStrictEqual(READ)
    await applications.suspend('web')
    expect(await tripsOf(test, () => call(test, access_token))).toStrictEqual(READ)
    expect(await tripsOf(test, () => refresh(test, refresh_token))).toStrictEqual(READ)
    expect(await tripsOf(test, () => exchange(test, 'malformed'))).toStrictEqual(READ)
    await applications.reinstate('web')
    expect(await tripsOf(test, () => call(test, access_token))).toStrictEqual(READ)
  })

  it('a request without a token, or with a malformed one: nothing', async () => {
    const test = await watchedServer()
    const { access_token } = await tokens(test)
    for (const authorization of [
      undefined,
      '',
      'Basic x',
      'Bearer',
      'Bearer x',
      `Bearer ${access_token}A`,
      'Bearer a b',
    ]) {
      const step = () => guard(test.server, { headers: { authorization } })
      expect(await tripsOf(test, step)).toStrictEqual(NONE)
    }
    const twice = [`Bearer ${access_token}`, `Bearer ${access_token}`]
    expect(await tripsOf(test, () => guard(test.server, { headers: { authorization: twice } }))).toStrictEqual(NONE)
  })

  it('introspect: 1 read, of the API, the application and the grant together, whatever the token is', async () => {
    const test = await withApi(await watchedServer())
    const { access_token, refresh_token } = await tokens(test)
    const grant = `grant:${parseCredential(access_token)?.grantId}`
    const [api, web] = [API, WEB].map(({ clientId }) => `application:${keyOf(clientId)}`)
    for (const token of [access_token, refresh_token]) {
      expect(await tripsOf(test, () => introspect(test, token))).toStrictEqual(READ)
      expect(test.trips.keys).toStrictEqual([api, web, grant])
    }
    for (const token of ['malformed', '']) {
      expect(await tripsOf(test, () => introspect(test, token))).toStrictEqual(READ)
      expect(test.trips.keys).toHaveLength(3)
    }
    for (const client of [WEB, { ...API, clientId: 'nobody' }, { ...API, clientSecret: WEB.clientSecret }])
      expect(await tripsOf(test, () => introspect(test, access_token, {}, client))).toStrictEqual(READ)
    await test.server.applications.suspend('web')
    expect(await tripsOf(test, () => introspect(test, access_token))).toStrictEqual(READ)
  })

  it('a signed request: 1 read, of the application, the grant and the nonce together, and 1 write', async () => {
    const test = await withSigner(await watchedServer(MAC_OPTIONS))
    const pair = await macTokens(test)
    const request = signedRequest(pair, signedParts(test))
    const ask = (asked = request, scope?: string) => guard(test.server, asked, scope === undefined ? {} : { scope })
    expect(await tripsOf(test, ask)).toStrictEqual(READ_AND_WRITE)
    const [application, grant, nonce, ...more] = test.trips.keys
    expect([application, grant, more]).toStrictEqual([
      `application:${keyOf(SIGNER.clientId)}`,
      `grant:${parseCredential(pair.access_token)?.grantId}`,
      [],
    ])
    expect(nonce).toMatch(/^mac_nonce:[\w-]{43}$/)
    expect(await tripsOf(test, () => ask(signedRequest(pair, signedParts(test)), 'repo-delete:rw'))).toStrictEqual(
      READ_AND_WRITE,
    )
  })

  it('a signed request that is refused before it counts: 1 read; one that is malformed: nothing', async () => {
    const test = await withSigner(await watchedServer(MAC_OPTIONS))
    const pair = await macTokens(test)
    const { access_token } = await tokens(test)
    const made = signedRequest(pair, signedParts(test))
    await guard(test.server, made)
    const late = signedParts(test, { ts: '1' })
    for (const request of [
      made,
      signedRequest({ ...pair, mac_key: 'wrong' }, signedParts(test)),
      signedRequest(pair, late),
      signedRequest({ ...pair, access_token }, signedParts(test)),
      { ...made, headers: { ...made.headers, authorization: `Bearer ${pair.access_token}` } },
    ])
      expect(await tripsOf(test, () => guard(test.server, request))).toStrictEqual(READ)
    await revoke(test, pair.access_token, {}, SIGNER)
    expect(await tripsOf(test, () => guard(test.server, signedRequest(pair, signedParts(test))))).toStrictEqual(READ)
    for (const authorization of ['MAC', 'MAC id="x"', 'MAC id="x", ts="1", nonce="n", mac="m"'])
      expect(await tripsOf(test, () => guard(test.server, { headers: { authorization } }))).toStrictEqual(NONE)
    const off = await watchedServer()
    expect(await tripsOf(off, () => guard(off.server, made))).toStrictEqual(NONE)
  })

  it('a bearer token costs no more where there are signed ones, nor where a resource is decided on', async () => {
    const test = await watchedServer(MAC_OPTIONS)
    const { access_token } = await tokens(test)
    expect(await tripsOf(test, () => call(test, access_token, 'repo-code:rw'))).toStrictEqual(READ)
    expect(test.trips.keys).toHaveLength(2)
    const headers = { authorization: `Bearer ${access_token}` }
    for (const accessible of [true, false]) {
      const resource = () => ({ id: 'repo/1', public: true, accessible })
      expect(await tripsOf(test, () => guard(test.server, { headers }, { resource }))).toStrictEqual(READ)
    }
  })

  it('exchange: 1 read and 1 write, for each kind of client; again for the replay that revokes', async () => {
    const test = await watchedServer()
    const { code } = await authorize(test)
    expect(await tripsOf(test, () => exchange(test, code))).toStrictEqual(READ_AND_WRITE)
    expect(await tripsOf(test, () => exchange(test, code))).toStrictEqual(READ_AND_WRITE)
    expect(await tripsOf(test, () => exchange(test, code))).toStrictEqual(READ)
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
    const native = await authorize(test, { client_id: 'native', redirect_uri: NATIVE_CALLBACK, ...pkce })
    const step = () => exchange(test, native.code, { code_verifier: VERIFIER }, NATIVE)
    expect(await tripsOf(test, step)).toStrictEqual(READ_AND_WRITE)
  })

  it('refresh: 1 read and 1 write; retried: 1 read; replayed: 1 read and the write that revokes', async () => {
    const test = await watchedServer()
    const { refresh_token } = await tokens(test)
    expect(await tripsOf(test, () => refresh(test, refresh_token))).toStrictEqual(READ_AND_WRITE)
    expect(await tripsOf(test, () => refresh(test, refresh_token))).toStrictEqual(READ)
    test.clock.now += 300
    expect(await tripsOf(test, () => refresh(test, refresh_token))).toStrictEqual(READ_AND_WRITE)
    expect(await tripsOf(test, () => refresh(test, refresh_token))).toStrictEqual(READ)
  })

  it('a chain of refreshes costs no more at its end than at its beginning', async () => {
    const test = await watchedServer()
    let { refresh_token } = await tokens(test)
    for (let count = 0; count < 80; count++) {
      test.clock.now += 299
      const trips = await tripsOf(test, async () => {
        refresh_token = (await refresh(test, refresh_token)).body.refresh_token
      })
      expect(trips).toStrictEqual(READ_AND_WRITE)
    }
  })

  it('revoke: 1 read and 1 write; 1 read where there is nothing to revoke', async () => {
    const test = await watchedServer()
    const { access_token, refresh_token } = await tokens(test)
    expect(await tripsOf(test, () => revoke(test, access_token, {}, OTHER))).toStrictEqual(READ)
    expect(await tripsOf(test, () => revoke(test, 'malformed'))).toStrictEqual(READ)
    expect(await tripsOf(test, () => revoke(test, access_token))).toStrictEqual(READ_AND_WRITE)
    expect(await tripsOf(test, () => revoke(test, access_token))).toStrictEqual(READ)
    expect(await tripsOf(test, () => revoke(test, refresh_token))).toStrictEqual(READ_AND_WRITE)
    expect(await tripsOf(test, () => revoke(test, refresh_token))).toStrictEqual(READ)
  })

  it('a refused exchange, refresh or client: 1 read, and no grant is read for what is another client’s', async () => {
    const test = await watchedServer()
    const { code } = await authorize(test)
    const { refresh_token } = await tokens(test)
    const steps: [() => Promise<unknown>, number][] = [
      [() => exchange(test, code, { redirect_uri: 'https://app.example/other' }), 2],
      [() => exchange(test, code, {}, OTHER), 1],
      [() => exchange(test, 'malformed'), 1],
      [() => exchange(test, code, {}, { ...WEB, clientSecret: OTHER.clientSecret }), 2],
      [() => exchange(test, code, {}, { ...WEB, clientId: 'nobody' }), 1],
      [() => refresh(test, refresh_token, {}, OTHER), 1],
      [() => refresh(test, refresh_token, { scope: 'repo-delete:rw' }), 2],
      [() => refresh(test, refresh_token, { scope: 'unknown' }), 1],
      [() => post(test.server, '/oauth2/token', { grant_type: 'password' }, basic(WEB)), 1],
      [() => post(test.server, '/oauth2/token', {}, basic(WEB)), 1],
    ]
    for (const [step, keys] of steps) {
      expect(await tripsOf(test, step)).toStrictEqual(READ)
      expect(test.trips.keys).toHaveLength(keys)
    }
  })

  it('a request that is malformed, or whose client says nothing of itself: nothing', async () => {
    const test = await watchedServer()
    const { server } = test
    const requests: (() => Promise<HttpResponse>)[] = []
    for (const url of ['/oauth2/token', '/oauth2/revoke', '/oauth2/introspect']) {
      requests.push(
        () => post(server, url, 'a=b'),
        () => post(server, url, '%', basic(WEB)),
        () => post(server, url, 'client_id=web&client_id=web', basic(WEB)),
        () => post(server, url, 'client_id=other', basic(WEB)),
        () => post(server, url, 'client_secret=x', basic(WEB)),
        () => post(server, url, 'a=b', { authorization: 'Basic x' }),
        () => post(server, url, 'a=b', { authorization: [basic(WEB).authorization, 'x'] }),
        () => post(server, `${url}?client_id=web`, 'a=b', basic(WEB)),
        () => post(server, url, 'a=b', { ...basic(WEB), 'content-type': 'application/json' }),
        () => send(server, { method: 'POST', url, headers: basic(WEB), body: { type: 'too_large' } }),
        () => send(server, { method: 'GET', url, headers: basic(WEB) }),
      )
    }
    requests.push(
      () => send(server, { url: '/oauth2/auth' }),
      () => send(server, { url: '/oauth2/auth?client_id=a&client_id=b' }),
      () => send(server, { url: '/oauth2/auth?%' }),
      () => post(server, '/oauth2/auth', ''),
      () => post(server, '/oauth2/auth', 'request=%25'),
      () => post(server, '/oauth2/auth', 'decision=a&decision=b'),
      () => send(server, { url: '/oauth2/style.css' }),
      () => send(server, { url: '/.well-known/oauth-authorization-server' }),
    )
    for (const request of requests) expect(await tripsOf(test, request)).toStrictEqual(NONE)
  })

  it('a page of another origin: as many as any other client, and nothing for its preflight', async () => {
    const test = await watchedServer()
    for (const origin of ['https://app.example', 'https://evil.example', 'null']) {
      const ask = (url: string, form: Record<string, string>) => post(test.server, url, form, { ...basic(WEB), origin })
      const { refresh_token } = await tokens(test)
      const form = { grant_type: 'refresh_token', refresh_token }
      expect(await tripsOf(test, () => ask('/oauth2/token', form))).toStrictEqual(READ_AND_WRITE)
      expect(await tripsOf(test, () => ask('/oauth2/token', form))).toStrictEqual(READ)
      const revoked = () => ask('/oauth2/revoke', { token: refresh_token })
      expect(await tripsOf(test, revoked)).toStrictEqual(READ_AND_WRITE)
      expect(await tripsOf(test, () => ask('/oauth2/device_authorization', {}))).toStrictEqual({ reads: 4, writes: 3 })
      for (const url of ['/oauth2/token', '/oauth2/revoke', '/oauth2/device_authorization']) {
        const headers = { origin, 'access-control-request-method': 'POST' }
        expect(await tripsOf(test, () => send(test.server, { method: 'OPTIONS', url, headers }))).toStrictEqual(NONE)
      }
    }
  })

  it('the consent page: the application; its form: the application, and a transaction each for the decision and the grant', async () => {
    const test = await watchedServer()
    const { fields, headers } = await openConsent(test)
    const another = await openConsent(test)
    const url = authorizationUrl()
    expect(await tripsOf(test, () => send(test.server, { url }))).toStrictEqual(READ)
    const refuse = () => post(test.server, '/oauth2/auth', { ...another.fields, decision: 'refuse' }, another.headers)
    expect(await tripsOf(test, refuse)).toStrictEqual({ reads: 2, writes: 1 })
    const agree = () => post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    expect(await tripsOf(test, agree)).toStrictEqual({ reads: 3, writes: 2 })
    // Sent again, it writes nothing.
    expect(await tripsOf(test, agree)).toStrictEqual({ reads: 3, writes: 0 })
    // One read more, of the grants, once there are some.
    expect(await tripsOf(test, () => send(test.server, { url }))).toStrictEqual({ reads: 2, writes: 0 })
    test.session.user = undefined
    expect(await tripsOf(test, () => send(test.server, { url }))).toStrictEqual(READ)
    expect(await tripsOf(test, () => send(test.server, { url: `${url}&scope=x` }))).toStrictEqual(READ)
  })

  it('a logo: the application, and the logo unless it was read before', async () => {
    const test = await watchedServer()
    const { page } = await openConsent(test)
    const url = logoIn(page.body)
    expect(await tripsOf(test, () => send(test.server, { url }))).toStrictEqual({ reads: 2, writes: 0 })
    expect(await tripsOf(test, () => send(test.server, { url }))).toStrictEqual(READ)
    expect(await tripsOf(test, () => send(test.server, { url: '/oauth2/logo' }))).toStrictEqual(NONE)
  })

  it('consent once: 1 read more to find that nobody need be asked, and no more to remember', async () => {
    const test = await watchedServer({ consent: 'once' })
    const { fields, headers } = await openConsent(test)
    const agree = () => post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    expect(await tripsOf(test, agree)).toStrictEqual({ reads: 3, writes: 2 })
    const url = authorizationUrl()
    expect(await tripsOf(test, () => send(test.server, { url }))).toStrictEqual({ reads: 4, writes: 2 })
  })

  it('a poll: 1 read, of the application and the device together, and at most 1 write', async () => {
    const test = await watchedServer()
    const codes = await codesOf(test)
    const trips = (client = WEB) => tripsOf(test, () => poll(test, codes, client))
    expect(await trips()).toStrictEqual(READ_AND_WRITE) // pending
    expect(test.trips.keys).toStrictEqual([
      `application:${codes.device_code.slice(4, 20)}`,
      `grant:${parseCredential(codes.device_code)?.grantId}`,
    ])
    expect(await trips()).toStrictEqual(READ_AND_WRITE) // too soon
    expect(await trips(OTHER)).toStrictEqual(READ)
    expect(test.trips.keys).toHaveLength(1) // of another client’s, no device is read
    expect(await trips({ ...WEB, clientSecret: 'wrong' })).toStrictEqual(READ)
    await decide(test, codes)
    test.clock.now += 10
    expect(await trips()).toStrictEqual(READ_AND_WRITE) // tokens
    expect(await trips()).toStrictEqual(READ) // again
  })

  it('a poll that is refused for good: 1 read', async () => {
    const test = await watchedServer()
    const refused = await codesOf(test)
    const late = await codesOf(test)
    await decide(test, refused, 'refuse')
    expect(await tripsOf(test, () => poll(test, refused))).toStrictEqual(READ)
    test.clock.now += 600
    expect(await tripsOf(test, () => poll(test, late))).toStrictEqual(READ)
    expect(await tripsOf(test, () => poll(test, refused))).toStrictEqual(READ)
    test.clock.now += 600
    expect(await tripsOf(test, () => poll(test, late))).toStrictEqual(READ)
  })

  it('a device’s request: the application; then a read and a write each for the limit, the device and its user code; refused, 1 read', async () => {
    const test = await watchedServer()
    expect(await tripsOf(test, () => askForCodes(test))).toStrictEqual({ reads: 4, writes: 3 })
    expect(await tripsOf(test, () => askForCodes(test, { scope: 'unknown' }))).toStrictEqual(READ)
    expect(await tripsOf(test, () => askForCodes(test, {}, { clientId: 'web' }))).toStrictEqual(READ)
    const codes = await codesOf(test, {}, { clientId: 'native' })
    await test.server.applications.register(registration({ deviceFlow: false }), { ...WEB, clientId: 'plain' })
    const plain = { ...WEB, clientId: 'plain' }
    expect(await tripsOf(test, () => askForCodes(test, {}, plain))).toStrictEqual(READ)
    expect(await tripsOf(test, () => poll(test, codes, plain))).toStrictEqual(READ)
    for (const form of ['client_id=web&client_id=web', '%', 'scope=a&scope=a'])
      expect(await tripsOf(test, () => post(test.server, '/oauth2/device_authorization', form))).toStrictEqual(NONE)
  })

  it('the page of a user code: nothing to open; 1 read and 1 write for each limit, then 2 reads for an unknown or dead code', async () => {
    const test = await watchedServer({ remoteAddress: () => undefined })
    const { user_code } = await codesOf(test)
    expect(await tripsOf(test, () => openDevicePage(test, `user_code=${user_code}`))).toStrictEqual(NONE)
    const page = await openDevicePage(test)
    expect(await tripsOf(test, () => enter(test, page, 'WDJB-MJHT'))).toStrictEqual({ reads: 3, writes: 1 })
    const { keys: unknown } = test.trips
    expect(await tripsOf(test, () => enter(test, page, 'nonsense'))).toStrictEqual(READ_AND_WRITE)
    // The code, and the device with its application.
    expect(await tripsOf(test, () => enter(test, page, user_code))).toStrictEqual({ reads: 3, writes: 1 })
    const dead = await codesOf(test)
    await decide(test, dead, 'refuse')
    expect(await tripsOf(test, () => enter(test, page, dead.user_code))).toStrictEqual({ reads: 3, writes: 1 })
    // As many records too, of the same kinds.
    const kinds = (names: readonly string[]) => names.map((name) => name.split(':')[0])
    expect(kinds(test.trips.keys)).toStrictEqual(['attempts', 'user_code', 'application', 'grant', 'consent'])
    expect(kinds(unknown)).toStrictEqual(kinds(test.trips.keys))
    const known = await watchedServer({ remoteAddress: () => '192.0.2.1' })
    const same = await openDevicePage(known)
    expect(await tripsOf(known, () => enter(known, same, 'WDJB-MJHT'))).toStrictEqual({ reads: 4, writes: 2 })
    // Too many: one read says so.
    for (let count = 0; count < 10; count++) await enter(known, same, 'WDJB-MJHT')
    expect(await tripsOf(known, () => enter(known, same, 'WDJB-MJHT'))).toStrictEqual(READ)
  })

  it('a decision for a device: the device, its application, and a transaction each for the decision and the grant', async () => {
    const test = await watchedServer()
    const consent = await enterCode(test, (await codesOf(test)).user_code)
    const trips = (token: string) => tripsOf(test, () => decideOn(test, consent, 'agree', { consent: token }))
    expect(await trips('')).toStrictEqual(NONE)
    expect(await trips('x')).toStrictEqual({ reads: 2, writes: 0 })
    expect(await tripsOf(test, () => decideOn(test, consent))).toStrictEqual({ reads: 4, writes: 2 })
    expect(await tripsOf(test, () => decideOn(test, consent))).toStrictEqual({ reads: 2, writes: 0 })
    const refusal = await enterCode(test, (await codesOf(test)).user_code)
    expect(await tripsOf(test, () => decideOn(test, refusal, 'refuse'))).toStrictEqual({ reads: 3, writes: 1 })
  })

  it('do not grow with what the store holds', async () => {
    const test = await watchedServer()
    const { access_token, refresh_token } = await tokens(test)
    for (let count = 0; count < 49; count++) await tokens(test)
    expect(await tripsOf(test, () => call(test, access_token))).toStrictEqual(READ)
    expect(await tripsOf(test, () => refresh(test, refresh_token))).toStrictEqual(READ_AND_WRITE)
  })

  it('registration: 1 read and 1 write each for the logo and the application', async () => {
    const test = await watchedServer()
    const logo = gif(1, 1)
    const register = () => test.server.applications.register(registration({ logo }))
    expect(await tripsOf(test, register)).toStrictEqual({ reads: 2, writes: 2 })
    const scopes = ['repo-code:r']
    const api = () =>
      test.server.applications.registerResourceServer({ name: 'A', website: 'https://a.example', scopes })
    expect(await tripsOf(test, api)).toStrictEqual(READ_AND_WRITE)
    expect(await tripsOf(test, () => test.server.applications.get('web'))).toStrictEqual(READ)
    expect(await tripsOf(test, () => test.server.applications.suspend('web'))).toStrictEqual(READ_AND_WRITE)
    expect(await tripsOf(test, () => test.server.applications.suspend('web'))).toStrictEqual(READ)
    expect(await tripsOf(test, () => test.server.applications.reinstate('web'))).toStrictEqual(READ_AND_WRITE)
  })

  it('the life of an application: 1 read and 1 write each, 1 read more for a change, and the same again for each logo that comes or goes', async () => {
    const test = await watchedServer()
    const { applications } = test.server
    const scopes = [{ scope: 'repo-code:r', reason: 'To read' }]
    const { logo, ...rest } = { ...registration(), scopes }
    const twice = { reads: 2, writes: 2 }
    // A change is checked by what is registered.
    const change = async (more: object) => {
      const { reads, writes } = await tripsOf(test, () => applications.change('web', { ...rest, ...more }))
      return { reads: reads - 1, writes }
    }
    expect(await change({})).toStrictEqual(READ_AND_WRITE)
    expect(await tripsOf(test, () => applications.approve('web', { revision: 2 }))).toStrictEqual(READ_AND_WRITE)
    expect(await change({ logo })).toStrictEqual(twice)
    expect(await change({ logo })).toStrictEqual({ reads: 3, writes: 3 })
    expect(await tripsOf(test, () => applications.approve('web', { revision: 4 }))).toStrictEqual(twice)
    expect(await tripsOf(test, () => applications.approve('web', { revision: 4 }).catch(() => {}))).toStrictEqual(READ)
    expect(await tripsOf(test, () => applications.rotateSecret('web'))).toStrictEqual(READ_AND_WRITE)
    let id = ''
    const submit = async () => {
      id = (await applications.submit({ ...rest, logo })).id
    }
    expect(await tripsOf(test, submit)).toStrictEqual(twice)
    const reject = () => applications.reject(id, { revision: 1, reason: 'No' })
    expect(await tripsOf(test, reject)).toStrictEqual(twice)
    for (const name of ['', 'x', id.slice(1), `${id}A`, '__proto__', 'web'])
      expect(await tripsOf(test, () => applications.logo(name))).toStrictEqual(NONE)
    expect(await tripsOf(test, () => applications.logo(id))).toStrictEqual(READ)
    test.forget()
    await applications.list({ state: 'rejected' })
    expect(test.trips).toMatchObject({ reads: 0, writes: 0, lists: 1 })
  })

  it('making a server asks the store nothing', async () => {
    const store = {
      read: () => expect.fail('read'),
      write: () => expect.fail('written'),
      list: () => expect.fail('listed'),
    }
    await expect(testServer({ store })).rejects.toThrow()
  })
})
