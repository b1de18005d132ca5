/**
 * Labels, and what is found by them page by page.
 * @module
 */
import fc from 'fast-check'
import { demand, forAll, same, show } from './assert.js'
import type { Cases } from './bench.js'
import { at, numbered, numbers, pages, together } from './bench.js'
import { ALIKE_TEXTS, anyText, BORN_NAMES, LONG_TEXTS, ODD_TEXTS } from './texts.js'

export const labelsAndLists: Cases = {
  'labels: find a record by each of its own, whatever their characters, and by no other': async (bench) => {
    const { store, examples } = bench
    const labelled = fc.tuple(fc.uniqueArray(anyText, { maxLength: 4 }), anyText)
    await forAll(examples, labelled, async ([labels, other]) => {
      await store.put('key', 'labelled', { labels })
      for (const label of labels)
        same(await store.keys(label), ['key'], `the label ${show(label)} finds the record that has it`)
      if (!labels.includes(other))
        same(await store.keys(other), [], `the label ${show(other)} finds no record with ${show(labels)} alone`)
    })
  },

  'labels: are replaced by those of the next write, or by none': async ({ store }) => {
    const writes = [['a'], ['a', 'b'], ['b', 'a'], ['c'], [], ['a', 'b', 'c'], undefined, ['b'], ['b']]
    for (const labels of writes) {
      await store.put('key', null, labels === undefined ? {} : { labels })
      for (const label of ['a', 'b', 'c']) {
        const wanted = labels?.includes(label) ? ['key'] : []
        same(await store.keys(label), wanted, `a record has the labels of its last write, here ${show(labels ?? [])}`)
      }
    }
  },

  'labels: go with their record, and do not come back with a new one': async ({ store, start, clock }) => {
    await together(['removed', 'expired'], (key) => store.create(key, 1, { labels: [key], expiresAt: start + 10 }))
    await store.put('removed', 1, { expiresAt: start })
    clock.advance(10)
    for (const key of ['removed', 'expired']) {
      same(await store.keys(key), [], `a record that is ${key} is on no list`)
      await store.create(key, 2, { labels: ['another'] })
      same(await store.keys(key), [], `a record made anew has none of its old labels`)
    }
    same((await store.keys('another')).toSorted(), ['expired', 'removed'], 'a record made anew has its new labels')
  },

  'labels: stay apart however alike they look, and may hold any character': async ({ store }) => {
    for (const labels of [ODD_TEXTS, BORN_NAMES, ...ALIKE_TEXTS]) {
      const keyOf = (label: string): string => `with label ${labels.indexOf(label)}`
      await together(labels, (label) => store.put(keyOf(label), label, { labels: [label] }))
      await together(labels, async (label) => {
        same(
          await store.keys(label),
          [keyOf(label)],
          `the label ${show(label)} finds the record that has it, and no other`,
        )
      })
      await together(labels, (label) => store.put(keyOf(label), label))
    }
  },

  'labels: may be twenty, one of them twice': async ({ store }) => {
    const labels = numbered(20, 'label')
    await store.create('key', 1, { labels: [...labels, 'label 7'] })
    for (const label of labels) same(await store.keys(label), ['key'], `each of 20 labels finds the record once`)
    await store.put('key', 2, { labels: ['label 7', 'label 7'] })
    for (const label of labels) {
      const wanted = label === 'label 7' ? ['key'] : []
      same(await store.keys(label), wanted, 'a write replaces all of 20 labels')
    }
  },

  'labels: may have 1,000 characters': async ({ store }) => {
    await together(LONG_TEXTS, (text) => store.create(text, 1, { labels: [text] }))
    for (const text of LONG_TEXTS) same(await store.keys(text), [text], 'a label of 1,000 characters finds its record')
  },

  'list: tells values and versions as they are': async ({ store }) => {
    const none = await store.list('label')
    same([none.records, none.cursor], [[], undefined], 'a list of what nobody has is one empty page')
    await store.create('key', 1, { labels: ['label'] })
    await store.put('key', 2, { labels: ['label'] })
    const { records, cursor } = await store.list('label')
    const found = records.map(({ key, value, version }) => [key, value, version])
    same(found, [['key', 2, await store.version('key')]], 'a list tells the record as it is')
    same(cursor, undefined, 'a list of one record has one page')
  },

  'list: comes in pages, at most as large as asked, complete and without repeats': async (bench) => {
    const { store, start, examples } = bench
    let list = 0
    const asked = fc.tuple(fc.array(fc.nat(3), { maxLength: 30 }), fc.integer({ min: 1, max: 12 }))
    const listed = async ([fates, limit]: readonly [readonly number[], number]): Promise<void> => {
      const label = `list ${list++}`
      const keys = numbered(fates.length, label)
      await together(keys, (key) => store.create(key, key, { labels: ['all', label] }))
      // Some are rewritten, relabelled or gone by the time they are listed.
      await together(keys, async (key, index) => {
        if (fates[index] === 1) await store.put(key, 'rewritten', { labels: ['all', label] })
        if (fates[index] === 2) await store.put(key, 'relabelled', { labels: ['all'] })
        if (fates[index] === 3) await store.put(key, 'gone', { expiresAt: start })
      })
      const wanted = keys.filter((_, index) => at(fates, index) < 2)
      const found = await store.keys(label, limit)
      same(found.toSorted(), wanted.toSorted(), `a list in pages of ${limit} has all that has the label, and no other`)
    }
    // Pages that are full, the last of them too or not.
    await forAll(examples, asked, listed, [
      [[0, 0, 0, 0, 0, 0], 3],
      [[0, 0, 0, 0, 0, 0, 0], 3],
    ])
  },

  'list: misses nothing that has the label throughout, whatever comes and goes between two pages': async (bench) => {
    const { store, start, examples } = bench
    let list = 0
    let added = 0
    const fate = fc.constantFrom('rewrite', 'remove', 'relabel', 'add')
    const change = fc.record({ index: fc.nat(30), fate })
    const asked = fc.tuple(fc.nat(25), fc.integer({ min: 1, max: 6 }), fc.array(change, { maxLength: 40 }))
    await forAll(
      examples,
      asked,
      async ([count, limit, changes]) => {
        const label = `list ${list++}`
        const keys = numbered(count, label)
        await together(keys, (key) => store.create(key, key, { labels: [label] }))
        const left = new Set(keys)
        const written = new Set<string>()
        const found: string[] = []
        const ahead = [...changes]
        for await (const page of pages((from) => store.list(label, { limit, ...from }))) {
          found.push(...page.records.map(({ key }) => key))
          for (const { index, fate } of ahead.splice(0, 3)) {
            const key = keys[index]
            if (fate === 'add') await store.create(`${label}, more ${added++}`, 1, { labels: [label] })
            if (key === undefined || !left.has(key)) continue
            if (fate === 'rewrite') await store.put(key, 'rewritten', { labels: [label] })
            if (fate === 'rewrite') written.add(key)
            if (fate === 'remove') await store.put(key, 'gone', { expiresAt: start })
            if (fate === 'relabel') await store.put(key, 'relabelled', { labels: ['another'] })
            if (fate === 'remove' || fate === 'relabel') left.delete(key)
          }
        }
        for (const key of left) {
          const times = found.filter((each) => each === key).length
          demand(times > 0, 'a list has every record that has the label throughout', `it missed ${show(key)}`)
          const repeated = times > 1 && !written.has(key)
          demand(!repeated, 'a list has a record twice only if it was written meanwhile', `it had ${show(key)} so`)
        }
      },
      // The first pages go while the later ones are still to come.
      [[12, 4, numbers(4).map((index) => ({ index, fate: 'remove' as const }))]],
    )
  },

  'list: has at most 100 records a page unless asked otherwise': async ({ store }) => {
    const keys = numbered(250, 'key')
    await together(keys, (key) => store.create(key, key, { labels: ['label'] }))
    for (const limit of [undefined, 1_000, 100, 1]) {
      const found = await store.keys('label', limit)
      same(found.toSorted(), keys.toSorted(), `a list of 250 records in pages of ${limit ?? 'any size'} has them all`)
    }
  },

  'list: leaves out what has expired, on every page': async ({ store, start, clock }) => {
    const keys = numbered(60, 'key')
    await together(keys, (key, index) => {
      const expiry = index % 3 === 0 ? {} : { expiresAt: start + (index % 3) * 100 }
      return store.create(key, index, { labels: ['label'], ...expiry })
    })
    for (const left of [[0, 1, 2], [0, 2], [0]]) {
      const wanted = keys.filter((_, index) => left.includes(index % 3))
      same((await store.keys('label', 7)).toSorted(), wanted.toSorted(), 'a list leaves out what has expired')
      clock.advance(100)
    }
  },

  'list: goes through keys in any order, whatever their characters': async ({ store }) => {
    const texts = [...new Set([...ODD_TEXTS, ...BORN_NAMES, ...ALIKE_TEXTS.flat(), ...numbered(12, '')])]
    await together(texts, (text) => store.create(text, text, { labels: ['label'] }))
    for (const limit of [1, 7]) {
      const found = await store.keys('label', limit)
      same(found.toSorted(), texts.toSorted(), `a list in pages of ${limit} has all that has the label`)
    }
  },
}
