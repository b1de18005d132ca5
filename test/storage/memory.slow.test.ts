/**
 * The memory store with very many records: what it holds, the memory it takes, and the time of a page.
 * @module
 */
import type { JsonValue } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { usedHeap } from '../adapters/memory.js'
import { fullStore, LEAST_BYTES, NOW, OBJECTS, versionOf } from './full-memory-store.js'

/** Bytes of arrays outside of the heap, after a full collection. */
async function usedArrays(): Promise<number> {
  await usedHeap()
  return process.memoryUsage().arrayBuffers
}

describe('a memory store of many records', () => {
  it('has every value of 80,000 records that come, change and go, short ones and long ones, in every script', () => {
    const store = memoryStore({ clock: () => NOW })
    const model = new Map<string, { readonly json: string; readonly label: string }>()
    const letters = ['e', '\u00e9', '\u6f22', '\u{1f511}', '\ud800']
    let seed = 1
    const draw = (most: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return Math.floor((seed / 2 ** 32) * most)
    }
    const agrees = (number: number): void => {
      const expected = model.get(`key ${number}`)?.json
      const [found] = store.read([`key ${number}`]) as readonly ({ readonly value: JsonValue } | undefined)[]
      const text = found && JSON.stringify(found.value)
      if (text !== expected) expect(text).toBe(expected) // to expect costs more than to read
    }
    for (let step = 0; step < 400_000; step++) {
      // Some are written and read far more often than others.
      const number = draw(draw(4) === 0 ? 500 : 80_000)
      const key = `key ${number}`
      if (draw(3) === 0) {
        agrees(number)
        continue
      }
      const length = draw(2_000) === 0 ? draw(120_000) : draw(draw(10) === 0 ? 3_000 : 200)
      const value = { step, text: (letters[draw(letters.length)] ?? '').repeat(length) }
      const ends = draw(8) === 0
      const label = `label ${draw(draw(2) === 0 ? 1 : 300)}`
      const written = store.write(key, value, {
        expected: versionOf(store, key),
        labels: [label],
        ...(ends && { expiresAt: NOW }),
      })
      if (written !== true) expect(written).toBe(true)
      if (ends) model.delete(key)
      else model.set(key, { json: JSON.stringify(value), label })
    }
    expect(store.size).toBe(model.size)
    expect(model.size).toBeGreaterThan(60_000)
    for (let number = 0; number < 80_000; number++) agrees(number)
    const page = store.list('label 7', { limit: 80_000 }) as {
      readonly records: readonly { readonly key: string; readonly value: JsonValue }[]
    }
    const listed = [...model].filter(([, { label }]) => label === 'label 7').map(([key, { json }]) => [key, json])
    expect(page.records.map(({ key, value }) => [key, JSON.stringify(value)]).toSorted()).toEqual(listed.toSorted())
  })

  it('takes a fifth of the heap once there are many records, and at most twice the bytes of their texts', async () => {
    const text = 'x'.repeat(1_000)
    const valueIn = (round: number, index: number) => ({ round, index, lists: [[round], [index], [text + index]] })
    const before = { heap: await usedHeap(), bytes: await usedArrays() }
    const store = fullStore(() => NOW)
    const count = 20_000
    const write = (round: number, index: number): void => {
      store.write(`key ${index}`, valueIn(round, index), { expected: versionOf(store, `key ${index}`) })
    }
    for (let round = 0; round < 8; round++)
      for (let index = 0; index < count; index++) write(round, (index * 7_919) % count)
    // What was written last are objects; behind so many others, all of it are texts.
    for (let index = 0; index < OBJECTS; index++) store.write(`later ${index}`, index, { expected: 0 })
    const texts = count * JSON.stringify(valueIn(7, 10_000)).length
    expect((await usedArrays()) - before.bytes).toBeLessThan(2 * texts + 3 * 2 ** 21)
    expect((await usedHeap()) - before.heap).toBeLessThan(count * 700 + 2 * OBJECTS * 200)
    // A tenth stays, so that every block has somebody who wants to live in it.
    for (let index = 0; index < count; index++) {
      if (index % 10 === 0) continue
      store.write(`key ${index}`, 0, { expected: versionOf(store, `key ${index}`), expiresAt: NOW })
    }
    expect((await usedArrays()) - before.bytes).toBeLessThan((2 * texts) / 10 + OBJECTS * LEAST_BYTES + 3 * 2 ** 21)
    expect(store.size).toBe(2 * OBJECTS + count / 10)
  })

  it('takes twice the bytes of texts at most, whichever of them stay and whenever the others go', async () => {
    const before = await usedArrays()
    const store = fullStore(() => NOW)
    const write = (key: string, length: number, options: { readonly expiresAt?: number } = {}): void => {
      store.write(key, 'x'.repeat(length), { expected: versionOf(store, key), ...options })
    }
    // Each that stays comes among some that go before its block is full; and some that go are long.
    for (let index = 0; index < 1_000; index++) {
      for (let other = 0; other < 100; other++) write(`short ${index} ${other}`, 400)
      write(`stays ${index}`, 1_000)
      write(`long ${index}`, 60_000)
      for (let other = 0; other < 100; other++) write(`short ${index} ${other}`, 0, { expiresAt: NOW })
      write(`long ${index}`, 0, { expiresAt: NOW })
    }
    store.read([])
    expect(store.size).toBe(OBJECTS + 1_000)
    expect((await usedArrays()) - before).toBeLessThan(2 * 1_000_000 + 4 * 2 ** 21)
    for (let index = 0; index < 1_000; index++) {
      write(`long ${index}`, 8_000)
      write(`among ${index}`, 8_000)
      write(`among ${index}`, 100)
    }
    for (let index = 0; index < 1_000; index++) write(`long ${index}`, 100)
    for (let operation = 0; operation < 20; operation++) store.read([])
    expect((await usedArrays()) - before).toBeLessThan(2 * 1_250_000 + 4 * 2 ** 21)
    for (let index = 0; index < 1_000; index++)
      expect(store.read([`stays ${index}`])).toMatchObject([{ value: 'x'.repeat(1_000) }])
  })

  it('has no more than 65,536 values as objects, whatever comes and goes and is asked for again', async () => {
    const before = await usedHeap()
    const store = memoryStore({ clock: () => NOW })
    const write = (index: number, value: JsonValue, options = {}): void => {
      store.write(`key ${index}`, value, { expected: versionOf(store, `key ${index}`), ...options })
    }
    const count = 100_000
    const nested = (index: number): JsonValue => Array.from({ length: 40 }, () => [index])
    const heaps: number[] = []
    for (let round = 0; round < 4; round++) {
      for (let index = 0; index < count; index++) write(index, nested(index))
      heaps.push((await usedHeap()) - before)
      // Some of the objects go, and texts that are asked for twice take their places.
      for (let index = 0; index < count; index += 2) write(index, 0, { expiresAt: NOW })
      for (let index = 0; index < count; index++) {
        const key = `key ${index}`
        const isThere = versionOf(store, key) + versionOf(store, key) > 0
        if (isThere !== index % 2 > 0) expect.fail(`${key} is ${isThere ? '' : 'not '}there`)
      }
    }
    // An object is some 2,300 bytes, and what stands for a text 300.
    expect(heaps[0]).toBeLessThan(OBJECTS * 2_500 + count * 400)
    expect(heaps[3]).toBeLessThan(1.1 * (heaps[0] ?? 0))
  })
})

describe('lists of the memory store', () => {
  /** Lists so many records page by page, and begins again after the last: what the next page takes, in milliseconds. */
  async function pagesOf(records: number): Promise<() => Promise<number>> {
    const store = memoryStore()
    for (let index = 0; index < records; index++)
      await store.write(`grant ${index}`, index, { expected: 0, labels: ['client:web'] })
    let cursor: string | undefined
    return async () => {
      const begun = performance.now()
      const page = await store.list('client:web', { ...(cursor !== undefined && { cursor }) })
      cursor = page.cursor
      return performance.now() - begun
    }
  }

  it('take as little for a page of 400,000 records as for one of 80,000', async () => {
    const [few, many] = [await pagesOf(80_000), await pagesOf(400_000)]
    const [ofFew, ofMany]: [number[], number[]] = [[], []]
    // In turns, so that whatever else the machine does slows both.
    for (let page = 0; page < 2_000; page++) {
      ofFew.push(await few())
      ofMany.push(await many())
    }
    const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[1_000] ?? 0
    expect(median(ofMany)).toBeLessThan(10 * median(ofFew))
  })
})
