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

/** Rounds of single runs at most. A case that looks superlinear after all of them is measured in another way. */
const ROUNDS_OF_ONE = 30

/** Rounds of many runs at most: fewer, since each takes longer. */
const ROUNDS_OF_MANY = 8

/** Least number of rounds of a doubling: a single small run that is disturbed would be enough to hide quadratic work. */
const DOUBLING_ROUNDS = 5

/** An exponent that linear work never has after {@link DOUBLING_ROUNDS} rounds, however busy the machine: more of them would change nothing. */
const CERTAIN_EXPONENT = 1.8

/** How often a case that looks superlinear is measured before it counts as such. */
const MEASUREMENTS = 8

/** The same for a case that looks worse than {@link CERTAIN_EXPONENT} each time. */
const CERTAIN_MEASUREMENTS = 3

/** Milliseconds between two measurements, so that what disturbs one, or a compiler that comes late, is over in the next. */
const PAUSE = 500

/**
 * Measures the exponent that fits the time of a small and of a large input.
 *
 * What counts is the shortest of many runs, since a busy machine makes a run longer and none shorter; small and large ones
 * take turns. It stops as soon as the growth is seen to be small enough.
 *
 * Runs are measured in processor time. By the clock, a busy machine lengthens every run of several milliseconds, but few runs of a
 * tenth of one, which looks like growth. Where processor time is too coarse for a single run, the clock is used. A case that still
 * looks superlinear is measured again, many runs at once.
 *
 * Memory becomes slower at some size, where a cache is full or the garbage collector begins. So time that seems to grow too fast must
 * do so in each of the last two doublings, as that of quadratic work does.
 */
export async function exponentOf(prepare: Case, sizes: Sizes = WHOLE): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let measurement = 0; measurement < MEASUREMENTS && least >= HIGHEST_EXPONENT; measurement++) {
    if (measurement >= CERTAIN_MEASUREMENTS && least > CERTAIN_EXPONENT) break
    if (measurement > 0) await setTimeout(PAUSE)
    for (const [timeOf, maxRounds] of [
      [timeOfOne, ROUNDS_OF_ONE],
      [timeOfMany, ROUNDS_OF_MANY],
    ] as const)
      if (least >= HIGHEST_EXPONENT) least = Math.min(least, await leastExponentOf(prepare, sizes, timeOf, maxRounds))
  }
  return least
}

/** Measures the milliseconds of one run. */
type Measure = (work: () => unknown) => Promise<number>

async function leastExponentOf(
  prepare: Case,
  { small, large }: Sizes,
  timeOf: Measure,
  maxRounds: number,
): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (const [sizes, minRounds] of [
    [{ small, large }, 3],
    [{ small: large / 2, large }, DOUBLING_ROUNDS],
    [{ small: large / 4, large: large / 2 }, DOUBLING_ROUNDS],
  ] as const)
    if (least >= HIGHEST_EXPONENT)
      least = Math.min(least, await exponentBetween(prepare, sizes, timeOf, { minRounds, maxRounds }))
  return least
}

async function exponentBetween(
  prepare: Case,
  { small, large }: Sizes,
  timeOf: Measure,
  { minRounds, maxRounds }: { readonly minRounds: number; readonly maxRounds: number },
): Promise<number> {
  const [little, big] = [prepare(small), prepare(large)]
  for (let run = 0, warmedFor = 0; run < 8 && warmedFor < LONG; run++) warmedFor += await timeOfOne(little)
  const shortest = { little: Number.POSITIVE_INFINITY, big: Number.POSITIVE_INFINITY }
  let exponent = Number.POSITIVE_INFINITY
  for (let round = 0; round < maxRounds; round++) {
    shortest.big = Math.min(shortest.big, await timeOf(big))
    for (let run = 0, spent = 0; run < 4 && spent < LONG; run++) {
      const beganAt = performance.now()
      shortest.little = Math.min(shortest.little, await timeOf(little))
      spent += performance.now() - beganAt
    }
    // Whatever is shorter than can be measured is as good as free.
    exponent = Math.log(Math.max(shortest.big, TICK) / Math.max(shortest.little, TICK)) / Math.log(large / small)
    if (round + 1 >= minRounds && exponent < HIGHEST_EXPONENT) break
    if (round + 1 >= DOUBLING_ROUNDS && exponent > CERTAIN_EXPONENT) break
    // Gives Vitest a chance to end the test at its time limit.
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
  for (let run = 0; run < runs; run++) shortest = Math.min(shortest, await timeOfOne(work))
  return shortest
}

/** The shortest time that can be measured, in milliseconds. */
const TICK = 0.002

/** Milliseconds of small runs after which a round needs no more of them. */
const LONG = 50

/** Milliseconds after which it is given up to wait for processor time. Some machines do not count it. */
const LONGEST = 2000

/** Returns the processor time of this process in milliseconds, that of V8's helper threads included. */
function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Whether processor time advances in steps that are small beside a run. On some virtual machines it advances in ticks of 4 or 10 ms. */
const isProcessorTimeFine = (() => {
  const [began, beganAt] = [processorTime(), performance.now()]
  let [steps, last] = [0, began]
  while (steps < 100 && last - began < 5 && performance.now() - beganAt < LONGEST) {
    const now = processorTime()
    if (now > last) steps++
    last = now
  }
  return steps === 100
})()

/** Milliseconds of processor time that are measured well: four times as many where it is counted in ticks. */
const MEASURABLE = isProcessorTimeFine ? 50 : 200

/**
 * Measures a single run. Both times are too long rather than too short: that of the clock has whatever else the machine did, that of the
 * processor what helper threads did. So the shorter one is nearer.
 */
async function timeOfOne(work: () => unknown): Promise<number> {
  const [began, beganAt] = [processorTime(), performance.now()]
  const result = work()
  if (result instanceof Promise) await result
  const clock = performance.now() - beganAt
  return isProcessorTimeFine ? Math.min(clock, processorTime() - began) : clock
}

/** Measures the mean of as many runs as take {@link MEASURABLE}, by both times as {@link timeOfOne} does. */
async function timeOfMany(work: () => unknown): Promise<number> {
  const [began, beganAt] = [processorTime(), performance.now()]
  let [runs, processor, clock] = [0, 0, 0]
  for (let batch = 1; processor < MEASURABLE && clock < LONGEST; batch *= 2) {
    for (let run = 0; run < batch; run++) {
      const result = work()
      if (result instanceof Promise) await result
    }
    runs += batch
    processor = processorTime() - began
    clock = performance.now() - beganAt
  }
  return (processor < MEASURABLE ? clock : Math.min(clock, processor)) / runs
}
