/**
 * The device authorization endpoint, and the polls of a device: as messages.
 * @module
 * @see Specification, section 4.5; RFC 8628, sections 3.1, 3.2, 3.4, 3.5 and 4
 */
import type { AuditEvent, HttpResponse } from 'grantwell'
import { portableDigests } from 'grantwell'
import { CREDENTIAL_PREFIXES, parseCredential } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { parseUserCode, userCodeDigest } from '../../src/core/credentials/user-code.js'
import {
  BUSY,
  INVALID_CLIENT,
  INVALID_GRANT,
  NO_SECRET,
  StoreFailure,
  TOKEN_HEADERS,
  tokenError,
  UNEXPECTED_SECRET,
  type WatchedServer,
  watchedServer,
  wrongMethod,
} from '../server/helpers.js'
import type { TestServer } from '../support.js'
import {
  authorize,
  basic,
  call,
  exchange,
  grantNamedBy,
  NATIVE,
  OTHER,
  post,
  refresh,
  registration,
  revoke,
  START,
  send,
  testServer,
  token,
  tokens,
  WEB,
  works,
} from '../support.js'
import { changeApplication } from './consent-form.js'
import type { Codes } from './device-form.js'
import { askForCodes, codesOf, DEVICE_GRANT, decide, decideOn, enterCode, poll, recordOf, told } from './device-form.js'

const PATH = '/oauth2/device_authorization'
const ALL_SCOPES = 'repo-code:rw account-profile:r'
const invalidScope = (description: string) => tokenError(400, 'invalid_scope', description)
const PENDING = tokenError(400, 'authorization_pending', 'The user has not decided yet.')
const DENIED = tokenError(400, 'access_denied', 'The request was refused.')
const EXPIRED = tokenError(400, 'expired_token', 'The device code expired.')
const UNAUTHORIZED = tokenError(400, 'unauthorized_client', 'The application is not registered for the device flow.')
const slower = (interval: number) =>
  tokenError(400, 'slow_down', `Polled too soon: wait ${interval} seconds between two requests.`)

/** The last refusal that the audit trail has. */
function lastRefusal(events: readonly AuditEvent[]) {
  return events.findLast((event) => event.type === 'refused')
}

