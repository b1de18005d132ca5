/**
 * Several servers over one store, racing on one code and on one token: whatever the order in which their reads and
 * writes come to pass, one of them wins, and the others agree with it. And what a request leaves that was cut.
 * @module
 */
import { nodeDigests } from 'grantwell/node'
import { explore } from 'grantwell/testing'
import { describe, expect, it } from 'vitest'
import type { Tokens } from '../support.js'
import {
  authorize,
  CHALLENGE,
  call,
  exchange,
  OTHER,
  openConsent,
  post,
  refresh,
  revoke,
  tokens,
  VERIFIER,
  WEB,
} from '../support.js'
import type { Farm, Random } from './farm.js'
import { expectWhole, farm, grantOf, randomOf, someTurns, worksOn } from './farm.js'

/** How many races on a code and on a refresh token; how many run at once, each on a grant of its own. */
const RACES = 2_000
const AT_ONCE = 20

/** Runs races between two servers and between five; the seed of one that fails is in its message. */
async function races(total: number, race: (farm: Farm, random: Random) => Promise<void>): Promise<void> {
  for (const count of [2, 5]) {
    const servers = await farm(count, randomOf(count))
    for (let start = 0; start < total / 2; start += AT_ONCE) {
      const running = Array.from({ length: AT_ONCE }, async (_, index) => {
        const seed = count * 1_000_000 + start + index
        const random = randomOf(seed)
        const raced = race({ ...servers, random, any: () => servers.servers[random(count)] ?? servers.any() }, random)
        await raced.catch((error: unknown) => {
          throw new Error(`in the race ${seed} between ${count} servers: ${String(error)}`, { cause: error })
        })
      })
      await Promise.all(running)
    }
    expect(servers.any().errors).toEqual([])
  }
}

/** So many runners, each started after a while of its own. */
function race<Result>(random: Random, count: number, run: (index: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      await someTurns(random)
      return run(index)
    }),
  )
}

describe('a race on one code', () => {
  it('[15] is won by one, on whichever server; the others get invalid_grant, and then nothing works', async () => {
    await races(RACES, async (servers, random) => {
      const { any } = servers
      const pkce = random(2) === 0
      const parameters = pkce ? { code_challenge: CHALLENGE, code_challenge_method: 'S256' } : {}
      const form: Record<string, string> = pkce ? { code_verifier: VERIFIER } : {}
      const { code } = await authorize(any(), parameters)
      const [answers, others] = await Promise.all([
        race(random, 2 + random(4), () => exchange(any(), code, form)),
        // Meanwhile somebody else tries it, and somebody with another redirect URI or verifier.
        race(random, random(3), (index) =>
          index === 0
            ? exchange(any(), code, form, OTHER)
            : exchange(any(), code, { ...form, redirect_uri: 'https://app.example/another' }),
        ),
      ])
      const winners = answers.filter(({ status }) => status === 200)
      expect(winners).toHaveLength(1)
      for (const { status, body } of [...answers, ...others].filter((each) => each.status !== 200))
        expect([status, body.error]).toEqual([400, 'invalid_grant'])
      // RFC 6749, 4.1.2: the second redemption has revoked what the first one gave.
      const won = winners[0]?.body
      expect(await worksOn(servers, won?.access_token ?? '')).toBe(0)
      expect((await refresh(any(), won?.refresh_token ?? '')).body.error).toBe('invalid_grant')
      expectWhole(await grantOf(servers.shared, code))
    })
  })

  it('[15] is no race where all but one are refused for another reason: exactly the winner’s pair works', async () => {
    await races(RACES / 2, async (servers, random) => {
      const { any } = servers
      const { code } = await authorize(any(), { code_challenge: CHALLENGE, code_challenge_method: 'S256' })
      // Refused for what they sent, they do not burn the code. Once it is used they would be replays, and revoke.
      const refused = await race(random, 3, (index) =>
        index === 0
          ? exchange(any(), code, { code_verifier: VERIFIER, redirect_uri: 'https://app.example/another' })
          : exchange(any(), code, index === 1 ? {} : { code_verifier: 'a'.repeat(43) }),
      )
      for (const { body } of refused) expect(body.error).toBe('invalid_grant')
      const [answers, foreign] = await Promise.all([
        race(random, 1, () => exchange(any(), code, { code_verifier: VERIFIER })),
        race(random, 1 + random(3), () => exchange(any(), code, { code_verifier: VERIFIER }, OTHER)),
      ])
      for (const { body } of foreign) expect(body.error).toBe('invalid_grant')
      const won = answers[0]?.body
      expect(answers[0]?.status).toBe(200)
      expect(await worksOn(servers, won?.access_token ?? '')).toBe(servers.servers.length)
      expect((await refresh(any(), won?.refresh_token ?? '')).status).toBe(200)
    })
  })
})

