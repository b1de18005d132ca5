/**
 * Processes that share the tokens of one user in a file: one refresh for all of them, whichever of them is killed, stopped or
 * ended at whatever moment. The requests are counted at the service.
 * @module
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Client, Tokens } from 'grantwell/client'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { fileTokenStore } from '../../src/client/node/file-token-store.js'
import { temporaryFolder } from '../engines/process.js'
import { revoke, START } from '../support.js'
import { breaks, openService, type Service } from './service.js'
import { type SourceProcess, type SourceSettings, sourceProcesses } from './source-processes.js'
import { clientOf, loggedIn, refreshesAt, requestsTo } from './sources.js'

const LIFE = 1000

/** Far more than it takes, since other tests may run at the same time. */
const TIMEOUT = 300_000

let processes: Awaited<ReturnType<typeof sourceProcesses>>
beforeAll(async () => {
  processes = await sourceProcesses()
})
afterAll(() => processes.remove())

/** A service, and the tokens of a login at it in a file. */
interface Scene {
  readonly service: Service
  readonly client: Client
  readonly first: Tokens
  readonly file: string
  readonly refreshes: ReturnType<typeof refreshesAt>
  /** Starts a process, whose clock shows the service's time. */
  readonly start: (settings?: Partial<SourceSettings>) => Promise<SourceProcess>
  /** The tokens in the file. */
  readonly stored: () => Promise<Tokens | undefined>
  /** Lists the folder of the file. */
  readonly files: () => readonly string[]
}

async function setUp({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<Scene> {
  const service = await openService({ accessTokenLifetime: LIFE })
  const folder = temporaryFolder('processes')
  onTestFinished(async () => {
    await service.close()
    folder.remove()
  })
  const client = await clientOf(service)
  const first = await loggedIn(service, client)
  const file = join(folder.path, 'tokens.json')
  await fileTokenStore(file).write(first)
  const start: Scene['start'] = (settings = {}) =>
    processes.start({ issuer: service.issuer, file, now: service.test.clock.now, retryFor: 30, ...settings })
  return {
    service,
    client,
    first,
    file,
    refreshes: refreshesAt(service),
    start,
    stored: async () => fileTokenStore(file).read(),
    files: () => readdirSync(folder.path).sort(),
  }
}

/** Lets time pass until the access token has expired. @returns the time */
function expire({ service }: Scene, { expiresAt }: Tokens): number {
  service.test.clock.now = expiresAt ?? Number.NaN
  return service.test.clock.now
}

const replays = ({ service }: Scene): number => service.test.events.filter(({ type }) => type === 'replayed').length

describe('processes over one file', () => {
  it(
    'refresh once at every expiry, for hundreds of callers in each',
    async (context) => {
      const scene = await setUp(context)
      const both = await Promise.all([scene.start(), scene.start()])
      let last = scene.first
      for (let expiry = 1; expiry <= 12; expiry++) {
        // Some ahead of it, some when it is over.
        const now = expire(scene, last) - (expiry % 3) * 30
        scene.service.test.clock.now = now
        const got = await Promise.all(both.map((each) => each.ask(500, now)))
        expect(scene.refreshes()).toEqual({ first: expiry, again: 0 })
        last = (await scene.stored()) ?? expect.fail('no tokens')
        expect(got).toEqual([[last.accessToken], [last.accessToken]])
        expect(scene.files()).toEqual(['tokens.json'])
      }
      expect(replays(scene)).toBe(0)
      for (const each of both) each.order({ type: 'exit' })
      expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0])
    },
    TIMEOUT,
  )

  it(
    'learn that all has ended by one request in all',
    async (context) => {
      const scene = await setUp(context)
      const both = await Promise.all([scene.start(), scene.start()])
      await Promise.all(both.map((each) => each.ask(1, START)))
      await revoke(scene.service.test, scene.first.refreshToken ?? '')
      const now = expire(scene, scene.first)
      const requests = requestsTo(scene.service)
      for (let time = 0; time < 3; time++) {
        const got = await Promise.all(both.map((each) => each.ask(500, now)))
        expect(got).toEqual([['ERR_AUTHORIZATION_REQUIRED'], ['ERR_AUTHORIZATION_REQUIRED']])
      }
      expect(requests()).toBe(1)
      expect(scene.files()).toEqual([])
      // A login of this process is one of theirs.
      const again = await loggedIn(scene.service, scene.client)
      await fileTokenStore(scene.file).write(again)
      expect(await Promise.all(both.map((each) => each.ask(500, now)))).toEqual([
        [again.accessToken],
        [again.accessToken],
      ])
    },
    TIMEOUT,
  )
})

