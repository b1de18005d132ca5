/**
 * The tools of the cases of the contract: stores whose answers are checked, and the steps that several cases share.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { JsonValue, RecordPage, RecordStore, StoredRecord, WriteOptions } from '../../storage/record-store.js'
import type { VirtualClock } from '../virtual-clock.js'
import type { CheckedAnswers, Scan } from './answers.js'
import { checkedStore, PAGES, scanOf } from './answers.js'
import type { Examples } from './assert.js'
import { demand, fail, same, show } from './assert.js'

/** The surroundings of a store under test. */
export interface StoreWiring {
  /** The clock that decides what has expired. */
  readonly clock: () => Seconds
  /** A name that keeps the store's records apart from all others: 1 to 40 characters of `a-z`, `0-9` and `-`. */
  readonly namespace: string
}

/** A store to be tested, a connection of its own to its engine where there is such a thing. */
export interface TestedStore {
  /** The store to test. */
  readonly store: RecordStore
  /** Ends what the store holds open; its records stay. Called once, after a failure too. */
  readonly close?: (() => void | Promise<void>) | undefined
}

/**
 * Makes a store. A case asks for several of one namespace, at once and after another was closed: they have the same
 * records. A store that lives in memory passes if its maker keeps it by its namespace. No case asks for a namespace that
 * was used before, so nothing need be emptied in between.
 *
 * The clock stands still, or jumps by a second or by thousands of years. It begins at 4,000,000,000 (in the year 2096), and
 * for what is about expiry at 1,000,000,000 (in 2001) too, so it is decades ahead of the engine's own and decades behind it,
 * whatever today's date is. So an engine that forgets records by its own clock must not be what decides: it counts what is
 * left from the write on, leaves a margin of minutes, and the store compares `expiresAt` with the given clock.
 */
export type MakeStore = (wiring: StoreWiring) => TestedStore | Promise<TestedStore>

/** The tools of one case. */
export interface Bench {
  readonly clock: VirtualClock
  /** The time at which the clock starts. */
  readonly start: Seconds
  readonly namespace: string
  /** A first connection. */
  readonly store: Connection
  /** Makes another one, of the same namespace by default. */
  readonly connect: (namespace?: string) => Promise<Connection>
  readonly examples: Examples
}

