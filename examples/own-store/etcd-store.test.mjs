/**
 * The contract of a store, run on the one in etcd by Node's own test runner.
 * @module
 */
import { test } from 'node:test'
import { storageContract } from 'grantwell/testing'
import { etcdStore } from './etcd-store.mjs'

const url = process.env.ETCD_URL ?? 'http://127.0.0.1:2379'

const cases = storageContract(({ clock, namespace }) => ({ store: etcdStore({ url, clock, namespace }) }))
for (const { name, run } of cases) test(name, run)
