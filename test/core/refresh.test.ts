/**
 * Refresh (specification, sections 3 and 4.3; DESIGN, "The refresh grace period, precisely"; RFC 6749, section 6; RFC
 * 9700, section 4.14.2).
 * @module
 */
import { hkdfSync } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import type { Scope } from 'grantwell'
import type { Grant, GrantRules, RefreshCommand } from 'grantwell/core'
import { coversScopes, inspect, PAIRS_IN_GRACE, RETIRED_KEPT, transition } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { macKeyOf } from '../../src/core/credentials/mac.js'
import { serviceScopes } from '../../src/core/scopes/service-scopes.js'
import type { Setup, World } from './histories.js'
import {
  credentialOf,
  entropyOf,
  errorOf,
  exchangedWorld,
  exchangeOf,
  GRANTED,
  histories,
  inspected,
  issuedBy,
  OTHER,
  play,
  RULES,
  refreshOf,
  refreshTimes,
  revokeOf,
  SETUP,
  START,
  secretWith,
  setupWith,
  strangeSecret,
  tokenOf,
  works,
  world,
} from './histories.js'
import { inEveryOrder, race } from './servers.js'

const KEY = Uint8Array.from(entropyOf(-3).subarray(0, 32))

/** Refused with this error, and nothing changed. */
function expectRefused(here: World, command: RefreshCommand, error = 'invalid_grant'): void {
  const outcome = here.ask(command)
  expect(errorOf(outcome)).toBe(error)
  expect(outcome.grant).toBeUndefined()
}

/** A world with a first pair and its successor; the first was refreshed at START. */
function refreshedWorld(setup?: Setup): World {
  const here = exchangedWorld(setup)
  refreshTimes(here, 1)
  return here
}

describe('a refresh', () => {
  it('gives a new pair that lives 8 hours and 180 days from now', () => {
    const here = exchangedWorld()
    here.now += 5000
    const tokens = issuedBy(here.send(refreshOf(here)))
    expect(tokens).toMatchObject({ expiresIn: 28_800, scopes: GRANTED })
    expect(tokens.accessToken).not.toBe(here.pairs[0]?.accessToken)
    expect(tokens.refreshToken).not.toBe(here.pairs[0]?.refreshToken)
    expect(here.grant?.pairs[1]).toMatchObject({
      access: { expiresAt: START + 5000 + 28_800 },
      refresh: { expiresAt: START + 5000 + 15_552_000 },
    })
    expect(here.moments.at(-1)?.outcome.events).toMatchObject([{ type: 'refreshed', scopes: GRANTED, retry: false }])
  })

  it('works until the 180 days are over, to the second, and one after them changes nothing', () => {
    const here = exchangedWorld()
    here.now = START + 15_552_000
    expectRefused(here, refreshOf(here))
    here.now = START + 15_552_000 - 1
    expect(works(here, 'refresh')).toBe(true)
  })

  it('of a grant that is gone, or with a secret that it does not know, revokes nothing', () => {
    const here = refreshedWorld()
    expect(errorOf(transition(undefined, refreshOf(here), START, entropyOf(9), RULES))).toBe('invalid_grant')
    for (const secret of [strangeSecret(7), secretWith(new Uint8Array(32)), '']) {
      for (const now of [START, START + 300, START + 100_000]) {
        here.now = now
        expectRefused(here, { ...refreshOf(here), credential: { ...tokenOf(here, 'refresh'), secret } })
      }
    }
  })

  it('[29] takes a refresh token alone: no access token, code or device code under any prefix, and none of them is taken elsewhere', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        const here = play(setup, steps)
        const own = [
          credentialOf(here.code),
          ...here.pairs
            .slice(-4)
            .flatMap(({ accessToken, refreshToken }) => [credentialOf(accessToken), credentialOf(refreshToken)]),
        ]
        for (const credential of own) {
          const kinds = ['code', 'access_token', 'refresh_token', 'device_code'] as const
          for (const kind of kinds.filter((each) => each !== credential.kind)) {
            const posing = { ...credential, kind }
            expectRefused(here, {
              type: 'refresh',
              credential: posing,
              clientId: exchangeOf(here).clientId,
              registered: GRANTED,
            })
            const exchanged = here.ask({ ...exchangeOf(here), credential: posing })
            expect([errorOf(exchanged), exchanged.grant]).toEqual(['invalid_grant', undefined])
            const revoked = here.ask({ type: 'revoke', credential: posing, clientId: exchangeOf(here).clientId })
            expect([revoked.reply.type, revoked.grant]).toEqual(['unchanged', undefined])
            expect(inspect(here.grant, posing, here.now, RULES.digests).type).toBe('inactive')
          }
          // Under its own prefix too it is taken where it belongs and nowhere else.
          const { clientId } = exchangeOf(here)
          const refreshed = here.ask({ type: 'refresh', credential, clientId, registered: GRANTED })
          const exchanged = here.ask({ ...exchangeOf(here), credential })
          const refused = ['invalid_grant', undefined]
          const elsewhere = {
            access_token: inspect(here.grant, credential, here.now, RULES.digests).type === 'inactive',
            refresh_token: isDeepStrictEqual([errorOf(refreshed), refreshed.grant], refused),
            code: isDeepStrictEqual([errorOf(exchanged), exchanged.grant], refused),
          }
          expect({ ...elsewhere, [credential.kind]: true }).toEqual({
            access_token: true,
            refresh_token: true,
            code: true,
          })
        }
      }),
      { numRuns: 40 },
    )
  })

  it('[34] is bound to its client: by another it is invalid_grant and nothing changes, in grace, after it, and for a retired token', () => {
    fc.assert(
      fc.property(histories, ({ setup, steps }) => {
        const here = play(setup, steps)
        for (const pair of here.pairs.keys()) expectRefused(here, { ...refreshOf(here, pair), clientId: OTHER })
      }),
      { numRuns: 40 },
    )
    const here = refreshedWorld()
    here.now += 300
    expectRefused(here, { ...refreshOf(here, 0), clientId: OTHER })
    expect(works(here, 'access')).toBe(true)
    here.send({ ...refreshOf(here, 0), clientId: OTHER })
    expect(works(here, 'refresh')).toBe(true)
  })
})

