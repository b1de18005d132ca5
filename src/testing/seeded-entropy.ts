/**
 * Random numbers that are the same for the same seed, so that any run can be had again. For tests alone: whoever knows
 * the seed knows every token.
 * @module
 */

/** So many bytes at each call, as the option `entropy` of a server wants them. */
export type Entropy = (length: number) => Uint8Array

/**
 * Makes a source of bytes that gives the same ones for the same seed.
 * @param seed - any whole number; its lower 32 bits count
 * @example
 * ```ts
 * const server = createAuthorizationServer({ ...options, entropy: seededEntropy(7) })
 * ```
 */
export function seededEntropy(seed: number): Entropy {
  const next = seededNumbers(seed)
  return (length) => Uint8Array.from({ length }, () => next(256))
}

/** Whole numbers from 0 up to a bound, exclusive, the same ones for the same seed (mulberry32). */
export function seededNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
