/**
 * The revocation endpoint.
 * @module
 * @see Specification, section 4.4; RFC 7009
 */
import type { Digests, HttpResponse } from 'grantwell'
import { createAuthorizationServer, portableDigests } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { revocationResponse } from '../../src/protocol/request-about-token.js'
import { atRevocation, BUSY, grantsOf, INVALID_CLIENT, NO_SECRET, REVOKED, watchedServer } from '../server/helpers.js'
import type { TestServer, Tokens } from '../support.js'
import {
  authorize,
  basic,
  CHALLENGE,
  call,
  exchange,
  grantNamedBy,
  ISSUER,
  NATIVE,
  NATIVE_CALLBACK,
  OTHER,
  post,
  refresh,
  revoke,
  START,
  testServer,
  tokens,
  VERIFIER,
  WEB,
  works,
} from '../support.js'

const HINTS = [
  undefined,
  '',
  'access_token',
  'refresh_token',
  'code',
  'id_token',
  '__proto__',
  '\u{e9}',
  'x'.repeat(8193),
]

/** What of a pair works: the access token at the guard, the refresh token at the token endpoint. */
async function alive(test: TestServer, pair: Tokens): Promise<{ access: boolean; refresh: boolean }> {
  const access = await works(test, pair.access_token)
  return { access, refresh: (await refresh(test, pair.refresh_token)).status === 200 }
}

const BOTH = { access: true, refresh: true }

/** The answer to a revocation whose client accepts JSON alone. */
const REVOKED_AS_JSON: HttpResponse = {
  ...REVOKED,
  headers: { 'Content-Type': 'application/json', ...REVOKED.headers },
  body: '{}',
}

describe('4.4 what is revoked', () => {
  it('an access token: that token alone, at once; 200 with an empty body', async () => {
    const test = await testServer()
    const pair = await tokens(test)
    expect(await revoke(test, pair.access_token)).toStrictEqual(REVOKED)
    expect(await alive(test, pair)).toStrictEqual({ access: false, refresh: true })
  })

  it('a refresh token: the whole grant, at once; 200 with an empty body', async () => {
    const test = await testServer()
    const first = await tokens(test)
    const { body: second } = await refresh(test, first.refresh_token)
    expect(await revoke(test, second.refresh_token)).toStrictEqual(REVOKED)
    for (const pair of [first, second]) {
      expect(await alive(test, pair)).toStrictEqual({ access: false, refresh: false })
    }
  })

  it.each([
    ['application/json', true],
    ['APPLICATION/Json', true],
    [' \tapplication/json \t', true],
    ['application/json;charset=UTF-8', true],
    ['application/json ; charset=utf-8', true],
    ['application/json;q=1', true],
    ['application/json; q=0.001', true],
    ['application/json; Q=1.000 ', true],
    ['application/json; q=0', false],
    ['application/json;charset=utf-8; Q=0.000', false],
    ['*/*', false],
    ['application/*', false],
    ['application/json, text/plain, */*', false],
    ['application/json,', false],
    ['text/html, application/json', false],
    ['application/json application/json', false],
    ['application/jsonp', false],
    ['application/json-seq', false],
    ['application/vnd.api+json', false],
    ['text/html', false],
    ['', false],
  ])(
    'an Accept of %j names JSON alone: %j; that one gets an empty object, everybody else an empty body',
    async (accept, isJson) => {
      const test = await testServer()
      for (const token of [(await tokens(test)).access_token, 'unknown']) {
        const answer = await post(test.server, '/oauth2/revoke', { token }, { ...basic(WEB), accept })
        expect(answer).toStrictEqual(isJson ? REVOKED_AS_JSON : REVOKED)
        expect(await works(test, token)).toBe(false)
      }
    },
  )

  it('an Accept that came twice, as a list, names more than JSON alone', () => {
    expect(revocationResponse({ accept: ['application/json', 'text/html'] })).toStrictEqual(REVOKED)
    expect(revocationResponse({ accept: ['application/json'] })).toStrictEqual(REVOKED_AS_JSON)
    expect(revocationResponse({})).toStrictEqual(REVOKED)
  })

  it('an old refresh token within its grace period: the whole grant too', async () => {
    const test = await testServer()
    const first = await tokens(test)
    const { body: second } = await refresh(test, first.refresh_token)
    test.clock.now += 299
    expect(await revoke(test, first.refresh_token)).toStrictEqual(REVOKED)
    expect(await alive(test, second)).toStrictEqual({ access: false, refresh: false })
  })

  it('nothing of another grant of the same user and client', async () => {
    const test = await testServer()
    const [kept, gone] = [await tokens(test), await tokens(test)]
    await revoke(test, gone.refresh_token)
    expect(await alive(test, kept)).toStrictEqual(BOTH)
  })

  it('takes effect at the next request, on every server over the same store', async () => {
    const test = await testServer()
    const pair = await tokens(test)
    const server = createAuthorizationServer({
      issuer: ISSUER,
      store: test.store,
      user: () => undefined,
      signInUrl: () => '/',
      clock: () => test.clock.now,
    })
    expect(await works({ ...test, server }, pair.access_token)).toBe(true)
    await revoke(test, pair.access_token)
    expect(await works({ ...test, server }, pair.access_token)).toBe(false)
  })

  it('a public client revokes by its identifier alone', async () => {
    const test = await testServer()
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
    const { code } = await authorize(test, { client_id: 'native', redirect_uri: NATIVE_CALLBACK, ...pkce })
    const { body } = await exchange(test, code, { code_verifier: VERIFIER }, NATIVE)
    const form = { token: body.refresh_token, client_id: 'native' }
    expect(await post(test.server, '/oauth2/revoke', form)).toStrictEqual(REVOKED)
    expect(await works(test, body.access_token)).toBe(false)
  })

  it('[40] token_type_hint, right, wrong, unknown or malformed, never changes the outcome', async () => {
    const test = await testServer()
    for (const hint of HINTS) {
      const form: Record<string, string> = hint === undefined ? {} : { token_type_hint: hint }
      const first = await tokens(test)
      expect(await revoke(test, first.access_token, form)).toStrictEqual(REVOKED)
      expect(await alive(test, first)).toStrictEqual({ access: false, refresh: true })
      const second = await tokens(test)
      expect(await revoke(test, second.refresh_token, form)).toStrictEqual(REVOKED)
      expect(await alive(test, second)).toStrictEqual({ access: false, refresh: false })
      expect(await revoke(test, 'unknown', form)).toStrictEqual(REVOKED)
    }
    for (const written of ['token_type_hint=access_token&token_type_hint=refresh_token', 'token_type_hint=%FF']) {
      const pair = await tokens(test)
      const form = `token=${pair.refresh_token}&${written}`
      expect(await post(test.server, '/oauth2/revoke', form, basic(WEB))).toStrictEqual(REVOKED)
      expect(await works(test, pair.access_token)).toBe(false)
    }
  })
})