describe('the grace period', () => {
  it('[32] both old tokens work at its last second and neither at its end, wherever the first refresh was', () => {
    const age = fc.oneof(fc.constantFrom(0, 1, 28_499, 28_500, 28_501, 28_799, 28_800), fc.nat(15_551_999))
    fc.assert(
      fc.property(age, fc.integer({ min: 1, max: 1000 }), (at, gracePeriod) => {
        const here = exchangedWorld(setupWith({ gracePeriod }))
        here.now = START + at
        here.send(refreshOf(here))
        const end = {
          access: Math.min(START + 28_800, here.now + gracePeriod),
          refresh: Math.min(START + 15_552_000, here.now + gracePeriod),
        }
        for (const token of ['access', 'refresh'] as const) {
          const isOver = end[token] <= here.now
          here.now = end[token] - 1
          expect(isOver || works(here, token, 0)).toBe(true)
          here.now = end[token]
          expect(works(here, token, 0)).toBe(false)
          here.now = START + at
        }
      }),
    )
  })

  it('[32] it is 300 seconds by default: 299 and 300', () => {
    const here = refreshedWorld()
    for (const [after, working] of [
      [299, true],
      [300, false],
    ] as const) {
      here.now = START + after
      expect(works(here, 'access', 0)).toBe(working)
      expect(works(here, 'refresh', 0)).toBe(working)
      expect(works(here, 'access', 1)).toBe(true)
      expect(works(here, 'refresh', 1)).toBe(true)
    }
  })

  it('[32] it never grows: not by any number of refreshes with the old token, nor by refreshes with the new ones', () => {
    const step = fc.tuple(fc.nat(60), fc.boolean())
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (happens) => {
        const here = refreshedWorld()
        const end = START + 300
        for (const [seconds, withOld] of happens) {
          if (here.now + seconds >= end) break
          here.now += seconds
          here.send(withOld ? refreshOf(here, 0) : refreshOf(here))
          expect(here.grant?.pairs[0]?.superseded).toMatchObject({ at: START, until: end })
        }
        here.now = end - 1
        expect([works(here, 'access', 0), works(here, 'refresh', 0)]).toEqual([true, true])
        here.now = end
        expect([works(here, 'access', 0), works(here, 'refresh', 0)]).toEqual([false, false])
      }),
    )
  })

  it('[32] an option of 0 seconds ends both old tokens at once', () => {
    const here = refreshedWorld(setupWith({ gracePeriod: 0 }))
    expect([works(here, 'access', 0), works(here, 'refresh', 0)]).toEqual([false, false])
    expect([works(here, 'access', 1), works(here, 'refresh', 1)]).toEqual([true, true])
  })

  it('at its end there is no moment at which neither the old nor the new access token works', () => {
    const here = refreshedWorld()
    for (here.now = START; here.now < START + 28_800; here.now += 100) expect(works(here, 'access', 1)).toBe(true)
  })
})