describe.concurrent('a process that', () => {
  it.for<NodeJS.Signals>(['SIGKILL', 'SIGTERM', 'SIGINT'])(
    'is ended by %s while it has the lock holds up nobody',
    { timeout: TIMEOUT },
    async (signal, context) => {
      const scene = await setUp(context)
      const [killed, other] = await Promise.all([scene.start(), scene.start()])
      killed.order({ type: 'hold' })
      await killed.next('holding')
      killed.signal(signal)
      expect(await killed.ended).toBe(signal)
      expect(scene.files()).toEqual(['tokens.json', 'tokens.json.lock'])
      const begun = performance.now()
      const got = await other.ask(100, expire(scene, scene.first))
      // Not after the ten seconds that a holder has who may live.
      expect(performance.now() - begun).toBeLessThan(9_000)
      expect(got).toEqual([(await scene.stored())?.accessToken])
      expect(scene.refreshes()).toEqual({ first: 1, again: 0 })
      expect(scene.files()).toEqual(['tokens.json'])
    },
  )

  it(
    'is killed between the answer and the write leaves the same pair to the next one',
    async (context) => {
      const scene = await setUp(context)
      const now = expire(scene, scene.first)
      const killed = await scene.start({ isWriteHeld: true })
      killed.order({ type: 'ask', callers: 10, now })
      await killed.next('writing')
      killed.signal('SIGKILL')
      await killed.ended
      expect(await scene.stored()).toEqual(scene.first)
      scene.service.test.clock.now += 299
      const next = await scene.start()
      const [got, ...others] = await next.ask(100, now + 299)
      expect(scene.refreshes()).toEqual({ first: 1, again: 1 })
      expect([got, ...others]).toEqual([(await scene.stored())?.accessToken])
      expect(scene.files()).toEqual(['tokens.json'])
      expect(replays(scene)).toBe(0)
    },
    TIMEOUT,
  )

  it(
    'was stopped while others went on without it does not undo what they have done',
    async (context) => {
      const scene = await setUp(context)
      const now = expire(scene, scene.first)
      const stopped = await scene.start({ isWriteHeld: true })
      stopped.order({ type: 'ask', callers: 10, now })
      await stopped.next('writing')
      stopped.signal('SIGSTOP')
      const other = await scene.start()
      await other.ask(10, now)
      const second = (await scene.stored()) ?? expect.fail('no tokens')
      expect(scene.refreshes()).toEqual({ first: 1, again: 1 })
      // Far past the grace of the first pair.
      const later = expire(scene, second)
      const [third] = await other.ask(10, later)
      expect(scene.refreshes()).toEqual({ first: 2, again: 1 })
      stopped.signal('SIGCONT')
      stopped.order({ type: 'write' })
      expect((await stopped.next('told')).message).toMatch(/another process has taken its lock over$/)
      expect((await stopped.next('got')).results).toEqual([second.accessToken])
      expect((await scene.stored())?.accessToken).toBe(third)
      expect(await stopped.ask(10, later)).toEqual([third])
      expect(scene.refreshes()).toEqual({ first: 2, again: 1 })
      expect(replays(scene)).toBe(0)
      expect(scene.files()).toEqual(['tokens.json'])
    },
    TIMEOUT,
  )

  it(
    'ends by itself while it has the lock, or while it writes, leaves nothing behind',
    async (context) => {
      const scene = await setUp(context)
      const [holding, writing] = await Promise.all([scene.start(), scene.start()])
      holding.order({ type: 'hold' })
      await holding.next('holding')
      holding.order({ type: 'exit' })
      expect(await holding.ended).toBe(0)
      expect(scene.files()).toEqual(['tokens.json'])
      writing.order({ type: 'exit-while-writing' })
      expect(await writing.ended).toBe(0)
      expect(scene.files()).toEqual(['tokens.json'])
      expect(await scene.stored()).toEqual(scene.first)
    },
    TIMEOUT,
  )

  it(
    'has a token that works is not kept from ending by a refresh that gets no answer',
    async (context) => {
      const scene = await setUp(context)
      const now = expire(scene, scene.first) - 10
      const alone = await scene.start({ now })
      for (let time = 0; time < 100; time++) scene.service.faults.push({ path: '/oauth2/token', fault: breaks })
      const begun = performance.now()
      alone.order({ type: 'ask-alone' })
      expect(await alone.ended).toBe(0)
      expect(alone.printed()).toBe('tokens\n')
      expect(performance.now() - begun).toBeLessThan(20_000)
    },
    TIMEOUT,
  )

  it(
    'waits for tokens stays until it knows',
    async (context) => {
      const scene = await setUp(context)
      const alone = await scene.start({ now: expire(scene, scene.first), retryFor: 2 })
      for (let time = 0; time < 100; time++) scene.service.faults.push({ path: '/oauth2/token', fault: breaks })
      alone.order({ type: 'ask-alone' })
      expect(await alone.ended).toBe(0)
      expect(alone.printed()).toBe('ERR_UNREACHABLE\n')
    },
    TIMEOUT,
  )
})
