/**
 * The contract of a RecordStore, every clause with its case, for any engine that is given.
 * @module
 */
import fc from 'fast-check'
import type { JsonValue, RecordStore, WriteOptions } from 'grantwell'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

/** Makes an empty store on a clock, and what ends it. */
export type MakeStore = (clock: () => number) => Promise<{
  readonly store: RecordStore
  readonly close: () => Promise<void>
}>

/** A time like any other. */
export const NOW = 1_800_000_000

const YEAR = 31_536_000

/** JSON as any engine gives it back: without the sign of zero. */
export const jsonValue: fc.Arbitrary<JsonValue> = fc
  .jsonValue({ maxDepth: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)))

/** Any text of Unicode, and names that objects have by birth. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'a:b',
    'a b',
    '%',
    '*',
    "'",
    '\\',
    '😀',
    'é',
  ),
)

/** The contract. */
export function storeContract(title: string, makeStore: MakeStore): void {
  describe(title, () => {
    let now = NOW
    let store: RecordStore
    let close: () => Promise<void>

    beforeEach(async () => {
      now = NOW
      const made = await makeStore(() => now)
      store = made.store
      close = made.close
    })
    afterEach(() => close())

    const read = async (key: string) => (await store.read([key]))[0]
    const versionOf = async (key: string): Promise<number> => (await read(key))?.version ?? 0

    /** Writes over whatever there is. */
    async function put(key: string, value: JsonValue, options: Omit<WriteOptions, 'expected'> = {}): Promise<void> {
      expect(await store.write(key, value, { ...options, expected: await versionOf(key) })).toBe(true)
    }

    /** All records with a label, page by page. */
    async function listed(label: string, limit?: number) {
      const keys: string[] = []
      const sizes: number[] = []
      let cursor: string | undefined
      do {
        const page = await store.list(label, {
          ...(limit !== undefined && { limit }),
          ...(cursor !== undefined && { cursor }),
        })
        for (const record of page.records) {
          expect(await read(record.key)).toMatchObject({ value: record.value, version: record.version })
          if (keys.includes(record.key)) throw new Error(`listed twice: ${record.key}`)
          keys.push(record.key)
        }
        sizes.push(page.records.length)
        cursor = page.cursor
      } while (cursor !== undefined)
      return { keys, sizes }
    }

    describe('read', () => {
      it('gives what was written, any JSON under any key', async () => {
        await fc.assert(
          fc.asyncProperty(anyText, jsonValue, async (key, value) => {
            await put(key, value)
            const record = await read(key)
            expect(record?.value).toEqual(value)
            expect(Number.isSafeInteger(record?.version) && Number(record?.version) > 0).toBe(true)
          }),
        )
      })

      it('gives every JSON shape back as it was', async () => {
        const own: JsonValue = JSON.parse('{"__proto__":{"a":1},"constructor":null,"":[]}')
        const shapes: readonly JsonValue[] = [
          null,
          true,
          false,
          0,
          -1.5,
          1e300,
          Number.MAX_SAFE_INTEGER,
          '',
          'a "quoted" \\ text\n\u2028',
          '𝒳 é \u0001',
          [],
          {},
          [[], [null], [[{}]]],
          own,
          { a: { b: { c: { d: [1, 'two', null, false] } } } },
        ]
        for (const [index, value] of shapes.entries()) await put(`shape ${index}`, value)
        const records = await store.read(shapes.map((_, index) => `shape ${index}`))
        expect(records.map((record) => record?.value)).toStrictEqual(shapes)
      })

      it('gives a value of 1 MB back whole', async () => {
        const value = { logo: 'a'.repeat(1_400_000), list: Array.from({ length: 1_000 }, (_, index) => index) }
        await put('large', value)
        expect((await read('large'))?.value).toEqual(value)
      })

      it('answers in the order asked, a key asked twice too, and undefined for what is not there', async () => {
        const key = fc.constantFrom('a', 'b', 'c', 'd', 'absent', 'A', 'a ')
        for (const name of ['d', 'b', 'a', 'c']) await put(name, `value of ${name}`)
        await fc.assert(
          fc.asyncProperty(fc.array(key), async (keys) => {
            const records = await store.read(keys)
            expect(records.map((record) => record?.value)).toEqual(
              keys.map((each) => (/^[a-d]$/.test(each) ? `value of ${each}` : undefined)),
            )
          }),
          { examples: [[[]]] },
        )
      })

      it('takes a thousand keys at once', async () => {
        const keys = Array.from({ length: 1_000 }, (_, index) => `key ${index}`)
        for (const key of keys.slice(0, 500)) await put(key, key)
        const records = await store.read(keys)
        expect(records.map((record) => record?.value)).toEqual(
          keys.map((key, index) => (index < 500 ? key : undefined)),
        )
      })
    })

    describe('write', () => {
      it('with expected 0 demands that there is nothing', async () => {
        expect(await store.write('key', 1, { expected: 0 })).toBe(true)
        expect(await store.write('key', 2, { expected: 0 })).toBe(false)
        expect((await read('key'))?.value).toBe(1)
      })

      it('demands the very version that is stored, and changes nothing otherwise', async () => {
        await fc.assert(
          fc.asyncProperty(anyText, fc.integer({ min: 0, max: 1_000_000 }), async (key, wrong) => {
            await put(key, 'before', { labels: ['before'], expiresAt: NOW + 100 })
            const before = await read(key)
            const version = before?.version ?? 0
            if (wrong !== version) {
              const options = { expected: wrong, labels: ['after'], expiresAt: NOW + 1_000 }
              expect(await store.write(key, 'after', options)).toBe(false)
              expect(await store.write(key, 'after', { expected: wrong, expiresAt: NOW })).toBe(false)
            }
            expect(await read(key)).toEqual(before)
            expect((await store.list('after')).records).toEqual([])
            expect(await store.write(key, 'after', { expected: version })).toBe(true)
            const after = await read(key)
            expect(after?.value).toBe('after')
            expect(after?.version).not.toBe(version)
          }),
          { numRuns: 50 },
        )
        expect(await store.write('absent', 1, { expected: 1 })).toBe(false)
        expect(await read('absent')).toBeUndefined()
      })

      it('lets one of many writers through that expect the same version', async () => {
        for (let round = 0; round < 20; round++) {
          const expected = await versionOf('key')
          const writers = Array.from({ length: 20 }, (_, writer) => writer)
          const written = await Promise.all(writers.map((writer) => store.write('key', [round, writer], { expected })))
          const winners = writers.filter((writer) => written[writer])
          expect(winners).toHaveLength(1)
          expect((await read('key'))?.value).toEqual([round, winners[0]])
        }
      })

      it('gives another version every time, never one that the key had, forgotten and made anew as it may be', async () => {
        const seen = new Set<number>()
        for (let round = 0; round < 30; round++) {
          const ending = round % 3
          for (let times = 0; times < 3; times++) {
            await put('key', [round, times], ending === 0 ? { expiresAt: now + 10 } : {})
            const version = await versionOf('key')
            expect(seen.has(version)).toBe(false)
            seen.add(version)
          }
          if (ending === 0) now += 10 + round * 100
          else if (ending === 1) await put('key', null, { expiresAt: now })
          // What an old reader holds never fits again.
          for (const old of seen)
            if (old !== (await versionOf('key')))
              expect(await store.write('key', 'from the past', { expected: old })).toBe(false)
        }
      })

      it('keeps records of different keys apart', async () => {
        await fc.assert(
          fc.asyncProperty(anyText, anyText, async (key, other) => {
            fc.pre(key !== other)
            await put(key, 'mine', { labels: [key] })
            const before = await read(key)
            await put(other, 'another', { expiresAt: now + 5, labels: [other] })
            await put(other, null, { expiresAt: now })
            expect(await read(key)).toEqual(before)
            expect((await listed(key)).keys).toContain(key)
          }),
          { numRuns: 50 },
        )
      })
    })

    describe('values', () => {
      it('belong to nobody: the store changes none that it was handed, and takes frozen ones', async () => {
        const frozen = Object.freeze({ list: Object.freeze([Object.freeze({ a: 1 })]), text: 'a' })
        const value = { list: [{ a: 1 }], text: 'a' }
        await put('frozen', frozen, { labels: Object.freeze(['label']), expiresAt: now + 10 })
        await put('key', value, { labels: ['label'] })
        const first = await read('key')
        await put('key', { list: [], text: 'b' }, { labels: ['label'] })
        expect(await listed('label')).toMatchObject({ sizes: [2] })
        await put('key', null, { expiresAt: now })
        expect(value).toEqual({ list: [{ a: 1 }], text: 'a' })
        expect(first?.value).toEqual(value)
        expect((await read('frozen'))?.value).toEqual(frozen)
      })
    })

    describe('expiry', () => {
      it('is to the second: a record is there until it, and from it on is not', async () => {
        await fc.assert(
          fc.asyncProperty(fc.integer({ min: 1, max: 200 * YEAR }), async (seconds) => {
            const start = now
            const expiresAt = start + seconds
            await put('key', seconds, { expiresAt, labels: ['expires'] })
            now = expiresAt - 1
            expect((await read('key'))?.value).toBe(seconds)
            expect((await listed('expires')).keys).toEqual(['key'])
            const version = await versionOf('key')
            now = expiresAt
            expect(await read('key')).toBeUndefined()
            expect((await listed('expires')).keys).toEqual([])
            expect(await store.write('key', 'late', { expected: version })).toBe(false)
            expect(await read('key')).toBeUndefined()
            expect(await store.write('key', 'new', { expected: 0, expiresAt: expiresAt + 1 })).toBe(true)
            now = expiresAt + 1
            expect(await read('key')).toBeUndefined()
          }),
          {
            numRuns: 40,
            examples: [[1], [2], [15], [16], [17], [Math.ceil(2 ** 31 / 1000)], [28_800], [15_552_000], [YEAR * 100]],
          },
        )
      })

      it('does not come without expiresAt', async () => {
        await put('key', 'for ever')
        now += 10_000 * YEAR
        expect((await read('key'))?.value).toBe('for ever')
      })

      it('is the one of the last write: later, sooner, or none', async () => {
        const expiries: readonly (readonly [number | undefined, number | undefined, number, boolean])[] = [
          [10, 20, 15, true],
          [10, 20, 20, false],
          [20, 10, 9, true],
          [20, 10, 10, false],
          [10, undefined, 1_000, true],
          [undefined, 10, 10, false],
          [10, 10, 10, false],
        ]
        for (const [index, [first, last, after, there]] of expiries.entries()) {
          const start = now
          const at = (seconds: number | undefined) => (seconds === undefined ? {} : { expiresAt: start + seconds })
          await put(`key ${index}`, 1, at(first))
          await put(`key ${index}`, 2, at(last))
          now = start + after
          expect([index, (await read(`key ${index}`))?.value]).toEqual([index, there ? 2 : undefined])
        }
      })

      it('that has passed removes the record at once, where the version fits', async () => {
        for (const expiresAt of [0, NOW - 1_000, NOW - 1, NOW]) {
          await put('key', 'there', { labels: ['label'] })
          const version = await versionOf('key')
          expect(await store.write('key', 'gone', { expected: version + 1, expiresAt })).toBe(false)
          expect(await store.write('key', 'gone', { expected: 0, expiresAt })).toBe(false)
          expect((await read('key'))?.value).toBe('there')
          expect(await store.write('key', 'gone', { expected: version, expiresAt, labels: ['label'] })).toBe(true)
          expect(await read('key')).toBeUndefined()
          expect((await listed('label')).keys).toEqual([])
          expect(await store.write('key', 'never there', { expected: 0, expiresAt, labels: ['label'] })).toBe(true)
          expect(await read('key')).toBeUndefined()
          expect((await listed('label')).keys).toEqual([])
        }
      })
    })

    describe('labels and lists', () => {
      it('find a record by each of its labels, whatever their characters, and by no other', async () => {
        await fc.assert(
          fc.asyncProperty(fc.uniqueArray(anyText, { maxLength: 4 }), anyText, async (labels, other) => {
            await put('key', 'labelled', { labels })
            for (const label of labels) expect((await listed(label)).keys).toEqual(['key'])
            if (!labels.includes(other)) expect((await listed(other)).keys).toEqual([])
            // The next write replaces them all, with others or with none.
            await put('key', 'relabelled', { labels: [other] })
            for (const label of labels) if (label !== other) expect((await listed(label)).keys).toEqual([])
            expect((await listed(other)).keys).toEqual(['key'])
            await put('key', 'unlabelled')
            expect((await listed(other)).keys).toEqual([])
          }),
          { numRuns: 50 },
        )
      })

      it('tell the current value and version', async () => {
        await put('key', 1, { labels: ['label'] })
        await put('key', 2, { labels: ['label'] })
        const { records, cursor } = await store.list('label')
        expect(records).toHaveLength(1)
        expect(records[0]).toMatchObject({ key: 'key', value: 2, version: await versionOf('key') })
        expect(cursor).toBeUndefined()
      })

      it('come in pages, at most as large as asked, complete and without repeats', async () => {
        let label = 0
        await fc.assert(
          fc.asyncProperty(
            fc.nat(30),
            fc.integer({ min: 1, max: 12 }),
            fc.infiniteStream(fc.nat(3)),
            async (count, limit, fates) => {
              const name = `label ${label++}`
              const keys = Array.from({ length: count }, (_, index) => `${name}, key ${index}`)
              for (const key of keys) await put(key, key, { labels: ['all', name] })
              // Some are rewritten, relabelled or gone by the time they are listed.
              const left: string[] = []
              for (const key of keys) {
                const fate = fates.next().value
                if (fate === 1) await put(key, 'rewritten', { labels: ['all', name] })
                if (fate === 2) await put(key, 'relabelled', { labels: ['all'] })
                if (fate === 3) await put(key, 'gone', { expiresAt: now })
                if (fate < 2) left.push(key)
              }
              const { keys: found, sizes } = await listed(name, limit)
              expect(found.toSorted()).toEqual(left.toSorted())
              expect(sizes.every((size) => size <= limit)).toBe(true)
            },
          ),
          { numRuns: 40 },
        )
      })

      it('miss nothing that has the label throughout, whatever is written, removed or added between two pages', async () => {
        let label = 0
        await fc.assert(
          fc.asyncProperty(
            fc.nat(25),
            fc.integer({ min: 1, max: 6 }),
            fc.infiniteStream(fc.tuple(fc.nat(30), fc.nat(3))),
            async (count, limit, changes) => {
              const name = `emptied ${label++}`
              const keys = Array.from({ length: count }, (_, index) => `${name}, key ${index}`)
              for (const key of keys) await put(key, key, { labels: [name] })
              const left = new Set(keys)
              const written = new Set<string>()
              const found: string[] = []
              let cursor: string | undefined
              do {
                const page = await store.list(name, { limit, ...(cursor !== undefined && { cursor }) })
                found.push(...page.records.map(({ key }) => key))
                cursor = page.cursor
                for (let change = 0; change < 3; change++) {
                  const [index, fate] = changes.next().value
                  const key = keys[index]
                  if (key === undefined || !left.has(key)) continue
                  if (fate === 0) await put(key, 'rewritten', { labels: [name] })
                  if (fate === 0) written.add(key)
                  if (fate === 1) await put(key, 'gone', { expiresAt: now })
                  if (fate === 2) await put(key, 'relabelled', { labels: ['another'] })
                  if (fate === 1 || fate === 2) left.delete(key)
                  if (fate === 3 && found.length < 60) await put(`${name}, more ${found.length}`, 1, { labels: [name] })
                }
              } while (cursor !== undefined)
              for (const key of left) {
                const times = found.filter((each) => each === key).length
                if (written.has(key)) expect(times).toBeGreaterThanOrEqual(1)
                else expect(times).toBe(1)
              }
            },
          ),
          { numRuns: 60 },
        )
      })

      it('have at most 100 records a page unless asked otherwise', async () => {
        for (let index = 0; index < 250; index++) await put(`key ${index}`, index, { labels: ['label'] })
        const { keys, sizes } = await listed('label')
        expect(new Set(keys).size).toBe(250)
        expect(keys).toHaveLength(250)
        expect(sizes.every((size) => size <= 100)).toBe(true)
        expect((await listed('label', 1_000)).keys).toHaveLength(250)
        expect((await listed('label', 1)).keys).toHaveLength(250)
      })

      it('leave out what has expired, on every page', async () => {
        for (let index = 0; index < 60; index++)
          await put(`key ${index}`, index, {
            labels: ['label'],
            ...(index % 3 !== 0 && { expiresAt: now + (index % 3) * 100 }),
          })
        now += 100
        expect((await listed('label', 7)).keys).toHaveLength(40)
        now += 100
        expect((await listed('label', 7)).keys).toHaveLength(20)
      })
    })
  })
}
