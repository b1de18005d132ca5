/**
 * The device flow raced: every operation of the store is held and let go in every order that there is. Whatever the
 * order, one decision counts, and the device code yields tokens at most once.
 * @module
 * @see RFC 8628, sections 3.3 to 3.5
 */
import type { HttpResponse } from 'grantwell'
import { isGrant } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { createTurns, inEveryOrder, inSomeOrders } from '../orders.js'
import type { Codes, Opened } from '../protocol/device-form.js'
import { codesOf, decide, decideOn, enter, openDevicePage, poll, recordOf, told } from '../protocol/device-form.js'
import type { TestServer } from '../support.js'
import { works } from '../support.js'
import type { Farm } from './farm.js'
import { expectWhole, farm, grantOf, randomOf, someTurns } from './farm.js'

/** A device, its servers, and what everybody was told. */
interface Scene {
  readonly farm: Farm
  readonly codes: Codes
  readonly polls: string[]
  readonly decisions: { readonly user: string; readonly decision: string; readonly response: HttpResponse }[]
  readonly withdrawn: boolean[]
}

type Deed = 'poll' | 'withdraw' | `${'agree' | 'refuse'} as ${string}`

const userHeader = (user: string) => ({ 'x-user': user })

/** The consent page as a user has it open. */
async function shownTo(test: TestServer, user: string, { user_code }: Codes): Promise<Opened> {
  const headers = userHeader(user)
  const consent = await enter(test, await openDevicePage(test, '', headers), user_code, {}, headers)
  expect(consent.page.status).toBe(200)
  return consent
}

/** Races deeds in every order: before it, the device has asked; `prepare` may do more. Afterwards `check` looks. */
async function raced(
  deeds: readonly Deed[],
  check: (scene: Scene) => Promise<void>,
  prepare: (test: TestServer, codes: Codes) => Promise<unknown> = async () => {},
  inOrders = async (play: Parameters<typeof inEveryOrder>[0]) => (await inEveryOrder(play)).orders,
): Promise<number> {
  return inOrders(async (choose) => {
    // What a user decided before, and whose records these are, is raced elsewhere: here it would only make more orders.
    const turns = createTurns(/^(?:consent|issuer)/)
    const user = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => ({
      subject: String(headers['x-user'] ?? 'ada'),
    })
    const servers = await farm(deeds.length, randomOf(1), { user }, turns.store)
    const [first = expect.fail('no server')] = servers.servers
    const codes = await codesOf(first)
    await prepare(first, codes)
    const polls: string[] = []
    const decisions: Scene['decisions'] = []
    const withdrawn: boolean[] = []
    const pages = new Map<string, Opened>()
    for (const deed of deeds) {
      const name = deed.split(' as ')[1]
      if (name !== undefined) pages.set(name, pages.get(name) ?? (await shownTo(first, name, codes)))
    }
    const actors = deeds.map((deed, index) => async () => {
      const test = servers.servers[index] ?? first
      const [what = '', name = ''] = deed.split(' as ')
      const page = pages.get(name)
      if (what === 'poll') {
        polls.push(await told(test, codes))
      } else if (page !== undefined) {
        const response = await decideOn(test, page, what, {}, userHeader(name))
        decisions.push({ user: name, decision: what, response })
      } else {
        const { id } = (await recordOf(servers.shared, codes)) ?? {}
        withdrawn.push(await test.server.grants.revokeGrant('ada', String(id)))
      }
    })
    await turns.run(actors, choose)
    await check({ farm: servers, codes, polls, decisions, withdrawn })
    expect(first.errors).toEqual([])
    // RFC 8628, 3.2: whatever came before, a device that waits as it is told ends with tokens once, or never.
    servers.clock.now += 100
    const after = [await told(first, codes), await told(first, codes)]
    expect([...polls, ...after].filter((each) => each === 'tokens').length).toBeLessThanOrEqual(1)
    const record = await grantOf(servers.shared, codes.device_code)
    if (isGrant(record)) expectWhole(record)
  })
}

