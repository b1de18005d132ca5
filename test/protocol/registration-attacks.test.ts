/**
 * Attacks on the registration by clients, and on clients whose identifier is the URL of their metadata: by strangers, by clients, by
 * pages of other origins, and by documents that change.
 * @module
 * @see RFC 7591, section 5; RFC 9700, sections 4.4 and 4.14; draft-ietf-oauth-client-id-metadata-document, section 6
 */
import { createHash } from 'node:crypto'
import type { AuthorizationServerOptions, ClientVerdict, HttpRequest, HttpResponse, RecordStore } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { afterEach, describe, expect, it } from 'vitest'
import { WAITING_LIFETIME } from '../../src/core/application/self-registered/life.js'
import type { Attempts } from '../../src/core/rate-limit.js'
import { attempt } from '../../src/core/rate-limit.js'
import { REGISTRATION_LIMIT } from '../../src/endpoints/limits/registration-limiter.js'
import { RECORD_VERSION } from '../../src/shell/records/record-version.js'
import type { TestServer } from '../support.js'
import {
  authorizationUrl,
  call,
  exchange,
  guard,
  ISSUER,
  laterServer,
  openConsent,
  post,
  refresh,
  registration,
  requestOf,
  START,
  send,
  testServer,
  token,
  VERIFIER,
  works,
} from '../support.js'
import { AUDIENCES, CI, MCP } from './audience.js'
import { CALLBACK, CLIENT_URL, documentOf, documentServer, openFor } from './client-documents.js'
import { askForCodes, codesOf, decide, enterCode, poll } from './device-form.js'
import type { RegisteredClient } from './registration.js'
import { askOwn, askToRegister, NATIVE_CLIENT, openServer, parametersOf, register, tokensOf } from './registration.js'
import { introspect } from './resource-server.js'

const HOUR = 3600
const DAY = 86_400
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
const SCOPES = [
  { scope: 'repo-code:rw', reason: 'It writes' },
  { scope: 'account-profile:r', reason: 'It greets' },
]
const THIEF = 'https://thief.example/callback'
const CONFIDENTIAL = {
  ...NATIVE_CLIENT,
  token_endpoint_auth_method: 'client_secret_basic',
  redirect_uris: ['https://tool.example/callback'],
} as const

/** Sends a registration from an address, as the platform tells it; to the server itself, since each transport has its own address. */
async function registerFrom(
  { server }: Pick<TestServer, 'server'>,
  remoteAddress: string | undefined,
  metadata: unknown = NATIVE_CLIENT,
): Promise<HttpResponse> {
  const request: HttpRequest = requestOf({
    method: 'POST',
    url: '/oauth2/register',
    headers: { 'content-type': 'application/json' },
    body: { type: 'text', text: JSON.stringify(metadata) },
    ...(remoteAddress !== undefined && { remoteAddress }),
  })
  const answer = await server.handle(request)
  if (typeof answer?.body !== 'string') throw new Error('no answer in text')
  return { ...answer, body: answer.body }
}

/** A store that counts its operations, and notes every value that is written. */
function countedStore(clock: { now: number }) {
  const inner = memoryStore({ clock: () => clock.now })
  const counts = { reads: 0, writes: 0 }
  const written: unknown[] = []
  const store: RecordStore = {
    read: (keys) => {
      counts.reads++
      return inner.read(keys)
    },
    write: (key, value, options) => {
      counts.writes++
      written.push(value)
      return inner.write(key, value, options)
    },
    list: (label, page) => inner.list(label, page),
  }
  return { store, inner, counts, written }
}

/** A server whose policy approves everybody, over a store that counts. */
async function countedServer(options: Partial<AuthorizationServerOptions> = {}) {
  const clock = { now: START }
  const { store, inner, counts, written } = countedStore(clock)
  const test = await openServer({ store, clock: () => clock.now, ...options })
  counts.reads = 0
  counts.writes = 0
  written.length = 0
  return { ...test, clock, inner, counts, written }
}

