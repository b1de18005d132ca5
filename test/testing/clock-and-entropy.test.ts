/**
 * The virtual clock and the seeded entropy: what makes a run the same each time.
 * @module
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededEntropy, seededNumbers } from '../../src/testing/seeded-entropy.js'
import { virtualClock } from '../../src/testing/virtual-clock.js'

describe('a virtual clock', () => {
  it('stands still until it is told otherwise', () => {
    const clock = virtualClock()
    expect([clock(), clock()]).toStrictEqual([1_800_000_000, 1_800_000_000])
    clock.advance(28_800)
    expect(clock()).toBe(1_800_028_800)
    clock.advance(-1)
    expect(clock()).toBe(1_800_028_799)
    clock.set(7)
    expect(clock()).toBe(7)
  })

  it("begins where it is told, and is nobody else's", () => {
    const [one, other] = [virtualClock(1), virtualClock(1)]
    one.advance(1)
    expect([one(), other()]).toStrictEqual([2, 1])
  })

  it('refuses what is no whole number of seconds, and goes on', () => {
    const clock = virtualClock(5)
    for (const time of [Number.NaN, 0.5, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => virtualClock(time)).toThrow(TypeError)
      expect(() => clock.set(time)).toThrow(TypeError)
      expect(() => clock.advance(time)).toThrow(TypeError)
    }
    expect(clock()).toBe(5)
  })
})

describe('seeded entropy', () => {
  it('gives as many bytes as it is asked for, the same ones for the same seed, and other ones for another', () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(fc.nat(100)), (seed, lengths) => {
        const [one, same, other] = [seededEntropy(seed), seededEntropy(seed), seededEntropy(seed + 1)]
        for (const length of lengths) {
          const bytes = one(length)
          expect(bytes).toBeInstanceOf(Uint8Array)
          expect(bytes).toHaveLength(length)
          expect(same(length)).toStrictEqual(bytes)
          expect(length > 16 && String(other(length)) === String(bytes)).toBe(false)
        }
      }),
    )
  })

  it('never gives the same 16 bytes twice, and every byte there is', () => {
    const entropy = seededEntropy(1)
    const given = Array.from({ length: 5000 }, () => entropy(16))
    expect(new Set(given.map(String)).size).toBe(5000)
    expect(new Set(given.flatMap((bytes) => [...bytes])).size).toBe(256)
  })

  it('makes numbers below their bound, each as often as the others', () => {
    const next = seededNumbers(3)
    const counts = Array.from({ length: 6 }, () => 0)
    for (let count = 0; count < 6000; count++) {
      const number = next(6)
      counts[number] = (counts[number] ?? Number.NaN) + 1
    }
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150)
  })
})
