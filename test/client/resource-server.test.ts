/**
 * An API that lives elsewhere: its guard asks the service by introspection, over HTTP.
 * @module
 * @see RFC 7662; RFC 6750
 */
import type { IncomingMessage } from 'node:http'
import { runInNewContext } from 'node:vm'
import type { ClientCredentials, GuardProvider } from 'grantwell'
import type { Client, ResourceServerOptions } from 'grantwell/client'
import { discover, resourceServer } from 'grantwell/client'
import type { Authorized } from 'grantwell/node'
import { createNodeGuard } from 'grantwell/node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest'
import { grantIdOf, printCredential } from '../../src/core/credentials/credential.js'
import type { ClientKey } from '../../src/core/values.js'
import type { Listening } from '../adapters/http.js'
import { listen, sender } from '../adapters/http.js'
import { codeFor } from '../protocol/audience.js'
import { authorize, exchange, refresh, revoke, tokens } from '../support.js'
import type { Service } from './service.js'
import { breaks, hangs, madeUp, openService } from './service.js'

const API = { name: 'Package registry', website: 'https://packages.git.example', scopes: ['repo-code:rw'] }

const INTROSPECTION = '/oauth2/introspect'

let service: Service
let credentials: Required<ClientCredentials>
const MAX_AGE = 30
beforeAll(async () => {
  service = await openService({ introspectionMaxAge: MAX_AGE, resources: () => [{ id: 'engine' }, { id: 'notes' }] })
  credentials = await service.test.server.applications.registerResourceServer(API)
})
afterAll(() => service.close())
beforeEach(() => {
  service.paths.length = 0
  service.test.errors.length = 0
})

/** Seconds added to `performance.now()`. */
let passed = 0
beforeEach(() => {
  const real = performance.now.bind(performance)
  passed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => real() + passed * 1000)
})
afterEach(() => vi.restoreAllMocks())

/** What the service tells of a token that works. */
const SOUND = {
  active: true,
  sub: 'ada',
  client_id: 'web',
  grant_id: 'g',
  scope: 'repo-code:r',
  exp: 2_000_000_000,
  resources: { kind: 'all' },
}

const asked = (): number => service.paths.filter((path) => path === INTROSPECTION).length

/** The API, with the clock of the service. */
async function client(given = credentials, timeout = 10): Promise<Client> {
  const { issuer, test } = service
  return discover({ issuer, ...given, timeout, clock: () => test.clock.now })
}

async function api(options: Omit<ResourceServerOptions, 'client'> = {}, given = credentials): Promise<GuardProvider> {
  return resourceServer({ client: await client(given), ...options })
}

const presenting = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

