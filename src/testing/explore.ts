/**
 * The interleaving explorer: several requests run over one store, and every order of their steps is tried, with faults.
 * @module
 */
import { createAuthorizationServer } from '../server.js'
import { memoryStore } from '../storage/memory.js'
import type { RecordStore } from '../storage/record-store.js'
import type { Beginning } from './explore/begun.js'
import type { History } from './explore/history.js'
import { faultsIn } from './explore/history.js'
import type { BrokenRule } from './explore/invariants.js'
import { brokenRule } from './explore/invariants.js'
import type { OwnRequest, RequestKind } from './explore/requests.js'
import { beginningFor, isRequest } from './explore/requests.js'
import type { Choice } from './explore/schedule.js'
import type { ExploreServerOptions, ExploreStoreWiring, Stage } from './explore/stage.js'
import { stage } from './explore/stage.js'
import { parseChoices, printChoices, tell, tellBeginning } from './explore/story.js'
import type { Takes } from './options.js'
import { checkedOptions, FUNCTION, OBJECT, oneOf, POSITIVE, TEXT, WHOLE, wholeFrom } from './options.js'
import { seededNumbers } from './seeded-entropy.js'

export type { Beginning } from './explore/begun.js'
export type { CallAnswer, ReceivedPair } from './explore/history.js'
export type { Caller, OwnRequest, RequestKind } from './explore/requests.js'
export type { ExploreServerOptions, ExploreStoreWiring } from './explore/stage.js'

/** What is explored. */
export interface ExploreOptions {
  /** What runs at the same time, on one grant, each at a server of its own: by name, or of one's own. At most 26. */
  readonly requests: readonly (RequestKind | OwnRequest)[]
  /**
   * What the grant begins with; by default the form of a consent where a decision on it is tried, else tokens, a code where nothing else is tried or several redemptions are, and a pair
   * whose grace is over for `replay`.
   */
  readonly begin?: Beginning
  /**
   * Makes the store, or gives one that there is, for each history; `memoryStore` by default. Each history has a grant of its
   * own, so the store need not be emptied. It must hold to the clock that it is given, or to none.
   */
  readonly store?: (wiring: ExploreStoreWiring) => RecordStore | Promise<RecordStore>
  /** Options of the servers, such as `digests` or `refreshReplay`. */
  readonly server?: ExploreServerOptions
  /** Makes the servers; `createAuthorizationServer` by default. */
  readonly createServer?: typeof createAuthorizationServer
  /** How many faults one history has at most, from 0 on; 1 by default. */
  readonly faults?: number
  /** How many histories are tried in order, from 1 on; 200,000 by default. Where there are more, random ones follow. */
  readonly limit?: number
  /** How many random ones, from 1 on; 2,000 by default. */
  readonly samples?: number
  /** What random histories and all secrets come of, a whole number; 1 by default. */
  readonly seed?: number
  /** Plays one history alone, as the story of a failure has it. */
  readonly history?: string
  /** Seconds after which a request that neither asks the store nor is answered counts as hanging; 10 by default. */
  readonly patience?: number
}

/** What was explored without finding a rule broken. */
export interface Exploration {
  /** How many different histories. */
  readonly histories: number
  /** Whether these are all there are. */
  readonly exhaustive: boolean
}

/** A rule that was broken; its message is the story of the shortest history that breaks it. */
export class ExplorationError extends Error {
  override readonly name = 'ExplorationError'
  /** The rule, a sentence. */
  readonly rule: string
  /** To be given as the option `history`. */
  readonly history: string

  constructor(message: string, rule: string, history: string) {
    super(message)
    this.rule = rule
    this.history = history
  }
}

/**
 * Tries every order in which the steps of some requests can come to pass, and every fault at every step, and checks after
 * each whether the rules of a grant's life hold: codes are redeemed once, a refresh has one successor, nothing works that was
 * revoked, nothing is lost, and some order of the requests explains every answer.
 * @throws ExplorationError with the story of the shortest history that breaks a rule: that with the fewest faults, then steps
 * @throws TypeError for an unknown or wrong option
 * @example
 * ```ts
 * test('a refresh beside a revocation', async () => {
 *   await explore({ requests: ['refresh', 'revoke'], store: ({ clock }) => myStore({ clock }) })
 * })
 * ```
 */
