/**
 * The authorization request that is right: its parameters, what comes back of them, and who is asked.
 * @module
 * @see Specification, sections 4.1 and 5.3; RFC 6749, sections 3.1 and 4.1.1; RFC 9207
 */
import { IncomingMessage } from 'node:http'
import * as fc from 'fast-check'
import type { AuthorizationServerOptions } from 'grantwell'
import { describe, expect, it } from 'vitest'
import {
  answer,
  inaccessible,
  inaccessibleOfSample,
  redirect,
  sendQuery,
  signedOut,
  tokenError,
} from '../server/helpers.js'
import {
  answeredTo,
  authorizationUrl,
  authorize,
  CHALLENGE,
  call,
  canSend,
  exchange,
  hiddenFields,
  ISSUER,
  OTHER,
  openConsent,
  post,
  registration,
  send,
  testServer,
  WEB,
  WEB_CALLBACK,
} from '../support.js'
import { transport } from '../transports/index.js'
import { unicodeText } from '../unicode.js'

const ENCODED_CALLBACK = encodeURIComponent(WEB_CALLBACK)
/** A sound request of the application `web`, as a query. */
const SOUND = `response_type=code&client_id=web&redirect_uri=${ENCODED_CALLBACK}`
/** Any text that a query can carry: every code point, lone surrogates apart, which UTF-8 does not have. */
const anyText = unicodeText({ maxLength: 100 })

describe('4.1 state', () => {
  /** The bytes of a parameter as they stand in a `Location`, undefined where it is absent. */
  function rawParameter(location: string | undefined, name: string): string | undefined {
    const pairs = (location ?? '').split('?')[1]?.split('&') ?? []
    const found = pairs.filter((pair) => pair.startsWith(`${name}=`))
    expect(found.length).toBeLessThan(2)
    return found[0]?.slice(name.length + 1)
  }

  it('[7] comes back byte for byte, for any string, with a code, a refusal and an error; absent stays absent', async () => {
    const test = await testServer()
    await fc.assert(
      fc.asyncProperty(fc.option(anyText, { nil: undefined }), async (state) => {
        const agreed = await authorize(test, { state })
        const refused = await authorize(test, { state }, { decision: 'refuse' })
        const error = await send(test.server, { url: authorizationUrl({ state, scope: 'unknown' }) })
        for (const { headers } of [agreed.response, refused.response, error]) {
          const raw = rawParameter(headers['Location'], 'state')
          expect(raw).toBe(state === undefined ? undefined : encodeURIComponent(state))
          expect(raw === undefined ? undefined : decodeURIComponent(raw)).toBe(state)
        }
      }),
      {
        numRuns: 60,
        examples: [[undefined], [''], [' '], ['+'], ['%00\0'], ['a&code=b#c'], ['\r\nX: y'], ['\u{1f511}é']],
      },
    )
  })

  it('[7] empty stays present and empty', async () => {
    const test = await testServer()
    const { response, code } = await authorize(test, { state: '' })
    expect(response).toStrictEqual(answer(WEB_CALLBACK, { code, state: '' }))
    for (const query of [`${SOUND}&state=&scope=no`, `${SOUND}&state&scope=no`]) {
      const { headers } = await sendQuery(test, query)
      expect(headers['Location']).toMatch(/&state=&iss=https%3A%2F%2Fgit\.example$/)
    }
  })

  it('[7] may have 8,192 characters of any kind', async () => {
    const test = await testServer()
    for (const state of ['s'.repeat(8192), '\0'.repeat(8192)]) {
      const { response, code } = await authorize(test, { state })
      expect(response).toStrictEqual(answer(WEB_CALLBACK, { code, state }))
    }
  })
})

