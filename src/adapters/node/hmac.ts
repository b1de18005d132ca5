/**
 * HMAC-SHA-256 from two one-shot hashes: 1.0 µs, where `createHmac` takes 1.8 µs. A refresh over HTTP has three of them in about
 * 35 µs of processor time, so it would be some 7 % slower.
 * @module
 * @see RFC 2104, section 2
 */
import { hash } from 'node:crypto'

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
const INNER_PAD = 0x36
const OUTER_PAD = 0x5c

/** Computes an HMAC-SHA-256. */
export function hmacSha256(key: Uint8Array, data: Uint8Array): Uint8Array {
  const block = key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key
  // From the pool of Node, which is several times as fast as a new array.
  const inner = Buffer.allocUnsafe(BLOCK_BYTES + data.length)
  const outer = Buffer.allocUnsafe(BLOCK_BYTES + DIGEST_BYTES)
  try {
    writePads(inner, outer, block)
    inner.set(data, BLOCK_BYTES)
    // A string with one character for each byte is the fastest result of `hash`.
    writeDigest(outer, BLOCK_BYTES, hash('sha256', inner, 'binary'))
    const digest = new Uint8Array(DIGEST_BYTES)
    writeDigest(digest, 0, hash('sha256', outer, 'binary'))
    return digest
  } finally {
    // The pool is shared, so no key may stay in it.
    clear.call(inner, 0)
    clear.call(outer, 0)
  }
}

/** Fills without the checks of `Buffer.fill`. */
const clear = Uint8Array.prototype.fill

/** Writes a key to the first block of each array, XORed with its pad. */
function writePads(inner: Uint8Array, outer: Uint8Array, key: Uint8Array): void {
  for (let index = 0; index < key.length; index++) {
    const byte = key[index] as number // inside the key
    inner[index] = byte ^ INNER_PAD
    outer[index] = byte ^ OUTER_PAD
  }
  for (let index = key.length; index < BLOCK_BYTES; index++) {
    inner[index] = INNER_PAD
    outer[index] = OUTER_PAD
  }
}

/** Writes a digest that has one character for each byte. */
function writeDigest(target: Uint8Array, start: number, digest: string): void {
  for (let index = 0; index < digest.length; index++) target[start + index] = digest.charCodeAt(index)
}
