/**
 * Clauses about keys and values.
 * @module
 */
import type { JsonValue } from '../../storage/record-store.js'
import { same } from './assert.js'
import type { Cases } from './bench.js'
import { at, essence, keptApart, numbered, together, valuesOf } from './bench.js'
import { ALIKE_TEXTS, BORN_NAMES, LONG_TEXTS, ODD_TEXTS, SHAPES } from './texts.js'

export const keysAndValues: Cases = {
  'keys: may hold any character': async ({ store }) => {
    await keptApart(store, ODD_TEXTS)
  },

  'keys: stay apart however alike they look': async ({ store }) => {
    for (const alike of ALIKE_TEXTS) await keptApart(store, alike)
  },

  'keys: may be named like what every object has': async ({ store }) => {
    const before = await valuesOf(store, BORN_NAMES)
    same(before, Array(BORN_NAMES.length).fill(undefined), 'a key that was never written has no record')
    await keptApart(store, BORN_NAMES)
  },

  'keys: may have 1,000 characters': async ({ store }) => {
    await keptApart(store, LONG_TEXTS)
  },

  'values: may have any shape that JSON has': async ({ store }) => {
    const keys = numbered(SHAPES.length, 'shape')
    await together(keys, (key, index) => store.create(key, at(SHAPES, index)))
    for (const [index, value] of (await valuesOf(store, keys)).entries())
      same(value, SHAPES[index], 'a read gives the value that was written')
  },

  'values: may hold any character, in texts and in names': async ({ store }) => {
    const texts = [...ODD_TEXTS, ...BORN_NAMES, ...ALIKE_TEXTS.flat()]
    const value: JsonValue = { texts, names: Object.fromEntries(texts.map((text, index) => [text, index])) }
    await store.create('key', value, { labels: ['label'] })
    same((await store.get('key'))?.value, value, 'a read gives the value that was written')
    same(await store.keys('label'), ['key'], 'a list gives the value that was written')
  },

  'values: may have 1,400,000 characters': async ({ store }) => {
    const value = { logo: 'abcdefg'.repeat(200_000), list: Array.from({ length: 1_000 }, (_, index) => index) }
    await store.create('large', value, { labels: ['label'] })
    same((await store.get('large'))?.value, value, 'a read gives a large value back whole')
    same(await store.keys('label'), ['large'], 'a list gives a large value back whole')
  },

  'values: belong to nobody: the store changes none that it was handed or gave': async ({ store, start }) => {
    const frozen = Object.freeze({ list: Object.freeze([Object.freeze({ a: 1 })]), text: 'a' })
    await store.create('frozen', frozen, { labels: Object.freeze(['label']), expiresAt: start + 10 })
    const value = { list: [{ a: 1 }], text: 'a' }
    await store.create('key', value, { labels: ['label'] })
    const given = await store.get('key')
    const version = given?.version
    await store.put('key', { list: [], text: 'b' }, { labels: ['label'] })
    await store.keys('label')
    await store.put('key', null, { expiresAt: start })
    same(value, frozen, 'a store does not change a value that it was handed')
    same(essence(given), { value: frozen, version }, 'a record that was read stays as it was')
    same((await store.get('frozen'))?.value, value, 'a read gives the value that was written')
  },
}
