/**
 * Releases beside each other over one store: what an older one wrote is lifted when it is read, and what a newer one writes is as old as
 * it can be. The kind of record is made up, since every kind has one version as yet.
 * @module
 */
import * as fc from 'fast-check'
import type { JsonValue, RecordStore } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { createCheckedStore } from '../../src/shell/records/checked-store.js'
import type { RecordKind } from '../../src/shell/records/record-version.js'
import { createRecordVersions, RECORD_VERSIONS } from '../../src/shell/records/record-version.js'

type Value = { readonly [name: string]: JsonValue }

/** Version 2 names the parts of a name; version 3 counts, from 0 on. */
const named = ({ name, v: _, ...rest }: Value): Value => {
  const [first = '', ...others] = String(name).split(' ')
  return { ...rest, first, last: others.join(' ') }
}
const unnamed = ({ first, last, v: _, ...rest }: Value): Value => ({ ...rest, name: `${first} ${last}` })
const counted = (value: Value): Value => ({ ...value, count: 0 })
const uncounted = ({ count, v: _, ...rest }: Value): Value | undefined => (count === 0 ? rest : undefined)

/** The releases, by the newest version that each knows; `settled` is the second without its way back. */
const RELEASES = {
  first: [],
  second: [['person', { lifts: [named], lower: unnamed }]],
  settled: [['person', { lifts: [named] }]],
  third: [['person', { lifts: [named, counted], lower: uncounted }]],
} as const satisfies Record<string, readonly (readonly [string, RecordKind])[]>

type Release = keyof typeof RELEASES

const versionsOf = (release: Release) => createRecordVersions(new Map<string, RecordKind>(RELEASES[release]))

/** The store of a release's server, with the errors that its host was told. */
function serverOf(release: Release, store: RecordStore) {
  const errors: unknown[] = []
  const settings = {
    issuer: 'https://git.example',
    store,
    clock: () => 0,
    onError: (error: unknown) => errors.push(error),
  }
  return { ...createCheckedStore(settings, versionsOf(release)), errors }
}

const KEY = 'person:1'
const V1 = { v: 1, name: 'Ada Lovelace' }
const V2 = { v: 2, first: 'Ada', last: 'Lovelace' }
const V3 = { v: 3, first: 'Ada', last: 'Lovelace', count: 0 }

/** What a release reads of a record that is stored so: its value, or the refusal. */
async function readBy(release: Release, stored: JsonValue): Promise<unknown> {
  const store = memoryStore()
  store.write(KEY, stored, { expected: 0, labels: ['all'] })
  const server = serverOf(release, store)
  const records = await server.read([KEY])
  const listed = await server.list('all', {})
  const found = Array.isArray(records) ? records[0]?.value : server.errors.map(String)[0]
  // A list says the same of it.
  const values = 'records' in listed ? listed.records.map(({ value }) => value) : []
  expect(values).toEqual(Array.isArray(records) ? [found] : [])
  return found
}

/** What is stored after a release wrote a value of its newest version. */
async function writtenBy(release: Release, value: JsonValue): Promise<unknown> {
  const store = memoryStore()
  expect(await serverOf(release, store).write(KEY, value, { expected: 0 })).toBe(true)
  return (await store.read([KEY]))[0]?.value
}

describe('a record of another version', () => {
  it('is lifted step by step to the newest that a release knows', async () => {
    expect(await readBy('first', V1)).toEqual(V1)
    expect(await readBy('second', V1)).toEqual(V2)
    expect(await readBy('third', V1)).toEqual(V3)
    expect(await readBy('third', V2)).toEqual(V3)
    expect(await readBy('third', V3)).toEqual(V3)
  })

  it('is refused where it is newer, and the error says which are read', async () => {
    const refusal = (version: unknown, reads: string) =>
      `GrantwellError: grantwell: the record ${KEY} has ${version === undefined ? 'no version' : `version ${JSON.stringify(version)}`}; this release reads ${reads}. Nothing was answered or written`
    expect(await readBy('first', V2)).toBe(refusal(2, 'version 1'))
    expect(await readBy('second', V3)).toBe(refusal(3, 'versions 1 to 2'))
    for (const version of [0, -1, 1.5, '1', null, 4]) {
      expect(await readBy('third', { ...V3, v: version })).toBe(refusal(version, 'versions 1 to 3'))
    }
    expect(await readBy('third', {})).toBe(refusal(undefined, 'versions 1 to 3'))
    expect(await readBy('third', 'text')).toBe(refusal(undefined, 'versions 1 to 3'))
  })

  it('is written as the release before reads it, where that can hold it, and only while there is a way back', async () => {
    expect(await writtenBy('second', V2)).toEqual(V1)
    expect(await writtenBy('settled', V2)).toEqual(V2)
    expect(await writtenBy('third', V3)).toEqual(V2)
    expect(await writtenBy('third', { ...V3, count: 1 })).toEqual({ ...V3, count: 1 })
  })

  it('is left alone by a read: the next write alone changes its shape', async () => {
    const store = memoryStore()
    store.write(KEY, V1, { expected: 0 })
    const server = serverOf('settled', store)
    const records = await server.read([KEY])
    const [record] = Array.isArray(records) ? records : []
    expect((await store.read([KEY]))[0]?.value).toEqual(V1)
    expect(await server.write(KEY, record?.value ?? null, { expected: record?.version ?? 0 })).toBe(true)
    expect((await store.read([KEY]))[0]?.value).toEqual(V2)
  })

  it('is known again after the answer to its write was lost', async () => {
    const memory = memoryStore()
    const store: RecordStore = {
      ...memory,
      write: async (...args) => {
        await memory.write(...args)
        throw new Error('lost')
      },
    }
    expect(await serverOf('second', store).write(KEY, V2, { expected: 0 })).toBe(true)
    expect((await memory.read([KEY]))[0]?.value).toEqual(V1)
  })
})

describe('two releases beside each other', () => {
  const values = fc.record({ first: fc.stringMatching(/^[a-z]{0,5}$/), last: fc.string({ maxLength: 8 }) })

  it('read what the other wrote, in any order of an upgrade and a rollback', async () => {
    await fc.assert(
      fc.asyncProperty(
        values,
        fc.array(fc.constantFrom('first', 'second'), { maxLength: 6 }),
        async (parts, releases) => {
          const store = memoryStore()
          const asFirst = { v: 1, name: `${parts.first} ${parts.last}` }
          const expected = { first: asFirst, second: { v: 2, ...parts } }
          store.write(KEY, asFirst, { expected: 0 })
          for (const release of releases as readonly ('first' | 'second')[]) {
            const server = serverOf(release, store)
            const records = await server.read([KEY])
            const [record] = Array.isArray(records) ? records : []
            expect(record?.value).toEqual(expected[release])
            expect(await server.write(KEY, record?.value ?? null, { expected: record?.version ?? 0 })).toBe(true)
            expect(server.errors).toEqual([])
          }
        },
      ),
    )
  })
})

it('every kind has one version as yet, which is read and written as it is', () => {
  for (const key of ['grant:1', 'application:1', 'issuer', 'anything:else']) {
    const record = { value: { v: 1 }, version: 1 }
    expect(RECORD_VERSIONS.lift(key, record)).toBe(record)
    expect(RECORD_VERSIONS.lower(key, record.value)).toBe(record.value)
    expect(RECORD_VERSIONS.lift(key, { value: { v: 2 }, version: 1 })).toBeUndefined()
  }
})
