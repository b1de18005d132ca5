/**
 * The option `grantLimit`: beyond a number of live grants of one user to one application the oldest ends.
 * @module
 * @see DESIGN, "bounds"
 */
import type { HttpResponse } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { parseCredential } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { codesOf, decide, decideOn, enterCode, poll } from '../protocol/device-form.js'
import type { TestServer } from '../support.js'
import {
  authorize,
  call,
  exchange,
  ISSUER,
  laterServer,
  OTHER,
  openConsent,
  post,
  revoke,
  START,
  testServer,
  tokens,
  works,
} from '../support.js'
import { busyPage, grantsOf, StoreFailure, watchedServer } from './helpers.js'

/** Which of several tokens work. */
async function working(test: TestServer, all: readonly { readonly access_token: string }[]): Promise<string> {
  const found = await Promise.all(all.map(({ access_token }) => works(test, access_token)))
  return found.map((each) => (each ? 'y' : 'n')).join('')
}

/** Agrees by an open form. */
function agreeBy(
  test: TestServer,
  { fields, headers }: Awaited<ReturnType<typeof openConsent>>,
): Promise<HttpResponse> {
  return post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
}

function codeIn({ headers }: HttpResponse): string {
  return new URL(headers['Location'] ?? 'none:').searchParams.get('code') ?? ''
}

