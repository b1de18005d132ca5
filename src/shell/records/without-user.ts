/**
 * A grant whose record says nothing of its user any more: one that was erased, or that a newer grant replaced.
 * @module
 */
import type { Grant } from '../../core/grant/grant.js'
import type { Seconds } from '../../core/values.js'
import { NOBODY } from '../records.js'

/**
 * Returns a revoked grant that says nothing of its user, and nothing of what was asked for. The digest of its code and its end stay, so
 * that a code that comes back is refused as before.
 * @param revokedAt - in seconds since the epoch
 */
export function withoutUser({ v, id, clientId, createdAt, keepUntil, code }: Grant, revokedAt: Seconds): Grant {
  const { digest, expiresAt } = code
  const isDevice = code.redirectUri === undefined
  return {
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
}
