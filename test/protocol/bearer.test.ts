/**
 * The guard of an API: what it takes from a request, and how it answers what is not enough.
 * @module
 * @see RFC 6750, sections 2 and 3; specification, section 5.2
 */
import * as fc from 'fast-check'
import type { GuardResult, HttpResponse, RequestLike } from 'grantwell'
import { portableDigests, serviceScopes } from 'grantwell'
import { clientKeyOf, parseClientId } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { watchedServer } from '../server/helpers.js'
import type { TestServer } from '../support.js'
import {
  authorize,
  call,
  canSend,
  exchange,
  grantNamedBy,
  guard,
  OTHER,
  refresh,
  revoke,
  START,
  testServer,
  tokens,
  WEB,
} from '../support.js'
import { transport } from '../transports/index.js'
import { unicodeText } from '../unicode.js'

const HEADERS = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
const NO_TOKEN = { status: 401, headers: { ...HEADERS, 'WWW-Authenticate': 'Bearer realm="oauth2"' }, body: '' }

/** A whole refusal with an error, and its challenge. */
function refusal(status: number, error: string, description: string, more = ''): HttpResponse {
  return {
    status,
    headers: {
      ...HEADERS,
      'WWW-Authenticate': `Bearer realm="oauth2", error="${error}", error_description="${description}"${more}`,
      'Content-Type': 'application/json;charset=UTF-8',
    },
    body: JSON.stringify({ error, error_description: description }),
  }
}

const INVALID_TOKEN = refusal(401, 'invalid_token', 'The access token is invalid, expired or revoked.')
const MALFORMED = refusal(400, 'invalid_request', 'The Authorization header is not well-formed.')
const REPEATED = refusal(400, 'invalid_request', 'The Authorization header is repeated.')
const IN_QUERY = refusal(400, 'invalid_request', 'An access token must not be in the query.')

function insufficient(needed: string): HttpResponse {
  return refusal(403, 'insufficient_scope', 'The access token does not permit this.', `, scope="${needed}"`)
}

/** The response to a request that was refused. */
function responseOf(found: GuardResult): HttpResponse {
  if (found.type !== 'refused') throw new Error('authenticated')
  return found.response
}

async function ask({ server }: TestServer, authorization: string | readonly string[] | undefined, url?: string) {
  return guard(server, { headers: { authorization }, ...(url !== undefined && { url }) })
}

