/**
 * The interleaving explorer: runs several requests over one store in every order of their steps, with faults.
 * @module
 */
import { createAuthorizationServer } from '../server.js'
import { memoryStore } from '../storage/memory.js'
import type { RecordStore } from '../storage/record-store.js'
import type { Beginning } from './explore/beginning.js'
import { faultsIn } from './explore/history.js'
import type { OwnRequest, RequestKind } from './explore/requests.js'
import { beginningFor, isRequest, REQUEST_KINDS } from './explore/requests.js'
import type { ExploreServerOptions, ExploreStoreWiring } from './explore/runner.js'
import { createHistoryRunner } from './explore/runner.js'
import type { Failure } from './explore/search.js'
import { replay, search, withPatience } from './explore/search.js'
import { printChoices, tell, tellBeginning } from './explore/story.js'
import type { Takes } from './options.js'
import { checkedOptions, FUNCTION, OBJECT, oneOf, POSITIVE, TEXT, WHOLE, wholeFrom } from './options.js'

export type { Beginning } from './explore/beginning.js'
export type { FormDecision } from './explore/calls.js'
export type { CallAnswer, ReceivedPair } from './explore/history.js'
export type { Caller, OwnRequest, RequestKind } from './explore/requests.js'
export type { ExploreServerOptions, ExploreStoreWiring } from './explore/runner.js'

/** Options of {@link explore}. */
export interface ExploreOptions {
  /** The requests that run at the same time, on one grant, each at a server of its own: by name, or your own. At most 26. */
  readonly requests: readonly (RequestKind | OwnRequest)[]
  /**
   * The state of the grant before the requests. By default the form of a consent where a decision on it is tried, and a pair
   * whose grace is over for `replay`. Else a code where only redemptions or several of them are tried, else tokens.
   */
  readonly begin?: Beginning
  /**
   * Makes the store of each history, or returns an existing one; `memoryStore` by default. Each history has a grant of its
   * own, so the store need not be emptied. The store must use the given clock, or none.
   */
  readonly store?: (wiring: ExploreStoreWiring) => RecordStore | Promise<RecordStore>
  /**
   * Options of the servers, such as `digests` or `refreshReplay`. Where they declare `audiences`, the grant is for all of these,
   * and every access token is tried at the guard and the introspection of each. They must know all scopes.
   */
  readonly server?: ExploreServerOptions
  /** Makes the servers; `createAuthorizationServer` by default. */
  readonly createServer?: typeof createAuthorizationServer
  /** The most faults in one history, from 0 on; 1 by default. */
  readonly faults?: number
  /** The most histories that are tried in order, from 1 on; 200,000 by default. Where there are more, random ones follow. */
  readonly limit?: number
  /** The number of random histories, from 1 on; 2,000 by default. */
  readonly samples?: number
  /** The seed of random histories and of all secrets, a whole number; 1 by default. */
  readonly seed?: number
  /** Runs this one history alone, as the story of a failure gives it. */
  readonly history?: string
  /** Seconds after which a request that neither asks the store nor is answered counts as hanging; 10 by default. */
  readonly patience?: number
}

/** An exploration that found no broken rule. */
export interface Exploration {
  /** The number of different histories. */
  readonly histories: number
  /** True if there are no other histories. */
  readonly exhaustive: boolean
}

/** A rule that was broken; its message is the story of the shortest history that breaks it. */
export class ExplorationError extends Error {
  /** The name of the class. */
  override readonly name = 'ExplorationError'
  /** The rule, a sentence. */
  readonly rule: string
  /** The value for the option `history` that runs this history again. */
  readonly history: string

  constructor(message: string, rule: string, history: string) {
    super(message)
    this.rule = rule
    this.history = history
  }
}

/**
 * Tries every order of the steps of some requests, and every fault at every step. After each history it checks the rules of
 * a grant's life: codes are redeemed once, a refresh has one successor, nothing works that was revoked or is meant for another
 * resource, nothing is lost, and some order of the requests explains every answer.
 * @throws ExplorationError with the story of the shortest history that breaks a rule: that with the fewest faults, then steps
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown, missing or wrong option, and for a request for a resource that no
 *   option declares
 * @example
 * ```ts
 * test('a refresh beside a revocation', async () => {
 *   await explore({ requests: ['refresh', 'revoke'], store: ({ clock }) => myStore({ clock }) })
 * })
 * ```
 */
export async function explore(options: ExploreOptions): Promise<Exploration> {
  const own = checkedOptions('explore', options, TAKES, ['requests'])
  const { requests, store = ({ clock }) => memoryStore({ clock }), seed = 1, patience = 10 } = own
  const runner = createHistoryRunner({
    requests,
    begin: own.begin ?? beginningFor(requests),
    store,
    server: own.server ?? {},
    createServer: own.createServer ?? createAuthorizationServer,
    seed,
  })
  const { faults = 1, limit = 200_000, samples = 2_000 } = own
  const bounds = { faults, limit, samples, seed }
  const searching = own.history === undefined ? search(runner, bounds) : replay(runner, own.history)
  const { worst, histories, exhaustive } = await withPatience(searching, runner, patience)
  if (worst === undefined) return { histories, exhaustive }
  throw explorationError(worst, histories, own)
}

const TAKES: { readonly [Name in keyof ExploreOptions]-?: Takes } = {
  requests: {
    words: `1 to 26 of ${REQUEST_KINDS.join(', ')}, or requests of one’s own with name and run`,
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

/** Makes the error that tells the story of a failure. */
function explorationError(
  { history, broken }: Failure,
  histories: number,
  { requests }: ExploreOptions,
): ExplorationError {
  const names = requests.map((each) => (typeof each === 'string' ? each : each.name))
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
