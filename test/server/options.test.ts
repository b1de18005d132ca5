/**
 * What a host tells the server: every option checked, every default in its place.
 * @module
 * @see Specification, section 8; RFC 8414, section 2; STYLE rule 7
 */
import type { AuthorizationServerOptions, HttpRequest } from 'grantwell'
import { createAuthorizationServer, portableDigests, serviceScopes } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it, vi } from 'vitest'
import { resolveOptions } from '../../src/shell/options/settings.js'
import {
  authorizationUrl,
  authorize,
  call,
  exchange,
  guard,
  post,
  refresh,
  START,
  send,
  testServer,
  tokens,
  WEB_CALLBACK,
} from '../support.js'
import { answer, grantsOf, watchedServer } from './helpers.js'

const NEEDED: AuthorizationServerOptions = {
  issuer: 'https://git.example',
  store: memoryStore(),
  user: () => undefined,
  signInUrl: () => '/sign-in',
}

/** Makes a server with options that a program without types could pass. */
function make(options: Record<string, unknown>): unknown {
  // One option needs another.
  const key = options['macTokens'] === true ? { derivationKey: new Uint8Array(32) } : {}
  const policy = options['fetchClientMetadata'] === undefined ? {} : { clientPolicy: () => 'refuse' }
  const lifetimes = options['refreshTokenLifetime'] === 1 ? { accessTokenLifetime: 1 } : {}
  return createAuthorizationServer({
    ...NEEDED,
    onError: () => {},
    ...key,
    ...policy,
    ...lifetimes,
    ...options,
  } as AuthorizationServerOptions) // on purpose, of any type
}

function mistake(message: string | RegExp) {
  const said = typeof message === 'string' ? `^${message.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}` : message.source
  return expect.objectContaining({
    name: 'GrantwellError',
    code: 'ERR_CONFIGURATION',
    message: expect.stringMatching(new RegExp(said.replace('^', '^grantwell: '))),
  })
}

/** What is thrown at every option, by name. */
const VALUES: Record<string, unknown> = {
  null: null,
  false: false,
  true: true,
  zero: 0,
  one: 1,
  'two thousand': 2000,
  'minus one': -1,
  'a half': 0.5,
  'not a number': Number.NaN,
  infinity: Number.POSITIVE_INFINITY,
  'more than is exact': 2 ** 53,
  'more than there is memory': Number.MAX_SAFE_INTEGER,
  'a bigint': 1n,
  'an empty string': '',
  'a number in a string': '1',
  always: 'always',
  once: 'once',
  revoke: 'revoke',
  refuse: 'refuse',
  domain: 'domain',
  exact: 'exact',
  'a path': '/base',
  'an issuer': 'https://git.example',
  constructor: 'constructor',
  'a symbol': Symbol('x'),
  'an object': {},
  'an array': [],
  'a function': () => 1,
  'a boxed number': Object(1),
  'a date': new Date(0),
  '31 bytes': new Uint8Array(31),
  '32 bytes': new Uint8Array(32),
  '32 bytes in an array': Array(32).fill(0),
  '32 bytes in a buffer': new ArrayBuffer(32),
  'a store': memoryStore(),
  'half a store': { read: () => [], write: () => true },
  'a store of no functions': { read: 1, write: 2, list: 3 },
  digests: nodeDigests,
  'half of the digests': { sha256: nodeDigests.sha256 },
  catalogue: serviceScopes(),
  'a catalogue through JSON': JSON.parse(JSON.stringify(serviceScopes())),
  pages: { consent: () => '', error: () => '', device: () => '' },
  'one page': { error: () => '' },
  'a page that is a string': { error: '<p>' },
  'a page that there is not': { front: () => '' },
}

const POSITIVE = ['one', 'two thousand']
const BOOLEAN = ['false', 'true']