describe('RFC 7662 the guard of an API that lives elsewhere', () => {
  it('finds what the guard of the server finds, limited to the scopes that the API is registered for', async () => {
    const { server } = service.test
    const guard = (await api()).guard({ scope: 'repo-code:r' })
    for (const kind of ['all', 'public', 'specified']) {
      const { code } = await authorize(service.test, {}, { resource_scope: kind, resource: 'notes' })
      const { body } = await exchange(service.test, code)
      const there = await server.authenticate(presenting(body.access_token))
      expect(there).toMatchObject({ scopes: ['repo-code:rw', 'account-profile:r'], resources: { kind } })
      expect(await guard(presenting(body.access_token))).toStrictEqual({ ...there, scopes: ['repo-code:rw'] })
      const spaced = (await api()).guard({ scope: '  repo-code:r   repo-code:rw ' })
      expect(await spaced(presenting(body.access_token))).toStrictEqual({ ...there, scopes: ['repo-code:rw'] })
    }
  })

  it('answers every token that is not enough as the guard of the server does', async () => {
    const { server } = service.test
    const guarding = await api()
    const { access_token, refresh_token } = await tokens(service.test)
    const { access_token: revoked } = await tokens(service.test)
    await revoke(service.test, revoked)
    const requests = [
      { headers: {} },
      { headers: { authorization: 'Basic QQ==' } },
      { headers: { authorization: 'Bearer' } },
      { headers: { authorization: ['Bearer a', 'Bearer b'] } },
      { headers: {}, url: `/x?access_token=${access_token}` },
      ...['unknown', refresh_token, revoked].map(presenting),
    ]
    const resource = () => undefined
    for (const request of requests) {
      const there = await server.authenticate(request, { scope: 'repo-code:r' })
      const here = await guarding.guard({ scope: 'repo-code:r' })(request)
      if (there.type !== 'refused' || here.type !== 'refused') return expect.fail(JSON.stringify(request))
      expect(here.response).toStrictEqual(there.response)
    }
    const works = presenting(access_token)
    for (const [needs, ...of] of [[{ scope: 'repo-delete:rw' }] as const, [{}, resource] as const]) {
      const there = await server.guard(needs)(works, ...of)
      const here = await guarding.guard(needs)(works, ...of)
      if (there.type !== 'refused' || here.type !== 'refused') return expect.fail(JSON.stringify(needs))
      expect(here.response).toStrictEqual(there.response)
      expect(here.response.status).toBe(403)
    }
  })

  it('hands on the very resource that it decided on, and one that is kept has none', async () => {
    const guard = (await api()).guard({ scope: 'repo-code:rw' })
    const { code } = await authorize(service.test, {}, { resource_scope: 'specified', resource: 'notes' })
    const { body } = await exchange(service.test, code)
    const request = presenting(body.access_token)
    for (let round = 0; round < 2; round++) {
      const notes = { id: 'notes', public: false, accessible: true, round }
      const found = await guard(request, () => notes)
      if (found.type === 'refused') return expect.fail('refused')
      expect(found.resource).toBe(notes)
      expect('resource' in (await guard(request))).toBe(false)
      expect('resource' in (await guard(request, () => ({ ...notes, id: 'engine' })))).toBe(false)
    }
  })

  it('guards routes in the place of the server', async () => {
    const guard = createNodeGuard(await api())
    const resource = ({ url, auth }: Authorized<IncomingMessage>) => ({
      id: url?.slice(1) ?? '',
      public: false,
      accessible: auth.subject === 'ada',
      owner: auth.subject,
    })
    const http: Listening = await listen(
      guard({ scope: 'repo-code:rw', resource }, ({ auth }, response) => {
        expectTypeOf(auth.resource.owner).toEqualTypeOf<string>()
        response.end(auth.resource.owner)
      }),
    )
    const { code } = await authorize(service.test, {}, { resource_scope: 'specified', resource: 'notes' })
    const { body } = await exchange(service.test, code)
    const send = sender(http.port)
    expect(await send({ path: '/notes', ...presenting(body.access_token) })).toMatchObject({ status: 200, body: 'ada' })
    expect((await send({ path: '/engine', ...presenting(body.access_token) })).status).toBe(403)
    expect((await send({ path: '/notes' })).status).toBe(401)
    await http.close()
  })

  it('asks once for a thousand callers with one token, and once more when the answer is too old', async () => {
    const guard = (await api()).guard()
    const { access_token } = await tokens(service.test)
    const call = async () => (await guard(presenting(access_token))).type
    expect(new Set(await Promise.all(Array.from({ length: 1000 }, call)))).toEqual(new Set(['authenticated']))
    // Far less than it may be old, since the stopwatch runs.
    passed += MAX_AGE / 2
    // However the clock is set.
    service.test.clock.now -= 3600
    expect(await call()).toBe('authenticated')
    service.test.clock.now += 3600
    expect(asked()).toBe(1)
    await revoke(service.test, access_token)
    // What the option says: a revocation takes as long to come here.
    expect(await call()).toBe('authenticated')
    passed += MAX_AGE / 2
    service.test.clock.now -= 3600
    const answers = [await call(), await call()]
    service.test.clock.now += 3600
    expect(answers).toEqual(['refused', 'refused'])
    // What does not work is asked for each time.
    expect(asked()).toBe(3)
  })

  it('gives nobody an answer that was asked for before they came, and asks once for all who come meanwhile', async () => {
    const strict = await openService()
    try {
      const self = await strict.test.server.applications.registerResourceServer(API)
      const guard = resourceServer({ client: await discover({ issuer: strict.issuer, ...self }) }).guard()
      const { access_token } = await tokens(strict.test)
      const call = async () => (await guard(presenting(access_token))).type
      const answered = new Promise<() => void>((resolve) => {
        strict.faults.push({
          path: INTROSPECTION,
          fault: (_, response) => {
            const { end } = response
            response.end = (...args: unknown[]) => {
              resolve(() => Reflect.apply(end, response, args))
              return response
            }
            return false
          },
        })
      })
      const first = call()
      const send = await answered
      await revoke(strict.test, access_token)
      const later = Array.from({ length: 100 }, call)
      send()
      expect(await first).toBe('authenticated')
      expect(new Set(await Promise.all(later))).toEqual(new Set(['refused']))
      expect(strict.paths.filter((path) => path === INTROSPECTION)).toHaveLength(2)
    } finally {
      await strict.close()
    }
  })

  it('asks at most 64 times at once, lets 4096 wait, and answers 503 to the rest', async () => {
    let open = 0
    let most = 0
    const slow = await listen(async (request, response) => {
      if (request.url?.startsWith('/.well-known') === true) {
        response.setHeader('Content-Type', 'application/json')
        response.end(JSON.stringify({ ...metadata, issuer: slow.origin, introspection_endpoint: `${slow.origin}/i` }))
        return
      }
      most = Math.max(most, ++open)
      await new Promise((resolve) => setTimeout(resolve, 5))
      open--
      response.setHeader('Content-Type', 'application/json')
      response.end('{"active":false}')
    })
    const found = await fetch(`${service.issuer}/.well-known/oauth-authorization-server`)
    const metadata = (await found.json()) as object // by RFC 8414
    try {
      const guard = resourceServer({
        client: await discover({ issuer: slow.origin, timeout: 600, ...credentials }),
        onError: () => {},
      }).guard()
      const made = Array.from({ length: 64 + 4096 + 40 }, (_, index) =>
        printCredential({
          kind: 'access_token',
          clientKey: 'A'.repeat(16) as ClientKey, // as long as one
          grantId: grantIdOf(new Uint8Array(16).fill(index % 256)),
          secret: `${String(index).padStart(42, 'A')}A`, // no bit unused
        }),
      )
      const answers = await Promise.all(made.map((token) => guard(presenting(token))))
      const statuses = answers.map((each) => (each.type === 'refused' ? each.response.status : 200))
      expect(statuses.filter((status) => status === 503)).toHaveLength(40)
      expect(statuses.filter((status) => status === 401)).toHaveLength(64 + 4096)
      expect(most).toBeLessThanOrEqual(64)
      expect(most).toBeGreaterThan(1)
    } finally {
      await slow.close()
    }
  })

  it('keeps no answer longer than the token works', async () => {
    const guard = (await api()).guard()
    const { access_token, refresh_token } = await tokens(service.test)
    await refresh(service.test, refresh_token)
    service.test.clock.now += 299
    expect((await guard(presenting(access_token))).type).toBe('authenticated')
    service.test.clock.now += 1
    expect((await guard(presenting(access_token))).type).toBe('refused')
  })

  it('keeps as many answers as it may, the newest', async () => {
    const [one, two] = [await tokens(service.test), await tokens(service.test)]
    for (const [cacheSize, expected] of [
      [0, 4],
      [1, 4],
      [2, 2],
    ] as const) {
      service.paths.length = 0
      const guard = (await api({ cacheSize })).guard()
      for (const { access_token } of [one, two, one, two]) await guard(presenting(access_token))
      expect(asked(), String(cacheSize)).toBe(expected)
    }
  })

  it('what a host does with an answer reaches nobody else', async () => {
    const guard = (await api()).guard()
    const { access_token } = await tokens(service.test)
    const first = await guard(presenting(access_token))
    const before = JSON.stringify(first)
    if (first.type !== 'authenticated') return expect.fail()
    ;(first.scopes as string[]).push('repo-delete:rw') // what a program without types could do
    expect(JSON.stringify(await guard(presenting(access_token)))).toBe(before)
  })
})

