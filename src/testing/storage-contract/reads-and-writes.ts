/**
 * Reads, and writes that compare and set.
 * @module
 */
import fc from 'fast-check'
import type { JsonValue, StoredRecord } from '../../storage/record-store.js'
import { demand, forAll, same, show } from './assert.js'
import type { Cases } from './bench.js'
import { at, essence, numbered, race, refused, together, valuesOf } from './bench.js'
import { anyText, jsonValue } from './texts.js'

export const readsAndWrites: Cases = {
  'read: gives what was written, any JSON under any key': async ({ store, examples }) => {
    await forAll(examples, fc.tuple(anyText, jsonValue), async ([key, value]) => {
      await store.put(key, value)
      same((await store.get(key))?.value, value, 'a read gives the value that was written')
    })
  },

  'read: gives what was written from the moment that the write is acknowledged': async ({ store }) => {
    for (let round = 0; round < 100; round++) {
      await store.put('key', round, { labels: [`even ${round % 2 === 0}`] })
      same((await store.get('key'))?.value, round, 'whoever reads after a write was acknowledged finds it')
      same(
        await store.keys('even true'),
        round % 2 === 0 ? ['key'] : [],
        'a list after a write has the record by the labels that it left, and by no other',
      )
    }
  },

  'read: answers in the order asked, a key asked twice too, and undefined for what is absent': async (bench) => {
    const { store, examples } = bench
    for (const name of ['d', 'b', 'a', 'c']) await store.create(name, `value of ${name}`)
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'absent', 'A', 'a ', '')
    await forAll(
      examples,
      fc.array(key),
      async (keys) => {
        const wanted = keys.map((each) => (/^[a-d]$/.test(each) ? `value of ${each}` : undefined))
        same(await valuesOf(store, keys), wanted, `a read of ${show(keys)} answers in that order`)
      },
      [[], ['absent'], ['c', 'a', 'c'], ['absent', 'b', 'absent', 'a']],
    )
  },

  'read: takes 1,000 keys at once': async ({ store }) => {
    const keys = numbered(1_000, 'key')
    await together(keys.slice(0, 500), (key) => store.create(key, key))
    const asked = keys.toReversed()
    const wanted = asked.map((key) => (keys.indexOf(key) < 500 ? key : undefined))
    same(await valuesOf(store, asked), wanted, 'a read answers for 1,000 keys in the order asked')
  },

  'read: gives each value with its own version, while others write': async ({ store, connect }) => {
    const other = await connect()
    const valueAt = new Map<number, JsonValue>()
    const see = ({ value, version }: StoredRecord): void => {
      if (valueAt.has(version)) same(value, valueAt.get(version), 'what is read is a value and its own version')
      valueAt.set(version, value)
    }
    let done = false
    const write = async (): Promise<void> => {
      for (let times = 0; times < 100; times++) await store.put('key', times, { labels: ['label'] })
    }
    const watch = async (): Promise<void> => {
      for (let times = 0; times < 400 && !done; times++) {
        const record = times % 2 === 0 ? await other.get('key') : (await other.list('label')).records[0]
        if (record !== undefined) see(record)
      }
    }
    await together([write, watch, watch, watch], (job) => job().finally(() => (done = true)))
  },

  'write: with expected 0 demands that there is nothing, and changes nothing otherwise': async ({ store }) => {
    await store.create('key', 1, { labels: ['before'] })
    const before = await store.get('key')
    for (const labels of [[], ['after']]) {
      await refused(store, 'key', { expected: 0, labels }, 'a write that expects nothing is refused where a record is')
      same(essence(await store.get('key')), essence(before), 'a refused write changes nothing')
      same(await store.keys('before'), ['key'], 'a refused write leaves the labels that there were')
      same(await store.keys('after'), [], 'a refused write changes no label')
    }
  },

  'write: with another version demands that very one, and changes nothing otherwise': async (bench) => {
    const { store, start, examples } = bench
    let run = 0
    const wrongVersion = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.maxSafeNat().map(String))
    await forAll(examples, fc.tuple(anyText, wrongVersion), async ([key, wrong]) => {
      const [old, label] = [`before ${run}`, `after ${run++}`]
      await store.put(key, 'before', { labels: [old], expiresAt: start + 100 })
      const before = await store.get(key)
      const version = before?.version ?? 0
      // A number is a distance from the stored version.
      const expected = Math.max(0, typeof wrong === 'number' ? version + wrong : Number(wrong))
      const clause = `a write that expects ${expected} is refused where the version is ${version}`
      if (expected !== version) {
        await refused(store, key, { expected, labels: [label], expiresAt: start + 1_000 }, clause)
        await refused(store, key, { expected, expiresAt: start }, `${clause}, one that would remove the record too`)
      }
      same(essence(await store.get(key)), essence(before), 'a refused write changes nothing')
      same(await store.keys(label), [], 'a refused write changes no label')
      same(await store.keys(old), [key], 'a refused write leaves the labels that there were')
      const written = await store.write(key, 'after', { expected: version })
      demand(written, 'a write succeeds that expects the version just read', 'it was refused')
      same((await store.get(key))?.value, 'after', 'a read gives the value that was written')
    })
  },

  'write: where nothing is, any version but 0 is refused': async ({ store, start, clock }) => {
    await store.create('expired', 1, { expiresAt: start + 1 })
    const old = await store.version('expired')
    clock.advance(1)
    same(await store.get('expired'), undefined, 'a record that expires now is absent')
    for (const key of ['absent', 'expired'])
      for (const expected of [1, 2, old, Number.MAX_SAFE_INTEGER]) {
        await refused(store, key, { expected }, `a write that expects ${expected} is refused where nothing is`)
        same(await store.get(key), undefined, 'a refused write makes no record')
      }
  },

  'write: lets one of many writers through that expect the same version': async ({ store, connect }) => {
    const connections = [store, await connect(), await connect(), await connect()]
    for (let round = 0; round < 30; round++) await race(connections, 20, `key ${round % 5}`)
  },

  'write: loses none of many increments over several connections': async ({ store, connect }) => {
    const connections = [store, await connect(), await connect(), await connect()]
    const [workers, each] = [8, 15]
    const versions = new Set<number>()
    await together(numbered(workers, 'worker'), async (worker, index) => {
      const mine = at(connections, index)
      let refusals = 0
      for (let done = 0; done < each; ) {
        const record = await mine.get('counter')
        const count = Number(record?.value ?? 0)
        if (await mine.write('counter', count + 1, { expected: record?.version ?? 0 })) done++
        // Each refusal is the success of another.
        else demand(refusals++ < workers * each, 'a write succeeds unless another one did', `${worker} was refused`)
        if (record !== undefined) versions.add(record.version)
      }
    })
    const total = workers * each
    same((await store.get('counter'))?.value, total, `${total} increments, each by compare-and-set, make ${total}`)
    demand(!versions.has(await store.version('counter')), 'every write gives another version', 'one came again')
  },

  'write: lets parallel writes of different keys all through': async ({ store, connect }) => {
    const connections = [store, await connect(), await connect(), await connect()]
    const keys = numbered(200, 'key')
    for (let round = 0; round < 3; round++)
      await together(keys, async (key, index) => {
        const labels = [`label ${index % 2}`]
        const mine = at(connections, index + round)
        await (round === 0 ? mine.create(key, [index, round], { labels }) : mine.put(key, [index, round], { labels }))
      })
    const wanted = keys.map((_, index) => [index, 2])
    same(await valuesOf(store, keys), wanted, 'parallel writes of different keys are all kept')
    const even = keys.filter((_, index) => index % 2 === 0)
    same(
      (await store.keys('label 0')).toSorted(),
      even.toSorted(),
      'parallel writes of different keys are all found by their labels',
    )
  },

  'write: gives another version every time, for the same value too': async ({ store, start }) => {
    const seen = new Set<number>()
    for (let times = 0; times < 20; times++) {
      await store.put('key', 'the same', times % 4 < 2 ? {} : { labels: ['label'], expiresAt: start + 1_000 })
      const version = await store.version('key')
      demand(!seen.has(version), 'every write gives another version', `${version} came again at write ${times + 1}`)
      seen.add(version)
    }
  },

  'write: never gives a version again that the key had, removed or expired as it was since': async (bench) => {
    const { store, connect, clock } = bench
    const connections = [store, await connect()]
    const seen = new Set<number>()
    for (let round = 0; round < 18; round++) {
      const mine = at(connections, round)
      const ends = at(['it expired', 'it was removed', 'nothing happened'], round)
      for (let times = 0; times < 3; times++) {
        await mine.put('key', [round, times], ends === 'it expired' ? { expiresAt: clock() + 10 } : {})
        const version = await mine.version('key')
        demand(!seen.has(version), 'no version comes again for a key', `${version} came again`)
        seen.add(version)
      }
      if (ends === 'it expired') clock.advance(10 + round * 100)
      if (ends === 'it was removed') await mine.put('key', null, { expiresAt: clock() })
      const current = await mine.version('key')
      const old = [...seen].filter((version) => version !== current).slice(-10)
      for (const expected of old)
        await refused(mine, 'key', { expected }, `a write that expects an old version is refused after ${ends}`)
    }
  },

  'write: changes no record of another key': async ({ store, start, examples }) => {
    const pair = fc.tuple(anyText, anyText).filter(([key, other]) => key !== other)
    await forAll(examples, pair, async ([key, other]) => {
      await store.put(key, 'mine', { labels: [key] })
      const before = essence(await store.get(key))
      await store.put(other, 'another', { expiresAt: start + 5, labels: [other] })
      same(essence(await store.get(key)), before, `a write of ${show(other)} does not change ${show(key)}`)
      await store.put(other, null, { expiresAt: start })
      same(essence(await store.get(key)), before, `the removal of ${show(other)} does not change ${show(key)}`)
      same(await store.keys(key), [key], `the removal of ${show(other)} leaves the labels of ${show(key)}`)
    })
  },
}
