/**
 * An arbitrary that has one value most of the time.
 * @module
 */
import * as fc from 'fast-check'

/**
 * Makes an arbitrary of a usual value and, now and then, another one. Shrinks to the usual value.
 * @param weight - the number of usual values for each other one
 */
export function usually<Value>(usual: Value, other: fc.Arbitrary<Value>, weight: number): fc.Arbitrary<Value> {
  return fc.oneof({ withCrossShrink: true }, { weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other })
}
