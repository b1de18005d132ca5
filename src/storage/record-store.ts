/**
 * The contract between grantwell and a storage engine: three methods over single records, and a fourth for copies of all of them.
 * @module
 */
import type { Seconds } from '../core/values.js'

/** A value that survives JSON. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue }

/** A record as it was read. */
export interface StoredRecord {
  /** The value, as it was written. */
  readonly value: JsonValue
  /** A positive integer that changes with every write. A key that was removed and is written anew never gets one of its old versions. */
  readonly version: number
}

/** The condition of a write, and the properties of the record besides its value. */
export interface WriteOptions {
  /** The version that must be stored for the write to happen. 0 if the record must not exist. */
  readonly expected: number
  /** The time from which on the record does not exist, in seconds since the epoch; never by default. A time in the past removes it. */
  readonly expiresAt?: Seconds | undefined
  /** Labels by which `list` finds the record, such as `subject:ada`. They replace the labels that it had. None by default. */
  readonly labels?: readonly string[] | undefined
}

/** One page of a list. */
export interface RecordPage {
  /** The records of this page. */
  readonly records: readonly (StoredRecord & { readonly key: string })[]
  /** The place at which the next page begins; absent on the last page. */
  readonly cursor?: string | undefined
}

/** A record with all that it was written with. */
export interface ScannedRecord extends StoredRecord {
  /** The key, as it was written. */
  readonly key: string
  /** The time from which on the record does not exist, in seconds since the epoch; absent for one that stays. */
  readonly expiresAt?: Seconds | undefined
  /** Each label once, in any order. */
  readonly labels: readonly string[]
}

/** One page of a scan. */
export interface ScanPage {
  /** The records of this page; none on some pages. */
  readonly records: readonly ScannedRecord[]
  /** The place at which the next page begins; absent on the last page. */
  readonly cursor?: string | undefined
}

/**
 * A store of grantwell's records. Every method may return its result or a promise of it, and fails by throwing.
 *
 * Keys have up to 1,000 bytes of UTF-8, in any characters; grantwell's own are ASCII, under 100. Labels are as long as the host's
 * subjects, values up to 1.4 MB.
 *
 * Neither grantwell nor the store changes a value that it passed to the other or got from it. Records of different keys are independent,
 * so an engine may put each on a machine of its own.
 */
export interface RecordStore {
  /**
   * Reads records, in one round trip.
   * @returns an entry for each key, in their order; undefined for a record that is absent or expired
   */
  readonly read: (
    keys: readonly string[],
  ) => readonly (StoredRecord | undefined)[] | Promise<readonly (StoredRecord | undefined)[]>
  /**
   * Writes one record if its stored version is the expected one, atomically, in one round trip.
   * @returns true if the record was written: every read that begins after that finds it
   */
  readonly write: (key: string, value: JsonValue, options: WriteOptions) => boolean | Promise<boolean>
  /**
   * Lists the records that have a label, page by page. It is for administrators and for the page of a user's applications; no
   * client waits for it.
   *
   * A record that has the label from the first page to the last is on one of the pages, whatever happens to other records meanwhile.
   * It is on no second page, unless it was written meanwhile.
   * @param page.limit - the most records on a page; 100 by default
   * @param page.cursor - the cursor of the page before
   */
  readonly list: (
    label: string,
    page?: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  ) => RecordPage | Promise<RecordPage>
  /**
   * Lists all records, page by page. It is optional: no server calls it. The command of administrators does, to check a store and to
   * copy it into another.
   *
   * A record that is there from the first page to the last is on one of the pages, whatever happens to other records meanwhile. It may
   * be on several, and on a page as it was before its last write.
   * @param page.limit - the number of records that a page should have, 100 by default: it may have fewer or more, even none
   * @param page.cursor - the cursor of the page before
   */
  readonly scan?: (page?: {
    readonly limit?: number | undefined
    readonly cursor?: string | undefined
  }) => ScanPage | Promise<ScanPage>
}
