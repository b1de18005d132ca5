/**
 * The memory store: the contract, and beyond it that memory is given back without a timer, and that it
 * does what the most naive store does under every sequence of commands and clocks.
 * @module
 */
import fc from 'fast-check'
import type { JsonValue, RecordStore } from 'grantwell'
import type { MemoryStore } from 'grantwell/storage/memory'
import { memoryStore } from 'grantwell/storage/memory'
import { storageContract } from 'grantwell/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { jsonValue } from '../../src/testing/storage-contract/texts.js'
import { usedHeap } from '../adapters/memory.js'
import { fullStore, NOW, OBJECTS, versionOf } from './full-memory-store.js'

// Against hanging alone: these tests do a given number of operations, however long a busy machine takes for them.
vi.setConfig({ testTimeout: 600_000 })

/** A time like any other. */
const YEAR = 31_536_000

describe('the memory store', () => {
  const stores = new Map<string, RecordStore>()
  const cases = storageContract(({ clock, namespace }) => {
    const store = stores.get(namespace) ?? memoryStore({ clock })
    stores.set(namespace, store)
    return { store }
  })
  for (const { name, run } of cases) it(name, run)
})

/** How many records the first operation of a second looks at, to drop those that have expired. */
const LOOKED_AT = 1_000

interface NaiveRecord {
  readonly value: JsonValue
  readonly version: number
  readonly expiresAt: number
  readonly labels: readonly string[]
  /** Whether its end was reached once: where the clock steps back behind it, it may be there or not, for good. */
  readonly doubtful: boolean
}

/** The most naive store: a map, looked through whole. */
interface Naive {
  now: number
  readonly records: Map<string, NaiveRecord>
}

interface Real {
  readonly clock: { now: number }
  readonly store: MemoryStore
  readonly versions: Set<number>
  /** How many records it had before: where it had some, those that have expired may be held a little longer. */
  readonly before: number
}

type Command = fc.AsyncCommand<Naive, Real>

/** What the naive store must hold, and what it may hold. */
function standing(model: Naive, key: string): { readonly must: boolean; readonly record: NaiveRecord | undefined } {
  const record = model.records.get(key)
  if (record === undefined || model.now >= record.expiresAt) return { must: false, record: undefined }
  return { must: !record.doubtful, record }
}

/** Every operation notices what has expired by then and, of so few records, holds no more than it must. */
function settle(model: Naive, { store, before }: Real): void {
  let most = 0
  let least = 0
  for (const [key, record] of model.records) {
    if (model.now >= record.expiresAt) model.records.set(key, { ...record, doubtful: true })
    else if (!record.doubtful) least++
    if (record.expiresAt > model.now) most++
  }
  expect(store.size - before).toBeGreaterThanOrEqual(least)
  expect(before === 0 ? store.size : most).toBeLessThanOrEqual(most)
}

/** Holds what the store says of one key against the naive one; a doubt is settled by what it says. */
function agrees(
  model: Naive,
  key: string,
  found: { readonly value: JsonValue; readonly version: number } | undefined,
): void {
  const { must, record } = standing(model, key)
  const isThere = must || found !== undefined
  const expected = isThere && { value: record?.value, version: record?.version }
  expect(found !== undefined && { value: found.value, version: found.version }).toEqual(expected)
  expect(isThere && record === undefined).toBe(false)
  if (!isThere) model.records.delete(key)
}

const KEYS = ['a', 'b', 'c', '__proto__'] as const
const LABELS = ['x', 'y', 'z'] as const

function described(name: string, run: (model: Naive, real: Real) => Promise<void>, details: unknown): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      await run(model, real)
      settle(model, real)
    },
    toString: () => `${name} ${JSON.stringify(details)}`,
  }
}

const read = fc.array(fc.constantFrom(...KEYS), { maxLength: 5 }).map((keys) =>
  described(
    'read',
    async (model, { store }) => {
      const records = await store.read(keys)
      expect(records).toHaveLength(keys.length)
      keys.forEach((key, index) => {
        agrees(model, key, records[index])
      })
    },
    keys,
  ),
)

