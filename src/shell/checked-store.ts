/**
 * The host's store, with every answer checked, and each failure told to `onError` and turned into an error for the client.
 * @module
 */
import type { OAuthError } from '../core/errors.js'
import { GrantwellError, oauthError } from '../core/errors.js'
import { sameJson } from '../core/json.js'
import type { Takes } from '../core/takes.js'
import { FLAG, isObject } from '../core/takes.js'
import { isError } from '../protocol/parameters.js'
import type { JsonValue, RecordPage, StoredRecord, WriteOptions } from '../storage/record-store.js'
import { checkedAnswer, wrongAnswer } from './host.js'
import type { MaybePromise } from './maybe-promise.js'
import type { Settings } from './options.js'
import type { IssuerRecord } from './records.js'
import { ISSUER_KEY, isReadable, notOurs, RECORD_VERSION, unreadable } from './records.js'

/** The settings of a server that its records depend on. */
export type StoreSettings = Pick<Settings<never>, 'issuer' | 'store' | 'clock' | 'entropy' | 'onEvent' | 'onError'>

/** The answer of a store for several keys. */
export type Records = readonly (StoredRecord | undefined)[]

/** The page of a list that is asked for. */
export interface PageWanted {
  readonly limit?: number
  readonly cursor?: string
}

/** A page of a list with the records that this release reads. */
export interface ReadablePage extends RecordPage {
  /** The reason why some are left out; absent where none is. */
  readonly leftOut?: OAuthError
}

/** A store whose answers are checked. Each method answers `temporarily_unavailable` where the store fails. */
export interface CheckedStore {
  readonly read: (keys: readonly string[]) => MaybePromise<Records | OAuthError>
  /** Leaves out the records that this release does not read. */
  readonly list: (label: string, page: PageWanted) => Promise<ReadablePage | OAuthError>
  /** Answers false where the record is not of the version that was expected. */
  readonly write: (key: string, value: JsonValue, options: WriteOptions) => MaybePromise<boolean | OAuthError>
}

/** Wraps the host's store. */
export function createCheckedStore({ store, clock, onError }: StoreSettings): CheckedStore {
  function failed(error: unknown): OAuthError {
    onError(error)
    return storeFailed(error)
  }

  function read(asked: readonly string[]): MaybePromise<Records | OAuthError> {
    const checked = (records: unknown) => checkedRecords(asked, records, failed)
    try {
      const found = store.read(asked)
      return Array.isArray(found) ? checked(found) : Promise.resolve(found).then(checked, failed)
    } catch (error) {
      return failed(error)
    }
  }

  async function list(label: string, page: PageWanted): Promise<ReadablePage | OAuthError> {
    try {
      const listed: RecordPage = checkedAnswer('store.list()', pageAfter(page.cursor), await store.list(label, page))
      const other = listed.records.find((record) => !isReadable(record))
      if (other === undefined) return listed
      return { ...listed, records: listed.records.filter(isReadable), leftOut: failed(unreadable(other)) }
    } catch (error) {
      return failed(error)
    }
  }

  function write(key: string, value: JsonValue, options: WriteOptions): MaybePromise<boolean | OAuthError> {
    const recover = (error: unknown) => {
      onError(error)
      return recoverUnknownOutcome(key, value, options, error)
    }
    const checked = (answer: boolean) => checkedAnswer<boolean>('store.write()', FLAG, answer)
    try {
      const answer = store.write(key, value, options)
      return typeof answer === 'boolean' ? answer : Promise.resolve(answer).then(checked).catch(recover)
    } catch (error) {
      return recover(error)
    }
  }

  /** Finds out whether a value was written all the same after the answer of the store was lost. */
  async function recoverUnknownOutcome(
    key: string,
    value: JsonValue,
    { expiresAt }: WriteOptions,
    error: unknown,
  ): Promise<boolean | OAuthError> {
    const records = await read([key])
    if (isError(records)) return records
    const [record] = records
    // A record that has expired is gone once it is written, and nothing tells that from a write that did not happen.
    const isGone = record === undefined && expiresAt !== undefined && clock() >= expiresAt
    return isGone || sameJson(record?.value, value) || storeFailed(error)
  }

  return { read, list, write }
}