describe('one successor', () => {
  it('[33] any number of refreshes with one token in its grace give one and the same pair, and change nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40), { maxLength: 12 }), (waits) => {
        const here = exchangedWorld()
        const first = issuedBy(here.send(refreshOf(here)))
        const stored = here.grant
        for (const seconds of waits) {
          if (here.now + seconds >= START + 300) break
          here.now += seconds
          const again = here.send(refreshOf(here, 0))
          expect(issuedBy(again)).toEqual({ ...first, expiresIn: START + 28_800 - here.now })
          expect(again.grant).toBeUndefined()
          expect(again.events).toMatchObject([{ type: 'refreshed', retry: true }])
        }
        expect(here.grant).toBe(stored)
      }),
    )
  })

  it('[33] racing refreshes give one successor in every order in which 3 servers can read and write', () => {
    const here = exchangedWorld()
    const requests = [1, 2, 3].map((number) => ({
      command: refreshOf(here),
      now: START + number,
      entropy: entropyOf(100 + number),
    }))
    const orders = inEveryOrder((choose) => {
      const store = { grant: here.grant, version: 1 }
      const answers = race(store, requests, RULES, choose).map(({ reply }) =>
        reply.type === 'tokens' ? reply : expect.fail(reply.type),
      )
      expect(new Set(answers.map(({ accessToken }) => accessToken)).size).toBe(1)
      expect(new Set(answers.map(({ refreshToken }) => refreshToken)).size).toBe(1)
      expect([store.version, store.grant?.pairs.length]).toEqual([2, 2])
    })
    expect(orders).toBeGreaterThan(50)
  })

  it('in every order of two servers the answers are those of one after the other, whatever is asked of whatever grant', () => {
    const commands = [
      (here: World) => refreshOf(here),
      (here: World) => refreshOf(here, 0),
      (here: World) => refreshOf(here, -1, ['repo-pr:r']),
      (here: World) => revokeOf(here, 'refresh'),
      (here: World) => revokeOf(here, 'access'),
      (here: World) => exchangeOf(here),
    ]
    const command = fc.constantFrom(...commands)
    fc.assert(
      fc.property(histories, command, command, ({ setup, steps }, one, other) => {
        const here = play(setup, steps)
        fc.pre(here.pairs.length > 0)
        const requests = [one, other].map((make, number) => ({
          command: make(here),
          now: here.now,
          entropy: entropyOf(500 + number),
        }))
        const serial = [
          [0, 0, 1, 1],
          [1, 1, 0, 0],
        ].map((order) => {
          const store = { grant: here.grant, version: 1 }
          let step = 0
          const replies = race(store, requests, setup.rules, (servers) =>
            Math.min(order[step++] ?? 0, servers - 1),
          ).map(({ reply }) => reply)
          return JSON.stringify([replies, store.grant])
        })
        inEveryOrder((choose) => {
          const store = { grant: here.grant, version: 1 }
          const replies = race(store, requests, setup.rules, choose).map(({ reply }) => reply)
          expect(serial).toContain(JSON.stringify([replies, store.grant]))
        })
      }),
      { numRuns: 60 },
    )
  })

  it('says how many seconds its access token has left, 0 where it has none', () => {
    const here = exchangedWorld(setupWith({ accessTokenLifetime: 100 }))
    here.send(refreshOf(here))
    for (const [after, left] of [
      [1, 99],
      [99, 1],
      [100, 0],
      [299, 0],
    ] as const) {
      here.now = START + after
      expect(issuedBy(here.ask(refreshOf(here, 0))).expiresIn).toBe(left)
    }
  })

  it('says the end of its grace where it was refreshed itself', () => {
    const here = refreshedWorld()
    here.now = START + 10
    here.send(refreshOf(here))
    here.now = START + 60
    expect(issuedBy(here.ask(refreshOf(here, 0))).expiresIn).toBe(250)
  })

  it('whose access token was revoked alone is handed out no more: invalid_grant, and nothing changes', () => {
    const here = refreshedWorld()
    here.send(revokeOf(here, 'access', 1))
    expectRefused(here, refreshOf(here, 0))
    expect(works(here, 'refresh', 1)).toBe(true)
    expect(works(here, 'access', 0)).toBe(true)
  })
})