const write = fc
  .record({
    key: fc.constantFrom(...KEYS),
    value: jsonValue,
    expected: fc.constantFrom('right', 'right', 'right', 'zero', 'old'),
    expiresIn: fc.oneof(
      fc.constant(undefined),
      fc.integer({ min: -2, max: 40 }),
      fc.constantFrom(300, 600, 28_800, 15_552_000, 10 * YEAR),
    ),
    labels: fc.option(fc.subarray([...LABELS]), { nil: undefined }),
  })
  .map((asked) =>
    described(
      'write',
      async (model, { store, versions }) => {
        const { key, value, expiresIn, labels } = asked
        agrees(model, key, (await store.read([key]))[0])
        const { record } = standing(model, key)
        const stored = record?.version ?? 0
        const expected = asked.expected === 'right' ? stored : asked.expected === 'zero' ? 0 : stored + 1
        const expiresAt = expiresIn === undefined ? Number.POSITIVE_INFINITY : model.now + expiresIn
        const options = {
          expected,
          ...(expiresIn !== undefined && { expiresAt }),
          ...(labels !== undefined && { labels }),
        }
        expect(await store.write(key, value, options)).toBe(expected === stored)
        if (expected !== stored) return
        const [found] = await store.read([key])
        expect(found !== undefined).toBe(model.now < expiresAt)
        if (found === undefined) return void model.records.delete(key)
        const { version } = found
        expect(versions.has(version)).toBe(false)
        versions.add(version)
        model.records.set(key, { value, version, expiresAt, labels: labels ?? [], doubtful: false })
      },
      asked,
    ),
  )

const list = fc.record({ label: fc.constantFrom(...LABELS), limit: fc.integer({ min: 1, max: 4 }) }).map((asked) =>
  described(
    'list',
    async (model, { store }) => {
      const found = new Map<string, { readonly value: JsonValue; readonly version: number }>()
      let cursor: string | undefined
      do {
        const page = await store.list(asked.label, { limit: asked.limit, ...(cursor !== undefined && { cursor }) })
        expect(page.records.length).toBeLessThanOrEqual(asked.limit)
        for (const record of page.records) {
          expect(found.has(record.key)).toBe(false)
          found.set(record.key, record)
        }
        cursor = page.cursor
      } while (cursor !== undefined)
      for (const key of found.keys()) expect(model.records.get(key)?.labels).toContain(asked.label)
      for (const [key] of [...model.records].filter(([, { labels }]) => labels.includes(asked.label)))
        agrees(model, key, found.get(key))
    },
    asked,
  ),
)

const jump = fc
  .oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 20 }) },
    { weight: 2, arbitrary: fc.constantFrom(15, 16, 17, 300, 28_800, YEAR, 100 * YEAR) },
    { weight: 2, arbitrary: fc.constantFrom(-1, -15, -16, -17, -300, -28_800, -YEAR) },
  )
  .map((seconds) =>
    described(
      'jump',
      async (model, real) => {
        model.now = Math.max(0, model.now + seconds)
        real.clock.now = model.now
        await real.store.read([])
      },
      seconds,
    ),
  )

describe('the memory store beside the naive one', () => {
  const same = (storeOf: (clock: () => number) => MemoryStore, numRuns: number, maxCommands: number): Promise<void> =>
    fc.assert(
      fc.asyncProperty(fc.commands([read, write, write, list, jump], { maxCommands }), async (commands) => {
        await fc.asyncModelRun(() => {
          const clock = { now: NOW }
          const store = storeOf(() => clock.now)
          const real: Real = { clock, store, versions: new Set(), before: store.size }
          return { model: { now: NOW, records: new Map() }, real }
        }, commands)
      }),
      { numRuns },
    )

  it('does the same under every sequence of writes, reads, lists and clocks that jump forward and back', () =>
    same((clock) => memoryStore({ clock }), 1_000, 60))

  // As many commands as 100 runs of 60, in fewer runs: to fill the store is the most of each.
  it('does the same with values that it keeps as text', () => same(fullStore, 25, 240))
})

