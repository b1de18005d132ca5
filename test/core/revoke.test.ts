/**
 * Revocation (specification, sections 3 and 4.4; RFC 7009, section 2.1; DESIGN, "revoke an access token").
 * @module
 */
import * as fc from 'fast-check'
import type { Grant, RefusalReason, RevokeCommand } from 'grantwell/core'
import { transition } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import type { World } from './histories.js'
import {
  credentialOf,
  entropyOf,
  errorOf,
  exchangedWorld,
  exchangeOf,
  histories,
  inspected,
  OTHER,
  OWNER,
  play,
  RULES,
  refreshOf,
  refreshTimes,
  revokeOf,
  START,
  setupWith,
  strangeSecret,
  tokenOf,
  works,
  world,
} from './histories.js'

function expectUnchanged(here: World, command: RevokeCommand, ...reasons: readonly RefusalReason[]): void {
  const outcome = here.ask(command)
  expect(reasons.map((reason) => ({ type: 'unchanged', reason }))).toContainEqual(outcome.reply)
  expect(outcome.grant).toBeUndefined()
  expect(outcome.events).toEqual([])
}

describe('revoking an access token', () => {
  it('ends that token at once, and nothing else', () => {
    const here = exchangedWorld()
    refreshTimes(here, 2)
    const outcome = here.send(revokeOf(here, 'access', 1))
    expect(outcome.reply).toEqual({ type: 'revoked' })
    expect(outcome.events).toMatchObject([{ type: 'revoked', what: 'access_token', cause: 'client' }])
    expect([0, 1, 2].map((pair) => works(here, 'access', pair))).toEqual([true, false, true])
    expect(inspected(here, 1)).toEqual({ type: 'inactive', reason: 'credential_revoked' })
    expect(works(here, 'refresh', 1)).toBe(true)
    expect(works(here, 'refresh', 2)).toBe(true)
  })

  it('a second time changes nothing', () => {
    const here = exchangedWorld()
    here.send(revokeOf(here, 'access'))
    expectUnchanged(here, revokeOf(here, 'access'), 'credential_revoked')
  })

  it('that was revoked stays so while its pair is refreshed and its grace runs', () => {
    const here = exchangedWorld()
    here.send(revokeOf(here, 'access'))
    refreshTimes(here, 3, 10)
    expect(works(here, 'access', 0)).toBe(false)
    expect(works(here, 'access', 1)).toBe(true)
  })

  it('adds nothing to a grant that does not say when it was used', () => {
    const here = exchangedWorld()
    const { lastUsedAt: _, ...grant } = here.grant as Grant // the exchange made it
    const outcome = transition(grant, revokeOf(here, 'access'), here.now, entropyOf(0), RULES)
    expect(Object.keys(outcome.grant ?? {}).toSorted()).toEqual(Object.keys(grant).toSorted())
  })

  it('takes out the pairs whose grace is over, as every write does', () => {
    const here = exchangedWorld()
    refreshTimes(here, 2)
    here.now += 300
    here.send(revokeOf(here, 'access'))
    expect(here.grant?.pairs).toHaveLength(1)
    expect(here.grant?.retired).toHaveLength(2)
  })
})

describe('revoking a refresh token', () => {
  it.each([
    ['the newest', -1],
    ['one in its grace', 0],
  ])('%s ends the whole grant at once', (_, pair) => {
    const here = exchangedWorld()
    refreshTimes(here, 2)
    const outcome = here.send(revokeOf(here, 'refresh', pair))
    expect(outcome.reply).toEqual({ type: 'revoked' })
    expect(outcome.events).toMatchObject([{ type: 'revoked', what: 'grant', cause: 'client' }])
    for (const one of here.pairs.keys())
      for (const token of ['access', 'refresh'] as const) expect(works(here, token, one)).toBe(false)
    expect(errorOf(here.ask(exchangeOf(here)))).toBe('invalid_grant')
  })

  it('leaves a record that says so and has no digest of a token', () => {
    const here = exchangedWorld()
    refreshTimes(here, 2, 300)
    here.send(revokeOf(here, 'refresh'))
    expect(here.grant).toMatchObject({ revokedAt: START + 600, pairs: [], retired: [] })
  })
})

