/**
 * SHA-256 and HMAC-SHA-256 by `node:crypto`.
 * @module
 * @see FIPS 180-4 (SHA-256), RFC 2104 (HMAC)
 */
import { hash } from 'node:crypto'
import type { Digests } from '../../core/credentials/digests.js'
import { hmacSha256 } from './hmac.js'

/** `Digests` of `node:crypto`. Pass them as the option `digests`: several times as fast as the default, with the same results. */
export const nodeDigests: Digests = {
  sha256: (data) => hash('sha256', data, 'base64url'),
  hmacSha256,
}
