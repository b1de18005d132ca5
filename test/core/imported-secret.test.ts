/**
 * Secrets as other servers kept them: digests that are taken over, and password hashes that are told from secrets.
 * @module
 */
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDigest, passwordHashKind } from '../../src/core/credentials/imported-secret.js'

/** One of each form, as the programs named write it. */
const HASHES: readonly (readonly [program: string, kind: string, hash: string])[] = [
  ['bcrypt of most languages', 'bcrypt', '$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW'],
  ['bcrypt of PHP', 'bcrypt', '$2y$10$abcdefghijklmnopqrstuuN8yzE1zDGNe4K8bQbXcOeZzYl5rVQWq'],
  ['bcrypt of Django', 'bcrypt', 'bcrypt_sha256$$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW'],
  ['bcrypt of Spring', 'bcrypt', '{bcrypt}$2a$10$dXJ3SW6G7P50lGmMkkmwe.20cQQubK3.HZWzG3YB1tlRy.fqvM/BG'],
  ['Argon2', 'Argon2', '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b27dVPxJYUvHVlh'],
  ['Argon2 of Django', 'Argon2', 'argon2$argon2id$v=19$m=102400,t=2,p=8$c29tZXNhbHQ$0ZsDZEZNJqRGzTFmGBjDkQ'],
  ['scrypt of passlib', 'scrypt', '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD'],
  ['scrypt of Werkzeug', 'scrypt', 'scrypt:32768:8:1$u8yDzW0pUcAJzRNm$6b1f0b4d3c1e8b0c8d2b7b0a1c9d'],
  ['PBKDF2 of Django', 'PBKDF2', 'pbkdf2_sha256$600000$saltsaltsalt$8J6Xl5oOJmB5w4vYq7yqQm1xqg0L0mH0sE0J0k3bV6E='],
  [
    'PBKDF2 of passlib',
    'PBKDF2',
    '$pbkdf2-sha256$29000$N2YMIWQsBWBMae09x1jrPQ$1t8iyB2A.WF/Z5JZv.lfCIhXXN33N23OSgQYThBYRfk',
  ],
  [
    'PBKDF2 of Werkzeug',
    'PBKDF2',
    'pbkdf2:sha256:260000$salt$0c7d4b3ad1c1e5a0b8f3a0d5d8b9a1f1c0d4e9b2a3c4d5e6f7a8b9c0d1e2f3a4',
  ],
  [
    'crypt with SHA-512',
    'crypt',
    '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjlO/O817G3uBnIFNjnQJuesI68OTLiBFdcbYEdFCoEOfaS35inz1',
  ],
  ['yescrypt', 'crypt', '$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7'],
  ['MD5 of Apache', 'crypt', '$apr1$HxFH9BqS$dN5QrOHzNdQnHvvKZ5Ahs/'],
  ['phpass', 'phpass', '$P$B7vYx0wYpS6Qf9n3F1Qh3b0Zb7tqYy1'],
  ['LDAP', 'LDAP', '{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g2ePYO'],
  [
    'a salted SHA-256 of Werkzeug',
    'salted',
    'sha256$salt$f7a1c4dcb6eabfb0c1d8b2f3a4b5c6d7e8f90123456789abcdef0123456789ab',
  ],
]

describe('a password hash', () => {
  it.each(HASHES)('of %s is told from a secret: %s', (_, kind, hash) => {
    expect(passwordHashKind(hash)).toBe(kind)
  })

  it('is no random secret, however it is written', () => {
    const bytes = fc.uint8Array({ minLength: 18, maxLength: 64 })
    const encodings = fc.constantFrom('hex' as const, 'base64' as const, 'base64url' as const)
    const prefixes = fc.constantFrom('', 'gws_', 'secret-', 'sk_live_', '$', '{', '$2b$', 'scrypt', '$6$a')
    fc.assert(
      fc.property(bytes, encodings, prefixes, (random, encoding, prefix) => {
        expect(passwordHashKind(prefix + Buffer.from(random).toString(encoding))).toBeUndefined()
      }),
    )
  })
})

describe('a digest of another server', () => {
  const digest = (data: Uint8Array) => createHash('sha256').update(data)

  it('is read as hexadecimal digits in either case, and as base64url', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (data) => {
        const expected = digest(data).digest('base64url')
        expect(parseDigest(digest(data).digest('hex'))).toBe(expected)
        expect(parseDigest(digest(data).digest('hex').toUpperCase())).toBe(expected)
        expect(parseDigest(expected)).toBe(expected)
      }),
    )
  })

  it.each([
    '',
    'f'.repeat(63),
    'f'.repeat(65),
    `${'f'.repeat(63)}g`,
    ` ${'f'.repeat(64)}`,
    'A'.repeat(42),
    'A'.repeat(44),
    `${'A'.repeat(43)}=`,
    `${'A'.repeat(42)}B`,
    `${'A'.repeat(42)}+`,
    'f'.repeat(40),
    'f'.repeat(128),
  ])('is not %j', (written) => {
    expect(parseDigest(written)).toBeUndefined()
  })
})
