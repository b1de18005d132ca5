/**
 * A token source over a real service and HTTP: one refresh for all who ask, whatever gets lost, and an end to it when there
 * is nothing more to get.
 * @module
 */
import type { Client, Tokens } from 'grantwell/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { memoryTokenStore } from '../../src/client/tokens/memory-token-store.js'
import { createTokenSource, type TokenSource, type TokenSourceOptions } from '../../src/client/tokens/token-source.js'
import { eventually } from '../adapters/http.js'
import { revoke, START, works } from '../support.js'
import { breaks, type Fault, hangs, losesAnswer, openService, type Service, thrownBy } from './service.js'
import { clientOf, loggedIn, many, refreshesAt, requestsTo, type WatchedStore, watchedStore } from './sources.js'

/** Of an access token at this service, in seconds. */
const LIFE = 1000
const AHEAD = 60

let service: Service
let client: Client
let first: Tokens
let store: WatchedStore
let source: TokenSource
let refreshes: ReturnType<typeof refreshesAt>
let requests: () => number

beforeAll(async () => {
  service = await openService({ accessTokenLifetime: LIFE })
  client = await clientOf(service)
})
afterAll(() => service.close())
afterEach(() => {
  service.faults.length = 0
})

beforeEach(async () => {
  service.test.clock.now = START
  first = await loggedIn(service, client)
  store = watchedStore(first)
  source = newSource()
  refreshes = refreshesAt(service)
  requests = requestsTo(service)
})

/** Another source over the same store, as another process has one. */
function newSource(options: Partial<TokenSourceOptions> = {}): TokenSource {
  return createTokenSource({ client, store, retryFor: 5, onError: (error) => expect.fail(error.message), ...options })
}

/** Lets time pass until so many seconds before the access token expires. */
function passUntil(left: number, { expiresAt }: Tokens): void {
  service.test.clock.now = (expiresAt ?? Number.NaN) - left
}

function fail(fault: Fault, times = 1): void {
  for (let time = 0; time < times; time++) service.faults.push({ path: '/oauth2/token', fault })
}

const required = expect.objectContaining({ code: 'ERR_AUTHORIZATION_REQUIRED' })
const unreachable = expect.objectContaining({ code: 'ERR_UNREACHABLE' })
const storeFailed = expect.objectContaining({ code: 'ERR_TOKEN_STORE' })

describe('fresh tokens', () => {
  it('come from the store without its lock, and from memory without the store', async () => {
    expect(await many(1000, () => source.get())).toEqual(Array(1000).fill(first))
    for (let time = 0; time < 100; time++) await source.get()
    expect(store.counts).toEqual({ reads: 1, writes: 0, locks: 0 })
    expect(requests()).toBe(0)
  })

  it('are fresh until 60 seconds before they expire', async () => {
    passUntil(AHEAD + 1, first)
    expect(await source.get()).toEqual(first)
    passUntil(AHEAD, first)
    expect((await source.get()).accessToken).not.toBe(first.accessToken)
    expect(refreshes()).toEqual({ first: 1, again: 0 })
  })

  it('are refreshed as long ahead as they are to be', async () => {
    const early = newSource({ refreshAhead: 90 })
    passUntil(91, first)
    expect(await early.get()).toEqual(first)
    passUntil(90, first)
    expect((await early.get()).accessToken).not.toBe(first.accessToken)
  })

  it('are never refreshed earlier than in the last tenth of their life', async () => {
    const early = newSource({ refreshAhead: 3600 })
    passUntil(LIFE / 10 + 1, first)
    expect(await early.get()).toEqual(first)
    passUntil(LIFE / 10, first)
    expect((await early.get()).accessToken).not.toBe(first.accessToken)
  })

  it('without an expiry are refreshed when they are said to fail, and only then', async () => {
    const { expiresAt, ...endless } = first
    await store.write(endless)
    service.test.clock.now += LIFE - 1
    expect(await source.get()).toEqual(endless)
    expect(requests()).toBe(0)
    const second = await source.refresh(endless)
    expect(await works(service.test, second.accessToken)).toBe(true)
    expect(refreshes()).toEqual({ first: 1, again: 0 })
  })

  it('without a refresh token are used to their last second, and then end without a request', async () => {
    const { refreshToken, ...alone } = first
    await store.write(alone)
    passUntil(1, first)
    expect(await source.get()).toEqual(alone)
    passUntil(0, first)
    expect(await thrownBy(source.get())).toEqual(required)
    expect(await thrownBy(source.get())).toEqual(required)
    expect(requests()).toBe(0)
    expect(store.content()).toEqual(alone)
  })

  it('without a refresh token that are said to fail are for others to try', async () => {
    const { refreshToken, ...alone } = first
    await store.write(alone)
    expect(await thrownBy(source.refresh(alone))).toEqual(required)
    expect(await source.get()).toEqual(alone)
  })
})

