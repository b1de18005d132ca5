/**
 * The contract between grantwell and a storage engine: three methods over single records.
 * @module
 */
import type { Seconds } from '../core/values.js'

/** A value that survives JSON. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue }

/** A record as it was read. */
export interface StoredRecord {
  readonly value: JsonValue
  /** A positive integer, another one after every write; a key that was forgotten and written anew never gets one of its old ones. */
  readonly version: number
}

/** What a write demands and leaves. */
export interface WriteOptions {
  /** The version that must be the stored one; 0: the record must not exist. */
  readonly expected: number
  /** From then on the record does not exist, in seconds since the epoch; absent: never. A time that has passed removes it at once. */
  readonly expiresAt?: Seconds | undefined
  /** What `list` finds the record by, such as `subject:ada`; they replace those of the version before. None by default. */
  readonly labels?: readonly string[] | undefined
}

/** One page of a list. */
export interface RecordPage {
  readonly records: readonly (StoredRecord & { readonly key: string })[]
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string | undefined
}

/**
 * Where grantwell keeps its records. Every method may answer at once or by a promise, and fails by throwing.
 *
 * Keys have up to 1,000 bytes of UTF-8, in any characters; grantwell's own are ASCII, under 100. Labels are as long as the host's
 * subjects, values up to 1.4 MB.
 *
 * Values belong to nobody: neither side changes one after it was handed over. Records of different keys are independent,
 * so an engine may put each on a machine of its own.
 */
export interface RecordStore {
  /**
   * Reads records, in one round trip.
   * @returns one entry a key, in the order asked; undefined for a record that is absent or expired
   */
  readonly read: (
    keys: readonly string[],
  ) => readonly (StoredRecord | undefined)[] | Promise<readonly (StoredRecord | undefined)[]>
  /**
   * Writes one record if its stored version is the expected one, atomically, in one round trip.
   * @returns whether it was written; whoever reads after a `true` finds it
   */
  readonly write: (key: string, value: JsonValue, options: WriteOptions) => boolean | Promise<boolean>
  /**
   * Lists the records that have a label, page by page. For administrators and the page of a user's applications; never
   * used while a client waits. What happens to other records between two pages hides none: a record that has the label from
   * the first page to the last is on one of them, and on no second one unless it was written meanwhile.
   * @param page.limit - at most so many records, 100 by default
   * @param page.cursor - from a page before
   */
  readonly list: (
    label: string,
    page?: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  ) => RecordPage | Promise<RecordPage>
}
