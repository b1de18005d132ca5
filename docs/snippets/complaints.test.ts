/**
 * The code of the page "A client complains". Its rows and its sample are compared with what really comes.
 * @module
 */

// #region imports
import type { AuditEvent } from 'grantwell'
// #endregion imports
import { createHash } from 'node:crypto'
import { createAuthorizationServer } from 'grantwell'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { TestServer } from '../../test/support.js'
import {
  authorizationUrl,
  authorize,
  basic,
  CHALLENGE,
  call,
  exchange,
  hiddenFields,
  laterServer,
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
  VERIFIER,
  WEB,
  works,
} from '../../test/support.js'
import { decide } from '../../test/protocol/device-form.js'
import { readPage } from './page-words.js'

// #region log
const onEvent = (event: AuditEvent) => console.log(JSON.stringify(event)) // pass it to createAuthorizationServer
// #endregion log

const page = readPage('operations/complaints')

afterEach(() => {
  vi.restoreAllMocks()
})

/** Writes an event as the tables of the page do. */
function wordsFor(event: AuditEvent): string {
  switch (event.type) {
    case 'refused':
      return `\`refused\`: \`${event.reason}\``
    case 'revoked':
      return `\`revoked\`: \`${event.cause}\``
    case 'replayed':
      return `\`replayed\`: \`${event.credential}\``
    case 'refreshed':
      return event.retry ? '`refreshed`, `"retry":true`' : '`refreshed`'
    default:
      return `\`${event.type}\``
  }
}

type Answer = Awaited<ReturnType<typeof token>>

/** Writes an answer as the tables of the page do. */
function wordsOf({ status, body }: Answer): string {
  return status === 200 ? 'tokens' : `${status} \`${body.error}\``
}

/** What happens, with the request that the client complains about as its last step. The events before that request are cleared. */
type Step = (test: TestServer, clear: () => void) => Promise<Answer>

/** Damages a credential: its last character is missing. */
const cut = (text: string): string => text.slice(0, -1)

/** Damages a credential: one character of its secret is another one. */
const changed = (text: string): string => `${text.slice(0, 50)}${text[50] === 'A' ? 'B' : 'A'}${text.slice(51)}`

/** Returns the reason of the last refusal, and true if it names a grant. */
function reasonOf({ events }: TestServer): readonly [reason: string | undefined, namesGrant: boolean] {
  const event = events.at(-1)
  return event?.type === 'refused' ? [event.reason, event.grantId !== undefined] : [undefined, false]
}

const CODES: readonly (readonly [cause: string, step: Step])[] = [
  [
    'The code was exchanged before, at any time while its grant lives',
    async (test, clear) => {
      const { code } = await authorize(test)
      const first = await exchange(test, code)
      test.clock.now += 1_500 // 25 minutes
      clear()
      const again = await exchange(test, code)
      expect(await works(test, first.body.access_token)).toBe(false)
      test.events.pop() // of the call that was refused
      return again
    },
  ],
  [
    'The same code comes once more after that',
    async (test, clear) => {
      const { code } = await authorize(test)
      await exchange(test, code)
      await exchange(test, code)
      clear()
      return exchange(test, code)
    },
  ],
  [
    'The same code comes after that, once the record of the ended grant is gone',
    async (test, clear) => {
      const { code } = await authorize(test)
      await exchange(test, code)
      await exchange(test, code)
      test.clock.now += 1_199
      await exchange(test, code)
      expect(test.events.at(-1)).toMatchObject({ reason: 'credential_revoked' })
      test.clock.now += 1
      clear()
      return exchange(test, code)
    },
  ],
  [
    'The code has expired',
    async (test, clear) => {
      const { code } = await authorize(test)
      clear()
      test.clock.now += 600
      return exchange(test, code)
    },
  ],
  [
    'The code has expired, and its record is gone',
    async (test, clear) => {
      const { code } = await authorize(test)
      clear()
      test.clock.now += 1_200
      return exchange(test, code)
    },
  ],
  [
    '`redirect_uri` is not the one of the authorization request',
    async (test, clear) => {
      const { code } = await authorize(test)
      clear()
      return exchange(test, code, { redirect_uri: 'https://app.example/callback/' })
    },
  ],
  [
    'The PKCE verifier is wrong',
    async (test, clear) => {
      const { code } = await authorize(test, { code_challenge: CHALLENGE, code_challenge_method: 'S256' })
      clear()
      return exchange(test, code, { code_verifier: `${VERIFIER}x` })
    },
  ],
  [
    'The PKCE verifier is missing',
    async (test, clear) => {
      const { code } = await authorize(test, { code_challenge: CHALLENGE, code_challenge_method: 'S256' })
      clear()
      return exchange(test, code)
    },
  ],
  [
    'There is a verifier, and the authorization request had no challenge',
    async (test, clear) => {
      const { code } = await authorize(test)
      clear()
      return exchange(test, code, { code_verifier: VERIFIER })
    },
  ],
  [
    'The code belongs to another client',
    async (test, clear) => {
      const { code } = await authorize(test)
      clear()
      return exchange(test, code, {}, OTHER)
    },
  ],
  [
    'The code is damaged: its length or prefix is wrong',
    async (test, clear) => {
      const { code } = await authorize(test)
      await exchange(test, code.replace('gwc_', 'xyz_'))
      expect(reasonOf(test)).toEqual(['credential_unknown', false])
      clear()
      const answer = await exchange(test, cut(code))
      expect(reasonOf(test)).toEqual(['credential_unknown', false])
      return answer
    },
  ],
  [
    'The code has the right length, and a changed character in its secret',
    async (test, clear) => {
      const { code } = await authorize(test)
      clear()
      const answer = await exchange(test, changed(code))
      expect(reasonOf(test)).toEqual(['credential_unknown', true])
      return answer
    },
  ],
  [
    'The code is missing or empty',
    async (test, clear) => {
      await authorize(test)
      expect((await token(test, { grant_type: 'authorization_code' })).body.error).toBe('invalid_request')
      clear()
      const answer = await exchange(test, '')
      expect(test.events.at(-1)).toMatchObject({ clientId: WEB.clientId })
      return answer
    },
  ],
]