describe('after a revocation', () => {
  it('no token that was revoked is valid again, whatever else happens and whatever the clock does', () => {
    const later = fc.array(
      fc.tuple(fc.integer({ min: -1000, max: 1000 }), fc.constantFrom('refresh', 'retry', 'wait')),
      { maxLength: 6 },
    )
    fc.assert(
      fc.property(
        histories,
        fc.nat(),
        fc.constantFrom('access', 'refresh'),
        later,
        ({ setup, steps }, number, token, happens) => {
          const here = play(setup, steps)
          fc.pre(here.pairs.length > 0)
          const pair = number % here.pairs.length
          const { reply } = here.send(revokeOf(here, token, pair))
          fc.pre(reply.type === 'revoked')
          const ended = token === 'refresh' ? [...here.pairs.keys()] : [pair]
          for (const [seconds, what] of happens) {
            for (const one of ended) expect(works(here, 'access', one)).toBe(false)
            const refused = token === 'refresh' ? ended : []
            for (const one of refused) expect(works(here, 'refresh', one)).toBe(false)
            here.now += seconds
            if (what !== 'wait') here.send(refreshOf(here, what === 'retry' ? pair : -1))
          }
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('a token that cannot be revoked is answered alike, and changes nothing', () => {
  it('of another client, in whatever state: it stays good', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        const here = play(setup, steps)
        for (const pair of here.pairs.keys())
          for (const token of ['access', 'refresh'] as const)
            expectUnchanged(
              here,
              { ...revokeOf(here, token, pair), clientId: OTHER },
              'credential_of_another_client',
              'credential_unknown', // of a pair that is retired, or a grant that ended
            )
      }),
      { numRuns: 40 },
    )
  })

  it('expired, by its own lifetime or by the end of its grace, to the second', () => {
    const here = exchangedWorld()
    const boundary = (at: number, token: 'access' | 'refresh', pair: number): void => {
      here.now = at
      expectUnchanged(here, revokeOf(here, token, pair), 'credential_expired')
      here.now = at - 1
      expect(here.ask(revokeOf(here, token, pair)).reply.type).toBe('revoked')
    }
    boundary(START + 28_800, 'access', 0)
    boundary(START + 15_552_000, 'refresh', 0)
    here.now = START
    refreshTimes(here, 1)
    boundary(START + 300, 'access', 0)
    boundary(START + 300, 'refresh', 0)
  })

  it('revoked, retired, unknown, of a grant that is gone or has no pair yet', () => {
    const here = exchangedWorld()
    refreshTimes(here, 2, 300)
    expectUnchanged(here, revokeOf(here, 'access', 0), 'credential_unknown')
    expectUnchanged(here, revokeOf(here, 'refresh', 0), 'credential_unknown')
    const unknown = { ...tokenOf(here, 'access'), secret: strangeSecret(7) }
    for (const kind of ['access_token', 'refresh_token'] as const)
      expectUnchanged(here, { type: 'revoke', credential: { ...unknown, kind }, clientId: OWNER }, 'credential_unknown')
    expect(transition(undefined, revokeOf(here, 'access'), START, entropyOf(0), RULES)).toEqual({
      reply: { type: 'unchanged', reason: 'credential_unknown' },
      events: [],
    })
    expectUnchanged(world(), revokeOf(exchangedWorld(), 'refresh'), 'credential_unknown')
    const revoked = exchangedWorld()
    revoked.send(revokeOf(revoked, 'refresh'))
    expectUnchanged(revoked, revokeOf(revoked, 'access'), 'credential_unknown')
    expectUnchanged(revoked, revokeOf(revoked, 'refresh'), 'credential_unknown')
  })

  it.each(['access', 'refresh'] as const)(
    'of a grant that was revoked and still has its pairs: the %s token',
    (token) => {
      const here = exchangedWorld()
      refreshTimes(here, 1)
      here.grant = { ...(here.grant as Grant), revokedAt: here.now } // as somebody edited it
      expectUnchanged(here, revokeOf(here, token), 'credential_revoked')
    },
  )

  it('that is a code or a device code: those are no tokens', () => {
    const here = world()
    for (const kind of ['code', 'device_code'] as const)
      expectUnchanged(
        here,
        { type: 'revoke', credential: { ...credentialOf(here.code), kind }, clientId: OWNER },
        'credential_unknown',
      )
    expect(errorOf(here.send(exchangeOf(here)))).toBeUndefined()
  })

  it('that ended by its own expiry before its grace did', () => {
    const here = exchangedWorld(setupWith({ accessTokenLifetime: 100 }))
    refreshTimes(here, 1)
    here.now = START + 100
    expectUnchanged(here, revokeOf(here, 'access', 0), 'credential_expired')
    here.now = START + 99
    expect(here.ask(revokeOf(here, 'access', 0)).reply.type).toBe('revoked')
  })
})