describe('a refresh', () => {
  it('is one for 1,000 concurrent callers, with one read and one write, at every expiry', async () => {
    await source.get()
    let last = first
    for (let round = 1; round <= 3; round++) {
      passUntil(round === 2 ? -5 : AHEAD, last)
      const before = { ...store.counts }
      const given = await many(1000, () => source.get())
      expect(new Set(given.map(({ accessToken }) => accessToken)).size).toBe(1)
      last = given[0] ?? last
      expect(refreshes()).toEqual({ first: round, again: 0 })
      expect(requests()).toBe(round)
      expect(store.counts).toEqual({ reads: before.reads + 1, writes: before.writes + 1, locks: before.locks + 1 })
      expect(store.content()).toEqual(last)
      expect(await works(service.test, last.accessToken)).toBe(true)
    }
  })

  it('is one for all sources over one store', async () => {
    const sources = Array.from({ length: 5 }, () => newSource())
    await Promise.all(sources.map((each) => each.get()))
    passUntil(AHEAD, first)
    const given = await Promise.all(sources.flatMap((each) => Array.from({ length: 200 }, () => each.get())))
    expect(new Set(given.map(({ accessToken }) => accessToken)).size).toBe(1)
    expect(requests()).toBe(1)
  })

  it('is written before anybody gets what it brought', async () => {
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const write: typeof store.write = async (tokens) => {
      await gate
      await store.write(tokens)
    }
    const slow = newSource({ store: { ...store, write } })
    await slow.get()
    passUntil(AHEAD, first)
    const got: unknown[] = []
    const early = slow.get().then((tokens) => got.push(tokens))
    await eventually(() => refreshes().first === 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const late = slow.get().then((tokens) => got.push(tokens))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(got).toEqual([])
    open()
    await Promise.all([early, late])
    expect(got).toEqual([store.content(), store.content()])
  })

  it('that another process has done is not done again', async () => {
    await source.get()
    passUntil(AHEAD, first)
    const theirs = await newSource().get()
    expect(await source.get()).toEqual(theirs)
    expect(requests()).toBe(1)
  })

  it('gives way to a login that another process has done', async () => {
    await source.get()
    passUntil(AHEAD, first)
    const other = await loggedIn(service, client)
    await newSource().save(other)
    expect(await source.get()).toEqual(other)
    expect(requests()).toBe(0)
  })
})

describe('tokens that an API has refused', () => {
  it('are refreshed once for all who say so', async () => {
    await source.get()
    const given = await many(1000, () => source.refresh(first))
    expect(new Set(given.map(({ accessToken }) => accessToken)).size).toBe(1)
    expect(given[0]?.accessToken).not.toBe(first.accessToken)
    expect(requests()).toBe(1)
  })

  it('are not refreshed where there are others by now, here or in the store', async () => {
    await source.get()
    const theirs = await newSource().refresh(first)
    expect(await source.refresh(first)).toEqual(theirs)
    const { reads } = store.counts
    expect(await source.refresh(first)).toEqual(theirs)
    expect(requests()).toBe(1)
    expect(store.counts.reads).toBe(reads)
  })

  it('are not handed out while they are refreshed', async () => {
    await source.get()
    const [second, third] = await Promise.all([source.refresh(first), source.get()])
    expect(third).toEqual(second)
    expect(second.accessToken).not.toBe(first.accessToken)
  })

  it('are refreshed after a look at the store that was under way already', async () => {
    const [, second] = await Promise.all([source.get(), source.refresh(first)])
    expect(second.accessToken).not.toBe(first.accessToken)
    expect(requests()).toBe(1)
  })

  it('are refreshed after a flight that was about something else', async () => {
    source = newSource({ onError: () => {} })
    await source.get()
    passUntil(AHEAD, first)
    store.failing.add('write')
    const second = await source.get()
    store.failing.clear()
    await new Promise((resolve) => setTimeout(resolve, 1100))
    const { write } = store
    let isWriting = false
    const slow = vi.spyOn(store, 'write').mockImplementation(async (tokens) => {
      isWriting = true
      await new Promise((resolve) => setTimeout(resolve, 20))
      await write(tokens)
    })
    expect(await source.get()).toEqual(second)
    expect(isWriting).toBe(false)
    await eventually(() => isWriting)
    const third = await source.refresh(second)
    expect(third.accessToken).not.toBe(second.accessToken)
    expect(store.content()).toEqual(third)
    slow.mockRestore()
  })

  it('give the error where they cannot be refreshed, and to nobody else', async () => {
    source = newSource({ retryFor: 0 })
    await source.get()
    fail(breaks)
    const [error, present] = await Promise.all([thrownBy(source.refresh(first)), source.get()])
    expect(error).toEqual(unreachable)
    expect(present).toEqual(first)
  })
})

describe('an answer that is lost', () => {
  it('is asked for again, and is the same', async () => {
    passUntil(-1, first)
    fail(losesAnswer)
    const given = await many(100, () => source.get())
    expect(refreshes()).toEqual({ first: 1, again: 1 })
    expect(new Set(given.map(({ accessToken }) => accessToken)).size).toBe(1)
    expect(store.content()).toEqual(given[0])
    expect(await works(service.test, given[0]?.accessToken ?? '')).toBe(true)
  })

  it('does not hold up who has a token that works, and is asked for all the same', async () => {
    await source.get()
    passUntil(AHEAD, first)
    fail(losesAnswer)
    expect(await many(100, () => source.get())).toEqual(Array(100).fill(first))
    expect(refreshes()).toEqual({ first: 1, again: 0 })
    await eventually(() => store.counts.writes === 1)
    expect(refreshes()).toEqual({ first: 1, again: 1 })
    expect(await source.get()).toEqual(store.content())
    expect(await works(service.test, store.content()?.accessToken ?? '')).toBe(true)
  })

  it('leaves no token in use that may soon be dead', async () => {
    source = newSource({ retryFor: 0 })
    const { expiresAt, ...endless } = first
    await store.write(endless)
    await source.get()
    fail(losesAnswer)
    await thrownBy(source.refresh(endless))
    expect(refreshes()).toEqual({ first: 1, again: 0 })
    // It rests for some time, and then asks again by itself.
    const real = performance.now.bind(performance)
    const later = vi.spyOn(performance, 'now').mockImplementation(() => real() + 31_000)
    const second = await source.get().finally(() => later.mockRestore())
    expect(second.accessToken).not.toBe(endless.accessToken)
    expect(refreshes()).toEqual({ first: 1, again: 1 })
  })

  it('is given up after a time, and then is an error', async () => {
    source = newSource({ retryFor: 1 })
    passUntil(0, first)
    fail(breaks, 100)
    const begun = performance.now()
    expect(await thrownBy(source.get())).toEqual(unreachable)
    expect(performance.now() - begun).toBeGreaterThan(300)
    const tries = requests()
    expect(tries).toBeGreaterThan(2)
    expect(tries).toBeLessThan(10)
    service.faults.length = 0
    expect(await works(service.test, (await source.get()).accessToken)).toBe(true)
  })

  it('that never comes at all is one that is lost', async () => {
    source = newSource({ client: await clientOf(service, { timeout: 1 }) })
    passUntil(0, first)
    fail(hangs)
    expect(await works(service.test, (await source.get()).accessToken)).toBe(true)
    expect(requests()).toBe(2)
  })

  it('is asked for when a busy service says, unless that is too late', async () => {
    const busy =
      (seconds: number): Fault =>
      (_, response) => {
        response.writeHead(503, { 'Retry-After': String(seconds) }).end()
        return true
      }
    passUntil(0, first)
    fail(busy(60))
    expect(await thrownBy(source.get())).toEqual(unreachable)
    expect(requests()).toBe(1)
    fail(busy(1))
    const begun = performance.now()
    expect(await works(service.test, (await source.get()).accessToken)).toBe(true)
    expect(performance.now() - begun).toBeGreaterThan(990)
    expect(requests()).toBe(3)
  })

  it('is not asked for by each caller anew while there is a token that works', async () => {
    source = newSource({ retryFor: 0 })
    await source.get()
    passUntil(AHEAD, first)
    fail(breaks, 100)
    for (let time = 0; time < 20; time++) expect(await source.get()).toEqual(first)
    expect(requests()).toBe(1)
    // Without one, each caller's error is its own.
    passUntil(0, first)
    for (let time = 0; time < 3; time++) expect(await thrownBy(source.get())).toEqual(unreachable)
    expect(requests()).toBe(4)
  })

  it('is no error to a process that has just begun and finds a token that works', async () => {
    passUntil(AHEAD, first)
    fail(breaks, 100)
    expect(await newSource({ retryFor: 0 }).get()).toEqual(first)
  })
})

describe('after a revocation', () => {
  beforeEach(async () => {
    await source.get()
    await revoke(service.test, first.refreshToken ?? '')
    passUntil(AHEAD, first)
  })

  it('every caller gets the error, from one request, and later callers from none', async () => {
    const errors = await many(1000, () => thrownBy(source.get()))
    expect(errors[0]).toEqual(required)
    expect(new Set(errors).size).toBe(1)
    expect(requests()).toBe(1)
    expect(store.content()).toBeUndefined()
    const later = await many(100, () => thrownBy(source.get()))
    expect(new Set([...errors, ...later]).size).toBe(1)
    expect(await thrownBy(source.refresh(first))).toBe(errors[0])
    expect(requests()).toBe(1)
  })

  it('the store is looked at again on each call, for a login of another process', async () => {
    await thrownBy(source.get())
    const { reads, locks } = store.counts
    for (let time = 0; time < 3; time++) await thrownBy(source.get())
    expect(store.counts).toMatchObject({ reads: reads + 3, locks })
    const other = await loggedIn(service, client)
    await newSource().save(other)
    expect(await source.get()).toEqual(other)
  })

  it('a login of this process is all that it needs', async () => {
    await thrownBy(source.get())
    const other = await loggedIn(service, client)
    await source.save(other)
    expect(await source.get()).toEqual(other)
  })

  it('a store that cannot forget makes no further request', async () => {
    const told = vi.fn()
    source = newSource({ onError: told })
    store.failing.add('write')
    await thrownBy(source.get())
    await thrownBy(source.get())
    expect(requests()).toBe(1)
    expect(store.content()).toEqual(first)
    expect(told.mock.calls).toEqual([[storeFailed]])
  })

  it('what somebody wrote meanwhile is not forgotten', async () => {
    const other = await loggedIn(service, client)
    fail((request, response) => {
      // Past the lock, as a store without one would let it happen.
      response.once('close', () => {})
      void store.write(other)
      return losesNothing(request, response)
    })
    expect(await thrownBy(source.get())).toEqual(required)
    expect(store.content()).toEqual(other)
    expect(await source.get()).toEqual(other)
  })

  it('an API that refuses the token ends it as well', async () => {
    service.test.clock.now = START
    expect(await thrownBy(source.refresh(first))).toEqual(required)
    expect(await thrownBy(source.get())).toEqual(required)
    expect(requests()).toBe(1)
  })
})

const losesNothing: Fault = () => false

describe('a store that fails', () => {
  it('loses no pair: it is used, told of once, and written by a later call', async () => {
    const told = vi.fn()
    source = newSource({ onError: told })
    await source.get()
    passUntil(AHEAD, first)
    store.failing.add('write')
    const given = await many(100, () => source.get())
    const [second = first] = given
    expect(second.accessToken).not.toBe(first.accessToken)
    expect(given).toEqual(Array(100).fill(second))
    expect(told.mock.calls).toEqual([[storeFailed]])
    await eventually(async () => (await source.get()) === second && store.counts.writes >= 3)
    expect(told).toHaveBeenCalledTimes(1)
    store.failing.clear()
    await eventually(async () => (await source.get()) === second && store.content() === second)
    const { writes } = store.counts
    await new Promise((resolve) => setTimeout(resolve, 1100))
    await source.get()
    expect(store.counts.writes).toBe(writes)
    expect(requests()).toBe(1)
  })

  it('goes on from the pair that it does not have', async () => {
    source = newSource({ onError: () => {} })
    await source.get()
    passUntil(AHEAD, first)
    store.failing.add('write')
    const second = await source.get()
    passUntil(0, second)
    const third = await source.get()
    expect(third.refreshToken).not.toBe(second.refreshToken)
    expect(refreshes()).toEqual({ first: 2, again: 0 })
    store.failing.clear()
    await eventually(async () => (await source.get()) === third && store.content() === third)
  })

  it('leaves the same pair to a process that begins within the grace', async () => {
    source = newSource({ onError: () => {} })
    await source.get()
    passUntil(AHEAD, first)
    store.failing.add('write')
    const second = await source.get()
    store.failing.clear()
    const theirs = await newSource().get()
    expect(theirs.accessToken).toBe(second.accessToken)
    expect(refreshes()).toEqual({ first: 1, again: 1 })
  })

  it('takes what others have written instead', async () => {
    source = newSource({ onError: () => {} })
    await source.get()
    passUntil(AHEAD, first)
    store.failing.add('write')
    await source.get()
    store.failing.clear()
    const other = await loggedIn(service, client)
    await newSource().save(other)
    await eventually(async () => (await source.get()) === other)
    expect(store.content()).toEqual(other)
  })

  it('is no error as long as there is a token that works', async () => {
    await source.get()
    passUntil(AHEAD, first)
    store.failing.add('exclusively')
    expect(await source.get()).toEqual(first)
    passUntil(0, first)
    const error = await thrownBy(source.get())
    expect(error).toEqual(storeFailed)
    expect(error).toMatchObject({ cause: new Error('no exclusively today') })
    store.failing.clear()
    store.failing.add('read')
    expect(await thrownBy(source.get())).toEqual(storeFailed)
    expect(requests()).toBe(0)
  })

  it('is no error where it fails after all is done', async () => {
    const exclusively: typeof store.exclusively = async (action) => {
      await store.exclusively(action)
      throw new Error('cannot unlock')
    }
    source = newSource({ store: { ...store, exclusively } })
    expect(await source.refresh(first)).toEqual(store.content())
    expect(requests()).toBe(1)
  })

  it('is one where it does nothing at all', async () => {
    const exclusively = (): Promise<never> => Promise.resolve(undefined as never)
    source = newSource({ store: { ...store, exclusively } })
    passUntil(0, first)
    expect(await thrownBy(source.get())).toEqual(storeFailed)
  })

  it('whose failure is told to somebody who throws is none the worse', async () => {
    source = newSource({
      onError: () => {
        throw new Error('not me')
      },
    })
    passUntil(0, first)
    store.failing.add('write')
    expect(await works(service.test, (await source.get()).accessToken)).toBe(true)
  })

  it('whose failure is told to somebody who fails later is none the worse', async () => {
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    source = newSource({ onError: () => Promise.reject(new Error('not me')) })
    passUntil(0, first)
    store.failing.add('write')
    expect(await works(service.test, (await source.get()).accessToken)).toBe(true)
    await new Promise((resolve) => setTimeout(resolve))
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toStrictEqual([])
  })

  it('is told on the console where nobody else is', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    source = createTokenSource({ client, store })
    passUntil(0, first)
    store.failing.add('write')
    await source.get()
    expect(printed.mock.calls).toEqual([['grantwell: the token store could not be written']])
    printed.mockRestore()
  })
})

