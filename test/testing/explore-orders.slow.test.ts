/**
 * The interleaving explorer on a sound store: every pair and triple of requests in every order of their steps, with faults.
 * @module
 */
import { nodeDigests } from 'grantwell/node'
import { afterAll, describe, expect, it } from 'vitest'
import type { RequestKind } from '../../src/testing/explore.js'
import { explore } from '../../src/testing/explore.js'
import { AUDIENCES } from './explored-servers.js'

const server = { digests: nodeDigests }

const KINDS: readonly RequestKind[] = ['exchange', 'refresh', 'revoke', 'validate', 'replay', 'expiry']
const PAIRS = KINDS.flatMap((first, place) => KINDS.slice(place).map((second) => [first, second]))
const TRIPLES: readonly (readonly RequestKind[])[] = [
  ['refresh', 'refresh', 'revoke'],
  ['exchange', 'exchange', 'revoke'],
]

describe('every order of every step, on memory', () => {
  const table: { readonly requests: string; readonly faults: number; readonly histories: number }[] = []

  afterAll(() => {
    const total = table.reduce((sum, { histories }) => sum + histories, 0)
    const rows = [...table, { requests: 'all together', faults: '', histories: total }].map(
      ({ requests, faults, histories }) =>
        `${requests.padEnd(28)} ${String(faults).padStart(6)} ${String(histories).padStart(9)}`,
    )
    console.log([`${'requests'.padEnd(28)} faults histories`, ...rows].join('\n'))
  })

  const exploring = async (requests: readonly RequestKind[], faults: number): Promise<void> => {
    const { histories, exhaustive } = await explore({ requests, faults, server })
    table.push({ requests: requests.join(', '), faults, histories })
    expect(exhaustive).toBe(true)
    expect(histories).toBeGreaterThan(1)
  }

  for (const requests of PAIRS) it(`${requests.join(' beside ')}, with up to two faults`, () => exploring(requests, 2))

  for (const requests of TRIPLES) it(`${requests.join(' beside ')}, with up to one fault`, () => exploring(requests, 1))

  it('a first redemption beside what waits for its tokens, and the end of an access token beside a refresh', async () => {
    for (const requests of [
      ['exchange', 'revoke'],
      ['exchange', 'refresh'],
      ['exchange', 'replay'],
    ] as const)
      expect((await explore({ requests, begin: 'code', server })).exhaustive).toBe(true)
    for (const requests of [
      ['revoke access', 'refresh'],
      ['revoke access', 'validate'],
    ] as const)
      expect((await explore({ requests, server })).exhaustive).toBe(true)
  })
})

describe('a grant for two resources', () => {
  const REQUESTS: readonly (readonly [readonly RequestKind[], number])[] = [
    [['refresh for first', 'refresh for second'], 2],
    [['refresh for first', 'revoke'], 2],
    [['refresh for first', 'refresh for first'], 1],
    [['refresh for first', 'refresh'], 1],
    [['refresh for second', 'validate'], 1],
    [['refresh for second', 'revoke access'], 1],
    [['refresh for second', 'expiry'], 1],
    [['refresh for second', 'exchange'], 1],
    [['refresh for first', 'replay'], 1],
    [['agree', 'exchange', 'refresh for first'], 1],
    [['refresh for first', 'refresh for second', 'revoke'], 0],
  ]

  for (const [requests, faults] of REQUESTS)
    it(`${requests.join(' beside ')}, with up to ${faults} faults`, async () => {
      const { histories, exhaustive } = await explore({ requests, faults, server: { ...server, audiences: AUDIENCES } })
      expect(exhaustive).toBe(true)
      expect(histories).toBeGreaterThan(5)
    })
})

describe('a form of a consent, sent more than once', () => {
  // A fault beside two forms that agree makes the longest walk there is: one of the two is walked with it.
  const FORMS: readonly (readonly [requests: readonly RequestKind[], faults: number])[] = [
    [['agree', 'agree'], 1],
    [['agree', 'agree otherwise'], 0],
    [['agree', 'refuse'], 1],
    [['refuse', 'refuse'], 1],
    [['agree', 'expiry'], 1],
    [['agree', 'exchange'], 1],
    [['agree', 'revoke'], 1],
  ]

  for (const [requests, faults] of FORMS)
    it(`${requests.join(' beside ')}, with up to ${faults} faults`, async () => {
      const { histories, exhaustive } = await explore({ requests, faults, server })
      expect(exhaustive).toBe(true)
      expect(histories).toBeGreaterThan(5)
    })

  it('three at a time: as many orders as there is time for', async () => {
    for (const requests of [
      ['agree', 'agree', 'exchange'],
      ['agree', 'refuse', 'agree'],
    ] as const)
      expect((await explore({ requests, server, faults: 0, limit: 600, samples: 100 })).histories).toBeGreaterThan(400)
  })
})
