/**
 * Assertions for any test runner: they throw errors that say in words what was demanded and what came instead.
 * @module
 */
import type { Arbitrary } from 'fast-check'
import fc from 'fast-check'
import { sameJson } from '../../core/json.js'

/** The random examples of a property: their seed and their number. */
export interface Examples {
  readonly seed: number
  readonly numRuns: number
}

/** Executions that a failed property may spend on looking for a smaller example: an engine may be slow. */
const SHRINKS = 200

/**
 * Throws.
 * @param clause - what is demanded, to be read after "the contract demands that"
 * @param came - what was seen instead, to be read after "but"
 */
export function fail(clause: string, came: string): never {
  throw new Error(`the contract demands that ${clause}, but ${came}`)
}

/** Throws unless something holds; the texts are those of {@link fail}. */
export function demand(holds: boolean, clause: string, came: string): asserts holds {
  if (!holds) fail(clause, came)
}

/** Throws unless a value is the wanted one: equal as JSON is, whatever the order of names, or undefined both. */
export function same(found: unknown, wanted: unknown, clause: string): void {
  if (!sameJson(found, wanted)) fail(clause, `instead of ${show(wanted)} came ${show(found)}`)
}

/** Prints a value for a message, cut where it is long. */
export function show(value: unknown): string {
  const text = fc.stringify(value)
  return text.length <= 200 ? text : `${text.slice(0, 160)}... (${text.length} characters)`
}

/**
 * Tries random examples until one fails, then smaller ones; throws the failure of the smallest with its seed and path.
 * @throws Error whose `cause` is that failure
 */
export async function forAll<Value>(
  { seed, numRuns }: Examples,
  values: Arbitrary<Value>,
  holds: (value: Value) => Promise<void>,
  examples: readonly NoInfer<Value>[] = [],
): Promise<void> {
  let left = SHRINKS
  let failed = false
  const property = fc.asyncProperty(values, async (value) => {
    if (failed && left-- <= 0) fc.pre(false)
    try {
      await holds(value)
    } catch (error) {
      failed = true
      throw error
    }
  })
  const details = await fc.check(property, {
    seed,
    numRuns: examples.length + numRuns,
    examples: examples.map((value) => [value]),
  })
  if (!details.failed) return
  const { errorInstance: cause, counterexample, counterexamplePath: path, numShrinks } = details
  const reason = cause instanceof Error ? cause.message : show(cause)
  const found = `with ${show(counterexample?.[0])}, shrunk ${numShrinks} times, seed ${seed}, path ${path}`
  throw new Error(`${reason}\n${found}`, { cause })
}
