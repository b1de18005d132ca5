/**
 * Clients that register themselves, and what they may do with their registration.
 * @module
 * @see RFC 7591; RFC 7592
 */
import type { ClientCandidate, ClientVerdict } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { authorizationUrl, basic, exchange, refresh, send, testServer, works } from '../support.js'
import { askOwn, askToRegister, NATIVE_CLIENT, openServer, parametersOf, register, tokensOf } from './registration.js'

const DAY = 86_400

describe('registration by a client (RFC 7591)', () => {
  it('[54] is no path of a server without a policy, and is in no metadata', async () => {
    const test = await testServer()
    expect(test.server.owns('/oauth2/register')).toBe(false)
    const metadata = await send(test.server, { url: '/.well-known/oauth-authorization-server' })
    expect(JSON.parse(metadata.body as string)).not.toHaveProperty('registration_endpoint')
  })

  it('is in the metadata of a server with a policy', async () => {
    const test = await openServer()
    const metadata = await send(test.server, { url: '/.well-known/oauth-authorization-server' })
    expect(JSON.parse(metadata.body as string)).toMatchObject({
      registration_endpoint: 'https://git.example/oauth2/register',
    })
  })

  it('answers with everything that is registered, and the two secrets once', async () => {
    const test = await openServer()
    const answer = await askToRegister(test, {
      ...NATIVE_CLIENT,
      client_uri: 'https://tool.example',
      scope: 'repo-code:r account-profile:r',
      token_endpoint_auth_method: 'client_secret_post',
      logo_uri: 'https://tool.example/logo.svg',
      contacts: ['ada@example'],
    })
    expect(answer.status).toBe(201)
    expect(answer.headers).toMatchObject({
      'Content-Type': 'application/json;charset=UTF-8',
      'Cache-Control': 'no-store',
    })
    const body = JSON.parse(answer.body as string)
    expect(body).toStrictEqual({
      client_id: expect.stringMatching(/^[\w-]{22}$/),
      client_id_issued_at: test.clock.now,
      client_name: 'A tool',
      client_uri: 'https://tool.example',
      redirect_uris: ['http://127.0.0.1/callback'],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_post',
      scope: 'repo-code:r account-profile:r',
      client_secret: expect.stringMatching(/^gws_[\w-]{43}$/),
      client_secret_expires_at: 0,
      registration_access_token: expect.stringMatching(/^gwm_[\w-]{43}$/),
      registration_client_uri: `https://git.example/oauth2/register?client_id=${body.client_id}`,
    })
    expect(JSON.stringify([...test.events])).not.toContain(body.client_secret)
  })

  it('gives a public client no secret, and a client that says nothing of it one', async () => {
    const test = await openServer()
    expect(await register(test)).not.toHaveProperty('client_secret')
    const { token_endpoint_auth_method: _, ...silent } = NATIVE_CLIENT
    const body = JSON.parse((await askToRegister(test, silent)).body as string)
    expect(body).toMatchObject({ token_endpoint_auth_method: 'client_secret_basic', client_secret: expect.anything() })
  })

  it('lets a public client go on to tokens at once, and to newer ones', async () => {
    const test = await openServer()
    const { client_id: clientId } = await register(test)
    const pair = await tokensOf(test, clientId)
    expect(await works(test, pair.access_token)).toBe(true)
    expect((await refresh(test, pair.refresh_token, {}, { clientId })).status).toBe(200)
  })

  it('lets a confidential client authenticate by its secret alone', async () => {
    const test = await openServer()
    const made = await register(test, {
      token_endpoint_auth_method: 'client_secret_basic',
      redirect_uris: ['https://tool.example/callback'],
    })
    const client = { clientId: made.client_id, clientSecret: made.client_secret ?? '' }
    const wrong = { ...client, clientSecret: `gws_${'A'.repeat(43)}` }
    expect((await exchange(test, 'no code', {}, client)).body.error).toBe('invalid_grant')
    expect((await exchange(test, 'no code', {}, wrong)).body.error).toBe('invalid_client')
    expect(basic(client).authorization).toMatch(/^Basic /)
  })

  it('takes redirect URIs at several hosts, each of which stands for itself alone', async () => {
    const test = await openServer()
    const redirectUris = ['https://editor.example/cb', 'https://insiders.editor.example/cb', 'http://localhost/cb']
    const { client_id: clientId } = await register(test, { redirect_uris: redirectUris })
    const open = async (uri: string) =>
      (await send(test.server, { url: authorizationUrl(parametersOf(clientId, uri)) })).status
    for (const uri of [...redirectUris, 'http://localhost:4999/cb']) expect(await open(uri), uri).toBe(200)
    for (const uri of ['https://editor.example/other', 'https://a.editor.example/cb', 'http://127.0.0.1/cb'])
      expect(await open(uri), uri).toBe(400)
  })

  it('names a client that says no name by where it sends its users', async () => {
    const test = await openServer()
    for (const client_name of [undefined, ''])
      expect(await register(test, { client_name })).toMatchObject({ client_name: '127.0.0.1' })
    const device = {
      client_name: undefined,
      redirect_uris: undefined,
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    }
    expect(await register(test, device)).toMatchObject({
      client_name: 'An application',
      grant_types: ['refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: [],
    })
  })

  it('keeps a name as it was written, in any script', async () => {
    const test = await openServer()
    expect(await register(test, { client_name: 'Größe 工具' })).toMatchObject({ client_name: 'Größe 工具' })
  })

  it('shortens a name that is longer than 50 characters, whole characters alone', async () => {
    const test = await openServer()
    const family = '👨‍👩‍👧‍👦'
    for (const [given, kept] of [
      ['x'.repeat(50), 'x'.repeat(50)],
      ['x'.repeat(51), `${'x'.repeat(49)}…`],
      [family.repeat(60), `${family.repeat(49)}…`],
      ['x'.repeat(60_000), `${'x'.repeat(49)}…`],
    ])
      expect(await register(test, { client_name: given })).toMatchObject({ client_name: kept })
  })

  const REFUSED: Readonly<Record<string, readonly [error: string, metadata: object | string]>> = {
    'text that is no JSON': ['invalid_request', '{'],
    'a list': ['invalid_request', '[]'],
    null: ['invalid_request', 'null'],
    'a number': ['invalid_request', '7'],
    nothing: ['invalid_request', ''],
    'no redirect URI': ['invalid_redirect_uri', { ...NATIVE_CLIENT, redirect_uris: [] }],
    'redirect URIs that are absent': ['invalid_redirect_uri', { client_name: 'A tool' }],
    'redirect URIs in a string': ['invalid_redirect_uri', { ...NATIVE_CLIENT, redirect_uris: 'https://a.example' }],
    'a redirect URI that is a number': ['invalid_redirect_uri', { ...NATIVE_CLIENT, redirect_uris: [7] }],
    'a script': ['invalid_redirect_uri', { ...NATIVE_CLIENT, redirect_uris: ['javascript:alert(1)'] }],
    'http elsewhere': ['invalid_redirect_uri', { ...NATIVE_CLIENT, redirect_uris: ['http://a.example/cb'] }],
    'a fragment': ['invalid_redirect_uri', { ...NATIVE_CLIENT, redirect_uris: ['https://a.example/cb#x'] }],
    '65 redirect URIs': [
      'invalid_redirect_uri',
      { ...NATIVE_CLIENT, redirect_uris: Array.from({ length: 65 }, (_, index) => `https://a.example/${index}`) },
    ],
    'a scheme of its own beside a secret': [
      'invalid_redirect_uri',
      { redirect_uris: ['com.example.app:/cb'], token_endpoint_auth_method: 'client_secret_basic' },
    ],
    'a name that turns the text around': ['invalid_client_metadata', { ...NATIVE_CLIENT, client_name: 'a\u202eb' }],
    'a name that is a number': ['invalid_client_metadata', { ...NATIVE_CLIENT, client_name: 7 }],
    'a website that is a script': ['invalid_client_metadata', { ...NATIVE_CLIENT, client_uri: 'javascript:1' }],
    'a scope that there is not': ['invalid_client_metadata', { ...NATIVE_CLIENT, scope: 'everything' }],
    'a scope in a list': ['invalid_client_metadata', { ...NATIVE_CLIENT, scope: ['repo-code:r'] }],
    'a key for its requests': [
      'invalid_client_metadata',
      { ...NATIVE_CLIENT, token_endpoint_auth_method: 'private_key_jwt' },
    ],
    'no grant type that there is': ['invalid_client_metadata', { ...NATIVE_CLIENT, grant_types: ['implicit'] }],
    'grant types in a string': ['invalid_client_metadata', { ...NATIVE_CLIENT, grant_types: 'authorization_code' }],
    'another response type alone': ['invalid_client_metadata', { ...NATIVE_CLIENT, response_types: ['token'] }],
  }

  it.each(Object.entries(REFUSED))('refuses %s, and keeps nothing', async (_, [error, metadata]) => {
    const test = await openServer()
    const answer = await askToRegister(test, metadata)
    expect([answer.status, JSON.parse(answer.body as string)]).toStrictEqual([
      400,
      { error, error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,301}$/) },
    ])
    expect((await test.server.applications.list({ state: 'approved' })).applications).toHaveLength(3)
    expect(test.events).toMatchObject([{ type: 'refused', endpoint: 'registration', reason: 'malformed_request' }])
  })

  it('refuses a body of another type', async () => {
    const test = await openServer()
    const answer = await askToRegister(test, NATIVE_CLIENT, { 'content-type': 'text/plain' })
    expect(answer.status).toBe(400)
  })

  it('ignores what it does not know, and grant types that it does not have beside one that it has', async () => {
    const test = await openServer()
    const more = { software_statement: 'x.y.z', jwks_uri: 'https://a.example', __proto__x: 1, unknown: { deep: [1] } }
    const grant_types = ['client_credentials', 'authorization_code']
    expect(await register(test, { ...more, grant_types })).toMatchObject({
      grant_types: ['authorization_code', 'refresh_token'],
    })
  })
})

