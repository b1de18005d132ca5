/**
 * Stores and servers that are broken on purpose, each with the story that the explorer must find.
 * @module
 */
import type { JsonValue, RecordStore } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import type { Caller, ExploreOptions, ExploreStoreWiring } from '../../src/testing/explore.js'
import { ExplorationError, explore } from '../../src/testing/explore.js'
import type { CreateServer } from './explored-servers.js'
import {
  AUDIENCES,
  answersEarly,
  ignoresConflicts,
  MUTATIONS,
  readsVersionAnew,
  remembersGrants,
} from './explored-servers.js'
import type { Mutation } from './mutants.js'
import { mutant } from './mutants.js'

const server = { digests: nodeDigests }

/** Returns the failure that is found. @throws Error where there is none */
async function failureOf(options: ExploreOptions): Promise<ExplorationError> {
  try {
    await explore({ server, ...options })
  } catch (error) {
    if (error instanceof ExplorationError) return error
    throw error
  }
  throw new Error('nothing was found')
}

/** Returns the failure that is found with a broken server, after a look that nothing is found without it. */
async function caught(createServer: CreateServer, options: ExploreOptions): Promise<ExplorationError> {
  await explore({ server, ...options })
  const failure = await failureOf({ ...options, createServer })
  // The story can be had again by its choices, and has the same end.
  const again = await failureOf({ ...options, createServer, history: failure.history })
  expect([again.rule, again.history]).toEqual([failure.rule, failure.history])
  return failure
}

/** Returns the failure that is found with a server with a mutation in it. */
async function caughtWith(mutation: Mutation, options: ExploreOptions): Promise<ExplorationError> {
  const { createAuthorizationServer } = await mutant(mutation)
  return caught(createAuthorizationServer, options)
}

/** Returns the lines of a story, without their numbers. */
function linesOf({ message }: Error): readonly string[] {
  return message.split('\n').map((line) => line.replace(/^ *\d+\. /, ''))
}

/** Makes a store in memory that differs in some methods. */
function memoryWith(
  change: (store: RecordStore, wiring: ExploreStoreWiring) => Partial<RecordStore>,
): (wiring: ExploreStoreWiring) => RecordStore {
  return (wiring) => {
    const store = memoryStore({ clock: wiring.clock })
    return { ...store, ...change(store, wiring) }
  }
}

/** Writes whatever the version is. */
async function overwrite(
  store: RecordStore,
  ...[key, value, options]: Parameters<RecordStore['write']>
): Promise<boolean> {
  const [record] = await store.read([key])
  return store.write(key, value, { ...options, expected: record?.version ?? 0 })
}

const SINGLE = 'All refreshes with one token get the same successor.'
const ONCE = 'A code is redeemed at most once.'
const LOST = 'A pair that a client received works until it is revoked, replayed, superseded or expired.'
const STOPPED = 'Once a revocation is answered with 200, what it revoked is refused.'
const ANSWERS = 'Every answer is a 200, 400 or 401, or a 503 after a fault.'
const FOUND_OUT = 'A write that was stored is answered, even if the answer of the store is lost.'
const EXPLAINED = 'Some order of the requests explains every answer.'
const WHOLE = 'No record is half-made.'

