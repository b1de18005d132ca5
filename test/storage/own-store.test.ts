/**
 * The example of a store of one's own keeps the contract on a real etcd, for two random examples of each case.
 * `own-store.slow.test.ts` has more of them, and the rest.
 * @module
 */
import type { RecordStore } from 'grantwell'
import { storageContract } from 'grantwell/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeWith, etcd } from '../engines/available.js'
import type { EtcdEngine } from '../engines/etcd.js'
import { startEtcd } from '../engines/etcd.js'

const EXAMPLE = new URL('../../examples/own-store/etcd-store.mjs', import.meta.url).href

describeWith(describe, etcd, 'the store of one’s own, in etcd', () => {
  let engine: EtcdEngine
  let etcdStore: (options: object) => RecordStore

  beforeAll(async () => {
    etcdStore = (await import(/* @vite-ignore */ EXAMPLE)).etcdStore
    expect(etcdStore).toBeTypeOf('function')
    engine = await startEtcd()
  })
  afterAll(() => engine?.remove())

  const cases = storageContract((wiring) => ({ store: etcdStore({ url: engine.url, ...wiring }) }), { numRuns: 2 })
  for (const { name, run } of cases) it(name, run)
})