/** Which of the values each option takes. */
const TAKEN: { readonly [Name in keyof Required<AuthorizationServerOptions>]: readonly string[] } = {
  issuer: ['an issuer'],
  store: ['a store'],
  user: ['a function'],
  signInUrl: ['a function'],
  switchAccountUrl: ['a function'],
  resources: ['a function'],
  scopes: ['catalogue'],
  audiences: ['an array'],
  authorize: ['a function'],
  clientPolicy: ['a function'],
  registrationLimiter: ['a function'],
  fetchClientMetadata: ['a function'],
  codeLifetime: POSITIVE,
  accessTokenLifetime: POSITIVE,
  refreshTokenLifetime: ['one'],
  gracePeriod: ['zero', ...POSITIVE],
  consentLifetime: POSITIVE,
  // More than the polling interval, and less than the lifetime.
  deviceCodeLifetime: ['two thousand'],
  devicePollingInterval: ['one'],
  userCodeLimiter: ['a function'],
  deviceLimiter: ['a function'],
  remoteAddress: ['a function'],
  refreshReplay: ['revoke', 'refuse'],
  consent: ['always', 'once'],
  redirectMatching: ['domain', 'exact'],
  grantLimit: ['one'],
  allowLocalhost: BOOLEAN,
  openidConfiguration: BOOLEAN,
  requirePkce: BOOLEAN,
  allowClientSecretPost: BOOLEAN,
  derivationKey: ['32 bytes'],
  macTokens: BOOLEAN,
  macWindow: POSITIVE,
  introspectionMaxAge: ['zero', ...POSITIVE],
  bodyLimit: ['two thousand'],
  mountPath: ['an empty string', 'a path'],
  corsOrigins: ['false', 'an array'],
  appearance: ['an object'],
  locale: ['a function'],
  texts: ['an object'],
  // Every plain object: its lists are checked once the pages are loaded.
  pageSources: [
    'an object',
    'a store',
    'half a store',
    'a store of no functions',
    'digests',
    'half of the digests',
    'catalogue',
    'a catalogue through JSON',
    'pages',
    'one page',
    'a page that is a string',
    'a page that there is not',
  ],
  pages: ['an object', 'pages', 'one page'],
  onEvent: ['a function'],
  audit: [],
  requestId: ['a function'],
  onError: ['a function'],
  clock: ['a function'],
  entropy: ['a function'],
  digests: ['digests'],
  allowInsecureIssuer: BOOLEAN,
}

/** Options that have options in them, and so are refused in other words, too. */
const ALSO_INSIDE: Readonly<Record<string, string>> = {
  pages: '(: the options?( pages)?|, pages: .*)',
  audiences: '(: the option audiences|, audiences\\[0\\]: the options)',
}