export async function explore(options: ExploreOptions): Promise<Exploration> {
  const own = checkedOptions('explore', options, TAKES)
  const { requests, store = ({ clock }) => memoryStore({ clock }), seed = 1, patience = 10 } = own
  if (requests === undefined) throw new TypeError(`the option requests of explore is needed: ${TAKES.requests.words}`)
  const played = stage({
    requests,
    begin: own.begin ?? beginningFor(requests),
    store,
    server: own.server ?? {},
    createServer: own.createServer ?? createAuthorizationServer,
    seed,
  })
  const search = own.history === undefined ? searching(played, own) : replaying(played, own.history)
  const found = await orHanging(search, played, patience)
  if (found.worst === undefined) return { histories: found.histories, exhaustive: found.exhaustive }
  throw failure(found.worst, found.histories, own)
}

const TAKES: { readonly [Name in keyof ExploreOptions]-?: Takes } = {
  requests: {
    words: '1 to 26 names of requests, or requests of one’s own with name and run',
    fits: (value) => Array.isArray(value) && value.length >= 1 && value.length <= 26 && value.every(isRequest),
  },
  begin: oneOf<Beginning>({ consent: true, code: true, tokens: true, 'grace over': true }),
  store: FUNCTION,
  server: OBJECT,
  createServer: FUNCTION,
  faults: wholeFrom(0),
  limit: wholeFrom(1),
  samples: wholeFrom(1),
  seed: WHOLE,
  history: TEXT,
  patience: POSITIVE,
}

/** A history that breaks a rule. */
interface Failure {
  readonly history: History
  readonly broken: BrokenRule
}

interface Found extends Exploration {
  readonly worst: Failure | undefined
}

/** First all histories without a fault, then all with one, and so on, until some break a rule. */
async function searching(played: Stage, options: ExploreOptions): Promise<Found> {
  const { faults = 1, limit = 200_000, samples = 2_000, seed = 1 } = options
  let histories = 0
  for (let round = 0; round <= faults; round++) {
    const { tried, worst, complete } = await everyHistory(played, round, limit - histories)
    histories += tried
    if (worst !== undefined) return { histories, exhaustive: false, worst }
    if (!complete) {
      const random = await someHistories(played, faults, samples, seed)
      return { histories: histories + random.tried, exhaustive: false, worst: random.worst }
    }
  }
  return { histories, exhaustive: true, worst: undefined }
}

/** Tries every history with so many faults, up to a limit. */
async function everyHistory(
  played: Stage,
  faults: number,
  limit: number,
): Promise<{ readonly tried: number; readonly worst: Failure | undefined; readonly complete: boolean }> {
  const path: { chosen: number; readonly choices: readonly Choice[] }[] = []
  let worst: Failure | undefined
  let tried = 0
  do {
    if (tried === limit) return { tried, worst, complete: false }
    let depth = 0
    let spent = 0
    const history = await played.play((offered) => {
      // A longer one than the shortest that fails is of no interest.
      if (worst !== undefined && depth >= worst.history.choices.length) return undefined
      const choices = spent < faults ? offered : offered.filter(({ fate }) => fate === 'happens')
      const at = path[depth] ?? { chosen: 0, choices }
      if (!areSame(at.choices, choices))
        throw new Error('the same steps led elsewhere: something in the store or the servers is left to chance')
      path[depth++] = at
      const choice = at.choices[at.chosen]
      if (choice !== undefined && choice.fate !== 'happens') spent++
      return choice
    })
    path.length = depth
    if (history.ending !== 'abandoned' && spent === faults) {
      tried++
      worst = shorter(worst, history)
    }
    while (path.length > 0 && isLast(path.at(-1))) path.pop()
    const last = path.at(-1)
    if (last !== undefined) last.chosen++
  } while (path.length > 0)
  return { tried, worst, complete: true }
}

function isLast(place: { readonly chosen: number; readonly choices: readonly Choice[] } | undefined): boolean {
  return place !== undefined && place.chosen + 1 >= place.choices.length
}

