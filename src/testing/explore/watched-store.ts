/**
 * A store as one request sees it: every read, write and list waits to be chosen, meets its fate, and is told in the story.
 * @module
 */

import { ISSUER_KEY } from '../../shell/records.js'
import type { JsonValue, RecordPage, RecordStore, StoredRecord, WriteOptions } from '../../storage/record-store.js'
import type { Fate } from './schedule.js'

/** Adds to a line of the story what came of a step. */
export type AddToLine = (more: string, note?: string) => void

/** The view that the explorer has of the store of one request. */
export interface Watch {
  /** Waits for the step to be chosen, and begins its line of the story. */
  readonly wait: (
    step: string,
    fates: readonly Fate[],
    ready?: () => boolean,
  ) => Promise<{ readonly fate: Fate; readonly told: AddToLine }>
  readonly die: () => Promise<never>
  /** Called when the step is done, however it went. */
  readonly leave: () => void
  /** Called when a write reaches the store. @returns takes it back, where the store says that it did not write */
  readonly wrote: () => () => void
  readonly versions: Versions
}

/** The versions that a sound store can still have, by the reads and writes so far. */
export interface Versions {
  readonly read: (key: string, version: number) => void
  readonly stored: (key: string, expected: number) => void
  /** Returns true if a record was written since it had this version. */
  readonly isOld: (key: string, version: number) => boolean
}

const READ_FATES: readonly Fate[] = ['happens', 'fails', 'delayed', 'died-before']
const LIST_FATES: readonly Fate[] = ['happens', 'fails', 'died-before']
const WRITE_FATES: readonly Fate[] = ['happens', 'lost-answer', 'lost-write', 'died-before', 'died-after']

/** Keeps the versions of the records of one history. */
export function createVersions(): Versions {
  const seen = new Map<string, Set<number>>()
  const old = new Map<string, Set<number>>()
  const at = (versions: Map<string, Set<number>>, key: string): Set<number> => {
    const found = versions.get(key) ?? new Set()
    versions.set(key, found)
    return found
  }
  return {
    read: (key, version) => at(seen, key).add(version),
    stored: (key, expected) => {
      for (const version of [...at(seen, key), expected]) at(old, key).add(version)
    },
    isOld: (key, version) => old.get(key)?.has(version) === true,
  }
}

/** The issuer of every server that is explored. */
export const EXPLORED_ISSUER = 'https://git.example'

/** Makes the view that one request has of a store. */
export function watchedStore(store: RecordStore, watch: () => Watch): RecordStore {
  const leaving = async <Result>(act: () => Promise<Result>): Promise<Result> => {
    try {
      return await act()
    } finally {
      watch().leave()
    }
  }
  return {
    read: (keys) => leaving(() => read(store, watch(), keys)),
    write: (key, value, options) => leaving(() => write(store, watch(), key, value, options)),
    list: (label, page) => leaving(() => list(store, watch(), label, page)),
  }
}

async function read(
  store: RecordStore,
  { wait, versions }: Watch,
  keys: readonly string[],
): Promise<readonly (StoredRecord | undefined)[]> {
  // A server asks once in its life whose records these are: no part of any history.
  if (keys[0] === ISSUER_KEY) return [{ version: 1, value: { v: 1, issuer: EXPLORED_ISSUER } }]
  const { fate, told } = await wait(`reads ${keys.map(nameOfKey).join(' and ')}`, READ_FATES)
  if (fate === 'fails') {
    told(', and the store fails')
    throw new Error('the store fails')
  }
  const records = await askStore(() => store.read(keys), told)
  const old = keys.filter((key, index) => isOldRecord(versions, key, records[index]))
  if (old.length > 0) told('', `a sound store has ${old.map(nameOfKey).join(' and ')} as written since`)
  if (fate !== 'delayed') return records
  told(', and the answer is late')
  await wait('gets the late answer', ['happens'])
  return records
}

async function write(
  store: RecordStore,
  { wait, die, wrote, versions }: Watch,
  key: string,
  value: JsonValue,
  options: WriteOptions,
): Promise<boolean> {
  const { fate, told } = await wait(`writes ${nameOfKey(key)}`, WRITE_FATES)
  if (fate === 'lost-write') {
    told(', which is lost: the store fails')
    throw new Error('the write was lost')
  }
  const undo = wrote()
  const stored = await askStore(() => store.write(key, value, options), told)
  const isOld = versions.isOld(key, options.expected)
  if (stored) versions.stored(key, options.expected)
  else undo()
  const isWrong = stored === isOld
  told(
    stored ? ': stored' : ': not stored',
    isWrong ? `a sound store would have said ${stored ? 'no' : 'yes'}` : undefined,
  )
  if (fate === 'died-after') {
    told(', and dies')
    return die()
  }
  if (fate === 'lost-answer') {
    told(', but the answer is lost: the store fails')
    throw new Error('the answer was lost')
  }
  return stored
}

async function list(
  store: RecordStore,
  { wait }: Watch,
  ...asked: Parameters<RecordStore['list']>
): Promise<RecordPage> {
  const { fate, told } = await wait(`lists ${asked[0]}`, LIST_FATES)
  if (fate === 'happens') return askStore(() => store.list(...asked), told)
  told(', and the store fails')
  throw new Error('the store fails')
}

/** Remembers the version that was read. @returns true if the record was written since */
function isOldRecord(versions: Versions, key: string, record: StoredRecord | undefined): boolean {
  const version = record?.version ?? 0
  versions.read(key, version)
  return versions.isOld(key, version)
}

/** Asks the store itself. An error of its own is told in the story. */
async function askStore<Result>(act: () => Result | Promise<Result>, told: AddToLine): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    told(`, and the store throws by itself: ${error instanceof Error ? error.message : String(error)}`)
    throw error
  }
}

function nameOfKey(key: string): string {
  if (key.startsWith('application:')) return 'the application'
  return key.startsWith('grant:') ? 'the grant' : `the record ${key}`
}
