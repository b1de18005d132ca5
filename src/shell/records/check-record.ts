/**
 * The check of a stored record: whether this release reads it, and whether the store finds and keeps it as it must.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import { clientKeyOf, portableDigests } from '../../core/credentials/digests.js'
import { isGrant } from '../../core/grant/grant.js'
import type { ScannedRecord } from '../../storage/record-store.js'
import type { RecordWrite } from '../records.js'
import { grantWrite, keys, NOBODY, recordAs } from '../records.js'
import { applicationWrite } from './application-write.js'
import { kindOf, shapeFault } from './record-shapes.js'
import { RECORD_VERSIONS } from './record-version.js'

/** Kinds of records that nobody needs after a while. Without an expiry they would stay for ever. */
const PASSING: ReadonlySet<string> = new Set(['user_code', 'mac_nonce', 'attempts'])

/**
 * Finds what is wrong with a record as a store has it.
 * @returns a sentence; undefined for a sound record
 */
export function recordFault(stored: ScannedRecord): string | undefined {
  const { key, expiresAt, labels } = stored
  const record = RECORD_VERSIONS.lift(key, stored)
  if (record === undefined) return RECORD_VERSIONS.unreadable(key, stored.value).message.replace(/^grantwell: /, '')
  const fault = shapeFault(key, record.value)
  if (fault !== undefined) return fault
  if (PASSING.has(kindOf(key)) && expiresAt === undefined) return 'it never expires, though its kind must'
  const wanted = expected(record, labels)
  if (wanted === undefined) return undefined
  if (wanted.key !== key) return `it belongs under the key ${wanted.key}`
  const missing = wanted.labels?.filter((label) => !labels.includes(label)) ?? []
  if (missing.length > 0) return `lists do not find it: it lacks the label ${missing.join(', ')}`
  if ((expiresAt ?? Number.POSITIVE_INFINITY) < (wanted.expiresAt ?? Number.POSITIVE_INFINITY))
    return `it expires at ${expiresAt}, and it is needed ${wanted.expiresAt === undefined ? 'for ever' : `until ${wanted.expiresAt}`}`
  return undefined
}

/** Makes the write of a record anew, for kinds whose place follows from what they hold. */
function expected(
  { key, value }: Pick<ScannedRecord, 'key' | 'value'>,
  labels: readonly string[],
): Omit<RecordWrite, 'value'> | undefined {
  switch (kindOf(key)) {
    case 'grant': {
      const grant = recordAs.grantRecord(value)
      if (grant === undefined) return undefined
      const write = grantWrite(grant)
      // A newer grant took its place: no list finds it, and it goes early.
      const isReplaced = labels.length === 0 && isGrant(grant) && grant.subject === NOBODY
      return isReplaced ? { key: write.key, expiresAt: 0 } : write
    }
    case 'application': {
      const application = recordAs.application(value)
      return application === undefined ? undefined : applicationWrite(placeOf(application), application)
    }
    case 'consent':
      return { key, labels: [`consents:${key.split(':')[2] ?? ''}`] }
    default:
      return undefined
  }
}

function placeOf({ id }: Application): string {
  return keys.application(clientKeyOf(portableDigests, id))
}