const REFRESHES: readonly (readonly [cause: string, step: Step])[] = [
  [
    'The same refresh token comes again within the grace period',
    async (test, clear) => {
      const first = await tokens(test)
      const second = await refresh(test, first.refresh_token)
      clear()
      test.clock.now += 299
      const again = await refresh(test, first.refresh_token)
      expect(again.body.refresh_token).toBe(second.body.refresh_token)
      expect(again.body.access_token).toBe(second.body.access_token)
      return again
    },
  ],
  [
    'An old refresh token comes after the grace period',
    async (test, clear) => {
      const first = await tokens(test)
      await refresh(test, first.refresh_token)
      clear()
      test.clock.now += 300
      return refresh(test, first.refresh_token)
    },
  ],
  [
    'The refresh token has expired',
    async (test, clear) => {
      const { refresh_token } = await tokens(test)
      clear()
      test.clock.now += 15_552_000
      return refresh(test, refresh_token)
    },
  ],
  [
    'An access token is sent as a refresh token',
    async (test, clear) => {
      const { access_token } = await tokens(test)
      clear()
      return refresh(test, access_token)
    },
  ],
  [
    'A code is sent as a refresh token',
    async (test, clear) => {
      const { code } = await authorize(test)
      clear()
      return refresh(test, code)
    },
  ],
  [
    'The refresh token belongs to another client',
    async (test, clear) => {
      const { refresh_token } = await tokens(test)
      clear()
      return refresh(test, refresh_token, {}, OTHER)
    },
  ],
  [
    'The refresh token is damaged: its length or prefix is wrong',
    async (test, clear) => {
      const { refresh_token } = await tokens(test)
      clear()
      return refresh(test, cut(refresh_token))
    },
  ],
  [
    'The refresh token has the right length, and a changed character in its secret',
    async (test, clear) => {
      const { refresh_token } = await tokens(test)
      clear()
      const answer = await refresh(test, changed(refresh_token))
      expect(reasonOf(test)).toEqual(['credential_unknown', true])
      return answer
    },
  ],
  [
    'The refresh token is missing or empty',
    async (test, clear) => {
      await tokens(test)
      expect((await token(test, { grant_type: 'refresh_token' })).body.error).toBe('invalid_request')
      clear()
      const answer = await refresh(test, '')
      expect(test.events.at(-1)).toMatchObject({ clientId: WEB.clientId })
      return answer
    },
  ],
  [
    'The application is registered for none of the scopes any more',
    async (test, clear) => {
      const { refresh_token } = await tokens(test, { scope: 'account-profile:r' })
      const scopes = [{ scope: 'repo-code:rw', reason: 'To push.' }]
      const changed = await test.server.applications.change(WEB.clientId, { ...registration(), scopes })
      await test.server.applications.approve(WEB.clientId, { revision: changed.review?.revision ?? 0 })
      clear()
      return refresh(test, refresh_token)
    },
  ],
]

