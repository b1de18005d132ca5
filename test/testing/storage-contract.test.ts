/**
 * The storage contract: sound stores pass all of it, each broken store fails at the clause that it breaks, and any test
 * runner runs it.
 * @module
 */
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { deflateRawSync } from 'node:zlib'
import { build } from 'esbuild'
import fc from 'fast-check'
import type { RecordStore } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it, test } from 'vitest'
import { forAll, same } from '../../src/testing/storage-contract/assert.js'
import { LONG_TEXTS } from '../../src/testing/storage-contract/texts.js'
import type { MakeStore } from '../../src/testing/storage-contract.js'
import { storageContract } from '../../src/testing/storage-contract.js'
import { BROKEN_STORES, naive } from './broken-stores.js'

/** A maker of stores in memory, which keeps them by their namespaces. */
function memory(): MakeStore {
  const stores = new Map<string, RecordStore>()
  return ({ clock, namespace }) => {
    const store = stores.get(namespace) ?? memoryStore({ clock })
    stores.set(namespace, store)
    return { store }
  }
}

const NAMES = storageContract(memory()).map(({ name }) => name)

/** A maker that counts what is done with its stores, and what is done with closed ones. */
function watched(makeStore: MakeStore) {
  const seen = { opened: 0, closed: 0, late: 0, operations: 0, namespaces: new Set<string>() }
  const make: MakeStore = async (wiring) => {
    const { store } = await makeStore(wiring)
    seen.opened++
    seen.namespaces.add(wiring.namespace)
    let open = true
    const used =
      <Asked extends unknown[], Answer>(operation: (...asked: Asked) => Answer) =>
      (...asked: Asked): Answer => {
        seen.operations++
        if (!open) seen.late++
        return operation(...asked)
      }
    const close = async (): Promise<void> => {
      await Promise.resolve()
      if (open) seen.closed++
      open = false
    }
    const { read, write, list, scan } = store
    return {
      store: {
        read: used(read),
        write: used(write),
        list: used(list),
        ...(scan !== undefined && { scan: used(scan) }),
      },
      close,
    }
  }
  return { make, seen }
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** What a case fails with, as text; undefined where it passes. */
async function failureOf(makeStore: MakeStore, begins: string, seed = 1): Promise<string | undefined> {
  const chosen = storageContract(makeStore, { seed }).filter(({ name }) => name.startsWith(begins))
  expect(chosen.map(({ name }) => name)).toHaveLength(1)
  return chosen[0]?.run().then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : `no Error: ${error}`),
  )
}

describe('a sound store passes', () => {
  for (const { name, run } of storageContract(memory())) test(`in memory, ${name}`, run)
  for (const { name, run } of storageContract(naive()())) test(`naive, ${name}`, run)

  it('without the methods that are optional', async () => {
    const make = naive()()
    const withoutScan: MakeStore = async (wiring) => {
      const { scan: _, ...store } = (await make(wiring)).store
      return { store }
    }
    const scans = storageContract(withoutScan).filter(({ name }) => name.startsWith('scan, where there is one'))
    expect(scans).toHaveLength(3)
    for (const { run } of scans) await run()
  })
})

describe('a broken store fails that', () => {
  it.each(BROKEN_STORES)('$name', async ({ maker, found }) => {
    for (const [begins, message] of Object.entries(found)) {
      const failure = await failureOf(maker(), begins)
      expect.soft([begins, failure]).toEqual([begins, expect.stringMatching(message)])
    }
  })
})

it('every case of the contract is failed by a broken store', () => {
  const failed = BROKEN_STORES.flatMap(({ found }) => Object.keys(found))
  expect(NAMES.filter((name) => !failed.some((begins) => name.startsWith(begins)))).toEqual([])
  expect(failed.filter((begins) => !NAMES.some((name) => name.startsWith(begins)))).toEqual([])
})