/** The check that the records of a store are this issuer's. */
export interface OwnerCheck {
  /** True once they are known to be. */
  readonly isKnown: () => boolean
  /** Looks for the record that says whose they are, and writes it where there is none. */
  readonly check: () => Promise<OAuthError | undefined>
}

/** Makes the check. Requests that come while it runs check as well, so that none waits for an answer that was lost. */
export function createOwnerCheck({ issuer, onError }: StoreSettings, store: CheckedStore): OwnerCheck {
  let isOurs = false

  async function check(): Promise<OAuthError | undefined> {
    const records = await store.read([ISSUER_KEY])
    if (isError(records) || records[0] !== undefined) return checkOwner(records)
    const value: IssuerRecord = { v: RECORD_VERSION, issuer }
    const written = await store.write(ISSUER_KEY, value as unknown as JsonValue, { expected: 0 }) // an interface has no index
    if (typeof written === 'object') return written
    // Where somebody else was quicker, that is perhaps another server of this issuer.
    if (!written) return checkOwner(await store.read([ISSUER_KEY]))
    isOurs = true
    return undefined
  }

  function checkOwner(records: Records | OAuthError): OAuthError | undefined {
    if (isError(records)) return records
    const { issuer: owner } = (records[0]?.value ?? {}) as Partial<IssuerRecord> // of a version that is read
    isOurs = owner === issuer
    if (isOurs) return undefined
    const error = notOurs(owner, issuer)
    onError(error)
    return storeFailed(error)
  }

  return { isKnown: () => isOurs, check }
}

/** Checks that a store gave a record for each key, and that this release reads each: a later one's must not be written over. */
function checkedRecords(
  asked: readonly string[],
  records: unknown,
  failed: (error: unknown) => OAuthError,
): Records | OAuthError {
  if (!isWhole(records, asked)) return failed(wrongAnswer('store.read()', recordsOf(asked), records, true))
  let hasNull = false
  for (let index = 0; index < records.length; index++) {
    const record = records[index]
    if (record === null) hasNull = true
    else if (record !== undefined && !isReadable(record)) return failed(unreadable({ ...record, key: asked[index] }))
  }
  // An engine may give null for a record that is absent. Behind this line undefined alone means that.
  return hasNull ? records.map((record) => record ?? undefined) : records
}

/** Makes the error of a store that fails, or for which too many ask at once. */
export function unavailable(reason: 'store_failed' | 'contention'): OAuthError {
  return oauthError('temporarily_unavailable', reason, 'The service is busy; try again.', { retryAfter: 1 })
}

/** Errors that a store threw, by the error that a client sees: apart from it, so that no client ever sees them. */
const causes = new WeakMap<OAuthError, unknown>()

/** Makes the error of a store that failed; its cause is for {@link storeError} alone. */
function storeFailed(cause: unknown): OAuthError {
  const failure = unavailable('store_failed')
  causes.set(failure, cause)
  return failure
}

/** Makes the error for the functions that a host calls, which may know the cause. */
export function storeError(failure: OAuthError): GrantwellError {
  return new GrantwellError('ERR_STORE', 'grantwell: the store failed', [], causes.get(failure))
}

/** True if an answer of the store has an entry for each key. */
function isWhole(found: unknown, asked: readonly string[]): found is readonly (StoredRecord | undefined)[] {
  return Array.isArray(found) && found.length === asked.length
}

function recordsOf({ length }: readonly string[]): string {
  return `a list of as many records as keys (${length}), undefined for one that is absent`
}

/** Describes the answer of a list. Behind a cursor comes another one: the same again would have no end. */
function pageAfter(cursor: string | undefined): Takes {
  return {
    words: '{ records, cursor }, a list of { key, value, version } and a string other than the cursor before',
    fits: (page) =>
      isObject(page) &&
      Array.isArray(page['records']) &&
      page['records'].every((record) => isObject(record) && typeof record['key'] === 'string') &&
      (page['cursor'] === undefined || (typeof page['cursor'] === 'string' && page['cursor'] !== cursor)),
    secret: true,
  }
}
