/**
 * The token endpoint: what a code and a refresh token give, and every way in which they do not.
 * @module
 * @see Specification, sections 2.3, 4.2 and 4.3; RFC 6749, sections 4.1.3, 5.1, 5.2 and 6; RFC 7636, section 4.6
 */
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import type { AuditEvent, HttpResponse, Scope } from 'grantwell'
import { CREDENTIAL_PREFIXES } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { tokenResponse } from '../../src/protocol/token.js'
import {
  BASIC_CHALLENGE,
  BUSY,
  INVALID_CLIENT,
  INVALID_GRANT,
  TOKEN_HEADERS,
  tokenError,
  watchedServer,
} from '../server/helpers.js'
import type { TestServer } from '../support.js'
import {
  authorize,
  basic,
  CHALLENGE,
  canSend,
  exchange,
  NATIVE,
  NATIVE_CALLBACK,
  OTHER,
  post,
  refresh,
  START,
  send,
  testServer,
  tokens,
  VERIFIER,
  WEB,
  WEB_CALLBACK,
  works,
} from '../support.js'
import { unicodeText } from '../unicode.js'

const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
const ALL_SCOPES = 'repo-code:rw account-profile:r'
const WIDER = tokenError(400, 'invalid_scope', 'The scope is wider than what the user permitted.')

/** A whole token answer with these tokens. */
function tokenAnswer(response: HttpResponse, expiresIn = 28_800, scope = ALL_SCOPES): HttpResponse {
  const { access_token, refresh_token } = JSON.parse(response.body)
  expect(access_token).toMatch(/^gwa_[A-Za-z0-9_-]{81}$/)
  expect(refresh_token).toMatch(/^gwr_[A-Za-z0-9_-]{81}$/)
  const body = { access_token, token_type: 'bearer', expires_in: expiresIn, refresh_token, scope }
  return { status: 200, headers: TOKEN_HEADERS, body: JSON.stringify(body) }
}

/** The last refusal that the audit trail has. */
function lastReason(events: readonly AuditEvent[]): string | undefined {
  const event = events.findLast(({ type }) => type === 'refused')
  return event?.type === 'refused' ? event.reason : undefined
}

/** Sends a form as the application `web`. */
function ask({ server }: TestServer, form: Parameters<typeof post>[2]): Promise<HttpResponse> {
  return post(server, '/oauth2/token', form, basic(WEB))
}

describe('the answer that hands out tokens', () => {
  it('is JSON as JSON.stringify writes it, with a mac key or without', () => {
    const base64url = fc.stringMatching(/^[\w-]{43}$/)
    const tokens = fc.record(
      {
        type: fc.constant('tokens' as const),
        accessToken: base64url.map((text) => `gwa_${text}`),
        refreshToken: base64url.map((text) => `gwr_${text}`),
        expiresIn: fc.nat(),
        scopes: fc.array(fc.constantFrom<Scope>('repo-code:rw', "!#$&'()*+,-./0:r", '<=>?@[]^_`{|}~:rw')),
        macKey: base64url,
      },
      { requiredKeys: ['type', 'accessToken', 'refreshToken', 'expiresIn', 'scopes'] },
    )
    fc.assert(
      fc.property(tokens, (given) => {
        expect(tokenResponse(given).body).toBe(
          JSON.stringify({
            access_token: given.accessToken,
            token_type: given.macKey === undefined ? 'bearer' : 'mac',
            expires_in: given.expiresIn,
            refresh_token: given.refreshToken,
            scope: given.scopes.join(' '),
            mac_key: given.macKey,
            mac_algorithm: given.macKey === undefined ? undefined : 'hmac-sha-256',
          }),
        )
      }),
    )
  })
})

