/**
 * Measures how the time of something grows with the size of its input, on a machine that does other things as well.
 * @module
 */
import { setTimeout } from 'node:timers/promises'

/** Something that is done with an input: made for a size outside the time that is taken. */
export type Case = (size: number) => () => unknown

/** The small input; the large one is {@link FACTOR} times its size. */
export interface Sizes {
  readonly small: number
  readonly large: number
}

/** How many times as large the large input is. */
export const FACTOR = 16

/** A size of most inputs: the large one is as long as a body may be. */
export const WHOLE: Sizes = { small: 4096, large: 4096 * FACTOR }

/** Cost is taken to grow as this power of the size at most: 1 is linear, 2 is quadratic. */
export const HIGHEST_EXPONENT = 1.4

/** Milliseconds of a run that is told by one look, since what disturbs it is small beside it. */
const LONG = 50

/** Rounds until a case that still looks superlinear is one. */
const ROUNDS = 60

/** Rounds of a doubling at least. A disturbed run of its small input alone would hide that work is quadratic. */
const DOUBLING_ROUNDS = 5

/** Growth that no disturbance makes of linear work in {@link DOUBLING_ROUNDS} rounds: more of them tell nothing. */
const CERTAIN_EXPONENT = 1.8

/** Measurements of a case that looks superlinear, before it counts as such. */
const MEASUREMENTS = 8

/** Milliseconds between two measurements, so that what disturbs one, or a compiler that comes late, is over in the next. */
const PAUSE = 500

/**
 * Milliseconds of rest before each large run of a measurement that is repeated. A busy system interrupts whoever has worked for some milliseconds,
 * so that every large run is told too long and no small one; who has rested is let work on.
 */
const REST = 20

/** Measurements of a case whose growth is {@link CERTAIN_EXPONENT} each time. */
const CERTAIN_MEASUREMENTS = 3

/**
 * Measures the exponent that fits the time of a small and of a large input.
 *
 * What counts is the shortest of many runs, since a busy machine makes a run longer and none shorter; small and large ones
 * take turns. It stops as soon as the growth is seen to be small enough.
 *
 * A cache that ends or a garbage collector that begins makes memory dearer at one size. So time that seems to grow too fast must
 * do so in each of the last two doublings, as that of quadratic work does.
 */
export async function exponentOf(prepare: Case, { small, large }: Sizes = WHOLE): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let measurement = 0; measurement < MEASUREMENTS && least >= HIGHEST_EXPONENT; measurement++) {
    if (measurement >= CERTAIN_MEASUREMENTS && least > CERTAIN_EXPONENT) break
    if (measurement > 0) await setTimeout(PAUSE)
    for (const [sizes, rounds] of [
      [{ small, large }, 3],
      [{ small: large / 2, large }, DOUBLING_ROUNDS],
      [{ small: large / 4, large: large / 2 }, DOUBLING_ROUNDS],
    ] as const)
      if (least >= HIGHEST_EXPONENT)
        least = Math.min(least, await exponentBetween(prepare, sizes, rounds, measurement > 0 ? REST : 0))
  }
  return least
}

async function exponentBetween(prepare: Case, { small, large }: Sizes, rounds: number, rest: number): Promise<number> {
  const [little, big] = [prepare(small), prepare(large)]
  let warm = Number.POSITIVE_INFINITY
  for (let run = 0; run < 8 && (run === 0 || warm < LONG); run++) warm = Math.min(warm, await timeOf(little))
  const shortest = { little: Number.POSITIVE_INFINITY, big: Number.POSITIVE_INFINITY }
  let exponent = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    if (rest > 0) await setTimeout(rest)
    const once = await timeOf(big)
    shortest.big = Math.min(shortest.big, once)
    // Both are told by one measure: where a large run is told by the processor, so are as many small ones as take long together.
    const together = once < LONG ? 1 : Math.ceil((2 * LONG) / Math.max(warm, TICK))
    for (let run = 0; run < 4 && (run === 0 || (together === 1 && shortest.little < LONG)); run++)
      shortest.little = Math.min(shortest.little, await timeOf(little, Math.min(together, TOGETHER_MAX)))
    // Whatever is shorter than a clock can tell is as good as free.
    exponent = Math.log(shortest.big / Math.max(shortest.little, TICK)) / Math.log(large / small)
    if (round + 1 >= rounds && exponent < HIGHEST_EXPONENT) break
    if (round + 1 >= DOUBLING_ROUNDS && exponent > CERTAIN_EXPONENT) break
    // Lets the time limit of a test end it.
    await new Promise(setImmediate)
  }
  return exponent
}

/** Measures inputs by their names, and lists those whose cost grows faster than they do, each with its exponent. */
export async function superlinearOf(
  inputs: Iterable<readonly [name: string, { readonly prepare: Case; readonly sizes: Sizes }]>,
): Promise<[name: string, exponent: number][]> {
  const superlinear: [string, number][] = []
  for (const [name, { prepare, sizes }] of inputs) {
    const exponent = await exponentOf(prepare, sizes)
    if (exponent >= HIGHEST_EXPONENT) superlinear.push([name, Number(exponent.toFixed(2))])
  }
  return superlinear
}

/** Returns the shortest time of some runs, in milliseconds. */
export async function shortestTimeOf(work: () => unknown, runs = 20): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let run = 0; run < runs; run++) shortest = Math.min(shortest, await timeOf(work))
  return shortest
}

/** Milliseconds. */
const TICK = 0.002

/** Small runs that are told together, at most. */
const TOGETHER_MAX = 10_000

/**
 * Milliseconds of one run of something: by the clock, or where that is long by the processor, which waits for nobody but counts the helpers
 * of V8, too. Of a short run, a virtual machine may count half of the processor's time or none.
 */
async function timeOf(work: () => unknown, runs = 1): Promise<number> {
  const begun = { clock: performance.now(), processor: process.cpuUsage() }
  for (let run = 0; run < runs; run++) {
    const result = work()
    if (result instanceof Promise) await result
  }
  const clock = performance.now() - begun.clock
  if (clock < LONG) return clock / runs
  const { user, system } = process.cpuUsage(begun.processor)
  return Math.min(clock, (user + system) / 1000) / runs
}
