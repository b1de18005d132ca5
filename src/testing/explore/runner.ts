/**
 * The runner of histories: a store, a server for each request over it, and a grant that has begun. After the requests a
 * server without faults repeats those that got no answer, and then tries every token.
 * @module
 */

import { parseCredential } from '../../core/credentials/credential.js'
import type { GrantRules } from '../../core/grant/rules.js'
import { sameJson } from '../../core/json.js'
import type { AuthorizationServer, createAuthorizationServer } from '../../server.js'
import { resolveOptions } from '../../shell/options/settings.js'
import type { AuthorizationServerOptions } from '../../shell/options.js'
import { grantWrite, keys } from '../../shell/records.js'
import type { JsonValue, RecordStore } from '../../storage/record-store.js'
import { seededEntropy } from '../seeded-entropy.js'
import type { VirtualClock } from '../virtual-clock.js'
import { virtualClock } from '../virtual-clock.js'
import type { Beginning, Client, StartedGrant } from './beginning.js'
import { createClient, operationsBefore, SCOPES, startGrant } from './beginning.js'
import type { Ask } from './calls.js'
import { callsOf, openForm } from './calls.js'
import type { History } from './history.js'
import type { OwnRequest, RequestKind } from './requests.js'
import { requestOf } from './requests.js'
import type { Progress, RunningHistory } from './running.js'
import { addLine, beginOperation, createCaller, lookAround, watchOf } from './running.js'
import type { Choice, ScheduleObserver } from './schedule.js'
import { createSchedule } from './schedule.js'
import { createVersions, EXPLORED_ISSUER, watchedStore } from './watched-store.js'

/** The surroundings of a store that is explored. */
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

/** Options of {@link createHistoryRunner}; each is an option of `explore`. */
export interface RunnerOptions {
  readonly requests: readonly (RequestKind | OwnRequest)[]
  readonly begin: Beginning
  readonly store: (wiring: ExploreStoreWiring) => RecordStore | Promise<RecordStore>
  readonly server: ExploreServerOptions
  readonly createServer: typeof createAuthorizationServer
  readonly seed: number
}

/** Picks the next step. Undefined abandons the history. */
export type Choose = (choices: readonly Choice[]) => Choice | undefined

/** A runner of histories, one after the other. */
export interface HistoryRunner {
  /** Runs one history. */
  readonly run: (choose: Choose) => Promise<History>
  /** Returns the progress so far, and the history that runs now. */
  readonly progress: () => Progress & { readonly history: History | undefined }
}

/** The time at which each history begins. */
const START = 1_800_000_000

/** The parts that all histories of a runner share. */
interface Setup {
  readonly options: RunnerOptions
  readonly clock: VirtualClock
  readonly rules: GrantRules
  readonly consentLifetime: number
  readonly requests: readonly OwnRequest[]
  /** Random bytes: each runner has a client of its own, and each history a grant, so that a store need not be emptied. */
  readonly id: Uint8Array
  readonly client: Client
  /** A resource server for each protected resource of the grant, by that. */
  readonly apis: ReadonlyMap<string, Client>
  /** The store of the history that runs, without faults. */
  readonly plainStore: RecordStore
  /** The server that shows the form of a consent. */
  readonly pageServer: AuthorizationServer
  /** Sends requests to a server without faults. */
  readonly askPlain: Ask
  /** Sends requests to the server of each request. */
  readonly asks: readonly Ask[]
  readonly progress: Progress
  running: RunningHistory | undefined
  /** The store that has the record of the application. */
  preparedStore: RecordStore | undefined
}

/** Makes a runner, with a server for each request and one without faults. */
export function createHistoryRunner(options: RunnerOptions): HistoryRunner {
  const setup = createSetup(options)
  return {
    run: (choose) => run(setup, choose),
    progress: () => ({ ...setup.progress, history: setup.running }),
  }
}