describe('memory', () => {
  afterEach(() => vi.useRealTimers())

  /** Fills a store with records that expire one after the other, in a random order. */
  function filled(count: number, over: number): { clock: { now: number }; store: MemoryStore } {
    const clock = { now: NOW }
    const store = memoryStore({ clock: () => clock.now })
    for (let index = 0; index < count; index++) {
      const place = (index * 7_919) % count
      store.write(
        `grant ${index}`,
        { text: `value ${index}`, list: [index] },
        {
          expected: 0,
          expiresAt: NOW + 1 + Math.floor((place / count) * over),
          labels: [`subject:${index % 1_000}`, 'client:web'],
        },
      )
    }
    return { clock, store }
  }

  /** An operation a second, until each of so many records was looked at. */
  function lookAtAll(count: number, { clock, store }: ReturnType<typeof filled>): void {
    for (let second = 0; second < Math.ceil(count / LOOKED_AT); second++) {
      clock.now += 1
      store.read([])
    }
  }

  it('is free of 100,000 records once they have expired, all at once and one by one', async () => {
    const before = await usedHeap()
    const many = filled(100_000, 15_552_000)
    const { clock, store } = many
    expect(store.size).toBe(100_000)
    const full = await usedHeap()
    for (let tenth = 1; tenth <= 5; tenth++) {
      clock.now = NOW + tenth * 1_555_200
      lookAtAll(store.size, many)
      const left = 100_000 - tenth * 10_000
      expect(store.size).toBeGreaterThanOrEqual(left - 2)
      expect(store.size).toBeLessThanOrEqual(left + 1)
    }
    clock.now += 1_000 * YEAR
    expect(store.read(['grant 1'])).toEqual([undefined])
    lookAtAll(store.size, many)
    expect(store.size).toBe(0)
    expect(store.list('client:web')).toEqual({ records: [] })
    expect((await usedHeap()) - before).toBeLessThan((full - before) / 20)
  })

  it('is given back in parts: however many records expire at once, no operation drops more than 1,000', () => {
    const { clock, store } = filled(50_000, 1)
    for (let held = 50_000; held > 0; held -= LOOKED_AT) {
      clock.now += 1
      store.read([])
      expect(store.size).toBe(held - LOOKED_AT)
      store.read([])
      expect(store.size).toBe(held - LOOKED_AT)
    }
  })

  it('holds an eighth more than what lives at most, however fast records come and go', () => {
    const clock = { now: NOW }
    const store = memoryStore({ clock: () => clock.now })
    const inASecond = 20_000
    for (let second = 0; second < 12; second++) {
      for (let index = 0; index < inASecond; index++)
        store.write(`nonce ${second} ${index}`, 1, { expected: 0, expiresAt: clock.now + 2 })
      expect(store.size).toBeLessThanOrEqual((2 * inASecond * 8) / 7)
      clock.now += 1
    }
  })

  it('is given back by any operation: a read, a write or a list', () => {
    const operations: readonly ((store: RecordStore) => unknown)[] = [
      (store) => store.read(['another']),
      (store) => store.write('another', 1, { expected: 7 }),
      (store) => store.list('another'),
    ]
    for (const operate of operations) {
      const { clock, store } = filled(1_000, 100)
      clock.now = NOW + 100
      expect(store.size).toBe(1_000)
      operate(store)
      expect(store.size).toBe(0)
    }
  })

  it('does not grow while records are written anew, relabelled and lengthened', async () => {
    const { clock, store } = filled(1_000, 1)
    const rewrite = async (rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        clock.now += 1
        for (let index = 0; index < 100; index++) {
          const key = `key ${index}`
          const expected = (await store.read([key]))[0]?.version ?? 0
          const labels = [`subject:${clock.now}-${index >> 1}`, 'client:web']
          await store.write(key, { round, index }, { expected, expiresAt: clock.now + 1_000_000 + index, labels })
        }
      }
    }
    await rewrite(100)
    const before = await usedHeap()
    await rewrite(500)
    expect(store.size).toBe(100)
    expect((await usedHeap()) - before).toBeLessThan(1_000_000)
    expect((await store.list('client:web', { limit: 1_000 })).records).toHaveLength(100)
  })

  it('keeps nothing of the values of records that went, while others with their label stay', async () => {
    const before = await usedHeap()
    const store = memoryStore({ clock: () => NOW })
    for (let index = 0; index < 2_000; index++)
      store.write(`key ${index}`, `${index} ${'x'.repeat(10_000)}`, { expected: 0, labels: ['label'] })
    for (let index = 0; index < 900; index++)
      store.write(`key ${index}`, 0, { expected: versionOf(store, `key ${index}`), expiresAt: NOW, labels: ['label'] })
    expect((await usedHeap()) - before).toBeLessThan(1_100 * 10_000 + 2_000_000)
    expect(store.size).toBe(1_100)
  })

  it('has what was there where a value cannot be written, and where it was to be, nothing', () => {
    for (const store of [memoryStore({ clock: () => NOW }), fullStore(() => NOW)]) {
      store.write('key', { ok: 1 }, { expected: 0, labels: ['label'] })
      const expected = versionOf(store, 'key')
      const wrong = 1n as unknown as JsonValue // no value of JSON
      expect(() => store.write('key', wrong, { expected, labels: ['another'] })).toThrow(TypeError)
      expect(() => store.write('absent', wrong, { expected: 0 })).toThrow(TypeError)
      expect(store.read(['key', 'absent'])).toEqual([{ value: { ok: 1 }, version: expected }, undefined])
      expect(store.list('label')).toMatchObject({ records: [{ key: 'key' }] })
    }
    const full = fullStore(() => NOW)
    full.write('key', { ok: 1 }, { expected: 0 })
    for (let index = 0; index < OBJECTS; index++) full.write(`later ${index}`, index, { expected: 0 })
    const expected = versionOf(full, 'key')
    const wrong = 1n as unknown as JsonValue // no value of JSON
    expect(() => full.write('key', wrong, { expected })).toThrow(TypeError)
    expect(full.read(['key'])).toEqual([{ value: { ok: 1 }, version: expected }])
  })

  it('is looked after without a timer', () => {
    vi.useFakeTimers()
    const { clock, store } = filled(100, 15_552_000)
    clock.now += YEAR
    store.read([])
    expect(store.size).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })

  // Microseconds each. A store that counts the seconds or minutes between two times is not done with so many.
  it('costs as little to give back after a jump of a thousand years as after one of a minute', () => {
    const { clock, store } = filled(10, 15_552_000)
    for (let jump = 0; jump < 10_000; jump++) {
      clock.now += 1_000 * YEAR
      store.read([])
      clock.now -= 1_000 * YEAR
      store.read([])
    }
    expect(store.size).toBe(0)
  })
})