describe('4.4 what there is nothing to revoke of', () => {
  /** Every token that a client may not, or can no longer, revoke; none of it changes anything. */
  async function nothings(test: TestServer, pair: Tokens) {
    const flip = (text: string, index: number): string =>
      text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1)
    const { code } = await authorize(test)
    return {
      malformed: ['x', '__proto__', '\u{1f511}', pair.access_token.slice(1), `${pair.access_token}A`, 'x'.repeat(8192)],
      anotherKind: [code, `gwd_${pair.access_token.slice(4)}`, `gwr_${pair.access_token.slice(4)}`],
      unknown: [4, 25, 50].map((index) => flip(pair.access_token, index)),
      unknownRefresh: [4, 25, 50].map((index) => flip(pair.refresh_token, index)),
    }
  }

  it('[39] unknown, expired, revoked, foreign or malformed: 200 with an empty body, and a foreign one stays good', async () => {
    const test = await testServer()
    const pair = await tokens(test)
    const revoked = await tokens(test)
    await revoke(test, revoked.refresh_token)
    const dead = [revoked.access_token, revoked.refresh_token]
    for (const text of [...Object.values(await nothings(test, pair)).flat(), ...dead]) {
      expect(await revoke(test, text)).toStrictEqual(REVOKED)
    }
    for (const text of [pair.access_token, pair.refresh_token]) {
      expect(await revoke(test, text, {}, OTHER)).toStrictEqual(REVOKED)
    }
    expect(await alive(test, pair)).toStrictEqual(BOTH)
    test.clock.now += 28_800
    expect(await revoke(test, pair.access_token)).toStrictEqual(REVOKED)
    test.clock.now += 15_552_000
    expect(await revoke(test, pair.refresh_token)).toStrictEqual(REVOKED)
  })

  it('an access token is past revoking from the second on in which it expires, and so is a refresh token', async () => {
    for (const [kind, lifetime] of [
      ['access_token', 28_800],
      ['refresh_token', 15_552_000],
    ] as const) {
      for (const [seconds, writes] of [
        [lifetime - 1, 1],
        [lifetime, 0],
      ] as const) {
        const test = await watchedServer()
        const pair = await tokens(test)
        test.clock.now = START + seconds
        test.forget()
        expect(await revoke(test, pair[kind])).toStrictEqual(REVOKED)
        expect(test.trips.writes).toBe(writes)
      }
    }
  })

  it('[39] alike in time: as many round trips and digests for an unknown, an expired, a revoked and a foreign one', async () => {
    const calls = { sha256: 0, hmac: 0 }
    const digests: Digests = {
      sha256: (data) => {
        calls.sha256++
        return portableDigests.sha256(data)
      },
      hmacSha256: (key, data) => {
        calls.hmac++
        return portableDigests.hmacSha256(key, data)
      },
    }
    const test = await watchedServer({ digests })
    const revoked = await tokens(test)
    await revoke(test, revoked.refresh_token)
    const expired = await tokens(test)
    test.clock.now += 28_800
    const foreign = await tokens(test)
    const { unknown, unknownRefresh } = await nothings(test, foreign)
    const revocations: [string, typeof WEB][] = [
      ...[...unknown, ...unknownRefresh].map((text): [string, typeof WEB] => [text, WEB]),
      [revoked.access_token, WEB],
      [revoked.refresh_token, WEB],
      [expired.access_token, WEB],
      [foreign.access_token, OTHER],
      [foreign.refresh_token, OTHER],
    ]
    // From now on the keys of both clients are known.
    for (const client of [WEB, OTHER]) await revoke(test, 'none', {}, client)
    const costs = new Set<string>()
    for (const [text, client] of revocations) {
      test.forget()
      Object.assign(calls, { sha256: 0, hmac: 0 })
      expect(await revoke(test, text, {}, client)).toStrictEqual(REVOKED)
      const { keys, ...trips } = test.trips
      costs.add(JSON.stringify([calls, trips, keys.length]))
    }
    expect([...costs]).toStrictEqual(['[{"sha256":2,"hmac":0},{"reads":1,"writes":0,"lists":0},2]'])
  })

  it('only the audit trail tells why nothing was revoked', async () => {
    const test = await testServer()
    const pair = await tokens(test)
    test.events.length = 0
    const REVOKED_BY_WEB = { type: 'revoked', cause: 'client', clientId: 'web', subject: 'ada' }
    const reasons = [
      ['x', WEB, 'credential_unknown'],
      [pair.access_token, OTHER, 'credential_of_another_client'],
      [pair.access_token, WEB, 'revoked'],
      [pair.access_token, WEB, 'credential_revoked'],
      [pair.refresh_token, WEB, 'revoked'],
      [pair.refresh_token, WEB, 'credential_unknown'],
    ] as const
    for (const [text, client, reason] of reasons) {
      await revoke(test, text, {}, client)
      const [event, ...more] = test.events.splice(0)
      expect(more).toStrictEqual([])
      const { clientId } = client
      const grantId = grantNamedBy(text)
      const grant = grantId === undefined ? {} : { grantId }
      const refused = { type: 'refused', at: START, endpoint: 'revocation', reason, clientId, ...grant }
      expect(event).toStrictEqual(reason === 'revoked' ? expect.objectContaining(REVOKED_BY_WEB) : refused)
    }
  })
})