describe('2.3, 4.2 exchange of a code', () => {
  it('[35] gives a token pair: status, headers and body as the specification has them', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    const { response, body } = await exchange(test, code, { redirect_uri: WEB_CALLBACK })
    expect(response).toStrictEqual(tokenAnswer(response))
    expect(await works(test, body.access_token)).toBe(true)
    expect(test.events.at(-1)).toMatchObject({ type: 'exchanged', at: START, clientId: 'web', subject: 'ada' })
  })

  it('takes the code without a redirect_uri, and unknown parameters', async () => {
    const test = await testServer()
    for (const form of [{}, { redirect_uri: '' }, { scope: 'repo-delete:rw', unknown: '\0', constructor: 'x' }]) {
      const { code } = await authorize(test)
      const { response } = await exchange(test, code, form)
      expect(response).toStrictEqual(tokenAnswer(response))
    }
  })

  it('gives the lifetimes and scopes that it gave', async () => {
    const test = await testServer({ accessTokenLifetime: 77 })
    const { code } = await authorize(test, { scope: 'account-profile:r' })
    const { response } = await exchange(test, code)
    expect(response).toStrictEqual(tokenAnswer(response, 77, 'account-profile:r'))
  })

  it('is for a public client by its identifier alone', async () => {
    const test = await testServer()
    const { code } = await authorize(test, { ...NATIVE, client_id: 'native', redirect_uri: NATIVE_CALLBACK, ...PKCE })
    const { response } = await exchange(test, code, { code_verifier: VERIFIER }, NATIVE)
    expect(response).toStrictEqual(tokenAnswer(response))
  })

  it.each([
    ['another path', 'https://app.example/other'],
    ['a slash more', `${WEB_CALLBACK}/`],
    ['other case', 'https://app.example/Callback'],
    ['other encoding', 'https://app.example/%63allback'],
    ['another host', 'https://evil.example/callback'],
    ['a prototype name', '__proto__'],
  ])('[18] a redirect URI that is not the one that was used does not burn the code: %s', async (_how, uri) => {
    const test = await testServer()
    const { code } = await authorize(test)
    expect((await exchange(test, code, { redirect_uri: uri })).response).toStrictEqual(INVALID_GRANT)
    expect(lastReason(test.events)).toBe('redirect_uri_mismatch')
    expect((await exchange(test, code, { redirect_uri: WEB_CALLBACK })).status).toBe(200)
  })

  it('[17] a code of another client: invalid_grant, and it stays good', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    expect((await exchange(test, code, {}, OTHER)).response).toStrictEqual(INVALID_GRANT)
    expect(lastReason(test.events)).toBe('credential_of_another_client')
    expect((await exchange(test, code)).status).toBe(200)
  })

  it('[16] a code redeemed twice: invalid_grant, and what it gave is revoked', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    const { body } = await exchange(test, code)
    expect((await exchange(test, code)).response).toStrictEqual(INVALID_GRANT)
    expect(lastReason(test.events)).toBe('credential_replayed')
    expect(await works(test, body.access_token)).toBe(false)
  })

  it('a code is good in its last second and refused in the next', async () => {
    const test = await testServer()
    const late = await authorize(test)
    const timely = await authorize(test)
    test.clock.now = START + 599
    expect((await exchange(test, timely.code)).status).toBe(200)
    test.clock.now = START + 600
    expect((await exchange(test, late.code)).response).toStrictEqual(INVALID_GRANT)
  })
})