/** An address of its own for each number. */
function addressOf(number: number): string {
  return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`
}

/** How many answers have each status. */
function tally(answers: readonly HttpResponse[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('a flood of registrations', () => {
  it('from one address leaves twenty clients at once, and a refused request writes nothing', async () => {
    const test = await countedServer()
    const before = test.inner.size
    const answers = []
    for (let i = 0; i < 20; i++) answers.push(await registerFrom(test, '192.0.2.1'))
    const held = test.inner.size
    const { reads, writes } = test.counts
    for (let i = 0; i < 2000; i++) answers.push(await registerFrom(test, '192.0.2.1'))
    expect(tally(answers)).toEqual({ 201: 20, 429: 2000 })
    expect(answers.at(-1)?.headers['Retry-After']).toBe('180')
    // The clients, the count of their address, and that of all.
    expect([held - before, test.inner.size]).toEqual([22, held])
    expect(test.counts.writes).toBe(writes)
    expect(test.counts.reads - reads).toBeLessThanOrEqual(2 * 2000)
    // Another address is not in the way of it.
    expect((await registerFrom(test, '192.0.2.2')).status).toBe(201)
  })

  it('from thousands of addresses leaves a thousand clients at once, and a refused request writes nothing', async () => {
    const test = await countedServer()
    const answers = []
    for (let i = 0; i < 1000; i++) answers.push(await registerFrom(test, addressOf(i)))
    const held = test.inner.size
    const { writes } = test.counts
    for (let i = 1000; i < 4000; i++) answers.push(await registerFrom(test, addressOf(i)))
    expect(tally(answers)).toEqual({ 201: 1000, 429: 3000 })
    expect([test.inner.size, test.counts.writes]).toEqual([held, writes])
    // All of it is gone after the week in which nobody used it.
    test.clock.now += 7 * DAY
    expect((await test.server.applications.list({ state: 'approved' })).applications).toHaveLength(3)
  })

  it('counts the networks of IPv6 subscribers, not their addresses', async () => {
    const test = await countedServer()
    const answers = []
    for (let i = 0; i < 50; i++) answers.push(await registerFrom(test, `2001:db8:1:2::${i.toString(16)}`))
    expect(tally(answers)).toEqual({ 201: 20, 429: 30 })
  })

  it('without an address is within the limit of all', async () => {
    const test = await countedServer()
    const answers = []
    for (let i = 0; i < 1100; i++) answers.push(await registerFrom(test, undefined))
    expect(tally(answers)).toEqual({ 201: 1000, 429: 100 })
  })

  it('of all addresses for thirty days leaves 90,000 clients that wait at most, since then the first ones are gone', () => {
    let attempts: Attempts | undefined
    const endings: number[] = []
    let most = 0
    let gone = 0
    for (let now = START; now < START + 45 * DAY; now += 10) {
      for (;;) {
        const outcome = attempt(attempts, now, REGISTRATION_LIMIT)
        if (outcome.type === 'limited') break
        attempts = outcome.attempts
        endings.push(now + WAITING_LIFETIME)
      }
      while ((endings[gone] ?? Number.POSITIVE_INFINITY) <= now) gone++
      most = Math.max(most, endings.length - gone)
    }
    expect(most).toBeLessThanOrEqual(90_000)
    expect(most).toBeGreaterThan(87_000)
  })

  it('of requests that are wrong, or that the policy refuses, leaves no client, and the wrong ones cost the store nothing', async () => {
    const wrong = await countedServer()
    for (let i = 0; i < 500; i++) await registerFrom(wrong, '192.0.2.1', { redirect_uris: [THIEF, 'http://a.example'] })
    expect(wrong.counts).toEqual({ reads: 0, writes: 0 })
    const refused = await countedServer({ clientPolicy: () => 'refuse' })
    const before = refused.inner.size
    for (let i = 0; i < 500; i++) await registerFrom(refused, '192.0.2.1')
    expect(refused.inner.size - before).toBe(2)
  })

  it('asks the policy of the host no oftener than the limit lets it', async () => {
    let asked = 0
    const clientPolicy = (): ClientVerdict => {
      asked++
      return 'refuse'
    }
    const test = await countedServer({ clientPolicy })
    for (let i = 0; i < 500; i++) await registerFrom(test, '192.0.2.1')
    expect(asked).toBe(20)
  })

  it('is counted by the host where it has a limiter, which sees the address, and must give a number', async () => {
    const seen: unknown[] = []
    const limited = await countedServer({
      registrationLimiter: (attempt) => {
        seen.push(attempt)
        return seen.length > 2 ? 7.5 : 0
      },
    })
    const answers = []
    for (let i = 0; i < 4; i++) answers.push(await registerFrom(limited, '192.0.2.1'))
    expect(tally(answers)).toEqual({ 201: 2, 429: 2 })
    expect(answers.at(-1)?.headers['Retry-After']).toBe('8')
    expect(seen[0]).toStrictEqual({ address: '192.0.2.1' })
    for (const answer of [undefined, Number.NaN, -1, '0', null]) {
      const broken = await countedServer({ registrationLimiter: () => answer as number }) // on purpose
      expect((await registerFrom(broken, '192.0.2.1')).status).toBe(500)
      expect(broken.errors).toMatchObject([{ code: 'ERR_CONFIGURATION' }])
    }
  })

  it('is not in the way of a client by its document that users know already', async () => {
    const test = await documentServer()
    await openFor(test)
    test.clock.now += HOUR
    for (let i = 0; i < 1000; i++) await registerFrom(test, addressOf(i))
    expect((await registerFrom(test, addressOf(1001))).status).toBe(429)
    expect((await openFor(test)).status).toBe(200)
  })

  it('of documents that cannot be read any more is limited for each address, and makes no more calls', async () => {
    const test = await documentServer({ remoteAddress: () => '192.0.2.1' })
    await openFor(test)
    test.clock.now += DAY
    test.documents.clear()
    const answers = []
    for (let i = 0; i < 150; i++) answers.push(await openFor(test))
    expect(tally(answers)).toEqual({ 400: 100, 429: 50 })
    expect(test.fetched).toHaveLength(101)
  })

  it('of URLs that are no documents is limited as registrations are, and leaves nothing', async () => {
    const test = await documentServer({ remoteAddress: () => '192.0.2.1' })
    const answers = []
    for (let i = 0; i < 50; i++) answers.push(await openFor(test, `https://victim.example/${i}`))
    expect(tally(answers)).toEqual({ 400: 20, 429: 30 })
    expect(test.fetched).toHaveLength(20)
    expect((await test.server.applications.list({ state: 'approved' })).applications).toHaveLength(3)
  })

  it('at the same moment is counted like one after the other', async () => {
    const test = await laterServer({ clientPolicy: () => 'approve', remoteAddress: () => '192.0.2.1' })
    const answers = await Promise.all(Array.from({ length: 60 }, () => askToRegister(test, NATIVE_CLIENT)))
    expect(tally(answers)[201] ?? 0).toBeLessThanOrEqual(20)
    expect((await test.server.applications.list({ state: 'approved' })).applications.length).toBeLessThanOrEqual(23)
  })

  it('does not get through while its limit cannot be read', async () => {
    const clock = { now: START }
    const { store } = countedStore(clock)
    let isDown = false
    const read: RecordStore['read'] = (keys) => {
      if (isDown) throw new Error('down')
      return store.read(keys)
    }
    const test = await openServer({ store: { ...store, read }, clock: () => clock.now })
    isDown = true
    expect((await registerFrom(test, '192.0.2.1')).status).toBe(503)
  })

  it('leaves no record that is larger than some pages of text', async () => {
    const test = await countedServer()
    const long = 'https://a.example/'.padEnd(2000, 'x')
    const answer = await askToRegister(test, {
      ...NATIVE_CLIENT,
      redirect_uris: Array.from({ length: 32 }, () => long),
    })
    expect([answer.status, JSON.parse(answer.body as string).error]).toEqual([400, 'invalid_redirect_uri'])
    const most = Array.from({ length: 64 }, (_, i) => `https://a.example/${i}/`.padEnd(128, 'x'))
    const marks = 'e\u0301'.repeat(15)
    await register(test, {
      redirect_uris: most,
      client_name: marks.repeat(3),
      client_uri: 'https://a.example/'.padEnd(128, 'x'),
    })
    for (const value of test.written) expect(JSON.stringify(value).length).toBeLessThan(16_384)
  })
})

