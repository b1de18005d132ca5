/**
 * Several servers over one store, racing on one code and on one token: whatever the order in which their reads and
 * writes come to pass, one of them wins, and the others agree with it. And what a request leaves that was cut.
 * @module
 */
import type { RecordStore } from 'grantwell'
import { describe, expect, it } from 'vitest'
import type { TestServer, Tokens } from '../support.js'
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
import { expectWhole, farm, grantOf, randomOf, slowly, someTurns, worksOn } from './farm.js'

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
          if (over) expect(type).toBe('refused')
        }),
      ])
      for (const { status, body } of answers) {
        if (status !== 200) expect([status, body.error]).toEqual([400, 'invalid_grant'])
        else {
          expect(body).toEqual(answers.find((answer) => answer.status === 200)?.body)
          expect(await worksOn(servers, body.access_token)).toBe(0)
          expect((await refresh(any(), body.refresh_token)).body.error).toBe('invalid_grant')
        }
      }
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
  /** What can happen to the n-th operation of a store: its server dies before or after it, or it fails so. */
  const FATES = ['dies before', 'dies after', 'fails before', 'fails after'] as const
  type Fate = (typeof FATES)[number]

  interface Doomed {
    readonly fate: Fate
    readonly at: number
  }

  /** A store of a server that meets its fate once it is armed; counts the operations until then. */
  function doomedStore(doom: { armed: boolean; count: number; doomed?: Doomed }, random: Random) {
    const never = new Promise<never>(() => {})
    const meeting = async <Result>(happens: () => Promise<Result>): Promise<Result> => {
      const { armed, doomed } = doom
      if (!armed || doomed === undefined || doom.count++ !== doomed.at) return happens()
      if (doomed.fate === 'dies before') return never
      if (doomed.fate === 'fails before') throw new Error('fails before')
      await happens()
      if (doomed.fate === 'dies after') return never
      throw new Error('fails after')
    }
    return (store: RecordStore): RecordStore => {
      const slow = slowly(store, random)
      return {
        read: (keys) => meeting(async () => slow.read(keys)),
        write: (key, value, options) => meeting(async () => slow.write(key, value, options)),
        list: (label, page) => slow.list(label, page),
      }
    }
  }

  /** The steps of the flow: what each begins with, how it is asked, and what must hold once it was asked again. */
  interface Step<Begun> {
    readonly begin: (server: TestServer) => Promise<Begun>
    readonly ask: (
      server: TestServer,
      begun: Begun,
    ) => Promise<{ readonly status: number; readonly retryAfter?: string | undefined }>
    readonly again: (servers: Farm, healthy: TestServer, begun: Begun) => Promise<void>
  }

  const answered = ({ status, headers }: { status: number; headers: Readonly<Record<string, string>> }) => ({
    status,
    retryAfter: headers['Retry-After'],
  })

  const consent: Step<Awaited<ReturnType<typeof openConsent>>> = {
    begin: (server) => openConsent(server),
    ask: async ({ server }, { fields, headers }) =>
      answered(await post(server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)),
    again: async (servers, healthy, { fields, headers }) => {
      // Either nothing has happened, or the form is used up: never two codes.
      const response = await post(healthy.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
      expect([302, 400]).toContain(response.status)
      const grants = await servers.shared.list('client:web')
      expect(grants.records).toHaveLength(1)
    },
  }

  const redemption: Step<string> = {
    begin: async (server) => (await authorize(server)).code,
    ask: async (server, code) => answered((await exchange(server, code)).response),
    again: async (servers, healthy, code) => {
      const before = await grantOf(servers.shared, code)
      const { status, body } = await exchange(healthy, code)
      if (before?.code.usedAt === undefined) {
        expect(status).toBe(200)
        expect(await worksOn({ ...servers, servers: [healthy] }, body.access_token)).toBe(1)
      } else {
        // The first pair is lost, and whoever has it cannot use it.
        expect([status, body.error]).toEqual([400, 'invalid_grant'])
        expect((await grantOf(servers.shared, code))?.revokedAt).toBeDefined()
      }
    },
  }

  const refreshing: Step<Tokens> = {
    begin: (server) => tokens(server),
    ask: async (server, { refresh_token }) => answered((await refresh(server, refresh_token)).response),
    again: async (servers, healthy, { refresh_token, access_token }) => {
      const { status, body } = await refresh(healthy, refresh_token)
      expect(status).toBe(200)
      expect((await refresh(healthy, refresh_token)).body).toEqual(body)
      const one = { ...servers, servers: [healthy] }
      expect([await worksOn(one, access_token), await worksOn(one, body.access_token)]).toEqual([1, 1])
      expect((await grantOf(servers.shared, refresh_token))?.pairs).toHaveLength(2)
    },
  }

  const revoking = (kind: 'access_token' | 'refresh_token'): Step<Tokens> => ({
    begin: (server) => tokens(server),
    ask: async (server, pair) => answered(await revoke(server, pair[kind])),
    again: async (servers, healthy, pair) => {
      expect((await revoke(healthy, pair[kind])).status).toBe(200)
      expect(await worksOn({ ...servers, servers: [healthy] }, pair.access_token)).toBe(0)
      expect((await refresh(healthy, pair.refresh_token)).status).toBe(kind === 'access_token' ? 200 : 400)
    },
  })

  const validation: Step<Tokens> = {
    begin: (server) => tokens(server),
    ask: async (server, { access_token }) => {
      const found = await call(server, access_token)
      return found.type === 'refused' ? answered(found.response) : { status: 200 }
    },
    again: async (servers, healthy, { access_token }) => {
      expect(await worksOn({ ...servers, servers: [healthy] }, access_token)).toBe(1)
    },
  }

  async function meets<Begun>(step: Step<Begun>, doomed: Doomed, random: Random): Promise<boolean> {
    const doom: Parameters<typeof doomedStore>[0] = { armed: false, count: 0, doomed }
    const wrap = doomedStore(doom, random)
    // The first server meets its fate; the second one is well.
    const servers = await farm(2, random, {}, (store, index) => (index === 0 ? wrap(store) : slowly(store, random)))
    const [unlucky = servers.any(), healthy = servers.any()] = servers.servers
    const begun = await step.begin(unlucky)
    doom.armed = true
    let answer: Awaited<ReturnType<typeof step.ask>> | undefined
    const asking = step.ask(unlucky, begun).then((given) => {
      answer = given
    })
    // Long enough for every answer that comes at all.
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    const met = doom.count > doomed.at
    const isAnswered = !met || doomed.fate.startsWith('fails')
    if (isAnswered) await asking
    expect(answer !== undefined).toBe(isAnswered)
    const isBusy = answer?.status === 503 && Number(answer.retryAfter) > 0
    expect(isBusy || !met || doomed.fate !== 'fails before').toBe(true)
    for (const { value } of (await servers.shared.list('client:web')).records) expectWhole(value as never) // grants alone have this label
    await step.again(servers, healthy, begun)
    for (const { value } of (await servers.shared.list('client:web')).records) expectWhole(value as never)
    return met
  }

  const STEPS: Readonly<Record<string, (doomed: Doomed, random: Random) => Promise<boolean>>> = {
    'the consent': (doomed, random) => meets(consent, doomed, random),
    'the exchange': (doomed, random) => meets(redemption, doomed, random),
    'the refresh': (doomed, random) => meets(refreshing, doomed, random),
    'the revocation of an access token': (doomed, random) => meets(revoking('access_token'), doomed, random),
    'the revocation of a refresh token': (doomed, random) => meets(revoking('refresh_token'), doomed, random),
    'the validation': (doomed, random) => meets(validation, doomed, random),
  }

  for (const [name, step] of Object.entries(STEPS)) {
    it(`[49] leaves nothing half-made when ${name} is cut or the store fails at any operation, and can be sent again`, async () => {
      for (const fate of FATES) {
        let at = 0
        while (await step({ fate, at }, randomOf(at))) at++
        expect(at).toBeGreaterThan(0)
        expect(at).toBeLessThan(10)
      }
    })
  }

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