describe('a replay', () => {
  it('[33] after the grace revokes the grant: no token of it works any more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 15_552_000 }), fc.nat(5), (after, more) => {
        const here = refreshedWorld()
        refreshTimes(here, more)
        here.now = START + after
        const outcome = here.send(refreshOf(here, 0))
        expect(errorOf(outcome)).toBe('invalid_grant')
        expect(outcome.events).toMatchObject([
          { type: 'replayed', credential: 'refresh_token' },
          { type: 'revoked', what: 'grant', cause: 'replay' },
        ])
        for (const pair of here.pairs.keys())
          for (const token of ['access', 'refresh'] as const) expect(works(here, token, pair)).toBe(false)
      }),
    )
  })

  it('by the option "refuse" is refused and no more: what is live stays live', () => {
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 28_799 }), fc.nat(5), (after, more) => {
        const here = refreshedWorld(setupWith({ refreshReplay: 'refuse' }))
        refreshTimes(here, more)
        here.now = START + after
        for (let times = 0; times < 3; times++) {
          const outcome = here.send(refreshOf(here, 0))
          expect(errorOf(outcome)).toBe('invalid_grant')
          expect(outcome.events).toMatchObject([{ type: 'replayed', credential: 'refresh_token' }])
        }
        expect([works(here, 'access'), works(here, 'refresh')]).toEqual([true, true])
      }),
    )
  })

  it('is recognised of exactly the last 64 retired tokens; an older one gets invalid_grant and kills nothing', () => {
    expect(RETIRED_KEPT).toBe(64)
    const here = exchangedWorld()
    refreshTimes(here, 70, 300)
    refreshTimes(here, 1)
    // 71 pairs were refreshed; the last of them is in its grace, 70 are retired.
    for (const [pair, recognised] of [
      [5, false],
      [6, true],
      [69, true],
    ] as const) {
      const outcome = here.ask(refreshOf(here, pair))
      expect(errorOf(outcome)).toBe('invalid_grant')
      expect(outcome.events.map(({ type }) => type)).toEqual(recognised ? ['replayed', 'revoked'] : [])
      expect(outcome.grant?.revokedAt).toBe(recognised ? here.now : undefined)
    }
    for (let pair = 0; pair < 6; pair++) expectRefused(here, refreshOf(here, pair))
    expect([works(here, 'access'), works(here, 'refresh')]).toEqual([true, true])
  })

  it('is recognised after 64 further ones were retired no more, and after 63 still', () => {
    for (const [further, recognised] of [
      [63, true],
      [64, false],
    ] as const) {
      const here = refreshedWorld()
      here.now += 300
      refreshTimes(here, further, 300)
      refreshTimes(here, 1)
      expect(here.ask(refreshOf(here, 0)).grant !== undefined).toBe(recognised)
    }
  })
})