describe('2.4, 7 errors', () => {
  const AUTHENTICATION = {
    status: 401,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      Pragma: 'no-cache',
      'WWW-Authenticate': 'Basic realm="oauth2", charset="UTF-8"',
    },
    body: '{"error":"invalid_client","error_description":"Client authentication failed."}',
  }

  it.each([
    ['unknown client', basic({ ...WEB, clientId: 'nobody' }), {}],
    ['wrong secret', basic({ ...WEB, clientSecret: OTHER.clientSecret }), {}],
    ['no client authentication', {}, {}],
    ['a confidential client without its secret', {}, { client_id: 'web' }],
    ['unsupported method', { authorization: 'Bearer x' }, {}],
    ['unknown client in the body', {}, { client_id: 'nobody', client_secret: WEB.clientSecret }],
    ['wrong secret in the body', {}, { client_id: 'web', client_secret: OTHER.clientSecret }],
  ] as [string, Record<string, string>, Record<string, string>][])(
    '[41] %s: 401 with error and error_description, and nothing is revoked',
    async (who, headers, form) => {
      const test = await watchedServer()
      const pair = await tokens(test)
      test.forget()
      for (const token of [pair.access_token, pair.refresh_token]) {
        const response = await post(test.server, '/oauth2/revoke', { token, ...form }, headers)
        const isSecretMissing = who === 'a confidential client without its secret'
        expect(response).toStrictEqual(isSecretMissing ? atRevocation(NO_SECRET) : AUTHENTICATION)
      }
      expect(test.trips.writes).toBe(0)
      expect(await alive(test, pair)).toStrictEqual(BOTH)
    },
  )

  it('[49] a store that fails: 503 with Retry-After, and a retry revokes', async () => {
    for (const failing of ['read', 'write'] as const) {
      const test = await watchedServer()
      const pair = await tokens(test)
      const fail = (): Promise<never> => Promise.reject(new Error('down'))
      test.instead[failing] = fail
      expect(await revoke(test, pair.refresh_token)).toStrictEqual(atRevocation(BUSY))
      test.instead[failing] = undefined
      expect(await call(test, pair.access_token)).toMatchObject({ type: 'authenticated' })
      expect(await revoke(test, pair.refresh_token)).toStrictEqual(REVOKED)
      expect(await works(test, pair.access_token)).toBe(false)
      expect(await grantsOf(test.store)).toHaveLength(1)
    }
  })

  it('every answer without an error is the same one', async () => {
    const test = await testServer()
    const pair = await tokens(test)
    const answers: HttpResponse[] = []
    for (const text of [pair.access_token, pair.access_token, 'x', pair.refresh_token])
      answers.push(await revoke(test, text))
    expect(new Set(answers.map((response) => JSON.stringify(response))).size).toBe(1)
    expect(INVALID_CLIENT.status).toBe(401)
  })
})