describe('RFC 7636 the code verifier', () => {
  const VISIBLE = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('')
  const verifierOf = (length: number): string => VERIFIER.padEnd(length, '-._~').slice(0, length)

  it.each([
    ['missing', {}],
    ['empty', { code_verifier: '' }],
    ['too short', { code_verifier: VERIFIER.slice(0, 42) }],
    ['too long', { code_verifier: verifierOf(129) }],
    ['wrong', { code_verifier: VERIFIER.replace('a', 'b') }],
    ['wrong in case', { code_verifier: VERIFIER.toUpperCase() }],
    ['the challenge itself', { code_verifier: CHALLENGE }],
    ['a prototype name', { code_verifier: 'constructor' }],
  ])('[19] %s: invalid_grant, and the code is not burnt', async (_how, form: Record<string, string>) => {
    const test = await testServer()
    for (const [request, client] of [
      [{ client_id: 'native', redirect_uri: NATIVE_CALLBACK }, NATIVE],
      [{}, WEB],
    ] as const) {
      const { code } = await authorize(test, { ...request, ...PKCE })
      expect((await exchange(test, code, form, client)).response).toStrictEqual(INVALID_GRANT)
      expect(lastReason(test.events)).toBe('pkce_mismatch')
      expect((await exchange(test, code, { code_verifier: VERIFIER }, client)).status).toBe(200)
    }
  })

  it.each([
    ['of 42 characters', verifierOf(42), false],
    ['of 43 characters', verifierOf(43), true],
    ['of 128 characters', verifierOf(128), true],
    ['of 129 characters', verifierOf(129), false],
    ['of padded base64', `${Buffer.alloc(32, 0xfb).toString('base64')}`, true],
    ['of every visible ASCII character', VISIBLE, true],
    ['with a space', `${verifierOf(43)} `, false],
    ['with a tab', `${verifierOf(43)}\t`, 'malformed'],
    ['with a character that is not ASCII', `${verifierOf(43)}\u{e9}`, false],
  ])('[19] one %s is compared or is none, even where it hashes to the challenge: %j', async (_how, verifier, good) => {
    const test = await testServer()
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const { code } = await authorize(test, { code_challenge: challenge, code_challenge_method: 'S256' })
    const { response } = await exchange(test, code, { code_verifier: verifier })
    const malformed = tokenError(400, 'invalid_request', 'The parameter code_verifier is not well-formed.')
    const refused = good === 'malformed' ? malformed : INVALID_GRANT
    expect(response).toStrictEqual(good === true ? tokenAnswer(response) : refused)
  })

  it('[20] one without a challenge (a downgrade): invalid_grant, and the code is not burnt', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    expect((await exchange(test, code, { code_verifier: VERIFIER })).response).toStrictEqual(INVALID_GRANT)
    expect(lastReason(test.events)).toBe('pkce_mismatch')
    expect((await exchange(test, code)).status).toBe(200)
  })
})

describe('4.3 refresh', () => {
  it('[35] gives a new pair, as an exchange does', async () => {
    const test = await testServer()
    const first = await tokens(test)
    const { response, body } = await refresh(test, first.refresh_token)
    expect(response).toStrictEqual(tokenAnswer(response))
    expect(body.access_token).not.toBe(first.access_token)
    expect(body.refresh_token).not.toBe(first.refresh_token)
    expect(await works(test, body.access_token)).toBe(true)
  })

  it('gives the same pair again within the grace period, with the seconds that are left', async () => {
    const test = await testServer()
    const first = await tokens(test)
    const { body, response } = await refresh(test, first.refresh_token)
    test.clock.now += 299
    const again = await refresh(test, first.refresh_token)
    expect(again.body).toStrictEqual({ ...body, expires_in: 28_800 - 299 })
    expect(again.response.headers).toStrictEqual(response.headers)
    test.clock.now += 1
    expect((await refresh(test, first.refresh_token)).response).toStrictEqual(INVALID_GRANT)
  })

  it.each([
    ['a narrower scope', 'account-profile:r', 'account-profile:r'],
    ['read-only of read-write', 'repo-code:r', 'repo-code:r'],
    ['all of it, in any order', 'account-profile:r repo-code:rw', ALL_SCOPES],
    ['a narrower scope among more spaces than one', '  account-profile:r  ', 'account-profile:r'],
  ])('gives %s', async (_what, asked, scope) => {
    const test = await testServer()
    const first = await tokens(test)
    const { response } = await refresh(test, first.refresh_token, { scope: asked })
    expect(response).toStrictEqual(tokenAnswer(response, 28_800, scope))
  })

  it.each([
    ['wider', 'repo-code:rw repo-pr:r', WIDER],
    ['of a wider permission', 'account-profile:rw', WIDER],
    ['unknown', 'repo-unknown:r', tokenError(400, 'invalid_scope', 'The scope is unknown.')],
    ['unknown in a list', 'repo-code:r repo-unknown:r', tokenError(400, 'invalid_scope', 'Scope 2 of 2 is unknown.')],
    ['a prototype name', '__proto__', tokenError(400, 'invalid_scope', 'The scope is unknown.')],
    ['of spaces alone', '  ', tokenError(400, 'invalid_scope', 'The scope is empty.')],
  ])('a scope that is %s: invalid_scope, and nothing changes', async (_how, scope, error) => {
    const test = await testServer()
    const first = await tokens(test)
    expect((await refresh(test, first.refresh_token, { scope })).response).toStrictEqual(error)
    const { response } = await refresh(test, first.refresh_token, { scope: '' })
    expect(response).toStrictEqual(tokenAnswer(response))
    test.clock.now += 10
    expect(await works(test, first.access_token)).toBe(true)
  })

  it('[34] a refresh token of another client: invalid_grant, and nothing changes', async () => {
    const test = await testServer()
    const first = await tokens(test)
    expect((await refresh(test, first.refresh_token, {}, OTHER)).response).toStrictEqual(INVALID_GRANT)
    expect((await refresh(test, first.refresh_token, {}, NATIVE)).response).toStrictEqual(INVALID_GRANT)
    expect((await refresh(test, first.refresh_token)).status).toBe(200)
  })

  it('too often in too short a time: 429 with Retry-After, and the tokens still work', async () => {
    const test = await testServer()
    let { refresh_token, access_token } = await tokens(test)
    for (let count = 0; count < 32; count++)
      ({ refresh_token, access_token } = (await refresh(test, refresh_token)).body)
    test.clock.now += 100
    expect((await refresh(test, refresh_token)).response).toStrictEqual(
      tokenError(429, 'temporarily_unavailable', 'This token was refreshed too often in too short a time.', {
        'Retry-After': '200',
      }),
    )
    expect(await works(test, access_token)).toBe(true)
    test.clock.now += 200
    expect((await refresh(test, refresh_token)).status).toBe(200)
  })
})

