/**
 * Records that this release must not touch: of another version, or of another issuer.
 * @module
 * @see DESIGN, "records of other versions"
 */
import type { AuthorizationServerOptions, HttpResponse, JsonValue } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import type { MemoryStore } from 'grantwell/storage/memory'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { codesOf, decideOn, enterCode, openDevicePage, poll } from '../protocol/device-form.js'
import { MAC_OPTIONS, macTokens, signedParts, signedRequest, withSigner } from '../protocol/mac-client.js'
import { API, introspect, withApi } from '../protocol/resource-server.js'
import type { TestServer, Tokens } from '../support.js'
import {
  authorizationUrl,
  call,
  guard,
  ISSUER,
  later,
  NATIVE,
  openConsent,
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
import type { WatchedServer } from './helpers.js'
import { StoreFailure, watchedServer } from './helpers.js'

/** Gives every record of a kind another version, as the store has it. */
function withVersion(test: WatchedServer, kind: string, version: JsonValue | undefined): void {
  const changed = (key: string, value: JsonValue): JsonValue => {
    const { v: _, ...rest } = value as Record<string, JsonValue> // every record is an object
    return key.split(':')[0] === kind ? { ...(version !== undefined && { v: version }), ...rest } : value
  }
  test.instead.read = async (keys) => {
    const records = await test.store.read(keys)
    return records.map((record, index) => record && { ...record, value: changed(keys[index] ?? '', record.value) })
  }
  test.instead.list = async (label, page) => {
    const { records, ...rest } = await test.store.list(label, page)
    return { ...rest, records: records.map((each) => ({ ...each, value: changed(each.key, each.value) })) }
  }
}

/** Writes of other records that come before: the attempt, and the logo of a registration. */
const OTHER_WRITES: Record<string, number> = { 'a user code': 1, 'applications.register': 1 }

/** Every request that reads a kind of record: how to come to it, and what asks. */
const REQUESTS: Record<
  string,
  { readonly kind: string; readonly prepare: (test: WatchedServer) => Promise<() => Promise<number | string>> }
> = {
  'a guard, of the application': reading('application', async (test) => {
    const { access_token } = await tokens(test)
    return () => called(test, access_token)
  }),
  'a guard, of the grant': reading('grant', async (test) => {
    const { access_token } = await tokens(test)
    return () => called(test, access_token)
  }),
  'a refresh': reading('grant', async (test) => {
    const { refresh_token } = await tokens(test)
    return async () => (await refresh(test, refresh_token)).status
  }),
  'an exchange': reading('grant', async (test) => {
    const { fields, headers } = await openConsent(test)
    const response = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    const code = new URL(response.headers['Location'] ?? '').searchParams.get('code') ?? ''
    return async () => (await token(test, { grant_type: 'authorization_code', code })).status
  }),
  'a revocation': reading('grant', async (test) => {
    const { refresh_token } = await tokens(test)
    return async () => (await revoke(test, refresh_token)).status
  }),
  'an introspection': reading('grant', async (test) => {
    await withApi(test)
    const { access_token } = await tokens(test)
    return async () => (await introspect(test, access_token, {}, API)).status
  }),
  'a poll': reading('grant', async (test) => {
    const codes = await codesOf(test)
    return async () => (await poll(test, codes)).status
  }),
  'the consent page': reading('application', async (test) => async () => {
    return (await send(test.server, { url: authorizationUrl() })).status
  }),
  'a consent, of the decisions': reading('consent', async (test) => {
    await tokens(test)
    const { fields, headers } = await openConsent(test)
    return async () => (await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)).status
  }),
  'a user code': reading('user_code', async (test) => {
    const { user_code } = await codesOf(test)
    const page = await openDevicePage(test)
    return async () => {
      const form = { ...page.fields, user_code }
      return (await post(test.server, '/oauth2/device', form, page.headers)).status
    }
  }),
  'an attempt': reading('attempts', async (test) => {
    await enterCode(test, (await codesOf(test)).user_code)
    const page = await openDevicePage(test)
    return async () => {
      const form = { ...page.fields, user_code: 'WDJB-MJHT' }
      return (await post(test.server, '/oauth2/device', form, page.headers)).status
    }
  }),
  'a decision for a device': reading('grant', async (test) => {
    const consent = await enterCode(test, (await codesOf(test)).user_code)
    return async () => (await decideOn(test, consent)).status
  }),
  'a request of a device': reading('application', async (test) => async () => {
    return (await post(test.server, '/oauth2/device_authorization', { client_id: NATIVE.clientId })).status
  }),
  'the page of authorized applications': reading('grant', async (test) => {
    await tokens(test)
    // It shows all others, and that one is missing.
    return async () => {
      const { status, body } = await send(test.server, { url: '/oauth2/applications' })
      return body.includes('Some applications with access cannot be shown') ? 'ERR_STORE' : status
    }
  }),
  listGrants: reading('grant', async (test) => {
    await tokens(test)
    return () => thrown(test.server.grants.listGrants('ada'))
  }),
  revokeAll: reading('grant', async (test) => {
    await tokens(test)
    return () => thrown(test.server.grants.revokeAll('ada'))
  }),
  revokeApplication: reading('grant', async (test) => {
    await tokens(test)
    return () => thrown(test.server.grants.revokeApplication('web'))
  }),
  'applications.get': reading('application', async (test) => () => thrown(test.server.applications.get('web'))),
  'applications.list': reading('application', async (test) => {
    return () => thrown(test.server.applications.list({ state: 'approved' }))
  }),
  'applications.suspend': reading('application', async (test) => () => thrown(test.server.applications.suspend('web'))),
  'applications.rotateSecret': reading('application', async (test) => {
    return () => thrown(test.server.applications.rotateSecret('web'))
  }),
  'applications.register': reading('application', async (test) => {
    return () => thrown(test.server.applications.register(registration(), WEB))
  }),
  'applications.logo': reading('logo', async (test) => {
    const application = await test.server.applications.get('web')
    const { logo = '' } = application as { readonly logo?: string }
    return () => thrown(test.server.applications.logo(logo))
  }),
}

