/**
 * What a stranger can make the server, its guards or the client compute is linear in the bytes that they send.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { superlinearOf } from './growth.js'
import { PARSERS } from './parsers.js'

describe('the time of a parser grows with the bytes of its input, and no faster', () => {
  it.each(Object.entries(PARSERS))('%s', { timeout: 1_200_000 }, async (_name, inputs) => {
    expect(await superlinearOf(inputs)).toEqual([])
  })
})