describe('4.1 iss', () => {
  it('[8] is in every answer, errors too, and is the issuer of the metadata', async () => {
    const issuer = 'https://git.example/base'
    const test = await testServer({ issuer })
    const url = `/base${authorizationUrl({ state: 's' })}`
    const metadata = await send(test.server, { url: '/.well-known/oauth-authorization-server/base' })
    expect(JSON.parse(metadata.body)).toMatchObject({ issuer })

    const shown = await send(test.server, { url })
    const cookie = shown.headers['Set-Cookie']?.split(';')[0] ?? ''
    const form = { ...hiddenFields(shown.body), resource_scope: 'all' }
    const agreed = await post(test.server, '/base/oauth2/auth', { ...form, decision: 'agree' }, { cookie })
    const code = new URL(agreed.headers['Location'] ?? '').searchParams.get('code') ?? ''
    expect(agreed).toStrictEqual(answer(WEB_CALLBACK, { code, state: 's' }, issuer))
    const another = {
      ...hiddenFields((await send(test.server, { url, headers: { cookie } })).body),
      resource_scope: 'all',
    }
    const refused = await post(test.server, '/base/oauth2/auth', { ...another, decision: 'refuse' }, { cookie })
    expect(refused).toStrictEqual(
      answer(WEB_CALLBACK, { error: 'access_denied', error_description: 'The user refused.', state: 's' }, issuer),
    )
    expect(await send(test.server, { url: `${url}&scope=unknown` })).toStrictEqual(
      answer(
        WEB_CALLBACK,
        {
          error: 'invalid_scope',
          error_description: 'The scope is unknown.',
          state: 's',
        },
        issuer,
      ),
    )
  })
})

describe('3.1 parameters', () => {
  it('[10] unknown ones are ignored, whatever they are', async () => {
    const test = await testServer()
    const known =
      /^(?:response_type|response_mode|client_id|redirect_uri|state|scope|code_challenge|code_challenge_method)$/
    const unknown = fc.tuple(
      fc
        .oneof(anyText, fc.constantFrom('__proto__', 'constructor', 'toString', 'iss', 'code', 'Client_id'))
        .filter((name) => !known.test(name)),
      fc.oneof(anyText.map(encodeURIComponent), fc.constantFrom('%', '%FF', '%00', '\u{e9}')),
    )
    const { page: plain, headers } = await openConsent(test)
    await fc.assert(
      fc.asyncProperty(fc.array(unknown, { maxLength: 8 }), async (pairs) => {
        const query = [...pairs, ...pairs].map(([name, value]) => `${encodeURIComponent(name)}=${value}`)
        const url = `${authorizationUrl()}&${query.join('&')}`
        fc.pre(canSend({ url }))
        const response = await send(test.server, { url, headers })
        expect(response.status).toBe(200)
        expect(hiddenFields(response.body)['request']).toBe(hiddenFields(plain.body)['request'])
      }),
      { numRuns: 60, examples: [[[['__proto__', 'x']]], [[['x', '%FF']]]] },
    )
  })

  it('[48] prototype names are data: no parameter is found through them', async () => {
    const test = await testServer()
    const query = '__proto__=x&__proto__[client_id]=web&constructor=web&client_id[]=web&toString=1'
    expect(await sendQuery(test, query)).toStrictEqual(inaccessible())
    const plain = await send(test.server, { url: `${authorizationUrl()}&${query.replaceAll('client_id', 'x')}` })
    expect(plain.status).toBe(200)
    expect(Object.hasOwn(Object.prototype, 'client_id')).toBe(false)
  })

  it('an empty parameter is an absent one', async () => {
    const test = await testServer()
    const query = 'client_id=web&response_type=code&redirect_uri=&scope=&response_mode=&code_challenge='
    const { status, body } = await sendQuery(test, query)
    expect(status).toBe(200)
    expect(hiddenFields(body)['request']).toBe(`response_type=code&client_id=web&redirect_uri=${ENCODED_CALLBACK}`)
  })

  it('response_mode query is what there is anyway', async () => {
    const test = await testServer()
    expect((await send(test.server, { url: authorizationUrl({ response_mode: 'query' }) })).status).toBe(200)
  })

  it('the parameters of the query do not matter where the form is sent', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test)
    const form = { ...fields, decision: 'agree' }
    const url = '/oauth2/auth?client_id=nobody&scope=unknown&%zz'
    const { status, headers: answered } = await post(test.server, url, form, headers)
    expect([status, answered['Location']?.startsWith(`${WEB_CALLBACK}?code=gwc_`)]).toStrictEqual([302, true])
  })
})

