/**
 * The audit trail: where each event came from, what it must not hold, and what happens where it cannot be written.
 * @module
 */
import type { AuditEvent, AuthorizationServerOptions } from 'grantwell'
import { createAuthorizationServer, GrantwellError } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { bareRedirectUri, describeRequest, printable, routeOf } from '../../src/shell/audit/request.js'
import { askForCodes, codesOf, decide, decideOn, enterCode } from '../protocol/device-form.js'
import {
  authorizationUrl,
  authorize,
  basic,
  call,
  exchange,
  guard,
  LOGO,
  openConsent,
  post,
  refresh,
  registration,
  revoke,
  send,
  testServer,
  token,
  tokens,
  WEB,
  works,
} from '../support.js'
import { watchedServer } from './helpers.js'

const ADDRESS = '192.0.2.7'
const REQUEST = { address: ADDRESS, id: 'r-1' }

/** A server whose events are kept with the requests that they came by. */
async function auditedServer(options: Partial<AuthorizationServerOptions> = {}) {
  const events: AuditEvent[] = []
  const test = await testServer({
    onEvent: (event) => void events.push(event),
    remoteAddress: () => ADDRESS,
    requestId: () => 'r-1',
    ...options,
  })
  events.length = 0
  return { ...test, events }
}

/** The type of an event, and its reason where it is a refusal. */
function named(event: AuditEvent): string {
  return event.type === 'refused' ? `${event.endpoint}: ${event.reason}` : event.type
}

