/**
 * The time that a client with a wrong clock signs for: the guard's own, whatever stands between the two.
 * @module
 */
import * as fc from 'fast-check'
import { authorizedFetch, type TokenSource, type Tokens } from 'grantwell/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { MAC_OPTIONS, type MacTokens, macTokens, SIGNER, withSigner } from '../protocol/mac-client.js'
import { ISSUER, START, type TestServer, testServer } from '../support.js'

/** A request that the client sent. */
interface Sent {
  readonly ts: string
  readonly nonce: string
  readonly mac: string
}

/** Changes the headers of an answer, as an attacker between client and guard. */
type Meddling = (headers: Headers, sent: Sent) => void

let test: TestServer
let pair: MacTokens
/** Challenges that the guard gave to other requests of the same token, four hours later. */
let older: readonly string[]
/** One that it gave to a request of another token. */
let foreign: string

const HOURS = 14_400

/** A source of one pair, whose client has a clock of its own. */
function sourceOf({ access_token, mac_key }: MacTokens, clock: () => number): TokenSource & { refreshes: number } {
  const tokens: Tokens = {
    v: 1,
    issuer: ISSUER,
    clientId: SIGNER.clientId,
    issuedAt: START,
    accessToken: access_token,
    tokenType: 'mac',
    macKey: mac_key,
    macAlgorithm: 'hmac-sha-256',
  }
  const source = {
    issuer: ISSUER,
    refreshes: 0,
    get: async () => tokens,
    refresh: async () => {
      source.refreshes++
      return tokens
    },
    save: async () => expect.fail(),
    revoke: async () => expect.fail(),
  }
  return Object.assign(source, { [Symbol.for('grantwell.client.clock')]: clock })
}

/** Puts a client, somebody in between, and the guard in a row. */
function between(of: MacTokens, clock: () => number, meddle: Meddling = () => {}) {
  const sent: Sent[] = []
  const told: { readonly nonce: string; readonly ts: number }[] = []
  const challenges: string[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { pathname, search, host } = new URL(String(input))
    const authorization = new Headers(init?.headers).get('authorization') ?? ''
    const [, ts = '', nonce = '', mac = ''] = / ts="(.*?)", nonce="(.*?)", mac="(.*?)"/.exec(authorization) ?? []
    sent.push({ ts, nonce, mac })
    const request = { method: init?.method ?? 'GET', url: pathname + search, headers: { host, authorization } }
    const found = await test.server.authenticate(request)
    if (found.type === 'authenticated') return new Response('let in')
    const { status, headers, body } = found.response
    const challenge = headers['WWW-Authenticate'] ?? ''
    challenges.push(challenge)
    const [, time] = / ts="(\d+)"/.exec(challenge) ?? []
    if (time !== undefined) told.push({ nonce, ts: Number(time) })
    const changed = new Headers({ ...headers, Date: new Date(test.clock.now * 1000).toUTCString() })
    meddle(changed, { ts, nonce, mac })
    return new Response(body, { status, headers: changed })
  }
  const source = sourceOf(of, clock)
  return { sent, told, challenges, source, authorized: authorizedFetch(source, { fetch }) }
}

