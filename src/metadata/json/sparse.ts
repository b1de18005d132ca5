/**
 * Objects with numbers as keys, whose memory grows with the number of keys only.
 * @module
 */

/**
 * Prepares a new object for any numbers as keys. V8 would reserve memory for all numbers below a key, up to 12 KB for four bytes of
 * input, unless the object once had a key that is too large for that.
 */
export function makeSparse<Value>(fresh: { [key: string]: Value | undefined }): { [key: string]: Value } {
  fresh[LARGEST_INDEX] = undefined
  delete fresh[LARGEST_INDEX]
  // The only key without a value was deleted.
  return fresh as { [key: string]: Value }
}

const LARGEST_INDEX = 4_294_967_294

/** Checks that V8 may treat a key as a number. */
export function isIndexLike(key: string): boolean {
  const first = key.charCodeAt(0)
  return first >= 0x30 && first <= 0x39
}