describe('4.1 the redirect URI', () => {
  it('omitted, is the registered one', async () => {
    const test = await testServer()
    const { response, code } = await authorize(test, { redirect_uri: undefined, state: 's' })
    expect(response).toStrictEqual(answer(WEB_CALLBACK, { code, state: 's' }))
    expect((await exchange(test, code, { redirect_uri: WEB_CALLBACK })).status).toBe(200)
  })

  it('may be any of the authorized domain, exactly as it was sent', async () => {
    const test = await testServer()
    for (const redirectUri of ['https://app.example/', 'https://app.example', 'https://app.example/a/b%20c']) {
      const { response, code } = await authorize(test, { redirect_uri: redirectUri })
      expect(response).toStrictEqual(answer(redirectUri, { code }))
    }
  })

  it('[4] query parameters of a registered one are kept, and cannot be overridden by ours, nor ours by them', async () => {
    const test = await testServer()
    const redirectUri = 'https://tenant.example/callback?tenant=7&state7=x'
    const clientId = 'tenant'
    await test.server.applications.register(registration({ redirectUris: [redirectUri] }), { ...WEB, clientId })
    const { response, code } = await authorize(test, {
      client_id: clientId,
      redirect_uri: redirectUri,
      state: 'a&tenant=8&code=mine',
    })
    expect(response).toStrictEqual(
      redirect(`${redirectUri}&code=${code}&state=a%26tenant%3D8%26code%3Dmine&iss=${encodeURIComponent(ISSUER)}`),
    )
    for (const name of ['code', 'state', 'iss', 'error', 'error_description', 'error_uri']) {
      const overriding = `https://tenant.example/callback?${name}=mine`
      const url = authorizationUrl({ client_id: clientId, redirect_uri: overriding })
      expect(await send(test.server, { url })).toStrictEqual(inaccessibleOfSample())
      await expect(
        test.server.applications.register(registration({ redirectUris: [overriding] })),
      ).rejects.toMatchObject({ code: 'ERR_REGISTRATION' })
    }
  })

  it('of a native client may have any port', async () => {
    const test = await testServer()
    for (const port of [1, 1024, 65535]) {
      const redirectUri = `http://127.0.0.1:${port}/callback`
      const { response, code } = await authorize(test, {
        client_id: 'native',
        redirect_uri: redirectUri,
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
      })
      expect(response).toStrictEqual(answer(redirectUri, { code }))
    }
  })

  it('may be localhost where it is registered so, unless an option takes it away', async () => {
    const redirectUris = ['http://localhost/callback']
    const native = registration({ type: 'public', redirectUris })
    const test = await testServer()
    await test.server.applications.register(native, { clientId: 'local' })
    const url = authorizationUrl({
      client_id: 'local',
      redirect_uri: 'http://localhost:8080/callback',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    })
    expect((await send(test.server, { url })).status).toBe(200)
    const loopback = authorizationUrl({ client_id: 'local', redirect_uri: 'http://127.0.0.1:8080/callback' })
    expect((await send(test.server, { url: loopback })).status).toBe(400)
    const strict = await testServer({ allowLocalhost: false })
    await expect(strict.server.applications.register(native)).rejects.toMatchObject({ code: 'ERR_REGISTRATION' })
  })
})

