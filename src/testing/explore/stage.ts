/**
 * Where a history is played: a store, a server for each request over it, and a grant that has begun. Afterwards a server
 * that is well repeats what was not answered, and every token is shown once more to find out what works.
 * @module
 */

import { parseCredential } from '../../core/tokens/credential.js'
import type { createAuthorizationServer } from '../../server.js'
import type { AuthorizationServerOptions } from '../../shell/options.js'
import { resolveOptions } from '../../shell/options.js'
import { grantWrite, keys } from '../../shell/records.js'
import type { JsonValue, RecordStore } from '../../storage/record-store.js'
import { seededEntropy } from '../seeded-entropy.js'
import type { VirtualClock } from '../virtual-clock.js'
import { virtualClock } from '../virtual-clock.js'
import type { Beginning, Begun } from './begun.js'
import { begunClient, begunGrant, operationsBefore, SCOPES } from './begun.js'
import type { Ask, Form } from './calls.js'
import { callsOf, openForm } from './calls.js'
import type { CallAnswer, History, Operation, ReceivedPair } from './history.js'
import { isAnswered } from './history.js'
import type { Caller, OwnRequest, RequestKind } from './requests.js'
import { requestOf } from './requests.js'
import type { Choice, Schedule } from './schedule.js'
import { schedule } from './schedule.js'
import { describeAnswer, nameOfText } from './story.js'
import type { Versions, Watch } from './watched-store.js'
import { EXPLORED_ISSUER, versionsSeen, watchedStore } from './watched-store.js'

/** What a store that is to be explored is made with. */
export interface ExploreStoreWiring {
  /** The clock of the servers. */
  readonly clock: VirtualClock
  /**
   * For a store that takes several steps to do one thing: it awaits this before each but the first, and the explorer puts
   * the steps of others between them. Resolves at once where no request runs.
   * @param what - for the story, such as `sets what it compared`
   */
  readonly step: (what: string) => Promise<void>
}

/** Options of the servers that the explorer does not need for itself. */
export type ExploreServerOptions = Partial<
  Omit<
    AuthorizationServerOptions,
    'issuer' | 'store' | 'clock' | 'entropy' | 'user' | 'signInUrl' | 'onEvent' | 'onError'
  >
>

/** What a stage is made with. */
export interface StageOptions {
  readonly requests: readonly (RequestKind | OwnRequest)[]
  readonly begin: Beginning
  readonly store: (wiring: ExploreStoreWiring) => RecordStore | Promise<RecordStore>
  readonly server: ExploreServerOptions
  readonly createServer: typeof createAuthorizationServer
  readonly seed: number
}

/** A stage on which histories are played, one after the other. */
export interface Stage {
  /**
   * Plays one history.
   * @param choose - undefined abandons it
   */
  readonly play: (choose: (choices: readonly Choice[]) => Choice | undefined) => Promise<History>
  /** How far it is: what was played and how many steps there were, and the history that is being played. */
  readonly progress: () => { readonly played: number; readonly steps: number; readonly history: History | undefined }
}

/** A history that is being played. */
interface Act extends History {
  /** Whose consent it is: another user in every history, so that a store need not be emptied. */
  readonly subject: string
  form: Form | undefined
  code: string
  readonly store: RecordStore
  readonly schedule: Schedule
  readonly entropy: (length: number) => Uint8Array
  readonly versions: Versions
  readonly begun: Begun | undefined
  readonly choices: Choice[]
  readonly lines: { readonly actor: number; text: string; note?: string }[]
  readonly operations: Operation[]
  readonly pairs: ReceivedPair[]
  /** What each request has sent that was not answered yet, and what it waits to do. */
  readonly open: Map<number, Operation>
  readonly next: Map<number, string>
  /** Counts what happens. */
  now: number
}

/** When each history begins. */
const START = 1_800_000_000

