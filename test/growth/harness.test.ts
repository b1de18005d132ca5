/**
 * The measure of growth itself.
 * @module
 */
import { expect, it } from 'vitest'
import { exponentOf, HIGHEST_EXPONENT } from './growth.js'

it('work that is quadratic is told from work that is linear, whatever the machine', async () => {
  const quadratic = (size: number) => () => {
    let list = ''
    for (let index = 0; index < size / 16; index++) list = [...list, 'a'].join('')
    return list.length
  }
  expect(await exponentOf(quadratic, { small: 1024, large: 16_384 })).toBeGreaterThan(HIGHEST_EXPONENT)
  expect(await exponentOf((size) => () => 'a '.repeat(size).split(' ').length)).toBeLessThan(HIGHEST_EXPONENT)
})