function createSetup(options: RunnerOptions): Setup {
  const clock = virtualClock(START)
  const current = (): RunningHistory => {
    if (setup.running === undefined) throw new Error('no history is running')
    return setup.running
  }
  const plainStore: RecordStore = {
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
  const { rules, consentLifetime, audiences } = resolveOptions({ ...common, store: plainStore })
  const id = globalThis.crypto.getRandomValues(new Uint8Array(16))
  const audience = audiences.size === 0 ? undefined : [...audiences.keys()]
  const name = `explored-${hexOf(id)}`
  const client = createClient(name, rules, START, audience)
  const apis = new Map(
    audience?.map((api, place) => [api, createClient(`${name}-${place}`, rules, START, undefined, api)]),
  )
  const asking = (store: RecordStore): Ask =>
    callsOf(options.createServer({ ...common, store }), client, apis, () => current().form)
  const setup: Setup = {
    options,
    clock,
    rules,
    consentLifetime,
    requests: options.requests.map((each) =>
      typeof each === 'string' ? requestOf(each, options.begin, options.requests, rules, audience) : each,
    ),
    id,
    client,
    apis,
    plainStore,
    pageServer: options.createServer({ ...common, store: plainStore }),
    askPlain: asking(plainStore),
    asks: options.requests.map((_, actor) => asking(watchedStore(plainStore, () => watchOf(current(), actor)))),
    progress: { histories: 0, steps: 0 },
    running: undefined,
    preparedStore: undefined,
  }
  return setup
}

/** Runs one history: begins it, runs its requests, and looks at what they left. */
async function run(setup: Setup, choose: Choose): Promise<History> {
  const running = await begin(setup)
  const { requests, asks, askPlain } = setup
  const actors = requests.map(
    (request, actor) => async () => request.run(createCaller(running, actor, asks[actor] ?? askPlain)),
  )
  const ended = await running.schedule.run(actors, choose, observerOf(running))
  if (ended.ending !== 'over') return { ...running, ...ended }
  const grantId = running.started?.grant.id ?? parseCredential(running.code)?.grantId
  const [record] = grantId === undefined ? [] : await setup.plainStore.read([keys.grant(grantId)])
  await lookAround(running, askPlain)
  return { ...running, ending: 'over', record: record?.value }
}

/** Records each choice, and every time that the clock shows during an operation. */
function observerOf(running: RunningHistory): ScheduleObserver {
  const { choices, open, next, clock, progress } = running
  return {
    before: ({ actor, fate }) => {
      progress.steps++
      choices.push({ actor, fate })
      const operation = open.get(actor)
      if (operation !== undefined) beginOperation(running, operation)
      if (fate !== 'happens') operation?.faults.push(fate)
      if (fate === 'died-before') addLine(running, actor, `dies before it ${next.get(actor)}`)
    },
    after: () => {
      for (const { begin, nows } of open.values())
        if (begin !== undefined && nows.at(-1) !== clock()) nows.push(clock())
    },
  }
}

/** Begins a history: makes its store, and puts in what there is before the requests. */
async function begin(setup: Setup): Promise<RunningHistory> {
  const { options, clock, client, apis, rules } = setup
  clock.set(START)
  setup.running = undefined
  const store = await options.store(storeWiring(setup))
  const entropy = seededEntropy(options.seed)
  const id = nextId(setup)
  const { begin } = options
  const started = begin === 'consent' ? undefined : startGrant(begin, client, id, START, entropy, rules)
  const running = createRunning(setup, store, entropy, hexOf(id), started)
  setup.running = running
  const isNew = setup.preparedStore !== store
  for (const { clientKey, application } of isNew ? [client, ...apis.values()] : [])
    await writeFirst(setup, keys.application(clientKey), application)
  setup.preparedStore = store
  if (started === undefined) {
    running.form = await openForm(setup.pageServer, client)
    return running
  }
  const { key, value, ...more } = grantWrite(started.grant)
  await writeFirst(setup, key, value, more)
  clock.set(running.startedAt)
  return running
}

function createRunning(
  { options, clock, client, rules, consentLifetime, progress }: Setup,
  store: RecordStore,
  entropy: (length: number) => Uint8Array,
  name: string,
  started: StartedGrant | undefined,
): RunningHistory {
  return {
    terms: rules,
    scopes: SCOPES,
    audience: client.audience,
    clock,
    subject: `ada-${name}`,
    form: undefined,
    issuedAt: started === undefined ? undefined : START,
    formExpiresAt: started === undefined ? START + consentLifetime : undefined,
    startedAt: options.begin === 'grace over' ? START + rules.gracePeriod : START,
    started,
    code: started?.code ?? '',
    store,
    schedule: createSchedule(),
    entropy,
    versions: createVersions(),
    ending: 'abandoned',
    choices: [],
    lines: [],
    operations: started === undefined ? [] : operationsBefore(started, START),
    pairs: [...(started?.pairs ?? [])],
    open: new Map(),
    next: new Map(),
    record: undefined,
    events: 2 * (started?.pairs.length ?? 0),
    progress,
  }
}

/** Lets the store of a history take several steps, each of which waits to be chosen. */
function storeWiring(setup: Setup): ExploreStoreWiring {
  return {
    clock: setup.clock,
    step: async (what) => {
      const { running } = setup
      const actor = running?.schedule.running()
      if (running !== undefined && actor !== undefined)
        await watchOf(running, actor).wait(what, ['happens', 'died-before'])
    },
  }
}

/** Returns the identifier of the next grant: the bytes of the runner, mixed with the number of the history. */
function nextId({ id, progress }: Setup): Uint8Array {
  const number = progress.histories++
  return id.map((byte, index) => byte ^ (Math.floor(number / 256 ** index) & 255))
}

/** Writes a record that is there before the requests. A store that all histories share may have it from the one before. */
async function writeFirst({ plainStore }: Setup, key: string, first: object, more: object = {}): Promise<void> {
  const value = first as JsonValue // records are JSON alone
  await plainStore.write(key, value, { ...more, expected: 0 })
  const [record] = await plainStore.read([key])
  if (record === undefined || !sameJson(record.value, value))
    throw new Error(`the store does not keep the record that it is given at first: ${key}`)
}

function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16)).join('')
}
