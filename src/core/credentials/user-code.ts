/**
 * User codes: what a person reads on a device and types into a browser.
 *
 * Eight letters of an alphabet without vowels, so that they spell nothing, and without look-alikes: 20^8, or 34.6 bits.
 * @module
 * @see RFC 8628, sections 5.1 and 6.1
 */

import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { Digest, UserCode } from '../values.js'
import { encodeBase64url } from './base64url.js'
import { rulesOfEachKey } from './derivation-keys.js'
import type { DerivationRules, Digests } from './digests.js'

const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ'
const LENGTH = 8
const USER_CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`)

/** Bytes of entropy for a code: more than it has, so that no code is likelier than another. */
export const USER_CODE_ENTROPY_BYTES = 16

/** Makes a code of {@link USER_CODE_ENTROPY_BYTES} random bytes. */
export function userCodeOf(entropy: Uint8Array): UserCode {
  let rest = 0n
  for (const byte of entropy) rest = rest * 256n + BigInt(byte)
  let code = ''
  for (let index = 0; index < LENGTH; index++) {
    code += ALPHABET.charAt(Number(rest % BigInt(ALPHABET.length)))
    rest /= BigInt(ALPHABET.length)
  }
  return code as UserCode // the one place where a user code comes into being
}

/**
 * Reads what a person typed: in any case, with dashes, spaces or whatever else stands between the letters.
 * @returns undefined where it is no user code
 */
export function parseUserCode(text: string): UserCode | undefined {
  const letters = text
    .split(/[^A-Za-z0-9]/)
    .join('')
    .toUpperCase()
  return USER_CODE.test(letters) ? (letters as UserCode) : undefined // checked beside it
}

/** A code as it is shown: `WDJB-MJHT`. */
export function printUserCode(code: UserCode): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`
}

/**
 * The digest under which a code is stored. Codes are too short for it to hide them from whoever has the store alone,
 * unless the server has a key.
 */
export function userCodeDigest(code: UserCode, digests: Digests, key: Uint8Array = NO_KEY): Digest {
  return encodeBase64url(digests.hmacSha256(key, utf8ToBytes(`grantwell user code ${code}`))) as Digest // 32 bytes of base64url
}

/** Lists the digests under which a code may be stored: the one under which it is stored now first. */
export function userCodeDigests(code: UserCode, rules: DerivationRules): readonly [Digest, ...Digest[]] {
  const under = ({ digests, derivationKey }: DerivationRules) => userCodeDigest(code, digests, derivationKey)
  const [now, ...others] = rulesOfEachKey(rules)
  return [under(now), ...others.map(under)]
}

const NO_KEY: Uint8Array = new Uint8Array(32)
