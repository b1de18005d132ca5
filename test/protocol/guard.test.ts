/**
 * The guard of a route: made at start, and what it decides on a resource.
 * @module
 * @see Specification, section 2.1; RFC 6750, section 3.1
 */
import type { AuthInfo, Guard, GuardResult, HttpResponse, ProtectedResource, ResourceOf } from 'grantwell'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { watchedServer } from '../server/helpers.js'
import type { TestServer } from '../support.js'
import {
  call,
  exchange,
  grantNamedBy,
  guard as guardOver,
  openConsent,
  post,
  refresh,
  revoke,
  START,
  testServer,
  tokens,
} from '../support.js'
import { changeApplication, withItems } from './consent-form.js'
import { MAC_OPTIONS, macTokens, signedParts, signedRequest, withSigner } from './mac-client.js'

const HEADERS = { 'Cache-Control': 'no-store', Pragma: 'no-cache', 'Content-Type': 'application/json;charset=UTF-8' }

/** The answer for a resource that a token does not open, in either scheme. */
function forbidden(scheme = 'Bearer'): HttpResponse {
  const words = 'The access token does not open this resource, or there is none.'
  return {
    status: 403,
    headers: {
      'Cache-Control': 'no-store',
      Pragma: 'no-cache',
      'WWW-Authenticate': `${scheme} realm="oauth2", error="insufficient_scope", error_description="${words}"`,
      'Content-Type': 'application/json;charset=UTF-8',
    },
    body: `{"error":"insufficient_scope","error_description":"${words}"}`,
  }
}