describe('a clock that steps back', () => {
  it('[30] revives nothing that was refused for replay or revocation', () => {
    const times = fc.array(
      fc.oneof(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: -20_000_000, max: 20_000_000 })),
      { minLength: 1, maxLength: 4 },
    )
    fc.assert(
      fc.property(histories, times, ({ setup, steps }, steppedBy) => {
        const here = play(setup, steps)
        const refused = new Set<number>()
        const revoked = new Set<number>()
        let dead = false
        for (const pair of [...here.pairs.keys()]) {
          const found = inspected(here, pair)
          if (found.type === 'inactive' && found.reason === 'credential_revoked') revoked.add(pair)
          const { reply } = here.send(refreshOf(here, pair))
          if (reply.type !== 'error') continue
          if (reply.reason === 'credential_replayed') refused.add(pair)
          if (reply.reason === 'credential_revoked' && here.grant?.revokedAt !== undefined) dead = true
        }
        for (const seconds of steppedBy) {
          here.now += seconds
          for (const pair of here.pairs.keys()) {
            expect((dead || refused.has(pair)) && works(here, 'refresh', pair)).toBe(false)
            expect((dead || revoked.has(pair)) && works(here, 'access', pair)).toBe(false)
          }
          const isOver = dead || here.grant?.code.usedAt !== undefined
          expect(isOver ? errorOf(here.ask(exchangeOf(here))) : 'invalid_grant').toBe('invalid_grant')
        }
      }),
      { numRuns: 100 },
    )
  })

  it.each(['revoke', 'refuse'] as const)(
    '[30] a token that was refused as replayed stays refused (refreshReplay: %s)',
    (refreshReplay) => {
      const here = refreshedWorld(setupWith({ refreshReplay }))
      here.now = START + 300
      expect(errorOf(here.send(refreshOf(here, 0)))).toBe('invalid_grant')
      here.now = START + 299
      expectRefusedWithReplay(here)
    },
  )

  /** Refused again, and again for replay or because everything is revoked. */
  function expectRefusedWithReplay(here: World): void {
    const { reply } = here.ask(refreshOf(here, 0))
    expect(reply).toMatchObject({
      code: 'invalid_grant',
      reason: here.grant?.revokedAt === undefined ? 'credential_replayed' : 'credential_revoked',
    })
  }

  it('lengthens no grace: each is counted from its own refresh', () => {
    const here = refreshedWorld()
    here.now = START - 1000
    refreshTimes(here, 3, -100)
    const ends = here.grant?.pairs.map(({ superseded }) => superseded?.until)
    expect(ends).toEqual([START + 300, START - 700, START - 800, START - 900, undefined])
  })

  it('hands out no successor whose grace ended before that of what it succeeds, and erases its salt all the same', () => {
    const here = refreshedWorld()
    here.now = START - 1000
    here.send(refreshOf(here, 1))
    here.now = START - 700
    // Whether the successor still lies there or was taken out by a write meanwhile.
    expectRefused(here, refreshOf(here, 0), 'invalid_grant')
    expect(here.ask(refreshOf(here, 0)).reply).toMatchObject({ reason: 'credential_expired' })
    here.send(refreshOf(here, 2))
    expect(here.grant?.pairs.map(({ superseded }) => superseded?.until)).toEqual([START + 300, START - 400, undefined])
    expectRefused(here, refreshOf(here, 0), 'invalid_grant')
  })
})

