/**
 * The clock, the randomness, the digests and the address of a client: those of the platform, and the host's own, whose answers
 * are checked.
 * @module
 */

import type { Digests } from '../../core/credentials/digests.js'
import { portableDigests } from '../../core/credentials/digests.js'
import type { Takes } from '../../core/takes.js'
import { seconds } from '../../core/takes.js'
import type { Seconds } from '../../core/values.js'
import type { HttpRequest } from '../../protocol/message.js'
import { memberOf } from '../../protocol/message.js'
import { checkedAnswer, wrongAnswer } from '../host.js'
import { optionError } from './checks.js'

/** A time. Greater numbers are milliseconds: they would be seconds some thousands of years from now. */
const TIME: Takes = { ...seconds(0, 1e11 - 1), words: 'whole seconds since the epoch' }

/** Returns the time of the system. */
export function systemClock(): Seconds {
  return Math.floor(Date.now() / 1000)
}

/**
 * Checks the clock of a host, once now and at each use.
 * @throws GrantwellError `ERR_CONFIGURATION`
 */
export function checkedClock(clock: () => Seconds): () => Seconds {
  checkedAnswer('clock()', TIME, clock())
  return () => {
    const now = clock()
    return Number.isSafeInteger(now) && now >= 0 ? now : checkedAnswer('clock()', TIME, now)
  }
}

/**
 * Checks the digests of a host: their results once now, the type of their results at each use.
 * @throws GrantwellError `ERR_CONFIGURATION`
 */
export function checkedDigests(digests: Digests): Digests {
  const checked: Digests = {
    sha256: (data) => {
      const digest = digests.sha256(data)
      if (typeof digest === 'string' && digest.length === 43) return digest
      throw wrongAnswer('digests.sha256()', '43 characters of base64url', digest, true)
    },
    hmacSha256: (key, data) => {
      const digest = digests.hmacSha256(key, data)
      if (isBytes(digest, 32)) return digest
      throw wrongAnswer('digests.hmacSha256()', 'a Uint8Array of 32 bytes', digest, true)
    },
  }
  const sample = new Uint8Array([1])
  const resultsOf = ({ sha256, hmacSha256 }: Digests): string =>
    [sha256('\u{e9}'), sha256(sample), ...hmacSha256(sample, sample)].join()
  if (resultsOf(checked) !== resultsOf(portableDigests))
    throw optionError('digests', 'SHA-256 and HMAC-SHA-256', digests)
  return checked
}

/** Checks the randomness of a host at each use: with too few bytes, secrets could be guessed. */
export function checkedEntropy(entropy: (length: number) => Uint8Array): (length: number) => Uint8Array {
  return (length) => {
    const bytes = entropy(length)
    // A copy, since the host may fill the same bytes again. `slice` of a Buffer makes no copy.
    if (isBytes(bytes, length)) return Uint8Array.from(bytes)
    throw wrongAnswer('entropy()', `a Uint8Array of as many bytes as it is asked for, here ${length}`, bytes, true)
  }
}

/**
 * Creates a pool of random bytes, since many small requests to the platform are slow. Bytes that were handed out are zeroed in
 * it.
 */
export function createEntropyPool(): (length: number) => Uint8Array {
  const pool = new Uint8Array(8192)
  let used = pool.length
  return (length) => {
    if (length > pool.length) return globalThis.crypto.getRandomValues(new Uint8Array(length))
    if (used + length > pool.length) {
      globalThis.crypto.getRandomValues(pool)
      used = 0
    }
    const bytes = pool.slice(used, used + length)
    pool.fill(0, used, used + length)
    used += length
    return bytes
  }
}

/** Returns the address that a request comes from, if the adapter or Node's socket knows it. */
export function socketAddress(request: HttpRequest): string | undefined {
  if (Object.hasOwn(request, 'remoteAddress') && request.remoteAddress !== undefined) return request.remoteAddress
  const native = (request.native ?? {}) as { readonly socket?: { readonly remoteAddress?: unknown } } // any object may be asked for it
  const remoteAddress = memberOf(memberOf(native, 'socket') ?? {}, 'remoteAddress')
  return typeof remoteAddress === 'string' ? remoteAddress : undefined
}

/** Returns true for a Uint8Array of a length. A value that throws when it is read is none. */
function isBytes(value: unknown, length: number): value is Uint8Array {
  try {
    return value instanceof Uint8Array && value.length === length
  } catch {
    return false
  }
}