describe('a page of another origin', () => {
  const PAGE = 'https://tool.example'
  const headers = { origin: PAGE }
  const readable = (answer: HttpResponse) => answer.headers['Access-Control-Allow-Origin']

  it('reads the answer to its own registration, and a foreign one reads none', async () => {
    const test = await openServer()
    expect(readable(await askToRegister(test, CONFIDENTIAL, headers))).toBe(PAGE)
    for (const origin of ['https://thief.example', 'https://tool.example.thief.example', 'http://tool.example', 'null'])
      expect(readable(await askToRegister(test, CONFIDENTIAL, { origin })), origin).toBeUndefined()
  })

  it('reads and deletes the registration of its own client, and a foreign one reads no answer, with the right token or none', async () => {
    const test = await openServer()
    const made = await register(test, CONFIDENTIAL)
    const ask = (method: string, origin: string, accessToken: string) =>
      send(test.server, {
        method,
        url: `/oauth2/register?client_id=${made.client_id}`,
        headers: { origin, authorization: `Bearer ${accessToken}` },
      })
    for (const accessToken of [made.registration_access_token, 'gwm_wrong'])
      expect(readable(await ask('GET', 'https://thief.example', accessToken))).toBeUndefined()
    expect(readable(await ask('GET', PAGE, made.registration_access_token))).toBe(PAGE)
    expect(readable(await ask('DELETE', PAGE, made.registration_access_token))).toBe(PAGE)
  })

  it('reads the registration of its own client that waits, and no other answer about that', async () => {
    const test = await openServer({ clientPolicy: () => 'review' })
    const made = await register(test, CONFIDENTIAL)
    const { pathname, search } = new URL(made.registration_client_uri)
    const authorization = `Bearer ${made.registration_access_token}`
    const asked = { url: pathname + search, headers: { ...headers, authorization } }
    expect(readable(await send(test.server, asked))).toBe(PAGE)
    const client = { client_id: made.client_id, client_secret: made.client_secret ?? '' }
    const form = { grant_type: 'authorization_code', code: 'none', ...client }
    expect(readable(await post(test.server, '/oauth2/token', form, headers))).toBeUndefined()
  })

  it('may ask with the methods of the endpoint, and never with cookies', async () => {
    const test = await openServer()
    for (const method of ['POST', 'GET', 'DELETE']) {
      const preflight = await send(test.server, {
        method: 'OPTIONS',
        url: '/oauth2/register',
        headers: { origin: 'https://anybody.example', 'access-control-request-method': method },
      })
      expect([preflight.status, preflight.headers['Access-Control-Allow-Methods']]).toEqual([204, 'GET, POST, DELETE'])
      expect(preflight.headers).not.toHaveProperty('Access-Control-Allow-Credentials')
    }
    const answers = [await askToRegister(test, CONFIDENTIAL, headers), await askToRegister(test, '{', headers)]
    for (const answer of answers) {
      expect(answer.headers).not.toHaveProperty('Access-Control-Allow-Credentials')
      expect(answer.headers).not.toHaveProperty('Set-Cookie')
    }
  })

  it('reads nothing where the host switched CORS off', async () => {
    const test = await openServer({ corsOrigins: false })
    expect(readable(await askToRegister(test, CONFIDENTIAL, headers))).toBeUndefined()
  })
})

describe('requests that meet', () => {
  it('register two clients, each with secrets of its own', async () => {
    const test = await laterServer({ clientPolicy: () => 'approve' })
    const made = await Promise.all([1, 2, 3, 4].map(() => register(test, CONFIDENTIAL)))
    for (const member of ['client_id', 'client_secret', 'registration_access_token'])
      expect(new Set(made.map((each) => each[member])).size).toBe(4)
    for (const each of made) expect((await askOwn(test, 'GET', each)).status).toBe(200)
  })

  it('delete a client while it refreshes and bring nothing back', async () => {
    for (let turn = 0; turn < 20; turn++) {
      const test = await laterServer({ clientPolicy: () => 'approve', refreshTokenLifetime: 30 * DAY })
      const made = await register(test)
      const clientId = made.client_id
      const pair = await tokensOf(test, clientId)
      // So that the refresh keeps the client for longer, too.
      test.clock.now += 8 * DAY
      const remove = async () => {
        for (let waited = 0; waited < turn; waited++) await Promise.resolve()
        return askOwn(test, 'DELETE', made)
      }
      const [refreshed, removed] = await Promise.all([refresh(test, pair.refresh_token, {}, { clientId }), remove()])
      expect(removed.status).toBe(204)
      expect(await test.server.applications.get(clientId)).toBeUndefined()
      expect(await works(test, refreshed.body.access_token ?? pair.access_token)).toBe(false)
      expect((await refresh(test, pair.refresh_token, {}, { clientId })).status).toBe(401)
    }
  })

  it('read one changed document with two decisions, and open no redirect URI but the one that was approved', async () => {
    for (const verdicts of [
      ['approve', 'refuse'],
      ['refuse', 'approve'],
      ['review', 'approve'],
      ['refuse', 'review'],
    ] as const) {
      const left: ClientVerdict[] = ['approve', ...verdicts]
      const test = await slowDocumentServer({ clientPolicy: () => left.shift() ?? 'refuse' })
      await openFor(test)
      test.clock.now += DAY
      test.documents.set(CLIENT_URL, documentOf({ redirect_uris: [CALLBACK, THIEF] }))
      const pages = await Promise.all([openFor(test, CLIENT_URL, THIEF), openFor(test, CLIENT_URL, THIEF)])
      const isApproved = verdicts.some((verdict) => verdict === 'approve')
      const possible = isApproved ? [200, 400] : [400]
      for (const { status } of pages) expect(possible).toContain(status)
      expect((await openFor(test)).status).toBe(200)
    }
  })

  it('read an old document beside a newer one, which stays taken away', async () => {
    const test = await slowDocumentServer()
    test.documents.set(CLIENT_URL, documentOf({ redirect_uris: [CALLBACK, THIEF] }))
    await openFor(test)
    test.clock.now += DAY
    const old = openFor(test, CLIENT_URL, THIEF)
    test.documents.set(CLIENT_URL, documentOf())
    await Promise.all([old, openFor(test)])
    test.clock.now += DAY
    expect((await openFor(test, CLIENT_URL, THIEF)).status).toBe(400)
  })

  it('read a document while an administrator suspends its client, which stays suspended', async () => {
    let test: Awaited<ReturnType<typeof documentServer>>
    const documents = [documentOf(), documentOf({ client_name: 'Somebody else' })]
    test = await documentServer({
      fetchClientMetadata: async (url) => {
        if (documents.length === 1) await test.server.applications.suspend(url)
        return documents.shift() ?? { type: 'none', reason: 'status' }
      },
    })
    await openFor(test)
    test.clock.now += DAY
    expect((await openFor(test)).status).toBe(503)
    expect(await test.server.applications.get(CLIENT_URL)).toMatchObject({ state: 'suspended', name: 'A tool' })
    expect((await openFor(test)).status).toBe(400)
  })
})