const DEVICES: readonly (readonly [cause: string, step: Step])[] = [
  [
    'The device polls again after it got its tokens',
    async (test, clear) => {
      const asked = await post(test.server, '/oauth2/device_authorization', { scope: 'repo-code:rw' }, basic(WEB))
      const { device_code, user_code } = JSON.parse(asked.body)
      await decide(test, { user_code })
      const poll = () => token(test, { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code })
      const first = await poll()
      expect(first.status).toBe(200)
      clear()
      const again = await poll()
      expect(await works(test, first.body.access_token)).toBe(true)
      return again
    },
  ],
]

const OTHERS: readonly (readonly [cause: string, step: Step])[] = [
  [
    'The client secret is wrong',
    async (test, clear) => {
      const { refresh_token } = await tokens(test)
      clear()
      return refresh(test, refresh_token, {}, { ...WEB, clientSecret: 'wrong' })
    },
  ],
  [
    'The application is suspended',
    async (test, clear) => {
      const { refresh_token } = await tokens(test)
      await test.server.applications.suspend(WEB.clientId)
      clear()
      return refresh(test, refresh_token)
    },
  ],
  [
    'The scope of a refresh is wider than what the user permitted',
    async (test, clear) => {
      const { refresh_token } = await tokens(test, { scope: 'account-profile:r' })
      clear()
      return refresh(test, refresh_token, { scope: 'account-profile:r repo-code:rw' })
    },
  ],
  [
    'The scope is misspelt',
    async (test, clear) => {
      const { refresh_token } = await tokens(test)
      clear()
      return refresh(test, refresh_token, { scope: 'acount-profile:r' })
    },
  ],
]

/** True if the user has a permission that counts: what the page of the user's applications would show. */
async function hasLivingGrant({ server }: TestServer): Promise<boolean> {
  return (await server.grants.listGrants('ada')).grants.length > 0
}

describe('the tables of causes', () => {
  it.each([...CODES, ...REFRESHES, ...DEVICES, ...OTHERS])('say what comes of: %s', async (cause, step) => {
    const test = await testServer()
    const answer = await step(test, () => {
      test.events.length = 0
    })
    const seen = test.events.map(wordsFor).join(', ')
    const start = `| ${cause} | ${wordsOf(answer)} | ${seen} |`
    const row = page.split('\n').find((line) => line.startsWith(start)) ?? expect.fail(`no row begins ${start}`)
    expect(row.split(' | ').at(-1)).toBe(`${(await hasLivingGrant(test)) ? 'yes' : 'no'} |`)
  })

  it('tell every client whose code or token is refused the same', async () => {
    const told = new Set<string | undefined>()
    for (const [, step] of [...CODES, ...REFRESHES, ...DEVICES]) {
      const { body } = await step(await testServer(), () => {})
      if (body.error === 'invalid_grant') told.add(`${body.error} ${body.error_description}`)
    }
    expect(told.size).toBe(1)
    expect(page).toContain([...told][0]?.replace('invalid_grant ', '"error_description": "'))
  })

  it('keep to the length of every code and token, and to the characters that name a grant', async () => {
    const test = await testServer()
    const { code } = await authorize(test)
    const { body } = await exchange(test, code)
    const all = [code, body.access_token, body.refresh_token]
    expect(all.map((each) => [each.slice(0, 4), each.length])).toEqual([
      ['gwc_', 85],
      ['gwa_', 85],
      ['gwr_', 85],
    ])
    const [issued] = test.events
    for (const each of all) expect(issued).toMatchObject({ grantId: each.slice(20, 42) })
    const other = await tokens(test)
    expect(other.refresh_token.slice(0, 20)).toBe(body.refresh_token.slice(0, 20)) // of one application
    const digest = createHash('sha256').update(WEB.clientId).digest('base64url')
    expect(body.refresh_token.slice(4, 20)).toBe(digest.slice(0, 16))
    expect(issued).toMatchObject({ clientId: WEB.clientId })
  })
})

