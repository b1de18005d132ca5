/**
 * The measure of growth itself.
 * @module
 */
import { expect, it } from 'vitest'
import { exponentOf, HIGHEST_EXPONENT } from './growth.js'

it('quadratic work is told from linear work', async () => {
  const quadratic = (size: number) => () => {
    let list = ''
    for (let index = 0; index < size / 16; index++) list = [...list, 'a'].join('')
    return list.length
  }
  expect(await exponentOf(quadratic, { small: 1024, large: 16_384 })).toBeGreaterThan(HIGHEST_EXPONENT)
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
