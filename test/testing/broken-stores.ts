/**
 * Stores with one thing wrong each, and the cases of the contract that must find it. They are made of a naive store,
 * which keeps the contract and has a part for every decision; a broken one has another part there, or a wrapper around.
 * @module
 */
import type { JsonValue, RecordPage, RecordStore, ScannedRecord, ScanPage, StoredRecord } from 'grantwell'
import type { MakeStore, StoreWiring } from '../../src/testing/storage-contract.js'

/** A store that breaks the contract. */
export interface BrokenStore {
  /** What is wrong. */
  readonly name: string
  /** How the names of the cases begin that must fail, and what their messages have. */
  readonly found: { readonly [name: string]: RegExp }
  /** A maker with an engine of its own. */
  readonly maker: () => MakeStore
}

interface Row extends StoredRecord {
  readonly namespace: string
  readonly key: string
  readonly expiresAt: number
  readonly labels: readonly string[]
  /** The order in which rows came into being. */
  readonly sequence: number
}

/** What all connections of a naive store share. */
interface Engine {
  readonly rows: Map<string, Row>
  count: number
}

/** The decisions of a naive store. `before` is what a write finds, `row` is that or what is left of an expired record. */
interface Parts {
  /** The name under which the engine keeps a record. */
  readonly place: (namespace: string, key: string) => string
  /** A value as the engine keeps it. */
  readonly keep: (value: JsonValue) => JsonValue
  /** Whether a record is there for a read. */
  readonly readable: (row: Row, now: number) => boolean
  /** Whether a record is there for a list. */
  readonly listable: (row: Row, now: number) => boolean
  /** Whether a record is there in the compare of a write. */
  readonly countable: (row: Row, now: number) => boolean
  readonly fits: (stored: number, expected: number) => boolean
  /** Whether a write leaves a record. */
  readonly leaves: (expiresAt: number, now: number) => boolean
  readonly version: (engine: Engine, before: Row | undefined, value: JsonValue) => number
  readonly expiry: (before: Row | undefined, expiresAt: number, now: number) => number
  readonly labels: (row: Row | undefined, labels: readonly string[]) => readonly string[]
  /** What is left of a record by a write that is refused. */
  readonly refused: (before: Row, expiresAt: number, expected: number) => Row
  /** The rows that have a label, in the order of a list. */
  readonly find: (rows: readonly Row[], label: string) => readonly Row[]
  readonly page: (rows: readonly Row[], limit: number | undefined, cursor: string | undefined) => RecordPage
  /** The rows of all namespaces that a scan goes through. */
  readonly scanned: (rows: readonly Row[], namespace: string, now: number) => readonly Row[]
  readonly scanPage: (rows: readonly Row[], limit: number, cursor: string) => ScanPage
}

const SOUND: Parts = {
  place: (namespace, key) => JSON.stringify([namespace, key]),
  keep: (value) => value,
  readable: (row, now) => now < row.expiresAt,
  listable: (row, now) => now < row.expiresAt,
  countable: (row, now) => now < row.expiresAt,
  fits: (stored, expected) => stored === expected,
  leaves: (expiresAt, now) => now < expiresAt,
  version: (engine) => ++engine.count,
  expiry: (_, expiresAt) => expiresAt,
  labels: (_, labels) => labels,
  refused: (before) => before,
  find: (rows, label) =>
    rows.filter(({ labels }) => labels.includes(label)).toSorted((a, b) => a.sequence - b.sequence),
  page: (rows, limit = 100, cursor = '0') => {
    const left = rows.filter(({ sequence }) => sequence > Number(cursor))
    const records = left.slice(0, limit)
    const last = records.at(-1)
    return left.length > limit && last !== undefined ? { records, cursor: String(last.sequence) } : { records }
  },
  scanned: (rows, namespace, now) => rows.filter((row) => row.namespace === namespace && now < row.expiresAt),
  scanPage: (rows, limit, cursor) => {
    const left = rows.filter(({ sequence }) => sequence > Number(cursor)).toSorted((a, b) => a.sequence - b.sequence)
    const page = left.slice(0, limit)
    const last = page.at(-1)
    const records = page.map(asScanned)
    return left.length > limit && last !== undefined ? { records, cursor: String(last.sequence) } : { records }
  },
}

/** A row as a scan tells it. */
function asScanned({ key, value, version, expiresAt, labels }: Row): ScannedRecord {
  return { key, value, version, labels: [...new Set(labels)], ...(Number.isFinite(expiresAt) && { expiresAt }) }
}

