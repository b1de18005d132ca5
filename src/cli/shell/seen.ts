/**
 * A set of digests that only grows. It takes 12 bytes for each place, where a Set of texts takes some 100: a million records fit into
 * 25 MB. That two of a hundred million records are taken for one is less likely than 1 in 10 ** 12.
 * @module
 */

/** A set of digests. */
export interface Seen {
  /** Adds a digest, of which the first 12 bytes count. @returns true if it is new */
  readonly add: (digest: Buffer) => boolean
  /** Returns true if a digest was added, as far as its first 12 bytes tell. */
  readonly has: (digest: Buffer) => boolean
  /** Empties the set, and keeps its space for as many again. */
  readonly clear: () => void
}

/** Numbers of a digest, of 32 bits each. */
const WORDS = 3

/** Makes an empty set. */
export function createSeen(): Seen {
  let places = 1 << 12
  let table = new Uint32Array(places * WORDS)
  let count = 0

  /** Returns the place of a digest: where it is, or the first free one from its own on. A free place has zeros alone. */
  function placeOf(a: number, b: number, c: number): { readonly at: number; readonly isFree: boolean } {
    for (let at = (a % places) * WORDS; ; at = (at + WORDS) % table.length) {
      if (table[at] === a && table[at + 1] === b && table[at + 2] === c) return { at, isFree: false }
      if (table[at] === 0 && table[at + 1] === 0 && table[at + 2] === 0) return { at, isFree: true }
    }
  }

  /** Puts a digest at its place. @returns false if it is there */
  function put(a: number, b: number, c: number): boolean {
    const { at, isFree } = placeOf(a, b, c)
    if (isFree) table.set([a, b, c], at)
    return isFree
  }

  function grow(): void {
    const before = table
    places *= 2
    table = new Uint32Array(places * WORDS)
    for (let at = 0; at < before.length; at += WORDS) {
      const [a = 0, b = 0, c = 0] = before.subarray(at, at + WORDS)
      if (a !== 0 || b !== 0 || c !== 0) put(a, b, c)
    }
  }

  return {
    add(digest) {
      if (!put(digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8))) return false
      count++
      if (count * 4 > places * 3) grow()
      return true
    },

    has: (digest) => !placeOf(digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8)).isFree,

    clear() {
      table.fill(0)
      count = 0
    },
  }
}
