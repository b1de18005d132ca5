/**
 * What users permitted: listed, and taken back by them or by an administrator.
 * @module
 * @see Specification, section 3 (revoked: "Invalid immediately")
 */
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../support.js'
import {
  authorize,
  basic,
  call,
  exchange,
  hiddenFields,
  laterServer,
  OTHER,
  post,
  refresh,
  registration,
  revoke,
  START,
  send,
  testServer,
  tokens,
  WEB,
} from '../support.js'
import { watchedServer } from './helpers.js'

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** Makes so many unredeemed grants of the user who is signed in. */
async function manyGrants(test: TestServer, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await authorize(test)
}

async function grantIdsOf(test: TestServer, subject = 'ada'): Promise<readonly string[]> {
  const { grants } = await test.server.grants.listGrants(subject, { limit: 1000 })
  return grants.map(({ grantId }) => grantId)
}

/** Another user's token. */
async function bobsTokens(test: TestServer) {
  test.session.user = { subject: 'bob' }
  const found = await tokens(test)
  test.session.user = { subject: 'ada', name: 'Ada' }
  return found
}

describe('listGrants: what a user permitted', () => {
  it('nothing yet', async () => {
    const test = await testServer()
    expect(await test.server.grants.listGrants('ada')).toStrictEqual({ grants: [] })
  })

  it('tells the application, scopes, resources, when it was made and last used, and when it ends', async () => {
    const test = await testServer({ resources: () => [{ id: 'repo/1' }, { id: 'repo/2' }] })
    const { code } = await authorize(
      test,
      { scope: 'repo-code:r' },
      { resource_scope: 'specified', resource: 'repo/2' },
    )
    const grant = {
      grantId: expect.stringMatching(/^[\w-]{22}$/),
      clientId: 'web',
      application: { name: 'Sample', website: 'https://app.example', state: 'approved' },
      scopes: ['repo-code:r'],
      resources: { kind: 'specified', ids: ['repo/2'] },
      createdAt: START,
      expiresAt: START + 600,
    }
    expect(await test.server.grants.listGrants('ada')).toStrictEqual({ grants: [grant] })

    test.clock.now += 60
    const { body } = await exchange(test, code)
    const used = { ...grant, lastUsedAt: START + 60, expiresAt: START + 60 + 15_552_000 }
    expect(await test.server.grants.listGrants('ada')).toStrictEqual({ grants: [used] })

    test.clock.now += 3600
    await call(test, body.access_token)
    expect(await test.server.grants.listGrants('ada')).toStrictEqual({ grants: [used] })
    await refresh(test, body.refresh_token)
    const refreshed = { ...used, lastUsedAt: START + 3660, expiresAt: START + 3660 + 15_552_000 }
    expect(await test.server.grants.listGrants('ada')).toStrictEqual({ grants: [refreshed] })
  })

  it('the guard reports the same identifier', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    expect(await call(test, access_token)).toMatchObject({ grantId: (await grantIdsOf(test))[0] })
  })

  it('a grant is there to the last second of its refresh token, and an unredeemed code to its own', async () => {
    const test = await testServer({ refreshTokenLifetime: 40_000 })
    await tokens(test)
    await authorize(test)
    expect(await grantIdsOf(test)).toHaveLength(2)
    test.clock.now = START + 599
    expect(await grantIdsOf(test)).toHaveLength(2)
    test.clock.now = START + 600
    expect(await grantIdsOf(test)).toHaveLength(1)
    test.clock.now = START + 39_999
    expect(await grantIdsOf(test)).toHaveLength(1)
    test.clock.now = START + 40_000
    expect(await grantIdsOf(test)).toHaveLength(0)
  })

  it('what was revoked or replayed is not there, nor what another user permitted', async () => {
    const test = await testServer()
    await bobsTokens(test)
    const { refresh_token } = await tokens(test)
    const { code } = await authorize(test)
    await exchange(test, code)
    expect(await grantIdsOf(test)).toHaveLength(2)
    await revoke(test, refresh_token)
    expect(await grantIdsOf(test)).toHaveLength(1)
    await exchange(test, code)
    expect(await grantIdsOf(test)).toHaveLength(0)
    expect(await grantIdsOf(test, 'bob')).toHaveLength(1)
    expect(await grantIdsOf(test, 'ad')).toHaveLength(0)
  })

  it('a device that waits is nobody’s', async () => {
    const test = await testServer()
    await post(test.server, '/oauth2/device_authorization', { client_id: 'native' })
    expect(await grantIdsOf(test)).toHaveLength(0)
  })

  it('says that an application is suspended, and shows what a narrowed registration leaves', async () => {
    const test = await testServer()
    const { applications, grants } = test.server
    await tokens(test)
    await applications.suspend('web')
    const [suspended] = (await grants.listGrants('ada')).grants
    expect(suspended?.application.state).toBe('suspended')
    const { logo: _, ...amendment } = registration({ resourceScope: 'public' })
    const scopes = [{ scope: 'repo-code:r', reason: 'To read' }]
    const { revision } = await applications.change('web', { ...amendment, scopes })
    await applications.approve('web', { revision })
    const [narrowed] = (await grants.listGrants('ada')).grants
    expect(narrowed).toMatchObject({ scopes: ['repo-code:r'], resources: { kind: 'public' } })
  })

  it('comes page by page, each once', async () => {
    const test = await testServer()
    await manyGrants(test, 7)
    const all = await grantIdsOf(test)
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await test.server.grants.listGrants('ada', { limit: 3, ...(cursor !== undefined && { cursor }) })
      expect(page.grants.length).toBeLessThanOrEqual(3)
      found.push(...page.grants.map(({ grantId }) => grantId))
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(found.toSorted()).toStrictEqual(all.toSorted())
    expect(new Set(found).size).toBe(7)
  })

  it('is a copy: what the host does with it reaches no record', async () => {
    const test = await testServer({ resources: () => [{ id: 'repo/1' }] })
    const form = { resource_scope: 'specified', resource: 'repo/1' }
    await authorize(test, {}, form)
    const [grant] = (await test.server.grants.listGrants('ada')).grants
    // As a host without types could.
    const open = grant as unknown as { scopes: string[]; resources: { ids: string[] } }
    open.scopes.push('repo-delete:rw')
    open.resources.ids.push('repo/2')
    const [again] = (await test.server.grants.listGrants('ada')).grants
    expect(again).toMatchObject({
      scopes: ['repo-code:rw', 'account-profile:r'],
      resources: { kind: 'specified', ids: ['repo/1'] },
    })
  })

  it('a page is one list and one read, whatever is on it; an empty one reads nothing', async () => {
    const test = await watchedServer()
    await manyGrants(test, 5)
    test.forget()
    await test.server.grants.listGrants('ada')
    expect(test.trips).toMatchObject({ lists: 1, reads: 1, writes: 0 })
    test.forget()
    await test.server.grants.listGrants('nobody')
    expect(test.trips).toMatchObject({ lists: 1, reads: 0, writes: 0 })
  })
})