describe('5.3 scopes', () => {
  it.each([
    ['absent, they are the registered ones', undefined, 'repo-code:rw account-profile:r'],
    ['may be fewer', 'account-profile:r', 'account-profile:r'],
    ['may be read-only where read-write is registered', 'repo-code:r', 'repo-code:r'],
    [
      'come in the order of the catalogue, each once',
      'account-profile:r repo-code:r repo-code:rw',
      'repo-code:rw account-profile:r',
    ],
    [
      'may have more spaces than one around them',
      '  account-profile:r   repo-code:r ',
      'repo-code:r account-profile:r',
    ],
  ])('[13] %s', async (_how, scope, expected) => {
    const test = await testServer()
    const { code } = await authorize(test, { scope })
    const { body } = await exchange(test, code)
    expect(body.scope).toBe(expected)
    expect(await call(test, body.access_token)).toMatchObject({ scopes: expected.split(' ') })
  })

  it('[13] what is shown is what is granted, never more than registered, whatever is asked and sent', async () => {
    const registered = ['repo-code:rw', 'repo-pr:r', 'repo-delete:rw', 'account-profile:r', 'account-email:rw']
    const covered = [...registered, 'repo-code:r', 'account-email:r']
    const test = await testServer()
    const identity = { ...OTHER, clientId: 'wide' }
    await test.server.applications.register(registration({ scopes: registered }), identity)
    await fc.assert(
      fc.asyncProperty(
        fc.option(fc.shuffledSubarray(covered, { minLength: 1 }), { nil: undefined }),
        fc.constantFrom<Record<string, string>>({}, { scope: 'repo-manage:rw' }, { scopes: 'repo-manage:rw' }),
        async (asked, extra) => {
          const { fields, headers, page } = await openConsent(test, { client_id: 'wide', scope: asked?.join(' ') })
          const shown = [...page.body.matchAll(/<data value="([^"]*)">/g)].map(([, scope]) => scope)
          const agreed = await post(test.server, '/oauth2/auth', { ...fields, ...extra, decision: 'agree' }, headers)
          const code = new URL(agreed.headers['Location'] ?? '').searchParams.get('code') ?? ''
          const { body } = await exchange(test, code, extra, identity)
          const granted = body.scope.split(' ')
          expect([...granted].sort()).toStrictEqual([...shown].sort())
          expect(granted.every((scope) => covered.includes(scope))).toBe(true)
          expect(await call(test, body.access_token)).toMatchObject({ scopes: granted })
          expect(asked === undefined ? granted : registered).toStrictEqual(registered)
        },
      ),
      { numRuns: 40 },
    )
  })
})

describe('4.1 the methods of the endpoint', () => {
  it('are GET, HEAD and POST; every other gets 405 with Allow', async () => {
    const test = await testServer()
    const methods = [
      'PUT',
      'DELETE',
      'PATCH',
      'OPTIONS',
      'TRACE',
      'CONNECT',
      'QUERY',
      'get',
      'post',
      '',
      'GET, HEAD',
      '__proto__',
    ]
    for (const method of methods.filter((each) => canSend({ method: each }))) {
      expect(await send(test.server, { method, url: authorizationUrl() })).toStrictEqual(
        tokenError(405, 'invalid_request', 'The method must be GET or POST.', { Allow: 'GET, HEAD, POST' }),
      )
    }
  })

  it('HEAD is answered like GET, for the adapter to leave the body out', async () => {
    const test = await testServer({ entropy: (length) => new Uint8Array(length).fill(7) })
    const url = authorizationUrl({ state: 's' })
    const get = await send(test.server, { url })
    expect(get.status).toBe(200)
    expect(await send(test.server, { method: 'HEAD', url })).toStrictEqual(answeredTo('HEAD', get))
  })
})

