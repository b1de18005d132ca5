/**
 * The check of the form of every answer of a store under test.
 * @module
 */
import type {
  JsonValue,
  RecordPage,
  RecordStore,
  ScanPage,
  StoredRecord,
  WriteOptions,
} from '../../storage/record-store.js'
import { demand, fail, show } from './assert.js'

/** The page that is asked of a list. */
export type Page = { readonly limit?: number; readonly cursor?: string }

/** Pages after which a list is taken to have no end. */
export const PAGES = 1_000

/** A store whose answers are checked. */
export interface CheckedAnswers {
  readonly read: (keys: readonly string[]) => Promise<readonly (StoredRecord | undefined)[]>
  readonly write: (key: string, value: JsonValue, options: WriteOptions) => Promise<boolean>
  readonly list: (label: string, page?: Page) => Promise<RecordPage>
}

/** Makes a store that checks the form of every answer. */
export function checkedStore(store: RecordStore): CheckedAnswers {
  return {
    read: async (keys) => {
      const records = await store.read(keys)
      if (!Array.isArray(records) || records.length !== keys.length)
        fail('a read gives one entry a key', `of ${keys.length} keys it gave ${show(records)}`)
      for (const record of records) if (record !== undefined) wellFormed(record)
      return records
    },
    write: async (key, value, options) => {
      const written: unknown = await store.write(key, value, options)
      demand(typeof written === 'boolean', 'a write answers true or false', `it answered ${show(written)}`)
      return written
    },
    list: async (label, page = {}) => {
      const answer = await store.list(label, page)
      const { limit = 100 } = page
      if (!Array.isArray(answer?.records)) fail('a list answers with records', `it answered ${show(answer)}`)
      const { length } = answer.records
      demand(length <= limit, `a page has at most ${limit} records when ${show(page)} is asked`, `it had ${length}`)
      answer.records.forEach(wellFormed)
      const cursor: unknown = answer.cursor
      if (cursor !== undefined && typeof cursor !== 'string') fail('a cursor is a text', `one was ${show(cursor)}`)
      return answer
    },
  }
}

/** A scan whose answers are checked. */
export type Scan = (limit?: number) => AsyncGenerator<ScanPage>

/** Makes the checked scan of a store under test; undefined for a store without one. */
export function scanOf(store: RecordStore): Scan | undefined {
  const { scan } = store
  if (scan === undefined) return undefined
  if (typeof scan !== 'function') fail('a scan is a function, where a store has one', `it was ${show(scan)}`)
  return async function* checked(limit) {
    let cursor: string | undefined
    for (let count = 1; ; count++) {
      demand(count <= PAGES, 'a scan ends', `it went on after ${PAGES} pages`)
      const asked = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) }
      const page = await store.scan?.(asked)
      if (page === undefined || !Array.isArray(page.records))
        fail('a scan answers with records', `it answered ${show(page)}`)
      page.records.forEach(wellFormed)
      yield page
      cursor = page.cursor
      if (cursor === undefined) return
      if (typeof cursor !== 'string') fail('a cursor is a text', `one was ${show(cursor)}`)
    }
  }
}

/** Demands that a record has a version. */
function wellFormed(record: StoredRecord | null): void {
  if (!Number.isSafeInteger(record?.version) || Number(record?.version) < 1)
    fail('a record has a version from 1 to 2^53 - 1, and what is absent is undefined', `one was ${show(record)}`)
}
