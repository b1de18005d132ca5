/**
 * The scan of all records, of a store that has one.
 * @module
 */
import fc from 'fast-check'
import type { ScannedRecord } from '../../storage/record-store.js'
import type { Scan } from './answers.js'
import { forAll, same, show } from './assert.js'
import type { Cases, Connection } from './bench.js'
import { numbered, random, together } from './bench.js'
import { ALIKE_TEXTS, anyText, BORN_NAMES, LONG_TEXTS, ODD_TEXTS } from './texts.js'

/** Returns all records by their keys, each as it was found last. */
async function everyRecord(scan: Scan, limit?: number): Promise<ReadonlyMap<string, ScannedRecord>> {
  const found = new Map<string, ScannedRecord>()
  for await (const { records } of scan(limit)) for (const record of records) found.set(record.key, record)
  return found
}

/** Demands that a scan tells each record as it was written. */
async function tellsAll(
  { read }: Connection,
  scan: Scan,
  written: ReadonlyMap<string, Pick<ScannedRecord, 'value' | 'labels' | 'expiresAt'>>,
  limit?: number,
): Promise<void> {
  const found = await everyRecord(scan, limit)
  same([...found.keys()].toSorted(), [...written.keys()].toSorted(), 'a scan has every record, and no other')
  const current = await read([...found.keys()])
  for (const [index, [key, { value, version, labels, expiresAt }]] of [...found].entries()) {
    const wanted = written.get(key)
    same([value, version], [wanted?.value, current[index]?.version], 'a scan tells the value and version of a record')
    const distinct = [...new Set(wanted?.labels)].toSorted()
    same([...(labels ?? [])].toSorted(), distinct, `a scan tells each label of a record once, here of ${show(key)}`)
    same(expiresAt, wanted?.expiresAt, `a scan tells when a record expires, here ${show(key)}`)
  }
}

/** Makes a clause that a store without a scan need not keep. */
function whereThereIsOne(clause: (bench: Parameters<Cases[string]>[0], scan: Scan) => Promise<void>): Cases[string] {
  return async (bench) => {
    if (bench.store.scan !== undefined) await clause(bench, bench.store.scan)
  }
}

export const scans: Cases = {
  'scan, where there is one: tells each record as it was written': whereThereIsOne(async ({ store, start }, scan) => {
    await tellsAll(store, scan, new Map())
    const texts = [...new Set([...ODD_TEXTS, ...BORN_NAMES, ...ALIKE_TEXTS.flat(), ...LONG_TEXTS])]
    const written = new Map(
      texts.map((text, index) => {
        const labels = [[text], [], ['a', text, 'a']][index % 3] ?? []
        return [text, { value: text, labels, ...(index % 2 === 0 && { expiresAt: start + 100 + index }) }]
      }),
    )
    await together([...written], ([key, { value, ...options }]) => store.create(key, 'before', options))
    await together([...written], ([key, { value, ...options }]) => store.put(key, value, options))
    for (const limit of [undefined, 7]) await tellsAll(store, scan, written, limit)
  }),

  'scan, where there is one: leaves out what was removed, what has expired, and other namespaces': whereThereIsOne(
    async ({ store, start, clock, namespace, connect }, scan) => {
      for (const other of [`${namespace}-2`, `x-${namespace}`].map((name) => name.slice(-40)))
        await (await connect(other)).create('foreign', 1)
      const keys = numbered(30, 'key')
      await together(keys, (key, index) =>
        store.create(key, index, index % 3 === 0 ? {} : { expiresAt: start + (index % 3) * 100 }),
      )
      await store.put('key 0', 1, { expiresAt: start })
      for (const left of [[0, 1, 2], [0, 2], [0]]) {
        const wanted = keys.filter((_, index) => index !== 0 && left.includes(index % 3))
        const found = await everyRecord(scan, 4)
        same([...found.keys()].toSorted(), wanted.toSorted(), 'a scan has the records that are there, and no other')
        clock.advance(100)
      }
    },
  ),

  'scan, where there is one: misses nothing that is there throughout': whereThereIsOne(async (bench, scan) => {
    const { store, start, examples } = bench
    const keys = numbered(120, 'key')
    await together(keys, (key) => store.create(key, 0, { labels: [key] }))
    const change = fc.record({ key: fc.constantFrom(...keys), fate: fc.constantFrom('rewrite', 'remove', 'add') })
    const asked = fc.tuple(fc.integer({ min: 4, max: 50 }), fc.array(change, { maxLength: 12 }), anyText)
    await forAll({ ...examples, numRuns: Math.min(examples.numRuns, 10) }, asked, async ([limit, changes, text]) => {
      const left = new Set(keys.filter((key) => !changes.some((each) => each.fate === 'remove' && each.key === key)))
      const ahead = [...changes]
      const found = new Set<string>()
      for await (const { records } of scan(limit)) {
        for (const { key } of records) found.add(key)
        for (const { key, fate } of ahead.splice(0, 3)) {
          if (fate === 'add') await store.put(`${text.slice(0, 100)}${random()}`, 1, { expiresAt: start + 1 })
          else if (left.has(key)) await store.put(key, 'rewritten')
          else await store.put(key, 'gone', { expiresAt: start })
        }
      }
      const missed = [...left].filter((key) => !found.has(key))
      same(missed, [], 'a scan has every record that is there throughout')
      const gone = keys.filter((key) => !left.has(key))
      await together(gone, (key) => store.put(key, 0))
    })
  }),
}
