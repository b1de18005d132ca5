/**
 * Random numbers from a seed: every run is reproducible from its seed. For tests alone, since every token follows from the
 * seed.
 * @module
 */

/** Returns so many bytes at each call, as the option `entropy` of a server must. */
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

/** Makes a source of whole numbers from 0 up to a bound, exclusive: the same ones for the same seed (mulberry32). */
export function seededNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
