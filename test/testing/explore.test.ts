/**
 * The interleaving explorer on a sound store: what it promises of itself.
 * `explore-orders.slow.test.ts` has every pair and triple of requests.
 * @module
 */
import type { RecordStore } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import type { Caller, ExploreOptions, RequestKind } from '../../src/testing/explore.js'
import { explore } from '../../src/testing/explore.js'
import { AUDIENCES } from './explored-servers.js'

const server = { digests: nodeDigests }

/** Whatever an engine does meanwhile, it answers some turns of the event loop later. */
function slowly(store: RecordStore): RecordStore {
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const taking = async <Result>(act: () => Result | Promise<Result>): Promise<Result> => {
    await turn()
    const result = await act()
    await turn()
    return result
  }
  return {
    read: (keys) => taking(() => store.read(keys)),
    write: (key, value, options) => taking(() => store.write(key, value, options)),
    list: (label, page) => taking(() => store.list(label, page)),
  }
}

describe('the histories', () => {
  it('are all there are: two requests of a read and a write, the later one deciding again', async () => {
    // Each in whole before the other: AABB and BBAA, where the second of two validations has nothing to write.
    expect(await explore({ requests: ['validate', 'validate'], faults: 0, server })).toEqual({
      histories: 2,
      exhaustive: true,
    })
    // The refresh's two steps, and the validation's one before, between or after them.
    expect(await explore({ requests: ['refresh', 'validate'], faults: 0, server })).toEqual({
      histories: 3,
      exhaustive: true,
    })
    // Reads before both writes: 4 orders, the one that comes second reads again. One after the other: 2.
    expect(await explore({ requests: ['refresh', 'refresh'], faults: 0, server })).toEqual({
      histories: 6,
      exhaustive: true,
    })
    // A read that happens, fails, is late, or is never made.
    expect(await explore({ requests: ['validate'], faults: 1, server })).toEqual({ histories: 4, exhaustive: true })
  })

  it('are the same on a store that takes its time, and on one that all of them share', async () => {
    const requests = ['refresh', 'revoke'] as const
    const here = await explore({ requests, server })
    expect(await explore({ requests, server, store: ({ clock }) => slowly(memoryStore({ clock })) })).toEqual(here)
    // As a store over one database is shared: a new object for each history, over the same records.
    let records: RecordStore | undefined
    const overOne: ExploreOptions['store'] = ({ clock }) => {
      records ??= memoryStore({ clock })
      return { ...records }
    }
    expect(await explore({ requests, server, store: overOne })).toEqual(here)
    let shared: RecordStore | undefined
    const store: ExploreOptions['store'] = ({ clock }) => {
      shared ??= memoryStore({ clock })
      return shared
    }
    expect(await explore({ requests, server, store })).toEqual(here)
  })

  it('go on at random where there are more than may be tried, the same for the same seed', async () => {
    const requests = ['refresh', 'refresh', 'revoke'] as const
    const options = { requests, faults: 2, limit: 50, samples: 100, server }
    const first = await explore({ ...options, seed: 7 })
    expect(first.exhaustive).toBe(false)
    expect(first.histories).toBeGreaterThan(100)
    expect(await explore({ ...options, seed: 7 })).toEqual(first)
    // Which ones they are, by the order in which the requests are answered.
    const answered = async (seed: number): Promise<readonly string[]> => {
      const seen: string[] = []
      const asking = (name: string) => ({
        name,
        run: async ({ refresh, newestPair }: Caller) => {
          const pair = await newestPair()
          if (pair !== undefined) seen.push(`${name} ${(await refresh(pair.refreshToken)).says}`)
        },
      })
      await explore({ ...options, requests: [asking('one'), asking('two')], limit: 1, seed })
      return seen
    }
    const seen = await answered(7)
    expect(await answered(7)).toEqual(seen)
    expect(await answered(8)).not.toEqual(seen)
  })

  it('are played with options of the server: a replay may be refused alone', async () => {
    const { exhaustive } = await explore({
      requests: ['replay', 'refresh'],
      server: { ...server, refreshReplay: 'refuse', derivationKey: new Uint8Array(32).fill(7) },
    })
    expect(exhaustive).toBe(true)
  })
})