describe('RFC 8628, 3.1 and 3.2 the device authorization request', () => {
  it.each([
    ['a confidential client', WEB],
    ['a public client', NATIVE],
  ])('gives %s its codes: status, headers and body', async (_who, client) => {
    const test = await testServer()
    const response = await askForCodes(test, {}, client)
    const { device_code, user_code } = JSON.parse(response.body)
    expect(device_code).toMatch(/^gwd_[\w-]{81}$/)
    expect(user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    expect(response).toStrictEqual({
      status: 200,
      headers: TOKEN_HEADERS,
      body: JSON.stringify({
        device_code,
        user_code,
        verification_uri: 'https://git.example/oauth2/device',
        verification_uri_complete: `https://git.example/oauth2/device?user_code=${user_code}`,
        expires_in: 600,
        interval: 5,
      }),
    })
    expect(test.events).toStrictEqual([
      {
        type: 'device_requested',
        at: START,
        grantId: parseCredential(device_code)?.grantId,
        clientId: client.clientId,
        scopes: ['repo-code:rw', 'account-profile:r'],
      },
    ])
  })

  it('gives the lifetime and interval of the options, and the addresses of an issuer that has a path', async () => {
    const issuer = 'https://git.example/deep'
    const test = await testServer({ issuer, deviceCodeLifetime: 77, devicePollingInterval: 9 })
    const { status, body } = await post(test.server, `/deep${PATH}`, {}, basic(WEB))
    expect([status, JSON.parse(body)]).toMatchObject([
      200,
      { expires_in: 77, interval: 9, verification_uri: `${issuer}/oauth2/device` },
    ])
  })

  it('asks for what it names, in the order of the catalogue, or for all that is registered', async () => {
    const test = await testServer()
    for (const [scope, asked] of [
      [undefined, ['repo-code:rw', 'account-profile:r']],
      ['', ['repo-code:rw', 'account-profile:r']],
      ['account-profile:r', ['account-profile:r']],
      ['account-profile:r repo-code:r', ['repo-code:r', 'account-profile:r']],
      ['  account-profile:r   repo-code:r ', ['repo-code:r', 'account-profile:r']],
    ] as const) {
      const codes = await codesOf(test, scope === undefined ? {} : { scope })
      expect(await recordOf(test.store, codes)).toMatchObject({ scopes: asked, clientId: 'web' })
    }
  })

  it('ignores parameters that it does not know, and takes a body that the host has parsed', async () => {
    const test = await testServer()
    await codesOf(test, { response_type: 'device_code', constructor: 'x', unknown: '\0' })
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...basic(WEB) }
    const body = { type: 'parsed', fields: { scope: 'account-profile:r' } } as const
    expect((await send(test.server, { method: 'POST', url: PATH, headers, body })).status).toBe(200)
  })

  it.each([
    ['repo-delete:rw', 'The scope repo-delete:rw is not registered for this application.'],
    ['repo-code:r unknown:r', 'Scope 2 of 2 is unknown.'],
    ['unknown', 'The scope is unknown.'],
    ['repo-code', 'The scope is unknown.'],
    ['repo-code:r,account-profile:r', 'The scope is unknown.'],
    [' ', 'The scope is empty.'],
  ])('of a scope that is unknown, malformed or not registered: invalid_scope (%j)', async (scope, description) => {
    const test = await testServer()
    const { size } = test.store
    expect(await askForCodes(test, { scope })).toStrictEqual(invalidScope(description))
    expect(test.events).toStrictEqual([
      {
        type: 'refused',
        at: START,
        endpoint: 'device_authorization',
        error: 'invalid_scope',
        reason: 'scope_not_registered',
        clientId: 'web',
      },
    ])
    expect(test.store.size).toBe(size)
  })

  it('of an application whose scopes the service took out of its catalogue: invalid_scope', async () => {
    const test = await testServer()
    await changeApplication(test, { scopes: ['wiki:r'] })
    const none = invalidScope('This application is registered for no scope that the service has.')
    for (const form of [{}, { scope: 'wiki:r' }]) expect(await askForCodes(test, form)).toStrictEqual(none)
  })

  it('takes a secret in the body, unless the host takes that away', async () => {
    const test = await testServer()
    const form = { client_id: WEB.clientId, client_secret: WEB.clientSecret }
    expect((await post(test.server, PATH, form)).status).toBe(200)
    const strict = await testServer({ allowClientSecretPost: false })
    const wrong = wrongMethod('client_secret_post', 'client_secret_basic')
    expect(await post(strict.server, PATH, form)).toStrictEqual(wrong)
    expect(await post(test.server, PATH, { ...form, client_secret: 'x' })).toStrictEqual(INVALID_CLIENT)
  })

  it('is announced in the metadata (RFC 8628, section 4)', async () => {
    const { server } = await testServer()
    const { body } = await send(server, { url: '/.well-known/oauth-authorization-server' })
    const metadata = JSON.parse(body)
    expect(metadata.device_authorization_endpoint).toBe(`https://git.example${PATH}`)
    expect(metadata.grant_types_supported).toContain(DEVICE_GRANT)
  })
})

/** A server whose user codes are drawn from a list; once it is at its end, the last is drawn for ever. */
async function rigged(draws: readonly string[]) {
  let drawn = 0
  let identified: boolean | undefined
  const test = await testServer({
    entropy: (length) => {
      const bytes = crypto.getRandomValues(new Uint8Array(length))
      if (length !== 16 || identified === undefined) return bytes
      // The first one of a request is the grant's identifier.
      if (!identified) {
        identified = true
        return bytes
      }
      const draw = draws[Math.min(drawn++, draws.length - 1)] ?? ''
      return Uint8Array.from({ length: 16 }, (_, place) => draw.charCodeAt(place) || 0)
    },
  })
  const ask = async () => {
    identified = false
    const before = drawn
    const response = await askForCodes(test)
    return { status: response.status, body: JSON.parse(response.body), draws: drawn - before, response }
  }
  return { ...test, ask }
}

