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

/** Milliseconds of the processor's time that are told rightly: of fewer, a virtual machine may count half or none. */
const LONG = 50

/** Rounds until a case that still looks superlinear by the clock is measured by the processor. */
const CLOCK_ROUNDS = 20

/** Rounds of it until a case that looks superlinear by the processor's time is one, or is measured again. */
const PROCESSOR_ROUNDS = 8

/** Rounds of a doubling at least. A disturbed run of its small input alone would hide that work is quadratic. */
const DOUBLING_ROUNDS = 5

/** Growth that no disturbance makes of linear work in {@link DOUBLING_ROUNDS} rounds: more of them tell nothing. */
const CERTAIN_EXPONENT = 1.8

/** Measurements by the processor of a case that looks superlinear, before it counts as such. */
const MEASUREMENTS = 4

/** Measurements of a case whose growth is {@link CERTAIN_EXPONENT} each time. */
const CERTAIN_MEASUREMENTS = 2

/** Milliseconds between two measurements, so that what disturbs one, or a compiler that comes late, is over in the next. */
const PAUSE = 500

/**
 * Measures the exponent that fits the time of a small and of a large input.
 *
 * What counts is the shortest of many runs, since a busy machine makes a run longer and none shorter; small and large ones
 * take turns. It stops as soon as the growth is seen to be small enough.
 *
 * First it looks at the clock. That finds nearly all that is linear, and soon; but a busy machine interrupts a run of some
 * milliseconds each time and one of a tenth never, which looks like growth. So whatever looks superlinear is measured again by the
 * time of the processor.
 *
 * A cache that ends or a garbage collector that begins makes memory dearer at one size. So time that seems to grow too fast must
 * do so in each of the last two doublings, as that of quadratic work does.
 */
export async function exponentOf(prepare: Case, sizes: Sizes = WHOLE): Promise<number> {
  let least = await leastExponentOf(prepare, sizes, clockTimeOf, CLOCK_ROUNDS)
  for (let measurement = 0; measurement < MEASUREMENTS && least >= HIGHEST_EXPONENT; measurement++) {
    if (measurement >= CERTAIN_MEASUREMENTS && least > CERTAIN_EXPONENT) break
    if (measurement > 0) await setTimeout(PAUSE)
    least = Math.min(least, await leastExponentOf(prepare, sizes, processorTimeOf, PROCESSOR_ROUNDS))
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
  for (let run = 0, warm = 0; run < 8 && warm < LONG; run++) warm += await clockTimeOf(little)
  const shortest = { little: Number.POSITIVE_INFINITY, big: Number.POSITIVE_INFINITY }
  let exponent = Number.POSITIVE_INFINITY
  for (let round = 0; round < most; round++) {
    shortest.big = Math.min(shortest.big, await timeOf(big))
    for (let run = 0, spent = 0; run < 4 && spent < LONG; run++) {
      const began = performance.now()
      shortest.little = Math.min(shortest.little, await timeOf(little))
      spent += performance.now() - began
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
  for (let run = 0; run < runs; run++) shortest = Math.min(shortest, await clockTimeOf(work))
  return shortest
}

/** Milliseconds that a clock can tell. */
const TICK = 0.002

/** Milliseconds until a measurement ends on a machine that does not count the processor's time. */
const LONGEST = 2000

async function clockTimeOf(work: () => unknown): Promise<number> {
  const began = performance.now()
  const result = work()
  if (result instanceof Promise) await result
  return performance.now() - began
}

/**
 * Tells as many runs together as take {@link LONG}. The processor's time waits for nobody, but counts the helpers of V8, too: where
 * nothing else runs, the clock is shorter.
 */
async function processorTimeOf(work: () => unknown): Promise<number> {
  const [began, used] = [performance.now(), process.cpuUsage()]
  let [runs, clock, processor] = [0, 0, 0]
  for (let more = 1; processor < LONG && clock < LONGEST; more *= 2) {
    for (let run = 0; run < more; run++) {
      const result = work()
      if (result instanceof Promise) await result
    }
    runs += more
    const { user, system } = process.cpuUsage(used)
    processor = (user + system) / 1000
    clock = performance.now() - began
  }
  return Math.min(clock, Math.max(processor, TICK)) / runs
}