describe('tokens of somebody else', () => {
  it.each([
    ['another service', { issuer: 'https://other.example' }],
    ['another client', { clientId: 'other' }],
  ])('(%s) are as none, and left alone', async (_, changes) => {
    const foreign = { ...first, ...changes }
    await store.write(foreign)
    expect(await thrownBy(source.get())).toEqual(required)
    expect(await thrownBy(source.refresh(first))).toEqual(required)
    await source.revoke()
    expect(requests()).toBe(0)
    expect(store.content()).toEqual(foreign)
    expect(await thrownBy(source.save(foreign))).toMatchObject({ code: 'ERR_CONFIGURATION' })
    await source.save(first)
    expect(await source.get()).toEqual(first)
  })
})

describe('a login', () => {
  it('that cannot be written has not happened', async () => {
    await source.get()
    const other = await loggedIn(service, client)
    store.failing.add('write')
    expect(await thrownBy(source.save(other))).toEqual(storeFailed)
    expect(await source.get()).toEqual(first)
  })

  it('while somebody looks at what there was before is what they get', async () => {
    const other = await loggedIn(service, client)
    const { read } = store
    let look = (): void => {}
    const slow = vi.spyOn(store, 'read').mockImplementationOnce(async () => {
      const found = await read()
      await new Promise<void>((resolve) => {
        look = resolve
      })
      return found
    })
    const waiting = source.get()
    await eventually(() => slow.mock.calls.length === 1)
    await source.save(other)
    look()
    expect(await waiting).toEqual(other)
    expect(await source.get()).toEqual(other)
    slow.mockRestore()
  })

  it('while a refresh is under way comes after it', async () => {
    await source.get()
    passUntil(AHEAD, first)
    const other = await loggedIn(service, client)
    await Promise.all([source.get(), source.save(other)])
    expect(requests()).toBe(1)
    expect(await source.get()).toEqual(other)
    expect(store.content()).toEqual(other)
  })
})