describe('user codes', () => {
  it('[44] that another device shows are drawn again, so each is of one device while it lives', async () => {
    const test = await rigged(['one', 'one', 'one', 'two', 'one', 'two', 'three'])
    const first = await test.ask()
    const second = await test.ask()
    const third = await test.ask()
    expect([first.draws, second.draws, third.draws]).toEqual([1, 3, 3])
    const codes = [first, second, third].map(({ body }) => body.user_code)
    expect(new Set(codes).size).toBe(3)
    for (const { body } of [first, second, third]) {
      await decide(test, body)
      expect(await told(test, body)).toBe('tokens')
    }
  })

  it('[44] stay taken until they expire, whatever was decided on them, and then are free again', async () => {
    const test = await rigged(['one'])
    const { body: first } = await test.ask()
    await decide(test, first, 'refuse')
    test.clock.now += 599
    expect((await test.ask()).status).toBe(503)
    test.clock.now += 1
    const { body: again } = await test.ask()
    expect(again.user_code).toBe(first.user_code)
    await decide(test, again)
    expect(await told(test, again)).toBe('tokens')
    expect(await told(test, first)).toBe('access_denied')
  })

  it('that are all taken end in a 503 after eight draws, and the device may come again', async () => {
    const test = await rigged(['one', 'one', 'one', 'one', 'one', 'one', 'one', 'one', 'one', 'two'])
    expect((await test.ask()).status).toBe(200)
    const { draws, response } = await test.ask()
    expect(draws).toBe(8)
    expect(response).toStrictEqual(BUSY)
    expect(lastRefusal(test.events)).toMatchObject({ endpoint: 'device_authorization', reason: 'contention' })
    expect((await test.ask()).status).toBe(200)
  })

  it('[44] are never in the store in clear, and where there is a derivation key, the key is in what is', async () => {
    for (const derivationKey of [undefined, new Uint8Array(32).fill(7)]) {
      const test = await watchedServer({ ...(derivationKey !== undefined && { derivationKey }) })
      const written: string[] = []
      test.instead.write = (key, value, rest) => {
        written.push(JSON.stringify([key, value, rest]))
        return test.store.write(key, value, rest)
      }
      const { user_code } = await codesOf(test)
      expect((await enterCode(test, user_code)).page.status).toBe(200)
      const code = parseUserCode(user_code) ?? expect.fail('no user code')
      expect(written.join()).not.toContain(code)
      expect(written.join()).not.toContain(user_code)
      const digest = userCodeDigest(code, portableDigests, derivationKey)
      expect(test.trips.keys).toContain(`user_code:${digest}`)
      expect(written.filter((each) => each.includes('user_code:'))).toStrictEqual([expect.stringContaining(digest)])
      expect(digest === userCodeDigest(code, portableDigests)).toBe(derivationKey === undefined)
    }
  })
})