function areSame(a: readonly Choice[], b: readonly Choice[]): boolean {
  return (
    a.length === b.length && a.every(({ actor, fate }, index) => b[index]?.actor === actor && b[index]?.fate === fate)
  )
}

/** Tries histories by chance. */
async function someHistories(
  played: Stage,
  faults: number,
  samples: number,
  seed: number,
): Promise<{ readonly tried: number; readonly worst: Failure | undefined }> {
  const random = seededNumbers(seed)
  const tried = new Set<string>()
  let worst: Failure | undefined
  for (let sample = 0; sample < samples; sample++) {
    let spent = 0
    const history = await played.play((offered) => {
      // A fault at about every eighth step, until there have been enough.
      const faulty = spent < faults && random(8) === 0
      const wanted = offered.filter(({ fate }) => (fate !== 'happens') === faulty)
      const choices = wanted.length > 0 ? wanted : offered.filter(({ fate }) => fate === 'happens')
      const choice = choices[random(choices.length)]
      if (choice?.fate !== 'happens') spent++
      return choice
    })
    tried.add(printChoices(history.choices))
    worst = shorter(worst, history)
  }
  return { tried: tried.size, worst }
}

/** Plays the choices of a text, and then whatever comes first. */
async function replaying(played: Stage, text: string): Promise<Found> {
  const wanted = parseChoices(text)
  let depth = 0
  const history = await played.play((offered) => {
    const want = wanted[depth++]
    const choice =
      want === undefined ? offered[0] : offered.find(({ actor, fate }) => actor === want.actor && fate === want.fate)
    if (choice === undefined)
      throw new TypeError(`step ${depth} of the history cannot be: there are ${printChoices(offered)}`)
    return choice
  })
  return { histories: 1, exhaustive: false, worst: shorter(undefined, history) }
}

/** The worse of two: the one with fewer faults, then steps, then changes from one request to another. */
function shorter(worst: Failure | undefined, history: History): Failure | undefined {
  const broken = brokenRule(history)
  if (broken === undefined) return worst
  const sizes = ({ choices }: History): readonly number[] => [
    faultsIn(choices),
    choices.length,
    choices.filter(({ actor }, index) => index > 0 && actor !== choices[index - 1]?.actor).length,
  ]
  const before = worst === undefined ? [] : sizes(worst.history)
  const difference = sizes(history).map((size, index) => size - (before[index] ?? Number.POSITIVE_INFINITY))
  return (difference.find((each) => each !== 0) ?? 0) < 0 ? { history, broken } : worst
}

/** The result of a search, or of a request that hangs in it. */
async function orHanging(search: Promise<Found>, played: Stage, patience: number): Promise<Found> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let before = -1
  const hanging = new Promise<Found>((resolve) => {
    const look = (): void => {
      const { played: histories, steps, history } = played.progress()
      if (steps === before && history !== undefined) {
        const broken = {
          rule: 'Every request asks the store or is answered.',
          came: `nothing has come for ${patience} s`,
        }
        resolve({ histories, exhaustive: false, worst: { history, broken } })
        return
      }
      before = steps
      timer = setTimeout(look, patience * 1000)
    }
    look()
  })
  try {
    return await Promise.race([search, hanging])
  } finally {
    clearTimeout(timer)
  }
}

/** The story of a failure. */
function failure({ history, broken }: Failure, histories: number, options: ExploreOptions): ExplorationError {
  const names = options.requests.map((each) => (typeof each === 'string' ? each : each.name))
  const choices = printChoices(history.choices)
  const faults = faultsIn(history.choices)
  const faultsText = faults === 0 ? 'no fault' : faults === 1 ? '1 fault' : `${faults} faults`
  const message = [
    `Explored ${histories} histories of ${names.join(', ')}; the shortest that breaks a rule has ${faultsText}.`,
    tellBeginning(history),
    ...tell(history, names),
    `Broken: ${broken.rule} But ${broken.came}.`,
    `Once more: explore({ ..., history: '${choices}' })`,
  ].join('\n')
  return new ExplorationError(message, broken.rule, choices)
}