/** The one decision that counted: whoever made it is told so, as often as they ask, and nobody else is. */
function decided(decisions: Scene['decisions']) {
  const told = decisions.filter(({ response }) => response.status === 200)
  const shown = ({ response }: Scene['decisions'][number]): string =>
    response.body.includes('Your device is connected') ? 'agree' : 'refuse'
  expect([new Set(told.map(shown)).size, new Set(told.map(({ user }) => user)).size]).toEqual([1, 1])
  for (const { response } of decisions.filter((each) => !told.includes(each))) {
    expect(response.status).toBe(400)
    expect(response.body).toContain(
      'This code is not known, or no longer valid. Compare it with your device, or start again there.',
    )
  }
  return told.find((each) => shown(each) === each.decision) ?? expect.fail('nobody decided so')
}

describe('[43] a race on one device code', () => {
  it('[43] two polls after the user agreed: one has the tokens', async () => {
    const orders = await raced(
      ['poll', 'poll'],
      async ({ polls }) => {
        expect(polls.sort()).toEqual(['invalid_grant', 'tokens'])
      },
      (test, codes) => decide(test, codes),
    )
    expect(orders).toBeGreaterThanOrEqual(6)
  })

  it('[43] three polls after the user agreed: one has the tokens', async () => {
    const orders = await raced(
      ['poll', 'poll', 'poll'],
      async ({ polls }) => {
        expect(polls.sort()).toEqual(['invalid_grant', 'invalid_grant', 'tokens'])
      },
      (test, codes) => decide(test, codes),
    )
    expect(orders).toBeGreaterThanOrEqual(90)
  })

  it('[43] two polls before anybody decided: one is in time, the other too soon, and the interval has grown once', async () => {
    await raced(['poll', 'poll'], async ({ polls, farm: { shared }, codes }) => {
      expect(polls.sort()).toEqual(['authorization_pending', 'slow_down'])
      expect(await recordOf(shared, codes)).toMatchObject({ code: { interval: 10 } })
    })
  })

  it('[43] two polls while the user agrees: at most one has tokens, and the agreement is never lost', async () => {
    const seen = new Set<string>()
    const orders = await raced(
      ['poll', 'poll', 'agree as ada'],
      async ({ polls, decisions, farm: { shared }, codes }) => {
        expect(decided(decisions).decision).toBe('agree')
        seen.add(polls.sort().join())
        const record = (await recordOf(shared, codes)) ?? {}
        expect(record['subject']).toBe('ada')
        expect(polls.includes('tokens')).toBe((record['pairs'] as unknown[]).length > 0) // as a grant has them
      },
    )
    expect(orders).toBeGreaterThan(420)
    expect(seen).toEqual(new Set(['authorization_pending,slow_down', 'invalid_grant,tokens']))
  })

  it('[43] a poll while the user refuses: pending or denied, and never tokens', async () => {
    const seen = new Set<string>()
    await raced(['poll', 'refuse as ada'], async ({ polls, decisions }) => {
      expect(decided(decisions).decision).toBe('refuse')
      for (const each of polls) seen.add(each)
    })
    expect(seen).toEqual(new Set(['authorization_pending', 'access_denied']))
  })

  it('[43] a poll while the user takes the grant back: tokens that do not work any more, or none', async () => {
    const seen = new Set<string>()
    await raced(
      ['poll', 'withdraw'],
      async ({ polls, withdrawn, farm: { shared }, codes }) => {
        expect(withdrawn).toEqual([true])
        for (const each of polls) seen.add(each)
        expect(await recordOf(shared, codes)).toMatchObject({ pairs: [], revokedAt: expect.any(Number) })
      },
      (test, codes) => decide(test, codes),
    )
    expect(seen).toEqual(new Set(['tokens', 'access_denied']))
  })
})

