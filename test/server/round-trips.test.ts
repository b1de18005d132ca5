/**
 * How often the store is asked: the bar of the design, counted.
 * @module
 * @see DESIGN, "Cost, which is also the bar"
 */
import type { HttpResponse } from 'grantwell'
import { describe, expect, it } from 'vitest'
import {
  authorizationUrl,
  authorize,
  basic,
  CHALLENGE,
  call,
  exchange,
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
import type { WatchedServer } from './helpers.js'
import { watchedServer } from './helpers.js'

/** Counts the trips of one step; a list is never read on a request path. */
async function tripsOf(test: WatchedServer, step: () => Promise<unknown>): Promise<{ reads: number; writes: number }> {
  test.forget()
  await step()
  const { reads, writes, lists } = test.trips
  expect(lists).toBe(0)
  return { reads, writes }
}

const NONE = { reads: 0, writes: 0 }
const READ = { reads: 1, writes: 0 }
const READ_AND_WRITE = { reads: 1, writes: 1 }

describe('DESIGN: trips to the store', () => {
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
      const step = () => test.server.authenticate({ headers: { authorization } })
      expect(await tripsOf(test, step)).toStrictEqual(NONE)
    }
    const twice = [`Bearer ${access_token}`, `Bearer ${access_token}`]
    expect(await tripsOf(test, () => test.server.authenticate({ headers: { authorization: twice } }))).toStrictEqual(
      NONE,
    )
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
    for (const url of ['/oauth2/token', '/oauth2/revoke']) {
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

  it('the consent page: the application, and its logo; its form: the application, and the one transaction', async () => {
    const test = await watchedServer()
    const { fields, headers } = await openConsent(test)
    const url = authorizationUrl()
    expect(await tripsOf(test, () => send(test.server, { url }))).toStrictEqual({ reads: 2, writes: 0 })
    const refuse = () => post(test.server, '/oauth2/auth', { ...fields, decision: 'refuse' }, headers)
    expect(await tripsOf(test, refuse)).toStrictEqual(READ)
    const agree = () => post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    expect(await tripsOf(test, agree)).toStrictEqual({ reads: 2, writes: 1 })
    test.session.user = undefined
    expect(await tripsOf(test, () => send(test.server, { url }))).toStrictEqual(READ)
    expect(await tripsOf(test, () => send(test.server, { url: `${url}&scope=x` }))).toStrictEqual(READ)
  })

  it('consent once: 2 reads more to find that nobody need be asked, 1 read and 1 write more to remember', async () => {
    const test = await watchedServer({ consent: 'once' })
    const { fields, headers } = await openConsent(test)
    const agree = () => post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    expect(await tripsOf(test, agree)).toStrictEqual({ reads: 3, writes: 2 })
    const url = authorizationUrl()
    expect(await tripsOf(test, () => send(test.server, { url }))).toStrictEqual({ reads: 4, writes: 1 })
  })

  it('do not grow with what the store holds', async () => {
    const test = await watchedServer()
    const { access_token, refresh_token } = await tokens(test)
    for (let count = 0; count < 50; count++) await tokens(test)
    expect(await tripsOf(test, () => call(test, access_token))).toStrictEqual(READ)
    expect(await tripsOf(test, () => refresh(test, refresh_token))).toStrictEqual(READ_AND_WRITE)
  })

  it('registration: 1 read and 1 write each for the logo and the application; a known logo is not written again', async () => {
    const test = await watchedServer()
    const logo = Uint8Array.from('GIF89a another', (character) => character.charCodeAt(0))
    const register = () => test.server.applications.register(registration({ logo }))
    expect(await tripsOf(test, register)).toStrictEqual({ reads: 2, writes: 2 })
    expect(await tripsOf(test, register)).toStrictEqual({ reads: 2, writes: 1 })
    expect(await tripsOf(test, () => test.server.applications.get('web'))).toStrictEqual(READ)
    expect(await tripsOf(test, () => test.server.applications.suspend('web'))).toStrictEqual(READ_AND_WRITE)
    expect(await tripsOf(test, () => test.server.applications.suspend('web'))).toStrictEqual(READ)
    expect(await tripsOf(test, () => test.server.applications.reinstate('web'))).toStrictEqual(READ_AND_WRITE)
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
