/**
 * A grant after its user was erased.
 * @module
 */
import type { Grant } from '../../core/grant/grant.js'
import type { Seconds, Subject } from '../../core/values.js'
import type { RecordWrite } from '../../shell/records.js'
import { grantWrite } from '../../shell/records.js'

/** The subject in a record whose user was erased. No user has it: a subject is never empty. */
export const NOBODY = '' as Subject // no user of any host

/**
 * Makes the write of a revoked grant that says nothing of its user, and nothing of what was asked for. The digest of its code and its end
 * stay, so that a code that comes back is refused as before.
 */
export function writeWithoutUser(grant: Grant, revokedAt: Seconds): RecordWrite {
  const { v, id, clientId, createdAt, keepUntil, code } = grant
  const { digest, expiresAt } = code
  const isDevice = code.redirectUri === undefined
  const erased: Grant = {
    v,
    id,
    clientId,
    subject: NOBODY,
    scopes: [],
    resources: { kind: 'public' },
    createdAt,
    keepUntil,
    code: isDevice ? { digest, expiresAt, interval: code.interval } : { digest, expiresAt, redirectUri: '' },
    pairs: [],
    retired: [],
    revokedAt,
  }
  return { ...grantWrite(erased), labels: [`client:${clientId}`] }
}