describe('countGrants: how many use an application', () => {
  it('counts what works: grants, users, and when one of them was last used', async () => {
    const test = await testServer()
    expect(await test.server.grants.countGrants('web')).toStrictEqual({ grants: 0, users: 0 })
    const { refresh_token } = await tokens(test)
    await tokens(test)
    await bobsTokens(test)
    test.clock.now += 60
    await refresh(test, refresh_token)
    expect(await test.server.grants.countGrants('web')).toStrictEqual({ grants: 3, users: 2, lastUsedAt: START + 60 })
    await test.server.grants.revokeAll('bob')
    expect(await test.server.grants.countGrants('web')).toStrictEqual({ grants: 2, users: 1, lastUsedAt: START + 60 })
    expect(await test.server.grants.countGrants('nobody')).toStrictEqual({ grants: 0, users: 0 })
  })

  it('counts page after page', async () => {
    const test = await testServer({ grantLimit: 200 })
    await manyGrants(test, 120)
    expect(await test.server.grants.countGrants('web')).toMatchObject({ grants: 120, users: 1 })
  })
})

describe('revokeGrant: one grant of a user', () => {
  it('stops every token of it at the next request, and nothing else', async () => {
    const test = await testServer()
    const first = await tokens(test)
    const second = await tokens(test)
    const [grantId = ''] = await grantIdsOf(test)
    const bobs = await bobsTokens(test)
    test.events.length = 0
    expect(await test.server.grants.revokeGrant('ada', grantId)).toBe(true)
    expect(await call(test, first.access_token)).toMatchObject({ type: 'refused' })
    expect((await refresh(test, first.refresh_token)).body.error).toBe('invalid_grant')
    expect(await call(test, second.access_token)).toMatchObject({ type: 'authenticated' })
    expect(await call(test, bobs.access_token)).toMatchObject({ type: 'authenticated' })
    expect(test.events[0]).toStrictEqual({
      type: 'revoked',
      what: 'grant',
      cause: 'user',
      at: START,
      grantId,
      clientId: 'web',
      subject: 'ada',
    })
  })

  it('ends a code that was not redeemed yet', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    const [grantId = ''] = await grantIdsOf(test)
    expect(await test.server.grants.revokeGrant('ada', grantId)).toBe(true)
    expect((await exchange(test, code)).body.error).toBe('invalid_grant')
    expect(await grantIdsOf(test)).toHaveLength(0)
  })

  it('another user’s grant is none of yours, however its identifier was found out', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const [grantId = ''] = await grantIdsOf(test)
    expect(await test.server.grants.revokeGrant('bob', grantId)).toBe(false)
    expect(await call(test, access_token)).toMatchObject({ type: 'authenticated' })
  })

  it.each(['', 'AAAAAAAAAAAAAAAAAAAAAA', '__proto__', 'x'.repeat(100_000), '\0'])(
    'there is none with the identifier %j',
    async (grantId) => {
      const test = await testServer()
      expect(await test.server.grants.revokeGrant('ada', grantId)).toBe(false)
    },
  )

  it('twice, or after it ended by itself: there is nothing to end', async () => {
    const test = await testServer()
    await tokens(test)
    const [grantId = ''] = await grantIdsOf(test)
    expect(await test.server.grants.revokeGrant('ada', grantId)).toBe(true)
    expect(await test.server.grants.revokeGrant('ada', grantId)).toBe(false)
    await authorize(test)
    const [unredeemed = ''] = await grantIdsOf(test)
    test.clock.now += 600
    expect(await test.server.grants.revokeGrant('ada', unredeemed)).toBe(false)
  })

  it('a remembered consent goes with it: the user is asked again', async () => {
    const test = await testServer({ consent: 'once' })
    await tokens(test)
    const url = '/oauth2/auth?response_type=code&client_id=web'
    const ask = () => send(test.server, { url })
    expect(await ask()).toMatchObject({ status: 302 })
    await test.server.grants.revokeAll('ada')
    expect(await ask()).toMatchObject({ status: 200 })
  })
})