describe('where an event came from', () => {
  it('is in every event of a request, with the address and the identifier that the host returns', async () => {
    const test = await auditedServer()
    const { code } = await authorize(test)
    const { body } = await exchange(test, code)
    const { body: next } = await refresh(test, body.refresh_token)
    await revoke(test, next.refresh_token)
    await call(test, 'x')
    await token(test, {})
    await send(test.server, { url: authorizationUrl({ client_id: 'nobody' }) })
    await send(test.server, { method: 'PUT', url: '/oauth2/token' })
    await revoke(test, 'x')
    await post(test.server, '/oauth2/introspect', { token: 'x' }, basic(WEB))
    await post(test.server, '/oauth2/device', { user_code: 'BCDF-GHJK' })
    await decide(test, await codesOf(test))
    const told = test.events.map((event) => [named(event), event.request])
    expect(told).toEqual(told.map(([name]) => [name, expect.objectContaining(REQUEST)]))
    expect(new Set(told.map(([name]) => name))).toEqual(
      new Set([
        'issued',
        'exchanged',
        'refreshed',
        'revoked',
        'api: credential_unknown',
        'token: malformed_request',
        'authorization: client_unknown',
        'token: method_not_allowed',
        'revocation: credential_unknown',
        'introspection: not_a_resource_server',
        'device: consent_invalid',
        'device_requested',
      ]),
    )
  })

  it('is the browser or program, too, as its header names it', async () => {
    const test = await auditedServer({ requestId: () => undefined })
    const headers = { 'user-agent': 'check/1.0 (a \u202ename)' }
    await guard(test.server, { url: '/repositories/7?page=2', headers: { ...headers, authorization: 'Bearer x' } })
    expect(test.events).toMatchObject([
      { route: 'GET /repositories/7', request: { address: ADDRESS, userAgent: expect.stringMatching(/^check\/1\.0/) } },
    ])
    expect(test.events[0]?.request).not.toHaveProperty('id')
  })

  it('is the request that the host passes with what an administrator or a user asks for', async () => {
    const test = await auditedServer()
    const { applications, grants } = test.server
    const { body } = await exchange(test, (await authorize(test)).code)
    const request = new Request('https://git.example/administration', { headers: { 'user-agent': 'admin/2' } })
    const by = { actor: 'root', request }
    test.events.length = 0
    const submission = { ...registration(), scopes: [{ scope: 'repo-code:r', reason: 'To read' }], logo: LOGO }
    const { id, review } = await applications.submit(submission, { applicant: 'eve', request })
    await applications.reject(id, { revision: review.revision, reason: 'no', ...by })
    await applications.rotateSecret('web', by)
    await applications.setTerms('web', { accessTokenLifetime: 60 }, by)
    await applications.transfer('web', { applicant: 'eve', ...by })
    await applications.suspend('web', by)
    await applications.reinstate('web', by)
    const [grant] = (await grants.listGrants('ada')).grants
    await grants.revokeGrant('ada', grant?.grantId ?? expect.fail(), { request })
    await exchange(test, (await authorize(test)).code)
    await grants.revokeAll('ada', { clientId: 'web', request })
    await exchange(test, (await authorize(test)).code)
    await grants.revokeApplication('web', by)
    await exchange(test, (await authorize(test)).code)
    await grants.revokeEverything(by)
    await exchange(test, (await authorize(test)).code)
    await grants.erase('ada', by)
    await applications.delete('web', by)
    const fromHost = test.events.filter(({ type }) => type === 'application' || type === 'revoked')
    expect(fromHost).toHaveLength(14)
    for (const event of fromHost) expect(event.request).toEqual({ ...REQUEST, userAgent: 'admin/2' })
    const actors = fromHost.map((event) => ('actor' in event ? event.actor : undefined))
    expect(actors.filter((actor) => actor === 'root')).toHaveLength(11)
    expect(await works(test, body.access_token)).toBe(false)
    // Without a request, and without an actor, there is nothing to say.
    await applications.suspend('other')
    expect(test.events.at(-1)).not.toHaveProperty('request')
    // A list such as `rawHeaders` would leave the event without what it tells of the request.
    for (const wrong of ['GET /', { headers: ['User-Agent', 'admin/2'] }])
      await expect(applications.suspend('other', { request: wrong as unknown as Request })).rejects.toThrow(
        'the option request must be a request with headers',
      )
  })

  it.each([
    [{}, 'user'],
    [{ actor: 'root' }, 'administrator'],
  ])('tells who ended the grants of a user: %j is the %s', async (acted, cause) => {
    const test = await auditedServer()
    const { grants } = test.server
    await exchange(test, (await authorize(test)).code)
    await exchange(test, (await authorize(test)).code)
    const [grant] = (await grants.listGrants('ada')).grants
    await grants.revokeGrant('ada', grant?.grantId ?? expect.fail(), acted)
    await grants.revokeAll('ada', acted)
    const ended = test.events.filter(({ type }) => type === 'revoked')
    expect(ended).toEqual([expect.objectContaining({ cause, ...acted }), expect.objectContaining({ cause, ...acted })])
    expect(ended.filter((event) => 'actor' in event)).toHaveLength('actor' in acted ? 2 : 0)
  })

  it('is left out where nothing is known, or where a function of the host fails, and the host is told', async () => {
    const failure = new Error('no identifier')
    const failing = (): never => {
      throw failure
    }
    const errors: unknown[] = []
    for (const requestId of [failing, () => 7 as unknown as string, () => null, undefined]) {
      const onError = (error: unknown) => void errors.push(error)
      const test = await auditedServer({ remoteAddress: () => undefined, onError, requestId: requestId as () => null })
      expect((await exchange(test, (await authorize(test)).code)).status).toBe(200)
      const facts = test.events.map(({ request }) => request).filter((request) => request !== undefined)
      for (const request of facts) expect(Object.keys(request)).toEqual(['userAgent'])
    }
    expect(errors.slice(0, 2)).toEqual([failure, failure])
    expect(errors.slice(2).map(String)).toEqual(
      Array(2).fill('GrantwellError: grantwell: requestId() must give a string, or undefined; got a number'),
    )
  })
})

describe('a redirect URI that does not match', () => {
  it('is told, at the authorization endpoint and at the token endpoint', async () => {
    const test = await auditedServer()
    const wrong = 'https://ada:hunter2@app.example:8443/callback?code=1#top'
    await send(test.server, { url: authorizationUrl({ redirect_uri: wrong }) })
    const { code } = await authorize(test)
    await exchange(test, code, { redirect_uri: 'https://app.example/elsewhere?state=hunter2' })
    await exchange(test, code, { code_verifier: 'x'.repeat(43), redirect_uri: 'https://app.example/callback' })
    const told = test.events.flatMap((event) => (event.type === 'refused' ? [[event.reason, event.redirectUri]] : []))
    expect(told).toEqual([
      ['redirect_uri_mismatch', 'https://app.example:8443/callback'],
      ['redirect_uri_mismatch', 'https://app.example/elsewhere'],
      ['pkce_mismatch', undefined],
    ])
  })

  it.each([
    ['https://app.example/callback', 'https://app.example/callback'],
    ['https://a@b@app.example/', 'https://app.example/'],
    ['ada:hunter2@app.example', 'app.example'],
    ['https:\\\\ada:hunter2@app.example\\c', 'https:\\\\app.example\\c'],
    ['com.example.app:/done', 'com.example.app:/done'],
    ['https://app.example/@ada', 'https://app.example/@ada'],
    [`https://${'a-b'.repeat(8)}.example/`, 'https://(removed).example/'],
    ['https://app.example/Ab3/aaaaaaaaaaaaaaaaaaaaaaaa', 'https://app.(removed)'],
    ['https://app.example/one/two/three/four/five/six', 'https://app.example/one/two/three/four/five/six'],
    ['https://app.example/gwc_x', 'https://app.example/gwc_(removed)'],
    [`https://app.example/${'a/'.repeat(400)}`, `https://app.example/${'a/'.repeat(245)}a\u2026`],
    ['', ''],
    ['a\nb\u202e', 'a\ufffdb\ufffd'],
  ])('%s is told as %s', (sent, told) => {
    expect(bareRedirectUri(sent)).toBe(told)
    expect(bareRedirectUri(sent).length).toBeLessThanOrEqual(512)
  })
})

