/**
 * The end of a grant by its user or an administrator, who have no token of it.
 * @module
 */
import * as fc from 'fast-check'
import type { Grant, GrantCommand } from 'grantwell/core'
import { isLive } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { liveUntil } from '../../src/core/grant/grant.js'
import type { World } from './histories.js'
import {
  errorOf,
  exchangedWorld,
  exchangeOf,
  histories,
  inspected,
  play,
  refreshOf,
  refreshTimes,
  revokeOf,
  START,
  setupWith,
  works,
  world,
} from './histories.js'

const withdrawal = (by: 'user' | 'administrator' = 'user'): GrantCommand & { readonly type: 'withdraw' } => ({
  type: 'withdraw',
  by,
})

describe('a grant that is withdrawn', () => {
  it.each(['user', 'administrator'] as const)('by the %s has nothing left that works, and says who and when', (by) => {
    const here = exchangedWorld()
    refreshTimes(here, 3, 10)
    const { reply, grant, events } = here.send(withdrawal(by))
    expect(reply).toStrictEqual({ type: 'revoked' })
    expect(grant).toMatchObject({ revokedAt: here.now, pairs: [], retired: [] })
    expect(events).toStrictEqual([
      {
        type: 'revoked',
        what: 'grant',
        cause: by,
        at: here.now,
        grantId: here.grant?.id,
        clientId: 'web',
        subject: 'ada',
      },
    ])
    for (const pair of here.pairs.keys()) {
      expect(inspected(here, pair)).toStrictEqual({ type: 'inactive', reason: 'credential_revoked' })
      expect(errorOf(here.ask(refreshOf(here, pair)))).toBe('invalid_grant')
      expect(here.ask(revokeOf(here, 'refresh', pair)).reply.type).toBe('unchanged')
    }
  })

  it('before its code was exchanged cannot be exchanged any more', () => {
    const here = world()
    expect(here.send(withdrawal()).reply.type).toBe('revoked')
    expect(here.send(exchangeOf(here)).reply).toMatchObject({ code: 'invalid_grant', reason: 'credential_revoked' })
  })

  it('again, or where there is none, changes and tells nothing', () => {
    const revoked = exchangedWorld()
    revoked.send(withdrawal())
    const absent = world()
    absent.grant = undefined
    for (const [here, reason] of [
      [revoked, 'credential_revoked'],
      [absent, 'credential_unknown'],
    ] as const)
      expect(here.send(withdrawal())).toStrictEqual({ reply: { type: 'unchanged', reason }, events: [] })
  })

  it('[30] after all of it expired tells nothing, but ends it all the same: a clock that steps back revives nothing', () => {
    const overdue = world()
    overdue.now += 600
    const expired = exchangedWorld()
    refreshTimes(expired, 2, 10)
    expired.now += 15_552_000
    for (const here of [overdue, expired]) {
      const before = here.grant ?? expect.fail('no grant')
      expect(here.send(withdrawal())).toStrictEqual({
        reply: { type: 'unchanged', reason: 'credential_expired' },
        grant: { ...before, pairs: [], retired: [], revokedAt: here.now },
        events: [],
      })
      here.now = START + 1
      expect(here.send(exchangeOf(here)).reply).toMatchObject({ code: 'invalid_grant', reason: 'credential_revoked' })
      for (const pair of here.pairs.keys()) {
        expect(inspected(here, pair)).toStrictEqual({ type: 'inactive', reason: 'credential_revoked' })
        expect(errorOf(here.ask(refreshOf(here, pair)))).toBe('invalid_grant')
      }
      // And from then on it is one that was revoked.
      expect(here.send(withdrawal())).toStrictEqual({
        reply: { type: 'unchanged', reason: 'credential_revoked' },
        events: [],
      })
    }
    expect(expired.pairs).toHaveLength(3)
  })

  it('counts in the last second in which anything of it works', () => {
    const here = exchangedWorld()
    here.now += 15_552_000 - 1
    expect(here.send(withdrawal()).reply.type).toBe('revoked')
    const code = world()
    code.now += 599
    expect(code.send(withdrawal()).reply.type).toBe('revoked')
  })

  it('at any moment of any history: exactly where something of it still works, and then nothing does', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        const here = play(setup, steps)
        const before: Grant = here.grant ?? expect.fail('no grant')
        const { reply, grant } = here.send(withdrawal())
        expect(reply.type).toBe(isLive(before, here.now) ? 'revoked' : 'unchanged')
        expect(grant !== undefined).toBe(before.revokedAt === undefined)
        // Nor does it where the clock steps back, however far.
        for (const now of [here.now, START]) {
          here.now = now
          expect(worksAtAll(here)).toBe(false)
          expect(isLive(here.grant ?? before, now)).toBe(false)
        }
      }),
      { numRuns: 100 },
    )
  })
})