describe('grantLimit', () => {
  it('ends the oldest grant for a new one, says so once, and leaves it on no list', async () => {
    const test = await testServer({ grantLimit: 2 })
    const all = [await tokens(test), await tokens(test)]
    test.events.length = 0
    all.push(await tokens(test))
    const told = test.events.slice()
    expect(await working(test, all)).toBe('nyy')
    expect(told.map((event) => (event.type === 'revoked' ? event.cause : event.type))).toStrictEqual([
      'limit',
      'issued',
      'exchanged',
    ])
    expect(await grantsOf(test.store)).toHaveLength(2)
  })

  it('counts what lives: a grant that is over leaves first, whatever its age', async () => {
    const test = await testServer({ grantLimit: 3 })
    const all = [await tokens(test), await tokens(test), await tokens(test)]
    await revoke(test, all[1]?.refresh_token ?? '')
    all.push(await tokens(test))
    expect(await working(test, all)).toBe('ynyy')
    all.push(await tokens(test))
    expect(await working(test, all)).toBe('nnyyy')
  })

  it('counts codes that nobody exchanged, until they expire', async () => {
    const test = await testServer({ grantLimit: 2 })
    const first = await tokens(test)
    await authorize(test)
    test.clock.now += 600
    const second = await tokens(test)
    expect(await working(test, [first, second])).toBe('yy')
    await authorize(test)
    expect(await working(test, [first, second])).toBe('ny')
  })

  it('holds for each user and each application apart', async () => {
    const test = await testServer({ grantLimit: 1 })
    const mine = await tokens(test)
    const other = await authorize(test, { client_id: 'other', redirect_uri: 'https://other.example/callback' })
    const { body } = await exchange(test, other.code, {}, OTHER)
    test.session.user = { subject: 'bob' }
    const bobs = await tokens(test)
    expect(await working(test, [mine, body, bobs])).toBe('yyy')
  })

  it('counts devices as well', async () => {
    const test = await testServer({ grantLimit: 2 })
    const all = []
    for (let device = 0; device < 3; device++) {
      const codes = await codesOf(test)
      await decideOn(test, await enterCode(test, codes.user_code))
      all.push((await poll(test, codes)).body)
    }
    expect(await working(test, all)).toBe('nyy')
  })

  it('never ends the grant of another user who was quicker to agree to the same device', async () => {
    const test = await testServer({ grantLimit: 1 })
    const codes = await codesOf(test)
    const adas = await enterCode(test, codes.user_code)
    test.session.user = { subject: 'bob' }
    const bobs = await enterCode(test, codes.user_code)
    expect((await decideOn(test, bobs)).status).toBe(200)
    const { access_token } = (await poll(test, codes)).body
    test.session.user = { subject: 'ada', name: 'Ada' }
    expect((await decideOn(test, adas)).status).toBe(400)
    await tokens(test)
    await tokens(test)
    expect(await call(test, access_token)).toMatchObject({ type: 'authenticated', subject: 'bob' })
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('holds where many agree at once: run %i', async () => {
    const test = await laterServer({ grantLimit: 3 })
    const forms = []
    for (let form = 0; form < 12; form++) forms.push(await openConsent(test))
    const responses = await Promise.all(
      forms.map(({ fields, headers }) => post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)),
    )
    // Whoever did not get through is told to try again, and may.
    for (const [index, { status }] of responses.entries()) {
      const { fields, headers } = forms[index] ?? expect.fail()
      expect([302, 400, 503]).toContain(status)
      if (status === 503) await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    }
    const { grants } = await test.server.grants.listGrants('ada')
    expect(grants.length).toBeLessThanOrEqual(3)
    expect(await grantsOf(test.store)).toHaveLength(grants.length)
  })

  it('never ends in the list alone what is about to be written: whoever comes meanwhile waits', async () => {
    const test = await watchedServer({ grantLimit: 1 })
    const [first, second] = [await openConsent(test), await openConsent(test)]
    const agree = ({ fields, headers }: typeof first) =>
      post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    const meanwhile: number[] = []
    test.instead.write = async (key, value, options) => {
      if (key.startsWith('grant:')) {
        test.instead.write = undefined
        meanwhile.push((await agree(second)).status)
      }
      return test.store.write(key, value, options)
    }
    expect((await agree(first)).status).toBe(302)
    expect(meanwhile).toStrictEqual([503])
    expect((await test.server.grants.listGrants('ada')).grants).toHaveLength(1)
    expect((await agree(second)).status).toBe(302)
    expect((await test.server.grants.listGrants('ada')).grants).toHaveLength(1)
    // One that was never written gives way after a while.
    const third = await openConsent(test)
    test.instead.write = (key, value, options) => {
      if (key.startsWith('grant:')) throw new StoreFailure()
      return test.store.write(key, value, options)
    }
    expect((await agree(third)).status).toBe(503)
    test.instead.write = undefined
    test.clock.now += 300
    expect((await authorize(test)).response.status).toBe(302)
  })

  it('ends a grant that is written 300 seconds after its decision, where a newer one took its place meanwhile', async () => {
    const test = await watchedServer({ grantLimit: 1 })
    const [first, second] = [await openConsent(test), await openConsent(test)]
    test.instead.write = async (key, value, options) => {
      if (!key.startsWith('grant:')) return test.store.write(key, value, options)
      let written: boolean | Promise<boolean> = false
      test.clock.now += 300
      test.instead.write = async (...other) => {
        const isStored = await test.store.write(...other)
        // The newer decision is stored, and its grant is not made yet.
        test.instead.write = undefined
        written = test.store.write(key, value, options)
        return isStored
      }
      expect((await agreeBy(test, second)).status).toBe(302)
      return written
    }
    const late = codeIn(await agreeBy(test, first))
    expect((await exchange(test, late)).status).toBe(400)
    expect((await test.server.grants.listGrants('ada')).grants).toHaveLength(1)
    expect(test.events.filter(({ type }) => type === 'revoked')).toMatchObject([{ cause: 'limit' }])
  })

  it('lets a user agree to a device again whose grant could not be written, and does not take that for the decision before', async () => {
    const test = await watchedServer({ grantLimit: 2 })
    const codes = await codesOf(test)
    const device = await enterCode(test, codes.user_code)
    const deviceKey = `grant:${parseCredential(codes.device_code)?.grantId}`
    test.instead.write = (key, value, options) => {
      if (key === deviceKey) throw new StoreFailure()
      return test.store.write(key, value, options)
    }
    expect((await decideOn(test, device)).status).toBe(503)
    test.instead.write = undefined
    const oldest = await tokens(test)
    test.clock.now += 300
    const form = await openConsent(test)
    let again: HttpResponse | undefined
    test.instead.write = async (key, value, options) => {
      const isStored = await test.store.write(key, value, options)
      // The form has taken the place of the device, which comes again before anything of it is removed.
      if (key.startsWith('consent:') && again === undefined) {
        test.instead.write = undefined
        again = await decideOn(test, device)
      }
      return isStored
    }
    expect((await agreeBy(test, form)).status).toBe(302)
    expect(again?.status).toBe(200)
    const { body } = await poll(test, codes)
    expect(await working(test, [oldest, body])).toBe('ny')
    expect((await test.server.grants.listGrants('ada')).grants).toHaveLength(2)
  })

  it('ends nothing for an agreement that is refused since there were too many decisions', async () => {
    const test = await testServer({ grantLimit: 2 })
    const all = [await tokens(test), await tokens(test)]
    for (let form = 0; form < 1000; form++) {
      const { fields, headers } = await openConsent(test)
      await post(test.server, '/oauth2/auth', { ...fields, decision: 'refuse' }, headers)
    }
    expect((await authorize(test)).response.status).toBe(429)
    expect(await working(test, all)).toBe('yy')
  })

  it('keeps what it ended for as long as a form could make it once more, and forgets it then', async () => {
    const test = await watchedServer({ grantLimit: 1 })
    const { access_token } = await tokens(test)
    const key = `grant:${parseCredential(access_token)?.grantId}`
    test.clock.now += 100
    await tokens(test)
    test.clock.now += 199
    expect(await test.store.read([key])).toMatchObject([{ value: { revokedAt: START + 100 } }])
    test.clock.now += 1
    expect(await test.store.read([key])).toStrictEqual([undefined])
    // Nobody makes the grant of a device that is gone.
    const codes = await codesOf(test)
    await decide(test, codes)
    await tokens(test)
    expect(await test.store.read([`grant:${parseCredential(codes.device_code)?.grantId}`])).toStrictEqual([undefined])
  })

  it('[49] a store that fails at any step: 503, never more grants than the limit, and the form may be sent again', async () => {
    let at = 0
    for (let failed = true; failed; at++) {
      const test = await watchedServer({ grantLimit: 1 })
      const first = await tokens(test)
      const { fields, headers } = await openConsent(test)
      const agree = () => post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
      let calls = 0
      const failing = (): void => {
        if (calls++ === at) throw new StoreFailure()
      }
      test.instead.read = (keys) => {
        failing()
        return test.store.read(keys)
      }
      test.instead.write = (key, value, options) => {
        failing()
        return test.store.write(key, value, options)
      }
      const response = await agree()
      failed = calls > at
      const isRemoval = response.status === 302
      expect(response).toStrictEqual(failed && !isRemoval ? busyPage(503) : expect.objectContaining({ status: 302 }))
      Object.assign(test.instead, { read: undefined, write: undefined })
      expect((await test.server.grants.listGrants('ada')).grants.length).toBeLessThanOrEqual(1)
      const again = await agree()
      expect(again.status).toBe(302)
      expect(again).toStrictEqual(isRemoval ? response : again)
      expect(await works(test, first.access_token)).toBe(false)
      expect((await test.server.grants.listGrants('ada')).grants).toHaveLength(1)
    }
    // The application, the decision (read, then read and written), the grant that ends (read, then read and written), and the
    // new one. What ended is removed besides, and nobody minds where that fails.
    expect(at - 1).toBe(11)
  })

  it('makes room whatever the limit was before: one agreement succeeds from every count to every limit', async () => {
    for (const before of [1, 3, 7]) {
      for (const after of [1, 2, 5, 7]) {
        const test = await testServer({ grantLimit: 7 })
        for (let grant = 0; grant < before; grant++) await tokens(test)
        const server = createAuthorizationServer({
          issuer: ISSUER,
          store: test.store,
          user: () => test.session.user,
          signInUrl: () => '/sign-in',
          clock: () => test.clock.now,
          grantLimit: after,
        })
        expect((await authorize({ ...test, server })).response.status, `${before} to ${after}`).toBe(302)
        const { grants } = await test.server.grants.listGrants('ada')
        expect(grants).toHaveLength(Math.min(before + 1, after))
      }
    }
  })

  it('ends codes that nobody exchanged before tokens that are in use, so that no number of links ends a session', async () => {
    const test = await testServer({ grantLimit: 5, consent: 'once' })
    const { access_token } = await tokens(test)
    for (let link = 0; link < 20; link++) await silently(test)
    expect(await works(test, access_token)).toBe(true)
    expect((await test.server.grants.listGrants('ada')).grants).toHaveLength(5)
  })

  it('spares the grant by which questions are spared', async () => {
    const test = await testServer({ grantLimit: 3, consent: 'once' })
    const first = await tokens(test)
    for (let day = 0; day < 10; day++) {
      const response = await test.server.handle(LINK)
      const code = new URL(response?.headers['Location'] ?? 'none:').searchParams.get('code') ?? ''
      expect((await exchange(test, code)).status).toBe(200)
    }
    expect(await works(test, first.access_token)).toBe(true)
  })

  it('holds for an application that nobody is asked about again', async () => {
    const test = await testServer({ grantLimit: 2, consent: 'once' })
    await tokens(test)
    for (let request = 0; request < 5; request++) {
      const { code } = await silently(test)
      expect((await exchange(test, code)).status).toBe(200)
    }
    expect((await test.server.grants.listGrants('ada')).grants).toHaveLength(2)
  })
})

const LINK = { method: 'GET', url: '/oauth2/auth?response_type=code&client_id=web', headers: {}, native: undefined }

/** The code of a request for which nobody is asked; by the form, where the consent has left. */
async function silently(test: TestServer): Promise<{ readonly code: string }> {
  const request = {
    method: 'GET',
    url: '/oauth2/auth?response_type=code&client_id=web',
    headers: {},
    native: undefined,
  }
  const response = await test.server.handle(request)
  const location = response?.headers['Location']
  return location === undefined ? authorize(test, {}) : { code: new URL(location).searchParams.get('code') ?? '' }
}

describe('the device authorization endpoint', () => {
  it('refuses an address that asks too often with 429, and others not', async () => {
    let address = '192.0.2.1'
    const test = await testServer({ remoteAddress: () => address })
    const ask = () => post(test.server, '/oauth2/device_authorization', { client_id: 'native' })
    for (let request = 0; request < 100; request++) expect((await ask()).status).toBe(200)
    const refused = await ask()
    expect([refused.status, refused.headers['Retry-After']]).toStrictEqual([429, '3'])
    expect(JSON.parse(refused.body)).toStrictEqual({
      error: 'temporarily_unavailable',
      error_description: 'Too many devices asked in too short a time.',
    })
    expect(test.events.at(-1)).toMatchObject({ endpoint: 'device_authorization', reason: 'too_many_attempts' })
    address = '192.0.2.2'
    expect((await ask()).status).toBe(200)
    address = '192.0.2.1'
    test.clock.now += 3
    expect((await ask()).status).toBe(200)
    expect((await ask()).status).toBe(429)
  })

  it('counts nothing that it refuses', async () => {
    const test = await watchedServer({ remoteAddress: () => '192.0.2.1' })
    for (const form of [{ client_id: 'nobody' }, { client_id: 'web' }, { client_id: 'native', scope: 'unknown' }])
      expect((await post(test.server, '/oauth2/device_authorization', form)).status).toBeGreaterThan(399)
    expect(test.trips.writes).toBe(0)
  })

  it('limits an application where no address is known, and asks a limiter of the host', async () => {
    const asked: unknown[] = []
    const known = await testServer({ remoteAddress: () => null })
    const ask = (test: TestServer) => post(test.server, '/oauth2/device_authorization', { client_id: 'native' })
    for (let request = 0; request < 1000; request++) await ask(known)
    expect((await ask(known)).status).toBe(429)
    const own = await testServer({
      remoteAddress: () => '192.0.2.1',
      deviceLimiter: (attempt) => asked.push(attempt) - 1,
    })
    expect((await ask(own)).status).toBe(200)
    const refused = await ask(own)
    expect([refused.status, refused.headers['Retry-After']]).toStrictEqual([429, '1'])
    expect(asked).toStrictEqual(Array(2).fill({ clientId: 'native', address: '192.0.2.1' }))
    const broken = await testServer({ deviceLimiter: (() => undefined) as unknown as () => number }) // as a host without types may
    expect((await ask(broken)).status).toBe(500)
    expect(broken.errors).toHaveLength(1)
  })
})