describe('a request, as an event tells it', () => {
  const settings = { remoteAddress: () => null, requestId: undefined, onError: () => expect.fail() }

  it('has no credential of this package, however it is written', () => {
    const secret = 'A'.repeat(81)
    for (const kind of 'acdmrs')
      for (const mark of ['_', '%5F', '%5f'])
        expect(printable(`tool/1 gw${kind}${mark}${secret} end`, 256)).toBe(`tool/1 gw${kind}${mark}(removed) end`)
    expect(printable(`${'x'.repeat(300)}`, 256)).toBe(`${'x'.repeat(255)}\u2026`)
    // The cut comes after: half a secret is one, too.
    expect(printable(`${'x'.repeat(250)} gwa_${secret}`, 256)).not.toContain('AA')
  })

  it('is read from a message of the server, of Node, of Express and of fetch', () => {
    const userAgent = 'tool/1'
    const headers = { 'user-agent': userAgent }
    for (const source of [
      { method: 'GET', url: '/a/b?c', headers, native: undefined },
      { method: 'GET', url: '/a/b?c', headers },
      { method: 'GET', url: '/b?c', originalUrl: '/a/b?c', headers },
      { method: 'GET', url: 'https://git.example/a/b?c', headers: new Headers(headers) },
    ]) {
      expect(describeRequest(settings, source)).toEqual({ request: { userAgent } })
      expect(routeOf(source)).toBe('GET /a/b')
    }
    const get = () => null
    for (const source of [{ headers: {} }, { headers: { get } }, { headers: { 'user-agent': ['a', 'b'] } }]) {
      expect(describeRequest(settings, source)).toEqual({})
      expect(routeOf(source)).toBeUndefined()
    }
    expect(describeRequest(settings, { headers: { 'user-agent': '' } })).toEqual({})
    expect(describeRequest(settings, undefined)).toEqual({})
  })
})

/** A server whose trail must be written, and can be broken. */
async function requiredServer(options: Partial<AuthorizationServerOptions> = {}) {
  const trail = { broken: false, events: [] as AuditEvent[] }
  const failure = new Error('the trail is full')
  const test = await watchedServer({
    audit: 'required',
    onEvent: async (event) => {
      await Promise.resolve()
      if (trail.broken) throw failure
      trail.events.push(event)
    },
    ...options,
  })
  trail.events.length = 0
  return { ...test, trail, failure }
}

type Required = Awaited<ReturnType<typeof requiredServer>>