/** Sets up the servers, one for each request and one that is well. */
export function stage(options: StageOptions): Stage {
  const clock = virtualClock(START)
  let act: Act | undefined
  const current = (): Act => {
    if (act === undefined) throw new Error('no history is being played')
    return act
  }
  const plain: RecordStore = {
    read: (asked) => current().store.read(asked),
    write: (key, value, more) => current().store.write(key, value, more),
    list: (label, page) => current().store.list(label, page),
  }
  const common = {
    ...options.server,
    issuer: EXPLORED_ISSUER,
    clock,
    entropy: (length: number) => current().entropy(length),
    user: () => ({ subject: current().subject }),
    signInUrl: () => '/',
    onError: () => {},
  }
  const { rules, consentLifetime } = resolveOptions({ ...common, store: plain })
  // A client of its own in every run, and a grant in every history, so that a store need not be emptied.
  const run = globalThis.crypto.getRandomValues(new Uint8Array(16))
  const client = begunClient(`explored-${[...run].map((byte) => byte.toString(16)).join('')}`, rules, START)
  const asking = (store: RecordStore): Ask =>
    callsOf(options.createServer({ ...common, store }), client, () => current().form)
  const shown = options.createServer({ ...common, store: plain })
  const well = asking(plain)
  const asks = options.requests.map((_, actor) => asking(watchedStore(plain, () => watchOf(actor))))
  const requests = options.requests.map((each) =>
    typeof each === 'string' ? requestOf(each, options.begin, options.requests, rules) : each,
  )
  const wiring: ExploreStoreWiring = {
    clock,
    step: async (what) => {
      const actor = act?.schedule.running()
      if (actor !== undefined) await watchOf(actor).wait(what, ['happens', 'died-before'])
    },
  }
  let played = 0
  let steps = 0
  let prepared: RecordStore | undefined

  function watchOf(actor: number): Watch {
    const { schedule, next, open, versions } = current()
    return {
      versions,
      wait: async (step, fates, ready) => {
        next.set(actor, step)
        const fate = await schedule.wait(actor, { fates, ...(ready !== undefined && { ready }) })
        return { fate, told: say(actor, step) }
      },
      die: () => schedule.die(actor),
      leave: () => schedule.leave(actor),
      wrote: () => {
        const wrote = open.get(actor)?.wrote
        wrote?.push(current().now++)
        return () => wrote?.pop()
      },
    }
  }

  /** Begins a line of the story. @returns adds to it, or to the last step that the same request has made since */
  function say(actor: number, text: string): (more: string, note?: string) => void {
    const { lines } = current()
    lines.push({ actor, text })
    return (more, note) => {
      const line = lines.findLast((each) => each.actor === actor)
      if (line === undefined) return
      line.text += more
      if (note !== undefined) line.note = note
    }
  }

  function begin(operation: Operation): void {
    if (operation.begin !== undefined) return
    operation.begin = current().now++
    operation.nows.push(clock())
  }

  /** Sends a request, and keeps what came of it. */
  async function send(by: Operation['by'], ask: Ask, does: Operation['does'], shows: string): Promise<CallAnswer> {
    const here = current()
    const operation: Operation = { by, does, shows, nows: [], faults: [], wrote: [] }
    here.operations.push(operation)
    steps++
    if (typeof by === 'number') here.open.set(by, operation)
    else begin(operation)
    const told = await ask[does](shows)
    begin(operation)
    if (typeof by === 'number') here.open.delete(by)
    operation.told = told
    operation.end = here.now++
    if (told.says === 'code' && here.code === '') here.code = told.code
    if (told.says === 'tokens' && !here.pairs.some((pair) => isSamePair(pair, told))) here.pairs.push(told)
    return told
  }

  function callerOf(actor: number, ask: Ask): Caller {
    const here = current()
    const { begun, pairs } = here
    const sends = (does: Operation['does']) => async (shows: string) => {
      const told = await send(actor, ask, does, shows)
      say(actor, describeAnswer(does, told, nameOfText(here.code, pairs)))
      return told
    }
    return {
      code: here.code,
      firstPair: begun?.pairs[0],
      newestCode: async () => {
        if (here.code === '') await watchOf(actor).wait('has waited for a code', ['happens'], () => here.code !== '')
        return here.code === '' ? undefined : here.code
      },
      newestPair: async () => {
        if (pairs.length === 0) await watchOf(actor).wait('has waited for tokens', ['happens'], () => pairs.length > 0)
        return pairs.at(-1)
      },
      decide: sends('decide'),
      exchange: sends('exchange'),
      refresh: sends('refresh'),
      revoke: sends('revoke'),
      validate: sends('validate'),
      pass: async (seconds) => {
        await watchOf(actor).wait(`lets ${seconds} seconds pass`, ['happens'])
        clock.advance(seconds)
      },
    }
  }

  async function put(key: string, value: object, more: object = {}): Promise<void> {
    const stored = await plain.write(key, value as JsonValue, { ...more, expected: 0 }) // records are JSON alone
    const [record] = await plain.read([key])
    if (!stored || record === undefined)
      throw new Error(`the store does not keep the record that it is given at first: ${key}`)
  }

  /** A new grant, and the store as it is before the requests. */
  async function begun(): Promise<Act> {
    clock.set(START)
    act = undefined
    const store = await options.store(wiring)
    const entropy = seededEntropy(options.seed)
    const id = run.map((byte, index) => byte ^ (Math.floor(played / 256 ** index) & 255))
    played++
    const grant = options.begin === 'consent' ? undefined : begunGrant(options.begin, client, id, START, entropy, rules)
    const here: Act = {
      terms: rules,
      scopes: SCOPES,
      subject: `ada-${[...id].map((byte) => byte.toString(16)).join('')}`,
      form: undefined,
      issuedAt: grant === undefined ? undefined : START,
      formExpiresAt: grant === undefined ? START + consentLifetime : undefined,
      startedAt: options.begin === 'grace over' ? START + rules.gracePeriod : START,
      begun: grant,
      code: grant?.code ?? '',
      store,
      schedule: schedule(),
      entropy,
      versions: versionsSeen(),
      ending: 'abandoned',
      choices: [],
      lines: [],
      operations: grant === undefined ? [] : operationsBefore(grant, START),
      pairs: [...(grant?.pairs ?? [])],
      open: new Map(),
      next: new Map(),
      record: undefined,
      now: 2 * (grant?.pairs.length ?? 0),
    }
    act = here
    if (prepared !== store) await put(keys.application(client.clientKey), client.application)
    prepared = store
    if (grant === undefined) {
      here.form = await openForm(shown, client)
      return here
    }
    const { key, value, ...more } = grantWrite(grant.grant)
    await put(key, value, more)
    clock.set(here.startedAt)
    return here
  }

  async function play(choose: Parameters<Stage['play']>[0]): Promise<History> {
    const here = await begun()
    const { schedule, choices, open, next, operations } = here
    const running = requests.map((request, actor) => async () => request.run(callerOf(actor, asks[actor] ?? well)))
    const ended = await schedule.run(running, choose, {
      before: ({ actor, fate }) => {
        steps++
        choices.push({ actor, fate })
        const operation = open.get(actor)
        if (operation !== undefined) begin(operation)
        if (fate !== 'happens') operation?.faults.push(fate)
        if (fate === 'died-before') say(actor, `dies before it ${next.get(actor)}`)
      },
      after: () => {
        for (const { begin, nows } of open.values())
          if (begin !== undefined && nows.at(-1) !== clock()) nows.push(clock())
      },
    })
    if (ended.ending !== 'over') return { ...here, ...ended }
    const grantId = here.begun?.grant.id ?? parseCredential(here.code)?.grantId
    const [record] = grantId === undefined ? [] : await plain.read([keys.grant(grantId)])
    // Every request that got no answer is sent again, as a client would.
    for (const { does, shows } of operations.filter((each) => !isAnswered(each))) await send('retry', well, does, shows)
    for (const { accessToken } of [...here.pairs]) await send('probe', well, 'validate', accessToken)
    // The newest first, since an old one may be a replay, which ends everything; so does the code.
    for (const { refreshToken } of here.pairs.toReversed()) await send('probe', well, 'refresh', refreshToken)
    if (here.code !== '') await send('probe', well, 'exchange', here.code)
    for (const { accessToken } of [...here.pairs]) await send('probe', well, 'validate', accessToken)
    return { ...here, ending: 'over', record: record?.value }
  }

  return { play, progress: () => ({ played, steps, history: act }) }
}

function isSamePair(a: ReceivedPair, b: ReceivedPair): boolean {
  return a.accessToken === b.accessToken && a.refreshToken === b.refreshToken
}
