/**
 * The two digest functions that everything rests on, in their portable form, and key derivation over them.
 * @module
 * @see RFC 6234 (SHA-256), RFC 2104 (HMAC), RFC 5869 (HKDF)
 */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { ClientId, ClientKey, Digest } from '../values.js'
import { encodeBase64url } from './base64url.js'

/**
 * The digests that grantwell uses. Replaceable by a platform's faster ones that give the same results: `nodeDigests` of
 * `grantwell/node` does so.
 */
export interface Digests {
  /** SHA-256 of bytes, or of a string's UTF-8, as 43 characters of base64url. */
  readonly sha256: (data: Uint8Array | string) => string
  /** HMAC-SHA-256: 32 bytes. */
  readonly hmacSha256: (key: Uint8Array, data: Uint8Array) => Uint8Array
}

/** {@link Digests} of `@noble/hashes`, which run everywhere. The default. */
export const portableDigests: Digests = {
  sha256: (data) => encodeBase64url(sha256(typeof data === 'string' ? utf8ToBytes(data) : data)),
  hmacSha256: (key, data) => hmac(sha256, key, data),
}

/** The settings that secrets and keys are derived with. */
export interface DerivationRules {
  /** Mixed into the derivation of successors, and what keys of `mac` tokens are derived from; 32 bytes or more. */
  readonly derivationKey?: Uint8Array | undefined
  /** Keys that derived before, or will: tried after `derivationKey`, and nothing new is derived with them. Undefined stands for none. */
  readonly otherDerivationKeys?: readonly (Uint8Array | undefined)[]
  /** The digest functions. */
  readonly digests: Digests
}

const HASH_BYTES = 32

/**
 * HKDF with SHA-256: extract, then expand.
 * @param length - bytes wanted, at most 8160
 * @see RFC 5869, section 2
 */
export function hkdf(
  digests: Digests,
  keyMaterial: Uint8Array,
  salt: Uint8Array,
  info: Uint8Array,
  length: number,
): Uint8Array {
  const key = digests.hmacSha256(salt, keyMaterial)
  const output = new Uint8Array(Math.ceil(length / HASH_BYTES) * HASH_BYTES)
  // Room for the block before, the label, and the number of the block.
  const message = new Uint8Array(HASH_BYTES + info.length + 1)
  message.set(info, HASH_BYTES)
  for (let block = 1; (block - 1) * HASH_BYTES < length; block++) {
    message[message.length - 1] = block
    const made = digests.hmacSha256(key, block === 1 ? message.subarray(HASH_BYTES) : message)
    output.set(made, (block - 1) * HASH_BYTES)
    message.set(made)
  }
  return length === output.length ? output : output.subarray(0, length)
}

/** Returns the bytes that a secret is derived from: those that were presented, and the server's own key where it has one. */
export function keyMaterialOf(
  presented: Uint8Array,
  { derivationKey }: Pick<DerivationRules, 'derivationKey'>,
): Uint8Array {
  return derivationKey === undefined ? presented : concatenate(presented, derivationKey)
}

/** The digest under which a secret is stored. */
export function digestOf(digests: Digests, secret: Uint8Array | string): Digest {
  return digests.sha256(secret) as Digest // the one place where a digest comes into being
}

/** The key of a client's application: any client identifier, an imported one too, gives one. */
export function clientKeyOf(digests: Digests, clientId: ClientId): ClientKey {
  return digests.sha256(clientId).slice(0, 16) as ClientKey // 16 characters of base64url are 12 whole bytes
}

/** The bytes of ASCII: a text encoder takes five times as long for something as short as a secret. */
export function bytesOfAscii(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index)
  return bytes
}

/** The bytes of all parts, one after the other. */
export function concatenate(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.length
  const joined = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