describe('STYLE 7 options', () => {
  it.each(Object.entries(TAKEN))('%s takes what it should and nothing else', (name, taken) => {
    const all = Object.entries(VALUES)
    for (const [what, value] of all.filter(([each]) => taken.includes(each)))
      expect(() => make({ [name]: value }), what).not.toThrow()
    const of = ALSO_INSIDE[name] ?? `: the option ${name}`
    const said = new RegExp(`^createAuthorizationServer${of} .*(must be .+; got .+|did you mean .+|it takes .+)$`)
    for (const [what, value] of all.filter(([each]) => !taken.includes(each)))
      expect(() => make({ [name]: value }), what).toThrow(mistake(said))
  })

  it.each(['Issuer', 'issuer ', 'baseUrl', 'ttl', 'toString', '__defineGetter__', 'hasOwnProperty'])(
    'an unknown one is refused: %s',
    (name) => {
      expect(() => make({ [name]: 1 })).toThrow(
        mistake(`createAuthorizationServer: there is no option ${/^\w+$/.test(name) ? name : JSON.stringify(name)}; `),
      )
    },
  )

  it('an unknown one is refused that only JSON can spell', () => {
    const options = Object.assign(JSON.parse('{"__proto__":{"issuer":"https://evil.example"}}'), NEEDED)
    // `assign` would lose it: so it is an own property here.
    Object.defineProperty(options, '__proto__', { value: {}, enumerable: true, configurable: true, writable: true })
    expect(() => createAuthorizationServer(options)).toThrow(
      mistake('createAuthorizationServer: there is no option __proto__; it takes issuer, store, '),
    )
  })

  it.each(['issuer', 'store', 'user', 'signInUrl'])('%s is needed', (name) => {
    for (const without of [undefined, 'absent']) {
      const options: Record<string, unknown> = { ...NEEDED, [name]: undefined }
      if (without === 'absent') delete options[name]
      const given = options as unknown as AuthorizationServerOptions // on purpose, without one
      expect(() => createAuthorizationServer(given)).toThrow(
        mistake(new RegExp(`^createAuthorizationServer: the option ${name} must be .+; got undefined$`)),
      )
    }
  })

  it('undefined is as if it were absent', () => {
    const names = Object.keys(TAKEN).filter((name) => !Object.hasOwn(NEEDED, name))
    const settings = resolveOptions({ ...NEEDED, ...Object.fromEntries(names.map((name) => [name, undefined])) })
    expect(Object.keys(settings).sort()).toStrictEqual(Object.keys(resolveOptions(NEEDED)).sort())
    expect(settings.accessTokenLifetime).toBe(28_800)
  })

  it('8 the defaults are exactly these', () => {
    const settings = resolveOptions(NEEDED)
    const { scopes, pages, rules, redirect, onEvent, onError, clock, entropy, remoteAddress, clientKeyOf, ...rest } =
      settings
    expect({ ...rest }).toStrictEqual({
      ...NEEDED,
      codeLifetime: 600,
      accessTokenLifetime: 8 * 3600,
      refreshTokenLifetime: 180 * 86_400,
      gracePeriod: 5 * 60,
      consentLifetime: 600,
      deviceCodeLifetime: 600,
      devicePollingInterval: 5,
      refreshReplay: 'revoke',
      consent: 'always',
      grantLimit: 50,
      redirectMatching: 'domain',
      allowLocalhost: true,
      openidConfiguration: false,
      requirePkce: false,
      allowClientSecretPost: true,
      macTokens: false,
      macWindow: 300,
      introspectionMaxAge: 0,
      bodyLimit: 65_536,
      mountPath: '',
      corsOrigins: new Set(),
      audiences: new Map(),
      issuerPath: '',
      allowInsecureIssuer: false,
      digests: portableDigests,
      texts: {},
      appearance: {},
      switchAccountUrl: undefined,
      pageSources: {},
      resources: undefined,
      locale: undefined,
      audit: 'reported',
      requestId: undefined,
      authorize: undefined,
      clientPolicy: undefined,
      registrationLimiter: undefined,
      fetchClientMetadata: undefined,
      userCodeLimiter: undefined,
      deviceLimiter: undefined,
      derivationKey: undefined,
      otherDerivationKeys: [],
    })
    expect([...scopes.entries]).toStrictEqual([...serviceScopes().entries])
    expect({ ...pages }).toStrictEqual({})
    expect({ ...rules }).toStrictEqual({
      catalogue: scopes,
      audiences: new Map(),
      codeLifetime: 600,
      accessTokenLifetime: 28_800,
      refreshTokenLifetime: 15_552_000,
      gracePeriod: 300,
      refreshReplay: 'revoke',
      deviceCodeLifetime: 600,
      devicePollingInterval: 5,
      digests: portableDigests,
      derivationKey: undefined,
      otherDerivationKeys: [],
    })
    expect({ ...redirect }).toStrictEqual({ matching: 'domain', allowLocalhost: true })
    expect(onEvent).toBeUndefined()
    const from = (native: unknown) => remoteAddress({ method: 'GET', url: '/', headers: {}, native })
    expect(from({ socket: { remoteAddress: '192.0.2.1' } })).toBe('192.0.2.1')
    for (const native of [undefined, null, {}, { socket: {} }, { socket: { remoteAddress: 7 } }, 'text']) {
      expect(from(native)).toBeUndefined()
    }
    const before = Math.floor(Date.now() / 1000)
    const now = clock()
    expect([before <= now, now <= Date.now() / 1000]).toEqual([true, true])
    expect(Number.isInteger(clock())).toBe(true)
    expect(entropy(32)).toHaveLength(32)
    const said = vi.spyOn(console, 'error').mockImplementation(() => {})
    try {
      onError('an error')
      expect(said.mock.calls).toStrictEqual([['an error']])
    } finally {
      said.mockRestore()
    }
  })

  it('the body limit is from 1 KiB to 16 MiB, since one string has to hold a body', () => {
    for (const bodyLimit of [1024, 2 ** 24]) expect(() => make({ bodyLimit })).not.toThrow()
    for (const bodyLimit of [1023, 2 ** 24 + 1, 2 ** 30])
      expect(() => make({ bodyLimit })).toThrow(mistake('createAuthorizationServer: the option bodyLimit must be'))
  })

  it('the body limit of the server is the one of the options, for its adapter', () => {
    expect(createAuthorizationServer({ ...NEEDED, bodyLimit: 2000 }).bodyLimit).toBe(2000)
    expect(createAuthorizationServer(NEEDED)).toMatchObject({ bodyLimit: 65_536, issuer: 'https://git.example' })
  })

  it('an origin for CORS is taken only as a browser spells it, and only if the network cannot change its pages', () => {
    const good = ['https://app.example', 'https://app.example:8443', 'http://localhost:5173', 'http://[::1]']
    expect(() => make({ corsOrigins: good })).not.toThrow()
    const wrong: readonly unknown[] = [
      ...[
        '*',
        'null',
        '',
        'app.example',
        'https://*',
        'https://*.app.example',
        'https://app.example/',
        'https://App.example',
      ],
      ...[
        'https://app.example:443',
        'https://ada@app.example',
        'https://app.example#',
        'com.example.app://a',
        undefined,
        7,
      ],
      ...[new URL('https://app.example'), ['https://app.example'], /app/, 'https://bücher.example', 'http://127.1'],
    ]
    for (const each of wrong)
      expect(() => make({ corsOrigins: ['https://app.example', each] }), String(each)).toThrow(
        mistake('createAuthorizationServer: the option corsOrigins must be a list of origins, such as '),
      )
    const insecure = { corsOrigins: ['http://app.example'] }
    expect(() => make(insecure)).toThrow(
      mistake(
        'createAuthorizationServer: the option corsOrigins must be a list of origins with https, or http on loopback or with allowInsecureIssuer; got "http://app.example"',
      ),
    )
    expect(() => make({ ...insecure, allowInsecureIssuer: true })).not.toThrow()
  })

  it('a protected resource is taken only as a browser spells it, once, with a name and scopes of the catalogue', () => {
    const good = [
      'https://git.example',
      'https://git.example/mcp',
      'https://git.example/mcp/',
      'http://localhost:3000/mcp',
    ]
    expect(() => make({ audiences: good.map((resource) => ({ resource, name: 'x' })) })).not.toThrow()
    const wrong: readonly (readonly [Record<string, unknown>, string])[] = [
      ...[
        ...[
          '',
          'mcp',
          'git.example',
          'urn:mcp',
          'https://git.example/',
          'https://GIT.example',
          'https://git.example:443',
        ],
        ...[
          'https://git.example/mcp?x',
          'https://git.example/mcp#x',
          'https://a@git.example',
          'http://git.example/mcp',
          7,
        ],
        ...['https://git.example/a b', 'https://git.example/"', `https://git.example/${'x'.repeat(512)}`],
      ].map(
        (resource) => [{ resource, name: 'x' }, 'the option resource must be an https URL of at most 512 '] as const,
      ),
      ...['', ' ', 'two\nlines', 'x'.repeat(51), 'a\u202eb', 7].map(
        (name) => [{ name }, 'the option name must be a line of 1 to 50 characters'] as const,
      ),
      ...[[], ['x:r'], 'repo-code:r', [7], [['repo-code:r']]].map(
        (scopes) => [{ scopes }, 'the option scopes must be a list of scopes of the catalogue'] as const,
      ),
      [{ title: 'x' }, 'there is no option title'],
      [{ resource: 'https://git.example/a' }, 'the option resource must be an https URL of at most 512 '],
    ]
    const first = { resource: 'https://git.example/a', name: 'x' }
    for (const [changes, said] of wrong)
      expect(
        () => make({ audiences: [first, { resource: 'https://git.example/b', name: 'x', ...changes }] }),
        JSON.stringify(changes),
      ).toThrow(mistake(`createAuthorizationServer, audiences[1]: ${said}`))
    expect(() => make({ audiences: [{ resource: 'https://git.example' }] })).toThrow(
      mistake('createAuthorizationServer, audiences[0]: the option name must be '),
    )
    const insecure = { audiences: [{ ...first, resource: 'http://git.example' }], allowInsecureIssuer: true }
    expect(() => make(insecure)).not.toThrow()
  })

  it('are not changed, and can be frozen', () => {
    const options = Object.freeze({ ...NEEDED, pages: Object.freeze({}), derivationKey: new Uint8Array(32) })
    const before = { ...options }
    createAuthorizationServer(options)
    expect(options).toStrictEqual(before)
  })

  it.each([
    ['a Uint8Array', new Uint8Array(32)],
    // Of which `slice` gives the same bytes.
    ['a Buffer', Buffer.alloc(32)],
    ['a part of others', new Uint8Array(64).subarray(16, 48)],
  ])('a derivation key that is changed afterwards changes nothing: %s', async (_, derivationKey) => {
    derivationKey.fill(1)
    const test = await testServer({ derivationKey })
    const first = await tokens(test)
    const { body } = await refresh(test, first.refresh_token)
    derivationKey.fill(2)
    expect((await refresh(test, first.refresh_token)).body).toStrictEqual(body)
  })

  it('a polluted prototype changes nothing, before the server is made and after', async () => {
    const pollution: Record<string, unknown> = {
      consent: 'once',
      refreshReplay: 'refuse',
      accessTokenLifetime: 1,
      allowClientSecretPost: false,
      allowInsecureIssuer: true,
      allowLocalhost: false,
      openidConfiguration: true,
      mountPath: '/evil',
      corsOrigins: ['https://evil.example'],
      derivationKey: new Uint8Array(32),
      resources: () => [{ id: 'polluted' }],
      onEvent: () => {
        throw new Error('polluted')
      },
      unknown: 1,
    }
    const plain = resolveOptions(NEEDED)
    const test = await testServer()
    const first = await tokens(test)
    for (const [name, value] of Object.entries(pollution)) {
      Object.defineProperty(Object.prototype, name, { value, configurable: true, enumerable: false, writable: true })
    }
    try {
      const settings = resolveOptions(NEEDED)
      const { unknown: _, ...names } = pollution
      for (const [name, value] of Object.entries(names)) expect(Reflect.get(settings, name), name).not.toBe(value)
      expect(settings.resources).toBeUndefined()
      expect(Object.values(settings.rules)).toStrictEqual(Object.values(plain.rules))
      expect(settings.rules.derivationKey).toBeUndefined()
      expect(() => make({ issuer: 'http://git.example' })).toThrow(
        mistake('createAuthorizationServer: the option issuer must be https, or http on loopback'),
      )
      const { body } = await send(test.server, { url: authorizationUrl() })
      expect(body).not.toContain('polluted')
      expect((await refresh(test, first.refresh_token)).body.expires_in).toBe(28_800)
    } finally {
      for (const name of Object.keys(pollution)) Reflect.deleteProperty(Object.prototype, name)
    }
    // And what was derived then is derived now.
    expect((await refresh(test, first.refresh_token)).status).toBe(200)
  })
})