describe('RFC 6750, 2.1 the Authorization header', () => {
  it('with a token that works tells who is calling, for whom, and what is permitted', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const found = await ask(test, `Bearer ${access_token}`)
    expect(found).toStrictEqual({
      type: 'authenticated',
      subject: 'ada',
      clientId: 'web',
      grantId: Buffer.from(access_token.slice(4), 'base64url').subarray(12, 28).toString('base64url'),
      scopes: ['repo-code:rw', 'account-profile:r'],
      resources: { kind: 'all' },
      expiresAt: START + 28_800,
    })
    expect(test.events.at(-1)?.type).toBe('exchanged')
  })

  it('what the host does with the answer does not reach the grant', async () => {
    const test = await testServer({ resources: () => [{ id: 'repo/1' }] })
    const { code } = await authorize(test, {}, { resource_scope: 'specified', resource: 'repo/1' })
    const { body } = await exchange(test, code)
    const expected = JSON.stringify(await call(test, body.access_token))
    const found = await call(test, body.access_token)
    if (found.type !== 'authenticated' || found.resources.kind !== 'specified') return expect.fail()
    for (const list of [found.scopes, found.resources.ids]) {
      // What a program without types could do.
      ;(list as string[]).push('repo-delete:rw')
    }
    expect(JSON.stringify(await call(test, body.access_token))).toBe(expected)
  })

  it('is read from the request of any platform', async () => {
    const test = await testServer()
    const authorization = `Bearer ${(await tokens(test)).access_token}`
    const rawHeaders = ['Host', 'git.example', 'Authorization', authorization]
    const url = 'https://git.example/repos?page=2'
    const requests: RequestLike[] = [
      { headers: { authorization } },
      { headers: { authorization: [authorization] } },
      { headers: { authorization, get: 'a header of this name' } },
      { headers: { authorization }, rawHeaders, url: '/repos?page=2' },
      { headers: { authorization }, rawHeaders: [], url: undefined },
      // Headers whose names are as long as those that are looked for, and one of these that came twice.
      { headers: { authorization }, rawHeaders: ['Cache-Control', 'no-cache', 'X-Request-ID', '1', ...rawHeaders] },
      { headers: { authorization }, rawHeaders: [...rawHeaders, 'Content-Type', 'text/plain', 'content-type', 'x/y'] },
      { headers: new Headers({ authorization }), url },
      new Request(url, { headers: { authorization } }),
    ]
    for (const request of requests) expect((await test.server.authenticate(request)).type).toBe('authenticated')
  })

  it.each(['bearer', 'BEARER', 'bEaReR', 'Bearer ', 'Bearer     '])(
    'has the scheme in any case: %s',
    async (scheme) => {
      const test = await testServer()
      expect((await ask(test, `${scheme} ${(await tokens(test)).access_token}`)).type).toBe('authenticated')
    },
  )

  it.each([
    ['absent', undefined],
    ['empty', ''],
    ['of another scheme', 'Basic d2ViOnNlY3JldA=='],
    ['of a scheme that begins alike', 'Bearertoken x'],
    ['of another scheme, followed by the word bearer', 'Digest bearer x'],
    ['a bare token', 'x'],
    ['an empty list', []],
  ])('[37] %s: 401 with a challenge that names no error', async (_how, authorization) => {
    const test = await testServer()
    const found = await ask(test, authorization)
    expect(found).toStrictEqual({ type: 'refused', error: { type: 'no_token' }, response: NO_TOKEN })
    // A request without a token is nobody's attempt at anything.
    expect(test.events).toStrictEqual([])
    expect(responseOf(await test.server.authenticate({ headers: {} }))).toStrictEqual(NO_TOKEN)
    expect(responseOf(await test.server.authenticate({ headers: new Headers() }))).toStrictEqual(NO_TOKEN)
  })

  const MALFORMED_HEADERS = [
    ['no token', 'Bearer'],
    ['no token but spaces', 'Bearer  '],
    ['two words', 'Bearer x y'],
    ['a comma', 'Bearer x, Bearer x'],
    ['a character that no token has', 'Bearer x!'],
    ['an equals sign in the middle', 'Bearer x=y'],
    ['a character that is not ASCII', 'Bearer \u{e9}'],
    ['a line end', 'Bearer x\n'],
    ['NUL', 'Bearer x\0'],
    ['a space at its end', 'Bearer x '],
  ] as const
  const carried = MALFORMED_HEADERS.filter(([, authorization]) => canSend({ headers: { authorization } }))
  it.each(carried)('[36] malformed, with %s: invalid_request', async (_what, authorization) => {
    const test = await testServer()
    expect(responseOf(await ask(test, authorization))).toStrictEqual(MALFORMED)
    expect(responseOf(await ask(test, [authorization]))).toStrictEqual(MALFORMED)
    expect(test.events).toStrictEqual(
      Array(2).fill({
        type: 'refused',
        at: START,
        endpoint: 'api',
        error: 'invalid_request',
        reason: 'malformed_request',
        route: 'GET /',
      }),
    )
  })

  it('[36] twice: invalid_request, on every platform', async () => {
    const test = await testServer()
    const good = `Bearer ${(await tokens(test)).access_token}`
    for (const second of [good, 'Basic x', '']) {
      expect(responseOf(await ask(test, [good, second]))).toStrictEqual(
        transport.name === 'fetch' ? MALFORMED : REPEATED,
      )
      const rawHeaders = ['authorization', good, 'Host', 'x', 'AUTHORIZATION', second]
      const node = { headers: { authorization: good }, rawHeaders }
      expect(responseOf(await test.server.authenticate(node))).toStrictEqual(REPEATED)
      // The fetch API joins them with a comma, which no token has.
      const joined = new Request('https://git.example/', {
        headers: [
          ['authorization', good],
          ['authorization', second],
        ],
      })
      expect(responseOf(await test.server.authenticate(joined)).status).toBe(400)
    }
  })

  it('[36] alone: a token in the query is refused, also beside a good header, and one in a form is not looked at', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const good = `Bearer ${access_token}`
    for (const query of [`?access_token=${access_token}`, '?a=b&access_token=x', '?access_token=']) {
      for (const authorization of [undefined, good]) {
        for (const base of ['/repos', 'https://git.example/repos']) {
          expect(responseOf(await ask(test, authorization, base + query))).toStrictEqual(IN_QUERY)
        }
      }
      const request = new Request(`https://git.example/${query}`, { headers: { authorization: good } })
      expect(responseOf(await test.server.authenticate(request))).toStrictEqual(IN_QUERY)
    }
    expect((await ask(test, good, '/repos?my_access_token=x&x=access_token=y')).type).toBe('authenticated')
    const form = new Request('https://git.example/', { method: 'POST', body: new URLSearchParams({ access_token }) })
    expect(responseOf(await test.server.authenticate(form))).toStrictEqual(NO_TOKEN)
    expect(responseOf(await ask(test, undefined, `/repos?access%5Ftoken=${access_token}`))).toStrictEqual(NO_TOKEN)
  })
})

