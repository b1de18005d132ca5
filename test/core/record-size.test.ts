/**
 * How large the record of a grant can become (specification, section 4.3: a refresh makes a new pair each time). What bounds it are
 * the pairs that may be in grace at once, and the digests of retired tokens that are kept; nothing else in it grows.
 * @module
 */
import * as fc from 'fast-check'
import type { Grant } from 'grantwell/core'
import { PAIRS_IN_GRACE, RETIRED_KEPT } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import type { World } from './histories.js'
import {
  entropyOf,
  exchangedWorld,
  GRANTED,
  histories,
  issuedBy,
  play,
  refreshOf,
  refreshTimes,
  revokeOf,
  SETUP,
  setupWith,
} from './histories.js'

/** Bytes that engines are sent. */
const bytesOf = (record: unknown): number => new TextEncoder().encode(JSON.stringify(record)).length

/** Every time of ten digits: until the year 2286. */
const TIME = 9_999_999_999
const DIGEST = '0'.repeat(43)

/** The record with the most and the longest pairs and digests that a grant for its scopes, resources and audience can have. */
function largest({ pairs: _pairs, retired: _retired, code, scopes, ...rest }: Grant): number {
  const { audience } = rest
  const newest = {
    access: {
      digest: DIGEST,
      expiresAt: TIME,
      scopes,
      type: 'mac',
      revokedAt: TIME,
      ...(audience !== undefined && { audience }),
    },
    refresh: { digest: DIGEST, expiresAt: TIME },
  }
  const superseded = { ...newest, superseded: { at: TIME, until: TIME, salt: DIGEST } }
  return bytesOf({
    ...rest,
    scopes,
    code: { ...code, usedAt: TIME },
    lastUsedAt: TIME,
    pairs: [...Array.from({ length: PAIRS_IN_GRACE }, () => superseded), newest],
    retired: Array.from({ length: RETIRED_KEPT }, () => DIGEST),
  })
}

/** Refreshes the newest token for one of the type mac. */
function refreshMac(here: World): void {
  issuedBy(here.send({ ...refreshOf(here), tokenType: 'mac' }))
}

describe('the record of a grant', () => {
  it('is never larger than its most pairs in grace and its most retired digests make it, whatever happens to it', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        const { moments } = play(setup, steps)
        const most = largest(moments[0]?.outcome.grant as Grant) // an approval makes one
        for (const { outcome } of moments)
          expect(outcome.grant === undefined ? 0 : bytesOf(outcome.grant)).toBeLessThanOrEqual(most)
      }),
      { numRuns: 200 },
    )
  })

  it('is never larger, however its refreshes are spaced and whatever scopes they ask for', () => {
    const refreshes = fc.array(
      fc.record({
        pause: fc.constantFrom(0, 1, 5, 10, 299, 300, 28_800),
        times: fc.integer({ min: 1, max: 80 }),
        scopes: fc.constantFrom(undefined, GRANTED, GRANTED.slice(1)),
        tokenType: fc.constantFrom(undefined, 'mac' as const),
      }),
      { minLength: 1, maxLength: 6 },
    )
    fc.assert(
      fc.property(refreshes, (bursts) => {
        const here = exchangedWorld(setupWith({ derivationKey: entropyOf(-4) }))
        const most = largest(here.grant as Grant) // an exchange leaves one
        for (const { pause, times, scopes, tokenType } of bursts) {
          for (let done = 0; done < times; done++) {
            here.now += pause
            here.send({ ...refreshOf(here, -1, scopes), tokenType })
          }
        }
        for (const { outcome } of here.moments)
          expect(outcome.grant === undefined ? 0 : bytesOf(outcome.grant)).toBeLessThanOrEqual(most)
      }),
      { numRuns: 60 },
    )
  })

  it('gets that large and no larger: all digests kept, all pairs in grace, of the longer type, each access token revoked', () => {
    const here = exchangedWorld({ ...setupWith({ derivationKey: entropyOf(-4) }), scopes: GRANTED })
    const most = largest(here.grant as Grant) // an exchange leaves one
    for (let done = 0; done < RETIRED_KEPT; done++) {
      refreshMac(here)
      here.now += SETUP.rules.gracePeriod
    }
    for (let done = 0; done < PAIRS_IN_GRACE; done++) refreshMac(here)
    expect(here.ask(refreshOf(here)).reply).toMatchObject({ type: 'error', status: 429 })
    for (let pair = 0; pair <= PAIRS_IN_GRACE; pair++) here.send(revokeOf(here, 'access', -1 - pair))
    expect(here.grant?.retired).toHaveLength(RETIRED_KEPT)
    expect(here.grant?.pairs).toHaveLength(PAIRS_IN_GRACE + 1)
    expect(bytesOf(here.grant)).toBe(most)
  })

  it('is as large after a thousand refreshes as after a hundred, one every 8 hours', () => {
    const here = exchangedWorld()
    refreshTimes(here, 100, 28_800)
    const afterHundred = bytesOf(here.grant)
    refreshTimes(here, 900, 28_800)
    expect(bytesOf(here.grant)).toBe(afterHundred)
  })
})