describe('what can go wrong', () => {
  it.each([
    ['the connection breaks', breaks],
    ['no answer comes', hangs],
  ])('[49] 503 where %s, and the next request finds out', async (_what, fault) => {
    const errors: unknown[] = []
    const guard = resourceServer({
      client: await client(credentials, 5), // seconds that no answer of a busy machine takes
      onError: (error) => errors.push(error),
    }).guard()
    const { access_token } = await tokens(service.test)
    service.faults.push({ path: INTROSPECTION, fault })
    const found = await guard(presenting(access_token))
    if (found.type !== 'refused') return expect.fail()
    expect([found.response.status, found.response.headers['Retry-After']]).toEqual([503, '1'])
    expect(errors).toMatchObject([{ code: 'ERR_UNREACHABLE' }])
    expect(JSON.stringify(errors) + String(errors)).not.toContain(access_token)
    expect((await guard(presenting(access_token))).type).toBe('authenticated')
  })

  it.each([
    ['fails at once', () => expect.fail('not me')],
    ['fails later', () => Promise.reject(new Error('not me'))],
    ['fails later, in another realm', runInNewContext('() => Promise.reject(new Error("not me"))')],
  ])('[50] 503 all the same where whoever is told %s', async (_how, onError) => {
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    const guard = resourceServer({ client: await client(), onError }).guard()
    const { access_token } = await tokens(service.test)
    service.faults.push({ path: INTROSPECTION, fault: breaks })
    expect(await guard(presenting(access_token))).toMatchObject({ response: { status: 503 } })
    await new Promise((resolve) => setTimeout(resolve))
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toStrictEqual([])
  })

  it('[42] 500 where the service does not let this client ask, and it is told why', async () => {
    const { access_token } = await tokens(service.test)
    const web = { clientId: 'web', clientSecret: 'a-secret-of-the-web-application' }
    const wrong = { ...credentials, clientSecret: 'a-secret-of-nobody-at-all' }
    for (const given of [web, wrong]) {
      const errors: unknown[] = []
      const guard = (await api({ onError: (error) => errors.push(error) }, given as typeof credentials)).guard()
      const found = await guard(presenting(access_token))
      if (found.type !== 'refused') return expect.fail()
      expect([found.response.status, JSON.parse(found.response.body).error]).toEqual([500, 'server_error'])
      expect(errors).toMatchObject([{ code: 'ERR_RESPONSE' }])
    }
  })

  /** A guard that asks a service which always tells the same. */
  async function guardAt(headers: Readonly<Record<string, string>>, body: object = SOUND) {
    const fake = await madeUp({ [INTROSPECTION]: [{ headers, body }] })
    const metadata = { issuer: fake.issuer, introspection_endpoint: fake.issuer + INTROSPECTION }
    fake.replies['/.well-known/oauth-authorization-server'] = [{ body: metadata }]
    const found = await discover({ issuer: fake.issuer, clientId: 'api', clientSecret: 'secret' })
    const guarding = resourceServer({ client: found, onError: () => {} })
    const count = (): number => fake.asked.filter(({ path }) => path === INTROSPECTION).length
    return { guarding, count, close: fake.close }
  }

  it.each([
    ['private, max-age=60', 1],
    ['MAX-AGE=60', 1],
    ['max-age=60, no-store', 2],
    ['No-Store,max-age=60', 2],
    ['no-cache, max-age=60', 2],
    ['max-age=0', 2],
    ['s-maxage=60', 2],
  ])('an answer with Cache-Control: %s is asked for %i times by two requests', async (control, times) => {
    const { guarding, count, close } = await guardAt({ 'Cache-Control': control })
    const { access_token } = await tokens(service.test)
    const guard = guarding.guard()
    for (let time = 0; time < 2; time++) expect((await guard(presenting(access_token))).type).toBe('authenticated')
    expect(count()).toBe(times)
    await close()
  })

  describe('what somebody has put into the prototype of all objects', () => {
    const polluted = ['type', 'auth', 'kind', 'ids', 'active', 'scope', 'sub'] as const
    afterEach(() => {
      for (const name of polluted) Reflect.deleteProperty(Object.prototype, name)
    })

    function pollute(name: (typeof polluted)[number], value: unknown): void {
      Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
    }

    it('lets no made-up token in', async () => {
      const { guarding, close } = await guardAt({}, { active: false })
      const { access_token } = await tokens(service.test)
      const guard = guarding.guard()
      pollute('type', 'authenticated')
      pollute('auth', { type: 'authenticated', subject: 'ada', scopes: [] })
      const found = [
        await guard(presenting(access_token)),
        await guard(presenting('made-up')),
        await guard({ headers: {} }),
      ]
      for (const name of polluted) Reflect.deleteProperty(Object.prototype, name)
      expect(found.map(({ type }) => type)).toEqual(['refused', 'refused', 'refused'])
      await close()
    })

    it('reaches no handler of a route', async () => {
      const { guarding, close } = await guardAt({}, { active: false })
      const { access_token } = await tokens(service.test)
      const guard = createNodeGuard(guarding)
      const http = await listen(guard({}, (_, response) => void response.end('in')))
      const send = sender(http.port)
      pollute('type', 'authenticated')
      pollute('auth', { type: 'authenticated', subject: 'ada', scopes: [] })
      const { status } = await send({ path: '/', ...presenting(access_token) })
      for (const name of polluted) Reflect.deleteProperty(Object.prototype, name)
      expect(status).toBe(401)
      await http.close()
      await close()
    })

    it('makes up for nothing that an answer does not say', async () => {
      const { access_token } = await tokens(service.test)
      for (const [name, value, change] of [
        ['sub', 'ada', { sub: undefined }],
        ['kind', 'all', { resources: {} }],
        ['ids', ['engine'], { resources: { kind: 'specified' } }],
      ] as const) {
        const { guarding, close } = await guardAt({}, { ...SOUND, ...change })
        const guard = guarding.guard()
        pollute(name, value)
        const found = await guard(presenting(access_token))
        Reflect.deleteProperty(Object.prototype, name)
        expect(found.type, name).toBe('refused')
        await close()
      }
    })

    it('is no scope of a slip of the pen', async () => {
      const guarding = await api()
      pollute('scope', 'repo-code:r')
      expect(() => guarding.guard({ scopes: 'repo-code:rw' } as object)).toThrow(
        /guard: there is no option scopes; did you mean scope\?/,
      )
    })
  })

  it.each([
    ['is of another service', { iss: 'https://evil.example' }],
    ['is of a token whose uses are signed', { token_type: 'mac' }],
    ['names nobody', { sub: undefined }],
    ['names no resources', { resources: undefined }],
    ['names resources of an unknown kind', { resources: { kind: 'every' } }],
    ['names no list of resources', { resources: { kind: 'specified', ids: 'engine' } }],
    ['has no end', { exp: 'soon' }],
    ['has no scope', { scope: undefined }],
  ])('an answer that %s lets nobody in', async (_what, change) => {
    const fake = await madeUp({ [INTROSPECTION]: [{ body: { ...SOUND, ...change } }, { body: SOUND }] })
    try {
      const body = { issuer: fake.issuer, introspection_endpoint: fake.issuer + INTROSPECTION }
      fake.replies['/.well-known/oauth-authorization-server'] = [{ body }]
      const errors: unknown[] = []
      const found = await discover({ issuer: fake.issuer, clientId: 'api', clientSecret: 'secret' })
      const guard = resourceServer({ client: found, onError: (error) => errors.push(error) }).guard()
      const { access_token } = await tokens(service.test)
      expect((await guard(presenting(access_token))).type).toBe('refused')
      expect(errors).toMatchObject([{ code: 'ERR_RESPONSE' }])
      expect((await guard(presenting(access_token))).type).toBe('authenticated')
    } finally {
      await fake.close()
    }
  })

  it('a slip of the pen is found at start', async () => {
    const guarding = await api()
    const mistake = expect.objectContaining({ name: 'ClientError', code: 'ERR_CONFIGURATION' })
    for (const needs of [null, '', 5, true])
      expect(() => guarding.guard(needs as unknown as object), JSON.stringify(needs)).toThrow(mistake)
    for (const needs of [
      { scope: 'repo-cod:rw' },
      { scope: '' },
      { scope: '  ' },
      { scope: 'repo-code:r\t' },
      { scope: undefined },
      { scopes: 'repo-code:r' },
    ])
      expect(() => guarding.guard(needs as object), JSON.stringify(needs)).toThrow(mistake)
    const good = await client()
    for (const options of [{}, { client: {} }, { client: good, cacheSize: -1 }, { client: good, cache: 1 }])
      expect(() => resourceServer(options as unknown as ResourceServerOptions)).toThrow(mistake)
    const fake = await madeUp({})
    const without = await discover({ issuer: fake.issuer, clientId: 'api', clientSecret: 'secret' })
    expect(() => resourceServer({ client: without })).toThrow(mistake)
    await fake.close()
    const open = await discover({ issuer: service.issuer, clientId: credentials.clientId })
    expect(() => resourceServer({ client: open })).toThrow(
      /the option client must be one with a clientSecret; got one without$/,
    )
    expect(() => resourceServer({ client: open })).toThrow(mistake)
  })

  it.for([null, 'repo-code:r', {}, 5, true, [1], [['repo-code:r']], ['repo-code:r', null]])(
    'a service whose scopes are no list of texts is found at start: %j',
    async (scopes_supported) => {
      const fake = await madeUp({}, { introspection_endpoint: 'https://git.example/introspect', scopes_supported })
      try {
        const odd = await discover({ issuer: fake.issuer, clientId: 'api', clientSecret: 'secret' })
        expect(() => resourceServer({ client: odd }).guard({ scope: 'repo-code:r' })).toThrow(
          expect.objectContaining({ name: 'ClientError', code: 'ERR_RESPONSE' }),
        )
      } finally {
        await fake.close()
      }
    },
  )

  it('[52] what the host throws about a resource is told to the host alone', async () => {
    const errors: unknown[] = []
    const guard = (await api({ onError: (error) => errors.push(error) })).guard()
    const { access_token } = await tokens(service.test)
    const found = await guard(presenting(access_token), () => Promise.reject(new Error('the secret of the database')))
    if (found.type !== 'refused') return expect.fail()
    expect([found.response.status, found.response.body.includes('database')]).toEqual([500, false])
    expect(errors).toMatchObject([{ message: 'the secret of the database' }])
  })
})