function reading(kind: string, prepare: (test: WatchedServer) => Promise<() => Promise<number | string>>) {
  return { kind, prepare }
}

async function called(test: TestServer, accessToken: string): Promise<number> {
  const found = await call(test, accessToken)
  return found.type === 'refused' ? found.response.status : 200
}

async function thrown(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'done',
    (error: { readonly code: string }) => error.code,
  )
}

describe('a record of another version', () => {
  it.each(Object.entries(REQUESTS))(
    'is refused by %s: one error names key and version, nothing is written',
    async (name, each) => {
      for (const version of [2, 0, '1', null, undefined] as const) {
        // No address, whatever carries the message: that would be counted as well.
        const test = await watchedServer({ remoteAddress: () => undefined })
        const ask = await each.prepare(test)
        withVersion(test, each.kind, version)
        const told = test.events.length
        test.forget()
        test.errors.length = 0
        const answer = await ask()
        expect([503, 'ERR_STORE']).toContain(answer)
        expect(test.trips.writes).toBe(OTHER_WRITES[name] ?? 0)
        const came = version === undefined ? 'no version' : `version ${JSON.stringify(version)}`
        const message = new RegExp(
          `^grantwell: the record ${each.kind}:\\S+ has ${came}; this release reads version 1\\b`,
        )
        expect(test.errors).toStrictEqual([
          expect.objectContaining({ code: 'ERR_RECORD_VERSION', message: expect.stringMatching(message) }),
        ])
        expect(test.events.slice(told).every(({ type }) => type === 'refused')).toBe(true)
        // As it was, it is read again.
        Object.assign(test.instead, { read: undefined, list: undefined })
        expect([503, 'ERR_STORE']).not.toContain(await ask())
      }
    },
  )

  it.each([
    ['revokeAll', (test: TestServer) => test.server.grants.revokeAll('ada')],
    ['revokeApplication', (test: TestServer) => test.server.grants.revokeApplication('web')],
  ] as const)('keeps none of the others from being ended by %s, which fails behind the last', async (_, end) => {
    const test = await watchedServer()
    const pairs: Tokens[] = []
    for (let count = 0; count < 5; count++) pairs.push(await tokens(test))
    const { records } = await test.store.list('subject:ada')
    const { key, value } = records[2] ?? expect.fail()
    const write = async (version: number): Promise<void> => {
      const [found] = await test.store.read([key])
      const changed = { ...(value as Record<string, JsonValue>), v: version } // every record is an object
      const options = { expected: found?.version ?? 0, labels: ['subject:ada', 'client:web'] }
      expect(await test.store.write(key, changed, options)).toBe(true)
    }
    await write(2)
    test.errors.length = 0
    expect(await thrown(end(test))).toBe('ERR_STORE')
    expect(test.errors).toStrictEqual([expect.objectContaining({ code: 'ERR_RECORD_VERSION' })])
    await write(1)
    const left = await Promise.all(pairs.map(({ access_token }) => works(test, access_token)))
    expect(left.filter(Boolean)).toHaveLength(1)
    expect(await end(test)).toBe(1)
  })

  it('is refused by a signed request', async () => {
    const test = await withSigner(await watchedServer(MAC_OPTIONS))
    const pair = await macTokens(test)
    withVersion(test, 'grant', 2)
    const found = await guard(test.server, signedRequest(pair, signedParts(test)))
    expect(found).toMatchObject({ type: 'refused', response: { status: 503 } })
  })

  it('of any kind that is written has the version that is read', async () => {
    const test = await watchedServer({ ...MAC_OPTIONS, remoteAddress: () => '192.0.2.1' })
    const versions = new Map<string, unknown>()
    test.instead.write = (key, value, options) => {
      versions.set(key.split(':')[0] ?? '', (value as { readonly v?: unknown }).v)
      return test.store.write(key, value, options)
    }
    await withSigner(test)
    await guard(test.server, signedRequest(await macTokens(test), signedParts(test)))
    await tokens(test)
    await decideOn(test, await enterCode(test, (await codesOf(test)).user_code))
    const { logo, ...rest } = registration()
    await test.server.applications.submit({
      ...rest,
      logo,
      scopes: rest.scopes.map((scope) => ({ scope: String(scope), reason: 'Needed' })),
    })
    expect(Object.fromEntries(versions)).toStrictEqual({
      application: 1,
      attempts: 1,
      consent: 1,
      grant: 1,
      logo: 1,
      mac_nonce: 1,
      user_code: 1,
    })
  })
})