/** A store whose answers are checked, and what cases do with one again and again. */
export interface Connection extends CheckedAnswers {
  /** The pages of a scan; undefined for a store without one. */
  readonly scan: Scan | undefined
  readonly get: (key: string) => Promise<StoredRecord | undefined>
  /** The version of a record, 0 for none: what a write of it is to expect. */
  readonly version: (key: string) => Promise<number>
  /** Writes where there is nothing. */
  readonly create: (key: string, value: JsonValue, options?: Omit<WriteOptions, 'expected'>) => Promise<void>
  /** Writes over whatever there is. */
  readonly put: (key: string, value: JsonValue, options?: Omit<WriteOptions, 'expected'>) => Promise<void>
  /** All keys of a label, page by page. */
  readonly keys: (label: string, limit?: number) => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

/** Makes a connection to a store under test. */
export function connectionTo(tested: TestedStore): Connection {
  const { store, close } = tested ?? ({} as TestedStore) // a maker without types may give anything
  for (const method of ['read', 'write', 'list'] as const)
    if (typeof store?.[method] !== 'function')
      fail(
        'a maker gives { store, close? }, and a store has read, write and list',
        `${method} was ${show(store?.[method])}`,
      )
  const checked = checkedStore(store)
  const { read, write } = checked
  const get = async (key: string): Promise<StoredRecord | undefined> => (await read([key]))[0]
  const version = async (key: string): Promise<number> => (await get(key))?.version ?? 0
  let closed = false
  return {
    ...checked,
    scan: scanOf(store),
    get,
    version,
    create: async (key, value, options = {}) => {
      const written = await write(key, value, { ...options, expected: 0 })
      demand(written, 'a write that expects nothing succeeds where nothing is', `for ${show(key)} it was refused`)
    },
    put: async (key, value, options = {}) => {
      const expected = await version(key)
      const written = await write(key, value, { ...options, expected })
      demand(written, 'a write succeeds that expects the version just read', `for ${show(key)} it was refused`)
    },
    keys: (label, limit) => keysOf(checked, label, limit),
    close: async () => {
      if (closed) return
      closed = true
      await close?.()
    },
  }
}

/** Lists all keys of a label, page by page, and compares each record with a read of it. */
async function keysOf(
  { read, list }: Pick<Connection, 'read' | 'list'>,
  label: string,
  limit?: number,
): Promise<readonly string[]> {
  const found = new Set<string>()
  for await (const { records } of pages((from) => list(label, limit === undefined ? from : { limit, ...from }))) {
    for (const { key } of records) {
      demand(!found.has(key), 'a list has no record twice', `it had ${show(key)} twice`)
      found.add(key)
    }
    const current = await read(records.map(({ key }) => key))
    same(records.map(essence), current.map(essence), 'a list tells the values and versions that a read gives')
  }
  return [...found]
}

/** Gives the pages of a list, one after the other. */
export async function* pages(
  list: (from: { readonly cursor?: string }) => Promise<RecordPage>,
): AsyncGenerator<RecordPage> {
  let page = await list({})
  yield page
  for (let count = 1; page.cursor !== undefined; count++) {
    demand(count < PAGES, 'a list ends', `it went on after ${PAGES} pages`)
    page = await list({ cursor: page.cursor })
    yield page
  }
}

/** Returns the parts of a record that the contract names; a store may give more with it. */
export function essence(record: StoredRecord | undefined): StoredRecord | undefined {
  return record && { value: record.value, version: record.version }
}

/** Tests one clause; rejects with what the contract demands and what came instead. */
export type Clause = (bench: Bench) => Promise<void>

/** Cases by name. */
export type Cases = { readonly [name: string]: Clause }

/** In the year 2001, in seconds since the epoch: behind the own clock of every engine. */
export const LONG_PAST = 1_000_000_000

/** In the year 2096: ahead of it. */
export const FAR_AHEAD = 4_000_000_000

/** The expiry of a removal: it has passed wherever a clock starts. */
const PASSED = LONG_PAST

export const YEAR = 31_536_000

/** Operations of a case that are under way at the same time, at most. */
export const AT_ONCE = 50

/** Does a job for each of many, up to 50 at a time. */
export async function together<Item>(
  items: readonly Item[],
  job: (item: Item, index: number) => void | Promise<void>,
): Promise<void> {
  const waiting = items.entries()
  let failed = false
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      if (failed) return
      try {
        await job(item, index)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  // All come to their end before a failure is told, since connections are closed then.
  const ends = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** Lets many write or remove one record at the same time, all expecting the same version. */
export async function race(connections: readonly Connection[], writers: number, key: string): Promise<void> {
  const expected = await at(connections, 0).version(key)
  const removes = (writer: number): boolean => expected !== 0 && writer % 4 === 3
  const winners: number[] = []
  await together(numbers(writers), async (writer) => {
    const options = { expected, ...(removes(writer) && { expiresAt: PASSED }) }
    if (await at(connections, writer).write(key, writer, options)) winners.push(writer)
  })
  const [winner = 0] = winners
  const clause = `one of ${writers} parallel writes that expect version ${expected} succeeds`
  demand(winners.length === 1, clause, `${winners.length} did`)
  for (const connection of connections) {
    const wanted = removes(winner) ? undefined : winner
    same((await connection.get(key))?.value, wanted, 'the record is as the write left it that succeeded')
  }
}

/** Writes a record of each key, changes some, removes some, and finds each as it was left. */
export async function keptApart(store: Connection, keys: readonly string[]): Promise<void> {
  const wanted = new Map<string, JsonValue>()
  const check = async (): Promise<void> => {
    const values = await valuesOf(store, keys)
    for (const [index, key] of keys.entries())
      same(values[index], wanted.get(key), `the record of the key ${show(key)} is its own`)
  }
  await together(keys, async (key, index) => {
    await store.create(key, index)
    wanted.set(key, index)
  })
  await check()
  await together(keys, async (key, index) => {
    if (index % 2 !== 0) return
    await store.put(key, ['changed', index])
    wanted.set(key, ['changed', index])
  })
  await check()
  await together(keys, async (key, index) => {
    if (index % 3 !== 0) return
    await store.put(key, null, { expiresAt: PASSED })
    wanted.delete(key)
  })
  await check()
  await together(keys, (key) => store.put(key, null, { expiresAt: PASSED }))
}

/** Demands that a write is refused. */
export async function refused(store: Connection, key: string, options: WriteOptions, clause: string): Promise<void> {
  demand(!(await store.write(key, 'refused', options)), clause, 'it succeeded')
}

export async function valuesOf(
  store: Connection,
  keys: readonly string[],
): Promise<readonly (JsonValue | undefined)[]> {
  return (await store.read(keys)).map((record) => record?.value)
}

export function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index)
}

export function numbered(count: number, name: string): readonly string[] {
  return numbers(count).map((index) => `${name} ${index}`)
}

/** Returns an entry of a list that is not empty; an index beyond its end starts again. */
export function at<Item>(items: readonly Item[], index: number): Item {
  return items[index % items.length] as Item // it is not empty
}

/** Returns a random whole number below 2^32, for names. */
export function random(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
}