/** The ways in which a grant ends before its time, with the cause in the event. */
const ENDS: readonly (readonly [
  who: string,
  cause: string,
  end: (test: TestServer, pair: Awaited<ReturnType<typeof tokens>>, grantId: string) => Promise<unknown>,
])[] = [
  [
    'The user, at `/oauth2/applications`',
    'user',
    async ({ server }) => {
      const shown = await send(server, { url: '/oauth2/applications' })
      const cookie = shown.headers['Set-Cookie']?.split(';')[0] ?? ''
      return post(server, '/oauth2/applications', hiddenFields(shown.body), { cookie })
    },
  ],
  ['Your code, by `grants.revokeGrant`', 'user', ({ server }, _, grantId) => server.grants.revokeGrant('ada', grantId)],
  ['Your code, by `grants.revokeAll`', 'user', ({ server }) => server.grants.revokeAll('ada')],
  [
    'Either of them, with an `actor`',
    'administrator',
    ({ server }) => server.grants.revokeAll('ada', { actor: 'root' }),
  ],
  [
    'Your code, by `grants.revokeApplication`',
    'administrator',
    ({ server }) => server.grants.revokeApplication(WEB.clientId),
  ],
  ['The client, at the revocation endpoint', 'client', (test, pair) => revoke(test, pair.refresh_token)],
  ['A newer grant, by `grantLimit`', 'limit', (test) => tokens(test)],
]

