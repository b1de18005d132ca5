/**
 * Tokens for one API among several: the parameter `resource`, guards with an `audience`, and the documents of protected resources.
 * @module
 * @see RFC 8707; RFC 9728
 */
import type { AuthorizationServer, GuardResult, RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../support.js'
import {
  basic,
  call,
  exchange,
  ISSUER,
  openConsent,
  post,
  refresh,
  START,
  send,
  testServer,
  token,
  tokens,
  WEB,
} from '../support.js'
import { AUDIENCES, audienceServer, CI, codeFor, MCP, NARROW, openFor, REST, resources, tokensFor } from './audience.js'
import { askForCodes, codesOf, DEVICE_GRANT, decide, enterCode } from './device-form.js'
import type { MacTokens } from './mac-client.js'
import { MAC_OPTIONS, macTokens, signedParts, signedRequest, withSigner } from './mac-client.js'
import { API, INACTIVE, introspect, told } from './resource-server.js'

/** Asks a guard of a protected resource. */
function callAt({ server }: Pick<TestServer, 'server'>, audience: string, accessToken: string, scope?: string) {
  const request = { headers: { authorization: `Bearer ${accessToken}` } }
  return server.authenticate(request, { audience, ...(scope !== undefined && { scope }) })
}

/** Where a token works: at the guards of which resources, and at one of none. */
async function whereItWorks(test: Pick<TestServer, 'server'>, accessToken: string): Promise<readonly string[]> {
  const request = { headers: { authorization: `Bearer ${accessToken}` } }
  const asked = [
    ...[MCP, REST, CI].map((audience) => ({ name: audience, needs: { audience } })),
    { name: 'none', needs: {} },
  ]
  const found = await Promise.all(asked.map(({ needs }) => test.server.authenticate(request, needs)))
  return asked.filter((_, index) => found[index]?.type === 'authenticated').map(({ name }) => name)
}

/** The same service after a start without one of its resources. */
function withoutMcp({ store, session, clock }: TestServer): AuthorizationServer {
  return createAuthorizationServer({
    issuer: ISSUER,
    store,
    audiences: AUDIENCES.filter(({ resource }) => resource !== MCP),
    user: () => session.user,
    signInUrl: () => '/sign-in',
    clock: () => clock.now,
  })
}

function challengeOf(result: GuardResult): string | undefined {
  return result.type === 'refused' ? result.response.headers['WWW-Authenticate'] : undefined
}

describe('a request that names protected resources (RFC 8707, section 2)', () => {
  it('gets tokens for all of them, and for nothing else', async () => {
    const test = await audienceServer()
    expect(await whereItWorks(test, (await tokensFor(test, [MCP])).access_token)).toEqual([MCP])
    expect(await whereItWorks(test, (await tokensFor(test, [CI, REST])).access_token)).toEqual([REST, CI])
    expect(await whereItWorks(test, (await tokens(test)).access_token)).toEqual(['none'])
  })

  it('may spell a resource in the ways that are the same URL, repeat it, and leave an empty one', async () => {
    const test = await audienceServer()
    for (const names of [[MCP, MCP, ''], ['HTTPS://GIT.example/mcp'], ['https://git.example:443/mcp']])
      expect(await whereItWorks(test, (await tokensFor(test, names)).access_token), names.join()).toEqual([MCP])
    expect(await whereItWorks(test, (await tokensFor(test, ['https://git.example/'])).access_token)).toEqual([REST])
    for (const names of [[''], ['', '']])
      expect(await whereItWorks(test, (await tokensFor(test, names)).access_token)).toEqual(['none'])
  })

  it.each([
    'https://git.example/mcp/',
    'https://git.example/MCP',
    'https://git.example/mcp?x=1',
    'https://git.example/mcp#x',
    'http://git.example/mcp',
    'https://evil.example',
    'mcp',
    'urn:mcp',
    'constructor',
  ])('is told invalid_target for one that is not declared: %s', async (resource) => {
    const test = await audienceServer()
    expect(await codeFor(test, [resource])).toContain('error=invalid_target')
    expect(await codeFor(test, [MCP, resource])).toContain('error=invalid_target')
    expect(test.events.at(-1)).toMatchObject({ type: 'refused', reason: 'audience_unknown', error: 'invalid_target' })
    const code = await codeFor(test, [MCP])
    expect((await exchange(test, code, { resource })).body.error).toBe('invalid_target')
    expect((await exchange(test, code)).status).toBe(200)
    const codes = await askForCodes(test, { resource })
    expect({ ...codes, body: JSON.parse(codes.body) }).toMatchObject({ status: 400, body: { error: 'invalid_target' } })
  })

  it('is told invalid_request for one that is not well-formed', async () => {
    const test = await audienceServer()
    const body = `grant_type=authorization_code&code=${await codeFor(test, [MCP])}&resource=%ff`
    const answer = await post(test.server, '/oauth2/token', body, basic(WEB))
    expect(JSON.parse(answer.body)).toEqual({
      error: 'invalid_request',
      error_description: 'The parameter resource is not well-formed.',
    })
  })

  it('is told invalid_target for one that is longer than any that could be declared', async () => {
    expect(await codeFor(await audienceServer(), [`${REST}/${'x'.repeat(8200)}`])).toContain('error=invalid_target')
  })

  it('has the scopes that its resources know: by default those, and no others', async () => {
    const test = await audienceServer()
    const scope = (names: readonly string[], asked?: string) => tokensFor(test, names, { scope: asked })
    expect((await scope([MCP])).scope).toBe('account-profile:r repo-code:r'.split(' ').reverse().join(' '))
    expect((await scope([MCP, REST])).scope).toBe('repo-code:rw account-profile:r')
    expect((await scope([MCP], 'repo-code:r')).scope).toBe('repo-code:r')
    const refused = new URL(await codeFor(test, [MCP], { scope: 'repo-code:rw' }))
    expect(refused.searchParams.get('error')).toBe('invalid_scope')
    expect(refused.searchParams.get('error_description')).toBe('The resource does not know the scope repo-code:rw.')
  })

  it('is told invalid_scope where the application is registered for no scope of the resource', async () => {
    const test = await testServer({ audiences: [{ resource: MCP, name: 'Mail', scopes: ['account-email:r'] }] })
    expect(new URL(await codeFor(test, [MCP])).searchParams.get('error_description')).toBe(
      'This application is registered for no scope of the resource.',
    )
  })

  it('is ignored where the service declares no resources (RFC 6749, section 3.1)', async () => {
    const test = await testServer()
    const { access_token } = await tokensFor(test, ['https://anything.example'])
    expect((await call(test, access_token)).type).toBe('authenticated')
  })
})

describe('the consent page', () => {
  it('says where the tokens will work, and its form is good for that alone', async () => {
    const test = await audienceServer()
    const { page, fields, headers } = await openFor(test, [MCP, REST])
    expect(page.body).toMatch(/Works only at<.*Tools for agents.*https:\/\/git\.example\/mcp.*The API/s)
    expect((await openConsent(test)).page.body).not.toContain('Works only at')
    const wider = { ...fields, request: `${fields['request']}&resource=${encodeURIComponent(CI)}`, decision: 'agree' }
    expect((await post(test.server, '/oauth2/auth', wider, headers)).status).toBe(400)
    const none = { ...fields, request: `${fields['request']}`.replaceAll('&resource=', '&x='), decision: 'agree' }
    expect((await post(test.server, '/oauth2/auth', none, headers)).status).toBe(400)
  })

  it('is spared by an earlier consent only where that was for these resources', async () => {
    const test = await audienceServer({ consent: 'once' })
    await tokensFor(test, [MCP, REST])
    const spared = async (names: readonly string[]) => (await openFor(test, names)).page.status === 302
    expect(await spared([MCP, REST])).toBe(true)
    expect(await spared([MCP])).toBe(true)
    expect(await spared([MCP, CI])).toBe(false)
    expect(await spared([])).toBe(false)
    await tokens(test)
    expect(await spared([])).toBe(true)
    expect(await spared([CI])).toBe(false)
  })
})

describe('a token request', () => {
  it('may name fewer resources, and never more', async () => {
    const test = await audienceServer()
    const code = await codeFor(test, [MCP, REST])
    expect((await exchange(test, code, { resource: CI })).body.error).toBe('invalid_target')
    const first = (await exchange(test, code, { resource: REST })).body
    expect(await whereItWorks(test, first.access_token)).toEqual([REST])
    expect((await refresh(test, first.refresh_token, { resource: CI })).body.error).toBe('invalid_target')
    // Of all that the user permitted, as with scopes: the pair before may have been for less.
    const second = (await refresh(test, first.refresh_token, { resource: MCP })).body
    expect(second.scope).toBe('repo-code:r account-profile:r')
    expect(await whereItWorks(test, second.access_token)).toEqual([MCP])
    const third = (await refresh(test, second.refresh_token)).body
    expect(await whereItWorks(test, third.access_token)).toEqual([MCP, REST])
  })

  it('may name several', async () => {
    const test = await audienceServer()
    const code = await codeFor(test, [MCP, REST, CI])
    const form = [['grant_type', 'authorization_code'], ['code', code], ...resources(CI, MCP)] as const
    const answer = await post(test.server, '/oauth2/token', form, basic(WEB))
    expect(await whereItWorks(test, JSON.parse(answer.body).access_token)).toEqual([MCP, CI])
  })

  it('for a grant without resources gets none: the user was not asked', async () => {
    const test = await audienceServer()
    const { refresh_token } = await tokens(test)
    expect((await refresh(test, refresh_token, { resource: MCP })).body).toMatchObject({
      error: 'invalid_target',
      error_description: 'The user did not permit this resource to the application.',
    })
  })

  it('that comes again in the grace period gets the same successor, or none where it names another resource', async () => {
    const test = await audienceServer()
    const { refresh_token } = await tokensFor(test, [MCP, REST])
    const first = (await refresh(test, refresh_token, { resource: MCP })).body
    for (const form of [{}, { resource: MCP }]) expect((await refresh(test, refresh_token, form)).body).toEqual(first)
    expect((await refresh(test, refresh_token, { resource: REST })).body).toMatchObject({
      error: 'invalid_target',
      error_description: 'This token was refreshed for another resource; refresh the newer token for this one.',
    })
    const other = (await refresh(test, first.refresh_token, { resource: REST })).body
    expect(await whereItWorks(test, other.access_token)).toEqual([REST])
  })

  it('for a resource that knows none of its scopes is refused without a loss', async () => {
    const test = await audienceServer()
    const { refresh_token } = await tokensFor(test, [MCP, NARROW], { scope: 'account-profile:r' })
    const refused = (await refresh(test, refresh_token, { resource: NARROW })).body
    expect(refused).toMatchObject({ error: 'invalid_scope' })
    expect(refused.error_description).toBe('The resource knows none of the scopes that this token would have.')
    expect((await refresh(test, refresh_token)).status).toBe(200)
  })

  it('tells a client that does not authenticate nothing of its resource', async () => {
    const test = await audienceServer()
    const form = { grant_type: 'refresh_token', refresh_token: 'x', resource: CI }
    expect((await token(test, form, { ...WEB, clientSecret: 'wrong' })).body.error).toBe('invalid_client')
    expect((await token(test, { grant_type: 'x', resource: 'x' })).body.error).toBe('unsupported_grant_type')
  })
})

describe('a device', () => {
  it('asks for resources, its user is told, and its polls may name fewer', async () => {
    const test = await audienceServer()
    const codes = await codesOf(test, { resource: MCP })
    expect((await enterCode(test, codes.user_code)).page.body).toMatch(/Works only at<.*Tools for agents/s)
    expect(test.events.at(-1)).toMatchObject({ type: 'device_requested', audience: [MCP] })
    await decide(test, codes)
    expect(test.events.at(-1)).toMatchObject({ type: 'issued', audience: [MCP] })
    const poll = { grant_type: DEVICE_GRANT, device_code: codes.device_code }
    expect((await token(test, { ...poll, resource: REST })).body.error).toBe('invalid_target')
    const { body } = await token(test, { ...poll, resource: MCP })
    expect(body.scope).toBe('repo-code:r account-profile:r')
    expect(await whereItWorks(test, body.access_token)).toEqual([MCP])
  })
})

describe('a guard of a protected resource', () => {
  it('admits its tokens with the scopes that it knows, and says which resource it stands for', async () => {
    const test = await audienceServer()
    const { access_token } = await tokensFor(test, [MCP, REST])
    expect(await callAt(test, MCP, access_token)).toMatchObject({
      type: 'authenticated',
      audience: MCP,
      scopes: ['repo-code:r', 'account-profile:r'],
    })
    expect((await callAt(test, REST, access_token, 'repo-code:rw')).type).toBe('authenticated')
  })

  it('refuses a token for another with what it takes to get one (RFC 9728, section 5.1)', async () => {
    const test = await audienceServer()
    const { access_token } = await tokensFor(test, [REST])
    const refused = await callAt(test, MCP, access_token, 'repo-code:r')
    expect(refused).toMatchObject({ type: 'refused', error: { code: 'invalid_token', reason: 'audience_mismatch' } })
    const where = 'resource_metadata="https://git.example/.well-known/oauth-protected-resource/mcp"'
    expect(challengeOf(refused)).toBe(
      `Bearer realm="oauth2", error="invalid_token", error_description="The access token is invalid, expired or revoked.", scope="repo-code:r", ${where}`,
    )
    expect(test.events.at(-1)).toMatchObject({ type: 'refused', reason: 'audience_mismatch', clientId: 'web' })
    const nothing = await test.server.guard({ audience: MCP, scope: 'repo-code:r' })({ headers: {} })
    expect(challengeOf(nothing)).toBe(`Bearer realm="oauth2", ${where}, scope="repo-code:r"`)
    expect(challengeOf(await test.server.guard({ audience: MCP })({ headers: {} }))).toBe(
      `Bearer realm="oauth2", ${where}`,
    )
    const narrow = await tokensFor(test, [MCP], { scope: 'account-profile:r' })
    expect(challengeOf(await callAt(test, MCP, narrow.access_token, 'repo-code:r'))).toBe(
      `Bearer realm="oauth2", error="insufficient_scope", error_description="The access token does not permit this.", scope="repo-code:r", ${where}`,
    )
    expect(challengeOf(await callAt(test, CI, access_token))).toContain(
      'resource_metadata="https://ci.example/.well-known/oauth-protected-resource/api"',
    )
    expect(challengeOf(await callAt(test, REST, 'x'))).toContain(
      'resource_metadata="https://git.example/.well-known/oauth-protected-resource"',
    )
  })

  it('names no scope for a repository that the token does not open, since more scopes would not help (RFC 6750, 3)', async () => {
    const test = await audienceServer()
    const { access_token } = await tokensFor(test, [MCP])
    const guard = test.server.guard({ audience: MCP, scope: 'repo-code:r' })
    const words = 'The access token does not open this resource, or there is none.'
    const where = 'resource_metadata="https://git.example/.well-known/oauth-protected-resource/mcp"'
    for (const repository of [undefined, { id: 'repo/1', public: true, accessible: false }]) {
      const refused = await guard({ headers: { authorization: `Bearer ${access_token}` } }, () => repository)
      expect(refused).toMatchObject({ response: { status: 403 }, error: { reason: 'resource_not_granted' } })
      expect(challengeOf(refused)).toBe(
        `Bearer realm="oauth2", error="insufficient_scope", error_description="${words}", ${where}`,
      )
    }
  })

  it('is made of a declared resource alone', async () => {
    const { server } = await audienceServer()
    for (const audience of ['https://git.example/mcp/', '', undefined, 1])
      expect(() => server.guard({ audience } as { audience: string }), String(audience)).toThrow(
        expect.objectContaining({ code: 'ERR_CONFIGURATION' }),
      )
    expect(() => server.guard({ audience: 'https://x.example' })).toThrow(
      `grantwell: guard: the option audience must be one of the server's audiences; got "https://x.example"`,
    )
    expect(() => server.guard({ audience: MCP, scope: 'repo-code:rw' })).toThrow(
      'guard: the option scope must be scopes that the audience knows; got "repo-code:rw"',
    )
    const plain = (await testServer()).server
    expect(() => plain.guard({ audience: MCP })).toThrow("must be one of the server's audiences")
  })

  it('refuses what was issued for a resource that the service declares no more', async () => {
    const test = await audienceServer()
    const { access_token, refresh_token } = await tokensFor(test, [MCP])
    const server = withoutMcp(test)
    expect((await server.authenticate({ headers: { authorization: `Bearer ${access_token}` } })).type).toBe('refused')
    expect((await refresh({ ...test, server }, refresh_token)).body.error).toBe('invalid_scope')
    expect((await server.grants.listGrants('ada')).grants).toMatchObject([{ audience: [MCP], scopes: [] }])
  })

  it('asks the store once, as every guard does', async () => {
    let reads = 0
    const clock = { now: START }
    const store = memoryStore({ clock: () => clock.now })
    const counted: RecordStore = {
      read: (keys) => {
        reads++
        return store.read(keys)
      },
      write: store.write,
      list: store.list,
    }
    const test = await audienceServer({ store: counted, clock: () => clock.now })
    const { access_token } = await tokensFor(test, [MCP])
    reads = 0
    expect((await callAt(test, MCP, access_token)).type).toBe('authenticated')
    expect(reads).toBe(1)
  })
})

describe('introspection', () => {
  const details = { name: 'Tools', website: 'https://git.example', scopes: ['repo-code:rw'] }

  it('tells an API that stands for a resource of tokens for it alone, and names it in aud', async () => {
    const test = await audienceServer()
    const other = { clientId: 'rest', clientSecret: 'a-secret-of-the-other-resource-server' }
    const plain = { clientId: 'plain', clientSecret: 'a-secret-of-a-resource-server-of-none' }
    await test.server.applications.registerResourceServer({ ...details, audience: MCP }, API)
    await test.server.applications.registerResourceServer({ ...details, audience: REST }, other)
    await test.server.applications.registerResourceServer(details, plain)
    const { access_token } = await tokensFor(test, [MCP, CI])
    expect(await told(test, access_token)).toMatchObject({ active: true, aud: MCP, scope: 'repo-code:r' })
    for (const client of [other, plain]) expect(await introspect(test, access_token, {}, client)).toEqual(INACTIVE)
    const unbound = (await tokens(test)).access_token
    expect(await introspect(test, unbound)).toEqual(INACTIVE)
    const answer = await told(test, unbound, {}, plain)
    expect(answer).toMatchObject({ active: true })
    expect(answer).not.toHaveProperty('aud')
  })

  it('tells an API nothing that stands for a resource which is declared no more', async () => {
    const test = await audienceServer()
    await test.server.applications.registerResourceServer({ ...details, audience: MCP }, API)
    const { access_token } = await tokensFor(test, [MCP])
    const unbound = (await tokens(test)).access_token
    const server = withoutMcp(test)
    for (const text of [access_token, unbound]) expect(await introspect({ server }, text)).toEqual(INACTIVE)
  })

  it('refuses to register an API for a resource that is not declared', async () => {
    const { server } = await audienceServer()
    await expect(
      server.applications.registerResourceServer({ ...details, audience: 'https://x.example' }),
    ).rejects.toMatchObject({
      code: 'ERR_REGISTRATION',
      faults: [{ path: 'audience', message: expect.stringContaining("one of the server's audiences") }],
    })
  })
})

describe('the documents of protected resources (RFC 9728, section 3)', () => {
  it('are at the well-known paths of those at the origin of the service, and say where tokens come from', async () => {
    const test = await audienceServer()
    const { status, headers, body } = await send(test.server, { url: '/.well-known/oauth-protected-resource/mcp' })
    expect([status, headers['Content-Type'], headers['Access-Control-Allow-Origin']]).toEqual([
      200,
      'application/json',
      '*',
    ])
    expect(JSON.parse(body)).toEqual({
      resource: MCP,
      authorization_servers: [ISSUER],
      scopes_supported: ['repo-code:r', 'account-profile:r'],
      bearer_methods_supported: ['header'],
      resource_name: 'Tools for agents',
    })
    const rest = await send(test.server, { url: '/.well-known/oauth-protected-resource' })
    expect(JSON.parse(rest.body)).toMatchObject({ resource: REST })
    const alike = await testServer({
      audiences: [
        { resource: REST, name: 'Here' },
        { resource: 'https://ci.example', name: 'There' },
      ],
    })
    const own = await send(alike.server, { url: '/.well-known/oauth-protected-resource' })
    expect(JSON.parse(own.body)).toMatchObject({ resource: REST })
    for (const path of ['/api', '/mcp/', '/none'])
      expect(test.server.owns(`/.well-known/oauth-protected-resource${path}`), path).toBe(false)
  })

  it('are named in the metadata of the service (RFC 9728, section 4)', async () => {
    const { server } = await audienceServer()
    const { body } = await send(server, { url: '/.well-known/oauth-authorization-server' })
    expect(JSON.parse(body).protected_resources).toEqual([MCP, REST, CI, NARROW])
  })

  it('answer the preflight of a page, and have no header for one where CORS is switched off', async () => {
    const url = '/.well-known/oauth-protected-resource/mcp'
    const headers = { origin: 'https://any.example', 'access-control-request-method': 'GET' }
    const open = await audienceServer()
    expect((await send(open.server, { method: 'OPTIONS', url, headers })).status).toBe(204)
    const closed = await audienceServer({ corsOrigins: false })
    expect((await send(closed.server, { url })).headers).not.toHaveProperty('Access-Control-Allow-Origin')
  })
})

describe('a signed request', () => {
  it('is admitted at the resource that its token is for, and nowhere else', async () => {
    const test = await withSigner(await audienceServer(MAC_OPTIONS))
    const bound = await macTokens(test, { resource: MCP })
    const unbound = await macTokens(test)
    const sign = (pair: MacTokens) => signedRequest(pair, signedParts(test))
    const { guard } = test.server
    expect((await guard({ audience: MCP })(sign(bound))).type).toBe('authenticated')
    expect((await guard()(sign(unbound))).type).toBe('authenticated')
    for (const refused of [
      await guard({ audience: REST })(sign(bound)),
      await guard()(sign(bound)),
      await guard({ audience: MCP })(sign(unbound)),
    ])
      expect(refused).toMatchObject({ type: 'refused', error: { reason: 'audience_mismatch' } })
  })
})

describe('a polluted prototype', () => {
  it('is the audience of no token and of no grant', async () => {
    const test = await audienceServer()
    const code = await codeFor(test, [])
    const { access_token, refresh_token } = await tokens(test)
    const prototype = Object.prototype as { audience?: readonly string[] }
    prototype.audience = [MCP]
    try {
      expect(await whereItWorks(test, access_token)).toEqual(['none'])
      const later = [(await exchange(test, code)).body, (await refresh(test, refresh_token)).body, await tokens(test)]
      for (const pair of later) expect(await whereItWorks(test, pair.access_token)).toEqual(['none'])
    } finally {
      delete prototype.audience
    }
  })
})

describe('the list of a user’s permissions', () => {
  it('says where the tokens of each work', async () => {
    const test = await audienceServer()
    await tokensFor(test, [MCP])
    expect((await test.server.grants.listGrants('ada')).grants).toMatchObject([
      { audience: [MCP], scopes: ['repo-code:r', 'account-profile:r'] },
    ])
    const { body } = await send(test.server, { url: '/oauth2/applications' })
    expect(body).toMatch(/Works only at<.*Tools for agents/s)
  })
})
