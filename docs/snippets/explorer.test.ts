/**
 * The code of the page "The explorer".
 * @module
 */

// #region imports
import { equal } from 'node:assert/strict'
import type { RecordStore } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { explore } from 'grantwell/testing'
// #endregion imports
import { ExplorationError } from 'grantwell/testing'
import { readFileSync } from 'node:fs'
import { expect, it as test } from 'vitest'

// #region first
test('a refresh beside a revocation', async () => {
  const { histories, exhaustive } = await explore({
    requests: ['refresh', 'revoke'],
    store: ({ clock }) => memoryStore({ clock }), // here: yours
    server: { digests: nodeDigests },
  })
  console.info(`${histories} histories, and no rule was broken`)
  equal(exhaustive, true)
})
// #endregion first

// #region apis
test('two refreshes of one token for different APIs', async () => {
  const { exhaustive } = await explore({
    requests: ['refresh for first', 'refresh for second'],
    server: {
      digests: nodeDigests,
      audiences: [
        { resource: 'https://git.example/mcp', name: 'Tools for agents' },
        { resource: 'https://git.example/api', name: 'The API' },
      ],
    },
  })
  equal(exhaustive, true)
})
// #endregion apis

// #region own
test('a token that was just received can be revoked and is refused then', async () => {
  await explore({
    requests: [
      'refresh',
      {
        name: 'log out',
        run: async ({ newestPair, revoke, validate }) => {
          const pair = await newestPair()
          if (pair === undefined) return
          const { says } = await revoke(pair.refreshToken)
          if (says !== 'done') return // a fault: nothing was promised
          const { says: after } = await validate(pair.accessToken)
          if (after === 'active') throw new Error('the token works after the log-out')
        },
      },
    ],
    server: { digests: nodeDigests },
  })
})
// #endregion own

// #region broken
/** A store that does not compare: it reads, and then writes whatever it read. Never do so. */
function carelessStore(clock: () => number): RecordStore {
  const store = memoryStore({ clock })
  return {
    ...store,
    write: async (key, value, options) => {
      const [found] = await store.read([key])
      return store.write(key, value, { ...options, expected: found?.version ?? 0 })
    },
  }
}
// #endregion broken

test('a store that does not compare is found out, and its history runs again', async () => {
  const requests = ['exchange', 'exchange'] as const
  const found: unknown = await explore({ requests, store: ({ clock }) => carelessStore(clock) }).catch(
    (error: unknown) => error,
  )
  if (!(found instanceof ExplorationError)) throw found
  expect(found.rule).toBe('A code is redeemed at most once.')
  expect(found.history).toBe('A B B A')
  expect(readFileSync(new URL('../proof/explorer.md', import.meta.url), 'utf8')).toContain(found.message)

  // #region again
  const again = explore({
    requests: ['exchange', 'exchange'],
    store: ({ clock }) => carelessStore(clock),
    history: 'A B B A',
  })
  // #endregion again
  await expect(again).rejects.toThrow('Broken: A code is redeemed at most once.')
})

// #region steps
/** A store that needs two round trips to write, and tells the explorer of the gap between them. */
function twoStepStore(clock: () => number, step: (what: string) => Promise<void>): RecordStore {
  const store = memoryStore({ clock })
  return {
    ...store,
    write: async (key, value, options) => {
      const [found] = await store.read([key])
      if ((found?.version ?? 0) !== options.expected) return false
      await step('sets what it compared')
      const [now] = await store.read([key])
      return store.write(key, value, { ...options, expected: now?.version ?? 0 })
    },
  }
}
// #endregion steps

test('a gap between compare and set is found', async () => {
  const found: unknown = await explore({
    requests: ['exchange', 'exchange'],
    store: ({ clock, step }) => twoStepStore(clock, step),
  }).catch((error: unknown) => error)
  expect(String(found)).toContain('A sets what it compared: stored   <- a sound store would have said no')
})

test('faults are chosen, and are named in a history', async () => {
  // #region faults
  const one = await explore({ requests: ['exchange'], faults: 1 })
  const none = await explore({ requests: ['exchange'], faults: 0 })
  // #endregion faults
  expect(none.histories).toBe(1)
  expect(one).toEqual({ histories: 8, exhaustive: true })
})
