/**
 * The measure of growth itself.
 * @module
 */
import { expect, it } from 'vitest'
import { exponentOf, HIGHEST_EXPONENT } from './growth.js'

// A busy machine may hide it, and then another look finds it.
it('quadratic work is told from linear work', { retry: 4 }, async () => {
  // Nothing but steps: what takes time beside them would hide on a busy machine how they grow.
  const quadratic = (size: number) => () => {
    let sum = 0
    for (let first = 0; first < size; first++) for (let second = 0; second < size; second++) sum += (first ^ second) & 1
    return sum
  }
  expect(await exponentOf(quadratic, { small: 512, large: 8192 })).toBeGreaterThan(HIGHEST_EXPONENT)
  expect(await exponentOf((size) => () => 'a '.repeat(size).split(' ').length)).toBeLessThan(HIGHEST_EXPONENT)
})

it('linear work that is dearer from one size on is not taken for quadratic work', async () => {
  const stepped = (size: number) => () => {
    let sum = 0
    for (let index = 0; index < size * (size > 20_000 ? 100 : 10); index++) sum += index % 7
    return sum
  }
  expect(await exponentOf(stepped)).toBeLessThan(HIGHEST_EXPONENT)
})
