/**
 * Requests that run at the same time, one step at a time: each waits before its next step until that step is chosen, then
 * runs until it waits again or ends. So only one of them ever runs, whatever the engine below does to answer it.
 * @module
 */

/** What becomes of a step. All but the first are faults. */
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

/** Whose step comes next, and what becomes of it. */
export interface Choice {
  /** The place of the request, from 0. */
  readonly actor: number
  readonly fate: Fate
}

/** A step that waits to be chosen. */
interface Waiting {
  readonly fates: readonly Fate[]
  readonly ready: () => boolean
  readonly go: (fate: Fate) => void
}

/** How a run came to its end: every request is over, one threw, nobody chose, or there were too many steps. */
export type Ending = 'over' | 'threw' | 'abandoned' | 'endless'

/** Requests under control. */
export interface Schedule {
  /** Which request runs now; undefined before, between and after them. */
  readonly running: () => number | undefined
  /** Makes the running request wait for its next step. @returns what becomes of the step, once it is chosen */
  readonly wait: (
    actor: number,
    step: { readonly fates: readonly Fate[]; readonly ready?: () => boolean },
  ) => Promise<Fate>
  /** Told when a step is done. It matters where nobody waits for it, since its request was answered before. */
  readonly leave: (actor: number) => void
  /** Ends the process of the running request. @returns a promise that nobody keeps */
  readonly die: (actor: number) => Promise<never>
  /**
   * Runs all requests.
   * @param choose - one of the choices there are; undefined abandons the run
   * @param told.before - of each choice before it is made
   * @param told.after - once the request waits again or is over
   * @returns how it ended, and what was thrown where a request threw
   * @throws Error for a request that makes two steps at once, which cannot be ordered
   */
  readonly run: (
    requests: readonly (() => Promise<void>)[],
    choose: (choices: readonly Choice[]) => Choice | undefined,
    told: { readonly before: (choice: Choice) => void; readonly after: () => void },
  ) => Promise<{ readonly ending: Ending; readonly thrown?: unknown }>
}

/** Steps of one run: far more than requests that come to an end could make. */
const MOST_STEPS = 400

/** More promises than there are between a step that nobody waits for and the answer to its request. */
const TURNS = 50

/** Makes a schedule of requests. */
export function schedule(): Schedule {
  const waiting = new Map<number, Waiting>()
  const over = new Set<number>()
  let running: number | undefined
  let quiet = (): void => {}
  let thrown: { readonly thrown: unknown } | undefined
  let misuse: Error | undefined

  /** Lets one request run until it waits again or is over. */
  async function proceed(actor: number, go: () => void): Promise<void> {
    const settled = new Promise<void>((resolve) => {
      quiet = resolve
    })
    running = actor
    go()
    await settled
    // One that did not wait for its own step goes on, and may even end: it gets its turns before anybody else.
    for (let turn = 0; turn < TURNS; turn++) await undefined
    running = undefined
    if (misuse !== undefined) throw misuse
  }

  /** A step that is not ready yet is offered only where there is no other. */
  function choices(): readonly Choice[] {
    const actors = [...waiting.keys()].sort((a, b) => a - b)
    const ready = actors.filter((actor) => waiting.get(actor)?.ready() === true)
    return (ready.length > 0 ? ready : actors).flatMap((actor) =>
      (waiting.get(actor)?.fates ?? []).map((fate) => ({ actor, fate })),
    )
  }

  return {
    running: () => running,

    wait: (actor, { fates, ready = () => true }) =>
      new Promise((go) => {
        if (actor !== running || waiting.has(actor)) {
          misuse = new Error('a request makes two steps at once, which explore cannot put in an order')
          quiet()
          return
        }
        waiting.set(actor, { fates, ready, go })
        quiet()
      }),

    leave: (actor) => {
      if (over.has(actor)) quiet()
    },

    die: () => {
      quiet()
      return new Promise(() => {})
    },

    run: async (requests, choose, { before, after }) => {
      for (const [actor, request] of requests.entries()) {
        await proceed(actor, () => {
          request().then(
            () => {
              over.add(actor)
              quiet()
            },
            (error: unknown) => {
              thrown = { thrown: error }
              quiet()
            },
          )
        })
        if (thrown !== undefined) return { ending: 'threw', ...thrown }
      }
      for (let steps = 0; waiting.size > 0; steps++) {
        if (steps === MOST_STEPS) return { ending: 'endless' }
        const choice = choose(choices())
        const step = choice === undefined ? undefined : waiting.get(choice.actor)
        if (choice === undefined || step === undefined) return { ending: 'abandoned' }
        waiting.delete(choice.actor)
        before(choice)
        if (choice.fate !== 'died-before') await proceed(choice.actor, () => step.go(choice.fate))
        after()
        if (thrown !== undefined) return { ending: 'threw', ...thrown }
      }
      return { ending: 'over' }
    },
  }
}
