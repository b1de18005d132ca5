/**
 * The audit trail: what is told, when, and how exactly.
 * @module
 * @see Specification, section 3; DESIGN, "The one idea"
 */
import type { AuditEvent, HttpResponse } from 'grantwell'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../support.js'
import {
  authorizationUrl,
  authorize,
  basic,
  call,
  exchange,
  grantNamedBy,
  guard,
  OTHER,
  openConsent,
  post,
  refresh,
  revoke,
  START,
  send,
  testServer,
  tokens,
  WEB,
} from '../support.js'
import { grantsOf, watchedServer } from './helpers.js'

const SCOPES = ['repo-code:rw', 'account-profile:r']

/** The events of one step, and only those. */
async function eventsOf(test: TestServer, step: () => Promise<unknown>): Promise<readonly AuditEvent[]> {
  const before = test.events.length
  await step()
  return test.events.slice(before)
}

/** What every event of a grant of `ada` and `web` says. */
function about(credential: string, at = START) {
  return { at, grantId: grantNamedBy(credential), clientId: 'web', subject: 'ada' }
}

describe('3 what happens to a grant is told exactly', () => {
  it('issued, exchanged, refreshed, refreshed again, revoked in part and as a whole', async () => {
    const test = await testServer()
    let code = ''
    const issued = await eventsOf(test, async () => {
      code = (await authorize(test, {}, { resource_scope: 'public' })).code
    })
    expect(issued).toStrictEqual([{ ...about(code), type: 'issued', scopes: SCOPES, resources: { kind: 'public' } }])
    let pair = { access_token: '', refresh_token: '' }
    test.clock.now += 5
    const exchanged = await eventsOf(test, async () => {
      pair = (await exchange(test, code)).body
    })
    expect(exchanged).toStrictEqual([{ ...about(code, START + 5), type: 'exchanged', scopes: SCOPES }])
    const narrowed = { scope: 'repo-code:r' }
    expect(await eventsOf(test, () => refresh(test, pair.refresh_token, narrowed))).toStrictEqual([
      { ...about(code, START + 5), type: 'refreshed', scopes: ['repo-code:r'], retry: false },
    ])
    expect(await eventsOf(test, () => refresh(test, pair.refresh_token))).toStrictEqual([
      { ...about(code, START + 5), type: 'refreshed', scopes: ['repo-code:r'], retry: true },
    ])
    expect(await eventsOf(test, () => revoke(test, pair.access_token))).toStrictEqual([
      { ...about(code, START + 5), type: 'revoked', what: 'access_token', cause: 'client' },
    ])
    expect(await eventsOf(test, () => revoke(test, pair.refresh_token))).toStrictEqual([
      { ...about(code, START + 5), type: 'revoked', what: 'grant', cause: 'client' },
    ])
  })

  it('replayed: a code, and a refresh token after its grace, each with the revocation that follows', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    await exchange(test, code)
    const refused = {
      type: 'refused',
      at: START,
      endpoint: 'token',
      error: 'invalid_grant',
      reason: 'credential_replayed',
      clientId: 'web',
    }
    expect(await eventsOf(test, () => exchange(test, code))).toStrictEqual([
      { ...about(code), type: 'replayed', credential: 'code' },
      { ...about(code), type: 'revoked', what: 'grant', cause: 'replay' },
      { ...refused, grantId: grantNamedBy(code) },
    ])
    const { refresh_token } = await tokens(test)
    await refresh(test, refresh_token)
    const at = START + 300
    test.clock.now = at
    expect(await eventsOf(test, () => refresh(test, refresh_token))).toStrictEqual([
      { ...about(refresh_token, at), type: 'replayed', credential: 'refresh_token' },
      { ...about(refresh_token, at), type: 'revoked', what: 'grant', cause: 'replay' },
      { ...refused, at, grantId: grantNamedBy(refresh_token) },
    ])
  })

  it('replayed and not revoked, where the host wants it so', async () => {
    const test = await testServer({ refreshReplay: 'refuse' })
    const { refresh_token } = await tokens(test)
    await refresh(test, refresh_token)
    test.clock.now += 300
    const events = await eventsOf(test, () => refresh(test, refresh_token))
    expect(events.map(({ type }) => type)).toStrictEqual(['replayed', 'refused'])
  })

  it('nothing is told of what succeeds without a change: a page, a guarded call, a document', async () => {
    const test = await testServer()
    const { access_token } = await tokens(test)
    const events = await eventsOf(test, async () => {
      await openConsent(test)
      await call(test, access_token, 'repo-code:r')
      await send(test.server, { url: '/oauth2/style.css' })
      await send(test.server, { method: 'POST', url: '/oauth2/style.css' })
      await send(test.server, { url: '/.well-known/oauth-authorization-server' })
      await guard(test.server, {})
    })
    expect(events).toStrictEqual([])
  })

  it('refused: at each endpoint, with what the client was told, and why as it was not told', async () => {
    const test = await testServer()
    const { access_token, refresh_token } = await tokens(test)
    const grantId = grantNamedBy(refresh_token) ?? ''
    const token = (form: Record<string, string>, client: { clientId: string; clientSecret: string } = WEB) =>
      post(test.server, '/oauth2/token', form, basic(client))
    const steps: [() => Promise<unknown>, Record<string, string>][] = [
      [
        () => send(test.server, { url: authorizationUrl({ scope: 'x' }) }),
        { endpoint: 'authorization', error: 'invalid_scope', reason: 'scope_not_registered', clientId: 'web' },
      ],
      [
        () => authorize(test, {}, { decision: 'refuse' }),
        { endpoint: 'authorization', error: 'access_denied', reason: 'consent_refused', clientId: 'web' },
      ],
      [() => token({}), { endpoint: 'token', error: 'invalid_request', reason: 'malformed_request', clientId: 'web' }],
      [
        () => post(test.server, '/oauth2/token', '%', basic(WEB)),
        { endpoint: 'token', error: 'invalid_request', reason: 'malformed_request' },
      ],
      [
        () => send(test.server, { method: 'POST', url: '/oauth2/token', body: { type: 'too_large' } }),
        { endpoint: 'token', error: 'invalid_request', reason: 'body_too_large' },
      ],
      [
        () => token({ grant_type: 'password' }),
        { endpoint: 'token', error: 'unsupported_grant_type', reason: 'unsupported', clientId: 'web' },
      ],
      [
        () => refresh(test, refresh_token, { scope: 'repo-pr:r' }),
        { endpoint: 'token', error: 'invalid_scope', reason: 'scope_insufficient', clientId: 'web', grantId },
      ],
      [
        () => refresh(test, refresh_token, {}, OTHER),
        {
          endpoint: 'token',
          error: 'invalid_grant',
          reason: 'credential_of_another_client',
          clientId: 'other',
          grantId,
        },
      ],
      [
        () => token({}, { ...WEB, clientId: 'nobody' }),
        { endpoint: 'token', error: 'invalid_client', reason: 'client_unknown' },
      ],
      [
        () => post(test.server, '/oauth2/revoke', {}, basic(WEB)),
        { endpoint: 'revocation', error: 'invalid_request', reason: 'malformed_request', clientId: 'web' },
      ],
      [
        () => post(test.server, '/oauth2/revoke', '%', basic(WEB)),
        { endpoint: 'revocation', error: 'invalid_request', reason: 'malformed_request' },
      ],
      [
        () => post(test.server, '/oauth2/revoke', { token: 'x' }, basic({ ...WEB, clientSecret: OTHER.clientSecret })),
        { endpoint: 'revocation', error: 'invalid_client', reason: 'client_secret_wrong', clientId: 'web' },
      ],
      [
        () => send(test.server, { url: authorizationUrl({ client_id: 'nobody' }) }),
        { endpoint: 'authorization', error: 'invalid_request', reason: 'client_unknown' },
      ],
      [
        () => send(test.server, { method: 'PUT', url: '/oauth2/auth' }),
        { endpoint: 'authorization', error: 'invalid_request', reason: 'method_not_allowed' },
      ],
      [
        () => send(test.server, { url: '/oauth2/token' }),
        { endpoint: 'token', error: 'invalid_request', reason: 'method_not_allowed' },
      ],
      [
        () => send(test.server, { url: '/oauth2/revoke' }),
        { endpoint: 'revocation', error: 'invalid_request', reason: 'method_not_allowed' },
      ],
      [() => revoke(test, 'x'), { endpoint: 'revocation', reason: 'credential_unknown', clientId: 'web' }],
      [
        () => call(test, 'x'),
        { endpoint: 'api', error: 'invalid_token', reason: 'credential_unknown', route: 'GET /' },
      ],
      [
        () => call(test, access_token, 'repo-pr:r'),
        {
          endpoint: 'api',
          error: 'insufficient_scope',
          reason: 'scope_insufficient',
          clientId: 'web',
          grantId,
          subject: 'ada',
          route: 'GET /',
        },
      ],
    ]
    for (const [step, expected] of steps) {
      expect(await eventsOf(test, step)).toStrictEqual([{ type: 'refused', at: START, ...expected }])
    }
  })
})

