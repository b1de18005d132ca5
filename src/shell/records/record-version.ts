/**
 * The version of records. A record of another version is refused: nothing is answered from it, and it is not overwritten.
 * @module
 */
import { GrantwellError } from '../../core/errors.js'
import type { JsonValue, StoredRecord } from '../../storage/record-store.js'

/** The version of every kind of record that this release reads and writes. */
export const RECORD_VERSION = 1

/** True if a record is of the version that this release reads. */
export function isReadable({ value }: Pick<StoredRecord, 'value'>): boolean {
  return versionOf(value) === RECORD_VERSION
}

function versionOf(value: JsonValue): unknown {
  return (value as { readonly v?: unknown } | null)?.v // whatever JSON it is
}

/** Makes the error of a record that this release must not touch. */
export function unreadable({
  key,
  value,
}: {
  readonly key: string | undefined
  readonly value: JsonValue
}): GrantwellError {
  const version = versionOf(value)
  const came = version === undefined ? 'no version' : `version ${JSON.stringify(version)}`
  return new GrantwellError(
    'ERR_RECORD_VERSION',
    `grantwell: the record ${key} has ${came}; this release reads version ${RECORD_VERSION}. Nothing was answered or written`,
  )
}
