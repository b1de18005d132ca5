/**
 * Objects with numbers as their keys, in memory that grows with the keys alone.
 * @module
 */

/**
 * Prepares a fresh object for any numbers as its keys. V8 makes room for all the numbers below one, up to 12 KB for four bytes
 * of input, unless there once was a key that is too large for that.
 */
export function makeSparse<Value>(fresh: { [key: string]: Value | undefined }): { [key: string]: Value } {
  fresh[LARGEST_INDEX] = undefined
  delete fresh[LARGEST_INDEX]
  // The only one without a value is gone.
  return fresh as { [key: string]: Value }
}

const LARGEST_INDEX = 4_294_967_294

/** Tells whether V8 may take a key for a number. */
export function isIndexLike(key: string): boolean {
  const first = key.charCodeAt(0)
  return first >= 0x30 && first <= 0x39
}
