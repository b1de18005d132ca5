/**
 * Several namespaces of one engine, and several connections to one namespace.
 * @module
 */
import { demand, same } from './assert.js'
import type { Cases } from './bench.js'
import { at, essence, numbered, pages, refused, together, valuesOf } from './bench.js'

export const connections: Cases = {
  'namespaces: neither see, block, list nor overwrite each other': async ({ store, start, namespace, connect }) => {
    // Whether a name begins or ends another one, or joins with a key to the same text, they are different namespaces.
    const others = [`${namespace}a`, `${namespace}-a`, `a${namespace}`, `a-${namespace}`]
    const stores = [store, ...(await Promise.all(others.map((other) => connect(other))))]
    const keys = ['key', 'akey', '-akey', 'a-key', 'keya', 'keya-', 'key-a']
    const clause = 'the records of a namespace are its own'
    for (const [number, each] of stores.entries()) {
      same(await valuesOf(each, keys), Array(keys.length).fill(undefined), clause)
      await together(keys, (key) => each.create(key, [number, key], { labels: [key] }))
    }
    const check = async (gone: number): Promise<void> => {
      for (const [number, each] of stores.entries()) {
        const wanted = keys.map((key) => (number === gone ? undefined : [number, key]))
        same(await valuesOf(each, keys), wanted, clause)
        await together(keys, async (key) => {
          same(await each.keys(key), number === gone ? [] : [key], 'the labels of a namespace are its own')
        })
      }
    }
    await check(-1)
    await together(keys, (key) => store.put(key, null, { expiresAt: start }))
    await check(0)
  },

  'connections: of one namespace see at once what another one wrote': async ({ store, connect }) => {
    const connections = [store, await connect(), await connect()]
    for (let round = 0; round < 30; round++) {
      const [mine, other] = [at(connections, round), at(connections, round + 1)]
      const label = `label ${round % 2}`
      const before = await mine.version('key')
      same(await other.version('key'), before, 'connections of a namespace read the same version')
      const written = await mine.write('key', round, { expected: before, labels: [label] })
      demand(written, 'a write succeeds that expects the version just read', 'it was refused')
      same((await other.get('key'))?.value, round, 'a connection reads at once what another one wrote')
      same(await other.keys(label), ['key'], 'a connection lists at once what another one wrote')
      same(await other.keys(`label ${1 - (round % 2)}`), [], 'a connection finds no label that another one took away')
      await refused(other, 'key', { expected: before }, 'a write is refused if another connection wrote meanwhile')
    }
    const keys = numbered(10, 'key')
    await together(keys, (key, index) => at(connections, index).create(key, key, { labels: ['all'] }))
    const found: string[] = []
    let turn = 0
    for await (const { records } of pages((from) => at(connections, turn++).list('all', { limit: 3, ...from })))
      found.push(...records.map(({ key }) => key))
    same(found.toSorted(), keys.toSorted(), 'a list goes on over any connection')
  },

  'connections: made anew find everything as it was': async ({ store, start, connect, clock }) => {
    const keys = numbered(20, 'key')
    await together(keys, (key, index) =>
      store.create(key, index, { labels: ['all', key], expiresAt: start + 10 + index }),
    )
    await together(keys, (key, index) => (index % 4 === 0 ? store.put(key, index, { expiresAt: start }) : undefined))
    const before = (await store.read(keys)).map(essence)
    const listed = (await store.keys('all')).toSorted()
    await store.close()

    const next = await connect()
    same((await next.read(keys)).map(essence), before, 'a new connection finds the same values and versions')
    same((await next.keys('all')).toSorted(), listed, 'a new connection lists the same records')
    const first = before[1]?.version ?? 0
    await refused(next, 'key 1', { expected: 0 }, 'a record still counts in a write over a new connection')
    await next.put('key 1', 'later', { expiresAt: start + 100 })
    await refused(next, 'key 1', { expected: first }, 'an old version does not come again over a new connection')
    clock.set(start + 12)
    const wanted = keys.filter((_, index) => index === 1 || (index > 2 && index % 4 !== 0))
    const left = (await next.read(keys)).flatMap((record, index) => (record === undefined ? [] : [at(keys, index)]))
    same(left, wanted, 'records expire over a new connection as over the old one')
  },
}