/** A server whose store and policy answer a moment later. */
async function slowDocumentServer(options: Partial<AuthorizationServerOptions> = {}) {
  const clock = { now: START }
  const inner = memoryStore({ clock: () => clock.now })
  const store: RecordStore = {
    read: async (keys) => inner.read(keys),
    write: async (...write) => inner.write(...write),
    list: async (...list) => inner.list(...list),
  }
  const test = await documentServer({ store, clock: () => clock.now, ...options })
  return { ...test, clock }
}

describe('a polluted prototype', () => {
  const names: string[] = []
  afterEach(() => {
    for (const name of names.splice(0)) Reflect.deleteProperty(Object.prototype, name)
  })
  function pollute(name: string, value: unknown): void {
    names.push(name)
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
  }
  const digest = (text: string) => createHash('sha256').update(text).digest('base64url')
  const TOKEN = `gwm_${'A'.repeat(43)}`
  const own = (id: string): RegisteredClient => ({
    client_id: id,
    registration_access_token: TOKEN,
    registration_client_uri: `${ISSUER}/oauth2/register?client_id=${encodeURIComponent(id)}`,
  })

  it('lets nobody read or delete a client that has no registration access token', async () => {
    const test = await documentServer()
    await openFor(test)
    for (const [name, value] of [
      ['selfRegistered', { accessToken: digest(TOKEN) }],
      ['accessToken', digest(TOKEN)],
    ] as const) {
      pollute(name, value)
      for (const id of ['web', CLIENT_URL])
        for (const method of ['GET', 'DELETE']) expect((await askOwn(test, method, own(id))).status, name).toBe(401)
      Reflect.deleteProperty(Object.prototype, name)
    }
    expect((await test.server.applications.list({ state: 'approved' })).applications).toHaveLength(4)
  })

  it('ends no client that administrators registered, or decided on', async () => {
    const test = await documentServer({ clientPolicy: () => 'review' })
    await openFor(test)
    for (const [name, value] of [
      ['selfRegistered', { keepUntil: START }],
      ['keepUntil', START],
    ] as const) {
      pollute(name, value)
      await test.server.applications.rotateSecret('web')
      if (name === 'selfRegistered') await test.server.applications.approve(CLIENT_URL, { revision: 1 })
      await test.server.applications.suspend(CLIENT_URL)
      await test.server.applications.reinstate(CLIENT_URL)
      Reflect.deleteProperty(Object.prototype, name)
      for (const id of ['web', CLIENT_URL]) expect(await test.server.applications.get(id), name).toBeDefined()
    }
  })

  it('gives no client that waited a secret that somebody else knows', async () => {
    const test = await testServer()
    const { id } = await test.server.applications.submit({ ...registration(), scopes: SCOPES }, { applicant: 'ada' })
    pollute('secrets', [{ digest: digest('a-secret-of-somebody-else') }])
    await test.server.applications.approve(id, { revision: 1 })
    const thief = { clientId: id, clientSecret: 'a-secret-of-somebody-else' }
    expect((await exchange(test, 'no code', {}, thief)).body.error).toBe('invalid_client')
  })

  it('adds nothing to a registration, to a document, or to a page', async () => {
    const test = await documentServer()
    for (const [name, value] of [
      ['client_name', 'Polluted'],
      ['redirect_uris', [THIEF]],
      ['scope', 'account-profile:r'],
      ['token_endpoint_auth_method', 'client_secret_post'],
      ['unchecked', false],
      ['host', 'thief.example'],
      ['document', { digest: 'x', until: START }],
      ['method', 'client_secret_post'],
      ['approve', ['account-profile:r']],
    ] as const) {
      pollute(name, value)
      const made = await register(test)
      expect(made, name).toMatchObject({
        client_name: 'A tool',
        redirect_uris: NATIVE_CLIENT.redirect_uris,
        token_endpoint_auth_method: 'none',
      })
      expect((await register(test, CONFIDENTIAL))['token_endpoint_auth_method'], name).toBe('client_secret_basic')
      const { page } = await openConsent(test, parametersOf(made.client_id, 'http://127.0.0.1:5000/callback'))
      expect(page.body).toContain('This application registered itself.')
      expect(page.body).not.toContain('thief.example')
      const without = await askToRegister(test, { client_name: 'A tool' })
      expect(without.status, name).toBe(400)
      expect((await openFor(test, CLIENT_URL, THIEF)).status, name).toBe(400)
      Reflect.deleteProperty(Object.prototype, name)
    }
    expect((await openConsent(test)).page.body).not.toContain('This application registered itself.')
  })
})