describe('DESIGN: events are told after what they tell is stored', () => {
  it('and not at all where it was not', async () => {
    const test = await watchedServer()
    const { refresh_token } = await tokens(test)
    const before = test.events.length
    test.instead.write = () => Promise.reject(new Error('down'))
    await refresh(test, refresh_token)
    expect(test.events.slice(before).map(({ type }) => type)).toStrictEqual(['refused'])
  })

  it('so whoever is told can read it', async () => {
    const found: Promise<readonly unknown[]>[] = []
    const test = await watchedServer({ onEvent: () => found.push(grantsOf(test.store)) })
    await authorize(test)
    expect(await Promise.all(found)).toMatchObject([[{ clientId: 'web', pairs: [] }]])
  })
})

/** Every answer of a flow with good and bad ends, the same for the same randomness. */
async function flow(test: TestServer): Promise<readonly HttpResponse[]> {
  const { code, response } = await authorize(test, { state: 's' })
  const first = await exchange(test, code)
  const next = await refresh(test, first.body.refresh_token)
  const found = await call(test, 'x')
  return [
    response,
    first.response,
    next.response,
    await send(test.server, { url: '/oauth2/auth' }),
    await send(test.server, { url: authorizationUrl({ scope: 'x' }) }),
    found.type === 'refused' ? found.response : expect.fail(),
    await revoke(test, next.body.refresh_token),
    await revoke(test, 'x'),
    (await exchange(test, code)).response,
  ]
}

