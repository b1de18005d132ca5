/**
 * Secrets that another server kept in a form of its own: digests that can be taken over, and password hashes that cannot.
 * @module
 */
import type { Digest } from '../values.js'
import { decodeBase64url, encodeBase64url } from './base64url.js'

/**
 * The forms of password hashes, by their names. Each has the whole form: a random secret that happens to begin like one is a secret.
 * @see The formats of crypt(3), PHC strings, Django, Werkzeug, and RFC 2307, section 5.3
 */
const PASSWORD_HASHES: readonly (readonly [string, RegExp])[] = [
  ['bcrypt', /\$2[abxy]?\$\d\d\$[./\w]{53}$/],
  ['Argon2', /\$argon2(?:id|i|d)\$[\w=,]+\$/],
  ['scrypt', /^(?:\$scrypt\$|\$7\$|scrypt[:$]\d)/],
  ['PBKDF2', /^(?:\$pbkdf2[-\w]*\$|pbkdf2[_:]\w+[:$])\d*/],
  ['crypt', /^\$(?:[156]|y|gy|apr1|sha1)\$(?:[^$]*\$){1,2}[./\w]{22,}$/],
  ['phpass', /^\$[PHS]\$[./\w]{31}/],
  ['LDAP', /^\{[\w-]+\}[\w+/=$.]{24,}$/],
  ['salted', /^(?:md5|sha1|sha224|sha256|sha384|sha512)\$[^$]*\$[\da-f]{32,}$/],
]

/** Names the kind of password hash that a text is; undefined for everything else. */
export function passwordHashKind(text: string): string | undefined {
  return PASSWORD_HASHES.find(([, form]) => form.test(text))?.[0]
}

/**
 * Reads the SHA-256 of a secret as another server kept it.
 * @param written - 64 hexadecimal digits, or 43 characters of base64url
 * @returns undefined for anything else
 */
export function parseDigest(written: string): Digest | undefined {
  if (HEXADECIMAL.test(written)) {
    const byteAt = (_: unknown, index: number) => Number.parseInt(written.slice(2 * index, 2 * index + 2), 16)
    return encodeBase64url(Uint8Array.from({ length: DIGEST_BYTES }, byteAt)) as Digest // the other server made the digest
  }
  return decodeBase64url(written)?.length === DIGEST_BYTES ? (written as Digest) : undefined // likewise
}

const DIGEST_BYTES = 32

const HEXADECIMAL = /^[\da-f]{64}$/i