describe('RFC 6749, 5.2 errors', () => {
  const unsupported = tokenError(400, 'unsupported_grant_type', 'The grant_type is not supported.')
  const code = { grant_type: 'authorization_code' }

  it.each([
    ['grant_type password', 'grant_type=password&username=a&password=b'],
    ['grant_type client_credentials', 'grant_type=client_credentials'],
    ['grant_type in other case', 'grant_type=Authorization_Code&code=x'],
    ['grant_type with a space', 'grant_type=authorization_code+&code=x'],
    ['grant_type __proto__', 'grant_type=__proto__'],
    ['grant_type constructor', 'grant_type=constructor'],
    ['grant_type faulty, which is a name inside', 'grant_type=faulty'],
  ])('a %s is not supported', async (_fault, form) => {
    const test = await testServer()
    expect(await ask(test, form)).toStrictEqual(unsupported)
    // What is wrong is told only to a client that has authenticated.
    expect(await post(test.server, '/oauth2/token', form)).toStrictEqual(INVALID_CLIENT)
    const impostor = { clientId: 'web', clientSecret: OTHER.clientSecret }
    expect(await post(test.server, '/oauth2/token', form, basic(impostor))).toStrictEqual(INVALID_CLIENT)
  })

  it('a code or refresh token that is none of ours: invalid_grant, the same for all', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    const { refresh_token } = await tokens(test)
    const flip = (text: string, index: number): string =>
      text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1)
    for (const [kind, real] of [
      ['code', code],
      ['refresh_token', refresh_token],
    ] as const) {
      const wrong = ['x', '__proto__', real.slice(1), `${real}A`, real.toLowerCase(), `${real} `, ` ${real}`]
      // One for the client key, the grant's identifier and the secret.
      for (const index of [4, 25, 50, 83]) wrong.push(flip(real, index))
      for (const text of wrong) {
        const form = { grant_type: kind === 'code' ? 'authorization_code' : kind, [kind]: text }
        expect(await ask(test, form)).toStrictEqual(INVALID_GRANT)
        expect(['credential_unknown', 'credential_of_another_client']).toContain(lastReason(test.events))
      }
    }
    expect((await exchange(test, code)).status).toBe(200)
    expect((await refresh(test, refresh_token)).status).toBe(200)
  })

  it('[29] a credential of one kind is not taken where another belongs', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    const { access_token, refresh_token } = await tokens(test)
    const relabelled = Object.values(CREDENTIAL_PREFIXES).flatMap((prefix) =>
      [code, access_token, refresh_token].map((credential) => prefix + credential.slice(4)),
    )
    for (const credential of relabelled.filter((each) => each !== code))
      expect((await exchange(test, credential)).response).toStrictEqual(INVALID_GRANT)
    for (const credential of relabelled.filter((each) => each !== refresh_token))
      expect((await refresh(test, credential)).response).toStrictEqual(INVALID_GRANT)
    expect((await exchange(test, code)).status).toBe(200)
    expect((await refresh(test, refresh_token)).status).toBe(200)
  })

  it('[35] every answer, good or bad, is JSON that nobody may keep', async () => {
    const test = await watchedServer()
    const anything = unicodeText({ maxLength: 12 })
    const { code } = await authorize(test)
    const { refresh_token } = await tokens(test)
    const bodies = fc.oneof(
      fc.record({ type: fc.constant('text' as const), text: anything }),
      fc
        .dictionary(
          fc.oneof(
            fc.constantFrom('grant_type', 'code', 'refresh_token', 'scope', 'client_id', 'client_secret'),
            anything,
          ),
          fc.oneof(
            fc.constantFrom('authorization_code', 'refresh_token', code, refresh_token, 'web', 'repo-code:r'),
            anything,
          ),
        )
        .map((form) => ({ type: 'text' as const, text: new URLSearchParams(form).toString() })),
      fc.record({ type: fc.constant('parsed' as const), fields: fc.anything() }),
      fc.constant({ type: 'too_large' as const }),
      fc.constant(undefined),
    )
    const header = fc.oneof(
      fc.constantFrom(undefined, basic(WEB).authorization, basic(OTHER).authorization, 'Basic', 'Bearer x'),
      anything,
      fc.array(anything, { maxLength: 3 }),
    )
    const type = fc.oneof(
      { weight: 4, arbitrary: fc.constant('application/x-www-form-urlencoded') },
      { weight: 1, arbitrary: anything },
    )
    const broken = fc.boolean()
    const known = [200, 400, 401, 405, 413, 503]
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 8, arbitrary: fc.constant('POST') }, { weight: 1, arbitrary: anything }),
        fc.oneof(
          { weight: 4, arbitrary: fc.constant('') },
          { weight: 1, arbitrary: anything.map((text) => `?${text}`) },
        ),
        header,
        type,
        bodies,
        broken,
        async (method, query, authorization, contentType, body, fails) => {
          test.instead.read = fails ? () => Promise.reject(new Error('down')) : undefined
          const url = `/oauth2/token${query}`
          const request = { method, url, headers: { authorization, 'content-type': contentType }, body }
          fc.pre(canSend(request))
          const response = await send(test.server, request)
          const { Allow, 'Retry-After': retryAfter, 'WWW-Authenticate': challenge, ...headers } = response.headers
          expect(headers).toStrictEqual(TOKEN_HEADERS)
          expect(known).toContain(response.status)
          expect(challenge).toBe(response.status === 401 ? BASIC_CHALLENGE['WWW-Authenticate'] : undefined)
          expect(Allow).toBe(response.status === 405 ? 'POST' : undefined)
          expect(retryAfter).toBe(response.status === 503 ? '1' : undefined)
          const names = response.status === 200 ? 5 : ['error', 'error_description']
          const found = Object.keys(JSON.parse(response.body))
          expect(response.status === 200 ? found.length : found).toStrictEqual(names)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('[49] a store that fails: 503 with Retry-After', async () => {
    const test = await watchedServer()
    test.instead.read = () => Promise.reject(new Error('down'))
    expect(await ask(test, { ...code, code: 'x' })).toStrictEqual(BUSY)
    expect(lastReason(test.events)).toBe('store_failed')
  })
})
