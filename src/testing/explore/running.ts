/**
 * A history while it runs: its requests, the store as each of them sees it, and the record of what happens.
 * @module
 */
import type { RecordStore } from '../../storage/record-store.js'
import type { VirtualClock } from '../virtual-clock.js'
import type { StartedGrant } from './beginning.js'
import type { Ask, Form } from './calls.js'
import type { CallAnswer, History, Operation, ReceivedPair } from './history.js'
import { isAnswered } from './history.js'
import type { Caller } from './requests.js'
import type { Choice, Schedule } from './schedule.js'
import { describeAnswer, nameOfText } from './story.js'
import type { AddToLine, Versions, Watch } from './watched-store.js'

/** A history that is running. */
export interface RunningHistory extends History {
  readonly clock: VirtualClock
  /** The user: another one in every history, so that a store need not be emptied. */
  readonly subject: string
  /** The form of the consent, where the grant begins with one. */
  form: Form | undefined
  code: string
  readonly store: RecordStore
  readonly schedule: Schedule
  readonly entropy: (length: number) => Uint8Array
  readonly versions: Versions
  /** The grant before the requests; absent where it begins with the form of a consent. */
  readonly started: StartedGrant | undefined
  readonly choices: Choice[]
  readonly lines: { readonly actor: number; text: string; note?: string }[]
  readonly operations: Operation[]
  readonly pairs: ReceivedPair[]
  /** The operation of each request that was not answered yet. */
  readonly open: Map<number, Operation>
  /** The step that each request waits to take, in words. */
  readonly next: Map<number, string>
  /** The number of events so far: the time in {@link Operation}. */
  events: number
  readonly progress: Progress
}

/** The progress of all histories, for a watch over requests that hang. */
export interface Progress {
  /** The number of histories that have begun. */
  histories: number
  /** The number of steps and requests of all histories. */
  steps: number
}

/** Returns the view that the explorer has of the store of one request. */
export function watchOf(running: RunningHistory, actor: number): Watch {
  const { schedule, next, open, versions } = running
  return {
    versions,
    wait: async (step, fates, ready) => {
      next.set(actor, step)
      const fate = await schedule.wait(actor, { fates, ...(ready !== undefined && { ready }) })
      return { fate, told: addLine(running, actor, step) }
    },
    die: () => schedule.die(actor),
    leave: () => schedule.leave(actor),
    wrote: () => {
      const wrote = open.get(actor)?.wrote
      wrote?.push(running.events++)
      return () => wrote?.pop()
    },
  }
}

/** Begins a line of the story. @returns adds to it, or to the last line that the same request has begun since */
export function addLine({ lines }: RunningHistory, actor: number, text: string): AddToLine {
  lines.push({ actor, text })
  return (more, note) => {
    const line = lines.findLast((each) => each.actor === actor)
    if (line === undefined) return
    line.text += more
    if (note !== undefined) line.note = note
  }
}

/** Notes the first step of an operation. */
export function beginOperation(running: RunningHistory, operation: Operation): void {
  if (operation.begin !== undefined) return
  operation.begin = running.events++
  operation.nows.push(running.clock())
}

/** Sends a request, and records its answer. */
export async function send(
  running: RunningHistory,
  by: Operation['by'],
  ask: Ask,
  does: Operation['does'],
  shows: string,
  resource?: string,
): Promise<CallAnswer> {
  const operation: Operation = { by, does, shows, resource, nows: [], faults: [], wrote: [] }
  running.operations.push(operation)
  running.progress.steps++
  if (typeof by === 'number') running.open.set(by, operation)
  else beginOperation(running, operation)
  const answer = await ask[does](shows, resource)
  beginOperation(running, operation)
  if (typeof by === 'number') running.open.delete(by)
  operation.told = answer
  operation.end = running.events++
  if (answer.says === 'code' && running.code === '') running.code = answer.code
  if (answer.says === 'tokens' && !running.pairs.some((pair) => isSamePair(pair, answer))) running.pairs.push(answer)
  return answer
}

/**
 * Sends every request again that got no answer, as a client would, and then tries every token and the code.
 * @param ask - sends requests to a server that is well
 */
export async function lookAround(running: RunningHistory, ask: Ask): Promise<void> {
  const unanswered = running.operations.filter((each) => !isAnswered(each))
  for (const { does, shows, resource } of unanswered) await send(running, 'retry', ask, does, shows, resource)
  await tryAccessTokens(running, ask)
  // The newest first, since an old one may be a replay, which ends everything; so does the code.
  for (const { refreshToken } of running.pairs.toReversed()) await send(running, 'probe', ask, 'refresh', refreshToken)
  if (running.code !== '') await send(running, 'probe', ask, 'exchange', running.code)
  await tryAccessTokens(running, ask)
}

/** Tries every access token at the service itself, and at each protected resource, which may be elsewhere. */
async function tryAccessTokens(running: RunningHistory, ask: Ask): Promise<void> {
  for (const { accessToken } of [...running.pairs]) {
    await send(running, 'probe', ask, 'validate', accessToken)
    for (const resource of running.audience ?? []) {
      await send(running, 'probe', ask, 'validate', accessToken, resource)
      await send(running, 'probe', ask, 'introspect', accessToken, resource)
    }
  }
}

/**
 * Makes the caller that a request is run with.
 * @param ask - sends requests to the server of its own
 */
export function createCaller(running: RunningHistory, actor: number, ask: Ask): Caller {
  const { started, pairs, clock } = running
  const { wait } = watchOf(running, actor)
  const sends = (does: Operation['does']) => async (shows: string, resource?: string) => {
    const answer = await send(running, actor, ask, does, shows, resource)
    addLine(running, actor, describeAnswer(does, answer, nameOfText(running.code, pairs)))
    return answer
  }
  return {
    code: running.code,
    firstPair: started?.pairs[0],
    newestCode: async () => {
      if (running.code === '') await wait('has waited for a code', ['happens'], () => running.code !== '')
      return running.code === '' ? undefined : running.code
    },
    newestPair: async () => {
      if (pairs.length === 0) await wait('has waited for tokens', ['happens'], () => pairs.length > 0)
      return pairs.at(-1)
    },
    decide: sends('decide'),
    exchange: sends('exchange'),
    refresh: sends('refresh'),
    revoke: sends('revoke'),
    validate: sends('validate'),
    pass: async (seconds) => {
      await wait(`lets ${seconds} seconds pass`, ['happens'])
      clock.advance(seconds)
    },
  }
}

function isSamePair(a: ReceivedPair, b: ReceivedPair): boolean {
  return a.accessToken === b.accessToken && a.refreshToken === b.refreshToken
}