describe('4.1 a user who is not signed in', () => {
  /** The request of the `return_to` that the host's sign-in got. */
  function returnTo(location: string | undefined): string {
    const target = new URL(location ?? '', 'https://host.example').searchParams.get('return_to') ?? ''
    expect(target.startsWith(`${ISSUER}/oauth2/auth?`)).toBe(true)
    return target.slice(ISSUER.length)
  }

  it('is sent to the sign-in of the host', async () => {
    const test = await testServer()
    test.session.user = undefined
    const back =
      'https://git.example/oauth2/auth?response_type=code&client_id=web&redirect_uri=https%3A%2F%2Fapp.example%2Fcallback&state=s'
    expect(await send(test.server, { url: authorizationUrl({ state: 's' }) })).toStrictEqual(
      redirect(`/sign-in?return_to=${encodeURIComponent(back)}`),
    )
    expect(test.events).toStrictEqual([])
  })

  it('comes back to the same request, for any state', async () => {
    const test = await testServer()
    const { headers } = await openConsent(test)
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          state: fc.option(anyText, { nil: undefined }),
          scope: fc.constantFrom(undefined, 'repo-code:r', 'account-profile:r repo-code:r'),
          redirect_uri: fc.constantFrom(undefined, WEB_CALLBACK, 'https://app.example/other?a=b&c=%20'),
          pkce: fc.boolean(),
        }),
        async ({ pkce, ...parameters }) => {
          const challenge = pkce ? { code_challenge: CHALLENGE, code_challenge_method: 'S256' } : {}
          const url = authorizationUrl({ ...parameters, ...challenge })
          const user = test.session.user
          test.session.user = undefined
          const away = await send(test.server, { url })
          test.session.user = user
          const direct = await send(test.server, { url, headers })
          const after = await send(test.server, { url: returnTo(away.headers['Location']), headers })
          expect([direct.status, after.status]).toStrictEqual([200, 200])
          expect(hiddenFields(after.body)['request']).toBe(hiddenFields(direct.body)['request'])
        },
      ),
      { numRuns: 40 },
    )
  })

  it('whose session ended before the form was sent, is sent there too, and no grant is made', async () => {
    const test = await testServer()
    const { fields, headers } = await openConsent(test, { state: 's' })
    test.session.user = undefined
    const away = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    const back = `${ISSUER}/oauth2/auth?${fields['request']}`
    expect(away).toStrictEqual(signedOut(`/sign-in?return_to=${encodeURIComponent(back)}`))
    expect(test.events).toStrictEqual([])
  })

  it('may be null as well as undefined', async () => {
    const test = await testServer({ user: () => null })
    const { status, headers } = await send(test.server, { url: authorizationUrl() })
    expect([status, headers['Location']?.startsWith('/sign-in?return_to=')]).toStrictEqual([302, true])
  })

  it('is neither asked to sign in nor sent to the application for a request that is wrong (RFC 9700, 4.11.2)', async () => {
    const test = await testServer({ requirePkce: true })
    const sound = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
    const wrong: Record<string, string | undefined>[] = [
      { response_type: 'token' },
      { response_type: undefined },
      { response_mode: 'fragment' },
      { scope: 'unknown' },
      { scope: 'repo-delete:rw' },
      { client_secret: 'x' },
      { state: 's'.repeat(8193) },
      { code_challenge: undefined },
      { code_challenge: undefined, code_challenge_method: undefined },
      { code_challenge_method: 'plain' },
    ]
    const urls = [
      ...wrong.map((parameters) => authorizationUrl({ ...sound, ...parameters })),
      `${authorizationUrl(sound)}&state=a&state=b`,
      `${authorizationUrl(sound)}&scope=a&scope=b`,
    ]
    for (const url of urls) {
      test.session.user = undefined
      expect(await send(test.server, { url }), url).toStrictEqual(inaccessibleOfSample())
      expect(test.events.at(-1)).toMatchObject({ type: 'refused', endpoint: 'authorization', clientId: 'web' })
      const [, request = ''] = url.split('?')
      expect(await post(test.server, '/oauth2/auth', { request }), url).toStrictEqual(inaccessibleOfSample())
      test.session.user = { subject: 'ada' }
      const told = await send(test.server, { url })
      expect(told.headers['Location']?.startsWith(`${WEB_CALLBACK}?error=`), url).toBe(true)
    }
    test.session.user = undefined
    expect(await sendQuery(test, 'client_id=nobody')).toStrictEqual(inaccessible())
  })

  it('may be looked up by a promise, with the request of the platform', async () => {
    const seen: unknown[] = []
    const user: AuthorizationServerOptions['user'] = async (request) => {
      seen.push(request.native)
      return { subject: 'ada' }
    }
    const test = await testServer({ user })
    const native = { session: 1 }
    const { status, body } = await send(test.server, { url: authorizationUrl(), native })
    // An adapter hands over what it was given.
    const given = { direct: native, node: expect.any(IncomingMessage), fetch: expect.any(Request) }
    expect([status, seen]).toStrictEqual([200, [given[transport.name]]])
    // Without a name of its own, the user is shown by the subject.
    expect(body).toContain('Signed in as <bdi>ada</bdi>')
  })
})