function naiveStore(engine: Engine, parts: Parts, { clock, namespace }: StoreWiring): RecordStore {
  const { rows } = engine
  return {
    read: async (keys) => {
      const now = clock()
      return keys.map((key) => {
        const row = rows.get(parts.place(namespace, key))
        return row !== undefined && parts.readable(row, now) ? row : undefined
      })
    },
    write: async (key, value, { expected, expiresAt = Number.POSITIVE_INFINITY, labels = [] }) => {
      const now = clock()
      const place = parts.place(namespace, key)
      const row = rows.get(place)
      const before = row !== undefined && parts.countable(row, now) ? row : undefined
      if (!parts.fits(before?.version ?? 0, expected)) {
        if (before !== undefined) rows.set(place, parts.refused(before, expiresAt, expected))
        return false
      }
      rows.delete(place)
      if (!parts.leaves(expiresAt, now)) return true
      rows.set(place, {
        namespace,
        key,
        value: parts.keep(value),
        version: parts.version(engine, before, value),
        expiresAt: parts.expiry(before, expiresAt, now),
        labels: parts.labels(row, labels),
        sequence: before?.sequence ?? ++engine.count,
      })
      return true
    },
    list: async (label, { limit, cursor } = {}) => {
      const now = clock()
      const mine = [...rows.values()].filter((row) => row.namespace === namespace && parts.listable(row, now))
      return parts.page(parts.find(mine, label), limit, cursor)
    },
    scan: async ({ limit = 100, cursor = '0' } = {}) =>
      parts.scanPage(parts.scanned([...rows.values()], namespace, clock()), limit, cursor),
  }
}

/** Naive stores over one engine, with other parts where they are given. */
export function naive(parts: Partial<Parts> = {}): () => MakeStore {
  return wrapped((store) => store, parts)
}

/** Naive stores over one engine, each with a wrapper of its own. */
function wrapped(
  wrap: (store: RecordStore, wiring: StoreWiring) => RecordStore,
  parts: Partial<Parts> = {},
): () => MakeStore {
  return () => {
    const engine: Engine = { rows: new Map(), count: 0 }
    return (wiring) => ({ store: wrap(naiveStore(engine, { ...SOUND, ...parts }, wiring), wiring) })
  }
}

/** Naive stores that tell each record of a scan in another way. */
function scanning(tell: (record: ScannedRecord) => ScannedRecord): () => MakeStore {
  return naive({
    scanPage: (...asked) => {
      const page = SOUND.scanPage(...asked)
      return { ...page, records: page.records.map(tell) }
    },
  })
}

/** Lets everything else that waits go first. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

const versionOf = async (store: RecordStore, key: string): Promise<number> => (await store.read([key]))[0]?.version ?? 0

/** Compares, waits, and writes over whatever there is by then. */
const writeLate =
  (store: RecordStore): RecordStore['write'] =>
  async (key, value, options) => {
    if ((await versionOf(store, key)) !== options.expected) return false
    await pause()
    return store.write(key, value, { ...options, expected: await versionOf(store, key) })
  }

/** A text as an engine has it that keeps well-formed UTF-8 alone. */
const utf8 = (text: string): string => new TextDecoder().decode(new TextEncoder().encode(text))

/** A text as an engine has it whose texts end with a NUL. */
const cString = (text: string): string => text.split('\u0000')[0] ?? ''

/** A value with each text and name in it changed. */
function mapTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change))
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [change(name), mapTexts(each, change)]))
}

/** A copy made by assignment, which takes `__proto__` for something else. */
function assigned(value: JsonValue): JsonValue {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(assigned)
  const copy: { [name: string]: JsonValue } = {}
  for (const [name, each] of Object.entries(value)) copy[name] = assigned(each)
  return copy
}

/** Whether a time has passed by the system's clock. */
const hasPassed = (time: number): boolean => Date.now() / 1000 >= time

