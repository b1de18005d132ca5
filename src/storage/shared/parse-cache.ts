/**
 * A cache of parsed values. Nearly every request reads an application that an earlier request read too; the cache saves its
 * `JSON.parse`, about a microsecond.
 * @module
 */
import type { JsonValue } from '../record-store.js'

/** Values that are kept at least; up to twice as many are. */
const MIN_KEPT = 512

/** Longest text whose value is kept. Longer ones are seldom read, and a logo has millions of characters. */
const MAX_LENGTH = 8192

/** Parses the value of a record's version. Everybody gets the same object, because nobody changes a value. */
export type Parse = (json: string, version: number) => JsonValue

interface Parsed {
  readonly json: string
  readonly value: JsonValue
}

/** Parses without a cache. A scan of all records would put out what the cache keeps. */
export const parseAlone: Parse = (json) => JSON.parse(json)

/** Creates an empty cache. It keeps a value when it is read for the second time: most grants are read once. */
export function createParseCache(): Parse {
  // Undefined for a version that was read once.
  let recent = new Map<number, Parsed | undefined>()
  let older: typeof recent = new Map()

  /** Keeps a value, or a note that its version was read once. Drops the older half once the newer one is full. */
  function keep(version: number, parsed: Parsed): void {
    const isFirstRead = !recent.has(version) && !older.has(version)
    if (recent.size >= MIN_KEPT) {
      older = recent
      recent = new Map()
    }
    recent.set(version, isFirstRead ? undefined : parsed)
  }

  return (json, version) => {
    if (json.length > MAX_LENGTH) return JSON.parse(json)
    const known = recent.get(version) ?? older.get(version)
    const parsed = known?.json === json ? known : { json, value: JSON.parse(json) }
    if (recent.get(version) === undefined) keep(version, parsed)
    return parsed.value
  }
}