describe('revokeAll: everything of a user', () => {
  it('ends all grants to all applications, page after page, and leaves those of others', async () => {
    const test = await testServer({ grantLimit: 1000 })
    await manyGrants(test, 230)
    const { code } = await authorize(test, { client_id: 'other', redirect_uri: 'https://other.example/callback' })
    const { body } = await exchange(test, code, {}, OTHER)
    const bobs = await bobsTokens(test)
    expect(await test.server.grants.revokeAll('ada')).toBe(231)
    expect(await test.server.grants.listGrants('ada', { limit: 1000 })).toStrictEqual({ grants: [] })
    expect(await call(test, body.access_token)).toMatchObject({ type: 'refused' })
    expect(await call(test, bobs.access_token)).toMatchObject({ type: 'authenticated' })
    expect(await test.server.grants.revokeAll('ada')).toBe(0)
  })

  it('or all grants to one application', async () => {
    const test = await testServer()
    const first = await tokens(test)
    await tokens(test)
    const { code } = await authorize(test, { client_id: 'other', redirect_uri: 'https://other.example/callback' })
    const { body } = await exchange(test, code, {}, OTHER)
    expect(await test.server.grants.revokeAll('ada', { clientId: 'web' })).toBe(2)
    expect(await call(test, first.access_token)).toMatchObject({ type: 'refused' })
    expect(await call(test, body.access_token)).toMatchObject({ type: 'authenticated' })
    expect(await test.server.grants.revokeAll('ada', { clientId: 'nobody' })).toBe(0)
  })

  it('ends what a user agreed to on a device that has not asked since', async () => {
    const test = await testServer()
    const device = await post(test.server, '/oauth2/device_authorization', {}, basic(WEB))
    const { device_code, user_code } = JSON.parse(device.body)
    const page = await send(test.server, { url: `/oauth2/device?user_code=${user_code}` })
    const cookie = page.headers['Set-Cookie']?.split(';')[0] ?? ''
    const consent = await post(test.server, '/oauth2/device', hiddenFields(page.body), { cookie })
    const form = { ...hiddenFields(consent.body), decision: 'agree', resource_scope: 'all' }
    expect((await post(test.server, '/oauth2/device', form, { cookie })).status).toBe(200)
    expect(await grantIdsOf(test)).toHaveLength(1)
    expect(await test.server.grants.revokeAll('ada')).toBe(1)
    const poll = await post(test.server, '/oauth2/token', { grant_type: DEVICE_GRANT, device_code }, basic(WEB))
    expect(JSON.parse(poll.body).error).toBe('access_denied')
  })
})

