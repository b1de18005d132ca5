/**
 * Wrong values of every public function that takes options or arguments of a host: each is refused by a message that names the
 * option or argument, says what came, and says what is taken.
 * @module
 */
import type { AuthorizationServerOptions } from 'grantwell'
import * as main from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import * as client from 'grantwell/client'
import * as clientNode from 'grantwell/client/node'
import * as core from 'grantwell/core'
import * as fetchAdapter from 'grantwell/fetch'
import * as node from 'grantwell/node'
import * as memory from 'grantwell/storage/memory'
import * as postgres from 'grantwell/storage/postgres'
import * as redis from 'grantwell/storage/redis'
import * as sqlite from 'grantwell/storage/sqlite'
import { describe, expect, it } from 'vitest'

/** No value of any option or argument, whatever it takes. */
const WRONG: readonly unknown[] = [
  null,
  Number.NaN,
  1n,
  Symbol('x'),
  [[]],
  Promise.resolve(),
  new Date(0),
  Number.MAX_SAFE_INTEGER, // more than there is memory or time
]

/** The form of every message: a name, what is taken, what came. */
const FORM =
  /^grantwell: [\w.]+(, \w+(\[\d\])?)?: (the (options?|argument) ?[\w ]*must be .+; got .+|there is no option .+; (did you mean .+\?|it takes .+))$/

const sound: AuthorizationServerOptions = {
  issuer: 'https://git.example',
  store: memory.memoryStore(),
  user: () => undefined,
  signInUrl: () => '/',
}
const server = createAuthorizationServer(sound)
const engine = { query: () => {}, on: () => {}, call: () => {}, prepare: () => {}, exec: () => {} }
const source = { issuer: 'https://git.example', get: () => {} }

const registered = {
  issuer: 'https://git.example',
  credentials: { clientId: 'a' },
  registrationAccessToken: 'b',
  registrationUri: 'https://git.example/register/a',
  metadata: {},
}

type Call = (...args: unknown[]) => unknown
const calling = (given: object, name: string): Call => {
  const call: unknown = Reflect.get(given, name)
  if (typeof call !== 'function') throw new Error(`there is no ${name}`)
  return (...args) => call.apply(given, args)
}

const OPTIONS = {
  server:
    'store user signInUrl switchAccountUrl resources scopes codeLifetime accessTokenLifetime refreshTokenLifetime gracePeriod consentLifetime deviceCodeLifetime devicePollingInterval userCodeLimiter remoteAddress refreshReplay consent redirectMatching allowLocalhost openidConfiguration corsOrigins audiences authorize clientPolicy registrationLimiter fetchClientMetadata requirePkce allowClientSecretPost derivationKey macTokens macWindow introspectionMaxAge bodyLimit mountPath appearance pageSources locale texts onEvent onError clock entropy digests allowInsecureIssuer issuer',
  discover: 'issuer clientId clientSecret clientAuthentication resource fetch timeout clock',
  discoverResource: 'url challenge chooseIssuer fetch timeout',
  registerClient: 'issuer metadata initialAccessToken fetch timeout',
  source: 'client store refreshAhead retryFor onError',
}

