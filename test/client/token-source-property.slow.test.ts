/**
 * Token sources under whatever happens: any interleaving of callers, logins, revocations, answers that get lost and time that
 * passes, over a real service in this process and a clock that the test sets.
 * @module
 */
import fc from 'fast-check'
import { discover, type TokenStore, type Tokens } from 'grantwell/client'
import { createFetchHandler } from 'grantwell/fetch'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { tokensOf } from '../../src/client/token-endpoint.js'
import { memoryTokenStore } from '../../src/client/tokens/memory-token-store.js'
import { createTokenSource, type TokenSource } from '../../src/client/tokens/token-source.js'
import { ISSUER, revoke, testServer, tokens as tokensOfWeb, WEB } from '../support.js'

const LIFE = 600
/** Seconds for which a service answers with the same pair, and the old tokens work (specification, section 3). */
const GRACE = 300
const RETRY_FOR = 30

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Behaviours of the service: normal; the answer is lost; no answer; busy. */
type Weather = 'fine' | 'lost' | 'broken' | 'busy'

type Step =
  | { readonly type: 'get' | 'refresh' | 'logout'; readonly source: number }
  | { readonly type: 'login'; readonly source: number }
  | { readonly type: 'revoke' | 'settle' }
  | { readonly type: 'weather'; readonly weather: Weather }
  | { readonly type: 'pass'; readonly seconds: number }

function steps(sources: number): fc.Arbitrary<Step[]> {
  const source = fc.nat(sources - 1)
  const weather = fc.constantFrom<Weather>('fine', 'fine', 'lost', 'broken', 'busy')
  const seconds = fc.oneof(fc.constantFrom(LIFE - 60, LIFE - 1, LIFE), fc.integer({ min: 1, max: 45 }))
  // Of several sources one may not know for some time what another was told of a refused token: that is for APIs to say.
  const refusal: fc.Arbitrary<Step>[] = sources === 1 ? [fc.record({ type: fc.constant('refresh'), source })] : []
  const rare = fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ type: fc.constantFrom('login', 'logout'), source }),
    fc.record({ type: fc.constant('revoke') }),
  )
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant('get'), source }) as fc.Arbitrary<Step> },
    { weight: 4, arbitrary: fc.record({ type: fc.constant('pass'), seconds }) as fc.Arbitrary<Step> },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('weather'), weather }) as fc.Arbitrary<Step> },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('settle') }) as fc.Arbitrary<Step> },
    ...refusal.map((arbitrary) => ({ weight: 3, arbitrary })),
    { weight: 1, arbitrary: rare },
  )
  return fc.array(step, { minLength: 5, maxLength: 40 })
}

/** Facts about a pair, by any of its tokens. */
interface Pair {
  readonly grant: number
  readonly generation: number
  /** When the service first gave its successor. */
  supersededAt?: number
  /** True if the client has got the successor. */
  isDelivered: boolean
}