describe('odd JSON', () => {
  it('has no power by its names: __proto__, constructor and prototype are members like all others', async () => {
    const test = await openServer()
    const text = `{"__proto__":{"client_name":"Polluted","redirect_uris":["${THIEF}"]},"constructor":{"prototype":{"client_name":"x"}},`
    const made = await askToRegister(
      test,
      `${text}"token_endpoint_auth_method":"none","client_name":"A tool","redirect_uris":["${CALLBACK}"]}`,
    )
    expect(JSON.parse(made.body as string)).toMatchObject({ client_name: 'A tool', redirect_uris: [CALLBACK] })
    const without = await askToRegister(test, `${text}"token_endpoint_auth_method":"none"}`)
    expect([without.status, JSON.parse(without.body as string).error]).toEqual([400, 'invalid_redirect_uri'])
    expect(({} as Record<string, unknown>)['client_name']).toBeUndefined()
  })

  it('counts the last of two members of one name, in what is checked as in what is stored', async () => {
    const test = await openServer()
    const text = `{"token_endpoint_auth_method":"none","redirect_uris":["${CALLBACK}"],"redirect_uris":["http://a.example/"]}`
    expect((await askToRegister(test, text)).status).toBe(400)
  })

  it.each([
    ['deep nesting', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['deep nesting of redirect URIs', `{"redirect_uris":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['deep nesting that does not end', '{"a":'.repeat(10_000)],
    ['a number without end', `{"client_name":1e999,"redirect_uris":["${CALLBACK}"]}`],
    ['a number with many digits', `{"client_name":${'9'.repeat(60_000)},"redirect_uris":["${CALLBACK}"]}`],
    ['64 KB of redirect URIs', JSON.stringify({ redirect_uris: Array.from({ length: 16_000 }, () => 'a') })],
    ['many members', JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`m${i}`, i])))],
    ['a byte order mark', `\ufeff${JSON.stringify(NATIVE_CLIENT)}`],
  ])('is refused in no time: %s', async (_, text) => {
    const test = await countedServer()
    const begin = performance.now()
    expect((await askToRegister(test, text)).status).toBe(400)
    expect(performance.now() - begin).toBeLessThan(2000)
    expect([test.errors, test.counts.writes]).toEqual([[], 0])
  })

  it.each([
    ['a NUL in its name', { client_name: 'a\0b' }],
    ['half of a character in its name', { client_name: 'a\ud800b' }],
    ['the other half in its name', { client_name: '\udc00' }],
    ['nothing to see in its name', { client_name: '\u200b\u2800' }],
    ['a line end in its name', { client_name: 'a\nb' }],
    ['a NUL in its website', { client_uri: 'https://a.example/\0' }],
    ['half of a character in its website', { client_uri: 'https://a.example/\ud800' }],
    ['a NUL in a redirect URI', { redirect_uris: ['https://a.example/\0'] }],
    ['half of a character in a redirect URI', { redirect_uris: ['com.example.app:/\ud800'] }],
    ['a NUL in a redirect URI of an own scheme', { redirect_uris: ['com.example.app:/\0'] }],
    ['a NUL in a scope', { scope: 'repo-code:r\0' }],
    ['half of a character in a scope', { scope: '\ud800' }],
    ['a NUL in its way to authenticate', { token_endpoint_auth_method: 'none\0' }],
  ])('is refused with %s, and the answer repeats nothing of it', async (_, changes) => {
    const test = await openServer()
    const answer = await askToRegister(test, { ...NATIVE_CLIENT, ...changes })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatch(/^[\x20-\x7e]*$/)
  })

  it.each([
    '<script>alert(1)</script>',
    '"}, "x": "',
    '\r\nSet-Cookie: a=b',
    '%0d%0a',
    'https://thief.example/#secret',
  ])('does not come back in an error, an event or a header: %s', async (hostile) => {
    const test = await openServer()
    const members = ['client_name', 'client_uri', 'redirect_uris', 'scope', 'token_endpoint_auth_method']
    for (const member of [...members, 'grant_types', 'response_types'])
      for (const value of [`${hostile}\u202e`, [`${hostile}\u202e`], { [hostile]: hostile }]) {
        const answer = await askToRegister(test, { ...NATIVE_CLIENT, [member]: value })
        expect(`${member} ${answer.status}`).toMatch(/ 400$/)
        expect(JSON.stringify([answer.body, answer.headers])).not.toContain(JSON.stringify(hostile).slice(1, -1))
      }
    expect(JSON.stringify(test.events)).not.toContain(JSON.stringify(hostile).slice(1, -1))
    expect(test.errors).toEqual([])
  })

  it('that a framework has parsed is taken as the same text would be', async () => {
    const test = await openServer()
    const ask = (fields: unknown) =>
      send(test.server, {
        method: 'POST',
        url: '/oauth2/register',
        headers: { 'content-type': 'application/json' },
        body: { type: 'parsed', fields },
      })
    class Metadata {
      readonly redirect_uris = [CALLBACK]
      readonly token_endpoint_auth_method = 'none'
      get client_name(): string {
        return 'Inherited'
      }
    }
    const whole = await ask(new Metadata())
    // A getter of a class is inherited, and nothing inherited counts.
    expect(JSON.parse(whole.body as string)).toMatchObject({ client_name: 'tool.example', redirect_uris: [CALLBACK] })
    const inherited = Object.create({ ...NATIVE_CLIENT })
    for (const fields of [
      [],
      [NATIVE_CLIENT],
      null,
      undefined,
      'text',
      7,
      () => NATIVE_CLIENT,
      new Map(),
      new Date(0),
      inherited,
    ])
      expect((await ask(fields)).status).toBe(400)
    expect(test.errors).toEqual([])
  })

  it('in a name has the same letters however its content type is spelled', async () => {
    const test = await openServer()
    for (const type of ['application/json', 'Application/JSON', 'APPLICATION/JSON; charset=UTF-8']) {
      const answer = await askToRegister(
        test,
        { ...NATIVE_CLIENT, client_name: 'Größe 工具' },
        { 'content-type': type },
      )
      expect(JSON.parse(answer.body as string), type).toMatchObject({ client_name: 'Größe 工具' })
    }
  })
})

describe('a client that claims to be another', () => {
  it('gets an identifier of its own, whatever it asks for', async () => {
    const test = await openServer()
    const claims = {
      client_id: 'web',
      client_secret: 'a-secret-of-its-own-choice-000000000',
      registration_access_token: 'gwm_mine',
      client_id_issued_at: 1,
      id: 'web',
      clientId: 'web',
      selfRegistered: {},
      resourceServer: true,
      audience: MCP,
      applicant: 'ada',
      state: 'approved',
      tokenType: 'mac',
      logo: 'x',
    }
    const before = await test.server.applications.get('web')
    const made = await register(test, { ...CONFIDENTIAL, ...claims })
    expect(made.client_id).toMatch(/^[\w-]{22}$/)
    expect(made.client_secret).toMatch(/^gws_/)
    expect(await test.server.applications.get('web')).toStrictEqual(before)
    const record = await test.server.applications.get(made.client_id)
    for (const member of ['resourceServer', 'audience', 'applicant', 'tokenType'])
      expect(record).not.toHaveProperty(member)
    expect((await test.server.applications.list({ applicant: 'ada' })).applications).toEqual([])
  })

  it('may be the URL of a document at the key of another application: nothing of that is changed', async () => {
    const test = await documentServer()
    await openFor(test)
    // The key of an application is a part of a digest, so two identifiers can be found that have the same one.
    const { key, version, value } = await storedOf(test, CLIENT_URL)
    await test.store.write(key, { ...value, id: 'https://another.example/client.json' }, { expected: version })
    const before = (await test.store.read([key]))[0]?.value
    test.documents.set(CLIENT_URL, documentOf({ redirect_uris: [THIEF] }))
    test.clock.now += DAY
    expect((await openFor(test, CLIENT_URL, THIEF)).status).not.toBe(200)
    expect((await test.store.read([key]))[0]?.value).toStrictEqual(before)
  })

  it('may register at a URL later: the application of the administrators stands, and so does the client that was there', async () => {
    const test = await documentServer()
    await openFor(test)
    const taken = test.server.applications.register(registration({ type: 'public', redirectUris: [CALLBACK] }), {
      clientId: CLIENT_URL,
    })
    await expect(taken).rejects.toMatchObject({ code: 'ERR_CLIENT_EXISTS' })
    const late = await documentServer({
      fetchClientMetadata: async (url) => {
        const known = registration({ type: 'public', redirectUris: [CALLBACK] })
        await late.server.applications.register(known, { clientId: url })
        return documentOf({ redirect_uris: [THIEF] })
      },
    })
    expect((await openFor(late, CLIENT_URL, THIEF)).status).toBe(503)
    expect((await openFor(late, CLIENT_URL, THIEF)).status).toBe(400)
    expect((await openFor(late)).status).toBe(200)
  })
})

/** The stored record of an application. */
async function storedOf({ store }: Pick<TestServer, 'store'>, clientId: string) {
  const key = `application:${createHash('sha256').update(clientId).digest('base64url').slice(0, 16)}`
  const [record] = await store.read([key])
  if (record === undefined) throw new Error(`no record ${key}`)
  return { key, version: record.version, value: record.value as Record<string, never> }
}

describe('a registration access token', () => {
  it('works in every state, tells no secret and no digest, and deletes nothing that administrators stopped', async () => {
    let verdict: ClientVerdict = 'review'
    const test = await openServer({ clientPolicy: () => verdict })
    const { applications } = test.server
    const pending = await register(test, CONFIDENTIAL)
    const rejected = await register(test, CONFIDENTIAL)
    await applications.reject(rejected.client_id, { revision: 1, reason: 'Not here' })
    verdict = 'approve'
    const suspended = await register(test, CONFIDENTIAL)
    await applications.suspend(suspended.client_id)
    for (const made of [pending, rejected, suspended]) {
      const read = await askOwn(test, 'GET', made)
      expect(read.status).toBe(200)
      expect(read.body).not.toContain(made.client_secret)
      expect(read.body).not.toContain(
        createHash('sha256')
          .update(made.client_secret ?? '')
          .digest('base64url'),
      )
    }
    expect((await askOwn(test, 'DELETE', rejected)).status).toBe(403)
    expect((await askOwn(test, 'DELETE', suspended)).status).toBe(403)
    expect((await askOwn(test, 'DELETE', pending)).status).toBe(204)
    // It is none of the other credentials, and they are not it.
    const live = await register(test)
    const pair = await tokensOf(test, live.client_id)
    expect(await works(test, live.registration_access_token)).toBe(false)
    expect((await askOwn(test, 'DELETE', { ...live, registration_access_token: pair.access_token })).status).toBe(401)
    expect((await refresh(test, live.registration_access_token, {}, { clientId: live.client_id })).status).toBe(400)
  })

  it('is in no event, no error and no record, nor is the secret', async () => {
    const test = await countedServer()
    const made = await register(test, CONFIDENTIAL)
    await askOwn(test, 'GET', made)
    await askOwn(test, 'DELETE', { ...made, registration_client_uri: `${ISSUER}/oauth2/register?client_id=web` })
    await exchange(test, 'no code', {}, { clientId: made.client_id, clientSecret: made.client_secret ?? '' })
    const all = JSON.stringify([test.events, test.errors, test.written])
    for (const secret of [made.registration_access_token, made.client_secret ?? '']) expect(all).not.toContain(secret)
    expect(test.written.length).toBeGreaterThan(0)
    for (const value of test.written) expect(value).toMatchObject({ v: RECORD_VERSION })
  })

  it('is not taken from a query, a body, a cookie or another scheme', async () => {
    const test = await openServer()
    const { client_id: id, registration_access_token: accessToken } = await register(test)
    const url = `/oauth2/register?client_id=${id}`
    for (const request of [
      { url: `${url}&access_token=${accessToken}` },
      { url, headers: { cookie: `access_token=${accessToken}` } },
      { url, headers: { authorization: `Basic ${btoa(`${id}:${accessToken}`)}` } },
      { url, headers: { authorization: accessToken } },
      { url: `${url}&client_id=${id}`, headers: { authorization: `Bearer ${accessToken}` } },
    ])
      expect((await send(test.server, { method: 'GET', ...request })).status).toBe(401)
  })
})

describe('consent to a client that nobody reviewed', () => {
  /** Whether a user is asked again, after consent to the same. */
  async function isAskedAgain(test: TestServer, made: RegisteredClient): Promise<boolean> {
    const parameters = parametersOf(made.client_id, 'https://tool.example/callback')
    const { fields, headers } = await openConsent(test, parameters)
    await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    return (await send(test.server, { url: authorizationUrl(parameters) })).status === 200
  }

  it('counts once alone: it says of itself that it keeps a secret, so its user is asked each time', async () => {
    const test = await openServer({ consent: 'once' })
    const made = await register(test, CONFIDENTIAL)
    expect(await isAskedAgain(test, made)).toBe(true)
  })

  it('counts again once an administrator approved the client', async () => {
    const test = await openServer({ consent: 'once', clientPolicy: () => 'review' })
    const made = await register(test, CONFIDENTIAL)
    await test.server.applications.approve(made.client_id, { revision: 1 })
    expect(await isAskedAgain(test, made)).toBe(false)
  })

  it('cannot be had by a public client without PKCE, nor by any where the service requires it', async () => {
    const test = await openServer({ requirePkce: true })
    const [open, closed] = [await register(test), await register(test, CONFIDENTIAL)]
    for (const [{ client_id }, uri] of [
      [open, 'http://127.0.0.1:5000/callback'],
      [closed, 'https://tool.example/callback'],
    ] as const) {
      const parameters = {
        ...parametersOf(client_id, uri),
        code_challenge: undefined,
        code_challenge_method: undefined,
      }
      const answer = await send(test.server, { url: authorizationUrl(parameters) })
      expect(answer.headers['Location']).toContain('error=invalid_request')
    }
  })

  it('warns of it on the device page as well', async () => {
    const test = await openServer()
    const { client_id: clientId } = await register(test, { grant_types: [DEVICE_GRANT], redirect_uris: undefined })
    const codes = await codesOf(test, {}, { clientId })
    expect((await enterCode(test, codes.user_code)).page.body).toContain('This application registered itself.')
    // Without a redirect URI it has no way to the authorization endpoint.
    for (const redirect_uri of [undefined, 'https://tool.example/callback', ''])
      expect((await send(test.server, { url: authorizationUrl({ client_id: clientId, redirect_uri }) })).status).toBe(
        400,
      )
  })

  it('warns still where an administrator refused no more than a change of the client', async () => {
    let verdict: ClientVerdict = 'approve'
    const test = await documentServer({ clientPolicy: () => verdict })
    await openFor(test)
    verdict = 'review'
    test.documents.set(CLIENT_URL, documentOf({ client_name: 'Somebody else' }))
    test.clock.now += DAY
    await openFor(test)
    await test.server.applications.reject(CLIENT_URL, { revision: 2, reason: 'Not that name' })
    expect((await openFor(test)).body).toContain('This application registered itself.')
  })
})

describe('a document, after an administrator decided on its client', () => {
  /** A client that an administrator approved, for one scope alone; from then on the policy approves everybody. */
  async function approvedServer() {
    let verdict: ClientVerdict = 'review'
    const test = await documentServer({ clientPolicy: () => verdict })
    await openFor(test)
    await test.server.applications.approve(CLIENT_URL, { revision: 1, scopes: ['account-profile:r'] })
    verdict = 'approve'
    return test
  }

  it('gets no more scopes and no other name by the policy: the change waits for an administrator', async () => {
    const test = await approvedServer()
    test.documents.set(CLIENT_URL, documentOf({ client_name: 'The service itself', redirect_uris: [CALLBACK, THIEF] }))
    test.clock.now += DAY
    const page = await openFor(test)
    expect([page.status, page.body]).toEqual([200, expect.not.stringContaining('The service itself')])
    expect((await openFor(test, CLIENT_URL, THIEF)).status).toBe(400)
    expect(await test.server.applications.get(CLIENT_URL)).toMatchObject({
      scopes: ['account-profile:r'],
      review: { state: 'pending', details: { name: 'The service itself' } },
    })
    await test.server.applications.approve(CLIENT_URL, { revision: 2 })
    expect((await openFor(test, CLIENT_URL, THIEF)).status).toBe(200)
  })

  it('still loses a redirect URI at once that it takes away', async () => {
    const test = await approvedServer()
    test.documents.set(CLIENT_URL, documentOf({ redirect_uris: [THIEF] }))
    test.clock.now += DAY
    expect((await openFor(test)).status).toBe(400)
  })

  it('does not make a client public that an administrator made confidential', async () => {
    let verdict: ClientVerdict = 'review'
    const test = await documentServer({ clientPolicy: () => verdict })
    await openFor(test)
    const { applications } = test.server
    const { logo: _, ...details } = registration({ redirectUris: [CALLBACK] })
    await applications.change(CLIENT_URL, { ...details, scopes: SCOPES })
    const { clientSecret } = await applications.approve(CLIENT_URL, { revision: 2 })
    expect(clientSecret).toBeDefined()
    verdict = 'approve'
    test.documents.set(CLIENT_URL, documentOf({ client_name: 'Another name' }))
    test.clock.now += DAY
    await openFor(test)
    // Nothing waits that could be approved and make it public.
    const found = await applications.get(CLIENT_URL)
    expect([found?.state, found?.review]).toEqual(['approved', undefined])
    expect(found).toMatchObject({ type: 'confidential' })
  })
})

describe('an administrator who changes a client that registered itself', () => {
  const changed = (redirectUris: readonly string[]) => {
    const { logo: _, ...details } = registration({ type: 'public', redirectUris })
    return { ...details, scopes: SCOPES }
  }

  it('opens no other path of its hosts by that, unless the change names a domain', async () => {
    const test = await openServer()
    const uris = ['https://shared.example/tool/callback', 'https://other.example/callback']
    for (const redirectUris of [uris.slice(0, 1), uris]) {
      const { client_id: id } = await register(test, { redirect_uris: redirectUris })
      await test.server.applications.change(id, changed(redirectUris))
      await test.server.applications.approve(id, { revision: 2 })
      const open = async (uri: string) =>
        (await send(test.server, { url: authorizationUrl(parametersOf(id, uri)) })).status
      expect(await open('https://shared.example/tool/callback')).toBe(200)
      expect(await open('https://shared.example/thief/callback')).toBe(400)
    }
    const { client_id: id } = await register(test, { redirect_uris: uris.slice(0, 1) })
    await test.server.applications.change(id, { ...changed(uris.slice(0, 1)), authorizedDomain: 'shared.example' })
    await test.server.applications.approve(id, { revision: 2 })
    expect(
      (await send(test.server, { url: authorizationUrl(parametersOf(id, 'https://shared.example/x')) })).status,
    ).toBe(200)
  })

  it('leaves no secret with one that becomes public before it is approved', async () => {
    const test = await openServer({ clientPolicy: () => 'review' })
    const { client_id: id } = await register(test, CONFIDENTIAL)
    await test.server.applications.change(id, changed([CALLBACK]))
    await test.server.applications.approve(id, { revision: 2 })
    expect(await test.server.applications.get(id)).toMatchObject({ type: 'public', secrets: [] })
  })

  it('gives one that becomes confidential before it is approved its first secret', async () => {
    const test = await openServer({ clientPolicy: () => 'review' })
    const { client_id: id } = await register(test)
    await test.server.applications.change(id, { ...changed([CALLBACK]), type: 'confidential' })
    const { clientSecret = '' } = await test.server.applications.approve(id, { revision: 2 })
    expect((await exchange(test, 'no code', {}, { clientId: id, clientSecret })).body.error).toBe('invalid_grant')
  })
})

describe('the device flow of a client by its document', () => {
  const DEVICE = { grant_types: ['authorization_code', DEVICE_GRANT] }

  it('is read anew before its user is asked, so what it takes away is gone', async () => {
    for (const [document, isAsked] of [
      [documentOf(DEVICE), true],
      [documentOf(), false],
      [{ type: 'none', reason: 'status' }, false],
    ] as const) {
      const test = await documentServer()
      test.documents.set(CLIENT_URL, documentOf(DEVICE))
      await openFor(test)
      test.clock.now += DAY
      test.documents.set(CLIENT_URL, document)
      const codes = await codesOf(test, {}, { clientId: CLIENT_URL })
      const { page } = await enterCode(test, codes.user_code)
      expect((page.body as string).includes('tool.example')).toBe(isAsked)
      expect(test.fetched).toHaveLength(2)
    }
  })

  it('is nobody’s before a user was asked at the authorization endpoint: a device makes this server call nobody', async () => {
    const test = await documentServer()
    test.documents.set(CLIENT_URL, documentOf(DEVICE))
    expect((await askForCodes(test, {}, { clientId: CLIENT_URL })).status).toBe(401)
    expect(test.fetched).toEqual([])
  })

  it('keeps a client that registered itself for as long as the tokens of its devices', async () => {
    const test = await openServer({ refreshTokenLifetime: 30 * DAY })
    const { client_id: clientId } = await register(test, { grant_types: [DEVICE_GRANT], redirect_uris: undefined })
    const codes = await codesOf(test, {}, { clientId })
    expect((await decide(test, codes)).status).toBe(200)
    const { status, body } = await poll(test, codes, { clientId })
    expect(status).toBe(200)
    test.clock.now += 29 * DAY
    expect((await refresh(test, body.refresh_token, {}, { clientId })).status).toBe(200)
  })
})

describe('tokens of a client that registered itself', () => {
  it('work at the protected resource that they are for, and at no other: neither at its guard, nor by introspection', async () => {
    const test = await openServer({ audiences: AUDIENCES })
    const { applications } = test.server
    const { client_id: clientId } = await register(test)
    const parameters = { ...parametersOf(clientId, 'http://127.0.0.1:5000/callback'), resource: MCP }
    const { fields, headers } = await openConsent(test, parameters)
    const answer = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    const code = new URL(answer.headers['Location'] ?? 'none:').searchParams.get('code') ?? ''
    const form = { redirect_uri: 'http://127.0.0.1:5000/callback', code_verifier: VERIFIER }
    const pair = (await exchange(test, code, form, { clientId })).body
    const bearer = { headers: { authorization: `Bearer ${pair.access_token}` } }
    expect((await guard(test.server, bearer, { audience: MCP })).type).toBe('authenticated')
    expect((await guard(test.server, bearer, { audience: CI })).type).not.toBe('authenticated')
    const api = { name: 'An API', website: 'https://api.example', scopes: ['repo-code:rw', 'account-profile:r'] }
    const clients = [
      { clientId: 'mcp', clientSecret: 'a-secret-of-the-first-resource-server', audience: MCP },
      { clientId: 'ci', clientSecret: 'a-secret-of-the-second-resource-server', audience: CI },
    ]
    const active = []
    for (const { audience, ...client } of clients) {
      await applications.registerResourceServer({ ...api, audience }, client)
      active.push(JSON.parse((await introspect(test, pair.access_token, {}, client)).body as string).active)
    }
    expect(active).toEqual([true, false])
  })

  it('cannot be introspected by such a client: it never becomes a resource server', async () => {
    const test = await openServer()
    const thief = await register(test, { ...CONFIDENTIAL, resourceServer: true, resource_server: true, audience: MCP })
    const pair = await tokensOf(test, (await register(test)).client_id)
    const client = { clientId: thief.client_id, clientSecret: thief.client_secret ?? '' }
    const answer = await introspect(test, pair.access_token, {}, client)
    expect([answer.status, answer.body]).toEqual([403, expect.stringContaining('unauthorized_client')])
  })

  it('are bearer tokens alone, where a service has others', async () => {
    const test = await openServer({ macTokens: true, derivationKey: new Uint8Array(32).fill(7) })
    const made = await register(test, { tokenType: 'mac', token_type: 'mac' })
    const pair = await tokensOf(test, made.client_id)
    expect(pair.token_type.toLowerCase()).toBe('bearer')
    expect((await call(test, pair.access_token)).type).toBe('authenticated')
  })

  it('and its codes tell the two servers apart that it is registered at (RFC 9207)', async () => {
    const honest = await openServer()
    const evil = await openServer({ issuer: 'https://evil.example' })
    const answers = []
    for (const test of [honest, evil]) {
      const { client_id: clientId } = await register(test)
      const { fields, headers } = await openConsent(test, parametersOf(clientId, 'http://127.0.0.1:5000/callback'))
      const agreed = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
      const location = new URL(agreed.headers['Location'] ?? 'none:')
      answers.push({ clientId, code: location.searchParams.get('code') ?? '', iss: location.searchParams.get('iss') })
    }
    const [first, second] = answers
    expect([first?.iss, second?.iss]).toEqual([ISSUER, 'https://evil.example'])
    // A code that was mixed up is worth nothing at the other server, with either identifier.
    for (const clientId of [first?.clientId ?? '', second?.clientId ?? '']) {
      const form = { redirect_uri: 'http://127.0.0.1:5000/callback', code_verifier: VERIFIER }
      const mixed = await exchange(evil, first?.code ?? '', form, { clientId })
      expect(mixed.status).toBeGreaterThanOrEqual(400)
    }
  })
})

describe('a client that registers', () => {
  it('for a way to authenticate that the service does not take is told so', async () => {
    const test = await openServer({ allowClientSecretPost: false })
    const answer = await askToRegister(test, { ...CONFIDENTIAL, token_endpoint_auth_method: 'client_secret_post' })
    expect([answer.status, JSON.parse(answer.body as string)]).toEqual([
      400,
      {
        error: 'invalid_client_metadata',
        error_description: 'token_endpoint_auth_method must be client_secret_basic, none.',
      },
    ])
  })

  it('authenticates in the way that it registered for', async () => {
    const test = await openServer()
    const made = await register(test, { ...CONFIDENTIAL, token_endpoint_auth_method: 'client_secret_post' })
    const form = { grant_type: 'authorization_code', code: 'none', client_secret: made.client_secret ?? '' }
    expect((await token(test, form, { clientId: made.client_id })).body.error).toBe('invalid_grant')
  })
})