describe('a grant that ended', () => {
  it.each(ENDS)('is told by its event: %s', async (who, cause, end) => {
    const test = await testServer({ grantLimit: 1 })
    const pair = await tokens(test)
    const grantId = pair.refresh_token.slice(20, 42)
    test.events.length = 0
    await end(test, pair, grantId)
    expect(test.events).toContainEqual(expect.objectContaining({ type: 'revoked', what: 'grant', cause, grantId }))
    expect(page).toMatch(new RegExp(`^\\| ${who} \\| .*\`revoked\`: \`${cause}\` \\| .* \\| no \\|$`, 'm'))

    expect((await refresh(test, pair.refresh_token)).body.error).toBe('invalid_grant')
    expect(test.events.at(-1)).toMatchObject({ reason: 'credential_revoked' })
    const gone = START + (cause === 'limit' ? 300 : 1_200) // the consent page was opened, and decided on, at START
    test.clock.now = gone - 1
    await refresh(test, pair.refresh_token)
    expect(test.events.at(-1)).toMatchObject({ reason: 'credential_revoked' })
    test.clock.now = gone
    await refresh(test, pair.refresh_token)
    expect(test.events.at(-1)).toMatchObject({ reason: 'credential_unknown' })
  })

  it('is unknown at once if it is old', async () => {
    const test = await testServer()
    const { refresh_token } = await tokens(test)
    test.clock.now += 1_200
    await test.server.grants.revokeAll('ada')
    expect(test.events.at(-1)).toMatchObject({ type: 'revoked', cause: 'user' })
    expect((await refresh(test, refresh_token)).body.error).toBe('invalid_grant')
    expect(test.events.at(-1)).toMatchObject({ reason: 'credential_unknown' })
  })

  it('ends with its tokens where a code is exchanged twice at once', async () => {
    const test = await laterServer()
    const { code } = await authorize(test)
    test.events.length = 0
    const answers = await Promise.all([exchange(test, code), exchange(test, code)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
    expect(test.events.map(wordsFor)).toEqual([
      '`exchanged`',
      '`replayed`: `code`',
      '`revoked`: `replay`',
      '`refused`: `credential_replayed`',
    ])
    const pair = answers.find(({ status }) => status === 200)?.body ?? expect.fail('no tokens')
    expect(await works(test, pair.access_token)).toBe(false)
    expect((await refresh(test, pair.refresh_token)).body.error).toBe('invalid_grant')
  })
})

it('exchanges a code after a request that did not match', async () => {
  const test = await testServer()
  const { code } = await authorize(test, { code_challenge: CHALLENGE, code_challenge_method: 'S256' })
  expect((await exchange(test, code, { redirect_uri: 'https://app.example/', code_verifier: VERIFIER })).status).toBe(
    400,
  )
  expect((await exchange(test, code)).status).toBe(400)
  expect((await exchange(test, code, { code_verifier: VERIFIER }, OTHER)).status).toBe(400)
  expect((await exchange(test, code, { code_verifier: VERIFIER })).status).toBe(200)
})

it('exchanges a code without a redirect URI, or with an empty one', async () => {
  for (const redirect_uri of [undefined, '']) {
    const test = await testServer()
    const { code } = await authorize(test)
    const fields = { grant_type: 'authorization_code', code, ...(redirect_uri !== undefined && { redirect_uri }) }
    expect((await token(test, fields)).status).toBe(200)
  }
})

it('finds the first reuse of a code 30 days later, too', async () => {
  const test = await testServer()
  const { code } = await authorize(test)
  await exchange(test, code)
  test.clock.now += 30 * 86_400
  await exchange(test, code)
  expect(reasonOf(test)).toEqual(['credential_replayed', true])
})

it('lets the grant go on after a replay of a refresh token, if refreshReplay says so', async () => {
  const test = await testServer({ refreshReplay: 'refuse' })
  const first = await tokens(test)
  const { body } = await refresh(test, first.refresh_token)
  test.clock.now += 300
  test.events.length = 0
  expect((await refresh(test, first.refresh_token)).body.error).toBe('invalid_grant')
  expect(test.events.map(wordsFor)).toEqual(['`replayed`: `refresh_token`', '`refused`: `credential_replayed`'])
  expect((await refresh(test, body.refresh_token)).status).toBe(200)
})

it('names the grant of a code or token that can be read, even if the client secret is wrong', async () => {
  const test = await testServer()
  const { refresh_token } = await tokens(test)
  test.events.length = 0
  await refresh(test, refresh_token, {}, { ...WEB, clientSecret: 'wrong' })
  await refresh(test, cut(refresh_token))
  expect(test.events.map((event) => 'grantId' in event)).toEqual([true, false])
  await refresh(test, refresh_token, {}, { clientId: 'nobody', clientSecret: 'wrong' })
  expect('clientId' in (test.events.at(-1) ?? {})).toBe(false)
})

describe('an exchange that was answered 503', () => {
  it.each([
    { title: 'works when it is sent again, if its write did not happen', stored: false, status: 200 },
    { title: 'ends its grant when it is sent again, if its write happened', stored: true, status: 400 },
  ])('$title', async ({ stored, status }) => {
    const test = await testServer()
    const { code } = await authorize(test)
    const { read, write } = test.store
    let fails = true
    const failing: TestServer['store'] = {
      ...test.store,
      write: (...args) => {
        if (!fails) return write(...args)
        if (stored) write(...args)
        throw new Error('no answer')
      },
      read: (keys) => {
        const isRecovery = fails && keys.length === 1 && keys[0]?.startsWith('grant:')
        if (isRecovery) throw new Error('no answer')
        return read(keys)
      },
    }
    const again = serverOver(test, failing)
    expect((await exchange(again, code)).status).toBe(503)
    fails = false
    const second = await exchange(again, code)
    expect([second.status, again.events.some(({ type }) => type === 'replayed')]).toEqual([status, stored])
  })
})

/** Another server over the records of a test, by a store that fails. */
function serverOver(test: TestServer, store: TestServer['store']): TestServer {
  const events: AuditEvent[] = []
  const server = createAuthorizationServer({
    issuer: 'https://git.example',
    store,
    clock: () => test.clock.now,
    user: () => undefined,
    signInUrl: () => '/sign-in',
    onEvent: (event) => events.push(event),
    onError: () => {},
  })
  return { ...test, server, events }
}

it('writes the sample of the page', async () => {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line))
  const test = await testServer({ onEvent })
  lines.length = 0
  const { code } = await authorize(test, { scope: 'account-profile:r' })
  test.clock.now += 2
  const { body: first } = await exchange(test, code)
  test.clock.now += 28_000
  await refresh(test, first.refresh_token)
  test.clock.now += 4
  await refresh(test, first.refresh_token)
  test.clock.now += 3_600
  await refresh(test, first.refresh_token)
  expect((await call(test, first.access_token)).type).toBe('refused')
  const grantId = code.slice(20, 42)
  const sample = lines.map((line) => line.replaceAll(grantId, 'nQzJ3tUwq1h0Vb6xkT8m2A')).join('\n')
  expect(page).toContain(`\`\`\`json\n${sample}\n\`\`\``)
})

it('names the rule that a redirect URI breaks', async () => {
  const test = await testServer()
  const url = authorizationUrl({ client_id: NATIVE.clientId, redirect_uri: 'https://127.0.0.1/callback' })
  expect((await send(test.server, { url })).status).toBe(400)
  expect(test.events).toMatchObject([{ type: 'refused', endpoint: 'authorization', reason: 'redirect_uri_mismatch' }])
  const { server } = test
  const { clientId } = NATIVE
  const redirectUri = 'https://127.0.0.1/callback'
  // #region explain
  const fault = await server.applications.explainRedirect(clientId, redirectUri)
  console.log(fault?.message)
  // #endregion explain
  expect(fault?.message).toEqual(expect.any(String))
})
