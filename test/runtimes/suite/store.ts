/**
 * The memory store: every clause of the storage contract.
 * @module
 */
import type { RecordStore } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { storageContract } from 'grantwell/testing'
import type { Suite } from './case.js'
import { SEED } from './case.js'

export const store: Suite = {
  title: 'the memory store',
  cases: () => {
    const stores = new Map<string, RecordStore>()
    return storageContract(
      ({ clock, namespace }) => {
        const kept = stores.get(namespace) ?? memoryStore({ clock })
        stores.set(namespace, kept)
        return { store: kept }
      },
      { seed: SEED },
    )
  },
}