beforeAll(async () => {
  test = await withSigner(await testServer(MAC_OPTIONS))
  pair = await macTokens(test)
  const other = await macTokens(test)
  test.clock.now = START + HOURS
  const [own, others] = [between(pair, () => START), between(other, () => START)]
  for (let count = 0; count < 3; count++) await between(pair, () => START + count, undefined).authorized(`${ISSUER}/x`)
  await own.authorized(`${ISSUER}/x`)
  await others.authorized(`${ISSUER}/x`)
  older = own.challenges
  foreign = others.challenges[0] ?? expect.fail()
  expect(older[0]).toMatch(/ ts="\d+", tsm="/)
  test.clock.now = START
})

/** Checks that each request was signed for the time of the client's clock, or for the time that the guard told before. */
function expectOwnTimes({ sent, told }: Pick<ReturnType<typeof between>, 'sent' | 'told'>, clock: number): void {
  for (const [index, { ts }] of sent.entries()) {
    const before = sent[index - 1]
    const allowed = [clock, ...told.filter(({ nonce }) => nonce === before?.nonce).map((each) => each.ts)]
    expect(allowed.some((each) => Number(ts) - each >= 0 && Number(ts) - each < 60)).toBe(true)
  }
}

describe('a client whose clock is wrong', () => {
  it.each([301, -301, HOURS, -HOURS, -(START - 10), 400 * 86_400])(
    'by %i seconds gets through after one more request, and with the next ones at once',
    async (wrong) => {
      const { sent, told, source, authorized } = between(pair, () => START + wrong)
      expect(await (await authorized(`${ISSUER}/repos/1?a=b`)).text()).toBe('let in')
      expect(sent).toHaveLength(2)
      expect(told).toEqual([{ nonce: sent[0]?.nonce, ts: START }])
      expect(await (await authorized(`${ISSUER}/repos/2`, { method: 'PUT', body: 'text' })).text()).toBe('let in')
      expect([sent.length, source.refreshes]).toEqual([3, 0])
    },
  )

  it('goes on from the time that it was told by a stopwatch: setting its clock later changes nothing', async () => {
    let clock = START - HOURS
    const { sent, authorized } = between(pair, () => clock)
    await authorized(`${ISSUER}/repos/1`)
    // Set right meanwhile: by the difference that was seen before, this would be four hours ahead.
    clock = START
    expect(await (await authorized(`${ISSUER}/repos/1`)).text()).toBe('let in')
    expect(sent).toHaveLength(3)
    expect(Number(sent[2]?.ts) - START).toBeLessThan(60)
  })

  it('is not corrected where it is right: a 401 says nothing of the time then', async () => {
    const { sent, authorized, source } = between({ ...pair, mac_key: 'x' }, () => START)
    expect((await authorized(`${ISSUER}/repos/1`)).status).toBe(401)
    expect(source.refreshes).toBe(1)
    for (const { ts } of sent) expect(ts).toBe(String(START))
  })
})

const ahead = (seconds: number): string => new Date((START + seconds) * 1000).toUTCString()

/** Writes a challenge anew. */
const rewrite = (headers: Headers, change: (challenge: string) => string): void =>
  headers.set('WWW-Authenticate', change(headers.get('WWW-Authenticate') ?? ''))

const MEDDLING: readonly (readonly [string, Meddling])[] = [
  ['tells another Date', (headers) => headers.set('Date', ahead(HOURS))],
  [
    'tells another Date, and takes the time away',
    (headers) => {
      headers.set('Date', ahead(HOURS))
      rewrite(headers, (text) => text.replace(/, ts=.*/, ''))
    },
  ],
  ['takes the challenge away', (headers) => headers.delete('WWW-Authenticate')],
  ['tells another time', (headers) => rewrite(headers, (text) => text.replace(/ts="\d+"/, `ts="${START + HOURS}"`))],
  [
    'tells another time first',
    (headers) => rewrite(headers, (text) => text.replace('MAC ', `MAC ts="${START + HOURS}", `)),
  ],
  ['tells another time behind', (headers) => rewrite(headers, (text) => `${text}, ts="${START + HOURS}"`)],
  [
    'tells another time in a second header',
    (headers) => headers.append('WWW-Authenticate', `MAC ts="${START + HOURS}"`),
  ],
  ['replays a challenge to another request', (headers) => rewrite(headers, () => older[0] ?? '')],
  ['puts one in front', (headers) => rewrite(headers, (text) => `${older[0]}, ${text}`)],
  ['puts one behind', (headers) => rewrite(headers, (text) => `${text}, ${older[0]}`)],
  ['replays one to another token', (headers) => rewrite(headers, () => foreign)],
  [
    'mixes two challenges',
    (headers) => rewrite(headers, (text) => text.replace(/tsm=.*/, / tsm=.*/.exec(older[0] ?? '')?.[0].trim() ?? '')),
  ],
  [
    'gives the signature of the request for that of the time',
    (headers, { mac, ts }) => rewrite(headers, () => `MAC realm="oauth2", ts="${ts}", tsm="${mac}"`),
  ],
  ['cuts the signature', (headers) => rewrite(headers, (text) => text.slice(0, -8))],
  ['empties the signature', (headers) => rewrite(headers, (text) => text.replace(/tsm=".*"/, 'tsm=""'))],
  ['tells a time that is none', (headers) => rewrite(headers, (text) => text.replace(/ts="\d+"/, 'ts="1e99"'))],
]

describe('somebody between client and guard', () => {
  for (const [which, clock] of [
    ['right', START],
    ['behind', START - HOURS],
    ['ahead', START + HOURS],
  ] as const)
    it.each(MEDDLING)(`who %s gets no request for another time, where the clock is ${which}`, async (_, meddle) => {
      const row = between(pair, () => clock, meddle)
      await row.authorized(`${ISSUER}/repos/1`)
      await row.authorized(`${ISSUER}/repos/1`)
      const wanted = clock === START ? [START] : [START, clock]
      for (const { ts } of row.sent)
        expect(wanted.some((each) => Number(ts) - each >= 0 && Number(ts) - each < 60)).toBe(true)
    })

  it('gets a request for no time that the guard did not tell for the one before, whatever becomes of the answer', async () => {
    const time = fc.oneof(
      fc.constantFrom(START + HOURS, START, START - HOURS, 1),
      fc.integer({ min: 1, max: 999_999_999_999 }),
    )
    const attribute = fc.oneof(
      time.map((each) => `ts="${each}"`),
      fc.constant('<ts>'),
      fc.constant('<tsm>'),
      fc.constant('<mac>'),
      fc.constant('<older ts>'),
      fc.constant('<older tsm>'),
      fc.constant('<foreign tsm>'),
      fc.constant('realm="oauth2"'),
      fc.constant('MAC'),
      fc.constant('Bearer'),
      fc.string({ maxLength: 5, unit: fc.constantFrom('t', 's', 'm', '=', '"', ',', ' ', '1', '\\') }),
    )
    const changed = fc
      .tuple(fc.array(attribute, { maxLength: 7 }), fc.constantFrom(', ', ',', ' '))
      .map(([list, by]) => list.join(by))
    // Every other challenge tells the guard's own time: by chance alone, too few would to count on.
    const challenge = fc.option(fc.oneof(changed, fc.constantFrom('MAC <ts>, <tsm>', 'MAC <tsm>,<ts>')), {
      nil: undefined,
    })
    const date = fc.option(time, { nil: undefined })
    const clock = fc.oneof(
      fc.constant(START),
      fc.constantFrom(START - HOURS, START + HOURS),
      fc.integer({ min: 1, max: 2 * START }),
    )
    let corrected = 0
    await fc.assert(
      fc.asyncProperty(challenge, date, clock, async (text, told, own) => {
        const row = between(
          pair,
          () => own,
          (headers, { mac }) => {
            if (told !== undefined) headers.set('Date', new Date(Math.min(told, 8e12) * 1000).toUTCString())
            if (text === undefined) return
            const part = (from: string, name: string): string =>
              new RegExp(`(?<![a-z])${name}="[^"]*"`).exec(from)?.[0] ?? `${name}=""`
            const given = headers.get('WWW-Authenticate') ?? ''
            const sent = text
              .replaceAll('<ts>', part(given, 'ts'))
              .replaceAll('<tsm>', part(given, 'tsm'))
              .replaceAll('<mac>', `tsm="${mac}"`)
              .replaceAll('<older ts>', part(older[0] ?? '', 'ts'))
              .replaceAll('<older tsm>', part(older[0] ?? '', 'tsm'))
              .replaceAll('<foreign tsm>', part(foreign, 'tsm'))
            headers.set('WWW-Authenticate', sent)
          },
        )
        await row.authorized(`${ISSUER}/repos/1`)
        expectOwnTimes(row, own)
        if (row.sent.some(({ ts }) => Math.abs(Number(ts) - own) > 300)) corrected++
      }),
      { numRuns: 250 },
    )
    expect(corrected).toBeGreaterThan(20)
  })
})