describe('the namespace of another issuer', () => {
  const BASE = { user: () => ({ subject: 'ada' }), signInUrl: () => '/sign-in', clock: () => START } as const

  function serverAt(issuer: string, options: Pick<AuthorizationServerOptions, 'store'>, errors: unknown[] = []) {
    return createAuthorizationServer({ ...BASE, issuer, ...options, onError: (error) => errors.push(error) })
  }

  /** Every way in: a request of each endpoint, a guard, and what a host calls. */
  async function everyAnswer(test: TestServer, accessToken: string): Promise<readonly (number | string)[]> {
    const { server } = test
    const form = { client_id: 'native', token: 'x', grant_type: 'refresh_token', refresh_token: 'x' }
    const statuses = async (response: Promise<HttpResponse>) => (await response).status
    return [
      await statuses(post(server, '/oauth2/token', form)),
      await statuses(post(server, '/oauth2/revoke', form)),
      await statuses(post(server, '/oauth2/introspect', form)),
      await statuses(post(server, '/oauth2/device_authorization', { client_id: 'native' })),
      await statuses(send(server, { url: authorizationUrl() })),
      await statuses(send(server, { url: '/oauth2/applications' })),
      await called(test, accessToken),
      await thrown(server.applications.get('web')),
      await thrown(server.applications.list({ state: 'approved' })),
      await thrown(server.applications.register(registration())),
      await thrown(server.grants.listGrants('ada')),
      await thrown(server.grants.revokeAll('ada')),
    ]
  }

  it('is noticed before anything is answered from it, whatever asks first; a server of its own issuer goes on', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    for (const store of [test.store, later(test.store)]) {
      const errors: unknown[] = []
      const server = serverAt('https://other.example', { store }, errors)
      const answers = await everyAnswer({ ...test, server }, access_token)
      expect(answers).toStrictEqual([503, 503, 503, 503, 503, 503, 503, ...Array(5).fill('ERR_STORE')])
      expect(errors).toHaveLength(answers.length)
      expect(errors[0]).toMatchObject({
        code: 'ERR_NAMESPACE',
        message: `grantwell: the records of this store belong to the issuer ${ISSUER}, and this server is https://other.example; give each issuer a namespace of its own`,
      })
    }
    const same = serverAt(ISSUER, { store: test.store })
    expect(await called({ ...test, server: same }, access_token)).toBe(200)
  })

  it('is looked for once in the life of a server', async () => {
    const { store, counts } = counted(memoryStore({ clock: () => START }))
    const server = serverAt(ISSUER, { store })
    for (let request = 0; request < 3; request++) await server.applications.get('web')
    expect(counts).toStrictEqual({ 'read issuer': 1, 'write issuer': 1, 'read application': 3 })
    const second = serverAt(ISSUER, { store })
    for (let request = 0; request < 2; request++) await second.applications.get('web')
    expect(counts).toMatchObject({ 'read issuer': 2, 'write issuer': 1, 'read application': 5 })
  })

  it('is looked for by each who asks before it is known, so that no lost answer stops the others', async () => {
    const plain = memoryStore({ clock: () => START })
    const { store, counts } = counted(later(plain))
    let down = true
    const failing = {
      ...store,
      read: async (keys: readonly string[]) => (down ? Promise.reject(new StoreFailure()) : store.read(keys)),
    }
    const server = serverAt(ISSUER, { store: failing })
    expect(await thrown(server.applications.get('web'))).toBe('ERR_STORE')
    down = false
    let lost = true
    const read = failing.read
    failing.read = async (keys) => {
      if (!lost) return read(keys)
      lost = false
      return new Promise(() => {})
    }
    const waiting = server.applications.get('web')
    await Promise.all(Array.from({ length: 20 }, () => server.applications.get('web')))
    expect(counts).toMatchObject({ 'write issuer': 20, 'read application': 20 })
    await server.applications.get('web')
    expect(counts).toMatchObject({ 'write issuer': 20, 'read application': 21 })
    expect(await Promise.race([waiting, 'still waits'])).toBe('still waits')
  })

  it('belongs to the first of two that begin at once', async () => {
    const store = later(memoryStore({ clock: () => START }))
    const servers = [serverAt('https://a.example', { store }), serverAt('https://b.example', { store })]
    const answers = await Promise.all(servers.map((server) => thrown(server.applications.get('web'))))
    expect(answers.toSorted()).toStrictEqual(['ERR_STORE', 'done'])
  })

  function counted(store: MemoryStore | ReturnType<typeof later>) {
    const counts: Record<string, number> = {}
    const count = (does: string, key: string): void => {
      const name = `${does} ${key.split(':')[0]}`
      counts[name] = (counts[name] ?? 0) + 1
    }
    return {
      counts,
      store: {
        read: (keys: readonly string[]) => {
          count('read', keys[0] ?? '')
          return store.read(keys)
        },
        write: (...write: Parameters<typeof store.write>) => {
          count('write', write[0])
          return store.write(...write)
        },
        list: (...list: Parameters<typeof store.list>) => store.list(...list),
      },
    }
  }
})