describe('a case', () => {
  /** Refuses to write `key 0` again at once, and takes its time for everything else. */
  function slowButFor0(): MakeStore {
    const make = memory()
    return async (wiring) => {
      const { store } = await make(wiring)
      return {
        store: {
          ...store,
          read: async (keys) => {
            if (!keys.includes('key 0')) await new Promise((resolve) => setTimeout(resolve, 1))
            return store.read(keys)
          },
          write: (key, value, options) =>
            (key !== 'key 0' || options.expected === 0) && store.write(key, value, options),
        },
      }
    }
  }

  it.each([
    { name: 'passes', maker: naive() },
    { name: 'fails', maker: BROKEN_STORES.find(({ name }) => name === 'ignores what is expected')?.maker ?? naive() },
    { name: 'fails everywhere', maker: naive({ place: () => '' }) },
    { name: 'fails while other operations are under way', maker: slowButFor0 },
  ])('closes every store once that it opened, and uses none afterwards, where it $name', async ({ maker }) => {
    const { make, seen } = watched(maker())
    for (const { run } of storageContract(make)) {
      await run().catch(() => {})
      expect(seen.closed).toBe(seen.opened)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(seen.opened).toBeGreaterThan(NAMES.length)
    expect(seen.late).toBe(0)
  })

  it('asks for namespaces that no other run ever had, of a-z, 0-9 and hyphens, of at most 40 characters', async () => {
    const runs = [1, 2].map(() => watched(memory()))
    for (const { make } of runs) {
      const cases = storageContract(make, { numRuns: 1 })
      for (const { run } of [...cases, ...cases]) await run()
    }
    const all = runs.flatMap(({ seen }) => [...seen.namespaces])
    // The case of namespaces has four more of its own, one of scans has two, and each of expiry one more, for its other start.
    const more = 4 + 2 + NAMES.filter((name) => name.startsWith('expiry:')).length
    expect(all).toHaveLength(2 * 2 * (NAMES.length + more))
    expect(new Set(all).size).toBe(all.length)
    for (const namespace of all) expect(namespace).toMatch(/^[a-z0-9-]{1,40}$/)
  })

  it('makes at most some 2,000 round trips', async () => {
    for (const [index, name] of NAMES.entries()) {
      const { make, seen } = watched(memory())
      await storageContract(make)[index]?.run()
      expect.soft([name, seen.operations < 2_500, seen.operations > 0]).toEqual([name, true, true])
    }
  })

  it('about expiry begins decades behind the system’s clock and decades ahead of it, any other one ahead', async () => {
    const decades = 20 * 31_536_000
    const today = Date.now() / 1_000
    for (const [index, name] of NAMES.entries()) {
      const starts = new Map<string, number>()
      const make = memory()
      const makeStore: MakeStore = (wiring) => {
        if (!starts.has(wiring.namespace)) starts.set(wiring.namespace, wiring.clock())
        return make(wiring)
      }
      await storageContract(makeStore, { numRuns: 1 })[index]?.run()
      const sides = new Set([...starts.values()].map((start) => Math.sign(Math.trunc((start - today) / decades))))
      expect.soft([name, ...sides]).toEqual([name, ...(name.startsWith('expiry:') ? [-1, 1] : [1])])
    }
  })

  it('has long texts of 1,000 bytes each, all different, which no engine can compress', () => {
    expect(new Set(LONG_TEXTS).size).toBe(4)
    for (const text of LONG_TEXTS) {
      expect([text.length, Buffer.byteLength(text)]).toEqual([1_000, 1_000])
      // Six bits for each of 62 letters and digits.
      expect(deflateRawSync(text).length).toBeGreaterThan(740)
    }
  })

  it('may run at the same time as all others', async () => {
    const failed = await Promise.allSettled(storageContract(naive()()).map(({ run }) => run()))
    expect(failed.filter(({ status }) => status === 'rejected')).toEqual([])
  })

  it('fails where a store cannot be made, read or closed, with what was thrown', async () => {
    const mistakes: readonly (readonly [string, MakeStore])[] = [
      ['cannot be made', () => Promise.reject(new Error('cannot be made'))],
      [
        'cannot be read',
        (wiring) => ({ store: { ...memoryStore({ clock: wiring.clock }), read: () => thrown('cannot be read') } }),
      ],
      [
        'cannot be closed',
        (wiring) => ({ store: memoryStore({ clock: wiring.clock }), close: () => thrown('cannot be closed') }),
      ],
    ]
    for (const [message, make] of mistakes) expect(await failureOf(make, 'write: with expected 0')).toBe(message)
  })

  it('fails in words where answers have another form', async () => {
    const answers: readonly (readonly [string, RegExp, Partial<Record<keyof RecordStore, () => unknown>>])[] = [
      ['write: with expected 0', /a write answers true or false, but it answered 1/, { write: () => 1 }],
      ['write: with expected 0', /one entry a key, but of 1 keys it gave undefined/, { read: () => undefined }],
      ['write: with another', /what is absent is undefined, but one was null/, { read: () => [null] }],
      ['list: tells', /a list answers with records, but it answered undefined/, { list: () => undefined }],
      ['list: tells', /a cursor is a text, but one was null/, { list: () => ({ records: [], cursor: null }) }],
      ['list: comes in pages', /a list ends, but/, { list: () => ({ records: [], cursor: 'again' }) }],
    ]
    for (const [begins, message, answer] of answers) {
      const make: MakeStore = (wiring) => ({
        store: { ...memoryStore({ clock: wiring.clock }), ...answer } as RecordStore,
      }) // wrong on purpose
      expect(await failureOf(make, begins)).toMatch(message)
    }
  })
})

function thrown(message: string): never {
  throw new Error(message)
}

describe('random examples', () => {
  const maker = BROKEN_STORES.find(({ name }) => name === 'keeps values as well-formed UTF-8')?.maker ?? naive()
  const PROPERTY = 'read: gives what was written, any JSON'

  it('come again with the seed that a failure tells, and are others with another one', async () => {
    const first = await failureOf(maker(), PROPERTY, 7)
    expect(first).toMatch(/\nwith .*, shrunk \d+ times, seed 7, path \d/)
    expect(await failureOf(maker(), PROPERTY, 7)).toBe(first)
    expect(await failureOf(maker(), PROPERTY, 8)).not.toBe(first)
  })

  it('have a seed of their own by default', async () => {
    const seeds = new Set<string | undefined>()
    for (let time = 0; time < 3; time++)
      for (const { name, run } of storageContract(maker()))
        if (name.startsWith(PROPERTY)) await run().catch((error) => seeds.add(/seed (-?\d+)/.exec(error.message)?.[1]))
    expect(seeds).not.toContain(undefined)
    expect(seeds.size).toBe(3)
  })

  it('are as many as asked for, 50 by default', async () => {
    for (const [options, count] of [
      [{}, 50],
      [{ numRuns: 3 }, 3],
    ] as const) {
      const { make, seen } = watched(memory())
      await storageContract(make, options)
        .find(({ name }) => name.startsWith(PROPERTY))
        ?.run()
      // Each reads, writes and reads again.
      expect(seen.operations).toBe(3 * count)
    }
  })

  it('are made smaller 200 times at most once one failed, and the failure of the smallest is told', async () => {
    let tried = 0
    // Each number shrinks by itself, so that there is much to try.
    const numbers = fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 60, maxLength: 60 })
    const failure = await forAll({ seed: 1, numRuns: 1 }, numbers, async (each) => {
      tried++
      same(each.includes(0), true, 'a zero is there')
    }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ message: expect.stringMatching(/a zero is there, but instead of true.*\nwith /) })
    // The first one, and what came of it.
    expect(tried).toBe(1 + 200)
  })

  it.each([
    ['numRuns', { numRuns: 0 }],
    ['numRuns', { numRuns: 1.5 }],
    ['seed', { seed: 0.5 }],
    ['seed', { seed: '1' }],
    ['runs', { runs: 5 }],
    ['toString', { toString: 5 }],
  ])('refuse a wrong or unknown option %s: %o', (name, options) => {
    const wrong = () => storageContract(memory(), options as object) // on purpose
    expect(wrong).toThrow(new RegExp(`^grantwell: storageContract: (?:the|there is no) option ${name}\\b`))
    expect(wrong).toThrow(expect.objectContaining({ code: 'ERR_CONFIGURATION' }))
  })

  it('do not look at what every object inherits', () => {
    Object.assign(Object.prototype, { numRuns: 0, runs: 1 })
    try {
      expect(storageContract(memory(), {})).toHaveLength(NAMES.length)
    } finally {
      for (const name of ['numRuns', 'runs']) Reflect.deleteProperty(Object.prototype, name)
    }
  })
})