describe('RFC 8414, 2 the issuer', () => {
  const OPTION = 'createAuthorizationServer: the option issuer must be'
  const CANONICAL = `${OPTION} a canonical URL without user info, query, fragment and a slash at its end; got `
  const HTTPS = `${OPTION} https, or http on loopback or with allowInsecureIssuer; got `

  it.each([
    ['', `${OPTION} an https URL without a slash at its end`],
    ['git.example', `${OPTION} an https URL without a slash at its end`],
    ['https://', `${OPTION} an https URL without a slash at its end`],
    ['/base', `${OPTION} an https URL without a slash at its end`],
    ['https://git.example/', CANONICAL],
    ['https://git.example/base/', CANONICAL],
    ['https://git.example?a=b', CANONICAL],
    ['https://git.example/base?', CANONICAL],
    ['https://git.example#', CANONICAL],
    ['https://git.example/base#top', CANONICAL],
    ['https://user@git.example', CANONICAL],
    ['https://user:password@git.example', CANONICAL],
    ['https://:password@git.example', CANONICAL],
    ['https://Git.example', CANONICAL],
    ['HTTPS://git.example', CANONICAL],
    ['https://git.example:443', CANONICAL],
    ['https://git.example/a/../b', CANONICAL],
    ['https://git.example/a b', CANONICAL],
    ['https:\\\\git.example', CANONICAL],
    [' https://git.example', CANONICAL],
    ['https://b\u{fc}cher.example', CANONICAL],
    ['https://0x7f.1', CANONICAL],
    ['ftp://git.example', HTTPS],
    ['wss://git.example', HTTPS],
    ['com.example.app:/base', HTTPS],
  ])('may not be %j', (issuer, message) => {
    expect(() => make({ issuer })).toThrow(mistake(message))
    expect(() => make({ issuer, allowInsecureIssuer: true })).toThrow(mistake(message))
  })

  it.each([
    'https://git.example',
    'https://git.example/base',
    'https://git.example/base/deep',
    'https://git.example:8443',
    'https://[2001:db8::1]/base',
    'http://127.0.0.1',
    'http://127.0.0.1:8080/base',
    'http://[::1]:8080',
    'http://localhost:8080',
  ])('may be %j', (issuer) => {
    expect(() => make({ issuer })).not.toThrow()
  })

  it.each([
    'http://git.example',
    'http://git.example:8080/base',
    'http://127.0.0.2',
    'http://10.0.0.1',
    'http://0.0.0.0',
    'http://localhost.example',
    'http://sub.localhost',
    'http://127.0.0.1.example',
  ])('[51] http off loopback is refused unless the host says so: %j', async (issuer) => {
    expect(() => make({ issuer })).toThrow(mistake(HTTPS))
    expect(() => make({ issuer, allowInsecureIssuer: false })).toThrow(mistake(HTTPS))
    const test = await testServer({ issuer, allowInsecureIssuer: true, mountPath: '' })
    const { response, code } = await authorize(test)
    expect(response).toStrictEqual(answer(WEB_CALLBACK, { code }, issuer))
  })

  it('[51] no header of a request changes what is issued', async () => {
    const liars: Record<string, string>[] = [
      { host: 'evil.example' },
      { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http', 'x-forwarded-prefix': '/evil' },
      { forwarded: 'host=evil.example;proto=http', 'x-original-url': '/evil', 'x-rewrite-url': '/evil' },
      { 'x-http-method-override': 'PUT', via: 'evil.example', referer: 'https://evil.example/' },
    ]
    const entropy = (length: number): Uint8Array => new Uint8Array(length).fill(7)
    /** Every response of a whole flow, in order. */
    const flow = async (headers: Record<string, string>) => {
      const test = await testServer({ entropy })
      const client = { client_id: 'web', client_secret: 'a-secret-of-the-web-application' }
      const shown = await send(test.server, { url: authorizationUrl({ state: 's' }), headers })
      const error = await send(test.server, { url: authorizationUrl({ scope: 'unknown' }), headers })
      test.session.user = undefined
      const away = await send(test.server, { url: authorizationUrl(), headers })
      test.session.user = { subject: 'ada', name: 'Ada' }
      const { code } = await authorize(test)
      const form = { ...client, grant_type: 'authorization_code', code }
      const exchanged = await post(test.server, '/oauth2/token', form, headers)
      const bad = await post(test.server, '/oauth2/token', form, headers)
      const revoked = await post(test.server, '/oauth2/revoke', { ...client, token: 'x' }, headers)
      const metadata = await send(test.server, { url: '/.well-known/oauth-authorization-server', headers })
      const challenge = await guard(test.server, { headers }, { scope: 'repo-code:r' })
      return { shown, error, away, exchanged, bad, revoked, metadata, challenge }
    }
    const honest = await flow({})
    expect(honest.exchanged.status).toBe(200)
    for (const headers of liars) expect(await flow(headers)).toStrictEqual(honest)
  })
})

describe('what each option does', () => {
  it('lifetimes are to the second', async () => {
    const options = { codeLifetime: 7, accessTokenLifetime: 11, refreshTokenLifetime: 13, gracePeriod: 3 }
    const test = await testServer(options)
    const { code: late } = await authorize(test)
    const { code } = await authorize(test)
    test.clock.now = START + 6
    const { body } = await exchange(test, code)
    expect(body.expires_in).toBe(11)
    test.clock.now = START + 7
    expect((await exchange(test, late)).status).toBe(400)
    test.clock.now = START + 6 + 10
    expect((await call(test, body.access_token)).type).toBe('authenticated')
    test.clock.now = START + 6 + 11
    expect((await call(test, body.access_token)).type).toBe('refused')
    test.clock.now = START + 6 + 12
    const { body: next } = await refresh(test, body.refresh_token)
    test.clock.now += 2
    // Its grace would be over later, its own lifetime is over now.
    expect((await refresh(test, body.refresh_token)).status).toBe(400)
    expect((await refresh(test, next.refresh_token)).status).toBe(200)
  })

  it('no grace period: the old tokens stop at once', async () => {
    const test = await testServer({ gracePeriod: 0 })
    const first = await tokens(test)
    expect((await refresh(test, first.refresh_token)).status).toBe(200)
    expect((await call(test, first.access_token)).type).toBe('refused')
    expect((await refresh(test, first.refresh_token)).status).toBe(400)
  })

  it('a replayed refresh token revokes its grant, or is refused and no more', async () => {
    for (const refreshReplay of ['revoke', 'refuse'] as const) {
      const test = await testServer({ refreshReplay })
      const first = await tokens(test)
      const { body } = await refresh(test, first.refresh_token)
      test.clock.now += 300
      expect((await refresh(test, first.refresh_token)).status).toBe(400)
      expect((await call(test, body.access_token)).type).toBe(refreshReplay === 'revoke' ? 'refused' : 'authenticated')
    }
  })

  it('the digests of a platform give the same results as the portable ones', async () => {
    const test = await testServer({ digests: nodeDigests })
    const { access_token } = await tokens(test)
    const server = createAuthorizationServer({ ...NEEDED, store: test.store, clock: () => test.clock.now })
    expect((await call({ ...test, server }, access_token)).type).toBe('authenticated')
  })

  it('random bytes that the host fills anew are copied', () => {
    for (const bytes of [new Uint8Array(16), Buffer.alloc(16)]) {
      const { entropy } = resolveOptions({ ...NEEDED, entropy: () => bytes.fill(1) })
      const drawn = entropy(16)
      bytes.fill(2)
      expect([...drawn]).toStrictEqual(Array(16).fill(1))
    }
  })

  it('[28] the platform’s randomness: so many bytes as asked for, and never the same again', () => {
    const { entropy } = resolveOptions(NEEDED)
    const seen = new Set<string>()
    let count = 0
    for (const length of [16, 32, 64, 8192, 8193, 20_000, ...Array(2000).fill(64), ...Array(500).fill(17)]) {
      const bytes = entropy(length)
      expect(bytes).toHaveLength(length)
      // In pieces of 16 bytes, of which no two can be equal.
      for (let at = 0; at + 16 <= length; at += 16) {
        seen.add(Buffer.from(bytes.subarray(at, at + 16)).toString('hex'))
        count++
      }
    }
    expect(seen.size).toBe(count)
    // What was handed out belongs to whoever asked: writing to it changes nobody else's.
    const first = entropy(32)
    const copy = first.slice()
    const second = entropy(32)
    second.fill(0)
    expect(first).toStrictEqual(copy)
    expect(entropy(32).some((byte) => byte !== 0)).toBe(true)
  })

  it('the user is looked up for the authorization endpoint alone', async () => {
    const asked: HttpRequest[] = []
    const test = await watchedServer({
      user: (request) => {
        asked.push(request)
        return { subject: 'ada' }
      },
    })
    const { access_token, refresh_token } = await tokens(test)
    expect(asked).toHaveLength(2)
    await refresh(test, refresh_token)
    await call(test, access_token)
    await send(test.server, { url: '/oauth2/style.css' })
    expect(asked).toHaveLength(2)
    expect(await grantsOf(test.store)).toHaveLength(1)
  })
})

describe('a clock and an entropy of the host', () => {
  it.each([
    ['milliseconds', () => Date.now()],
    ['fractions', () => Date.now() / 1000],
    ['a string', () => '1800000000' as unknown as number],
    ['a time before the epoch', () => -1],
  ])('refuses a clock that gives %s', async (_, clock) => {
    await expect(testServer({ clock })).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
  })

  it.each([
    ['too few bytes', () => new Uint8Array(15)],
    ['too many bytes', () => new Uint8Array(65)],
    ['a string', (length: number) => 'x'.repeat(length) as unknown as Uint8Array],
    ['nothing', () => undefined as unknown as Uint8Array],
  ])('[28] makes no secret of an entropy that gives %s', async (_, entropy) => {
    await expect(testServer({ entropy })).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
  })
})