describe('a broken store is found', () => {
  it('whose compare is ignored, by the shortest story there is', async () => {
    const store = memoryWith((memory) => ({ write: (...write) => overwrite(memory, ...write) }))
    const failure = await failureOf({ requests: ['refresh', 'refresh'], store })
    expect(failure.rule).toBe(SINGLE)
    expect(linesOf(failure)).toEqual([
      expect.stringMatching(
        /^Explored \d+ histories of refresh, refresh; the shortest that breaks a rule has no fault\.$/,
      ),
      'The grant begins with pair 1.',
      'A (refresh) reads the application and the grant',
      'B (refresh) reads the application and the grant',
      'B writes the grant: stored',
      'B is answered 200 with pair 2',
      'A writes the grant: stored   <- a sound store would have said no',
      'A is answered 200 with pair 3',
      `Broken: ${SINGLE} But the refresh token of pair 1 was answered with pair 2 and with pair 3.`,
      "Once more: explore({ ..., history: 'A B B A' })",
    ])
  })

  it('whose compare and set are two steps: the story has them both', async () => {
    const store = memoryWith((memory, { step }) => ({
      write: async (...write) => {
        const [key, , { expected }] = write
        const [record] = await memory.read([key])
        if ((record?.version ?? 0) !== expected) return false
        await step('sets what it compared')
        return overwrite(memory, ...write)
      },
    }))
    const failure = await failureOf({ requests: ['exchange', 'exchange'], store })
    expect(failure.rule).toBe(ONCE)
    expect(failure.history.split(' ').toSorted().join('')).toBe('AAABBB')
    expect(linesOf(failure)).toContain('A sets what it compared: stored   <- a sound store would have said no')
    expect(failure.message).toMatch(
      /Broken: A code is redeemed at most once. But it was redeemed for pair 1 and pair 2./,
    )
    const revoked = await failureOf({ requests: ['refresh', 'revoke'], store })
    expect(revoked.rule).toBe(STOPPED)
    // Even without a race: what is cut between the two is only lost, and may be sent again.
    await explore({ requests: ['refresh'], store, server })
  })

  it('that says yes and loses the write', async () => {
    const store = memoryWith((memory) => {
      const writes = new Map<string, number>()
      return {
        write: (key, value, options) => {
          writes.set(key, (writes.get(key) ?? 0) + 1)
          return writes.get(key) === 2 || memory.write(key, value, options)
        },
      }
    })
    const failure = await failureOf({ requests: ['refresh', 'validate'], faults: 0, store })
    expect(failure.rule).toBe(LOST)
    expect(linesOf(failure).slice(2, 5)).toEqual([
      'A (refresh) reads the application and the grant',
      'A writes the grant: stored',
      'A is answered 200 with pair 2',
    ])
  })

  it('that reads from a copy which is behind', async () => {
    const store = memoryWith((memory, { clock }) => {
      const copy = memoryStore({ clock })
      let behind: (() => unknown) | undefined
      const catchUp = (): void => {
        behind?.()
        behind = undefined
      }
      return {
        read: (keys) => {
          const records = copy.read(keys)
          catchUp()
          return records
        },
        write: async (...write) => {
          if (!(await memory.write(...write))) return false
          catchUp()
          const [key, value, options] = write
          const first = options.expected === 0
          behind = () => overwrite(copy, key, value, options)
          if (first) catchUp()
          return true
        },
      }
    })
    const failure = await failureOf({ requests: ['revoke', 'validate'], store })
    expect(failure.rule).toBe(STOPPED)
    expect(linesOf(failure)).toContain('B lets the token through')
    expect(failure.message).toContain('a sound store has the grant as written since')
  })

  it('that says yes before it has stored', async () => {
    const store = memoryWith((memory) => {
      let behind: (() => unknown) | undefined
      return {
        read: async (keys) => {
          const records = await memory.read(keys)
          await behind?.()
          behind = undefined
          return records
        },
        write: async (...write) => {
          const [key, , { expected }] = write
          const [record] = await memory.read([key])
          if ((record?.version ?? 0) !== expected) return false
          behind = () => memory.write(...write)
          if (expected === 0) await behind()
          return true
        },
      }
    })
    const failure = await failureOf({ requests: ['refresh', 'refresh', 'revoke'], faults: 0, store })
    expect([SINGLE, STOPPED, LOST]).toContain(failure.rule)
  })

  it('that says no and has stored', async () => {
    const store = memoryWith((memory) => ({
      write: async (key, value, options) => {
        const stored = await memory.write(key, value, options)
        return stored && options.expected === 0
      },
    }))
    const failure = await failureOf({ requests: ['exchange'], faults: 0, store })
    expect(failure.rule).toBe(EXPLAINED)
    expect(failure.message).toContain('A writes the grant: not stored   <- a sound store would have said yes')
  })

  it('that keeps what an earlier record had, and the new one has not', async () => {
    const store = memoryWith((memory) => ({
      write: async (key, value, options) => {
        const [record] = await memory.read([key])
        const merged = { ...Object(record?.value), ...Object(value) } as JsonValue // records are objects
        const pairs = [...(Object(record?.value).pairs ?? []), ...(Object(value).pairs ?? [])]
        return memory.write(key, key.startsWith('grant:') ? { ...Object(merged), pairs } : value, options)
      },
    }))
    const failure = await failureOf({ requests: ['refresh'], faults: 0, store })
    expect(failure.rule).toBe(WHOLE)
  })

  it('that throws by itself: nobody may be told 503 where nothing failed', async () => {
    const store = memoryWith((memory) => {
      let reads = 0
      return {
        read: (keys) => {
          if (keys.length > 1 && ++reads === 2) throw new Error('too many connections')
          return memory.read(keys)
        },
      }
    })
    const failure = await failureOf({ requests: ['validate', 'validate'], store })
    expect(failure.rule).toBe(ANSWERS)
    expect(failure.message).toContain('and the store throws by itself: too many connections')
  })

  it('that never says yes: a request that goes on for ever is not waited for', async () => {
    const { createAuthorizationServer } = await mutant(MUTATIONS.triesForEver)
    const store = memoryWith((memory) => ({
      write: (key, value, options) => options.expected === 0 && memory.write(key, value, options),
    }))
    const failure = await failureOf({
      requests: ['refresh'],
      faults: 0,
      store,
      createServer: createAuthorizationServer,
    })
    expect(failure.rule).toBe('Every request comes to an end.')
    // Without the mutation it gives up after 32 attempts, which is a 503 without a fault.
    expect((await failureOf({ requests: ['refresh'], faults: 0, store })).rule).toBe(ANSWERS)
  })

  it('that never answers: the story says where', async () => {
    const store = memoryWith((memory) => ({
      write: (key, value, options) =>
        options.expected === 0 ? memory.write(key, value, options) : new Promise<never>(() => {}),
    }))
    const failure = await failureOf({ requests: ['refresh'], store, patience: 0.05 })
    expect(failure.rule).toBe('Every request asks the store or is answered.')
    expect(linesOf(failure)).toContain('A writes the grant')
  })

  it('on an engine that takes its time, too', async () => {
    const store = memoryWith((memory) => ({
      read: async (keys) => {
        await new Promise((resolve) => setImmediate(resolve))
        return memory.read(keys)
      },
      write: async (...write) => {
        await new Promise((resolve) => setImmediate(resolve))
        return overwrite(memory, ...write)
      },
    }))
    const failure = await failureOf({ requests: ['refresh', 'refresh'], store })
    expect([failure.rule, failure.history]).toEqual([SINGLE, 'A B B A'])
  })

  it('by chance where there are too many histories to try them all, the same for the same seed', async () => {
    const store = memoryWith((memory) => ({ write: (...write) => overwrite(memory, ...write) }))
    const options = { requests: ['refresh', 'refresh', 'revoke'], store, limit: 1, samples: 200, seed: 3 } as const
    const failure = await failureOf(options)
    expect((await failureOf(options)).message).toBe(failure.message)
  })
})