describe('a host whose own functions fail', () => {
  /** Different for every draw, the same for every server. */
  function countedEntropy(): (length: number) => Uint8Array {
    let draws = 0
    return (length) => new Uint8Array(length).fill(++draws)
  }

  it('an onEvent that throws, at once or later, changes no answer; onError is told', async () => {
    const failure = new Error('the audit trail is full')
    const expected = await flow(await testServer({ entropy: countedEntropy() }))
    const failing = [
      (): void => {
        throw failure
      },
      (): Promise<void> => Promise.reject(failure),
    ]
    for (const onEvent of failing) {
      const test = await testServer({ entropy: countedEntropy(), onEvent })
      expect(await flow(test)).toStrictEqual(expected)
      // issued, exchanged, refreshed, three refusals, revoked, and two refusals
      expect(test.errors).toStrictEqual(Array(9).fill(failure))
    }
  })

  it('an onEvent that changes what it is told changes nothing', async () => {
    const onEvent = (event: AuditEvent): void => {
      if ('scopes' in event) (event.scopes as string[]).push('repo-delete:rw') // what a program without types could do
      if ('resources' in event) Object.assign(event.resources, { kind: 'all', ids: undefined })
    }
    const test = await testServer({ onEvent, resources: () => [{ id: 'engine' }] })
    const { code } = await authorize(
      test,
      { scope: 'repo-code:r' },
      { resource_scope: 'specified', resource: 'engine' },
    )
    const { body } = await exchange(test, code)
    const { body: refreshed } = await refresh(test, body.refresh_token)
    for (const { access_token } of [body, refreshed])
      expect(await call(test, access_token)).toMatchObject({
        scopes: ['repo-code:r'],
        resources: { kind: 'specified', ids: ['engine'] },
      })
  })

  it('an onError that throws, at once or later, changes no answer either', async () => {
    const expected = await flow(await testServer({ entropy: countedEntropy() }))
    const failing = [
      (): void => {
        throw new Error('no log')
      },
      (): Promise<void> => Promise.reject(new Error('no log')),
    ]
    for (const onError of failing) {
      const test = await testServer({ entropy: countedEntropy(), onEvent: onError, onError })
      expect(await flow(test)).toStrictEqual(expected)
      const down = await watchedServer({ onError })
      down.instead.read = () => Promise.reject(new Error('down'))
      expect((await exchange(down, 'x')).status).toBe(503)
    }
  })
})