/** One wrong thing each, grouped as the contract is. */
export const BROKEN_STORES: readonly BrokenStore[] = [
  // read
  {
    name: 'loses every 50th write that it acknowledged',
    found: {
      'read: gives what was written from the moment': /whoever reads after a write was acknowledged finds it/,
      'write: loses none of many increments': /120 increments/,
      'write: lets parallel writes': /are all kept/,
    },
    maker: wrapped((store) => {
      let writes = 0
      return { ...store, write: (...write) => (++writes % 50 === 0 ? true : store.write(...write)) }
    }),
  },
  {
    name: 'acknowledges before it writes',
    found: { 'read: gives what was written from the moment': /after a write was acknowledged finds it/ },
    maker: wrapped((store) => ({
      ...store,
      write: async (key, value, options) => {
        if ((await versionOf(store, key)) !== options.expected) return false
        setTimeout(() => store.write(key, value, options), 1)
        return true
      },
    })),
  },
  {
    name: 'answers a batch in the order of its keys',
    found: { 'read: answers in the order': /answers in that order/, 'read: takes 1,000': /in the order asked/ },
    maker: wrapped((store) => ({ ...store, read: (keys) => store.read(keys.toSorted()) })),
  },
  {
    name: 'leaves out absent keys of a batch',
    found: { 'read: answers in the order': /one entry a key/, 'read: takes 1,000': /one entry a key/ },
    maker: wrapped((store) => ({
      ...store,
      read: async (keys) => (await store.read(keys)).filter((record) => record !== undefined),
    })),
  },
  {
    name: 'answers a key once that is asked twice',
    found: { 'read: answers in the order': /of \d keys it gave/ },
    maker: wrapped((store) => ({ ...store, read: (keys) => store.read([...new Set(keys)]) })),
  },
  {
    name: 'reads 500 keys at most',
    found: { 'read: takes 1,000': /of 1000 keys it gave/ },
    maker: wrapped((store) => ({ ...store, read: (keys) => store.read(keys.slice(0, 500)) })),
  },
  {
    name: 'reads a value and its version one after the other',
    found: { 'read: gives each value with its own version': /a value and its own version/ },
    maker: wrapped((store) => ({
      ...store,
      read: async (keys) => {
        const values = await store.read(keys)
        await pause()
        const versions = await store.read(keys)
        return values.map((record, index) => record && { ...record, version: versions[index]?.version ?? 1 })
      },
    })),
  },
  {
    name: 'gives versions that are no whole numbers',
    found: { 'read: gives what was written, any JSON': /a version from 1 to 2\^53 - 1/ },
    maker: naive({ version: (engine) => ++engine.count + 0.5 }),
  },

  // write
  {
    name: 'waits between the compare and the write',
    found: {
      'write: lets one of many writers': /one of 20 parallel writes .* succeeds, but 20 did/,
      'write: loses none of many increments': /120 increments/,
    },
    maker: wrapped((store) => ({ ...store, write: writeLate(store) })),
  },
  {
    name: 'compares and writes in one, but in each connection alone',
    found: {
      'write: lets one of many writers': /one of 20 parallel writes .* succeeds, but \d did/,
      'write: loses none of many increments': /120 increments/,
    },
    maker: wrapped((store) => {
      const write = writeLate(store)
      let last: unknown
      return {
        ...store,
        write: (...asked) => {
          const mine = Promise.resolve(last).then(() => write(...asked))
          last = mine
          return mine
        },
      }
    }),
  },
  {
    name: 'refuses a write while another one is under way',
    found: {
      'write: lets parallel writes': /for "key \d+" it was refused/,
    },
    maker: wrapped((store) => {
      let busy = false
      return {
        ...store,
        write: async (...write) => {
          if (busy) return false
          busy = true
          await pause()
          busy = false
          return store.write(...write)
        },
      }
    }),
  },
  {
    name: 'ignores what is expected',
    found: {
      'write: with expected 0': /refused where a record is, but it succeeded/,
      'write: with another version': /is refused where the version is/,
      'write: where nothing is': /is refused where nothing is, but it succeeded/,
    },
    maker: naive({ fits: () => true }),
  },
  {
    name: 'takes expected 0 for any',
    found: { 'write: with expected 0': /refused where a record is, but it succeeded/ },
    maker: naive({ fits: (stored, expected) => expected === 0 || stored === expected }),
  },
  {
    name: 'ignores what is expected of a record that is absent',
    found: { 'write: where nothing is': /is refused where nothing is, but it succeeded/ },
    maker: naive({ fits: (stored, expected) => stored === 0 || stored === expected }),
  },
  {
    name: 'takes an older version for the stored one',
    found: { 'write: with another version': /is refused where the version is/ },
    maker: naive({ fits: (stored, expected) => stored === expected || (expected > 0 && expected < stored) }),
  },
  {
    name: 'takes the labels of a write that it refuses',
    found: { 'write: with another version': /a refused write changes (nothing|no label)|but it succeeded/ },
    maker: wrapped((store) => ({
      ...store,
      write: async (key, value, options) => {
        if (await store.write(key, value, options)) return true
        const record = (await store.read([key]))[0]
        if (record) await store.write(key, record.value, { expected: record.version, labels: options.labels })
        return false
      },
    })),
  },
  {
    name: 'loses the labels of a record when it refuses a write',
    found: {
      'write: with expected 0': /a refused write leaves the labels that there were/,
      'write: with another version': /a refused write leaves the labels that there were/,
      'expiry: holds for a write too': /a refused write leaves the labels that there were/,
      'expiry: is not moved': /before it, but instead of \["key"\] came \[\]/,
      'expiry: that has passed': /a refused removal leaves the labels that there were/,
    },
    maker: naive({ refused: (before) => ({ ...before, labels: [] }) }),
  },
  {
    name: 'keeps the version where the value stays the same',
    found: { 'write: gives another version every time': /every write gives another version/ },
    maker: naive({ version: (engine, before, value) => (before?.value === value ? before.version : ++engine.count) }),
  },
  {
    name: 'begins versions anew after a record was removed or expired',
    found: { 'write: never gives a version again': /no version comes again for a key/ },
    maker: naive({ version: (_, before) => (before?.version ?? 0) + 1 }),
  },
  {
    name: 'counts versions in each connection',
    found: { 'write: never gives a version again': /no version comes again for a key/ },
    maker: () => {
      const engine: Engine = { rows: new Map(), count: 0 }
      return (wiring) => {
        let versions = 0
        return { store: naiveStore(engine, { ...SOUND, version: () => ++versions }, wiring) }
      }
    },
  },
  {
    name: 'keeps keys of the same length in one place',
    found: { 'write: changes no record of another key': /does not change/ },
    maker: naive({ place: (namespace, key) => `${namespace} ${key.length}` }),
  },

  // keys
  {
    name: 'takes control characters out of keys',
    found: { 'keys: may hold any character': /for "a.*" it was refused/ },
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
    maker: naive({ place: (namespace, key) => `${namespace}:${key.replaceAll(/[\u0001-\u001f]/g, '')}` }),
  },
  {
    name: 'ends a key at a NUL',
    found: { 'keys: stay apart': /for "key(\\u0000)*" it was refused/ },
    maker: naive({ place: (namespace, key) => `${namespace}:${cString(key)}` }),
  },
  {
    name: 'keeps keys as well-formed UTF-8',
    found: { 'keys: stay apart': /for "(\\ud\w\w\w|\ufffd)+" it was refused/ },
    maker: naive({ place: (namespace, key) => `${namespace}:${utf8(key)}` }),
  },
  {
    name: 'compares keys without their case',
    found: { 'keys: stay apart': /for "K\w*" it was refused/i },
    maker: naive({ place: (namespace, key) => `${namespace}:${key.toUpperCase()}` }),
  },
  {
    name: 'compares keys in their composed form',
    found: { 'keys: stay apart': /it was refused/ },
    maker: naive({ place: (namespace, key) => `${namespace}:${key.normalize('NFC')}` }),
  },
  {
    name: 'compares keys without blanks at their end',
    found: { 'keys: stay apart': /for "key *" it was refused/ },
    maker: naive({ place: (namespace, key) => `${namespace}:${key.replace(/ +$/, '')}` }),
  },
  {
    name: 'keeps records in a plain object',
    found: { 'keys: may be named like': /what is absent is undefined/ },
    maker: wrapped((store) => {
      const plain: { readonly [name: string]: StoredRecord } = {}
      return {
        ...store,
        read: async (keys) => (await store.read(keys)).map((found, at) => found ?? plain[keys[at] ?? '']),
      }
    }),
  },
  {
    name: 'cuts keys at 255 characters',
    found: { 'keys: may have 1,000': /it was refused/ },
    maker: naive({ place: (namespace, key) => `${namespace}:${key.slice(0, 255)}` }),
  },

  // values
  {
    name: 'keeps values as well-formed UTF-8',
    found: {
      'read: gives what was written, any JSON': /gives the value that was written[\s\S]*seed \d+, path/,
      'values: may have any shape': /instead of "\\ud800" came/,
      'values: may hold any character': /gives the value that was written/,
    },
    maker: naive({ keep: (value) => mapTexts(value, utf8) }),
  },
  {
    name: 'ends a text at a NUL',
    found: {
      'values: may have any shape': /instead of "\\u0000" came ""/,
      'values: may hold any character': /instead of/,
    },
    maker: naive({ keep: (value) => mapTexts(value, cString) }),
  },
  {
    name: 'copies values by assignment',
    found: { 'values: may have any shape': /__proto__/, 'values: may hold any character': /instead of/ },
    maker: naive({ keep: assigned }),
  },
  {
    name: 'takes the value null for no record',
    found: { 'values: may have any shape': /instead of null came undefined/ },
    maker: naive({ readable: (row) => row.value !== null }),
  },
  {
    name: 'cuts texts at 1,000,000 characters',
    found: { 'values: may have 1,400,000': /gives a large value back whole/ },
    maker: naive({ keep: (value) => mapTexts(value, (text) => text.slice(0, 1_000_000)) }),
  },
  {
    name: 'writes into the value that it holds',
    found: { 'values: belong to nobody': /does not change a value that it was handed/ },
    maker: wrapped((store) => ({
      ...store,
      write: async (key, value, options) => {
        const held = (await store.read([key]))[0]?.value
        const both = held instanceof Object && value instanceof Object
        return store.write(key, both ? Object.assign(held, value) : value, options)
      },
    })),
  },
  {
    name: 'marks the values that it is handed',
    found: { 'values: belong to nobody': /not extensible|read only/ },
    maker: wrapped((store) => ({
      ...store,
      write: (key, value, options) =>
        store.write(key, value instanceof Object ? Object.assign(value, { id: key }) : value, options),
    })),
  },

  // expiry
  {
    name: 'lets records expire a second late',
    found: { 'expiry: is to the second': /not there at the second at which it expires/ },
    maker: naive({ readable: (row, now) => now <= row.expiresAt, listable: (row, now) => now <= row.expiresAt }),
  },
  {
    name: 'lets records expire a second early',
    found: { 'expiry: is to the second': /there a second before it expires/ },
    maker: naive({ readable: (row, now) => now < row.expiresAt - 1, listable: (row, now) => now < row.expiresAt - 1 }),
  },
  {
    name: 'compares with what has expired',
    found: {
      'expiry: holds for a write too': /does not count in a write once it expired/,
      'write: where nothing is': /is refused where nothing is/,
    },
    maker: naive({ countable: () => true }),
  },
  {
    name: 'does not compare with what is in its last second',
    found: { 'expiry: holds for a write too': /counts in a write until it expires/ },
    maker: naive({ countable: (row, now) => now < row.expiresAt - 1 }),
  },
  {
    name: 'waits between the compare and the write where a record has expired, and nowhere else',
    found: {
      'expiry: lets one of many writers': /one of 20 parallel writes that expect version 0 succeeds, but 20 did/,
    },
    maker: () => {
      const engine: Engine = { rows: new Map(), count: 0 }
      return (wiring) => {
        const store = naiveStore(engine, SOUND, wiring)
        const late = writeLate(store)
        const hasExpired = (key: string): boolean =>
          wiring.clock() >= (engine.rows.get(SOUND.place(wiring.namespace, key))?.expiresAt ?? Number.POSITIVE_INFINITY)
        return { store: { ...store, write: (key, ...write) => (hasExpired(key) ? late : store.write)(key, ...write) } }
      }
    },
  },
  {
    name: 'puts the expiry off when it refuses a write',
    found: { 'expiry: is not moved': /from 100 to (101|1000), at it/ },
    maker: naive({
      refused: (before, expiresAt) => ({
        ...before,
        expiresAt: expiresAt < Number.POSITIVE_INFINITY ? Math.max(before.expiresAt, expiresAt) : before.expiresAt,
      }),
    }),
  },
  {
    name: 'brings the expiry forward by a second when it refuses a write',
    found: { 'expiry: is not moved': /from 100 to 50, before it/ },
    maker: naive({ refused: (before) => ({ ...before, expiresAt: before.expiresAt - 1 }) }),
  },
  {
    name: 'takes the expiry away when it refuses a write without one',
    found: { 'expiry: is not moved': /from 100 to never, at it/ },
    maker: naive({
      refused: (before, expiresAt) => (expiresAt === Number.POSITIVE_INFINITY ? { ...before, expiresAt } : before),
    }),
  },
  {
    name: 'lets a record live a second longer when it refuses a write that makes it',
    found: { 'expiry: is not moved': /at it, but instead of undefined came/ },
    maker: naive({
      refused: (before, _, expected) => (expected === 0 ? { ...before, expiresAt: before.expiresAt + 1 } : before),
    }),
  },
  {
    name: 'forgets by the clock of the system, too',
    found: {
      'expiry: is to the second': /there a second before it expires[\s\S]*\nwith a clock that began at 1000000000$/,
      'expiry: holds for a write too':
        /a record counts in a write until it expires, but it succeeded\nwith a clock that began at 1000000000$/,
    },
    maker: naive({
      readable: (row, now) => now < row.expiresAt && !hasPassed(row.expiresAt),
      listable: (row, now) => now < row.expiresAt && !hasPassed(row.expiresAt),
      countable: (row, now) => now < row.expiresAt && !hasPassed(row.expiresAt),
    }),
  },
  {
    name: 'lets records expire by the clock of the system, and by no other one',
    found: {
      'expiry: is to the second': /with a clock that began at 1000000000$/,
      'list: leaves out what has expired': /leaves out what has expired/,
    },
    maker: naive({
      readable: (row) => !hasPassed(row.expiresAt),
      listable: (row) => !hasPassed(row.expiresAt),
      countable: (row) => !hasPassed(row.expiresAt),
    }),
  },
  {
    name: 'keeps an expiry in 32 bits, one of them for the sign',
    found: {
      'expiry: holds for a write too': /counts in a write until it expires.*\nwith a clock that began at 4000000000$/,
      'expiry: is not moved':
        /by the clock that the store was given, but it was absent\nwith a clock that began at 4000000000$/,
    },
    maker: naive({
      expiry: (_, expiresAt) => (expiresAt < Number.POSITIVE_INFINITY ? Math.min(expiresAt, 2 ** 31 - 1) : expiresAt),
    }),
  },
  {
    name: 'keeps nothing for longer than 1,000 years',
    found: { 'expiry: does not come without expiresAt': /a record is there until it expires/ },
    maker: naive({ expiry: (_, expiresAt, now) => Math.min(expiresAt, now + 31_536_000_000) }),
  },
  {
    name: 'keeps the expiry of the first write',
    found: { 'expiry: is the one of the last write': /from 10 to 20, after 15 s/ },
    maker: naive({ expiry: (before, expiresAt) => before?.expiresAt ?? expiresAt }),
  },
  {
    name: 'puts an expiry off, but does not bring it forward',
    found: { 'expiry: is the one of the last write': /from 20 to 10, after 10 s/ },
    maker: naive({ expiry: (before, expiresAt) => Math.max(before?.expiresAt ?? 0, expiresAt) }),
  },
  {
    name: 'keeps the expiry where a write has none',
    found: { 'expiry: is the one of the last write': /from 10 to never/ },
    maker: naive({
      expiry: (before, expiresAt) => (expiresAt === Number.POSITIVE_INFINITY ? before?.expiresAt : 0) || expiresAt,
    }),
  },
  {
    name: 'takes an expiry that has passed for none',
    found: { 'expiry: that has passed': /an expiry that has passed removes the record/ },
    maker: naive({
      leaves: () => true,
      expiry: (_, expiresAt, now) => (expiresAt > now ? expiresAt : Number.POSITIVE_INFINITY),
    }),
  },
  {
    name: 'refuses an expiry that has passed',
    found: { 'expiry: that has passed': /a removal that expects the stored version succeeds/ },
    maker: naive({ leaves: () => true, fits: (stored, expected) => stored === expected && stored === 0 }),
  },
  {
    name: 'removes without a compare',
    found: { 'expiry: that has passed': /a removal that expects another version fails/ },
    maker: wrapped((store, { clock }) => ({
      ...store,
      write: async (key, value, options) => {
        const removes = clock() >= (options.expiresAt ?? Number.POSITIVE_INFINITY)
        return store.write(key, value, removes ? { ...options, expected: await versionOf(store, key) } : options)
      },
    })),
  },

  // labels
  {
    name: 'keeps the first label alone',
    found: { 'labels: find a record by each': /finds the record that has it/ },
    maker: naive({ labels: (_, labels) => labels.slice(0, 1) }),
  },
  {
    name: 'finds labels by how they begin',
    found: { 'labels: stay apart': /and no other/ },
    maker: naive({ find: (rows, label) => rows.filter(({ labels }) => labels.some((each) => each.startsWith(label))) }),
  },
  {
    name: 'keeps labels as well-formed UTF-8',
    found: { 'labels: stay apart': /and no other/ },
    maker: naive({ find: (rows, label) => rows.filter(({ labels }) => labels.map(utf8).includes(utf8(label))) }),
  },
  {
    name: 'adds the labels of a write to those before',
    found: { 'labels: are replaced': /has the labels of its last write/, 'labels: may be twenty': /replaces all/ },
    maker: naive({ labels: (row, labels) => [...(row?.labels ?? []), ...labels] }),
  },
  {
    name: 'keeps the labels where a write has none',
    found: {
      'labels: are replaced': /has the labels of its last write, here \[\]/,
      'expiry: lets one of many writers': /a record that is made anew has none of its old labels/,
    },
    maker: naive({ labels: (row, labels) => (labels.length === 0 ? (row?.labels ?? []) : labels) }),
  },
  {
    name: 'never cleans its index of labels',
    found: { 'labels: go with their record': /a record made anew has none of its old labels/ },
    maker: wrapped((store) => {
      const index = new Map<string, string[]>()
      return {
        ...store,
        write: (key, value, options) => {
          for (const label of options.labels ?? []) index.set(label, [...(index.get(label) ?? []), key])
          return store.write(key, value, options)
        },
        list: async (label) => {
          const keys = [...new Set(index.get(label))]
          const records = await store.read(keys)
          return { records: keys.flatMap((key, at) => (records[at] ? [{ ...records[at], key }] : [])) }
        },
      }
    }),
  },
  {
    name: 'has 16 labels at most',
    found: { 'labels: may be twenty': /each of 20 labels/ },
    maker: naive({ labels: (_, labels) => labels.slice(0, 16) }),
  },
  {
    name: 'lists a record as often as it was given the label',
    found: { 'labels: may be twenty': /a list has no record twice/ },
    maker: naive({
      find: (rows, label) => rows.flatMap((row) => row.labels.filter((each) => each === label).map(() => row)),
    }),
  },
  {
    name: 'cuts labels at 255 characters',
    found: { 'labels: may have 1,000': /finds its record/ },
    maker: naive({
      find: (rows, label) => {
        const cut = (text: string): string => text.slice(0, 255)
        return rows.filter(({ labels }) => labels.map(cut).includes(cut(label)))
      },
    }),
  },

  // list
  {
    name: 'lists the version before',
    found: { 'list: tells values and versions': /tells the record as it is/ },
    maker: wrapped((store) => ({
      ...store,
      list: async (...asked) => {
        const { records, ...rest } = await store.list(...asked)
        return { records: records.map((record) => ({ ...record, version: record.version + 1 })), ...rest }
      },
    })),
  },
  {
    name: 'has a cursor on the last page, too',
    found: { 'list: tells values and versions': /a list of one record has one page/ },
    maker: naive({
      page: (rows, limit, cursor = '0') => ({
        ...SOUND.page(rows, limit, cursor),
        ...(rows.length > 0 && { cursor: String(rows.at(-1)?.sequence) }),
      }),
    }),
  },
  {
    name: 'begins a page with the last record of the page before',
    found: { 'list: comes in pages': /a list has no record twice|a list ends/, 'list: has at most 100': /twice|ends/ },
    maker: naive({ page: (rows, limit, cursor = '1') => SOUND.page(rows, limit, String(Number(cursor) - 1)) }),
  },
  {
    name: 'gives the first page again and again',
    found: { 'list: comes in pages': /a list has no record twice/ },
    maker: naive({ page: (rows, limit) => SOUND.page(rows, limit, undefined) }),
  },
  {
    name: 'leaves out a record between two pages',
    found: { 'list: comes in pages': /has all that has the label/ },
    maker: naive({
      page: (rows, limit, cursor) => {
        const { records, cursor: next } = SOUND.page(rows, limit, cursor)
        return next === undefined ? { records } : { records, cursor: String(Number(next) + 2) }
      },
    }),
  },
  {
    name: 'counts in its cursor how many records were before',
    found: { 'list: misses nothing': /every record that has the label throughout/ },
    maker: naive({
      page: (rows, limit = 100, cursor = '0') => {
        const end = Number(cursor) + limit
        const records = rows.slice(Number(cursor), end)
        return end < rows.length ? { records, cursor: String(end) } : { records }
      },
    }),
  },
  {
    name: 'lists what was written last first',
    found: { 'list: misses nothing': /every record that has the label throughout/ },
    maker: naive({
      find: (rows, label) => SOUND.find(rows, label).toSorted((a, b) => b.version - a.version),
      page: (rows, limit = 100, cursor = 'Infinity') => {
        const left = rows.filter(({ version }) => version < Number(cursor))
        const records = left.slice(0, limit)
        return left.length > limit ? { records, cursor: String(records.at(-1)?.version) } : { records }
      },
    }),
  },
  {
    name: 'ignores the limit of a page',
    found: { 'list: has at most 100': /a page has at most 100 records when .*limit.* is asked, but it had 250/ },
    maker: naive({ page: (rows, limit, cursor) => SOUND.page(rows, limit === undefined ? 100 : 1_000, cursor) }),
  },
  {
    name: 'has no limit of its own',
    found: { 'list: has at most 100': /a page has at most 100 records when \{\} is asked, but it had 250/ },
    maker: naive({ page: (rows, limit = 1_000, cursor) => SOUND.page(rows, limit, cursor) }),
  },
  {
    name: 'gives one record too many a page',
    found: { 'list: has at most 100': /a page has at most 100 records .* but it had 101/ },
    maker: naive({ page: (rows, limit = 100, cursor) => SOUND.page(rows, limit + 1, cursor) }),
  },
  {
    name: 'lists what has expired',
    found: {
      'list: leaves out what has expired': /the values and versions that a read gives|leaves out/,
      'expiry: is to the second': /instead of|the values and versions that a read gives/,
    },
    maker: naive({ listable: () => true }),
  },
  {
    name: 'sorts keys by one order and goes on from a cursor by another',
    found: { 'list: goes through keys in any order': /has all that has the label/ },
    maker: naive({
      find: (rows, label) => SOUND.find(rows, label).toSorted((a, b) => a.key.localeCompare(b.key, 'en')),
      page: (rows, limit = 100, cursor) => {
        const left = cursor === undefined ? rows : rows.filter(({ key }) => key > cursor)
        const records = left.slice(0, limit)
        const last = records.at(-1)
        return left.length > limit && last !== undefined ? { records, cursor: last.key } : { records }
      },
    }),
  },

  // namespaces
  {
    name: 'ignores the namespace',
    found: { 'namespaces:': /the records of a namespace are its own/ },
    maker: naive({ place: (_, key) => key }),
  },
  {
    name: 'joins namespace and key without a separator',
    found: { 'namespaces:': /the records of a namespace are its own/ },
    maker: naive({ place: (namespace, key) => namespace + key }),
  },
  {
    name: 'joins namespace and key by a hyphen',
    found: { 'namespaces:': /the records of a namespace are its own/ },
    maker: naive({ place: (namespace, key) => `${namespace}-${key}` }),
  },
  {
    name: 'lists over namespaces',
    found: { 'namespaces:': /no record twice|the labels of a namespace|values and versions that a read gives/ },
    maker: () => {
      const engine: Engine = { rows: new Map(), count: 0 }
      return (wiring) => {
        const list: RecordStore['list'] = async (label, { limit, cursor } = {}) =>
          SOUND.page(SOUND.find([...engine.rows.values()], label), limit, cursor)
        return { store: { ...naiveStore(engine, SOUND, wiring), list } }
      }
    },
  },

  // scan
  {
    name: 'scans without labels',
    found: { 'scan, where there is one: tells': /tells each label of a record once/ },
    maker: scanning((record) => ({ ...record, labels: [] })),
  },
  {
    name: 'scans labels as often as they were written',
    found: { 'scan, where there is one: tells': /tells each label of a record once/ },
    maker: scanning((record) => ({ ...record, labels: record.labels.flatMap((label) => [label, label]) })),
  },
  {
    name: 'scans the time until which it keeps a record in place of its expiry',
    found: { 'scan, where there is one: tells': /tells when a record expires/ },
    maker: scanning(({ expiresAt, ...record }) => ({
      ...record,
      ...(expiresAt !== undefined && { expiresAt: expiresAt + 8 }),
    })),
  },
  {
    name: 'scans versions of its own',
    found: { 'scan, where there is one: tells': /tells the value and version/ },
    maker: scanning((record) => ({ ...record, version: record.version + 1 })),
  },
  {
    name: 'scans well-formed keys alone',
    found: { 'scan, where there is one: tells': /has every record, and no other/ },
    maker: scanning((record) => ({ ...record, key: utf8(record.key) })),
  },
  {
    name: 'scans what has expired',
    found: { 'scan, where there is one: leaves out': /the records that are there, and no other/ },
    maker: naive({ scanned: (rows, namespace) => rows.filter((row) => row.namespace === namespace) }),
  },
  {
    name: 'scans all namespaces that end as its own',
    found: { 'scan, where there is one: leaves out': /the records that are there, and no other/ },
    maker: naive({
      scanned: (rows, namespace, now) =>
        rows.filter((row) => row.namespace.endsWith(namespace.slice(-30)) && now < row.expiresAt),
    }),
  },
  {
    name: 'scans by the number of records before',
    found: { 'scan, where there is one: misses nothing': /every record that is there throughout/ },
    maker: naive({
      scanPage: (rows, limit, cursor) => {
        const end = Number(cursor) + limit
        const records = rows.slice(Number(cursor), end).map(asScanned)
        return rows.length > end ? { records, cursor: String(end) } : { records }
      },
    }),
  },
  {
    name: 'scans one page alone',
    found: { 'scan, where there is one: tells': /has every record/ },
    maker: wrapped((store) => ({
      ...store,
      scan: async (page) => ({ records: (await store.scan?.(page))?.records ?? [] }),
    })),
  },
  {
    name: 'scans for ever',
    found: { 'scan, where there is one: tells': /a scan ends/ },
    maker: wrapped((store) => ({
      ...store,
      scan: async (page) => ({ ...(await store.scan?.(page)), records: [], cursor: 'on' }),
    })),
  },

  // connections
  {
    name: 'reads from a cache of its connection',
    found: { 'connections: of one namespace': /reads at once what another one wrote/ },
    maker: wrapped((store) => {
      const cache = new Map<string, StoredRecord | undefined>()
      return {
        ...store,
        read: async (keys) => {
          for (const key of keys) if (!cache.has(key)) cache.set(key, (await store.read([key]))[0])
          return keys.map((key) => cache.get(key))
        },
        write: (key, ...write) => {
          cache.delete(key)
          return store.write(key, ...write)
        },
      }
    }),
  },
  {
    name: 'keeps its cursors in the connection',
    found: { 'connections: of one namespace': /a list goes on over any connection/ },
    maker: wrapped((store) => {
      const cursors = new Set<string>()
      return {
        ...store,
        list: async (label, page = {}) => {
          if (page.cursor !== undefined && !cursors.has(page.cursor)) return { records: [] }
          const answer = await store.list(label, page)
          if (answer.cursor !== undefined) cursors.add(answer.cursor)
          return answer
        },
      }
    }),
  },
  {
    name: 'forgets everything when it is closed',
    found: { 'connections: made anew': /a new connection finds the same values and versions/ },
    maker: () => {
      const engine: Engine = { rows: new Map(), count: 0 }
      return (wiring) => ({ store: naiveStore(engine, SOUND, wiring), close: () => engine.rows.clear() })
    },
  },
  {
    name: 'forgets labels when it is closed',
    found: { 'connections: made anew': /a new connection lists the same records/ },
    maker: () => {
      const engine: Engine = { rows: new Map(), count: 0 }
      const close = (): void => {
        for (const [place, row] of engine.rows) engine.rows.set(place, { ...row, labels: [] })
      }
      return (wiring) => ({ store: naiveStore(engine, SOUND, wiring), close })
    },
  },
]