describe('RFC 6750, 3.1 invalid_token', () => {
  /** Refused with the same answer as every other such token; why is for the audit trail. */
  async function expectInvalid(test: TestServer, text: string, reason: string, clientId?: string): Promise<void> {
    const found = await ask(test, `Bearer ${text}`)
    expect(responseOf(found)).toStrictEqual(INVALID_TOKEN)
    expect(test.events.at(-1)).toEqual({
      type: 'refused',
      at: test.clock.now,
      endpoint: 'api',
      route: 'GET /',
      subject: reason === 'credential_unknown' || reason === 'credential_revoked' ? undefined : 'ada',
      error: 'invalid_token',
      reason,
      ...(clientId !== undefined && { clientId }),
      ...(grantNamedBy(text) !== undefined && { grantId: grantNamedBy(text) }),
    })
  }

  it('[37] a token that is none of ours', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const none = [
      'x',
      'eyJhbGciOiJub25lIn0.e30.',
      '__proto__',
      '/+~._-==',
      access_token.slice(1),
      `${access_token}A`,
      `${access_token}=`,
    ]
    for (const text of none) await expectInvalid(test, text, 'credential_unknown')
  })

  it('[37] a token of the right form that was never issued', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    for (const [index, clientId] of [
      [4, undefined],
      [25, 'web'],
      [50, 'web'],
      [83, 'web'],
    ] as const) {
      // The last character has 6 bits of the secret, as every other.
      const other = access_token[index] === 'A' ? 'B' : 'A'
      const text = access_token.slice(0, index) + other + access_token.slice(index + 1)
      await expectInvalid(test, text, 'credential_unknown', clientId)
    }
  })

  it('[29] a code or a refresh token, also under the prefix of an access token', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    const { refresh_token } = await tokens(test)
    for (const text of [code, refresh_token]) {
      await expectInvalid(test, text, 'credential_unknown', 'web')
      await expectInvalid(test, `gwa_${text.slice(4)}`, 'credential_unknown', 'web')
    }
  })

  it('an expired one, from the very second on', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    test.clock.now = START + 28_799
    expect((await call(test, access_token)).type).toBe('authenticated')
    test.clock.now = START + 28_800
    await expectInvalid(test, access_token, 'credential_expired', 'web')
  })

  it('one whose pair was refreshed, from the end of its grace period on', async () => {
    const test = await testServer()
    const { access_token, refresh_token } = await tokens(test)
    await refresh(test, refresh_token)
    test.clock.now += 299
    expect(await call(test, access_token)).toMatchObject({ type: 'authenticated', expiresAt: START + 300 })
    test.clock.now += 1
    await expectInvalid(test, access_token, 'credential_expired', 'web')
  })

  it('a revoked one', async () => {
    const test = await testServer()
    const first = await tokens(test)
    await revoke(test, first.access_token)
    await expectInvalid(test, first.access_token, 'credential_revoked', 'web')
    const second = await tokens(test)
    await revoke(test, second.refresh_token)
    await expectInvalid(test, second.access_token, 'credential_revoked', 'web')
  })

  it('[26] one of a suspended application, at the very next request; it works again once that is reinstated', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    await test.server.applications.suspend('web')
    await expectInvalid(test, access_token, 'client_suspended', 'web')
    await test.server.applications.reinstate('web')
    expect((await call(test, access_token)).type).toBe('authenticated')
  })

  it('one whose client key was swapped for that of another application, so that its suspension would not count', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const key = clientKeyOf(portableDigests, parseClientId('other') ?? expect.fail())
    const swapped = access_token.slice(0, 4) + key + access_token.slice(20)
    await expectInvalid(test, swapped, 'credential_unknown')
    await test.server.applications.suspend('web')
    await expectInvalid(test, swapped, 'credential_unknown')
  })

  it('one whose application is gone', async () => {
    const test = await watchedServer()
    const { access_token } = await tokens(test)
    test.instead.read = async (keys) => [undefined, ...(await test.store.read(keys)).slice(1)]
    await expectInvalid(test, access_token, 'credential_unknown')
  })
})