describe('scope', () => {
  const scopes = fc.subarray<Scope>(
    ['repo-code:r', 'repo-code:rw', 'repo-pr:r', 'repo-pr:rw', 'account-email:r', 'account-email:rw', 'repo-delete:rw'],
    { minLength: 1 },
  )

  it('[31] of a refresh is equal or narrower; a wider one is invalid_scope and changes nothing', () => {
    fc.assert(
      fc.property(scopes, (wish) => {
        const here = exchangedWorld()
        if (coversScopes(GRANTED, wish, serviceScopes()))
          expect(issuedBy(here.send(refreshOf(here, -1, wish))).scopes).toEqual(wish)
        else expectRefused(here, refreshOf(here, -1, wish), 'invalid_scope')
      }),
    )
  })

  it('[31] a wider one is refused of a retry too, and the retry of a narrower first refresh has what the first one gave', () => {
    const here = exchangedWorld()
    here.send(refreshOf(here, -1, ['repo-pr:r']))
    expectRefused(here, refreshOf(here, 0, ['repo-delete:rw']), 'invalid_scope')
    const description = 'The scope is wider than what the user permitted.'
    expect(here.ask(refreshOf(here, 0, ['repo-delete:rw'])).reply).toMatchObject({ description })
    for (const wish of [undefined, GRANTED, ['repo-code:r']] as const)
      expect(issuedBy(here.ask(refreshOf(here, 0, wish))).scopes).toEqual(['repo-pr:r'])
  })

  it('[31] never widens beyond what was granted, along any chain', () => {
    fc.assert(
      fc.property(fc.array(fc.option(scopes, { nil: undefined }), { maxLength: 10 }), (wishes) => {
        const here = exchangedWorld()
        for (const wish of wishes) here.send(refreshOf(here, -1, wish))
        for (const pair of here.pairs) expect(coversScopes(GRANTED, pair.scopes, serviceScopes())).toBe(true)
        for (const pair of here.pairs.keys()) {
          const found = inspected(here, pair)
          const given = here.pairs[pair]?.scopes
          expect(found.type === 'active' ? found.scopes : given).toEqual(given)
        }
      }),
    )
  })

  it('narrows the access token alone: the refresh token keeps what was granted (RFC 6749, section 6)', () => {
    const here = exchangedWorld()
    here.send(refreshOf(here, -1, ['repo-code:r']))
    expect(inspected(here)).toMatchObject({ type: 'active', scopes: ['repo-code:r'] })
    expect(issuedBy(here.send(refreshOf(here))).scopes).toEqual(GRANTED)
  })
})

describe('at most 32 pairs in grace', () => {
  it('the 33rd refresh gets 429 with the time until the first grace ends, and nothing changes', () => {
    expect(PAIRS_IN_GRACE).toBe(32)
    const here = exchangedWorld()
    refreshTimes(here, 32, 2)
    expect(here.now).toBe(START + 64)
    const outcome = here.ask(refreshOf(here))
    expect(outcome.reply).toMatchObject({
      code: 'temporarily_unavailable',
      description: 'This token was refreshed too often in too short a time.',
      status: 429,
      retryAfter: 236,
    })
    expect(outcome.grant).toBeUndefined()
    expect(outcome.events).toEqual([])
    for (const pair of here.pairs.keys()) expect(works(here, 'access', pair)).toBe(true)
    here.now = START + 299
    expect(here.ask(refreshOf(here)).reply).toMatchObject({ status: 429, retryAfter: 1 })
    here.now = START + 300
    expect(errorOf(here.send(refreshOf(here)))).toBeUndefined()
    expect(here.ask(refreshOf(here)).reply).toMatchObject({ status: 429, retryAfter: 2 })
  })

  it('a retry with any of the 32 is answered all the same', () => {
    const here = exchangedWorld()
    refreshTimes(here, 32)
    for (let pair = 0; pair < 32; pair++)
      expect(issuedBy(here.ask(refreshOf(here, pair))).accessToken).toBe(here.pairs[pair + 1]?.accessToken)
  })
})