describe('revoke()', () => {
  const revocations = (): number => service.paths.filter((path) => path === '/oauth2/revoke').length

  it('ends the grant and then forgets the tokens', async () => {
    await source.get()
    let kept: Tokens | undefined
    service.faults.push({
      path: '/oauth2/revoke',
      fault: () => {
        kept = store.content()
        return false
      },
    })
    await source.revoke()
    // A process that had died in between would have left tokens that are found to be dead.
    expect(kept).toEqual(first)
    expect(store.content()).toBeUndefined()
    expect(await works(service.test, first.accessToken)).toBe(false)
    expect(await thrownBy(source.get())).toEqual(required)
    expect(requests()).toBe(0)
  })

  it('gives the tokens to nobody while it is under way', async () => {
    await source.get()
    const [, error] = await Promise.all([
      source.revoke(),
      new Promise((go) => setTimeout(go, 1)).then(() => thrownBy(source.get())),
    ])
    expect(error).toEqual(required)
  })

  it('forgets them where the service fails, and says so', async () => {
    service.faults.push({ path: '/oauth2/revoke', fault: breaks })
    expect(await thrownBy(source.revoke())).toEqual(unreachable)
    expect(store.content()).toBeUndefined()
    expect(await thrownBy(source.get())).toEqual(required)
  })

  it('ends the pair that another process has got meanwhile', async () => {
    await source.get()
    const theirs = await newSource().refresh(first)
    await source.revoke()
    expect(await works(service.test, theirs.accessToken)).toBe(false)
    expect(store.content()).toBeUndefined()
  })

  it('ends what this process still has where the store has nothing any more', async () => {
    await source.get()
    await store.write(undefined)
    await source.revoke()
    expect(await works(service.test, first.accessToken)).toBe(false)
  })

  it('ends what this process knows of where the store fails, and says so', async () => {
    await source.get()
    store.failing.add('exclusively')
    expect(await thrownBy(source.revoke())).toEqual(storeFailed)
    expect(await works(service.test, first.accessToken)).toBe(false)
    expect(await thrownBy(source.get())).toEqual(required)
  })

  it('without tokens has nothing to do', async () => {
    const before = revocations()
    await newSource({ store: memoryTokenStore() }).revoke()
    expect(revocations()).toBe(before)
  })
})