describe('a broken server is found', () => {
  it('that answers although somebody else was quicker', async () => {
    const failure = await caught(ignoresConflicts, { requests: ['exchange', 'exchange'] })
    expect(failure.rule).toBe(ONCE)
    expect(linesOf(failure).slice(2, 8)).toEqual([
      'A (exchange) reads the application and the grant',
      'B (exchange) reads the application and the grant',
      'B writes the grant: stored',
      'B is answered 200 with pair 1',
      'A writes the grant: not stored',
      'A is answered 200 with pair 2',
    ])
  })

  it('that writes what it decided on an old record under a new version', async () => {
    const failure = await caught(readsVersionAnew, { requests: ['refresh', 'revoke'] })
    expect(failure.rule).toBe(STOPPED)
    expect(failure.message).toMatch(/But after B revokes the refresh token of pair 1, somebody/)
  })

  it('that redeems a code twice', async () => {
    const failure = await caughtWith(MUTATIONS.codeTwice, { requests: ['exchange', 'exchange'] })
    expect(failure.rule).toBe(ONCE)
    expect(failure.history).toMatch(/^A A B B$|^B B A A$/)
  })

  it('that refuses a second redemption and lets the tokens of the first go on', async () => {
    const failure = await caughtWith(MUTATIONS.codeKept, { requests: ['exchange', 'validate'] })
    expect(failure.rule).toBe('After a second redemption of a code nothing of the grant works.')
  })

  it('whose successor comes of fresh entropy', async () => {
    const failure = await caughtWith(MUTATIONS.freshSuccessor, { requests: ['refresh', 'refresh'] })
    expect(failure.rule).toBe(LOST)
  })

  it('that makes a new successor at every refresh', async () => {
    const failure = await caughtWith(MUTATIONS.manySuccessors, { requests: ['refresh', 'refresh'] })
    expect(failure.rule).toBe(SINGLE)
  })

  it('whose grace begins again with the second refresh', async () => {
    const failure = await caughtWith(MUTATIONS.graceBeginsAnew, {
      requests: [
        {
          name: 'client',
          run: async ({ newestPair, refresh, validate, pass }: Caller) => {
            const pair = await newestPair()
            if (pair === undefined) return
            await refresh(pair.refreshToken)
            await pass(200)
            await refresh(pair.refreshToken)
            await pass(200)
            await validate(pair.accessToken)
          },
        },
      ],
    })
    expect(failure.rule).toBe(EXPLAINED)
    expect(failure.message).toContain('it works no more')
  })

  it('whose old tokens outlive their grace', async () => {
    const failure = await caughtWith(MUTATIONS.noGrace, { requests: ['refresh', 'expiry'], faults: 0 })
    expect(failure.rule).toBe(EXPLAINED)
  })

  it('that revokes only the pair whose token it is shown, and leaves a grant without any', async () => {
    const failure = await caughtWith(MUTATIONS.onePairRevoked, { requests: ['refresh', 'revoke'] })
    expect(failure.rule).toBe(WHOLE)
  })

  it('that answers a revocation before it is stored', async () => {
    const failure = await caught(answersEarly, { requests: ['revoke', 'validate'] })
    expect(failure.rule).toBe(STOPPED)
    expect(linesOf(failure).slice(2, 6)).toEqual([
      'A (revoke) reads the application and the grant',
      'A is answered 200',
      'B (validate) reads the application and the grant',
      'B lets the token through',
    ])
  })

  it('that lets a replay go by', async () => {
    const failure = await caughtWith(MUTATIONS.replayKept, { requests: ['replay', 'validate'] })
    expect(failure.rule).toBe(EXPLAINED)
    expect(failure.message).toContain('The grant begins with pair 1, whose grace is over, and pair 2, its successor.')
  })

  it('that does not find out what became of a write whose answer was lost', async () => {
    const failure = await caughtWith(MUTATIONS.noSecondLook, { requests: ['refresh', 'validate'] })
    expect(failure.rule).toBe(FOUND_OUT)
    expect(linesOf(failure).slice(2, 6)).toEqual([
      'A (refresh) reads the application and the grant',
      'A writes the grant: stored, but the answer is lost: the store fails',
      'A reads the grant',
      'A is answered 503 temporarily_unavailable',
    ])
    expect(failure.message).toContain('has 1 fault')
  })

  it('that takes every write whose answer was lost for stored', async () => {
    const failure = await caughtWith(MUTATIONS.takenForStored, { requests: ['refresh', 'validate'] })
    expect(failure.rule).toBe(LOST)
    expect(failure.history).toContain('A:lost-write')
  })

  it('that gives up at the first conflict', async () => {
    const failure = await caughtWith(MUTATIONS.triesOnce, { requests: ['refresh', 'revoke'] })
    expect(failure.rule).toBe(ANSWERS)
  })

  it('whose guard remembers what it once read', async () => {
    const twice = {
      name: 'calls the API twice',
      run: async ({ newestPair, validate }: Caller) => {
        const pair = await newestPair()
        if (pair === undefined) return
        await validate(pair.accessToken)
        await validate(pair.accessToken)
      },
    }
    const failure = await caught(remembersGrants, { requests: ['revoke', twice] })
    expect(failure.rule).toBe(STOPPED)
    expect(failure.message).toMatch(
      /after A revokes the refresh token of pair 1, B who is asked about the access token of pair 1 lets/,
    )
  })
})

