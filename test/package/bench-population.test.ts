/**
 * The grants that benchmarks fill their stores with, which no request made: their tokens must be those of the records.
 * @module
 */
import { parseCredential } from 'grantwell/core'
import { expect, it } from 'vitest'
import { grantOf, pairOf, refreshed } from '../../bench/population.mjs'

const NOW = 1_800_000_000

it('makes grants whose tokens can be read and refreshed', () => {
  const grant = grantOf(7, NOW)
  if (grant === undefined) expect.fail('no grant was made')
  const { access_token, refresh_token } = pairOf(7)
  expect(parseCredential(access_token)).toMatchObject({ kind: 'access_token', grantId: grant.id })
  expect(refreshed({ grant, token: refresh_token }, NOW + 60, new Uint8Array(64).fill(3))).toMatchObject({
    grant: { id: grant.id, lastUsedAt: NOW + 60 },
    token: expect.stringMatching(/^gwr_/),
  })
})