describe('the policy of the host', () => {
  it('is told what the client says, and its answer may be a promise', async () => {
    const asked: ClientCandidate[] = []
    const test = await openServer({
      clientPolicy: async (client): Promise<ClientVerdict> => {
        asked.push(client)
        return 'approve'
      },
    })
    const made = await register(test, { client_uri: 'https://tool.example', scope: 'repo-code:r' })
    expect(asked).toStrictEqual([
      {
        source: 'registration',
        clientId: made.client_id,
        name: 'A tool',
        website: 'https://tool.example',
        type: 'public',
        redirectUris: ['http://127.0.0.1/callback'],
        scopes: ['repo-code:r'],
        deviceFlow: false,
      },
    ])
  })

  it('[54] approves fewer scopes than a client asks for', async () => {
    const test = await openServer({ clientPolicy: () => ({ approve: ['repo-code:r'] }) })
    const made = await register(test)
    expect(made['scope']).toBe('repo-code:r')
    expect((await tokensOf(test, made.client_id)).scope).toBe('repo-code:r')
  })

  it('approves more scopes than a client asks for, so that it can ask its users for them later', async () => {
    const test = await openServer({ clientPolicy: () => ({ approve: ['repo-code:rw', 'account-profile:r'] }) })
    const made = await register(test, { scope: 'repo-code:r' })
    expect(made['scope']).toBe('repo-code:rw account-profile:r')
    const asked = { ...parametersOf(made.client_id, 'http://127.0.0.1:5000/callback'), scope: 'repo-code:rw' }
    expect((await send(test.server, { url: authorizationUrl(asked) })).status).toBe(200)
    expect((await tokensOf(test, made.client_id)).scope).toBe('repo-code:rw account-profile:r')
  })

  it('[54] refuses: the client is told so, and nothing is kept', async () => {
    const test = await openServer({ clientPolicy: () => 'refuse' })
    const answer = await askToRegister(test, NATIVE_CLIENT)
    expect([answer.status, JSON.parse(answer.body as string).error]).toEqual([403, 'access_denied'])
    expect(test.events).toMatchObject([{ type: 'refused', endpoint: 'registration', reason: 'client_refused' }])
    expect((await test.server.applications.list({ state: 'pending' })).applications).toEqual([])
  })

  it('[54] lets a client wait: its users see a page that says so, until an administrator approves it', async () => {
    const test = await openServer({ clientPolicy: () => 'review' })
    const made = await register(test, {
      token_endpoint_auth_method: 'client_secret_basic',
      redirect_uris: ['https://a.example/cb'],
    })
    const client = { clientId: made.client_id, clientSecret: made.client_secret ?? '' }
    const url = authorizationUrl(parametersOf(client.clientId, 'https://a.example/cb'))
    const page = await send(test.server, { url })
    expect([page.status, page.body]).toEqual([400, expect.stringContaining('This application is not approved')])
    expect((await exchange(test, 'no code', {}, client)).body.error).toBe('invalid_client')
    const { applications } = await test.server.applications.list({ state: 'pending' })
    expect(applications.map(({ id }) => id)).toEqual([client.clientId])
    // It has its secret since it registered, so it gets no other one.
    const approved = await test.server.applications.approve(client.clientId, { revision: 1 })
    expect(approved).toStrictEqual({ clientId: client.clientId })
    expect((await send(test.server, { url })).status).toBe(200)
    expect((await exchange(test, 'no code', {}, client)).body.error).toBe('invalid_grant')
  })

  const WRONG: readonly unknown[] = [
    undefined,
    null,
    true,
    'yes',
    {},
    { approve: 'repo-code:r' },
    { approve: [] },
    { approve: ['repo-everything:rw'] },
  ]
  it.each(WRONG)('must give a verdict: %j makes the registration fail, and the host learns why', async (verdict) => {
    const clientPolicy = () => verdict as ClientVerdict // on purpose
    const test = await openServer({ clientPolicy })
    const answer = await askToRegister(test, { ...NATIVE_CLIENT, scope: 'repo-code:r' })
    expect([answer.status, JSON.parse(answer.body as string).error]).toEqual([500, 'server_error'])
    expect(test.errors).toMatchObject([
      { code: 'ERR_CONFIGURATION', message: expect.stringContaining('clientPolicy()') },
    ])
  })
})

