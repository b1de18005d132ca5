/**
 * Requests that run at the same time, one step at a time: each waits before its next step until that step is chosen, then
 * runs until it waits again or ends. So only one of them ever runs, however the engine below answers it.
 * @module
 */

/** The outcome of a step. All but the first are faults. */
export type Fate =
  | 'happens'
  /** The store throws, and nothing was read. */
  | 'fails'
  /** It is read now, and the answer arrives later, as a step of its own. */
  | 'delayed'
  /** It is written, and the store throws. */
  | 'lost-answer'
  /** It is not written, and the store throws. */
  | 'lost-write'
  /** The process ends before or after the step: nobody is answered. */
  | 'died-before'
  | 'died-after'

/** A choice of the request whose step comes next, and of the outcome of that step. */
export interface Choice {
  /** The place of the request, from 0. */
  readonly actor: number
  readonly fate: Fate
}

/** A step that waits to be chosen. */
interface Step {
  readonly fates: readonly Fate[]
  readonly ready?: () => boolean
}

/** The end of a run: every request is over, one threw, nobody chose, or there were too many steps. */
export type Ending = 'over' | 'threw' | 'abandoned' | 'endless'

/** An observer of the choices of a run. */
export interface ScheduleObserver {
  /** Called with each choice before it is made. */
  readonly before: (choice: Choice) => void
  /** Called once the request waits again or is over. */
  readonly after: () => void
}

/** Requests under control. */
export interface Schedule {
  /** Returns the request that runs now; undefined before, between and after them. */
  readonly running: () => number | undefined
  /** Makes the running request wait for its next step. @returns the outcome of the step, once it is chosen */
  readonly wait: (actor: number, step: Step) => Promise<Fate>
  /** Called when a step is done. It matters where nobody waits for it, since its request was answered before. */
  readonly leave: (actor: number) => void
  /** Ends the process of the running request. @returns a promise that nobody keeps */
  readonly die: (actor: number) => Promise<never>
  /**
   * Runs all requests.
   * @param choose - picks one of the choices there are; undefined abandons the run
   * @returns how it ended, and what was thrown where a request threw
   * @throws Error for a request that makes two steps at once, which cannot be ordered
   */
  readonly run: (
    requests: readonly (() => Promise<void>)[],
    choose: (choices: readonly Choice[]) => Choice | undefined,
    observer: ScheduleObserver,
  ) => Promise<Ended>
}

/** The end of a run, with the error of a request that threw. */
interface Ended {
  readonly ending: Ending
  readonly thrown?: unknown
}

/** Steps of one run: far more than requests that come to an end could make. */
const MOST_STEPS = 400

/** More promises than there are between a step that nobody waits for and the answer to its request. */
const TURNS = 50

/** The state of a schedule. */
interface State {
  readonly waiting: Map<number, Step & { readonly go: (fate: Fate) => void }>
  readonly over: Set<number>
  running: number | undefined
  /** Called once the running request waits again or is over. */
  settle: () => void
  thrown: { readonly thrown: unknown } | undefined
  misuse: Error | undefined
}

/** Makes a schedule of requests. */
export function createSchedule(): Schedule {
  const state: State = {
    waiting: new Map(),
    over: new Set(),
    running: undefined,
    settle: () => {},
    thrown: undefined,
    misuse: undefined,
  }
  return {
    running: () => state.running,
    wait: (actor, step) => wait(state, actor, step),
    leave: (actor) => {
      if (state.over.has(actor)) state.settle()
    },
    die: () => {
      state.settle()
      return new Promise(() => {})
    },
    run: async (requests, choose, observer) => {
      for (const [actor, request] of requests.entries()) {
        await proceed(state, actor, () => begin(state, actor, request))
        if (state.thrown !== undefined) return { ending: 'threw', ...state.thrown }
      }
      return takeSteps(state, choose, observer)
    },
  }
}

function wait(state: State, actor: number, step: Step): Promise<Fate> {
  return new Promise((go) => {
    if (actor !== state.running || state.waiting.has(actor))
      state.misuse = new Error('a request makes two steps at once, which explore cannot put in an order')
    else state.waiting.set(actor, { ...step, go })
    state.settle()
  })
}

/** Begins a request, and notes its end. */
function begin(state: State, actor: number, request: () => Promise<void>): void {
  request().then(
    () => {
      state.over.add(actor)
      state.settle()
    },
    (error: unknown) => {
      state.thrown = { thrown: error }
      state.settle()
    },
  )
}

/** Takes the steps that are chosen, until no request waits. */
async function takeSteps(
  state: State,
  choose: (choices: readonly Choice[]) => Choice | undefined,
  { before, after }: ScheduleObserver,
): Promise<Ended> {
  const { waiting } = state
  for (let steps = 0; waiting.size > 0; steps++) {
    if (steps === MOST_STEPS) return { ending: 'endless' }
    const choice = choose(choicesOf(state))
    const step = choice === undefined ? undefined : waiting.get(choice.actor)
    if (choice === undefined || step === undefined) return { ending: 'abandoned' }
    waiting.delete(choice.actor)
    before(choice)
    if (choice.fate !== 'died-before') await proceed(state, choice.actor, () => step.go(choice.fate))
    after()
    if (state.thrown !== undefined) return { ending: 'threw', ...state.thrown }
  }
  return { ending: 'over' }
}

/** Lets one request run until it waits again or is over. */
async function proceed(state: State, actor: number, go: () => void): Promise<void> {
  const settled = new Promise<void>((resolve) => {
    state.settle = resolve
  })
  state.running = actor
  go()
  await settled
  // One that did not wait for its own step goes on, and may even end: it gets its turns before anybody else.
  for (let turn = 0; turn < TURNS; turn++) await undefined
  state.running = undefined
  if (state.misuse !== undefined) throw state.misuse
}

/** Returns the choices there are. A step that is not ready yet is offered only where there is no other. */
function choicesOf({ waiting }: State): readonly Choice[] {
  const actors = [...waiting.keys()].sort((a, b) => a - b)
  const ready = actors.filter((actor) => waiting.get(actor)?.ready?.() !== false)
  return (ready.length > 0 ? ready : actors).flatMap((actor) =>
    (waiting.get(actor)?.fates ?? []).map((fate) => ({ actor, fate })),
  )
}