describe('a grant for two resources', () => {
  const [first, second] = AUDIENCES.map(({ resource }) => resource)
  const forTwo = { ...server, audiences: AUDIENCES }

  it('has one successor, for the resource of whoever is first: the other is told so, in every order', async () => {
    const answers: string[] = []
    const refreshing = (resource: string | undefined, others: readonly (string | undefined)[]) => ({
      name: `refresh for ${resource}`,
      run: async ({ firstPair, refresh, validate }: Caller) => {
        const told = await refresh(firstPair?.refreshToken ?? '', resource)
        answers.push(told.says === 'refused' ? told.error : told.says)
        if (told.says !== 'tokens') return
        expect((await validate(told.accessToken, resource)).says).toBe('active')
        for (const other of others) expect((await validate(told.accessToken, other)).says).toBe('refused')
      },
    })
    const requests = [refreshing(first, [second, undefined]), refreshing(second, [first, undefined])]
    const { histories, exhaustive } = await explore({ requests, faults: 0, server: forTwo })
    expect(exhaustive).toBe(true)
    for (let history = 0; history < histories; history++)
      expect(answers.slice(2 * history, 2 * history + 2)).toEqual(['tokens', 'invalid_target'])
  })

  it('breaks no rule with a fault at any step: two refreshes for different resources, one beside a revocation', async () => {
    const histories = async (requests: readonly RequestKind[]) =>
      (await explore({ requests, server: forTwo })).histories
    // As many as of refreshes for all: whoever is second has nothing to write.
    expect(await histories(['refresh for first', 'refresh for second'])).toBe(108)
    expect(await histories(['refresh for first', 'revoke'])).toBe(123)
  })
})

describe('requests of one’s own', () => {
  it('are any calls, one after the other, and are held to the same rules', async () => {
    const careful = {
      name: 'a client that refreshes twice and asks the API',
      run: async ({ newestPair, refresh, validate }: Caller) => {
        const pair = await newestPair()
        if (pair === undefined) return
        const once = await refresh(pair.refreshToken)
        const twice = await refresh(pair.refreshToken)
        if (once.says === 'tokens' && twice.says === 'tokens') await validate(twice.accessToken)
      },
    }
    const { exhaustive, histories } = await explore({ requests: [careful, 'revoke'], server })
    expect(exhaustive).toBe(true)
    expect(histories).toBeGreaterThan(100)
  })

  it('fail with their story where they find what they do not expect', async () => {
    const wrong = {
      name: 'hopeful',
      run: async ({ newestPair, validate }: Caller) => {
        const pair = await newestPair()
        const told = await validate(pair?.accessToken ?? '')
        if (told.says !== 'active') throw new Error('the token does not work')
      },
    }
    await expect(explore({ requests: ['revoke', wrong], faults: 0, server })).rejects.toThrow(
      /B \(hopeful\) reads the application and the grant\n.*B refuses the token\nBroken: .*But the token does not work/s,
    )
  })

  it('let time pass, and may not do two things at once', async () => {
    const hours = { name: 'hours', run: ({ pass }: Caller) => pass(86_400) }
    expect((await explore({ requests: [hours, 'refresh'], server })).exhaustive).toBe(true)
    const hasty = {
      name: 'hasty',
      run: async ({ exchange, code }: Caller) => void (await Promise.all([exchange(code), exchange(code)])),
    }
    await expect(explore({ requests: [hasty], server })).rejects.toThrow('two steps at once')
  })
})

describe('options that make no sense', () => {
  const requests: readonly RequestKind[] = ['refresh']

  it.each<readonly [string, object]>([
    ['requests', {}],
    ['requests', { requests: [] }],
    ['requests', { requests: Array(27).fill('validate') }],
    ['requests', { requests: 'refresh' }],
    ['requests', { requests: ['refesh'] }],
    ['requests', { requests: ['toString'] }],
    ['requests', { requests: [{ name: 'no run' }] }],
    ['requests', { requests: [null] }],
    ['server', { requests: ['refresh for first'] }],
    ['server', { requests: ['refresh for second'], server: { audiences: AUDIENCES.slice(0, 1) } }],
    ['begin', { requests, begin: 'pair' }],
    ['store', { requests, store: memoryStore() }],
    ['server', { requests, server: null }],
    ['createServer', { requests, createServer: {} }],
    ['faults', { requests, faults: -1 }],
    ['faults', { requests, faults: 0.5 }],
    ['faults', { requests, faults: Number.POSITIVE_INFINITY }],
    ['limit', { requests, limit: 0 }],
    ['limit', { requests, limit: '5' }],
    ['limit', { requests, limit: 0, samples: 0 }],
    ['samples', { requests, samples: 0 }],
    ['samples', { requests, samples: Number.NaN }],
    ['seed', { requests, seed: 0.5 }],
    ['history', { requests, history: ['A'] }],
    ['patience', { requests, patience: 0 }],
    ['numRuns', { requests, numRuns: 5 }],
    ['toString', { requests, toString: 5 }],
  ])('are refused by name: %s of %o', async (name, options) => {
    const explored = explore(options as ExploreOptions) // wrong on purpose
    await expect(explored).rejects.toMatchObject({
      code: 'ERR_CONFIGURATION',
      message: expect.stringMatching(`^grantwell: explore: (?:the|there is no) option ${name}\\b`),
    })
  })

  it('are refused: a history that is none, or one that cannot be', async () => {
    await expect(explore(undefined as never)).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' }) // wrong on purpose
    await expect(explore({ requests: ['refresh'], history: 'a' })).rejects.toThrow('not a step of a history: a')
    await expect(explore({ requests: ['refresh'], history: 'A A:fails' })).rejects.toThrow(
      'step 2 of the history cannot be: there are A A:lost-answer A:lost-write A:died-before A:died-after',
    )
  })
})