describe('the registration of a client, for itself (RFC 7592)', () => {
  it('is read with the registration access token, without the secret', async () => {
    const test = await openServer()
    const made = await register(test, { token_endpoint_auth_method: 'client_secret_basic' })
    const { client_secret: _, client_secret_expires_at: __, ...shown } = made
    const answer = await askOwn(test, 'GET', made)
    expect([answer.status, JSON.parse(answer.body as string)]).toStrictEqual([200, shown])
  })

  it('is deleted, and nothing that it was granted works from then on', async () => {
    const test = await openServer()
    const made = await register(test)
    const pair = await tokensOf(test, made.client_id)
    const answer = await askOwn(test, 'DELETE', made)
    expect([answer.status, answer.body]).toEqual([204, ''])
    expect(await works(test, pair.access_token)).toBe(false)
    expect((await refresh(test, pair.refresh_token, {}, { clientId: made.client_id })).status).toBe(401)
    expect((await askOwn(test, 'GET', made)).status).toBe(401)
    expect(test.events).toContainEqual(expect.objectContaining({ type: 'application', change: 'deleted' }))
  })

  it('[55] is nobody else’s: every other request gets the same answer', async () => {
    const test = await openServer()
    const [made, other] = [await register(test), await register(test)]
    const uri = (id: string) => `https://git.example/oauth2/register?client_id=${id}`
    const asked = [
      { ...made, registration_access_token: other.registration_access_token },
      { ...made, registration_access_token: `gwm_${'A'.repeat(43)}` },
      { ...made, registration_access_token: 'x y' },
      { ...made, registration_client_uri: uri('web') },
      { ...made, registration_client_uri: uri('unknown') },
      { ...made, registration_client_uri: 'https://git.example/oauth2/register' },
      { ...made, registration_client_uri: 'https://git.example/oauth2/register?%zz=1' },
    ]
    for (const method of ['GET', 'DELETE'])
      for (const own of asked) {
        const answer = await askOwn(test, method, own)
        expect([answer.status, answer.body, answer.headers['WWW-Authenticate']]).toEqual([
          401,
          '{"error":"invalid_token","error_description":"The registration access token does not work."}',
          expect.stringContaining('Bearer realm="oauth2", error="invalid_token"'),
        ])
      }
    expect((await askOwn(test, 'GET', made)).status).toBe(200)
  })

  it('cannot be changed', async () => {
    const test = await openServer()
    const answer = await askOwn(test, 'PUT', await register(test))
    expect([answer.status, answer.headers['Allow']]).toEqual([405, 'GET, POST, DELETE'])
  })

  it('stays where an administrator stopped the client, who may still read it', async () => {
    const test = await openServer()
    const made = await register(test)
    await test.server.applications.suspend(made.client_id)
    expect((await askOwn(test, 'DELETE', made)).status).toBe(403)
    expect((await askOwn(test, 'GET', made)).status).toBe(200)
  })
})

