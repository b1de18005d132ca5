/**
 * Every order in which steps can come to pass: a walk through all choices, and turns for requests that the explorer has no model of.
 * @module
 */
import type { RecordStore } from 'grantwell'
import { expect } from 'vitest'
import type { Choice, Schedule } from '../src/testing/explore/schedule.js'
import { createSchedule } from '../src/testing/explore/schedule.js'
import { seededNumbers } from '../src/testing/seeded-entropy.js'

/** A walk through all ways in which choices can be made, one after the other. */
export interface Walk {
  /** Chooses one of so many options, by the way that is walked now. */
  readonly choose: (options: number) => number
  /** Goes on to the next way; false if there is none. */
  readonly next: () => boolean
}

/** Makes a walk: each choice is taken through all its values. */
export function createWalk(): Walk {
  const path: { chosen: number; readonly options: number }[] = []
  let depth = 0
  return {
    choose: (options) => {
      const known = path[depth++]
      if (known !== undefined) return known.chosen
      path.push({ chosen: 0, options })
      return 0
    },
    next: () => {
      path.length = depth
      depth = 0
      while ((path.at(-1)?.chosen ?? 0) + 1 === path.at(-1)?.options) path.pop()
      const last = path.at(-1)
      if (last !== undefined) last.chosen++
      return last !== undefined
    },
  }
}

/** Chooses whose step comes next. */
export type Choose = (choices: readonly Choice[]) => Choice | undefined

/** Calls back once for every order, up to a limit. @returns how many there were, and whether these are all */
export async function inEveryOrder(
  play: (choose: Choose) => Promise<void>,
  limit = Number.POSITIVE_INFINITY,
): Promise<{ readonly orders: number; readonly isComplete: boolean }> {
  const walk = createWalk()
  for (let orders = 1; ; orders++) {
    await play((choices) => choices[walk.choose(choices.length)])
    const isComplete = !walk.next()
    if (isComplete || orders === limit) return { orders, isComplete }
  }
}

/** Calls back for so many orders by a seed. One goes on for some steps, then another: between two steps of one there may be all of another's. */
export async function inSomeOrders(play: (choose: Choose) => Promise<void>, count: number, seed = 1): Promise<void> {
  const random = seededNumbers(seed)
  for (let sample = 0; sample < count; sample++) {
    let actor = 0
    let left = 0
    await play((choices) => {
      if (left-- <= 0 || choices.every((each) => each.actor !== actor)) {
        actor = choices[random(choices.length)]?.actor ?? 0
        left = random(4) === 0 ? 100 : random(5)
      }
      return choices.find((each) => each.actor === actor)
    })
  }
}

/** Requests whose operations of the store happen one by one, in the order that is chosen. */
export interface Turns {
  /** Returns the view of a store that one request has: while requests run, each operation waits for its turn. */
  readonly store: (inner: RecordStore, actor: number) => RecordStore
  /** Runs requests at once, each at a server over its own view. */
  readonly run: (requests: readonly (() => Promise<unknown>)[], choose: Choose) => Promise<void>
}

/**
 * Makes turns by the schedule of the explorer.
 * @param passing - names of records and labels that wait for no turn
 */
export function createTurns(passing: RegExp): Turns {
  let turns: Schedule | undefined

  async function turn(actor: number, name = ''): Promise<void> {
    if (turns !== undefined && !passing.test(name)) await turns.wait(actor, { fates: ['happens'] })
  }

  return {
    store: (inner, actor) => ({
      read: async (keys) => {
        await turn(actor, keys[0])
        return inner.read(keys)
      },
      write: async (key, value, options) => {
        await turn(actor, key)
        return inner.write(key, value, options)
      },
      list: async (label, page) => {
        await turn(actor, label)
        return inner.list(label, page)
      },
    }),
    run: async (requests, choose) => {
      turns = createSchedule()
      const running = requests.map((request) => async () => {
        await request()
      })
      const { ending, thrown } = await turns.run(running, choose, { before: () => {}, after: () => {} })
      turns = undefined
      expect([ending, thrown]).toStrictEqual(['over', undefined])
    },
  }
}
