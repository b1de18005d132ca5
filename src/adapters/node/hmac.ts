/**
 * HMAC-SHA-256 from two one-shot hashes over arrays that are used again and again, in one function: 0.8 µs, where `createHmac`
 * takes 1.5 µs, and functions for its parts 0.9 µs. A refresh has three of them in about 10 µs of our own.
 * @module
 * @see RFC 2104, section 2
 */
import { hash } from 'node:crypto'
import type { Digests } from '../../core/credentials/digests.js'

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
const INNER_PAD = 0x36
const OUTER_PAD = 0x5c

/** Bytes of data up to which the input of an inner hash is used again. */
const REUSED_BYTES = 192

/** Computes an HMAC-SHA-256. */
export const hmacSha256: Digests['hmacSha256'] = createHmacSha256()

/** Creates the function with its arrays. It takes real arrays of bytes alone, so no call of it begins within another one. */
function createHmacSha256(): Digests['hmacSha256'] {
  /** The input of the outer hash: the padded key and the inner digest. */
  const outer = new Uint8Array(BLOCK_BYTES + DIGEST_BYTES)
  /** The inputs of inner hashes by their lengths, over the same bytes: the padded key and the data. */
  const bytes = new Uint8Array(BLOCK_BYTES + REUSED_BYTES)
  const inners = Array.from({ length: bytes.length + 1 }, (_, length) => bytes.subarray(0, length))

  return (key, data) => {
    const block = key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key
    const length = BLOCK_BYTES + data.length
    const inner = inners[length] ?? new Uint8Array(length)
    try {
      for (let index = 0; index < block.length; index++) {
        const byte = block[index] as number // inside the block
        inner[index] = byte ^ INNER_PAD
        outer[index] = byte ^ OUTER_PAD
      }
      for (let index = block.length; index < BLOCK_BYTES; index++) {
        inner[index] = INNER_PAD
        outer[index] = OUTER_PAD
      }
      inner.set(data, BLOCK_BYTES)
      // A string with one character for each byte is the fastest result of `hash`.
      const innerDigest = hash('sha256', inner, 'binary')
      for (let index = 0; index < DIGEST_BYTES; index++) outer[BLOCK_BYTES + index] = innerDigest.charCodeAt(index)
      const outerDigest = hash('sha256', outer, 'binary')
      const digest = new Uint8Array(DIGEST_BYTES)
      for (let index = 0; index < DIGEST_BYTES; index++) digest[index] = outerDigest.charCodeAt(index)
      return digest
    } finally {
      // No key stays in memory.
      inner.fill(0)
      outer.fill(0)
    }
  }
}
