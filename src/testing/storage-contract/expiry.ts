/**
 * Clauses about the expiry of records.
 * @module
 */
import fc from 'fast-check'
import { demand, forAll, same } from './assert.js'
import type { Cases } from './bench.js'
import { at, essence, race, refused, valuesOf, YEAR } from './bench.js'

export const expiry: Cases = {
  'expiry: is to the second: a record is there until it, and from it on is not': async ({ store, clock, examples }) => {
    let run = 0
    await forAll(
      examples,
      fc.integer({ min: 1, max: 200 * YEAR }),
      async (seconds) => {
        const key = `run ${run++}`
        const expiresAt = clock() + seconds
        await store.create(key, seconds, { expiresAt, labels: [key] })
        clock.set(expiresAt - 1)
        same((await store.get(key))?.value, seconds, 'a record is there a second before it expires')
        same(await store.keys(key), [key], 'a record is listed a second before it expires')
        clock.set(expiresAt)
        same(await store.get(key), undefined, 'a record is not there at the second at which it expires')
        same(await store.keys(key), [], 'a record is not listed at the second at which it expires')
      },
      [1, 2, 15, 16, 17, 2_147_483, 2_147_484, 28_800, 15_552_000, 100 * YEAR],
    )
  },

  'expiry: holds for a write too: what has expired is absent, what has not is there': async ({ store, clock }) => {
    for (const seconds of [1, 2, 16, 28_800, YEAR]) {
      const expiresAt = clock() + seconds
      await store.create('key', 'first', { expiresAt, labels: ['label'] })
      const version = await store.version('key')
      clock.set(expiresAt - 1)
      await refused(store, 'key', { expected: 0 }, 'a record counts in a write until it expires')
      same(await store.keys('label'), ['key'], 'a refused write leaves the labels that there were')
      clock.set(expiresAt)
      await refused(store, 'key', { expected: version }, 'a record does not count in a write once it expired')
      same(await store.get('key'), undefined, 'a refused write makes no record')
      await store.create('key', 'second', { expiresAt: expiresAt + 1 })
      same((await store.get('key'))?.value, 'second', 'a record is made anew after it expired')
      same(await store.keys('label'), [], 'a record that is made anew has none of its old labels')
      clock.set(expiresAt + 1)
    }
  },

  'expiry: lets one of many writers through that make a record anew': async ({ store, connect, clock }) => {
    const connections = [store, await connect(), await connect(), await connect()]
    for (let round = 0; round < 10; round++) {
      const key = `key ${round % 2}`
      await at(connections, round).put(key, 'to expire', { expiresAt: clock() + 1, labels: ['label'] })
      clock.advance(1)
      await race(connections, 20, key)
      same(await store.keys('label'), [], 'a record that is made anew has none of its old labels')
    }
  },

  'expiry: does not come without expiresAt, nor before its time in the far future': async (bench) => {
    const { store, start, clock } = bench
    await store.create('for ever', 1, { labels: ['label'] })
    await store.create('practically', 2, { labels: ['label'], expiresAt: Number.MAX_SAFE_INTEGER })
    await store.create('long', 3, { labels: ['label'], expiresAt: start + 10_000 * YEAR + 1 })
    clock.advance(10_000 * YEAR)
    const keys = ['for ever', 'practically', 'long']
    same(await valuesOf(store, keys), [1, 2, 3], 'a record is there until it expires')
    same((await store.keys('label')).toSorted(), keys.toSorted(), 'a record is listed until it expires')
    clock.advance(1)
    same(await valuesOf(store, keys), [1, 2, undefined], 'a record is not there once it expired')
  },

  'expiry: is the one of the last write: later, sooner or none': async ({ store, clock }) => {
    const expiries: readonly (readonly [number | undefined, number | undefined, number, boolean])[] = [
      [10, 20, 15, true],
      [10, 20, 20, false],
      [20, 10, 9, true],
      [20, 10, 10, false],
      [10, undefined, 1_000, true],
      [undefined, 10, 10, false],
      [10, 10, 10, false],
    ]
    for (const [first, last, after, there] of expiries) {
      const start = clock()
      const expiring = (seconds: number | undefined) => (seconds === undefined ? {} : { expiresAt: start + seconds })
      const key = `from ${first ?? 'never'} to ${last ?? 'never'}, after ${after} s`
      await store.create(key, 1, expiring(first))
      await store.put(key, 2, expiring(last))
      clock.advance(after)
      const wanted = there ? 2 : undefined
      same((await store.get(key))?.value, wanted, `the last write says when a record expires (${key})`)
    }
  },

  'expiry: is not moved by a write that is refused, neither later nor sooner': async ({ store, clock }) => {
    for (const seconds of [50, 99, 101, 1_000, undefined]) {
      const start = clock()
      await store.put('key', 'there', { expiresAt: start + 100, labels: ['label'] })
      const before = await store.get('key')
      demand(
        before !== undefined,
        'a record is there until it expires, by the clock that the store was given',
        'it was absent',
      )
      const { version } = before
      const options = seconds === undefined ? {} : { expiresAt: start + seconds }
      for (const expected of [0, version + 1]) {
        const clause = `a write that expects ${expected} is refused where the version is ${version}`
        await refused(store, 'key', { ...options, expected }, clause)
      }
      clock.set(start + 99)
      const moved = `a refused write does not move the expiry from 100 to ${seconds ?? 'never'}`
      same(essence(await store.get('key')), essence(before), `${moved}, before it`)
      same(await store.keys('label'), ['key'], `${moved}, before it`)
      clock.set(start + 100)
      same(await store.get('key'), undefined, `${moved}, at it`)
      same(await store.keys('label'), [], `${moved}, at it`)
    }
  },

  'expiry: that has passed removes the record at once, where the version fits': async ({ store, start }) => {
    for (const expiresAt of [-5, 0, 1, start - 1_000, start - 1, start]) {
      await store.create('key', 'there', { labels: ['label'] })
      const expected = await store.version('key')
      await refused(store, 'key', { expected: expected + 1, expiresAt }, 'a removal that expects another version fails')
      await refused(store, 'key', { expected: 0, expiresAt }, 'a removal that expects nothing fails where a record is')
      same((await store.get('key'))?.value, 'there', 'a refused removal leaves the record')
      same(await store.keys('label'), ['key'], 'a refused removal leaves the labels that there were')
      const removed = await store.write('key', 'gone', { expected, expiresAt, labels: ['label'] })
      demand(removed, 'a removal that expects the stored version succeeds', 'it was refused')
      same(await store.get('key'), undefined, 'an expiry that has passed removes the record')
      same(await store.keys('label'), [], 'a record that was removed is on no list')
      await store.create('key', 'never there', { expiresAt, labels: ['label'] })
      same(await store.get('key'), undefined, 'an expiry that has passed makes no record')
      same(await store.keys('label'), [], 'an expiry that has passed puts nothing on a list')
    }
  },
}