/** Calls of each function, made of one wrong value. */
const CALLS: { readonly [name: string]: readonly ((wrong: unknown) => unknown)[] } = {
  createAuthorizationServer: [
    (wrong) => calling(main, 'createAuthorizationServer')(wrong),
    ...OPTIONS.server
      .split(' ')
      .map((name) => (wrong: unknown) => calling(main, 'createAuthorizationServer')({ ...sound, [name]: wrong })),
    (wrong) => calling(main, 'createAuthorizationServer')({ ...sound, accesTokenLifetime: wrong }),
    (wrong) => calling(main, 'createAuthorizationServer')({ ...sound, pages: { error: wrong } }),
  ],
  scopeCatalogue: [
    (wrong) => calling(main, 'scopeCatalogue')(wrong === WRONG[4] ? 7 : wrong),
    (wrong) => calling(main, 'scopeCatalogue')([{ name: wrong, permissions: ['r'], description: '' }]),
    (wrong) => calling(main, 'scopeCatalogue')([{ name: 'a', permissions: wrong, description: '' }]),
    ...['scope', 'permission', 'includes'].map((name) => (wrong: unknown) => {
      const token = { scope: 'a', permission: 'r', description: '' }
      return calling(main, 'scopeCatalogue')([{ ...token, [name]: wrong }])
    }),
    (wrong) => calling(main, 'scopeCatalogue')([], { unknown: wrong }),
  ],
  serviceScopes: ['service', 'unknown'].map(
    (name) => (wrong: unknown) => calling(main, 'serviceScopes')({ [name]: wrong }),
  ),
  createNodeHandler: [(wrong) => calling(node, 'createNodeHandler')(wrong)],
  createNodeGuard: [
    (wrong) => calling(node, 'createNodeGuard')(wrong),
    (wrong) => calling(node, 'createNodeGuard')(server, { onError: wrong }),
    (wrong) => calling(node, 'createNodeGuard')(server, { onErr: wrong }),
    (wrong) => node.createNodeGuard(server)({ resource: wrong } as never),
    (wrong) => node.createNodeGuard(server)({ scope: wrong } as never),
    (wrong) => node.createNodeGuard(server)({}, wrong as never),
  ],
  createFastifyGuard: [
    (wrong) => calling(node, 'createFastifyGuard')(wrong),
    (wrong) => node.createFastifyGuard(server)({}, wrong as never),
  ],
  createFetchHandler: [(wrong) => calling(fetchAdapter, 'createFetchHandler')(wrong)],
  createFetchGuard: [
    (wrong) => calling(fetchAdapter, 'createFetchGuard')(wrong),
    (wrong) => fetchAdapter.createFetchGuard(server)({}, wrong as never),
  ],
  memoryStore: [(wrong) => calling(memory, 'memoryStore')({ clock: wrong })],
  sqliteStore: [
    (wrong) => calling(sqlite, 'sqliteStore')(wrong),
    ...['namespace', 'clock', 'synchronous', 'synchronus'].map(
      (name) => (wrong: unknown) => calling(sqlite, 'sqliteStore')(engine, { [name]: wrong }),
    ),
  ],
  postgresStore: [
    (wrong) => calling(postgres, 'postgresStore')(wrong),
    ...['namespace', 'clock', 'timeoutMs', 'table', 'tabel'].map(
      (name) => (wrong: unknown) => calling(postgres, 'postgresStore')(engine, { [name]: wrong }),
    ),
  ],
  redisStore: [
    (wrong) => calling(redis, 'redisStore')(wrong),
    ...['namespace', 'clock', 'timeoutMs'].map(
      (name) => (wrong: unknown) => calling(redis, 'redisStore')(engine, { [name]: wrong }),
    ),
  ],
  discover: OPTIONS.discover.split(' ').map((name) => (wrong: unknown) => {
    const given = { issuer: 'https://git.example', clientId: 'a', clientSecret: 'b', fetch: () => Promise.reject() }
    return calling(client, 'discover')({ ...given, [name]: wrong })
  }),
  discoverResource: OPTIONS.discoverResource.split(' ').map((name) => (wrong: unknown) => {
    const given = { url: 'https://git.example/mcp', fetch: () => Promise.reject() }
    return calling(client, 'discoverResource')({ ...given, [name]: wrong })
  }),
  registerClient: OPTIONS.registerClient.split(' ').map((name) => (wrong: unknown) => {
    const given = { issuer: 'https://git.example', metadata: {}, fetch: () => Promise.reject() }
    return calling(client, 'registerClient')({ ...given, [name]: wrong })
  }),
  readRegistration: [
    (wrong) => calling(client, 'readRegistration')(wrong),
    ...['fetch', 'timeout'].map(
      (name) => (wrong: unknown) => calling(client, 'readRegistration')(registered, { [name]: wrong }),
    ),
  ],
  deleteRegistration: [
    (wrong) => calling(client, 'deleteRegistration')(wrong),
    ...['fetch', 'timeout'].map(
      (name) => (wrong: unknown) => calling(client, 'deleteRegistration')(registered, { [name]: wrong }),
    ),
  ],
  requiredScope: [
    (wrong) => calling(client, 'requiredScope')(wrong),
    (wrong) => calling(client, 'requiredScope')(new Response(), wrong),
  ],
  login: [
    (wrong) => calling(client, 'login')(wrong, { show: () => {} }),
    (wrong) => calling(client, 'login')({}, { show: wrong }),
  ],
  createTokenSource: [
    ...OPTIONS.source.split(' ').map((name) => (wrong: unknown) => {
      const given = { client: {}, store: client.memoryTokenStore() }
      return calling(client, 'createTokenSource')({ ...given, [name]: wrong })
    }),
  ],
  authorizedFetch: [
    (wrong) => calling(client, 'authorizedFetch')(wrong),
    (wrong) => calling(client, 'authorizedFetch')(source, { origins: wrong }),
    (wrong) => calling(client, 'authorizedFetch')(source, { fetch: wrong }),
  ],
  resourceServer: ['client', 'scopes', 'cacheSize', 'onError'].map(
    (name) => (wrong: unknown) => calling(client, 'resourceServer')({ client: {}, [name]: wrong }),
  ),
  memoryTokenStore: [(wrong) => calling(client, 'memoryTokenStore')(wrong)],
  revokeTokens: [(wrong) => calling(client, 'revokeTokens')(wrong)],
  loginByBrowser: ['scope', 'openBrowser', 'onUrl', 'signal', 'timeout', 'page', 'pge'].map(
    (name) => (wrong: unknown) => calling(clientNode, 'loginByBrowser')({}, { [name]: wrong }),
  ),
  fileTokenStore: [(wrong) => calling(clientNode, 'fileTokenStore')(wrong)],
}

