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

/** Milliseconds of the processor's time that every machine tells rightly: of fewer, a virtual machine may count half or none. */
const LONG = 50

/** Rounds of single runs until a case still looks superlinear. */
const ROUNDS_OF_ONE = 30

/** Rounds of runs that are told together: each is as long as hundreds of a small one. */
const ROUNDS_OF_MANY = 8

/** Rounds of a doubling at least. A disturbed run of its small input alone would hide that work is quadratic. */
const DOUBLING_ROUNDS = 5

/** Growth that no disturbance makes of linear work in {@link DOUBLING_ROUNDS} rounds: more of them tell nothing. */
const CERTAIN_EXPONENT = 1.8

/** Measurements of a case that looks superlinear, before it counts as such. */
const MEASUREMENTS = 8

/** Measurements of a case whose growth is {@link CERTAIN_EXPONENT} each time. */
const CERTAIN_MEASUREMENTS = 3

/** Milliseconds between two measurements, so that what disturbs one, or a compiler that comes late, is over in the next. */
const PAUSE = 500

/**
 * Measures the exponent that fits the time of a small and of a large input.
 *
 * What counts is the shortest of many runs, since a busy machine makes a run longer and none shorter; small and large ones
 * take turns. It stops as soon as the growth is seen to be small enough.
 *
 * A run is told by the processor's time: a busy machine interrupts a run of some milliseconds each time and one of a tenth never,
 * which looks like growth on a clock. Where the processor's time is coarse, the clock finds nearly all that is linear, and runs that
 * are told together the rest.
 *
 * A cache that ends or a garbage collector that begins makes memory dearer at one size. So time that seems to grow too fast must
 * do so in each of the last two doublings, as that of quadratic work does.
 */
export async function exponentOf(prepare: Case, sizes: Sizes = WHOLE): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let measurement = 0; measurement < MEASUREMENTS && least >= HIGHEST_EXPONENT; measurement++) {
    if (measurement >= CERTAIN_MEASUREMENTS && least > CERTAIN_EXPONENT) break
    if (measurement > 0) await setTimeout(PAUSE)
    for (const [timeOf, rounds] of [
      [timeOfOne, ROUNDS_OF_ONE],
      [timeOfMany, ROUNDS_OF_MANY],
    ] as const)
      if (least >= HIGHEST_EXPONENT) least = Math.min(least, await leastExponentOf(prepare, sizes, timeOf, rounds))
  }
  return least
}

/** Returns the milliseconds that one run of something takes. */
type Measure = (work: () => unknown) => Promise<number>

async function leastExponentOf(prepare: Case, { small, large }: Sizes, timeOf: Measure, most: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (const [sizes, rounds] of [
    [{ small, large }, 3],
    [{ small: large / 2, large }, DOUBLING_ROUNDS],
    [{ small: large / 4, large: large / 2 }, DOUBLING_ROUNDS],
  ] as const)
    if (least >= HIGHEST_EXPONENT) least = Math.min(least, await exponentBetween(prepare, sizes, timeOf, rounds, most))
  return least
}

async function exponentBetween(
  prepare: Case,
  { small, large }: Sizes,
  timeOf: Measure,
  rounds: number,
  most: number,
): Promise<number> {
  const [little, big] = [prepare(small), prepare(large)]
  for (let run = 0, warm = 0; run < 8 && warm < LONG; run++) warm += await timeOfOne(little, clock)
  const shortest = { little: Number.POSITIVE_INFINITY, big: Number.POSITIVE_INFINITY }
  let exponent = Number.POSITIVE_INFINITY
  for (let round = 0; round < most; round++) {
    shortest.big = Math.min(shortest.big, await timeOf(big))
    for (let run = 0, spent = 0; run < 4 && spent < LONG; run++) {
      const began = clock()
      shortest.little = Math.min(shortest.little, await timeOf(little))
      spent += clock() - began
    }
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
  for (let run = 0; run < runs; run++) shortest = Math.min(shortest, await timeOfOne(work, clock))
  return shortest
}

/** Milliseconds that a clock can tell. */
const TICK = 0.002

/** Milliseconds until a measurement ends on a machine that does not count the processor's time. */
const LONGEST = 2000

function clock(): number {
  return performance.now()
}

/** Tells the milliseconds of the processor that this process has used, those of the helpers of V8 among them. */
function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Whether the processor's time is told in steps that are small beside a run: on some virtual machines they are ticks of 4 or 10 ms. */
const isProcessorTimeFine = (() => {
  const [began, beganAt] = [processorTime(), clock()]
  let [steps, last] = [0, began]
  while (steps < 100 && clock() - beganAt < LONGEST) {
    const now = processorTime()
    if (now > last) steps++
    last = now
  }
  return steps === 100 && last - began < LONG
})()

async function timeOfOne(work: () => unknown, now = isProcessorTimeFine ? processorTime : clock): Promise<number> {
  const began = now()
  const result = work()
  if (result instanceof Promise) await result
  return now() - began
}

/** Tells as many runs together as take {@link LONG}: by the processor's time, or by the clock where helpers of V8 worked beside it. */
async function timeOfMany(work: () => unknown): Promise<number> {
  const [beganAt, processor] = [clock(), processorTime()]
  let [runs, ofClock, ofProcessor] = [0, 0, 0]
  for (let more = 1; ofProcessor < LONG && ofClock < LONGEST; more *= 2) {
    for (let run = 0; run < more; run++) {
      const result = work()
      if (result instanceof Promise) await result
    }
    runs += more
    ofProcessor = processorTime() - processor
    ofClock = clock() - beganAt
  }
  return Math.min(ofClock, Math.max(ofProcessor, TICK)) / runs
}