describe('RFC 6750, 3.1 insufficient_scope', () => {
  it('[37] names the scope that is needed', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test, { scope: 'repo-code:r' })
    for (const [needed, printed] of [
      ['repo-code:rw', 'repo-code:rw'],
      ['account-profile:r', 'account-profile:r'],
      ['repo-delete:rw repo-code:r', 'repo-code:r repo-delete:rw'],
    ] as const) {
      const found = await call(test, access_token, needed)
      expect(responseOf(found)).toStrictEqual(insufficient(printed))
      expect(test.events.at(-1)).toStrictEqual({
        type: 'refused',
        at: START,
        endpoint: 'api',
        error: 'insufficient_scope',
        reason: 'scope_insufficient',
        clientId: 'web',
        grantId: grantNamedBy(access_token),
        subject: 'ada',
        route: 'GET /',
      })
    }
  })

  it('is not there where the token has the scope, or a wider one', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    for (const needed of [undefined, 'repo-code:r', 'repo-code:rw', 'account-profile:r repo-code:r']) {
      expect((await call(test, access_token, needed)).type).toBe('authenticated')
    }
  })

  it('is right for any number of routes that name different scopes', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const all = [...serviceScopes().entries.keys()]
    const lists = all.flatMap((first) => all.map((second) => `${first} ${second}`))
    for (const needed of [...lists, ...lists.slice(0, 50)]) {
      const permitted = needed.split(' ').every((scope) => /^(?:repo-code:rw?|account-profile:r)$/.test(scope))
      expect((await call(test, access_token, needed)).type, needed).toBe(permitted ? 'authenticated' : 'refused')
    }
  })

  it('comes after everything else: a token that does not work is told no scope', async () => {
    const test = await testServer()
    const { access_token, refresh_token } = await tokens(test)
    await revoke(test, refresh_token)
    expect(responseOf(await call(test, access_token, 'repo-delete:rw'))).toStrictEqual(INVALID_TOKEN)
    const without = await guard(test.server, {}, { scope: 'repo-delete:rw' })
    expect(responseOf(without)).toStrictEqual(NO_TOKEN)
  })

  it('the scopes of the token decide, not those of the grant', async () => {
    const test = await testServer()
    const first = await tokens(test)
    const { body } = await refresh(test, first.refresh_token, { scope: 'account-profile:r' })
    expect((await call(test, first.access_token, 'repo-code:rw')).type).toBe('authenticated')
    expect(responseOf(await call(test, body.access_token, 'repo-code:rw'))).toStrictEqual(insufficient('repo-code:rw'))
  })

  it.each(['', 'unknown', 'repo-code', 'repo-code:r\trepo-pr:r', '  ', 'repo-delete:r', '__proto__'])(
    'a route that names scopes which the catalogue does not have is a mistake of the host: %j',
    async (scope) => {
      const test = await testServer()
      for (const authorization of [undefined, `Bearer ${(await tokens(test)).access_token}`]) {
        await expect(guard(test.server, { headers: { authorization } }, { scope })).rejects.toMatchObject({
          name: 'GrantwellError',
          code: 'ERR_CONFIGURATION',
        })
      }
    },
  )
})

