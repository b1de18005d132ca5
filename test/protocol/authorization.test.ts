/**
 * The authorization request that is wrong: what gets a page, and what gets a redirect with an error.
 * @module
 * @see Specification, sections 4.1 and 7; RFC 6749, sections 3.1.2.4 and 4.1.2.1; RFC 7636, section 4.3; RFC 9207
 */
import { portableDigests } from 'grantwell'
import { clientKeyOf, parseClientId } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { answer, inaccessible, inaccessibleOfSample, sendQuery } from '../server/helpers.js'
import {
  authorizationUrl,
  CHALLENGE,
  canSend,
  NATIVE_CALLBACK,
  post,
  registration,
  START,
  send,
  testServer,
  WEB,
  WEB_CALLBACK,
} from '../support.js'

const NATIVE_REQUEST = { client_id: 'native', redirect_uri: NATIVE_CALLBACK }
const ENCODED_CALLBACK = encodeURIComponent(WEB_CALLBACK)
/** A sound request of the application `web`, as a query. */
const SOUND = `response_type=code&client_id=web&redirect_uri=${ENCODED_CALLBACK}`

describe('4.1, 7 the page that the link cannot be accessed, never a redirect', () => {
  const uri = (text: string): string => `response_type=code&client_id=web&redirect_uri=${encodeURIComponent(text)}`
  const client = (encoded: string): string =>
    `response_type=code&redirect_uri=${ENCODED_CALLBACK}&state=s&client_id=${encoded}`

  const FAULTS = [
    ['no query at all', '', 'client_unknown'],
    ['no client_id', `response_type=code&redirect_uri=${ENCODED_CALLBACK}&state=s`, 'client_unknown'],
    ['an empty client_id', client(''), 'client_unknown'],
    ['an unknown client', client('nobody'), 'client_unknown'],
    ['a client_id in other case', client('Web'), 'client_unknown'],
    ['a client_id with a space at its end', client('web+'), 'client_unknown'],
    ['a repeated client_id', `${SOUND}&client_id=web`, 'client_unknown'],
    ['a client_id repeated under an encoded name', `${SOUND}&client%5Fid=web`, 'client_unknown'],
    ['a client_id that is not ASCII', client('w%C3%A9b'), 'client_unknown'],
    ['a client_id of 256 characters', client('w'.repeat(256)), 'client_unknown'],
    ['a client_id of 8,193 characters', client('w'.repeat(8193)), 'client_unknown'],
    ['a client_id with NUL', client('web%00'), 'client_unknown'],
    ['a client_id that is no UTF-8', client('web%FF'), 'client_unknown'],
    ['a client_id with a broken escape', client('web%2'), 'client_unknown'],
    ['a prototype name as client_id', client('__proto__'), 'client_unknown'],
    ['a parameter name with a broken escape', `${SOUND}&%zz=1`, 'malformed_request'],
    ['a parameter name that is not ASCII', `${SOUND}&\u{e9}=1`, 'malformed_request'],
    ['2,049 parameters', `${SOUND}${'&a=1'.repeat(2046)}`, 'malformed_request'],
    ['another host', uri('https://evil.example/callback'), 'redirect_uri_mismatch'],
    ['a subdomain', uri('https://sub.app.example/callback'), 'redirect_uri_mismatch'],
    ['the domain as a prefix', uri('https://app.example.evil.example/callback'), 'redirect_uri_mismatch'],
    ['the domain as a suffix', uri('https://evilapp.example/callback'), 'redirect_uri_mismatch'],
    ['the domain as user info', uri('https://app.example@evil.example/callback'), 'redirect_uri_mismatch'],
    ['user info before the domain', uri('https://user@app.example/callback'), 'redirect_uri_mismatch'],
    ['a trailing dot', uri('https://app.example./callback'), 'redirect_uri_mismatch'],
    ['another port', uri('https://app.example:8443/callback'), 'redirect_uri_mismatch'],
    ['http', uri('http://app.example/callback'), 'redirect_uri_mismatch'],
    ['a fragment', uri(`${WEB_CALLBACK}#top`), 'redirect_uri_mismatch'],
    ['an empty fragment', uri(`${WEB_CALLBACK}#`), 'redirect_uri_mismatch'],
    ['a path with ..', uri('https://app.example/x/../callback'), 'redirect_uri_mismatch'],
    ['a backslash', uri('https://app.example\\@evil.example/'), 'redirect_uri_mismatch'],
    ['javascript:', uri('javascript:alert(1)'), 'redirect_uri_mismatch'],
    ['data:', uri('data:text/html,x'), 'redirect_uri_mismatch'],
    ['a relative URI', uri('/callback'), 'redirect_uri_mismatch'],
    ['text that is no URI', uri('callback'), 'redirect_uri_mismatch'],
    ['loopback where none is registered', uri(NATIVE_CALLBACK), 'redirect_uri_mismatch'],
    ['a control character', uri(`${WEB_CALLBACK}\r\nSet-Cookie: a=b`), 'redirect_uri_mismatch'],
    ['2,049 characters', uri(`${WEB_CALLBACK}${'a'.repeat(2049 - WEB_CALLBACK.length)}`), 'redirect_uri_mismatch'],
    ['a code of its own', uri(`${WEB_CALLBACK}?code=mine`), 'redirect_uri_mismatch'],
    ['a repeated redirect_uri', `${SOUND}&redirect_uri=${ENCODED_CALLBACK}`, 'redirect_uri_mismatch'],
    [
      'a redirect_uri that is no UTF-8',
      'response_type=code&client_id=web&redirect_uri=%C3%28',
      'redirect_uri_mismatch',
    ],
  ] as const
  it.each(FAULTS.filter(([, query]) => canSend({ url: `/oauth2/auth?${query}` })))(
    '[1] %s',
    async (_fault, query, reason) => {
      const test = await testServer()
      const isMismatch = reason === 'redirect_uri_mismatch'
      expect(await sendQuery(test, query)).toStrictEqual(isMismatch ? inaccessibleOfSample() : inaccessible())
      const event = { type: 'refused', at: START, endpoint: 'authorization', error: 'invalid_request', reason }
      // Of the client, with the rule and with the redirect URI, of which what may be secret is left out.
      const more = { clientId: 'web', rule: expect.stringMatching(/^redirect_uri (must|is) [^/]+$/) }
      const [{ redirectUri, ...told } = {}] = test.events as readonly { readonly redirectUri?: string }[] // of a refusal
      expect(told).toStrictEqual({ ...event, ...(isMismatch && more) })
      const sent = new URLSearchParams(query).getAll('redirect_uri')
      const isRead = sent.length === 1 && /^[^\p{Cc}\u{fffd}]+$/u.test(sent[0] ?? '')
      expect(redirectUri).toStrictEqual(isMismatch && isRead ? expect.stringMatching(/^[^?#]{1,512}$/) : undefined)
    },
  )

  it('[1] the fault of a client or redirect URI comes before every other fault, also in a form', async () => {
    const test = await testServer()
    const faults = 'response_type=token&scope=none&state=1&state=2&code_challenge=short'
    for (const [request, page] of [
      [`client_id=nobody&${faults}`, inaccessible()],
      [`client_id=web&redirect_uri=https://evil.example/&${faults}`, inaccessibleOfSample()],
    ] as const) {
      expect(await sendQuery(test, request)).toStrictEqual(page)
      expect(await post(test.server, '/oauth2/auth', { request })).toStrictEqual(page)
    }
  })

  it('[1] an omitted redirect URI where several are registered', async () => {
    const test = await testServer()
    const redirectUris = ['https://two.example/a', 'https://two.example/b']
    await test.server.applications.register(registration({ redirectUris }), { ...WEB, clientId: 'two' })
    expect(await sendQuery(test, 'response_type=code&client_id=two')).toStrictEqual(inaccessibleOfSample())
  })

  it('[1] matching exactly: another path of the domain', async () => {
    const test = await testServer({ redirectMatching: 'exact' })
    const elsewhere = { redirect_uri: 'https://app.example/other' }
    expect(await send(test.server, { url: authorizationUrl(elsewhere) })).toStrictEqual(inaccessibleOfSample())
    expect((await send(test.server, { url: authorizationUrl() })).status).toBe(200)
  })

  it('[1] a client whose key is the first bytes of the same digest as a registered one is unknown', async () => {
    const digests = {
      ...portableDigests,
      sha256: (data: Uint8Array | string) => portableDigests.sha256(data === 'twin' ? 'web' : data),
    }
    const test = await testServer({ digests })
    const [web, twin] = ['web', 'twin'].map((id) => clientKeyOf(digests, parseClientId(id) ?? expect.fail()))
    expect(web).toBe(twin)
    expect(await send(test.server, { url: authorizationUrl({ client_id: 'twin' }) })).toStrictEqual(inaccessible())
  })

  it('[26] a suspended application', async () => {
    const test = await testServer()
    await test.server.applications.suspend('web')
    expect(await send(test.server, { url: authorizationUrl() })).toStrictEqual(inaccessible())
    expect(test.events.at(-1)).toStrictEqual({
      type: 'refused',
      at: START,
      endpoint: 'authorization',
      error: 'invalid_request',
      reason: 'client_suspended',
    })
  })

  it('[4] a fragment in a redirect URI is refused at registration too', async () => {
    const test = await testServer()
    const redirectUris = ['https://app.example/callback#top']
    await expect(test.server.applications.register(registration({ redirectUris }))).rejects.toMatchObject({
      code: 'ERR_REGISTRATION',
    })
  })
})

describe('4.1.2.1 errors that the application is told', () => {
  const unknown = 'The scope is unknown.'
  const notRegistered = (scope: string): string => `The scope ${scope} is not registered for this application.`
  const challengeError = 'The code_challenge must be one of the method S256.'

  /** What is added to, or stands in place of, the parameters of a sound request. */
  const faults: [string, string, string, string, string][] = [
    [
      '[9] no response_type',
      'response_type=',
      'invalid_request',
      'The parameter response_type is missing.',
      'malformed_request',
    ],
    [
      '[9] response_type token',
      'response_type=token',
      'unsupported_response_type',
      'The response_type must be code.',
      'unsupported',
    ],
    [
      '[9] response_type id_token',
      'response_type=id_token',
      'unsupported_response_type',
      'The response_type must be code.',
      'unsupported',
    ],
    [
      '[9] response_type code token',
      'response_type=code+token',
      'unsupported_response_type',
      'The response_type must be code.',
      'unsupported',
    ],
    [
      '[9] response_type in other case',
      'response_type=Code',
      'unsupported_response_type',
      'The response_type must be code.',
      'unsupported',
    ],
    [
      '[9] response_type __proto__',
      'response_type=__proto__',
      'unsupported_response_type',
      'The response_type must be code.',
      'unsupported',
    ],
    [
      '[9] response_type repeated',
      'response_type=code&response_type=code',
      'invalid_request',
      'The parameter response_type is repeated.',
      'malformed_request',
    ],
    [
      '[47] response_type with NUL',
      'response_type=code%00',
      'invalid_request',
      'The parameter response_type is not well-formed.',
      'malformed_request',
    ],
    [
      '[47] response_type too long',
      `response_type=${'c'.repeat(8193)}`,
      'invalid_request',
      'The parameter response_type is too long.',
      'malformed_request',
    ],
    [
      'response_mode fragment',
      'response_mode=fragment',
      'invalid_request',
      'The response_mode must be query.',
      'malformed_request',
    ],
    [
      'response_mode form_post',
      'response_mode=form_post',
      'invalid_request',
      'The response_mode must be query.',
      'malformed_request',
    ],
    [
      '[9] response_mode repeated',
      'response_mode=query&response_mode=query',
      'invalid_request',
      'The parameter response_mode is repeated.',
      'malformed_request',
    ],
    [
      '[25] client_secret',
      'client_secret=x',
      'invalid_request',
      'The parameter client_secret must not be in the query.',
      'malformed_request',
    ],
    [
      '[25] client_secret, empty and repeated',
      'client_secret=&client_secret=x',
      'invalid_request',
      'The parameter client_secret must not be in the query.',
      'malformed_request',
    ],
    ['an unknown scope', 'scope=repo-unknown:r', 'invalid_scope', unknown, 'scope_not_registered'],
    ['a scope without its permission', 'scope=repo-code', 'invalid_scope', unknown, 'scope_not_registered'],
    [
      'a permission that the name does not have',
      'scope=repo-delete:r',
      'invalid_scope',
      unknown,
      'scope_not_registered',
    ],
    [
      'a scope that is not registered',
      'scope=repo-pr:r',
      'invalid_scope',
      notRegistered('repo-pr:r'),
      'scope_not_registered',
    ],
    [
      'a wider permission than registered',
      'scope=account-profile:rw',
      'invalid_scope',
      notRegistered('account-profile:rw'),
      'scope_not_registered',
    ],
    [
      'one scope too many',
      'scope=repo-code:r+repo-pr:r',
      'invalid_scope',
      notRegistered('repo-pr:r'),
      'scope_not_registered',
    ],
    ['a comma between scopes', 'scope=repo-code:r,account-profile:r', 'invalid_scope', unknown, 'scope_not_registered'],
    ['a space as the scopes', 'scope=+', 'invalid_scope', 'The scope is empty.', 'scope_not_registered'],
    ['a prototype name as scope', 'scope=constructor', 'invalid_scope', unknown, 'scope_not_registered'],
    [
      '[9] scope repeated',
      'scope=repo-code:r&scope=repo-code:r',
      'invalid_request',
      'The parameter scope is repeated.',
      'malformed_request',
    ],
    [
      '[19] code_challenge without a method, which would be plain',
      `code_challenge=${CHALLENGE}`,
      'invalid_request',
      challengeError,
      'malformed_request',
    ],
    [
      '[19] code_challenge_method plain',
      `code_challenge=${CHALLENGE}&code_challenge_method=plain`,
      'invalid_request',
      challengeError,
      'malformed_request',
    ],
    [
      '[19] code_challenge_method in other case',
      `code_challenge=${CHALLENGE}&code_challenge_method=s256`,
      'invalid_request',
      challengeError,
      'malformed_request',
    ],
    [
      '[19] a code_challenge of 42 characters',
      `code_challenge=${CHALLENGE.slice(1)}&code_challenge_method=S256`,
      'invalid_request',
      challengeError,
      'malformed_request',
    ],
    [
      '[19] a code_challenge of 44 characters',
      `code_challenge=${CHALLENGE}A&code_challenge_method=S256`,
      'invalid_request',
      challengeError,
      'malformed_request',
    ],
    [
      '[19] a code_challenge with padding',
      `code_challenge=${CHALLENGE}%3D&code_challenge_method=S256`,
      'invalid_request',
      challengeError,
      'malformed_request',
    ],
    [
      '[19] a code_challenge of plain base64',
      `code_challenge=%2B${CHALLENGE.slice(1)}&code_challenge_method=S256`,
      'invalid_request',
      challengeError,
      'malformed_request',
    ],
    [
      '[19] a code_challenge_method without a challenge',
      'code_challenge_method=S256',
      'invalid_request',
      'There is a code_challenge_method without a code_challenge.',
      'malformed_request',
    ],
    [
      '[9] code_challenge repeated',
      `code_challenge=${CHALLENGE}&code_challenge=${CHALLENGE}&code_challenge_method=S256`,
      'invalid_request',
      'The parameter code_challenge is repeated.',
      'malformed_request',
    ],
  ]

  it.each(faults)(
    '%s: a redirect with error, state and iss',
    async (_fault, parameters, error, description, reason) => {
      const test = await testServer()
      const rest = new URLSearchParams(SOUND)
      for (const name of new URLSearchParams(parameters).keys()) rest.delete(name)
      const response = await sendQuery(test, `${rest}&${parameters}&state=the+state`)
      expect(response).toStrictEqual(
        answer(WEB_CALLBACK, { error, error_description: description, state: 'the state' }),
      )
      expect(test.events).toStrictEqual([
        { type: 'refused', at: START, endpoint: 'authorization', error, reason, clientId: 'web' },
      ])
    },
  )

  it.each([
    ['[9] repeated', 'state=a&state=b', 'is repeated'],
    ['[9] repeated and equal', 'state=a&state=a', 'is repeated'],
    ['[47] no UTF-8', 'state=%FF', 'is not well-formed'],
    ['[47] of a broken escape', 'state=%4', 'is not well-formed'],
    ['[47] of an overlong encoding', 'state=%C0%80', 'is not well-formed'],
    ['[47] of an encoded surrogate', 'state=%ED%A0%80', 'is not well-formed'],
  ])('%s: such a state does not come back', async (_fault, parameters, fault) => {
    const test = await testServer()
    expect(await sendQuery(test, `${SOUND}&${parameters}`)).toStrictEqual(
      answer(WEB_CALLBACK, { error: 'invalid_request', error_description: `The parameter state ${fault}.` }),
    )
  })

  it('[47] a state of 8,193 characters is too long, and comes back all the same', async () => {
    const test = await testServer()
    const state = 's'.repeat(8193)
    const error = { error: 'invalid_request', error_description: 'The parameter state is too long.', state }
    const response = await send(test.server, { url: authorizationUrl({ state }) })
    expect(response).toStrictEqual(answer(WEB_CALLBACK, error))
  })

  it('[20] a public client without a challenge', async () => {
    const test = await testServer()
    const error = answer(NATIVE_CALLBACK, {
      error: 'invalid_request',
      error_description: 'A code_challenge is required.',
      state: '1',
    })
    for (const absent of [{}, { code_challenge: '' }, { code_challenge: '', code_challenge_method: '' }]) {
      const url = authorizationUrl({ ...NATIVE_REQUEST, ...absent, state: '1' })
      expect(await send(test.server, { url })).toStrictEqual(error)
    }
    expect(test.events.map((event) => event.type === 'refused' && event.reason)).toStrictEqual(
      Array(3).fill('pkce_required'),
    )
  })

  it('[20] every client without a challenge, where the host requires one', async () => {
    const test = await testServer({ requirePkce: true })
    expect(await send(test.server, { url: authorizationUrl() })).toStrictEqual(
      answer(WEB_CALLBACK, { error: 'invalid_request', error_description: 'A code_challenge is required.' }),
    )
    const withChallenge = authorizationUrl({ code_challenge: CHALLENGE, code_challenge_method: 'S256' })
    expect((await send(test.server, { url: withChallenge })).status).toBe(200)
  })

  it('[13] a registration whose scopes are read-only does not cover read-write, though read-write covers read-only', async () => {
    const test = await testServer()
    expect((await send(test.server, { url: authorizationUrl({ scope: 'repo-code:r' }) })).status).toBe(200)
    expect((await send(test.server, { url: authorizationUrl({ scope: 'account-profile:rw' }) })).status).toBe(302)
  })

  it('answers with everything in the query of a redirect URI that has one', async () => {
    const test = await testServer()
    for (const [given, expected] of [
      ['https://app.example/callback?tenant=7', 'https://app.example/callback?tenant=7&error='],
      ['https://app.example/callback?', 'https://app.example/callback?error='],
      ['https://app.example/callback?tenant=7&', 'https://app.example/callback?tenant=7&error='],
      ['https://app.example', 'https://app.example?error='],
    ] as const) {
      const { headers } = await send(test.server, {
        url: authorizationUrl({ redirect_uri: given, response_type: 'token' }),
      })
      expect(headers['Location']).toBe(
        `${expected}unsupported_response_type&error_description=The%20response_type%20must%20be%20code.&iss=https%3A%2F%2Fgit.example`,
      )
    }
  })
})