describe("audit: 'required'", () => {
  const submission = { ...registration(), scopes: [{ scope: 'repo-code:r', reason: 'To read' }], logo: LOGO }

  /** Each way to change something: what prepares it, and what answers 503 or throws while nothing can be written. */
  const CHANGES: readonly (readonly [string, (test: Required) => Promise<() => Promise<unknown>>])[] = [
    [
      'a consent',
      async (test) => {
        const { fields, headers } = await openConsent(test)
        return async () => (await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)).status
      },
    ],
    [
      'an exchange',
      async (test) => {
        const { code } = await authorize(test)
        return async () => (await exchange(test, code)).status
      },
    ],
    [
      'a refresh',
      async (test) => {
        const { refresh_token } = await tokens(test)
        return async () => (await refresh(test, refresh_token)).status
      },
    ],
    [
      'a replay',
      async (test) => {
        const { code } = await authorize(test)
        await exchange(test, code)
        return async () => (await exchange(test, code)).status
      },
    ],
    [
      'a revocation',
      async (test) => {
        const { refresh_token } = await tokens(test)
        return async () => (await revoke(test, refresh_token)).status
      },
    ],
    ['a device code', async (test) => async () => (await askForCodes(test)).status],
    [
      'the decision on a device',
      async (test) => {
        const codes = await codesOf(test)
        const page = await enterCode(test, codes.user_code)
        return async () => (await decideOn(test, page)).status
      },
    ],
    [
      'a grant that its user ends',
      async (test) => {
        await tokens(test)
        return () => test.server.grants.revokeAll('ada')
      },
    ],
    ['an application that is suspended', async (test) => () => test.server.applications.suspend('web')],
    ['an application that is submitted', async (test) => () => test.server.applications.submit(submission)],
  ]

  it.each(CHANGES)('%s does not happen unless its event is written, and happens once it can be', async (_, prepare) => {
    const test = await requiredServer()
    const change = await prepare(test)
    test.trail.broken = true
    const written: string[] = []
    test.instead.write = (...args) => {
      written.push(args[0])
      return test.store.write(...args)
    }
    const answer = await change().catch((error: unknown) => error)
    expect(answer instanceof GrantwellError ? answer.code : answer).toSatisfy((is) => is === 503 || is === 'ERR_STORE')
    expect(written.filter((key) => /^(grant|application):/.test(key))).toEqual([])
    expect(test.errors).toContain(test.failure)
    test.trail.broken = false
    test.trail.events.length = 0
    const second = await change().catch((error: unknown) => error)
    expect(second).not.toSatisfy((is) => is === 503 || is instanceof Error)
    expect(test.trail.events.length).toBeGreaterThan(0)
  })

  it('a refusal is answered by 503 unless its event is written: as JSON, as a page, and by a guard', async () => {
    const test = await requiredServer()
    test.trail.broken = true
    const unknown = await token(test, { grant_type: 'refresh_token', refresh_token: 'x' })
    expect([unknown.status, unknown.body.error]).toEqual([503, 'temporarily_unavailable'])
    const page = await send(test.server, { url: authorizationUrl({ client_id: 'nobody' }) })
    expect([page.status, page.headers['Content-Type']]).toEqual([503, 'text/html;charset=UTF-8'])
    expect((await send(test.server, { method: 'PUT', url: '/oauth2/token' })).status).toBe(503)
    const refused = await call(test, 'x')
    expect(refused.type === 'refused' && refused.response.status).toBe(503)
    // A request without a token is no event.
    const without = await guard(test.server, {})
    expect(without.type === 'refused' && without.response.status).toBe(401)
    test.trail.broken = false
    expect((await token(test, { grant_type: 'refresh_token', refresh_token: 'x' })).status).toBe(400)
    expect((await call(test, 'x')).type).toBe('refused')
    expect(test.trail.events.map(named)).toEqual(['token: credential_unknown', 'api: credential_unknown'])
  })

  it('is written before the change, and says so where the change was overtaken or its outcome is unknown', async () => {
    const test = await requiredServer()
    const { refresh_token } = await tokens(test)
    test.trail.events.length = 0
    let conflicts = 1
    test.instead.write = (...args) => {
      expect(test.trail.events.at(-1)?.type).toBe('refreshed')
      return conflicts-- > 0 ? false : test.store.write(...args)
    }
    expect((await refresh(test, refresh_token)).status).toBe(200)
    const event = expect.objectContaining({ type: 'refreshed', retry: false })
    expect(test.trail.events).toEqual([
      event,
      expect.objectContaining({ type: 'not_stored', cause: 'overtaken', events: [event] }),
      event,
    ])
    test.trail.events.length = 0
    test.instead.write = () => Promise.reject(new Error('down'))
    test.clock.now += 400
    expect((await refresh(test, refresh_token)).status).toBe(503)
    expect(test.trail.events.map(named)).toEqual(['replayed', 'revoked', 'not_stored', 'token: store_failed'])
    expect(test.trail.events[2]).toMatchObject({
      cause: 'unknown',
      events: [{ type: 'replayed' }, { type: 'revoked' }],
    })
  })

  it('costs no round trip of the store', async () => {
    for (const audit of ['reported', 'required'] as const) {
      const test = await watchedServer({ audit })
      const { refresh_token } = await tokens(test)
      test.forget()
      await refresh(test, refresh_token)
      expect([audit, test.trips.reads, test.trips.writes]).toEqual([audit, 1, 1])
    }
  })

  it('needs an onEvent', () => {
    const options = { issuer: 'https://git.example', store: memoryStore(), user: () => undefined, signInUrl: () => '/' }
    expect(() => createAuthorizationServer({ ...options, audit: 'required' })).toThrow(
      "grantwell: createAuthorizationServer: the option onEvent must be given where audit is 'required'; got undefined",
    )
  })
})