/** Everything that is left to do now is done. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 60; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Runs the steps. @returns what must not have happened */
async function run(sourceCount: number, steps: readonly Step[]): Promise<readonly string[]> {
  const test = await testServer({ accessTokenLifetime: LIFE })
  const { clock } = test
  const handle = createFetchHandler(test.server)
  const faults: string[] = []
  const pairs = new Map<string, Pair>()
  let weather: Weather = 'fine'
  let underWay = 0
  let grants = 0
  /** Number of requests without an answer. */
  let unanswered = 0
  let replays = 0
  /** True if the grant has ended since the last login. */
  let hasEnded = true

  const know = (access: string, refresh: string, pair: Pair): void => {
    pairs.set(access, pair)
    pairs.set(refresh, pair)
  }
  const service: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    if (!request.url.endsWith('/oauth2/token')) return (await handle(request)) ?? expect.fail(request.url)
    const presented = pairs.get(new URLSearchParams(await request.clone().text()).get('refresh_token') ?? '')
    if (++underWay > 1) faults.push('two refreshes at once')
    const today = weather
    try {
      await new Promise((resolve) => setImmediate(resolve))
      if (today !== 'fine') unanswered++
      if (today === 'broken') throw new TypeError('broken')
      if (today === 'busy') return new Response('', { status: 503, headers: { 'Retry-After': '1' } })
      const answer = (await handle(request)) ?? expect.fail('not the path of the token endpoint')
      if (answer.status === 200 && presented !== undefined) {
        const { access_token: access, refresh_token: refresh } = JSON.parse(await answer.clone().text())
        const { grant, generation } = presented
        presented.supersededAt ??= clock.now
        if (!pairs.has(access)) know(access, refresh, { grant, generation: generation + 1, isDelivered: false })
        if (today === 'fine') presented.isDelivered = true
      }
      await new Promise((resolve) => setImmediate(resolve))
      if (today === 'lost') throw new TypeError('lost')
      return answer
    } finally {
      underWay--
    }
  }

  const client = await discover({ issuer: ISSUER, ...WEB, fetch: service, clock: () => clock.now })
  const inner = memoryTokenStore()
  const store: TokenStore = {
    ...inner,
    // A file takes its time.
    read: () => new Promise((resolve) => setImmediate(() => resolve(inner.read()))),
    write: async (tokens) => {
      await new Promise((resolve) => setImmediate(resolve))
      await inner.write(tokens)
    },
  }
  const sources = Array.from({ length: sourceCount }, () =>
    createTokenSource({ client, store, retryFor: RETRY_FOR, onError: (error) => faults.push(error.message) }),
  )
  const sourceAt = (index: number): TokenSource => sources[index] ?? expect.fail('no such source')
  const given: (Tokens | undefined)[] = []
  const calls: Promise<void>[] = []

  async function login(index: number): Promise<void> {
    const answer = await tokensOfWeb(test)
    const pair = { grant: grants++, generation: 0, isDelivered: false }
    know(answer.access_token, answer.refresh_token, pair)
    await sourceAt(index).save(tokensOf(client, { ...answer, token_type: 'bearer' }, {}))
  }

  /** Records the faults of tokens that a source gave. */
  function judge(index: number, tokens: Tokens): void {
    const pair = pairs.get(tokens.accessToken)
    const before = pairs.get(given[index]?.accessToken ?? '')
    given[index] = tokens
    if (pair === undefined) faults.push('tokens that nobody has given')
    else {
      if (clock.now >= (tokens.expiresAt ?? 0)) faults.push('tokens that have expired')
      const { supersededAt = Number.POSITIVE_INFINITY, isDelivered } = pair
      if (isDelivered && clock.now >= supersededAt + GRACE) faults.push('tokens whose grace was over')
      if (before !== undefined && before.grant === pair.grant && before.generation > pair.generation)
        faults.push('older tokens than before')
    }
  }

  function call(index: number, what: (source: TokenSource) => Promise<Tokens>): void {
    const before = unanswered
    const work = what(sourceAt(index)).then(
      (tokens) => judge(index, tokens),
      (error: { readonly code?: unknown }) => {
        noteReplays()
        const isExcused =
          (error.code === 'ERR_AUTHORIZATION_REQUIRED' && hasEnded) ||
          (error.code === 'ERR_UNREACHABLE' && unanswered > before)
        if (!isExcused) faults.push(`an error without a reason: ${String(error)}`)
      },
    )
    calls.push(work)
  }
  for (const step of steps) {
    if (step.type === 'get') call(step.source, (source) => source.get())
    else if (step.type === 'refresh') {
      const stale = given[step.source] ?? (await inner.read())
      if (stale !== undefined) call(step.source, (source) => source.refresh(stale))
    } else if (step.type === 'weather') weather = step.weather
    else if (step.type === 'settle') await settle()
    else if (step.type === 'pass') {
      await settle()
      for (let second = 0; second < step.seconds; second++) {
        clock.now++
        vi.advanceTimersByTime(1000)
        if (vi.getTimerCount() > 0 || second < 40) await settle()
      }
    } else if (step.type === 'login') {
      await settle()
      await login(step.source)
      hasEnded = false
    } else {
      hasEnded = true
      if (step.type === 'logout')
        await sourceAt(step.source)
          .revoke()
          .catch(() => {})
      else {
        const now = await inner.read()
        if (now !== undefined) await revoke(test, now.refreshToken ?? '')
      }
    }
    noteReplays()
  }

  /** A replay ends the grant. It is no fault where no answer has come through for the whole grace. */
  function noteReplays(): void {
    const now = test.events.filter(({ type }) => type === 'replayed').length
    const lost = [...new Set(pairs.values())].filter(
      ({ supersededAt = Number.POSITIVE_INFINITY, isDelivered }) => !isDelivered && clock.now >= supersededAt + GRACE,
    ).length
    if (now > lost) faults.push('a refresh token that was used after its grace')
    if (now > replays) hasEnded = true
    replays = now
  }

  weather = 'fine'
  for (let second = 0; second < RETRY_FOR + 10; second++) {
    await settle()
    clock.now++
    vi.advanceTimersByTime(1000)
  }
  noteReplays()
  const done = await Promise.race([Promise.all(calls), settle().then(() => undefined)])
  if (done === undefined) faults.push('a caller who waits for ever')
  return [...new Set(faults)]
}

describe('whatever happens', () => {
  it.each([[1], [2], [3]])(
    '%i sources over one store refresh one at a time, and give nothing that is over',
    async (count) => {
      await fc.assert(
        fc.asyncProperty(steps(count), async (all) => {
          expect(await run(count, [{ type: 'login', source: 0 }, ...all])).toEqual([])
        }),
        { numRuns: 100 },
      )
    },
    300_000,
  )
})