describe('RFC 8628, 3.4 and 3.5 a poll', () => {
  it.each([
    ['a confidential client', WEB],
    ['a public client', NATIVE],
  ])('[43] of %s: pending, too soon, in time, tokens, and no more', async (_who, client) => {
    const test = await testServer()
    const codes = await codesOf(test, {}, client)
    const answers: HttpResponse[] = []
    for (const seconds of [0, 4, 9, 15, 15]) {
      test.clock.now += seconds
      answers.push((await poll(test, codes, client)).response)
    }
    expect(answers).toStrictEqual([PENDING, slower(10), slower(15), PENDING, PENDING])
    await decide(test, codes)
    test.clock.now += 13
    expect((await poll(test, codes, client)).response).toStrictEqual(slower(20))
    test.clock.now += 20
    const { body, response } = await poll(test, codes, client)
    expect(response).toStrictEqual({
      status: 200,
      headers: TOKEN_HEADERS,
      body: JSON.stringify({
        access_token: body.access_token,
        token_type: 'bearer',
        expires_in: 28_800,
        refresh_token: body.refresh_token,
        scope: ALL_SCOPES,
      }),
    })
    expect(await call(test, body.access_token)).toMatchObject({
      type: 'authenticated',
      subject: 'ada',
      clientId: client.clientId,
      grantId: parseCredential(codes.device_code)?.grantId,
      resources: { kind: 'all' },
    })
    for (const seconds of [0, 1, 100, 10_000]) {
      test.clock.now += seconds
      expect((await poll(test, codes, client)).response).toStrictEqual(INVALID_GRANT)
      expect(await works(test, body.access_token)).toBe(true)
    }
    expect((await refresh(test, body.refresh_token, {}, client)).status).toBe(200)
  })

  it('[43] after the user refused: access_denied; after the code expired: expired_token', async () => {
    const test = await testServer()
    const refused = await codesOf(test)
    const late = await codesOf(test)
    await decide(test, refused, 'refuse')
    for (let count = 0; count < 3; count++) expect((await poll(test, refused)).response).toStrictEqual(DENIED)
    test.clock.now += 600
    for (let count = 0; count < 3; count++) expect((await poll(test, late)).response).toStrictEqual(EXPIRED)
    expect((await poll(test, refused)).response).toStrictEqual(DENIED)
    // Five minutes later nothing is known of them any more.
    test.clock.now += 299
    expect((await poll(test, late)).response).toStrictEqual(EXPIRED)
    expect((await poll(test, refused)).response).toStrictEqual(DENIED)
    test.clock.now += 1
    for (const codes of [refused, late]) expect((await poll(test, codes)).response).toStrictEqual(INVALID_GRANT)
  })

  it('[43] too soon by a device that obeys, and never heard of one slow_down: it is told to wait no longer', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    await poll(test, codes)
    await decide(test, codes)
    const answers: HttpResponse[] = []
    // The second of them is lost: from then on the device is five seconds behind.
    for (const seconds of [4, 5, 10, 15, 20]) {
      test.clock.now += seconds
      answers.push((await poll(test, codes)).response)
    }
    expect(answers.slice(0, -1)).toStrictEqual([slower(10), slower(15), slower(20), slower(20)])
    expect(answers.at(-1)?.status).toBe(200)
  })

  it('[43] is told in the audit trail where it is more than a device that asks as it should', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    test.events.length = 0
    await poll(test, codes)
    expect(test.events).toStrictEqual([])
    await poll(test, codes)
    const refused = { type: 'refused', at: START, endpoint: 'token', clientId: 'web' }
    const grantId = grantNamedBy(codes.device_code)
    expect(test.events).toStrictEqual([{ ...refused, grantId, error: 'slow_down', reason: 'polled_too_soon' }])
    await decide(test, codes)
    test.clock.now += 10
    await poll(test, codes)
    expect(test.events.slice(1).map(({ type }) => type)).toStrictEqual(['issued', 'exchanged'])
    await poll(test, codes)
    expect(lastRefusal(test.events)).toMatchObject({ error: 'invalid_grant', reason: 'credential_replayed' })
  })

  it.each([
    ['no code', '&device_code=abc'],
    ['a user code', '&device_code=WDJB-MJHT'],
  ])('with a device_code that is %s is refused', async (_what, form) => {
    const test = await testServer()
    const type = `grant_type=${encodeURIComponent(DEVICE_GRANT)}`
    expect(await post(test.server, '/oauth2/token', type + form, basic(WEB))).toStrictEqual(INVALID_GRANT)
  })

  it('of a client that does not authenticate is refused, and leaves the interval alone', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    for (const client of [{ ...WEB, clientSecret: 'wrong' }, { clientId: 'nobody' }])
      expect((await poll(test, codes, client)).response).toStrictEqual(INVALID_CLIENT)
    expect((await poll(test, codes, { clientId: 'web' })).response).toStrictEqual(NO_SECRET)
    expect((await poll(test, codes)).response).toStrictEqual(PENDING)
  })
})

/** A whole credential under another client's key. */
function movedTo(text: string, other: string): string {
  return text.slice(0, 4) + other.slice(4, 20) + text.slice(20)
}

