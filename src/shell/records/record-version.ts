/**
 * The versions of records. A release reads every version up to its own, and refuses a later one: nothing is answered from it, and it is
 * not overwritten.
 * @module
 * @see DESIGN, "records of other versions"
 */
import { GrantwellError } from '../../core/errors.js'
import type { JsonValue, StoredRecord } from '../../storage/record-store.js'

/** The value of a record: every record is an object. */
type RecordValue = { readonly [name: string]: JsonValue }

/** A kind of record that has more versions than the first. */
export interface RecordKind {
  /** Functions that make each version of the one before it, from version 1 on. Each is pure, and leaves `v` to its caller. */
  readonly lifts: readonly ((value: RecordValue) => RecordValue)[]
  /**
   * Makes the version before of the newest one; undefined where that cannot hold all of it. A kind has it in the release that brings its
   * newest version and is without it in the next, so that two releases beside each other read each other's records.
   */
  readonly lower?: (value: RecordValue) => RecordValue | undefined
}

/** The versions of all kinds of records. */
export interface RecordVersions {
  /** Returns a record in its newest version; undefined for one that this release does not read. */
  readonly lift: <Read extends StoredRecord>(key: string, record: Read) => Read | undefined
  /** Returns a value in the oldest version that holds it and that the release before reads. */
  readonly lower: (key: string, value: JsonValue) => JsonValue
  /** Makes the error of a record that this release must not touch. */
  readonly unreadable: (key: string, value: JsonValue) => GrantwellError
}

/** The first version, the only one of most kinds. */
export const RECORD_VERSION = 1

const FIRST_ALONE: RecordKind = { lifts: [] }

/** The kinds with more versions, by the first part of their keys. */
const RECORD_KINDS: ReadonlyMap<string, RecordKind> = new Map()

/** Creates the versions from the kinds that have more than one. */
export function createRecordVersions(kinds: ReadonlyMap<string, RecordKind>): RecordVersions {
  // A guard would take 21 % longer in the process if it looked for the kinds of its two records where there are none.
  const kindOf = (key: string): RecordKind =>
    (kinds.size === 0 ? undefined : kinds.get(key.split(':', 1)[0] ?? key)) ?? FIRST_ALONE
  return {
    lift: (key, record) => {
      const { lifts } = kindOf(key)
      const version = versionOf(record.value)
      if (version === lifts.length + RECORD_VERSION) return record
      if (!Number.isInteger(version) || Number(version) < RECORD_VERSION || Number(version) > lifts.length)
        return undefined
      let value = record.value as RecordValue // it has a version
      for (let next = Number(version); next <= lifts.length; next++)
        value = { ...lifts[next - RECORD_VERSION]?.(value), v: next + RECORD_VERSION }
      return { ...record, value }
    },

    lower: (key, value) => {
      const { lifts, lower } = kindOf(key)
      const lowered = lower?.(value as RecordValue) // all that is written is an object
      return lowered === undefined ? value : { ...lowered, v: lifts.length }
    },

    unreadable: (key, value) => {
      const version = versionOf(value)
      const came = version === undefined ? 'no version' : `version ${JSON.stringify(version)}`
      const newest = kindOf(key).lifts.length + RECORD_VERSION
      const reads = newest === RECORD_VERSION ? `version ${RECORD_VERSION}` : `versions ${RECORD_VERSION} to ${newest}`
      return new GrantwellError(
        'ERR_RECORD_VERSION',
        `grantwell: the record ${key} has ${came}; this release reads ${reads}. Nothing was answered or written`,
      )
    },
  }
}

/** The versions that this release reads and writes. */
export const RECORD_VERSIONS: RecordVersions = createRecordVersions(RECORD_KINDS)

function versionOf(value: JsonValue): unknown {
  return (value as { readonly v?: unknown } | null)?.v // whatever JSON it is
}
