/**
 * The client's handling of answers to token requests: tokens that it can use, or an error that says what to do.
 * @module
 * @see RFC 6749, sections 5 and 6; RFC 7009
 */
import { inspect } from 'node:util'
import { type Client, type ClientOptions, discover, revokeTokens, type Tokens } from 'grantwell/client'
import { memoryStore } from 'grantwell/storage/memory'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { retryAfterOf } from '../../src/client/http/http.js'
import { refreshTokens, tokensOf } from '../../src/client/token-endpoint.js'
import { START, tokens as tokensOfWeb, WEB, works } from '../support.js'
import {
  breaks,
  hangs,
  losesAnswer,
  type MadeUp,
  madeUp,
  openService,
  type Reply,
  type Service,
  thrownBy,
} from './service.js'

/** Checks whether an access token works at the service. */
const alive = ({ test }: Service, { accessToken }: Tokens): Promise<boolean> => works(test, accessToken)

/** A client of a service, whose clock is the service's, but for a part of a second that the client leaves out. */
function clientOf({ issuer, test }: Service, options: Partial<ClientOptions> = {}): Promise<Client> {
  return discover({ issuer, ...WEB, clock: () => test.clock.now + 0.9, ...options })
}

describe('at a real service', () => {
  let service: Service
  let failing = false
  let client: Client

  beforeAll(async () => {
    const store = memoryStore({ clock: () => START })
    const read: typeof store.read = (keys) => (failing ? Promise.reject(new Error('gone')) : store.read(keys))
    service = await openService({ store: { ...store, read } })
    client = await clientOf(service, { timeout: 1000 })
  })
  afterAll(() => service.close())
  afterEach(() => {
    failing = false
    service.faults.length = 0
  })

  /** The tokens of a new grant. */
  async function granted(scope = 'repo-code:r'): Promise<Tokens> {
    return tokensOf(client, { ...(await tokensOfWeb(service.test, { scope })), token_type: 'bearer' }, { scope })
  }

  it('a refresh gives new tokens, of whom and until when included', async () => {
    const first = await granted()
    service.test.clock.now = START + 100
    const second = await refreshTokens(client, first)
    expect(second).toEqual({
      v: 1,
      issuer: service.issuer,
      clientId: 'web',
      accessToken: expect.stringMatching(/^gwa_/),
      refreshToken: expect.stringMatching(/^gwr_/),
      issuedAt: START + 100,
      expiresAt: START + 100 + 28_800,
      scope: 'repo-code:r',
      tokenType: 'bearer',
    })
    service.test.clock.now = START
    expect(second.accessToken).not.toBe(first.accessToken)
    expect(await alive(service, second)).toBe(true)
    expect(JSON.parse(JSON.stringify(second))).toEqual(second)
  })

  it('a refresh is one request, and whose answer was lost can be asked for again', async () => {
    const first = await granted()
    service.faults.push({ path: '/oauth2/token', fault: losesAnswer })
    service.paths.length = 0
    await expect(refreshTokens(client, first)).rejects.toMatchObject({ code: 'ERR_UNREACHABLE' })
    expect(service.paths).toEqual(['/oauth2/token'])
    const second = await refreshTokens(client, first)
    expect(await refreshTokens(client, first)).toEqual(second)
    expect(await alive(service, second)).toBe(true)
  })

  it('a refresh of what has ended means that the user must authorize again', async () => {
    const tokens = await granted()
    await revokeTokens(client, tokens)
    const error = await thrownBy(refreshTokens(client, tokens))
    expect(error).toMatchObject({ code: 'ERR_AUTHORIZATION_REQUIRED', error: 'invalid_grant' })
    const { refreshToken: _, ...unrefreshable } = await granted()
    service.paths.length = 0
    await expect(refreshTokens(client, unrefreshable)).rejects.toMatchObject({ code: 'ERR_AUTHORIZATION_REQUIRED' })
    expect(service.paths).toEqual([])
  })

  it('a revocation ends all tokens of the grant, and may be repeated', async () => {
    const first = await granted()
    const second = await refreshTokens(client, first)
    await revokeTokens(client, second)
    expect([await alive(service, first), await alive(service, second)]).toEqual([false, false])
    await revokeTokens(client, second)
  })

  it('a revocation without a refresh token ends the access token', async () => {
    const tokens = await granted()
    const { refreshToken: _, ...unrefreshable } = tokens
    await revokeTokens(client, unrefreshable)
    expect(await alive(service, tokens)).toBe(false)
    expect(await alive(service, await refreshTokens(client, tokens))).toBe(true)
  })

  it('tokens of another service or client are sent to nobody', async () => {
    const tokens = await granted()
    service.paths.length = 0
    for (const other of [{ issuer: 'https://other.example' }, { clientId: 'other' }]) {
      const foreign = { ...tokens, ...other }
      await expect(refreshTokens(client, foreign)).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
      await expect(revokeTokens(client, foreign)).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
    }
    const handmade = { ...client }
    await expect(refreshTokens(handmade, tokens)).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
    expect(service.paths).toEqual([])
  })

  it('a client whose secret is wrong is told so, and a good one is asked for it as it says', async () => {
    const tokens = await granted()
    const stranger = await clientOf(service, { clientSecret: 'wrong' })
    const error = await thrownBy(refreshTokens(stranger, tokens))
    expect(error).toMatchObject({ code: 'ERR_RESPONSE', error: 'invalid_client' })
    expect(String(error)).toContain('does not know this client')
    await expect(revokeTokens(stranger, tokens)).rejects.toMatchObject({
      code: 'ERR_RESPONSE',
      error: 'invalid_client',
    })
    expect(await alive(service, tokens)).toBe(true)

    const posting = await clientOf(service, { clientAuthentication: 'client_secret_post' })
    expect(await alive(service, await refreshTokens(posting, tokens))).toBe(true)
    const strict = await openService({ allowClientSecretPost: false })
    try {
      const refused = await clientOf(strict, { clientAuthentication: 'client_secret_post' })
      const theirs = tokensOf(refused, { ...(await tokensOfWeb(strict.test)), token_type: 'bearer' }, {})
      await expect(refreshTokens(refused, theirs)).rejects.toMatchObject({ code: 'ERR_RESPONSE' })
    } finally {
      await strict.close()
    }
  })

  it('a service whose store is down is worth another try, when it says', async () => {
    const tokens = await granted()
    failing = true
    for (const action of [refreshTokens, revokeTokens]) {
      const error = await thrownBy(action(client, tokens))
      expect(error).toMatchObject({ code: 'ERR_UNREACHABLE', error: 'temporarily_unavailable' })
      expect(retryAfterOf(error, 0)).toBe(1)
    }
    failing = false
    expect(await alive(service, await refreshTokens(client, tokens))).toBe(true)
  })

  it('too many refreshes at once are worth another try, when the service says', async () => {
    let tokens = await granted()
    const error = await thrownBy(
      (async () => {
        for (let count = 0; count < 40; count++) tokens = await refreshTokens(client, tokens)
      })(),
    )
    expect(error).toMatchObject({ code: 'ERR_UNREACHABLE', error: 'temporarily_unavailable' })
    expect(String(error)).toContain('429')
    expect(retryAfterOf(error, 0)).toBeGreaterThan(200)
    expect(await alive(service, tokens)).toBe(true)
  })

  it('a signal ends a request at once, with its reason', async () => {
    const tokens = await granted()
    const reason = new Error('enough')
    for (const action of [refreshTokens, revokeTokens]) {
      const controller = new AbortController()
      const hanging = { path: action === refreshTokens ? '/oauth2/token' : '/oauth2/revoke' }
      service.faults.push({
        ...hanging,
        fault: (...args) => {
          setTimeout(() => controller.abort(reason), 10)
          return hangs(...args)
        },
      })
      expect(await thrownBy(action(client, tokens, { signal: controller.signal }))).toBe(reason)
      service.paths.length = 0
      expect(await thrownBy(action(client, tokens, { signal: controller.signal }))).toBe(reason)
      expect(service.paths).toEqual([])
    }
    expect(await alive(service, tokens)).toBe(true)
  })

  it('a connection that breaks is worth another try', async () => {
    const tokens = await granted()
    service.faults.push({ path: '/oauth2/token', fault: breaks })
    await expect(refreshTokens(client, tokens)).rejects.toMatchObject({ code: 'ERR_UNREACHABLE' })
    expect(await alive(service, await refreshTokens(client, tokens))).toBe(true)
  })
})