describe('revokeApplication: everything that an application was permitted', () => {
  it('ends the grants of all users to it, and of no other', async () => {
    const test = await testServer()
    const adas = await tokens(test)
    const bobs = await bobsTokens(test)
    const { code } = await authorize(test, { client_id: 'other', redirect_uri: 'https://other.example/callback' })
    const { body } = await exchange(test, code, {}, OTHER)
    test.events.length = 0
    expect(await test.server.grants.revokeApplication('web')).toBe(2)
    const causes = test.events.map((event) => event.type === 'revoked' && event.cause)
    expect(causes).toStrictEqual(['administrator', 'administrator'])
    for (const { access_token } of [adas, bobs])
      expect(await call(test, access_token)).toMatchObject({ type: 'refused' })
    expect(await call(test, body.access_token)).toMatchObject({ type: 'authenticated' })
  })

  it('interrupted half-way by a store that fails, and called again, finishes', async () => {
    const test = await watchedServer({ grantLimit: 1000 })
    await manyGrants(test, 250)
    const kept = await tokens(test)
    let left = 130
    test.instead.write = (...args) => {
      if (left-- <= 0) throw new Error('the store went away')
      return test.store.write(...args)
    }
    test.instead.read = (keys) => {
      if (left <= 0) throw new Error('the store went away')
      return test.store.read(keys)
    }
    await expect(test.server.grants.revokeApplication('web')).rejects.toMatchObject({ code: 'ERR_STORE' })
    test.instead.write = undefined
    test.instead.read = undefined
    const rest = await grantIdsOf(test)
    expect(rest.length).toBeGreaterThan(0)
    expect(rest.length).toBeLessThan(251)
    test.forget()
    expect(await test.server.grants.revokeApplication('web')).toBe(rest.length)
    expect(test.trips.writes).toBe(rest.length)
    expect(await grantIdsOf(test)).toHaveLength(0)
    expect(await call(test, kept.access_token)).toMatchObject({ type: 'refused' })
  })

  it('while the application goes on refreshing, nothing that was there before escapes', async () => {
    const test = await laterServer()
    const pairs = await Promise.all([tokens(test), tokens(test), tokens(test)])
    const refreshes = pairs.map(({ refresh_token }) => refresh(test, refresh_token))
    const [ended, ...answers] = await Promise.all([test.server.grants.revokeApplication('web'), ...refreshes])
    expect(ended).toBe(3)
    const refreshed = answers.filter(({ status }) => status === 200)
    for (const { body } of refreshed) expect(await call(test, body.access_token)).toMatchObject({ type: 'refused' })
  })

  it.each(['nobody', '', '\0', 'x'.repeat(100_000)])('of an application that there is not: %j', async (clientId) => {
    const test = await testServer()
    expect(await test.server.grants.revokeApplication(clientId)).toBe(0)
  })
})

/** Has the refresh tokens of the one grant end earlier, as those of an earlier release could that took any lifetimes. */
async function shortenRefresh({ store }: TestServer, expiresAt: number): Promise<void> {
  const [record] = (await store.list('subject:ada')).records
  if (record === undefined) throw new Error('there is no grant')
  const value = structuredClone(record.value) as unknown as { pairs: { refresh: { expiresAt: number } }[] } // a grant
  for (const pair of value.pairs) pair.refresh.expiresAt = expiresAt
  const written = JSON.parse(JSON.stringify(value))
  expect(store.write(record.key, written, { expected: record.version, labels: ['subject:ada', 'client:web'] })).toBe(
    true,
  )
}