describe('lists of the memory store', () => {
  it('have every record once that stays, whatever comes and goes between two pages', async () => {
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat(5)), fc.integer({ min: 1, max: 5 }), async (fates, limit) => {
        const store = memoryStore()
        const put = async (key: string, labels: readonly string[], expiresAt?: number): Promise<void> => {
          const expected = (await store.read([key]))[0]?.version ?? 0
          await store.write(key, key, { expected, labels, ...(expiresAt !== undefined && { expiresAt }) })
        }
        const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`)
        for (const key of keys) await put(key, ['label'])
        const stay = new Set(keys)
        const found: string[] = []
        let cursor: string | undefined
        let fresh = 0
        do {
          const page = await store.list('label', { limit, ...(cursor !== undefined && { cursor }) })
          found.push(...page.records.map((record) => record.key))
          cursor = page.cursor
          const chosen = keys[fates.next().value * 3] ?? 'key 0'
          const fate = fates.next().value
          if (fate === 0 && stay.has(chosen)) await put(chosen, ['label'])
          if (fate === 1 && fresh < 50) await put(`new ${fresh++}`, ['label'])
          if (fate === 2 && stay.delete(chosen)) await put(chosen, [], 0)
        } while (cursor !== undefined)
        for (const key of stay) expect(found.filter((each) => each === key)).toEqual([key])
        expect(new Set(found).size).toBe(found.length)
      }),
      { numRuns: 200 },
    )
  })
})