describe('a server that takes one resource for another is found', () => {
  const ALONE = 'An access token that was refreshed for one resource works there alone.'
  const both: ExploreOptions['requests'] = ['refresh for first', 'refresh for second']

  it.each<[string, Mutation, ExploreOptions['requests'], string]>([
    ['whose grace answers any resource', MUTATIONS.graceForAny, both, ALONE],
    ['whose grace changes what the successor is for', MUTATIONS.graceMovesOn, both, ALONE],
    ['whose grace ends the grant at another resource', MUTATIONS.mismatchRevokes, both, LOST],
    ['whose successor is for the whole grant', MUTATIONS.audienceOfGrant, ['refresh for first', 'validate'], ALONE],
    ['whose guard takes tokens for others', MUTATIONS.anyAudience, ['refresh for second', 'validate'], ALONE],
    ['whose guard of none takes them', MUTATIONS.anyAudienceWithoutOne, ['refresh', 'validate'], EXPLAINED],
    ['that tells one API of another’s', MUTATIONS.firstAudienceOfAll, ['refresh for first', 'revoke access'], ALONE],
  ])('%s', async (_what, mutation, requests, rule) => {
    const failure = await caughtWith(mutation, { requests, server: { ...server, audiences: AUDIENCES } })
    expect(failure.rule).toBe(rule)
  })

  it('by a story that names the resources', async () => {
    const options = { requests: both, faults: 0, server: { ...server, audiences: AUDIENCES } }
    const failure = await caughtWith(MUTATIONS.graceForAny, options)
    expect(linesOf(failure).slice(2)).toEqual([
      'A (refresh for first) reads the application and the grant',
      'A writes the grant: stored',
      'A is answered 200 with pair 2',
      'B (refresh for second) reads the application and the grant',
      'B is answered 200 with pair 2',
      `Broken: ${ALONE} But somebody who is asked about the access token of pair 2 at https://git.example/mcp lets the token through, which was refreshed for https://ci.example.`,
      "Once more: explore({ ..., history: 'A A B' })",
    ])
  })

  it('by a story in which the grace of a refresh for a resource passes', async () => {
    const requests: ExploreOptions['requests'] = ['refresh for first', 'expiry']
    const failure = await caughtWith(MUTATIONS.noGrace, { requests, server: { ...server, audiences: AUDIENCES } })
    expect(failure.rule).toBe(EXPLAINED)
    expect(linesOf(failure)).toContain('B (expiry) lets 300 seconds pass')
  })

  it('by a story in which a client asks again for the same resource', async () => {
    const options: ExploreOptions = { requests: ['refresh for second'], server: { ...server, audiences: AUDIENCES } }
    const failure = await caughtWith(MUTATIONS.noSecondLook, options)
    expect(failure.rule).toBe(FOUND_OUT)
    expect(linesOf(failure)).toContain(
      'A server that is well refreshes with the refresh token of pair 1 for https://ci.example once more, and is answered 200 with pair 2',
    )
  })
})

describe('a form of a consent', () => {
  const double: ExploreOptions = { requests: ['agree', 'agree'], faults: 0 }
  const FORM = 'A form has one decision and, where that is to agree, one code.'
  const ORDER = 'Some order of the requests explains every answer.'

  it.each<[string, Mutation, ExploreOptions, string]>([
    ['that makes a new grant each time', MUTATIONS.formMakesAnew, double, FORM],
    ['that is refused when it comes again', MUTATIONS.formOnce, double, ORDER],
    ['that can be decided otherwise', MUTATIONS.lastDecisionCounts, { requests: ['agree', 'refuse'], faults: 0 }, FORM],
    [
      'whose code comes back after its exchange',
      MUTATIONS.saltKept,
      { requests: ['agree', 'exchange', 'agree'], faults: 0, limit: 3000, samples: 500 },
      ORDER,
    ],
  ])('%s is found', async (_what, mutation, options, rule) => {
    expect((await caughtWith(mutation, options)).rule).toBe(rule)
  })
})