describe('an answer', () => {
  const ACCESS = 'an-access-token-that-nobody-may-read'
  const REFRESH = 'a-refresh-token-that-nobody-may-read'
  const PLAIN = { access_token: ACCESS, token_type: 'bearer' }
  const MAC = { access_token: ACCESS, token_type: 'mac', mac_key: 'a-key', mac_algorithm: 'hmac-sha-256' }

  let service: MadeUp
  let client: Client
  let before: Tokens

  beforeAll(async () => {
    service = await madeUp()
    client = await discover({ issuer: service.issuer, clientId: 'tool', timeout: 2, clock: () => START })
    before = {
      v: 1,
      issuer: service.issuer,
      clientId: 'tool',
      accessToken: 'old',
      issuedAt: START - 9,
      expiresAt: START - 1,
      refreshToken: REFRESH,
      scope: 'a b',
      tokenType: 'bearer',
    }
  })
  afterAll(() => service.close())

  /** A refresh that is answered so. */
  async function refreshed(reply: Reply): Promise<Tokens> {
    service.replies['/token'] = [reply]
    return refreshTokens(client, before)
  }

  /** Returns the error, and checks that no log of it shows a credential. */
  async function failure(reply: Reply): Promise<unknown> {
    const error = await thrownBy(refreshed(reply))
    const logged = inspect(error, { depth: 10, showHidden: true }) + String(error) + JSON.stringify(error)
    for (const secret of [ACCESS, REFRESH, 'a-key']) expect(logged).not.toContain(secret)
    expect(String(error)).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    return error
  }

  it('comes to a request of the right form', async () => {
    service.asked.length = 0
    await refreshed({ body: PLAIN })
    expect(service.asked).toEqual([
      {
        path: '/token',
        method: 'POST',
        form: { grant_type: 'refresh_token', refresh_token: REFRESH, client_id: 'tool' },
        authorization: undefined,
      },
    ])
    service.replies['/revoke'] = [{ status: 200 }]
    service.asked.length = 0
    await revokeTokens(client, before)
    expect(service.asked[0]?.form).toEqual({ token: REFRESH, token_type_hint: 'refresh_token', client_id: 'tool' })
  })

  it.each(['bearer', 'Bearer', 'BEARER'])('of the type %s is a bearer token', async (token_type) => {
    expect(await refreshed({ body: { ...PLAIN, token_type } })).toMatchObject({ tokenType: 'bearer' })
  })

  it.each(['mac', 'MAC', 'Mac'])('of the type %s has a key', async (token_type) => {
    const body = { ...MAC, token_type, expires_in: 60 }
    const { tokenType, ...rest } = await refreshed({ body })
    expect({ tokenType, ...rest }).toMatchObject({ tokenType: 'mac', macKey: 'a-key', macAlgorithm: 'hmac-sha-256' })
  })

  it('of the type bearer has no key, whatever else it says', async () => {
    const tokens = await refreshed({ body: { ...MAC, token_type: 'bearer' } })
    expect(Object.keys(tokens).sort()).toEqual(
      ['accessToken', 'clientId', 'issuedAt', 'issuer', 'refreshToken', 'scope', 'tokenType', 'v'].sort(),
    )
  })

  it.each([
    { token_type: 'pop' },
    { token_type: 'DPoP' },
    { token_type: 'N_A' },
    { token_type: 'constructor' },
    { token_type: '__proto__' },
    { token_type: 'x\u001b[2J' },
    { token_type: 'mac', mac_key: undefined },
    { token_type: 'mac', mac_key: 7 },
    { token_type: 'mac', mac_algorithm: undefined },
    { token_type: 'mac', mac_algorithm: 'hmac-sha-1' },
    { token_type: 'mac', mac_algorithm: 'HMAC-SHA-256' },
  ])('of a type that cannot be used is refused: %j', async (change) => {
    expect(await failure({ body: { ...MAC, ...change } })).toMatchObject({ code: 'ERR_TOKEN_TYPE' })
  })

  it('that leaves something out means what was before', async () => {
    expect(await refreshed({ body: PLAIN })).toEqual({
      v: 1,
      issuer: service.issuer,
      clientId: 'tool',
      accessToken: ACCESS,
      issuedAt: START,
      refreshToken: REFRESH,
      scope: 'a b',
      tokenType: 'bearer',
    })
    expect(await refreshed({ body: { ...PLAIN, scope: 'a', refresh_token: 'new' } })).toMatchObject({
      scope: 'a',
      refreshToken: 'new',
    })
    expect(tokensOf(client, { access_token: 'x', token_type: 'bearer' }, {})).toEqual({
      v: 1,
      issuer: service.issuer,
      clientId: 'tool',
      accessToken: 'x',
      issuedAt: START,
      tokenType: 'bearer',
    })
  })

  it.each([
    [0, START],
    [60, START + 60],
    ['60', START + 60],
    [59.9, START + 59],
    [4_294_967_295, START + 4_294_967_295],
  ])('that expires in %j seconds expires then', async (expires_in, expiresAt) => {
    expect(await refreshed({ body: { ...PLAIN, expires_in } })).toMatchObject({ expiresAt })
  })

  it.each<[string, Reply]>([
    ['a page', { body: `<h1>${ACCESS}</h1>` }],
    ['a list', { body: [PLAIN] }],
    ['half of one', { body: `{"access_token":"${ACCESS}"`, headers: { 'Content-Type': 'application/json' } }],
    ['empty', { body: '', headers: { 'Content-Type': 'application/json' } }],
    ['nothing', { status: 204 }],
    ['a redirect', { status: 302, headers: { Location: '/elsewhere' } }],
    ['of no known status', { status: 700, body: PLAIN }],
    ['a status 201', { status: 201, body: PLAIN }],
    ['without an access token', { body: { token_type: 'bearer' } }],
    ['with an empty access token', { body: { ...PLAIN, access_token: '' } }],
    ['without a type', { body: { access_token: ACCESS } }],
    ['with a wrong time', { body: { ...PLAIN, expires_in: 'soon' } }],
    ['with a negative time', { body: { ...PLAIN, expires_in: -1 } }],
    ['with a wrong scope', { body: { ...PLAIN, scope: ['a'] } }],
    ['with a line end in the token', { body: { ...PLAIN, access_token: `${ACCESS}\r\nX: y` } }],
    ['with a letter that no header may have', { body: { ...PLAIN, access_token: `${ACCESS}é` } }],
    ['with a blank in a bearer token', { body: { ...PLAIN, access_token: `${ACCESS} ${ACCESS}` } }],
    ['with a blank behind a bearer token', { body: { ...PLAIN, access_token: `${ACCESS} ` } }],
    ['with a tab in the token', { body: { ...PLAIN, access_token: `${ACCESS}\t` } }],
    ['with an escape in the token', { body: { ...PLAIN, access_token: `${ACCESS}\u001b[2J` } }],
    ['with DEL in the token', { body: { ...PLAIN, access_token: `${ACCESS}\u007f` } }],
    ['with an escape in the scope', { body: { ...PLAIN, scope: 'a \u001b[2J' } }],
    ['with a direction mark in the scope', { body: { ...PLAIN, scope: 'a \u202eb' } }],
    ['with a time of no size', { body: { ...PLAIN, expires_in: 1e300 } }],
    ['with a time past all', { body: { ...PLAIN, expires_in: 4_294_967_296 } }],
    ['with a line end in the refresh token', { body: { ...PLAIN, refresh_token: `${REFRESH}\n` } }],
    ['with an empty key', { body: { ...MAC, mac_key: '' } }],
  ])('that is %s is none of such a service', async (_, reply) => {
    expect(await failure(reply)).toMatchObject({ code: 'ERR_RESPONSE', error: undefined })
  })

  it.each(['invalid_request', 'invalid_scope', 'unauthorized_client', 'of its own'])(
    'that refuses with %s says so, and is final',
    async (error) => {
      const body = { error, error_description: 'No.\nMore\u001b[2J' }
      const thrown = await failure({ status: 400, body })
      expect(thrown).toMatchObject({ code: 'ERR_RESPONSE', error })
      expect(String(thrown)).toContain(`No.More[2J (${error})`)
    },
  )

  it('that refuses says so in a code that is fit to be shown, however long it is', async () => {
    const error = `a\u001b]0;x\u0007\r\n\u202e\u009b${'b'.repeat(1000)}`
    for (const status of [400, 401, 503]) {
      const thrown = await failure({ status, body: { error, error_description: error } })
      expect(thrown).toMatchObject({ error: `a]0;x${'b'.repeat(195)}…` })
      expect(`${thrown}`).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expect(`${thrown}`.length).toBeLessThan(600)
    }
  })

  it('that refuses without a word is final too', async () => {
    expect(await failure({ status: 400, body: 'no' })).toMatchObject({ code: 'ERR_RESPONSE', error: undefined })
    const challenge = { 'WWW-Authenticate': 'Basic realm="x"' }
    for (const body of ['no', { error: 'invalid_client' }]) {
      const error = typeof body === 'string' ? undefined : body.error
      expect(await failure({ status: 401, headers: challenge, body })).toMatchObject({ code: 'ERR_RESPONSE', error })
    }
  })

  it.each<[string, Reply]>([
    ['hangs', { how: 'hang' }],
    ['stops in the middle', { body: PLAIN, how: { stall: 20 } }],
    ['is cut in the middle', { body: PLAIN, how: { cut: 20 } }],
    ['is a refusal cut in the middle', { status: 400, body: { error: 'invalid_grant' }, how: { cut: 12 } }],
    ['is a page cut in the middle', { body: '<h1>', how: { cut: 2 } }],
    ['is an error of the service', { status: 500, body: { error: 'server_error' } }],
    ['is an error of a proxy', { status: 502, body: '<h1>Bad gateway</h1>' }],
    ['asks to wait', { status: 429 }],
  ])('that %s is worth another try', async (_, reply) => {
    expect(await failure(reply)).toMatchObject({ code: 'ERR_UNREACHABLE' })
  })

  it('says when another try is worth it, in seconds or as a date', async () => {
    const wait = async (text: string) =>
      retryAfterOf(await failure({ status: 503, headers: { 'Retry-After': text } }), START)
    expect(await wait('7')).toBe(7)
    expect(await wait(new Date((START + 30) * 1000).toUTCString())).toBe(30)
    expect(await wait(new Date((START - 30) * 1000).toUTCString())).toBe(0)
    expect(await wait('later')).toBeUndefined()
    expect(retryAfterOf(await failure({ status: 503 }), START)).toBeUndefined()
    expect(retryAfterOf(await failure({ how: 'hang' }), START)).toBeUndefined()
    expect(retryAfterOf(new Error('another'), START)).toBeUndefined()
  })

  it('to a revocation that is refused is an error, and where there is no such endpoint nothing is asked', async () => {
    service.replies['/revoke'] = [{ status: 400, body: { error: 'unsupported_token_type' } }]
    const refused = await thrownBy(revokeTokens(client, before))
    expect(refused).toMatchObject({ code: 'ERR_RESPONSE', error: 'unsupported_token_type' })
    const bare = await madeUp({}, { revocation_endpoint: undefined })
    try {
      const other = await discover({ issuer: bare.issuer, clientId: 'tool' })
      const error = await thrownBy(revokeTokens(other, { ...before, issuer: bare.issuer }))
      expect(error).toMatchObject({ code: 'ERR_RESPONSE' })
      expect(String(error)).toContain('revocation_endpoint')
    } finally {
      await bare.close()
    }
  })
})