describe('[45] a device code is bound to its client', () => {
  it('[45] another client that has it gets nothing, before and after the user agreed, and takes nothing', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    for (const client of [OTHER, NATIVE])
      expect((await poll(test, codes, client)).response).toStrictEqual(INVALID_GRANT)
    expect(await told(test, codes)).toBe('authorization_pending')
    await decide(test, codes)
    test.clock.now += 5
    for (const client of [OTHER, NATIVE])
      expect((await poll(test, codes, client)).response).toStrictEqual(INVALID_GRANT)
    expect(lastRefusal(test.events)).toMatchObject({ reason: 'credential_of_another_client', clientId: 'native' })
    expect(await told(test, codes)).toBe('tokens')
  })

  it('[45] written under the other client’s key it is that one’s in name alone', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    const others = await codesOf(test, {}, OTHER)
    await decide(test, codes)
    const forged = { device_code: movedTo(codes.device_code, others.device_code) }
    expect((await poll(test, forged, OTHER)).response).toStrictEqual(INVALID_GRANT)
    expect(lastRefusal(test.events)).toMatchObject({ reason: 'credential_of_another_client', clientId: 'other' })
    expect((await poll(test, forged)).response).toStrictEqual(INVALID_GRANT)
    expect(await told(test, codes)).toBe('tokens')
  })

  it('with another secret it is unknown', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    const { device_code } = codes
    const last = device_code.endsWith('A') ? 'B' : 'A'
    expect((await poll(test, { device_code: device_code.slice(0, -1) + last })).response).toStrictEqual(INVALID_GRANT)
    expect(await told(test, codes)).toBe('authorization_pending')
  })
})

describe('[29] a device code and every other credential are nothing in each other’s place', () => {
  it('[29] a code, an access token and a refresh token, as they are or renamed, are no device code', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    const { access_token, refresh_token } = await tokens(test)
    const prefix = CREDENTIAL_PREFIXES.device_code
    for (const text of [code, access_token, refresh_token]) {
      for (const device_code of [text, prefix + text.slice(4)])
        expect((await poll(test, { device_code })).response).toStrictEqual(INVALID_GRANT)
    }
    expect((await exchange(test, code)).status).toBe(200)
    expect(await works(test, access_token)).toBe(true)
    expect((await refresh(test, refresh_token)).status).toBe(200)
  })

  it.each(['waiting', 'agreed', 'redeemed'] as const)(
    '[29] a device code that is %s is no other credential',
    async (state) => {
      const test = await testServer()
      const codes = await codesOf(test)
      if (state !== 'waiting') await decide(test, codes)
      const pair = state === 'redeemed' ? (await poll(test, codes)).body : undefined
      for (const prefix of Object.values(CREDENTIAL_PREFIXES)) {
        const text = prefix + codes.device_code.slice(4)
        expect((await exchange(test, text)).response).toStrictEqual(INVALID_GRANT)
        expect((await refresh(test, text)).response).toStrictEqual(INVALID_GRANT)
        expect((await call(test, text)).type).toBe('refused')
        expect((await revoke(test, text)).status).toBe(200)
      }
      expect((await token(test, { grant_type: 'device_code', device_code: codes.device_code })).body.error).toBe(
        'unsupported_grant_type',
      )
      // None of that ended anything.
      const now = pair === undefined ? await told(test, codes) : await works(test, pair.access_token)
      expect(now).toBe({ waiting: 'authorization_pending', agreed: 'tokens', redeemed: true }[state])
    },
  )
})