const FAILED: HttpResponse = {
  status: 500,
  headers: HEADERS,
  body: '{"error":"server_error","error_description":"The service failed."}',
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

/** The response to a request that was refused, or that it was let in. */
function answer(found: GuardResult): HttpResponse | 'authenticated' {
  return found.type === 'refused' ? found.response : found.type
}

/** An access token for what a user chose on the consent page. */
async function tokenFor(test: TestServer, kind: 'all' | 'public' | 'specified', ids: readonly string[] = []) {
  const { fields, headers } = await openConsent(test)
  const form = new URLSearchParams({ ...fields, decision: 'agree', resource_scope: kind })
  for (const id of ids) form.append('resource', id)
  const { headers: answered } = await post(test.server, '/oauth2/auth', form.toString(), headers)
  const code = new URL(answered['Location'] ?? 'none:').searchParams.get('code') ?? ''
  return (await exchange(test, code)).body.access_token
}

const repository = (id: string, isPublic: boolean, accessible = true): ProtectedResource => ({
  id,
  public: isPublic,
  accessible,
})

describe('2.1 a route that is about a resource', () => {
  const KINDS = ['all', 'public', 'specified'] as const

  it.each(KINDS)('opens what the user permitted of what the user may: %s', async (kind) => {
    const test = await testServer(withItems)
    const token = await tokenFor(test, kind, kind === 'specified' ? ['repo/1'] : [])
    const guard = test.server.guard({ scope: 'repo-code:r' })
    for (const id of ['repo/1', 'repo/2'])
      for (const isPublic of [true, false])
        for (const accessible of [true, false]) {
          const opens = accessible && { all: true, public: isPublic, specified: id === 'repo/1' }[kind]
          const resource = repository(id, isPublic, accessible)
          const expected = opens ? 'authenticated' : forbidden()
          for (const resourceOf of [() => resource, async () => resource] as ResourceOf[]) {
            expect(answer(await guard(bearer(token), resourceOf))).toStrictEqual(expected)
            const needs = { scope: 'repo-code:r', resource: resourceOf }
            expect(answer(await guardOver(test.server, bearer(token), needs))).toStrictEqual(expected)
          }
        }
  })

  it('[52] is told alike where there is none, where its user may not, and where the user permitted others', async () => {
    const test = await testServer(withItems)
    const token = await tokenFor(test, 'specified', ['repo/1'])
    const guard = test.server.guard()
    const nones: readonly unknown[] = [
      undefined,
      null,
      repository('repo/1', true, false),
      repository('repo/2', true),
      repository('repo/2', true, false),
    ]
    test.events.length = 0
    for (const none of nones) {
      const resourceOf: ResourceOf = () => none as ProtectedResource // on purpose, of any type
      const found = await guard(bearer(token), resourceOf)
      expect([none, answer(found)]).toStrictEqual([none, forbidden()])
    }
    const grantId = grantNamedBy(token)
    const event = {
      type: 'refused',
      at: START,
      endpoint: 'api',
      error: 'insufficient_scope',
      clientId: 'web',
      grantId,
      subject: 'ada',
    }
    expect(test.events).toStrictEqual(Array(nones.length).fill({ ...event, reason: 'resource_not_granted' }))
    expect(test.errors).toStrictEqual([])
  })

  it('of which something is not said is a mistake of the host, which is told: nobody is let in', async () => {
    const test = await testServer(withItems)
    const { access_token: token } = await tokens(test)
    const slips: readonly unknown[] = [
      {},
      { id: 'repo/1' },
      { id: 'repo/1', public: true },
      { id: 'repo/1', public: true, accesible: true },
      { id: 'repo/1', accessible: true },
      { public: true, accessible: true },
      { id: 7, public: true, accessible: true },
      { id: 'repo/1', public: true, accessible: 'yes' },
      { id: ['repo/1'], public: true, accessible: true },
      [repository('repo/1', true)],
      true,
      'repo/1',
      Symbol('repo/1'),
    ]
    for (const slip of slips) {
      test.errors.length = 0
      const found = await test.server.guard()(bearer(token), () => slip as ProtectedResource) // on purpose, of any type
      expect([slip, answer(found)]).toStrictEqual([slip, FAILED])
      expect(test.errors).toMatchObject([{ code: 'ERR_CONFIGURATION' }])
      expect(String(test.errors[0])).toContain('{ id, public, accessible }')
    }
  })

  it('gives the host who calls, before it decides, and hands that on', async () => {
    const test = await testServer(withItems)
    const token = await tokenFor(test, 'specified', ['repo/1'])
    const asked: AuthInfo[] = []
    const resourceOf: ResourceOf = (access) => {
      asked.push(access)
      return repository('repo/1', false)
    }
    const found = await test.server.guard({ scope: 'repo-code:rw' })(bearer(token), resourceOf)
    const plain = await call(test, token)
    expect(plain).toMatchObject({ subject: 'ada', clientId: 'web', resources: { kind: 'specified', ids: ['repo/1'] } })
    expect(asked).toStrictEqual([plain])
    expect(found).toStrictEqual({ ...plain, resource: repository('repo/1', false) })
  })

  it('hands on the very value that it decided on, and has none where there was nothing to decide on', async () => {
    const test = await testServer(withItems)
    const token = await tokenFor(test, 'specified', ['repo/1'])
    class Repository {
      readonly id = 'repo/1'
      readonly public = false
      readonly accessible = true
      readonly branch: string = 'main'
    }
    const repo = new Repository()
    for (const resource of [() => repo, async () => repo]) {
      for (const found of [
        await test.server.guard()(bearer(token), resource),
        await test.server.authenticate(bearer(token), { scope: 'repo-code:r', resource }),
      ]) {
        if (found.type === 'refused') return expect.fail('refused')
        expectTypeOf(found.resource).toEqualTypeOf<Repository>()
        expect(found.resource).toBe(repo)
      }
    }
    for (const found of [
      await test.server.guard()(bearer(token)),
      await test.server.authenticate(bearer(token), { scope: 'repo-code:r' }),
      await test.server.guard()(bearer(token), () => repository('repo/2', true)),
      await test.server.guard()(bearer(token), () => undefined),
    ])
      expect('resource' in found).toBe(false)
  })

  it('hands on what was decided on, whatever the host did to the access that it was asked with', async () => {
    const test = await testServer(withItems)
    const token = await tokenFor(test, 'all')
    const repo = repository('repo/1', false)
    const changes: readonly ((access: AuthInfo) => void)[] = [
      (access) => void Object.freeze(access),
      (access) => void Object.assign(access, { resource: repository('repo/2', true) }),
      (access) =>
        void Object.defineProperty(access, 'resource', { value: repository('repo/2', true), enumerable: true }),
    ]
    for (const change of changes)
      expect(
        await test.server.guard()(bearer(token), (access) => {
          change(access)
          return repo
        }),
      ).toMatchObject({ type: 'authenticated', resource: repo })
  })

  it('what the host does with that changes no record', async () => {
    const test = await testServer(withItems)
    const token = await tokenFor(test, 'specified', ['repo/1'])
    const before = JSON.stringify(await call(test, token))
    await test.server.guard()(bearer(token), (access) => {
      // What a program without types could do.
      ;(access.scopes as string[]).push('repo-delete:rw')
      if (access.resources.kind === 'specified') (access.resources.ids as string[]).push('repo/2')
      return repository('repo/1', true)
    })
    expect(JSON.stringify(await call(test, token))).toBe(before)
    const second = () => repository('repo/2', true)
    expect(answer(await test.server.guard()(bearer(token), second))).toStrictEqual(forbidden())
  })

  it('is not looked for where the token does not work, or lacks the scope', async () => {
    const test = await testServer()
    const { access_token, refresh_token } = await tokens(test)
    let asked = 0
    const resourceOf: ResourceOf = () => {
      asked++
      return repository('repo/1', true)
    }
    const writing = test.server.guard({ scope: 'repo-delete:rw' })
    const plain = test.server.guard()
    const found: GuardResult[] = [await writing(bearer(access_token), resourceOf)]
    for (const request of [{ headers: {} }, bearer('x'), bearer(refresh_token), bearer('x y')])
      found.push(await plain(request, resourceOf))
    await test.server.applications.suspend('web')
    found.push(await plain(bearer(access_token), resourceOf))
    await test.server.applications.reinstate('web')
    await revoke(test, access_token)
    found.push(await plain(bearer(access_token), resourceOf))
    expect(found.map((each) => each.type === 'refused' && each.response.status)).toEqual([
      403, 401, 401, 401, 400, 401, 401,
    ])
    expect(asked).toBe(0)
    const { body } = await refresh(test, refresh_token)
    expect(answer(await plain(bearer(body.access_token), resourceOf))).toBe('authenticated')
    expect(asked).toBe(1)
  })

  it('is decided by what the application may have by now', async () => {
    const test = await testServer(withItems)
    const all = await tokenFor(test, 'all')
    const specified = await tokenFor(test, 'specified', ['repo/1'])
    const guard = test.server.guard()
    const opens = async (token: string, resource: ProtectedResource): Promise<boolean> =>
      (await guard(bearer(token), () => resource)).type === 'authenticated'
    const [open, hidden] = [repository('repo/1', true), repository('repo/1', false)]
    for (const [resourceScope, expected] of [
      ['all', [true, true, true, true]],
      ['public', [true, false, true, true]],
      ['specified', [false, false, true, true]],
      ['all', [true, true, true, true]],
    ] as const) {
      await changeApplication(test, { resourceScope })
      const found = [await opens(all, open), await opens(all, hidden)]
      found.push(await opens(specified, open), await opens(specified, hidden))
      expect([resourceScope, found]).toEqual([resourceScope, expected])
    }
  })

  it('[52] where the host fails to say: 500 without a challenge, the host is told what it was, and nobody else', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const secret = new Error('connection to postgres://host:hunter2@db.internal lost')
    const failing: readonly (readonly [unknown, ResourceOf])[] = [
      [
        secret,
        () => {
          throw secret
        },
      ],
      [secret, () => Promise.reject(secret)],
      ['hunter2', () => Promise.reject('hunter2')],
      [undefined, () => Promise.reject(undefined)],
      [
        secret,
        () => ({
          id: 'repo/1',
          public: true,
          get accessible(): boolean {
            throw secret
          },
        }),
      ],
    ]
    for (const [error, resourceOf] of failing) {
      test.events.length = 0
      test.errors.length = 0
      const found = await test.server.guard({ scope: 'repo-code:r' })(bearer(access_token), resourceOf)
      expect(answer(found)).toStrictEqual(FAILED)
      expect(JSON.stringify(found)).not.toContain('hunter2')
      expect(test.errors).toStrictEqual([error])
      expect(test.events).toStrictEqual([
        {
          type: 'refused',
          at: START,
          endpoint: 'api',
          error: 'server_error',
          reason: 'host_failed',
          clientId: 'web',
          grantId: grantNamedBy(access_token),
          subject: 'ada',
        },
      ])
    }
    expect((await call(test, access_token)).type).toBe('authenticated')
  })

  it('with a resource that is undefined, as a slip of the pen makes it: throws, and lets nobody in', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const slip = { resourceOf: undefined as unknown as ResourceOf } // on purpose
    const called = test.server.guard()(bearer(access_token), slip.resourceOf)
    await expect(called).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
    expect((await test.server.guard()(bearer(access_token))).type).toBe('authenticated')
  })

  it('with a second argument that is no function: nobody is let in', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    for (const slip of [null, {}, repository('repo/1', true), 'repo/1', 0, true, [], Promise.resolve(undefined)]) {
      const resourceOf = slip as unknown as ResourceOf // on purpose, of any type
      expect(answer(await test.server.guard()(bearer(access_token), resourceOf))).toStrictEqual(FAILED)
    }
  })

  it('is decided for a signed request as for any other, in its scheme, after it was found to be made once', async () => {
    const test = await withSigner(await watchedServer({ ...MAC_OPTIONS, ...withItems }))
    const pair = await macTokens(test, {}, { resource_scope: 'public' })
    const guard = test.server.guard({ scope: 'repo-code:rw' })
    const closed = signedRequest(pair, signedParts(test))
    test.forget()
    expect(answer(await guard(closed, () => repository('repo/1', false)))).toStrictEqual(forbidden('MAC'))
    expect(test.trips).toMatchObject({ reads: 1, writes: 1 })
    let asked = 0
    const open: ResourceOf = () => {
      asked++
      return repository('repo/1', true)
    }
    expect(answer(await guard({ ...closed, headers: { ...closed.headers } }, open))).toMatchObject({ status: 401 })
    expect(asked).toBe(0)
    expect(await guard(signedRequest(pair, signedParts(test)), open)).toMatchObject({
      type: 'authenticated',
      resource: { id: 'repo/1' },
    })
    const failing: ResourceOf = () => Promise.reject(new Error('down'))
    expect(answer(await guard(signedRequest(pair, signedParts(test)), failing))).toStrictEqual(FAILED)
  })

  it('costs the store nothing more', async () => {
    const test = await watchedServer()
    const { access_token } = await tokens(test)
    for (const resource of [repository('repo/1', true), undefined]) {
      test.forget()
      await test.server.guard()(bearer(access_token), () => resource)
      expect(test.trips).toMatchObject({ reads: 1, writes: 0, lists: 0 })
    }
  })
})

