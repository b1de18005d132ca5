/**
 * The search for a history that breaks a rule: every history in order, then random ones, or one alone.
 * @module
 */
import { seededNumbers } from '../seeded-entropy.js'
import type { History } from './history.js'
import { faultsIn } from './history.js'
import type { BrokenRule } from './invariants.js'
import { brokenRule } from './invariants.js'
import type { HistoryRunner } from './runner.js'
import type { Choice } from './schedule.js'
import { parseChoices, printChoices } from './story.js'

/** A history that breaks a rule. */
export interface Failure {
  readonly history: History
  readonly broken: BrokenRule
}

/** The result of a search. */
export interface Found {
  /** The number of different histories that were run. */
  readonly histories: number
  /** True if there are no other histories. */
  readonly exhaustive: boolean
  /** The shortest history that breaks a rule. */
  readonly worst: Failure | undefined
}

/** The bounds of a search; each is an option of `explore`. */
export interface Bounds {
  readonly faults: number
  readonly limit: number
  readonly samples: number
  readonly seed: number
}

/** Tries first all histories without a fault, then all with one, and so on, until some break a rule. */
export async function search(runner: HistoryRunner, bounds: Bounds): Promise<Found> {
  const { faults, limit } = bounds
  let histories = 0
  for (let round = 0; round <= faults; round++) {
    const { tried, worst, complete } = await tryInOrder(runner, round, limit - histories)
    histories += tried
    if (worst !== undefined) return { histories, exhaustive: false, worst }
    if (!complete) {
      const random = await tryAtRandom(runner, bounds)
      return { histories: histories + random.tried, exhaustive: false, worst: random.worst }
    }
  }
  return { histories, exhaustive: true, worst: undefined }
}

/** One step on the path through all histories: the choices that were offered there, and the one that is tried now. */
interface Branch {
  chosen: number
  readonly choices: readonly Choice[]
}

/** The histories that were tried. */
interface Tried {
  readonly tried: number
  readonly worst: Failure | undefined
}

/** Tries every history with exactly so many faults, up to a limit: depth first, the last choice changed each time. */
async function tryInOrder(
  runner: HistoryRunner,
  faults: number,
  limit: number,
): Promise<Tried & { readonly complete: boolean }> {
  const path: Branch[] = []
  let worst: Failure | undefined
  let tried = 0
  do {
    if (tried === limit) return { tried, worst, complete: false }
    const history = await followPath(runner, path, faults, worst?.history.choices.length)
    if (history.ending !== 'abandoned' && faultsIn(history.choices) === faults) {
      tried++
      worst = worse(worst, history)
    }
    moveToNextPath(path)
  } while (path.length > 0)
  return { tried, worst, complete: true }
}

/**
 * Runs the history of a path. Where the path ends, it takes the first choice that is offered and makes the path longer.
 * @param longest - abandons a history of more steps
 */
async function followPath(
  runner: HistoryRunner,
  path: Branch[],
  faults: number,
  longest = Number.POSITIVE_INFINITY,
): Promise<History> {
  let depth = 0
  let spent = 0
  const history = await runner.run((offered) => {
    if (depth >= longest) return undefined
    const choices = spent < faults ? offered : offered.filter(({ fate }) => fate === 'happens')
    const branch = path[depth] ?? { chosen: 0, choices }
    if (!isSameOffer(branch.choices, choices))
      throw new Error('the same steps led elsewhere: something in the store or the servers is left to chance')
    path[depth++] = branch
    const choice = branch.choices[branch.chosen]
    if (choice !== undefined && choice.fate !== 'happens') spent++
    return choice
  })
  path.length = depth
  return history
}

/** Changes the last choice of a path that can be changed, and drops those behind it. */
function moveToNextPath(path: Branch[]): void {
  while (path.length > 0 && isExhausted(path.at(-1))) path.pop()
  const last = path.at(-1)
  if (last !== undefined) last.chosen++
}

function isExhausted(branch: Branch | undefined): boolean {
  return branch !== undefined && branch.chosen + 1 >= branch.choices.length
}

function isSameOffer(a: readonly Choice[], b: readonly Choice[]): boolean {
  return (
    a.length === b.length && a.every(({ actor, fate }, index) => b[index]?.actor === actor && b[index]?.fate === fate)
  )
}

/** Tries random histories. */
async function tryAtRandom(runner: HistoryRunner, { faults, samples, seed }: Bounds): Promise<Tried> {
  const random = seededNumbers(seed)
  const tried = new Set<string>()
  let worst: Failure | undefined
  for (let sample = 0; sample < samples; sample++) {
    let spent = 0
    const history = await runner.run((offered) => {
      // A fault at about every eighth step, until there have been enough.
      const isFault = spent < faults && random(8) === 0
      const wanted = offered.filter(({ fate }) => (fate !== 'happens') === isFault)
      const choices = wanted.length > 0 ? wanted : offered.filter(({ fate }) => fate === 'happens')
      const choice = choices[random(choices.length)]
      if (choice?.fate !== 'happens') spent++
      return choice
    })
    tried.add(printChoices(history.choices))
    worst = worse(worst, history)
  }
  return { tried: tried.size, worst }
}

/**
 * Runs the history of a text; after its last choice, the first that is offered each time.
 * @throws TypeError for a text that is not a history, or not one of these requests
 */
export async function replay(runner: HistoryRunner, text: string): Promise<Found> {
  const wanted = parseChoices(text)
  let depth = 0
  const history = await runner.run((offered) => {
    const want = wanted[depth++]
    const choice =
      want === undefined ? offered[0] : offered.find(({ actor, fate }) => actor === want.actor && fate === want.fate)
    if (choice === undefined)
      throw new TypeError(`step ${depth} of the history cannot be: there are ${printChoices(offered)}`)
    return choice
  })
  return { histories: 1, exhaustive: false, worst: worse(undefined, history) }
}

/** Returns the failure that is easier to read: the one with fewer faults, then steps, then changes between requests. */
function worse(worst: Failure | undefined, history: History): Failure | undefined {
  const broken = brokenRule(history)
  if (broken === undefined) return worst
  const before = worst === undefined ? [] : sizesOf(worst.history)
  const differences = sizesOf(history).map((size, index) => size - (before[index] ?? Number.POSITIVE_INFINITY))
  return (differences.find((each) => each !== 0) ?? 0) < 0 ? { history, broken } : worst
}

function sizesOf({ choices }: History): readonly number[] {
  const changes = choices.filter(({ actor }, index) => index > 0 && actor !== choices[index - 1]?.actor)
  return [faultsIn(choices), choices.length, changes.length]
}

/** Returns the result of a search, or a failure once a request hangs in it. */
export async function withPatience(searching: Promise<Found>, runner: HistoryRunner, patience: number): Promise<Found> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let before = -1
  const hanging = new Promise<Found>((resolve) => {
    const look = (): void => {
      const { histories, steps, history } = runner.progress()
      if (steps === before && history !== undefined) {
        const rule = 'Every request asks the store or is answered.'
        const broken = { rule, came: `nothing has come for ${patience} s` }
        resolve({ histories, exhaustive: false, worst: { history, broken } })
        return
      }
      before = steps
      timer = setTimeout(look, patience * 1000)
    }
    look()
  })
  try {
    return await Promise.race([searching, hanging])
  } finally {
    clearTimeout(timer)
  }
}
