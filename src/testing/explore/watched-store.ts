/**
 * A store as one request sees it: every read, write and list waits to be chosen, meets its fate, and is told in the story.
 * @module
 */

import { ISSUER_KEY } from '../../shell/records.js'
import type { JsonValue, RecordPage, RecordStore, StoredRecord, WriteOptions } from '../../storage/record-store.js'
import type { Fate } from './schedule.js'

/** Adds to a line of the story what came of a step. */
export type AddToLine = (more: string, note?: string) => void

/** What the explorer does for the store of one request. */
export interface Watch {
  /** Waits for the step to be chosen, and begins its line of the story. */
  readonly wait: (
    step: string,
    fates: readonly Fate[],
    ready?: () => boolean,
  ) => Promise<{ readonly fate: Fate; readonly told: AddToLine }>
  readonly die: () => Promise<never>
  /** Told when the step is done, however it went. */
  readonly leave: () => void
  /** AddToLine when a write reaches the store. @returns takes it back, where the store says that it did not write */
  readonly wrote: () => () => void
  readonly versions: Versions
}

/** Which versions a sound store can still have, by what was read and written before. */
export interface Versions {
  readonly read: (key: string, version: number) => void
  readonly stored: (key: string, expected: number) => void
  /** Whether a record was written since it had this version. */
  readonly isOld: (key: string, version: number) => boolean
}

const READ_FATES: readonly Fate[] = ['happens', 'fails', 'delayed', 'died-before']
const LIST_FATES: readonly Fate[] = ['happens', 'fails', 'died-before']
const WRITE_FATES: readonly Fate[] = ['happens', 'lost-answer', 'lost-write', 'died-before', 'died-after']

/** Keeps the versions of the records of one history. */
export function versionsSeen(): Versions {
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

/** The view that one request has of a store. */
export function watchedStore(store: RecordStore, watch: () => Watch): RecordStore {
  const leaving = async <Result>(act: () => Promise<Result>): Promise<Result> => {
    try {
      return await act()
    } finally {
      watch().leave()
    }
  }
  return {
    read: (keys) => leaving(() => read(keys)),
    write: (key, value, options) => leaving(() => write(key, value, options)),
    list: (label, page) => leaving(() => list(label, page)),
  }

  async function read(keys: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    // A server asks once in its life whose records these are: no part of any history.
    if (keys[0] === ISSUER_KEY) return [{ version: 1, value: { v: 1, issuer: EXPLORED_ISSUER } }]
    const { wait, versions } = watch()
    const { fate, told } = await wait(`reads ${keys.map(nameOfKey).join(' and ')}`, READ_FATES)
    if (fate === 'fails') {
      told(', and the store fails')
      throw new Error('the store fails')
    }
    const records = await happening(() => store.read(keys), told)
    const old = keys.filter((key, index) => isOldRecord(versions, key, records[index]))
    if (old.length > 0) told('', `a sound store has ${old.map(nameOfKey).join(' and ')} as written since`)
    if (fate !== 'delayed') return records
    told(', and the answer is late')
    await wait('gets the late answer', ['happens'])
    return records
  }

  async function write(key: string, value: JsonValue, options: WriteOptions): Promise<boolean> {
    const { wait, die, wrote, versions } = watch()
    const { fate, told } = await wait(`writes ${nameOfKey(key)}`, WRITE_FATES)
    if (fate === 'lost-write') {
      told(', which is lost: the store fails')
      throw new Error('the write was lost')
    }
    const undo = wrote()
    const stored = await happening(() => store.write(key, value, options), told)
    const isOld = versions.isOld(key, options.expected)
    if (stored) versions.stored(key, options.expected)
    else undo()
    told(
      stored ? ': stored' : ': not stored',
      stored === isOld ? `a sound store would have said ${stored ? 'no' : 'yes'}` : undefined,
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

  async function list(...asked: Parameters<RecordStore['list']>): Promise<RecordPage> {
    const { fate, told } = await watch().wait(`lists ${asked[0]}`, LIST_FATES)
    if (fate === 'happens') return happening(() => store.list(...asked), told)
    told(', and the store fails')
    throw new Error('the store fails')
  }
}

/** Remembers the version that was read. */
function isOldRecord(versions: Versions, key: string, record: StoredRecord | undefined): boolean {
  const version = record?.version ?? 0
  versions.read(key, version)
  return versions.isOld(key, version)
}

/** What the store does by itself, a failure of its own told in the story. */
async function happening<Result>(act: () => Result | Promise<Result>, told: AddToLine): Promise<Result> {
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