/** Functions of values that this package has made, on the path of requests: their arguments are trusted, as their types say. */
const OF_OUR_VALUES = [
  ...[
    'clientKeyOf',
    'coversAudience',
    'coversScopes',
    'inspect',
    'isGrant',
    'isLive',
    'isOAuthError',
    'isPublished',
    'narrowScopes',
    'normalizeScopes',
  ],
  ...[
    'opensResource',
    'parseClientId',
    'parseCredential',
    'parseGrantId',
    'parseRequestedScopes',
    'parseScopes',
    'printCredential',
    'printScopes',
  ],
  ...['retention', 'transition', 'transitionApplication', 'sendResponse', 'toResponse'],
  ...['GrantwellError', 'StorageUnavailable', 'ClientError'],
  'fetchClientMetadata', // takes whatever a stranger wrote, and answers `address` to what is no URL
]

describe('a wrong value', () => {
  it('is thrown at every public function', () => {
    const all = [main, core, node, fetchAdapter, memory, sqlite, postgres, redis, client, clientNode].flatMap((entry) =>
      Object.entries(entry).flatMap(([name, value]) => (typeof value === 'function' ? [name] : [])),
    )
    expect([...new Set(all)].sort()).toEqual([...Object.keys(CALLS), ...OF_OUR_VALUES].sort())
    expect(Object.values(CALLS).flat().length * WRONG.length).toBeGreaterThan(300)
  })

  it.each(Object.entries(CALLS))('of %s is named, with what came and what is taken', async (_, calls) => {
    for (const call of calls)
      for (const wrong of WRONG) {
        const error: unknown = await (async () => call(wrong))().then(
          () => 'nothing was thrown',
          (thrown: unknown) => thrown,
        )
        expect(error, `${call} ${String(wrong)}`).toMatchObject({
          code: 'ERR_CONFIGURATION',
          message: expect.stringMatching(FORM),
        })
      }
  })

  it('is not shown where it may be a secret', () => {
    const secret = 'redis://:hunter2@cache.example'
    const calls: readonly (() => unknown)[] = [
      () => calling(redis, 'redisStore')(secret),
      () => calling(postgres, 'postgresStore')(secret),
      () => calling(sqlite, 'sqliteStore')(secret),
      () => calling(main, 'createAuthorizationServer')({ ...sound, derivationKey: 'hunter2' }),
      () => calling(main, 'createAuthorizationServer')({ ...sound, issuer: 'https://a:hunter2@git.example' }),
      () => calling(client, 'memoryTokenStore')('hunter2'),
    ]
    for (const call of calls) {
      expect(call).toThrow(/must be .+; got a string/)
      expect(call).not.toThrow(/hunter2/)
    }
  })

  it.each([
    [
      'milliseconds',
      { accessTokenLifetime: 3_600_000 },
      /accessTokenLifetime must be .+; got 3600000 \(milliseconds\?\)$/,
    ],
    [
      'a refresh lifetime under the access lifetime',
      { refreshTokenLifetime: 3600 },
      /refreshTokenLifetime must be .+ \(28800\) or more; got 3600$/,
    ],
    [
      'a grace above both lifetimes',
      { accessTokenLifetime: 60, refreshTokenLifetime: 120, gracePeriod: 121 },
      /gracePeriod must be refreshTokenLifetime \(120\) or less; got 121$/,
    ],
    [
      'a store that nobody awaited',
      { store: Promise.resolve(sound.store) },
      /store must be .+; got a Promise \(did you forget await\?\)$/,
    ],
    [
      'a misspelt name',
      { acessTokenLifetme: 60 },
      /there is no option acessTokenLifetme; did you mean accessTokenLifetime\?$/,
    ],
    ['a misspelt page', { pages: { consnet: () => '' } }, /there is no option consnet; did you mean consent\?$/],
    [
      'other digests',
      { digests: { sha256: () => 'a'.repeat(43), hmacSha256: () => new Uint8Array(32) } },
      /digests must be SHA-256/,
    ],
  ])('is told to be %s', (_, options, message) => {
    expect(() => calling(main, 'createAuthorizationServer')({ ...sound, ...options })).toThrow(message)
  })

  it('of an inherited property is none: a polluted prototype changes nothing', () => {
    Object.assign(Object.prototype, { refreshAhead: 'x', codeLifetime: 'x', clock: 'x', namespace: 'x' })
    try {
      expect(() => createAuthorizationServer(sound)).not.toThrow()
      expect(() => memory.memoryStore({})).not.toThrow()
    } finally {
      for (const name of ['refreshAhead', 'codeLifetime', 'clock', 'namespace'])
        Reflect.deleteProperty(Object.prototype, name)
    }
  })
})