describe('the guard and the store', () => {
  it('[49] a store that fails: 503 with Retry-After, and no challenge, since the token may be good', async () => {
    const test = await watchedServer()
    const { access_token } = await tokens(test)
    test.instead.read = () => Promise.reject(new Error('down'))
    expect(responseOf(await call(test, access_token))).toStrictEqual({
      status: 503,
      headers: { ...HEADERS, 'Retry-After': '1', 'Content-Type': 'application/json;charset=UTF-8' },
      body: '{"error":"temporarily_unavailable","error_description":"The service is busy; try again."}',
    })
    expect(test.errors).toStrictEqual([new Error('down')])
    test.instead.read = undefined
    expect((await call(test, access_token)).type).toBe('authenticated')
  })

  it('is a total function of any header', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const text = fc.oneof(
      unicodeText({ maxLength: 20 }),
      unicodeText({ maxLength: 20 }).map((each) => `Bearer ${each}`),
      fc.tuple(fc.nat(85), unicodeText({ maxLength: 2 })).map(([at, put]) => {
        return `Bearer ${access_token.slice(0, at)}${put}${access_token.slice(at + put.length)}`
      }),
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, fc.array(text, { maxLength: 3 })), text, async (authorization, url) => {
        fc.pre(canSend({ headers: { authorization } }))
        const found = await ask(test, authorization, canSend({ url }) ? url : `/?${new URLSearchParams({ url })}`)
        const isToken = [authorization].flat().join('\n') === `Bearer ${access_token}`
        const refusals = [NO_TOKEN, INVALID_TOKEN, MALFORMED, REPEATED, IN_QUERY]
        const answer = found.type === 'authenticated' ? 'authenticated' : found.response
        expect(isToken ? ['authenticated'] : refusals).toContainEqual(answer)
      }),
      { numRuns: 300 },
    )
  })

  it('a token of each client is told from one another', async () => {
    const test = await testServer()
    const mine = await tokens(test)
    const { code } = await authorize(test, { client_id: 'other', redirect_uri: 'https://other.example/callback' })
    const { body: theirs } = await exchange(test, code, {}, OTHER)
    expect(await call(test, mine.access_token)).toMatchObject({ clientId: WEB.clientId })
    expect(await call(test, theirs.access_token)).toMatchObject({ clientId: OTHER.clientId })
  })
})

describe('what a host asks of the guard', () => {
  it('[37] is refused where it is not { scope }, so that a slip of the pen lets nobody in', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const request = { headers: { authorization: `Bearer ${access_token}` } }
    const slips: readonly unknown[] = [
      'repo-code:rw',
      null,
      { scopes: 'repo-code:rw' },
      { scope: undefined },
      { scope: null },
      { scope: ['repo-code:rw'] },
      { scope: 'repo-code:r', other: true },
      { scope: 'repo-code' },
      { scope: '' },
    ]
    for (const options of slips) {
      const asked = guard(test.server, request, options as { scope: string })
      await expect(asked, JSON.stringify(options)).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
    }
    for (const options of [undefined, {}, { scope: 'repo-code:r' }])
      expect(await guard(test.server, request, options)).toMatchObject({ type: 'authenticated' })
  })
})