describe('an application that changes while a device waits', () => {
  it('and is suspended gets nothing; reinstated, it gets what the user agreed to', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    const shown = await enterCode(test, codes.user_code)
    await test.server.applications.suspend('web')
    expect((await poll(test, codes)).response).toStrictEqual(INVALID_CLIENT)
    // The user is told what an unknown code is, and cannot agree to what was shown before.
    expect((await enterCode(test, codes.user_code)).page.status).toBe(400)
    expect((await decideOn(test, shown)).status).toBe(400)
    await test.server.applications.reinstate('web')
    expect(await told(test, codes)).toBe('authorization_pending')
    expect((await decideOn(test, shown)).status).toBe(200)
    await test.server.applications.suspend('web')
    expect((await poll(test, codes)).response).toStrictEqual(INVALID_CLIENT)
    await test.server.applications.reinstate('web')
    test.clock.now += 5
    expect(await told(test, codes)).toBe('tokens')
  })

  it('and loses scopes before the decision: the user is shown, and grants, what is left', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    const before = await enterCode(test, codes.user_code)
    await changeApplication(test, { scopes: ['repo-code:r', 'repo-delete:rw'] })
    // What was shown before is not what would be granted now.
    expect((await decideOn(test, before)).status).toBe(400)
    const shown = await enterCode(test, codes.user_code)
    expect(shown.page.body).toContain('Repository code through Git commands')
    expect(shown.page.body).not.toContain('User profile')
    expect((await decideOn(test, shown)).status).toBe(200)
    await changeApplication(test, { scopes: ['repo-code:rw', 'account-profile:r'] })
    const { body } = await poll(test, codes)
    expect(body.scope).toBe('repo-code:r')
    expect(await call(test, body.access_token)).toMatchObject({ scopes: ['repo-code:r'] })
  })

  it('and loses scopes after the decision: its tokens have what is left', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    await decide(test, codes)
    await changeApplication(test, { scopes: ['repo-code:r'] })
    const { body } = await poll(test, codes)
    expect(body.scope).toBe('repo-code:r')
    expect(await call(test, body.access_token, 'repo-code:rw')).toMatchObject({
      type: 'refused',
      error: { code: 'insufficient_scope' },
    })
  })

  it('and loses all of them: no page and no tokens, and the code is not used up', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    const others = await codesOf(test)
    await decide(test, codes)
    await changeApplication(test, { scopes: ['repo-delete:rw'] })
    expect((await poll(test, codes)).response).toStrictEqual(INVALID_GRANT)
    expect(lastRefusal(test.events)).toMatchObject({ reason: 'scope_not_registered' })
    expect((await enterCode(test, others.user_code)).page.status).toBe(400)
    await changeApplication(test, { scopes: ['repo-code:rw', 'account-profile:r'] })
    expect(await told(test, codes)).toBe('tokens')
  })

  it('by a change that administrators approved is the same', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    await decide(test, codes)
    const { logo: _, ...details } = registration()
    const { revision } = await test.server.applications.change('web', {
      ...details,
      scopes: [{ scope: 'account-profile:r', reason: 'to greet' }],
    })
    await test.server.applications.approve('web', { revision })
    expect((await poll(test, codes)).body.scope).toBe('account-profile:r')
  })

  it('loses what its user takes back before the device has it', async () => {
    const test = await testServer()
    const codes = await codesOf(test)
    await decide(test, codes)
    const { grants } = await test.server.grants.listGrants('ada')
    expect(grants).toMatchObject([{ clientId: 'web', scopes: ['repo-code:rw', 'account-profile:r'] }])
    expect(await test.server.grants.revokeGrant('ada', grants[0]?.grantId ?? '')).toBe(true)
    expect((await poll(test, codes)).response).toStrictEqual(DENIED)
  })
})