describe('the life of a client that registered itself', () => {
  it('[58] ends after a week in which it gets no token', async () => {
    const test = await openServer()
    const made = await register(test)
    test.clock.now += 7 * DAY - 1
    expect((await askOwn(test, 'GET', made)).status).toBe(200)
    test.clock.now += 1
    expect((await askOwn(test, 'GET', made)).status).toBe(401)
  })

  it('ends after thirty days in which no administrator looks at it', async () => {
    const test = await openServer({ clientPolicy: () => 'review' })
    const made = await register(test)
    test.clock.now += 30 * DAY - 1
    expect((await askOwn(test, 'GET', made)).status).toBe(200)
    test.clock.now += 1
    expect((await test.server.applications.list({ state: 'pending' })).applications).toEqual([])
  })

  it('is as long as the life of its tokens, however often they are refreshed', async () => {
    const test = await openServer()
    const { client_id: clientId } = await register(test)
    let { refresh_token: latest } = await tokensOf(test, clientId)
    for (let turn = 0; turn < 12; turn++) {
      test.clock.now += 180 * DAY - 1
      const { status, body } = await refresh(test, latest, {}, { clientId })
      expect(status).toBe(200)
      latest = body.refresh_token
    }
    test.clock.now += 188 * DAY
    expect(await test.server.applications.get(clientId)).toBeUndefined()
  })

  it.each(['approve', 'suspend', 'reject'] as const)(
    '[58] has no end once an administrator decided on it: %s',
    async (decision) => {
      const test = await openServer({ clientPolicy: () => (decision === 'suspend' ? 'approve' : 'review') })
      const { client_id: clientId } = await register(test)
      const { applications } = test.server
      if (decision === 'approve') await applications.approve(clientId, { revision: 1 })
      else if (decision === 'suspend') await applications.suspend(clientId)
      else await applications.reject(clientId, { revision: 1, reason: 'Not here' })
      test.clock.now += 4000 * DAY
      expect(await applications.get(clientId)).toMatchObject({ id: clientId })
    },
  )
})