describe('a race on one refresh token', () => {
  it('[33] gives one successor to all, a retry the same; after the grace period a replay revokes the grant', async () => {
    await races(RACES, async (servers, random) => {
      const { any, shared } = servers
      const first = await tokens(any())
      let current: Tokens = first
      const rounds = 1 + random(2)
      for (let round = 1; round <= rounds; round++) {
        const asked = ['', 'account-profile:r', 'repo-code:r', 'repo-code:rw account-profile:r']
        const [answers, validations] = await Promise.all([
          race(random, 2 + random(4), () => {
            const scope = asked[random(asked.length)] ?? ''
            return refresh(any(), current.refresh_token, scope === '' ? {} : { scope })
          }),
          race(random, random(4), () => call(any(), current.access_token)),
        ])
        for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body])
        // A token in its grace period works all the while.
        for (const { type } of validations) expect(type).toBe('authenticated')
        expect((await refresh(any(), current.refresh_token)).body).toEqual(answers[0]?.body)
        const grant = await grantOf(shared, current.access_token)
        expect(grant?.pairs).toHaveLength(round + 1)
        expectWhole(grant)
        const successor = answers[0]?.body ?? current
        expect(successor.access_token).not.toBe(current.access_token)
        expect(await worksOn(servers, current.access_token)).toBe(servers.servers.length)
        expect(await worksOn(servers, successor.access_token)).toBe(servers.servers.length)
        current = successor
      }
    })
    // The end of the grace period is the same moment for all races, so there is a farm for each.
    for (let seed = 0; seed < 100; seed++) {
      const random = randomOf(seed)
      const servers = await farm(2, random)
      const { any, clock, shared } = servers
      const first = await tokens(any())
      const { body: second } = await refresh(any(), first.refresh_token)
      clock.now += 299
      expect((await refresh(any(), first.refresh_token)).body).toEqual({
        ...second,
        expires_in: second.expires_in - 299,
      })
      clock.now += 1
      const [replays, honest] = await Promise.all([
        race(random, 1 + random(3), () => refresh(any(), first.refresh_token)),
        race(random, random(3), () => refresh(any(), second.refresh_token)),
      ])
      for (const { body } of replays) expect(body.error).toBe('invalid_grant')
      const refused = honest.filter(({ status }) => status !== 200)
      for (const { body } of refused) expect(body.error).toBe('invalid_grant')
      const given = [first, second, ...honest.map(({ body }) => body)].flatMap(({ access_token = [] }) => access_token)
      for (const accessToken of given) expect(await worksOn(servers, accessToken)).toBe(0)
      expect((await grantOf(shared, first.access_token))?.revokedAt).toBe(clock.now)
    }
  })
})

describe('a race with a revocation', () => {
  it('[38] ends revoked when it is the refresh token’s, and from its answer on nothing works on any server', async () => {
    await races(RACES / 2, async (servers, random) => {
      const { any } = servers
      const first = await tokens(any())
      const revoked: boolean[] = []
      const [answers] = await Promise.all([
        race(random, 1 + random(3), () => refresh(any(), first.refresh_token)),
        race(random, 1 + random(2), async () => {
          expect((await revoke(any(), first.refresh_token)).status).toBe(200)
          // At the very next request, on every server.
          expect(await worksOn(servers, first.access_token)).toBe(0)
          revoked.push(true)
        }),
        race(random, random(3), async () => {
          const over = revoked.length > 0
          const { type } = await call(any(), first.access_token)
          expect(over ? ['refused'] : ['refused', 'authenticated']).toContain(type)
        }),
      ])
      const given = answers.filter(({ status }) => status === 200)
      for (const { body } of given) {
        expect(body).toEqual(given[0]?.body)
        expect(await worksOn(servers, body.access_token)).toBe(0)
        expect((await refresh(any(), body.refresh_token)).body.error).toBe('invalid_grant')
      }
      for (const { status, body } of answers.filter((answer) => !given.includes(answer)))
        expect([status, body.error]).toEqual([400, 'invalid_grant'])
      expect((await refresh(any(), first.refresh_token)).body.error).toBe('invalid_grant')
      expectWhole(await grantOf(servers.shared, first.access_token))
    })
  })

  it('[38] ends that token alone when it is an access token’s, and takes nothing from a refresh beside it', async () => {
    await races(RACES / 2, async (servers, random) => {
      const { any } = servers
      const first = await tokens(any())
      const [answers] = await Promise.all([
        race(random, 1 + random(3), () => refresh(any(), first.refresh_token)),
        race(random, 1 + random(2), async () => {
          expect((await revoke(any(), first.access_token)).status).toBe(200)
          expect(await worksOn(servers, first.access_token)).toBe(0)
        }),
      ])
      for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body])
      expect(await worksOn(servers, first.access_token)).toBe(0)
      expect(await worksOn(servers, answers[0]?.body.access_token ?? '')).toBe(servers.servers.length)
    })
  })

  it('[38] is seen by every other server, whatever is revoked where, and a suspended application too', async () => {
    const servers = await farm(5, randomOf(7))
    const works = async ({ access_token }: Tokens) => worksOn(servers, access_token)
    for (const here of servers.servers) {
      const one = await tokens(servers.any())
      const two = await tokens(servers.any())
      const { body: three } = await refresh(servers.any(), two.refresh_token)
      expect([await works(one), await works(two), await works(three)]).toEqual([5, 5, 5])
      await revoke(here, two.access_token)
      expect([await works(one), await works(two), await works(three)]).toEqual([5, 0, 5])
      await revoke(here, two.refresh_token) // in its grace period, so it works still
      expect([await works(one), await works(two), await works(three)]).toEqual([5, 0, 0])
      await here.server.applications.suspend(WEB.clientId)
      expect(await works(one)).toBe(0)
      await here.server.applications.reinstate(WEB.clientId)
      expect(await works(one)).toBe(5)
    }
  })
})