describe('tokens with other lifetimes', () => {
  it.each<[string, { readonly gracePeriod?: number }]>([
    ['an access token that outlives its refresh token', {}],
    ['one in grace, too', { gracePeriod: 900 }],
  ])('%s: its grant is listed as long as it works, and can be ended', async (_, options) => {
    const test = await testServer({ accessTokenLifetime: 1000, refreshTokenLifetime: 1000, ...options })
    const { access_token, refresh_token } = await tokens(test)
    if (options.gracePeriod !== undefined) await refresh(test, refresh_token)
    await shortenRefresh(test, START + 100)
    test.clock.now = START + 500
    expect(await call(test, access_token)).toMatchObject({ type: 'authenticated' })
    const { grants } = await test.server.grants.listGrants('ada')
    expect(grants).toMatchObject([{ expiresAt: START + 1000 }])
    expect(await test.server.grants.revokeAll('ada')).toBe(1)
    expect(await call(test, access_token)).toMatchObject({ type: 'refused' })
  })

  it('an access token that was revoked alone keeps nothing alive', async () => {
    const test = await testServer({ accessTokenLifetime: 1000, refreshTokenLifetime: 1000 })
    const { access_token } = await tokens(test)
    await shortenRefresh(test, START + 100)
    await revoke(test, access_token)
    expect((await test.server.grants.listGrants('ada')).grants).toMatchObject([{ expiresAt: START + 100 }])
    test.clock.now = START + 100
    expect(await grantIdsOf(test)).toHaveLength(0)
  })

  it('[30] what had expired when it was ended does not work again when the clock steps back', async () => {
    // The clock of the store is another one, and has forgotten nothing.
    const store = memoryStore({ clock: () => START })
    const test = await testServer({ store })
    const { access_token } = await tokens(test)
    test.clock.now = START + 15_552_000
    expect(await test.server.grants.revokeAll('ada')).toBe(0)
    test.clock.now = START
    expect(await call(test, access_token)).toMatchObject({ type: 'refused' })
  })
})

describe('a slip of the pen', () => {
  it.each([
    ['another name', { clientID: 'web' }],
    ['no value', { clientId: undefined }],
    ['a number', { clientId: 7 }],
    ['a string', 'web'],
    ['null', null],
  ])('revokeAll with %s ends nothing, rather than everything', async (_, only) => {
    const test = await testServer()
    await tokens(test)
    // As a host without types could.
    const revokeAll = test.server.grants.revokeAll as (subject: string, only: unknown) => Promise<number>
    await expect(revokeAll('ada', only)).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
    expect(await grantIdsOf(test)).toHaveLength(1)
  })

  it.each(['', undefined, null, 7, {}])('a subject that is %j ends nothing in silence', async (subject) => {
    const test = await testServer()
    const { listGrants, revokeAll } = test.server.grants
    const message = expect.stringMatching(
      /^grantwell: grants\.\w+: the argument subject must be a string that is not empty; got ./,
    )
    const error = { code: 'ERR_CONFIGURATION', message }
    // As a host without types could.
    await expect(listGrants(subject as string)).rejects.toMatchObject(error)
    await expect(revokeAll(subject as string)).rejects.toMatchObject(error)
  })

  it('a polluted prototype narrows nothing', async () => {
    const test = await testServer()
    await tokens(test)
    Object.assign(Object.prototype, { clientId: 'other' })
    try {
      expect(await test.server.grants.revokeAll('ada')).toBe(1)
    } finally {
      Reflect.deleteProperty(Object.prototype, 'clientId')
    }
  })
})

describe('a store that fails', () => {
  it.each(['list', 'read', 'write'] as const)(
    'at %s: ERR_STORE, without what the store said, which onError gets',
    async (method) => {
      const test = await watchedServer()
      await authorize(test)
      const [grantId = ''] = await grantIdsOf(test)
      const failure = new Error('password=hunter2')
      test.instead[method] = () => {
        throw failure
      }
      const { listGrants, revokeGrant, revokeAll, revokeApplication } = test.server.grants
      const list = () => listGrants('ada')
      const one = () => revokeGrant('ada', grantId)
      const all = () => revokeAll('ada')
      const application = () => revokeApplication('web')
      const calls = {
        list: [list, all, application],
        read: [list, one, all, application],
        write: [one, all, application],
      }
      for (const each of calls[method]) {
        const expected = { code: 'ERR_STORE', message: 'grantwell: the store failed' }
        await expect(each()).rejects.toMatchObject(expected)
      }
      expect(test.errors).toContain(failure)
    },
  )
})