it('runs under node:test as it is', async () => {
  const directory = join(ROOT, 'temp/storage-contract')
  const file = join(directory, `${process.pid}.test.mjs`)
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import { test } from 'node:test'
        import { memoryStore } from './src/storage/memory.js'
        import { storageContract } from './src/testing/storage-contract.js'
        const stores = new Map()
        const makeStore = ({ clock, namespace }) => {
          const store = stores.get(namespace) ?? memoryStore({ clock })
          stores.set(namespace, store)
          return { store }
        }
        for (const { name, run } of storageContract(makeStore)) test(name, run)`,
      resolveDir: ROOT,
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    external: ['node:*', 'fast-check'],
  })
  mkdirSync(directory, { recursive: true })
  writeFileSync(file, outputFiles[0]?.contents ?? '')
  try {
    const run = promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', file])
    // A failed run has its output, too.
    const { stdout }: { readonly stdout: string } = await run.catch((error) => error)
    expect(stdout).toContain(`\n# pass ${NAMES.length}\n`)
    expect(stdout).toContain('\n# fail 0\n')
    for (const name of NAMES) expect(stdout).toContain(name)
  } finally {
    rmSync(file)
  }
})

test('a maker that gives the store itself, or one without a method, is told so in every case', async () => {
  const store = memoryStore()
  const { list: _, ...incomplete } = store
  for (const made of [store, undefined, null, {}, { store: incomplete }])
    for (const { run } of storageContract(() => made as never)) // as a program without types would
      await expect(run()).rejects.toThrow(/a maker gives \{ store, close\? \}, and a store has read, write and list/)
})