describe("an option that is not the object's own", () => {
  const request = { headers: {}, url: '/' }
  const known = { client: {}, store: client.memoryTokenStore() }
  const found = { issuer: 'https://git.example', clientId: 'a', fetch: () => Promise.reject() }
  /** Every public function that takes options: the names of some, what else it needs, and the call. */
  const TAKING: readonly (readonly [string, string, object, (options: never) => unknown])[] = [
    ['createAuthorizationServer', OPTIONS.server, sound, (options) => createAuthorizationServer(options)],
    ['pages', 'consent error device', {}, (pages) => createAuthorizationServer({ ...sound, pages })],
    ['server.guard', 'scope', {}, (options) => server.guard(options)],
    ['authenticate', 'scope resource', {}, (options) => server.authenticate(request, options)],
    ['createNodeGuard', 'onError', {}, (options) => node.createNodeGuard(server, options)],
    ['guard of Node', 'scope resource', {}, (options) => node.createNodeGuard(server)(options)],
    ['guard of Fastify', 'scope resource', {}, (options) => node.createFastifyGuard(server)(options)],
    [
      'guard of fetch',
      'scope resource',
      {},
      (options) => fetchAdapter.createFetchGuard(server)(options, () => new Response()),
    ],
    ['applications.submit', 'applicant', {}, (options) => server.applications.submit({} as never, options)],
    [
      'applications.approve',
      'revision scopes',
      { revision: 1 },
      (options) => server.applications.approve('a', options),
    ],
    ['applications.reject', 'revision reason', { revision: 1 }, (options) => server.applications.reject('a', options)],
    ['applications.rotateSecret', 'overlap', {}, (options) => server.applications.rotateSecret('a', options)],
    ['applications.list', 'state applicant', {}, (options) => server.applications.list(options)],
    [
      'applications.list, page',
      'limit cursor',
      {},
      (options) => server.applications.list({ state: 'pending' }, options),
    ],
    [
      'applications.registerResourceServer',
      'name website scopes',
      {},
      (options) => server.applications.registerResourceServer(options),
    ],
    ['grants.revokeAll', 'clientId', {}, (options) => server.grants.revokeAll('ada', options)],
    ['grants.listGrants', 'limit cursor', {}, (options) => server.grants.listGrants('ada', options)],
    ['scopeCatalogue', 'name permissions description', {}, (options) => main.scopeCatalogue([options])],
    ['serviceScopes', 'service unknown', {}, (options) => main.serviceScopes(options)],
    ['memoryStore', 'clock', {}, (options) => memory.memoryStore(options)],
    ['sqliteStore', 'namespace clock synchronous', {}, (options) => sqlite.sqliteStore(engine as never, options)],
    [
      'postgresStore',
      'namespace clock timeoutMs table',
      {},
      (options) => postgres.postgresStore(engine as never, options),
    ],
    ['redisStore', 'namespace clock timeoutMs', {}, (options) => redis.redisStore(engine as never, options)],
    ['discover', OPTIONS.discover, found, (options) => client.discover(options)],
    [
      'discoverResource',
      OPTIONS.discoverResource,
      { url: 'https://git.example', fetch: () => Promise.reject() },
      (options) => client.discoverResource(options),
    ],
    [
      'registerClient',
      OPTIONS.registerClient,
      { issuer: 'https://git.example', metadata: {}, fetch: () => Promise.reject() },
      (options) => client.registerClient(options),
    ],
    ['readRegistration', 'fetch timeout', {}, (options) => client.readRegistration(registered, options)],
    ['deleteRegistration', 'fetch timeout', {}, (options) => client.deleteRegistration(registered, options)],
    ['login', 'scope show signal', {}, (options) => client.login({} as never, options)],
    ['createTokenSource', OPTIONS.source, known, (options) => client.createTokenSource(options)],
    ['authorizedFetch', 'origins fetch', {}, (options) => client.authorizedFetch(source as never, options)],
    ['resourceServer', 'client scopes cacheSize onError', { client: {} }, (options) => client.resourceServer(options)],
    [
      'loginByBrowser',
      'scope openBrowser onUrl signal timeout page',
      {},
      (options) => clientNode.loginByBrowser({} as never, options),
    ],
  ]

  /** Objects that have an option, each in a way that `Object.entries` does not see. */
  const HAVING: readonly ((name: string, others: object) => object)[] = [
    (name, others) => Object.assign(Object.create({ [name]: () => {} }), others),
    (name, others) =>
      Object.assign(Object.create(Object.create(Object.create(null), { [name]: { get: () => 'x' } })), others),
    (name, others) => Object.defineProperty({ ...others }, name, { value: 'x', enumerable: false }),
  ]

  it.each(TAKING)('of %s is refused by its name', async (_, names, sure, call) => {
    for (const name of names.split(' '))
      for (const having of HAVING) {
        const { [name]: __, ...others } = sure as Record<string, unknown>
        // What `call` takes is wrong on purpose.
        const error: unknown = await (async () => call(having(name, others) as never))().catch(
          (thrown: unknown) => thrown,
        )
        expect(error, name).toMatchObject({
          code: 'ERR_CONFIGURATION',
          message: expect.stringContaining(`the option ${name} must be the object's own; got an inherited one`),
        })
      }
  })
})