describe('a guard is made at start', () => {
  it('once for any number of requests, and asks nothing of the store by itself', async () => {
    const test = await watchedServer()
    const { access_token } = await tokens(test)
    test.forget()
    const guards: [Guard, string][] = [
      [test.server.guard(), 'authenticated'],
      [test.server.guard({}), 'authenticated'],
      [test.server.guard({ scope: 'repo-code:rw' }), 'authenticated'],
      [test.server.guard({ scope: 'account-profile:r repo-code:r' }), 'authenticated'],
      [test.server.guard({ scope: 'repo-code:rw repo-delete:rw' }), 'refused'],
    ]
    expect(test.trips.reads).toBe(0)
    for (let round = 0; round < 3; round++)
      for (const [guard, expected] of guards) {
        const found = await guard(bearer(access_token))
        expect(found.type).toBe(expected)
        const asked = await guardOver(test.server, bearer(access_token))
        expect(expected === 'authenticated' ? found : asked).toStrictEqual(asked)
      }
  })

  it('and the one that `authenticate` makes for one request says the same', async () => {
    const test = await testServer()
    const { access_token, refresh_token } = await tokens(test)
    const requests = [{ headers: {} }, bearer(access_token), bearer(refresh_token), bearer('x y'), bearer('x')]
    for (const needs of [undefined, {}, { scope: 'repo-code:r' }, { scope: 'repo-delete:rw' }])
      for (const request of requests)
        expect(await guardOver(test.server, request, needs)).toStrictEqual(await test.server.guard(needs)(request))
  })

  const mistake = { name: 'GrantwellError', code: 'ERR_CONFIGURATION' }

  it.each([
    [null],
    ['repo-code:rw'],
    [0],
    [false],
    [() => ({ scope: 'repo-code:rw' })],
    [['repo-code:rw']],
    [{ scope: undefined }],
    [{ scope: null }],
    [{ scope: '' }],
    [{ scope: ' ' }],
    [{ scope: 'typo:r' }],
    [{ scope: 'repo-code' }],
    [{ scope: 'repo-code:r\n' }],
    [{ scope: 'repo-code:r,repo-pr:r' }],
    [{ scope: 'REPO-CODE:R' }],
    [{ scope: '__proto__' }],
    [{ scope: ['repo-code:rw'] }],
    [{ scope: { toString: (): string => 'repo-code:rw' } }],
    [{ scop: 'repo-code:rw' }],
    [{ scopes: 'repo-code:rw' }],
    [{ scope: 'repo-code:rw', resources: () => undefined }],
    [{ scope: 'repo-code:rw', other: undefined }],
  ])('%j is a mistake of the host, found there and not at the first request', async (needs) => {
    const { server } = await testServer()
    expect(() => server.guard(needs as { scope: string })).toThrowError(expect.objectContaining(mistake)) // on purpose
    await expect(server.authenticate({ headers: {} }, needs as { scope: string })).rejects.toMatchObject(mistake)
  })

  it('takes no scope from a prototype, be it polluted, for one that was misspelt', async () => {
    const { server } = await testServer()
    const needs = { scop: 'repo-delete:rw' } as { scope?: string } // on purpose
    const polluted = { value: 'repo-code:r', configurable: true, writable: true }
    Object.defineProperty(Object.prototype, 'scope', polluted)
    let thrown: unknown
    try {
      server.guard(needs)
    } catch (error) {
      thrown = error
    }
    Reflect.deleteProperty(Object.prototype, 'scope')
    expect(thrown).toMatchObject(mistake)
  })

  it('takes no resource there, since it is about a request', async () => {
    const { server } = await testServer()
    const needs = { scope: 'repo-code:r', resource: () => repository('repo/1', true) }
    expect(() => server.guard(needs)).toThrowError(expect.objectContaining(mistake))
  })

  it('takes scopes with more spaces than one before, between and behind them, and no list that is spaces alone', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    for (const scope of [' repo-code:r', 'repo-code:r ', '  repo-code:r   account-profile:r ']) {
      expect(await test.server.guard({ scope })(bearer(access_token))).toMatchObject({ type: 'authenticated' })
    }
    for (const scope of [' ', '   ', 'repo-code:r\t', 'repo-code:r,account-profile:r'])
      expect(() => test.server.guard({ scope })).toThrowError(expect.objectContaining(mistake))
  })

  it('says what was wrong with it', async () => {
    const { server } = await testServer()
    const message =
      'grantwell: guard: the option scope must be scopes of the catalogue in a string, separated by a space; got "typo:r"'
    expect(() => server.guard({ scope: 'typo:r' })).toThrowError(expect.objectContaining({ ...mistake, message }))
  })
})