describe('the derivation of the successor (RFC 5869)', () => {
  /** The secrets of the successor, as another implementation derives and writes them. */
  const successor = (keyMaterial: Uint8Array, salt: Uint8Array): readonly string[] => {
    const both = Buffer.from(hkdfSync('sha256', keyMaterial, salt, 'grantwell successor 1', 64))
    return [secretWith(both.subarray(0, 32)), secretWith(both.subarray(32))]
  }

  const secretsOf = (here: World, pair: number): readonly string[] => [
    tokenOf(here, 'access', pair).secret,
    tokenOf(here, 'refresh', pair).secret,
  ]

  it('is HKDF with SHA-256 of the old refresh secret as it is written, in ASCII, and a salt of 32 random bytes, to the platform too', () => {
    const here = refreshedWorld()
    const salt = here.moments.at(-1)?.entropy.subarray(0, 32) ?? new Uint8Array(0)
    expect(here.grant?.pairs[0]?.superseded?.salt).toBe(Buffer.from(salt).toString('base64url'))
    expect(secretsOf(here, 1)).toEqual(successor(Buffer.from(tokenOf(here, 'refresh', 0).secret, 'ascii'), salt))
  })

  it('mixes in the derivation key where there is one', () => {
    const here = refreshedWorld(setupWith({ derivationKey: KEY }))
    const salt = here.moments.at(-1)?.entropy.subarray(0, 32) ?? new Uint8Array(0)
    const secret = Buffer.from(tokenOf(here, 'refresh', 0).secret, 'ascii')
    expect(secretsOf(here, 1)).toEqual(successor(Buffer.concat([secret, KEY]), salt))
    expect(secretsOf(here, 1)).not.toEqual(successor(secret, salt))
  })

  it('gives another successor for every salt, and for every token', () => {
    const here = exchangedWorld()
    const made = new Set<string>()
    for (let number = 0; number < 100; number++) {
      const { reply } = transition(here.grant, refreshOf(here), here.now, entropyOf(number), RULES)
      if (reply.type === 'tokens') made.add(reply.accessToken).add(reply.refreshToken)
    }
    expect(made.size).toBe(200)
  })

  it('with a wrong derivation key, or none, a retry is refused and nothing changes', () => {
    const keyed = refreshedWorld(setupWith({ derivationKey: KEY }))
    const bare = refreshedWorld()
    const wrong: readonly (readonly [World, GrantRules])[] = [
      [keyed, RULES],
      [keyed, { ...RULES, derivationKey: entropyOf(-4).subarray(0, 32) }],
      [bare, { ...RULES, derivationKey: KEY }],
    ]
    for (const [here, rules] of wrong) {
      const outcome = transition(here.grant, refreshOf(here, 0), here.now, entropyOf(9), rules)
      expect(outcome.reply).toMatchObject({ code: 'invalid_grant', reason: 'credential_unknown' })
      expect(outcome.grant).toBeUndefined()
      // What is not derived is not harmed: the newest token goes on under the other key.
      expect(errorOf(transition(here.grant, refreshOf(here), here.now, entropyOf(9), rules))).toBeUndefined()
    }
    const other: GrantRules = { ...RULES, derivationKey: entropyOf(-4).subarray(0, 32) }
    expect(errorOf(transition(keyed.grant, refreshOf(keyed, 0), keyed.now, entropyOf(9), other))).toBe('invalid_grant')
    expect(errorOf(keyed.ask(refreshOf(keyed, 0)))).toBeUndefined()
  })

  it('lies in the record only while the grace runs: the first write after it takes the salt out', () => {
    const here = refreshedWorld()
    const salt = here.grant?.pairs[0]?.superseded?.salt ?? expect.fail('no salt')
    const dump = (grant: Grant | undefined): string => JSON.stringify(grant)
    expect(dump(here.grant)).toContain(salt)
    here.now = START + 300
    const writes = [
      refreshOf(here),
      revokeOf(here, 'access'),
      revokeOf(here, 'refresh'),
      refreshOf(here, 0),
      exchangeOf(here),
    ]
    for (const command of writes) {
      const { grant } = here.ask(command)
      expect(grant).toBeDefined()
      expect(dump(grant)).not.toContain(salt)
    }
    const refusing = refreshedWorld(setupWith({ refreshReplay: 'refuse' }))
    refusing.now = START + 300
    refusing.send(refreshOf(refusing, 0))
    expect(dump(refusing.grant)).not.toContain('salt')
  })
})

describe('a code that was never exchanged', () => {
  it('has nothing to refresh', () => {
    const here = world()
    const outcome = here.ask(refreshOf(exchangedWorld(SETUP)))
    expect([errorOf(outcome), outcome.grant]).toEqual(['invalid_grant', undefined])
  })
})