describe('an API that is a protected resource (RFC 8707, RFC 9728)', () => {
  const MCP = 'https://git.example/mcp'

  it('takes tokens for itself alone, and every challenge names its document', async () => {
    const bound = await openService({ audiences: [{ resource: MCP, name: 'Tools' }] })
    try {
      const { server } = bound.test
      const given = await server.applications.registerResourceServer({ ...API, audience: MCP })
      const asked = await discover({ issuer: bound.issuer, ...given, clock: () => bound.test.clock.now })
      const guards = resourceServer({ client: asked, audience: MCP })
      const own = (await exchange(bound.test, await codeFor(bound.test, [MCP]))).body
      const other = await tokens(bound.test)
      expect(await guards.guard({ audience: MCP })(presenting(own.access_token))).toMatchObject({ audience: MCP })
      const refused = await guards.guard()(presenting(other.access_token))
      const where = 'resource_metadata="https://git.example/.well-known/oauth-protected-resource/mcp"'
      expect(refused).toMatchObject({
        error: { code: 'invalid_token' },
        response: { headers: { 'WWW-Authenticate': expect.stringContaining(where) } },
      })
      const errors: unknown[] = []
      // Without its audience it takes no token that is limited to one, whatever the service says.
      expect(
        await resourceServer({ client: asked, onError: (error) => errors.push(error) }).guard()(
          presenting(own.access_token),
        ),
      ).toMatchObject({
        type: 'refused',
      })
      expect(errors).toMatchObject([{ code: 'ERR_RESPONSE', message: expect.stringContaining('another resource') }])
    } finally {
      await bound.close()
    }
  })

  it.each([
    ['one name', MCP, true],
    ['a list with it', ['https://other.example', MCP], true],
    ['another name', 'https://other.example', false],
    ['a list without it', ['https://other.example'], false],
    ['nothing', undefined, false],
    ['no name', 7, false],
  ])('goes by aud, as %s', async (_, aud, admitted) => {
    const fake = await madeUp({ [INTROSPECTION]: [{ body: { ...SOUND, aud } }] })
    try {
      const body = { issuer: fake.issuer, introspection_endpoint: fake.issuer + INTROSPECTION }
      fake.replies['/.well-known/oauth-authorization-server'] = [{ body }]
      const found = await discover({ issuer: fake.issuer, clientId: 'api', clientSecret: 'secret' })
      const { access_token } = await tokens(service.test)
      const answer = await resourceServer({ client: found, audience: MCP, onError: () => {} }).guard()(
        presenting(access_token),
      )
      expect(answer.type === 'authenticated').toBe(admitted)
    } finally {
      await fake.close()
    }
  })

  it('makes no guard for another resource', async () => {
    const guards = await api({ audience: MCP })
    for (const audience of ['https://other.example', undefined])
      expect(() => guards.guard({ audience } as { audience: string })).toThrow('guard: the option audience must be')
    const plain = await api()
    expect(() => plain.guard({ audience: MCP })).toThrow('must be absent: resourceServer has none')
  })
})
