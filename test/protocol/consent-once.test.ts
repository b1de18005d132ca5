/**
 * When nobody is asked: the option that remembers a consent.
 * @module
 * @see DESIGN, "consent"; RFC 8252, section 8.6
 */
import type { AuthorizationServerOptions, JsonValue } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { answer, grantsOf, inaccessible, watchedServer } from '../server/helpers.js'
import type { TestServer } from '../support.js'
import {
  authorizationUrl,
  authorize,
  call,
  exchange,
  NATIVE_CALLBACK,
  openConsent,
  post,
  refresh,
  revoke,
  send,
  testServer,
  tokens,
  WEB_CALLBACK,
} from '../support.js'
import { changeApplication, PKCE, withItems } from './consent-form.js'

describe('DESIGN: consent once', () => {
  const once: Partial<AuthorizationServerOptions> = { consent: 'once' }

  /** Whether a request is answered with a code at once, and with which. */
  async function silent(test: TestServer, parameters: Record<string, string | undefined> = {}) {
    const response = await send(test.server, { url: authorizationUrl(parameters) })
    expect([200, 302]).toContain(response.status)
    return response.status === 302
      ? { code: new URL(response.headers['Location'] ?? '').searchParams.get('code') ?? '', response }
      : undefined
  }

  it('is not the default: every request is asked', async () => {
    const test = await testServer()
    await tokens(test)
    expect(await silent(test)).toBeUndefined()
  })

  it('a live grant that covers what is asked: a code at once, with its resources', async () => {
    const test = await testServer({ ...once, ...withItems })
    expect(await silent(test)).toBeUndefined()
    await authorize(test, {}, { resource_scope: 'specified', resource: 'repo/1' })
    const answered = await silent(test, { state: 's', scope: 'repo-code:r' })
    expect(answered?.response).toStrictEqual(answer(WEB_CALLBACK, { code: answered?.code, state: 's' }))
    const { body } = await exchange(test, answered?.code ?? '')
    expect(body.scope).toBe('repo-code:r')
    expect(await call(test, body.access_token)).toMatchObject({ resources: { kind: 'specified', ids: ['repo/1'] } })
  })

  it('every request makes a grant of its own: revoking one leaves the other', async () => {
    const test = await testServer(once)
    const first = await tokens(test)
    const { body: second } = await exchange(test, (await silent(test))?.code ?? '')
    await revoke(test, second.refresh_token)
    expect((await call(test, first.access_token)).type).toBe('authenticated')
    expect((await call(test, second.access_token)).type).toBe('refused')
    expect(await silent(test)).toBeDefined()
  })

  it('a HEAD makes no grant: it is answered with the page', async () => {
    const test = await testServer(once)
    await tokens(test)
    const before = test.events.length
    expect((await send(test.server, { method: 'HEAD', url: authorizationUrl() })).status).toBe(200)
    expect(test.events).toHaveLength(before)
  })

  it('asks the user of a public client every time (RFC 8252, 8.6)', async () => {
    const test = await testServer(once)
    const request = { client_id: 'native', redirect_uri: NATIVE_CALLBACK, ...PKCE }
    await authorize(test, request)
    expect(await silent(test, request)).toBeUndefined()
  })

  it.each([
    ['what is asked is wider', 'account-profile:r', undefined],
    ['what is asked is another', 'account-profile:r', 'repo-code:r'],
    ['read-write is asked where read-only was granted', 'repo-code:r', 'repo-code:rw'],
  ])('asks where %s', async (_how, first, second) => {
    const test = await testServer(once)
    await authorize(test, { scope: first })
    expect(await silent(test, { scope: first })).toBeDefined()
    expect(await silent(test, { scope: second })).toBeUndefined()
  })

  it('asks where the answer goes elsewhere than it went before', async () => {
    const test = await testServer(once)
    await authorize(test)
    const elsewhere = { redirect_uri: 'https://app.example/users/eve/page.html' }
    expect(await silent(test, elsewhere)).toBeUndefined()
    expect(await silent(test)).toBeDefined()
    await authorize(test, elsewhere)
    expect(await silent(test, elsewhere)).toBeDefined()
  })

  it.each([
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, true],
    [{}, true],
    [{ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, false],
    [{ 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }, false],
    [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, false],
    [{ 'sec-fetch-mode': ['navigate', 'cors'] }, false],
  ])('makes a grant for a page that is opened, and for nothing in the background: %j', async (headers, isSilent) => {
    const test = await testServer(once)
    await tokens(test)
    const response = await send(test.server, { url: authorizationUrl(), headers })
    expect(response.status).toBe(isSilent ? 302 : 200)
    expect(await grantsOf(test.store)).toHaveLength(isSilent ? 2 : 1)
  })

  it.each([
    { 'sec-purpose': 'prefetch' },
    { 'sec-purpose': 'prefetch;prerender' },
    { 'sec-purpose': ['prefetch', 'prefetch'] },
    { purpose: 'prefetch' },
    { 'x-purpose': 'preview' },
    { 'x-moz': 'Prefetch' },
  ])('answers a browser that asks ahead of its user with nothing, which makes no grant: %j', async (ahead) => {
    const test = await testServer(once)
    await tokens(test)
    const { events } = test
    const before = events.length
    for (const method of ['GET', 'HEAD']) {
      const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none', ...ahead }
      const response = await send(test.server, { method, url: authorizationUrl(), headers })
      expect(response).toStrictEqual({
        status: 503,
        headers: { 'Cache-Control': 'no-store', Pragma: 'no-cache' },
        body: '',
      })
    }
    expect(await grantsOf(test.store)).toHaveLength(1)
    expect(events.slice(before)).toStrictEqual([])
    expect(await silent(test)).toBeDefined()
  })

  it('ends no grant that the user agreed to for those that nobody asked about', async () => {
    const test = await testServer({ ...once, grantLimit: 3 })
    const agreed = [await tokens(test, { scope: 'account-profile:r' }), await tokens(test)]
    const silently: string[] = []
    for (let count = 0; count < 5; count++) {
      const { body } = await exchange(test, (await silent(test))?.code ?? '')
      silently.push(body.access_token)
    }
    const all = [...agreed.map(({ access_token }) => access_token), ...silently]
    const found = await Promise.all(all.map(async (token) => (await call(test, token)).type === 'authenticated'))
    expect(found).toStrictEqual([true, true, false, false, false, false, true])
  })

  it('ends last the grant by which the question is spared, also behind newer ones', async () => {
    const test = await testServer({ ...once, grantLimit: 2 })
    const spares = await tokens(test)
    test.clock.now += 1
    const { code } = await authorize(test, { redirect_uri: 'https://app.example/two' })
    const newer = (await exchange(test, code)).body
    expect(await silent(test)).toBeDefined()
    const found = await Promise.all([spares, newer].map(async (pair) => (await call(test, pair.access_token)).type))
    expect(found).toStrictEqual(['authenticated', 'refused'])
    expect(await silent(test)).toBeDefined()
  })

  it('tells the audit trail that nobody was asked', async () => {
    const test = await testServer(once)
    await authorize(test)
    expect(await silent(test)).toBeDefined()
    const issued = test.events.filter(({ type }) => type === 'issued')
    expect(issued.map((event) => 'unasked' in event && event.unasked)).toStrictEqual([false, true])
  })

  it('asks another user, and for another application', async () => {
    const test = await testServer(once)
    await tokens(test)
    const other = { client_id: 'other', redirect_uri: 'https://other.example/callback' }
    expect(await silent(test, other)).toBeUndefined()
    test.session.user = { subject: 'eve' }
    expect(await silent(test)).toBeUndefined()
  })

  it('asks where the grant was revoked, by its client or after a replay', async () => {
    const test = await testServer(once)
    await revoke(test, (await tokens(test)).refresh_token)
    expect(await silent(test)).toBeUndefined()
    const { code } = await authorize(test)
    await exchange(test, code)
    expect(await silent(test)).toBeDefined()
    await exchange(test, code)
    expect(await silent(test)).toBeUndefined()
  })

  it('does not ask where only an access token was revoked: its grant lives', async () => {
    const test = await testServer(once)
    await revoke(test, (await tokens(test)).access_token)
    expect(await silent(test)).toBeDefined()
  })

  it('asks where the user refused, and where nobody agreed', async () => {
    const test = await testServer(once)
    await authorize(test, {}, { decision: 'refuse' })
    expect(await silent(test)).toBeUndefined()
  })

  it('a grant whose code was not exchanged lives as long as the code, to the second', async () => {
    const test = await testServer(once)
    await authorize(test)
    test.clock.now += 599
    expect(await silent(test)).toBeDefined()
    test.clock.now += 1
    expect(await silent(test)).toBeUndefined()
  })

  it('a grant lives as long as its refresh token, to the second', async () => {
    const test = await testServer({ ...once, refreshTokenLifetime: 100_000 })
    await tokens(test)
    test.clock.now += 99_999
    expect(await silent(test)).toBeDefined()
    test.clock.now += 1
    expect(await silent(test)).toBeUndefined()
  })

  it('a grant that was refreshed lives as long as its last refresh token, where the store still knows', async () => {
    const test = await testServer({ ...once, refreshTokenLifetime: 1000, accessTokenLifetime: 10 })
    const first = await tokens(test)
    test.clock.now += 900
    await refresh(test, first.refresh_token)
    test.clock.now += 99
    expect(await silent(test)).toBeDefined()
    // What the user agreed to is remembered for one such lifetime, and no longer.
    test.clock.now += 1
    expect(await silent(test)).toBeUndefined()
  })

  it('does not depend on the store to forget', async () => {
    const test = await watchedServer({ ...once, refreshTokenLifetime: 100_000 })
    test.instead.write = (key, value, { expected }) => test.store.write(key, value, { expected })
    await authorize(test)
    test.clock.now += 599
    expect(await silent(test)).toBeDefined()
    test.clock.now += 1
    expect(await silent(test)).toBeUndefined()
    const at = test.clock.now
    await tokens(test)
    test.clock.now = at + 99_999
    expect(await silent(test)).toBeDefined()
    test.clock.now = at + 100_000
    expect(await silent(test)).toBeUndefined()
  })

  it('a record that says that its grant was revoked is not live, whatever else it says', async () => {
    const test = await testServer(once)
    await tokens(test)
    const [{ key, value, version } = expect.fail()] = (await test.store.list('subject:ada')).records
    const revoked = { ...(value as Record<string, JsonValue>), revokedAt: test.clock.now } // a grant is an object
    await test.store.write(key, revoked, { expected: version })
    expect(await silent(test)).toBeUndefined()
  })

  it('a grant that nobody was asked for is forgotten with its code, where that is not exchanged', async () => {
    const test = await testServer({ ...once, codeLifetime: 5 })
    await tokens(test)
    expect(await silent(test)).toBeDefined()
    expect(await grantsOf(test.store)).toHaveLength(2)
    test.clock.now += 5
    expect(await grantsOf(test.store)).toHaveLength(1)
  })

  it('a grant whose record has expired or is gone does not count', async () => {
    const test = await watchedServer(once)
    await tokens(test)
    test.instead.read = (keys) => (keys[0]?.startsWith('grant:') ? [undefined] : test.store.read(keys))
    expect(await silent(test)).toBeUndefined()
  })

  it('asks where the application may no longer have such resources', async () => {
    const test = await testServer({ ...once, ...withItems })
    await authorize(test)
    await changeApplication(test, { resourceScope: 'public' })
    expect(await silent(test)).toBeUndefined()
  })

  it('asks where the store cannot tell', async () => {
    // The record of the consents is read together with the application.
    const test = await watchedServer(once)
    await tokens(test)
    test.instead.read = (keys) => {
      if (keys[0]?.startsWith('grant:')) throw new Error('down')
      return test.store.read(keys)
    }
    expect(await silent(test)).toBeUndefined()
    expect(test.errors).toStrictEqual([new Error('down')])
  })

  it('a store that cannot remember the consent makes no grant, and a retry does', async () => {
    const test = await watchedServer(once)
    test.instead.write = (key, value, options) => {
      if (key.startsWith('consent:')) throw new Error('down')
      return test.store.write(key, value, options)
    }
    const { fields, headers } = await openConsent(test)
    const agree = () => post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    expect((await agree()).status).toBe(503)
    expect(await grantsOf(test.store)).toStrictEqual([])
    test.instead.write = undefined
    expect((await agree()).status).toBe(302)
    expect(await silent(test)).toBeDefined()
  })

  it('[26] a suspended application gets no code at once either', async () => {
    const test = await testServer(once)
    await tokens(test)
    await test.server.applications.suspend('web')
    expect(await send(test.server, { url: authorizationUrl() })).toStrictEqual(inaccessible())
  })
})