describe('the resource of one request', () => {
  it.each([[undefined], [null], ['repo/1'], [repository('repo/1', true)], [true], [Promise.resolve(undefined)]])(
    'that is %j is a mistake of the host, whoever calls: nobody is let in',
    async (resource) => {
      const test = await testServer()
      const { access_token } = await tokens(test)
      for (const request of [bearer(access_token), { headers: {} }])
        for (const scope of [{}, { scope: 'repo-code:r' }]) {
          const needs = { ...scope, resource: resource as unknown as ResourceOf } // on purpose, of any type
          await expect(test.server.authenticate(request, needs)).rejects.toMatchObject({
            code: 'ERR_CONFIGURATION',
            message: expect.stringMatching(/^grantwell: authenticate: the option resource must be a function; got ./),
          })
        }
    },
  )

  it('goes with every check of the scope', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const resource = () => repository('repo/1', true)
    for (const [needs, expected] of [
      [{ resource }, 'authenticated'],
      [{ scope: 'repo-code:rw', resource }, 'authenticated'],
      [{ scope: 'repo-delete:rw', resource }, 'refused'],
    ] as const)
      expect((await guardOver(test.server, bearer(access_token), needs)).type).toBe(expected)
    for (const needs of [
      { scope: 'typo:r', resource },
      { scope: undefined, resource },
      { scop: 'x', resource },
    ]) {
      const asked = test.server.authenticate(bearer(access_token), needs as { scope: string }) // on purpose
      await expect(asked).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
    }
  })
})