/** Whether anybody who has anything of a grant gets anywhere with it, be it to revoke it, when a refresh must wait. */
function worksAtAll(here: World): boolean {
  const pairs = [...here.pairs.keys()]
  return (
    here.ask(exchangeOf(here)).reply.type === 'tokens' ||
    pairs.some((pair) => works(here, 'access', pair) || works(here, 'refresh', pair)) ||
    pairs.some((pair) => here.ask(revokeOf(here, 'refresh', pair)).reply.type === 'revoked')
  )
}

describe('a grant is live', () => {
  it('at any moment of any history exactly where something of it works, and until the last second of that', () => {
    let lived = 0
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        const here = play(setup, steps)
        const grant: Grant = here.grant ?? expect.fail('no grant')
        // A clock that stepped back can leave a refresh token whose successor ended before it: live, and good for nothing.
        const isSetBack = steps.some((step) => step.do === 'wait' && step.seconds < 0)
        const live = isLive(grant, here.now)
        expect(live === worksAtAll(here) || (isSetBack && live)).toBe(true)
        if (isSetBack || !live) return
        lived++
        for (const [now, expected] of [
          [liveUntil(grant) - 1, true],
          [liveUntil(grant), false],
        ] as const) {
          here.now = now
          expect([isLive(grant, now), worksAtAll(here)]).toEqual([expected, expected])
        }
      }),
      { numRuns: 300 },
    )
    expect(lived).toBeGreaterThan(50)
  })

  it('before its code was exchanged, until the code expires; from then on, as long as its refresh token', () => {
    const here = world()
    expect(liveUntil(here.grant ?? expect.fail())).toBe(START + 600)
    here.now += 599
    expect(isLive(here.grant ?? expect.fail(), here.now)).toBe(true)
    here.send(exchangeOf(here))
    expect(liveUntil(here.grant ?? expect.fail())).toBe(START + 599 + 15_552_000)
  })

  it('as long as its access token, where that outlives the refresh token', () => {
    const here = exchangedWorld(setupWith({ accessTokenLifetime: 1000, refreshTokenLifetime: 100 }))
    expect(liveUntil(here.grant ?? expect.fail())).toBe(START + 1000)
    here.now += 999
    expect([works(here, 'refresh'), works(here, 'access')]).toEqual([false, true])
    expect(here.ask(withdrawal()).reply.type).toBe('revoked')
    here.now += 1
    expect(here.ask(withdrawal()).reply).toMatchObject({ reason: 'credential_expired' })
  })

  it('as long as its refresh token alone, where the access token was revoked alone', () => {
    const here = exchangedWorld(setupWith({ accessTokenLifetime: 1000, refreshTokenLifetime: 100 }))
    here.send(revokeOf(here, 'access'))
    expect(liveUntil(here.grant ?? expect.fail())).toBe(START + 100)
    here.now += 99
    expect(here.ask(withdrawal()).reply.type).toBe('revoked')
    here.now += 1
    expect(here.ask(withdrawal()).reply).toMatchObject({ reason: 'credential_expired' })
  })

  it('as long as an older access token in its grace, where that outlives all others', () => {
    const rules = { accessTokenLifetime: 1000, refreshTokenLifetime: 100, gracePeriod: 2000 }
    const here = exchangedWorld(setupWith(rules))
    here.now += 50
    refreshTimes(here, 1)
    here.send(revokeOf(here, 'access'))
    expect(liveUntil(here.grant ?? expect.fail())).toBe(START + 1000)
  })

  it('never again once it was revoked', () => {
    const here = exchangedWorld()
    here.send(revokeOf(here, 'refresh'))
    for (const now of [0, START, START + 1_000_000_000]) expect(isLive(here.grant ?? expect.fail(), now)).toBe(false)
  })
})