describe('an application that is not registered for the device flow', () => {
  const PLAIN = { clientId: 'plain', clientSecret: 'a-secret-of-the-plain-application' }
  const APP = { clientId: 'app' }

  /** A server that knows such applications, one of each kind. */
  async function withPlain() {
    const test = await testServer()
    const { deviceFlow: _, ...silent } = registration({ type: 'public', redirectUris: ['https://app.example/here'] })
    await test.server.applications.register(registration({ deviceFlow: false }), PLAIN)
    await test.server.applications.register(silent, APP)
    test.events.length = 0
    return test
  }

  it.each([
    ['a confidential client', PLAIN],
    ['a public client that says nothing of it', APP],
  ])('gets no codes, and nothing is stored: %s', async (_who, client) => {
    const test = await withPlain()
    const { size } = test.store
    // Which scopes it wants is not even looked at.
    for (const form of [{}, { scope: 'repo-code:r' }, { scope: 'unknown' }])
      expect(await askForCodes(test, form, client)).toStrictEqual(UNAUTHORIZED)
    expect(test.store.size).toBe(size)
    const refused = {
      type: 'refused',
      at: START,
      endpoint: 'device_authorization',
      error: 'unauthorized_client',
      reason: 'grant_type_not_registered',
      clientId: client.clientId,
    }
    expect(test.events).toStrictEqual([refused, refused, refused])
  })

  it('has the flows of a browser all the same', async () => {
    const test = await testServer()
    await changeApplication(test, { deviceFlow: false })
    const { access_token, refresh_token } = await tokens(test)
    expect(await works(test, access_token)).toBe(true)
    expect((await refresh(test, refresh_token)).status).toBe(200)
  })

  it('hears that its authentication failed first, where it did', async () => {
    const test = await withPlain()
    const { device_code } = await codesOf(test)
    for (const [client, answer] of [
      [{ clientId: 'plain' }, NO_SECRET],
      [{ ...PLAIN, clientSecret: 'wrong' }, INVALID_CLIENT],
      [{ ...APP, clientSecret: 'x' }, UNEXPECTED_SECRET('client_secret_basic')],
    ] as const) {
      expect(await askForCodes(test, {}, client)).toStrictEqual(answer)
      expect((await poll(test, { device_code }, client)).response).toStrictEqual(answer)
    }
    await test.server.applications.suspend('plain')
    expect(await askForCodes(test, {}, PLAIN)).toStrictEqual(INVALID_CLIENT)
  })

  it('gets nothing for the device code of another, and learns nothing of it', async () => {
    const test = await withPlain()
    const codes = await codesOf(test)
    await decide(test, codes)
    for (const client of [PLAIN, APP]) expect((await poll(test, codes, client)).response).toStrictEqual(INVALID_GRANT)
    expect(await told(test, codes)).toBe('tokens')
  })

  it.each(['waiting', 'agreed to', 'refused', 'expired'])('may not poll for a code that is %s', async (state) => {
    const test = await testServer()
    const codes = await codesOf(test)
    if (state === 'agreed to') await decide(test, codes)
    if (state === 'refused') await decide(test, codes, 'refuse')
    if (state === 'expired') test.clock.now += 600
    const before = await recordOf(test.store, codes)
    await changeApplication(test, { deviceFlow: false })
    for (let count = 0; count < 3; count++) expect((await poll(test, codes)).response).toStrictEqual(UNAUTHORIZED)
    expect(lastRefusal(test.events)).toStrictEqual({
      type: 'refused',
      at: test.clock.now,
      endpoint: 'token',
      error: 'unauthorized_client',
      reason: 'grant_type_not_registered',
      clientId: 'web',
      grantId: grantNamedBy(codes.device_code),
    })
    // The interval was left alone, and the code is not used up.
    expect(await recordOf(test.store, codes)).toStrictEqual(before)
    await changeApplication(test, { deviceFlow: true })
    const answers = {
      waiting: 'authorization_pending',
      'agreed to': 'tokens',
      refused: 'access_denied',
      expired: 'expired_token',
    }
    expect(await told(test, codes)).toBe(answers[state as keyof typeof answers]) // as above
  })

  /** A change to `web` that administrators approve; it says what happens in between. */
  async function reapproved(test: TestServer, deviceFlow: boolean, meanwhile = async () => {}): Promise<void> {
    const { logo: _, ...details } = registration({ deviceFlow })
    const scopes = ALL_SCOPES.split(' ').map((scope) => ({ scope, reason: 'as before' }))
    const { revision } = await test.server.applications.change('web', { ...details, scopes })
    await meanwhile()
    await test.server.applications.approve('web', { revision })
  }

  it('by a change that is approved while a device waits: from then on there is neither page nor poll for it', async () => {
    const test = await testServer()
    const waiting = await codesOf(test)
    const agreed = await codesOf(test)
    const used = await codesOf(test)
    await decide(test, agreed)
    await decide(test, used)
    const { body: pair } = await poll(test, used)
    const shown = await enterCode(test, waiting.user_code)
    await reapproved(test, false, async () => {
      // A change that only waits changes nothing.
      expect(await told(test, waiting)).toBe('authorization_pending')
      expect((await askForCodes(test)).status).toBe(200)
    })
    expect(await askForCodes(test)).toStrictEqual(UNAUTHORIZED)
    for (const codes of [waiting, agreed, used]) expect((await poll(test, codes)).response).toStrictEqual(UNAUTHORIZED)
    const unknown = 'This code is not known, or no longer valid. Compare it with your device, or start again there.'
    for (const answered of [
      (await enterCode(test, waiting.user_code)).page,
      await decideOn(test, shown, 'agree'),
      await decideOn(test, shown, 'refuse'),
    ])
      expect([answered.status, answered.body.includes(unknown)]).toEqual([400, true])
    expect(lastRefusal(test.events)).toMatchObject({ endpoint: 'device', reason: 'user_code_unknown' })
    // What a device has got is its own.
    expect(await works(test, pair.access_token)).toBe(true)
    expect((await refresh(test, pair.refresh_token)).status).toBe(200)
    await reapproved(test, true)
    expect(await told(test, agreed)).toBe('tokens')
    expect((await decideOn(test, shown)).status).toBe(200)
    test.clock.now += 5
    expect(await told(test, waiting)).toBe('tokens')
    expect(await told(test, used)).toBe('invalid_grant')
  })
})

