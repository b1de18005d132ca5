/**
 * The host's store with every answer checked: its shape, and the version of each record. A failure goes to `onError` and becomes
 * an error for the client.
 * @module
 */
import type { OAuthError } from '../../core/errors.js'
import { GrantwellError, isOAuthError, oauthError } from '../../core/errors.js'
import { sameJson } from '../../core/json.js'
import type { Takes } from '../../core/takes.js'
import { FLAG, isObject } from '../../core/takes.js'
import type { JsonValue, RecordPage, StoredRecord, WriteOptions } from '../../storage/record-store.js'
import { checkedAnswer, wrongAnswer } from '../host.js'
import type { MaybePromise } from '../maybe-promise.js'
import type { Settings } from '../options/settings.js'
import type { RecordVersions } from './record-version.js'
import { RECORD_VERSIONS } from './record-version.js'

/** The settings of a server that its records depend on. */
export type StoreSettings = Pick<Settings<never>, 'issuer' | 'store' | 'clock' | 'onError'>

/** The answer of a store for several keys. */
export type Records = readonly (StoredRecord | undefined)[]

/** The page of a list that is asked for. */
export interface PageWanted {
  readonly limit?: number
  readonly cursor?: string
}

/** A page of a list with the records that this release reads. */
export interface ReadablePage extends RecordPage {
  /** The reason why some are left out; absent if none is. */
  readonly leftOut?: OAuthError
}

/** A store whose answers are checked. Each method answers `temporarily_unavailable` if the store fails. */
export interface CheckedStore {
  readonly read: (keys: readonly string[]) => MaybePromise<Records | OAuthError>
  /** Leaves out the records that this release does not read. */
  readonly list: (label: string, page: PageWanted) => Promise<ReadablePage | OAuthError>
  /** Answers false if the record does not have the expected version. */
  readonly write: (key: string, value: JsonValue, options: WriteOptions) => MaybePromise<boolean | OAuthError>
}

/** Creates the checked store of a server. Its records are in the newest version that the release knows. */
export function createCheckedStore(
  { store, clock, onError }: StoreSettings,
  versions: RecordVersions = RECORD_VERSIONS,
): CheckedStore {
  function failed(error: unknown): OAuthError {
    onError(error)
    return storeFailed(error)
  }

  function read(wanted: readonly string[]): MaybePromise<Records | OAuthError> {
    const checked = (records: unknown) => liftAll(versions, wanted, records, failed)
    try {
      const found = store.read(wanted)
      return Array.isArray(found) ? checked(found) : Promise.resolve(found).then(checked, failed)
    } catch (error) {
      return failed(error)
    }
  }

  async function list(label: string, page: PageWanted): Promise<ReadablePage | OAuthError> {
    try {
      const listed: RecordPage = checkedAnswer('store.list()', pageAfter(page.cursor), await store.list(label, page))
      return liftPage(versions, listed, failed)
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
      const answer = store.write(key, versions.lower(key, value), options)
      return typeof answer === 'boolean' ? answer : Promise.resolve(answer).then(checked).catch(recover)
    } catch (error) {
      return recover(error)
    }
  }

  /** Reads the record again after the answer to its write was lost, and finds out if the value was written. */
  async function recoverUnknownOutcome(
    key: string,
    value: JsonValue,
    { expiresAt }: WriteOptions,
    error: unknown,
  ): Promise<boolean | OAuthError> {
    const records = await read([key])
    if (isOAuthError(records)) return records
    const [record] = records
    // An expired record is gone as soon as it is written. Nothing tells that from a write that did not happen.
    const isGone = record === undefined && expiresAt !== undefined && clock() >= expiresAt
    return isGone || sameJson(record?.value, value) || storeFailed(error)
  }

  return { read, list, write }
}

/**
 * Checks that a store gave a record for each key, and brings each to its newest version. The record of a later release must not be
 * overwritten.
 */
function liftAll(
  versions: RecordVersions,
  wanted: readonly string[],
  records: unknown,
  failed: (error: unknown) => OAuthError,
): Records | OAuthError {
  if (!isWhole(records, wanted)) return failed(wrongAnswer('store.read()', recordsOf(wanted), records, true))
  let lifted: (StoredRecord | undefined)[] | undefined
  for (let index = 0; index < records.length; index++) {
    // An engine may give null for an absent record. From here on, only undefined means that.
    const record = records[index] ?? undefined
    const key = wanted[index] as string // there are as many
    const newest = record === undefined ? undefined : versions.lift(key, record)
    if (record !== undefined && newest === undefined) return failed(versions.unreadable(key, record.value))
    if (newest !== records[index]) {
      lifted ??= [...records]
      lifted[index] = newest
    }
  }
  return lifted ?? records
}

/** Brings the records of a page to their newest version, and leaves out those of a later release. */
function liftPage(versions: RecordVersions, listed: RecordPage, failed: (error: unknown) => OAuthError): ReadablePage {
  const lifted = listed.records.map((record) => versions.lift(record.key, record))
  const records = lifted.filter((record) => record !== undefined)
  const other = listed.records[lifted.indexOf(undefined)]
  if (other === undefined) return { ...listed, records }
  return { ...listed, records, leftOut: failed(versions.unreadable(other.key, other.value)) }
}

/** Makes the error of a store that fails, or of a record that too many requests change at once. */
export function unavailable(reason: 'store_failed' | 'contention' | 'audit_failed'): OAuthError {
  return oauthError('temporarily_unavailable', reason, 'The service is busy; try again.', { retryAfter: 1 })
}

/** The errors that a store threw, by the error for the client. Kept apart, so that no client ever gets them. */
const causes = new WeakMap<OAuthError, unknown>()

/** Makes the error of a store that failed. Only {@link storeError} shows its cause. */
export function storeFailed(cause: unknown): OAuthError {
  const failure = unavailable('store_failed')
  causes.set(failure, cause)
  return failure
}

/** Makes the error for a function that the host calls. The host may know the cause. */
export function storeError(failure: OAuthError): GrantwellError {
  return new GrantwellError('ERR_STORE', 'grantwell: the store failed', [], causes.get(failure))
}

/** True if an answer of the store has an entry for each key. */
function isWhole(found: unknown, wanted: readonly string[]): found is readonly (StoredRecord | undefined)[] {
  return Array.isArray(found) && found.length === wanted.length
}

function recordsOf({ length }: readonly string[]): string {
  return `a list of as many records as keys (${length}), undefined for one that is absent`
}

/** Describes the answer of a list. Its cursor must differ from the one before: a repeated one would never end. */
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