describe('a request that is slow, cut or repeated', () => {
  const REQUESTS = ['agree', 'exchange', 'refresh', 'revoke', 'revoke access', 'validate'] as const

  it.each(REQUESTS)(
    '[49] leaves nothing half-made, and can be sent again, where it is cut or the store fails at any operation, once or twice: %s',
    async (request) => {
      const { histories, exhaustive } = await explore({
        requests: [request],
        faults: 2,
        server: { digests: nodeDigests },
      })
      expect(exhaustive).toBe(true)
      expect(histories).toBeGreaterThan(3)
    },
  )

  it('[49] may be repeated any number of times, one after the other or at once', async () => {
    for (let seed = 0; seed < 50; seed++) {
      const random = randomOf(seed)
      const servers = await farm(3, random)
      const { any, shared } = servers
      const { fields, headers } = await openConsent(any())
      const agreed = await race(random, 3, () =>
        post(any().server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers),
      )
      const [location, ...more] = agreed.flatMap((response) => response.headers['Location'] ?? [])
      expect(new Set(more)).toEqual(new Set(more.length === 0 ? [] : [location]))
      const code = new URL(location ?? '').searchParams.get('code') ?? ''
      const { body: first } = await exchange(any(), code)
      const refreshed = [
        ...(await race(random, 3, () => refresh(any(), first.refresh_token))),
        await refresh(any(), first.refresh_token),
      ]
      for (const { body } of refreshed) expect(body).toEqual(refreshed[0]?.body)
      const second = refreshed[0]?.body ?? first
      const revoked = [
        ...(await race(random, 3, () => revoke(any(), second.access_token))),
        await revoke(any(), second.access_token),
      ]
      for (const { status, body } of revoked) expect([status, body]).toEqual([200, ''])
      expect([await worksOn(servers, first.access_token), await worksOn(servers, second.access_token)]).toEqual([3, 0])
      expectWhole(await grantOf(shared, code))
    }
  })
})

describe('values in the store', () => {
  it('are never changed by a server once they were handed over', async () => {
    const frozen = <Value>(value: Value): Value => {
      if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
        for (const part of Object.values(value)) frozen(part)
        Object.freeze(value)
      }
      return value
    }
    const servers = await farm(2, randomOf(1), { consent: 'once' }, (store) => ({
      read: (keys) => store.read(keys),
      write: (key, value, options) => store.write(key, frozen(value), options),
      list: (label, page) => store.list(label, page),
    }))
    const { any, clock } = servers
    for (let round = 0; round < 5; round++) {
      const first = await tokens(any())
      const { body: second } = await refresh(any(), first.refresh_token)
      await revoke(any(), second.access_token)
      clock.now += 301
      const { body: third } = await refresh(any(), second.refresh_token)
      expect(await worksOn(servers, third.access_token)).toBe(2)
      expect((await refresh(any(), first.refresh_token)).body.error).toBe('invalid_grant')
      expect(await worksOn(servers, third.access_token)).toBe(0)
      await any().server.applications.suspend('web')
      await any().server.applications.reinstate('web')
    }
    expect(any().errors).toEqual([])
  })
})