describe('[46] a race between decisions', () => {
  it('[46] one user agrees and refuses at once: one of them counts, and the device hears that one', async () => {
    const seen = new Set<string>()
    await raced(['agree as ada', 'refuse as ada'], async ({ decisions, farm: { shared }, codes }) => {
      const { decision } = decided(decisions)
      seen.add(decision)
      const record = await recordOf(shared, codes)
      expect(record?.['revokedAt'] !== undefined).toBe(decision === 'refuse')
    })
    expect(seen).toEqual(new Set(['agree', 'refuse']))
  })

  it('[46] two users agree at once: the grant is of the one who was told so, whole', async () => {
    const seen = new Set<string>()
    await raced(['agree as ada', 'agree as bob'], async ({ decisions, farm: { shared }, codes }) => {
      const { user } = decided(decisions)
      seen.add(user)
      expect(await recordOf(shared, codes)).toMatchObject({ subject: user })
    })
    expect(seen).toEqual(new Set(['ada', 'bob']))
  })

  it('[46] one user agrees while another refuses, and the device polls', async () => {
    const seen = new Set<string>()
    await raced(
      ['poll', 'agree as ada', 'refuse as bob'],
      async ({ polls, decisions }) => {
        const { decision } = decided(decisions)
        seen.add(`${decision}: ${polls.join()}`)
      },
      async () => {},
      async (play) => {
        await inSomeOrders(play, 300)
        return 300
      },
    )
    expect(seen).toEqual(
      new Set([
        'agree: authorization_pending',
        'agree: tokens',
        'refuse: authorization_pending',
        'refuse: access_denied',
      ]),
    )
  })
})

describe('[43] fifty polls at once, over a store that takes its time', () => {
  const manyPolls = (servers: Farm, codes: Codes) =>
    Promise.all(
      Array.from({ length: 50 }, async () => {
        await someTurns(servers.random)
        return poll(servers.any(), codes)
      }),
    )

  it('[43] after the user agreed: one has tokens, which work', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const servers = await farm(5, randomOf(seed))
      const codes = await codesOf(servers.any())
      await decide(servers.any(), codes)
      const answers = await manyPolls(servers, codes)
      const [winner = expect.fail('nobody won'), ...more] = answers.filter(({ status }) => status === 200)
      expect(more).toEqual([])
      expect(await works(servers.any(), winner.body.access_token)).toBe(true)
      for (const { status, body } of answers.filter((each) => each.status !== 200))
        expect([status, body.error]).toEqual([400, 'invalid_grant'])
    }
  })

  it('[43] before anybody decided: each that was too soon made the interval grow, one by one', async () => {
    for (let seed = 0; seed < 5; seed++) {
      const servers = await farm(5, randomOf(seed))
      const codes = await codesOf(servers.any())
      const answers = (await manyPolls(servers, codes)).map(({ body }) => body.error ?? 'tokens')
      const count = (error: string) => answers.filter((each) => each === error).length
      expect(count('authorization_pending')).toBe(1)
      // Where too many write at once, some are told to come again, and have changed nothing.
      expect(count('slow_down') + count('temporarily_unavailable')).toBe(49)
      const interval = 5 + 5 * count('slow_down')
      expect(await recordOf(servers.shared, codes)).toMatchObject({ code: { interval } })
    }
  })

  it('[43] while the user agrees: one has tokens at most, and the device gets them in the end', async () => {
    for (let seed = 0; seed < 10; seed++) {
      const servers = await farm(5, randomOf(seed))
      const codes = await codesOf(servers.any())
      const [polls] = await Promise.all([
        manyPolls(servers, codes),
        decide(servers.any(), codes).catch(() => undefined),
      ])
      const won = polls.filter(({ status }) => status === 200).length
      expect(won).toBeLessThanOrEqual(1)
      servers.clock.now += 400
      const record = (await recordOf(servers.shared, codes)) ?? {}
      const last = await told(servers.any(), codes)
      const waits = 'subject' in record ? 'tokens' : 'authorization_pending'
      expect(last).toBe(won === 1 ? 'invalid_grant' : waits)
    }
  })
})
