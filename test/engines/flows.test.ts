/**
 * The ledger itself: it finds out a store that forgets, that writes over, or that does not keep a revocation.
 * @module
 */
import type { RecordStore } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { expect, it } from 'vitest'
import { seededNumbers } from '../../src/testing/seeded-entropy.js'
import { slowly } from '../storage/farm.js'
import type { Ledger } from './flows.js'
import { audit, callAny, flowServer, newLedger, registerFlowClient, walk } from './flows.js'

/** Walks flows over a store that is broken once the application is registered. */
async function faultsOf(broken: (store: RecordStore) => RecordStore): Promise<[Ledger, readonly string[]]> {
  const random = seededNumbers(1)
  const store = memoryStore()
  const server = () => flowServer(slowly(broken(store), random), (error) => expect.fail(String(error)))
  await registerFlowClient(flowServer(store, (error) => expect.fail(String(error))))
  const ledger = newLedger()
  await walk({ call: callAny([server(), server()]), ledger, flows: 200, workers: 8, random })
  return [ledger, await audit(ledger, callAny([server()]))]
}

it('a sound store is found sound', async () => {
  const [ledger, faults] = await faultsOf((store) => store)
  expect(faults).toEqual([])
  expect(ledger).toMatchObject({ flows: 200, anew: 0, lost: 0, unavailable: 0 })
  // All that can end has ended somewhere, so that it was looked at.
  expect(new Set(ledger.entries.map(({ ended }) => ended))).toEqual(
    new Set(['nothing', 'revoked', 'replayed', 'access_revoked']),
  )
})

it('a store that forgets a write in a hundred is found out', async () => {
  const random = seededNumbers(2)
  const [, faults] = await faultsOf((store) => ({
    ...store,
    write: (key, value, options) =>
      options.expected !== 0 && random(100) === 0 ? true : store.write(key, value, options),
  }))
  expect(faults.join('\n')).toMatch(/does not work|was used works again/)
})

it('a store that writes without comparing is found out by a code that is redeemed twice', async () => {
  const [, faults] = await faultsOf((store) => ({
    ...store,
    write: async (key, value, options) => {
      const [stored] = await store.read([key])
      return store.write(key, value, { ...options, expected: stored?.version ?? 0 })
    },
  }))
  expect(faults.join('\n')).toMatch(/a code was redeemed twice/)
  expect(faults.join('\n')).toMatch(/two successors of one pair/)
})

it('a store that does not keep revocations is found out, at once and afterwards', async () => {
  const [, faults] = await faultsOf((store) => ({
    ...store,
    write: (key, value, options) =>
      JSON.stringify(value).includes('"revokedAt"') ? true : store.write(key, value, options),
  }))
  expect(faults.join('\n')).toMatch(/the API with a revoked access token: 200/)
  expect(faults.join('\n')).toMatch(/an ended access token works; revoked ended/)
  expect(faults.join('\n')).toMatch(/an ended refresh token works; revoked ended/)
})