/** Lets one operation of the store fail, counted from the next on; the write has or has not happened by then. */
function failAt({ store, instead }: WatchedServer, at: number, happens = false): { readonly calls: () => number } {
  let calls = 0
  instead.read = (keys) => {
    if (calls++ === at) throw new StoreFailure()
    return store.read(keys)
  }
  instead.write = async (key, value, options) => {
    const failing = calls++ === at
    const written = failing && !happens ? undefined : await store.write(key, value, options)
    if (failing || written === undefined) throw new StoreFailure()
    return written
  }
  return { calls: () => calls }
}

function mend({ instead }: WatchedServer): void {
  instead.read = undefined
  instead.write = undefined
}

describe('[49] a store that fails', () => {
  it.each([0, 1, 2, 3, 4, 5, 6])('[49] at operation %i of a device’s request: 503, and it asks again', async (at) => {
    const test = await watchedServer()
    const { calls } = failAt(test, at)
    expect(await askForCodes(test)).toStrictEqual(BUSY)
    expect(calls()).toBeGreaterThan(at)
    mend(test)
    expect(lastRefusal(test.events)).toMatchObject({ endpoint: 'device_authorization', reason: 'store_failed' })
    const codes = await codesOf(test)
    await decide(test, codes)
    expect(await told(test, codes)).toBe('tokens')
  })

  it('[49] there are seven operations in a device’s request', async () => {
    const test = await watchedServer()
    const { calls } = failAt(test, 7)
    expect((await askForCodes(test)).status).toBe(200)
    expect(calls()).toBe(7)
  })

  it.each([2, 4, 6])('[49] to tell that it wrote at operation %i of a device’s request changes nothing', async (at) => {
    const test = await watchedServer()
    failAt(test, at, true)
    const codes = await codesOf(test)
    mend(test)
    await decide(test, codes)
    expect(await told(test, codes)).toBe('tokens')
  })

  it.each([0, 1])('[49] at operation %i of a poll: 503, and the device polls again', async (at) => {
    const test = await watchedServer()
    const codes = await codesOf(test)
    const failing = async (): Promise<HttpResponse> => {
      failAt(test, at)
      const { response } = await poll(test, codes)
      mend(test)
      return response
    }
    expect(await failing()).toStrictEqual(BUSY)
    expect(await told(test, codes)).toBe('authorization_pending')
    expect(await failing()).toStrictEqual(BUSY) // too soon, but nobody could tell
    await decide(test, codes)
    test.clock.now += 60
    expect(await failing()).toStrictEqual(BUSY)
    expect(await told(test, codes)).toBe('tokens')
  })

  it('[49] to tell that it wrote: the device has its tokens all the same', async () => {
    const test = await watchedServer()
    const codes = await codesOf(test)
    await decide(test, codes)
    failAt(test, 1, true)
    const { status, body } = await poll(test, codes)
    mend(test)
    expect(status).toBe(200)
    expect(await works(test, body.access_token)).toBe(true)
  })

  it('[49] to tell, and to be asked whether, it wrote: the device hears 503, its code is spent, and no token is out', async () => {
    const test = await watchedServer()
    const codes: Codes = await codesOf(test)
    await decide(test, codes)
    test.instead.write = async (key, value, options) => {
      await test.store.write(key, value, options)
      test.instead.read = () => {
        throw new StoreFailure()
      }
      throw new StoreFailure()
    }
    expect((await poll(test, codes)).response).toStrictEqual(BUSY)
    mend(test)
    expect((await poll(test, codes)).response).toStrictEqual(INVALID_GRANT)
  })
})