describe('a signal', () => {
  it('ends the waiting of one, while the others get what they wait for', async () => {
    passUntil(0, first)
    fail(losesAnswer)
    const controller = new AbortController()
    const reason = new Error('enough')
    const gaveUp = [source.get({ signal: controller.signal }), source.refresh(first, { signal: controller.signal })]
    const stayed = source.get()
    await eventually(() => requests() === 1)
    controller.abort(reason)
    for (const each of gaveUp) expect(await thrownBy(each)).toBe(reason)
    expect(await works(service.test, (await stayed).accessToken)).toBe(true)
  })

  it('ends the waiting of one who could have a token that works for a moment yet', async () => {
    await source.get()
    passUntil(AHEAD, first)
    fail(hangs)
    const controller = new AbortController()
    const waiting = source.get({ signal: controller.signal })
    await eventually(() => requests() === 1)
    controller.abort()
    expect(await thrownBy(waiting)).toBe(controller.signal.reason)
  })

  it('that has been given before is heeded at once', async () => {
    const signal = AbortSignal.abort(new Error('no'))
    expect(await thrownBy(source.get({ signal }))).toBe(signal.reason)
    expect(await thrownBy(source.refresh(first, { signal }))).toBe(signal.reason)
    expect(store.counts.reads).toBe(0)
  })

  it('that nobody is left to mind leaves the refresh to the store', async () => {
    passUntil(0, first)
    fail(losesAnswer)
    const controller = new AbortController()
    const waiting = thrownBy(source.get({ signal: controller.signal }))
    await eventually(() => requests() === 1)
    controller.abort()
    await waiting
    await eventually(() => store.counts.writes === 1)
    expect(await works(service.test, store.content()?.accessToken ?? '')).toBe(true)
  })
})

describe('options', () => {
  it.each<[string, object]>([
    ['no client', { client: undefined }],
    ['no store', { store: undefined }],
    ['a client of somebody’s own', { client: { issuer: 'https://a.example', clientId: 'a' } }],
    ['a store without a method', { store: { read: () => {}, write: () => {} } }],
    ['a time to wait that is none', { retryFor: -1 }],
    ['a time to wait in which a retry becomes a replay', { retryFor: 301 }],
    ['a time that is none', { refreshAhead: Number.NaN }],
    ['a word for a time', { refreshAhead: '60' }],
    ['something else for a function', { onError: true }],
    ['an unknown one', { retryfor: 3 }],
  ])('are refused: %s', (_, changes) => {
    expect(() => createTokenSource({ client, store, ...changes })).toThrow(
      expect.objectContaining({ code: 'ERR_CONFIGURATION' }),
    )
  })

  it('of a call are refused as well', async () => {
    const wrong = { signal: 'stop' } as unknown as { signal: AbortSignal }
    expect(await thrownBy(source.get(wrong))).toMatchObject({ code: 'ERR_CONFIGURATION' })
    expect(await thrownBy(source.refresh(first, wrong))).toMatchObject({ code: 'ERR_CONFIGURATION' })
  })
})