describe('5.2 a refresh for a token of the type mac', () => {
  const KEYED = setupWith({ derivationKey: KEY })

  /** A world with a first pair of the type, and how to refresh the newest one for either. */
  function macWorld(): World {
    const here = world(KEYED)
    here.send({ ...exchangeOf(here), tokenType: 'mac' })
    return here
  }
  const asking = (here: World, tokenType: 'mac' | undefined, pair = -1): RefreshCommand => ({
    ...refreshOf(here, pair),
    tokenType,
  })
  const typeOf = (here: World, pair: number): string | undefined => here.grant?.pairs.at(pair)?.access.type

  it('[33] a retry in grace gives the same token with the same key, whatever type is asked for by then', () => {
    const here = macWorld()
    const first = issuedBy(here.send(asking(here, 'mac', 0)))
    expect(first.macKey).toBe(macKeyOf(credentialOf(first.accessToken).secret, KEYED.rules))
    for (const tokenType of ['mac', undefined] as const) {
      here.now += 100
      const outcome = here.send(asking(here, tokenType, 0))
      expect(issuedBy(outcome)).toStrictEqual({ ...first, expiresIn: START + 28_800 - here.now })
      expect(outcome.grant).toBeUndefined()
    }
    expect(typeOf(here, 1)).toBe('mac')
  })

  it('every successor has another key', () => {
    const here = macWorld()
    for (let count = 0; count < 20; count++) here.send(asking(here, 'mac'))
    const keys = here.pairs.map(({ macKey = expect.fail('no key') }) => macKey)
    expect([keys.length, new Set(keys).size]).toEqual([21, 21])
  })

  it('the type is what is asked for at the first refresh, and no other pair changes its own', () => {
    const here = macWorld()
    for (const tokenType of [undefined, 'mac', 'mac', undefined, undefined] as const) {
      expect(Object.hasOwn(issuedBy(here.send(asking(here, tokenType))), 'macKey')).toBe(tokenType === 'mac')
    }
    expect([0, 1, 2, 3, 4, 5].map((pair) => typeOf(here, pair))).toEqual([
      'mac',
      undefined,
      'mac',
      'mac',
      undefined,
      undefined,
    ])
    expect([0, 1].map((pair) => inspected(here, pair))).toMatchObject([{ tokenType: 'mac' }, { type: 'active' }])
    expect(inspected(here, 1)).not.toHaveProperty('tokenType')
    // A retry of a pair whose successor is bearer stays without a key, too.
    expect(issuedBy(here.send(asking(here, 'mac', 0)))).not.toHaveProperty('macKey')
  })

  it('racing refreshes for either type give one successor, of one type, in every order of 3 servers', () => {
    const here = macWorld()
    const types = ['mac', undefined, 'mac'] as const
    const requests = types.map((tokenType, number) => ({
      command: asking(here, tokenType),
      now: START,
      entropy: entropyOf(number + 10),
    }))
    const orders = inEveryOrder((choose) => {
      const store = { grant: here.grant, version: 1 }
      const outcomes = race(store, requests, KEYED.rules, choose)
      const [first, ...others] = outcomes.map(({ reply }) => reply)
      for (const other of others) expect(other).toStrictEqual(first)
      expect(store.grant).toMatchObject({ pairs: [{}, {}] })
    })
    expect(orders).toBeGreaterThan(100)
  })

  it('by a server without the derivation key is refused, where there is a successor with a key that it cannot make', () => {
    for (const rules of [RULES, { ...RULES, derivationKey: entropyOf(-4).subarray(0, 32) }]) {
      const here = macWorld()
      here.send(asking(here, 'mac', 0))
      const outcome = transition(here.grant, asking(here, 'mac', 0), here.now, entropyOf(9), rules)
      expect([errorOf(outcome), outcome.grant]).toEqual(['invalid_grant', undefined])
    }
  })
})

describe('an application that is registered for none of the scopes any more', () => {
  it.each([
    ['a first refresh', -1],
    ['a refresh that it repeats', 0],
  ])('gets no tokens by %s, and nothing changes', (_, pair) => {
    const here = refreshedWorld()
    const { grant, now } = here
    const refresh = { ...refreshOf(here, pair), registered: [] }
    const { reply, ...rest } = transition(grant, refresh, now, entropyOf(99), RULES)
    expect(reply).toMatchObject({ type: 'error', code: 'invalid_grant', reason: 'scope_not_registered' })
    expect(rest).toEqual({ events: [] })
  })
})
