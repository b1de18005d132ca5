/**
 * The comparison of JSON values.
 * @module
 */

/** True if two JSON values are equal. The order of names does not count: an engine may keep another one. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const left = Object.entries(a)
  const right = new Map(Object.entries(b))
  return (
    Array.isArray(a) === Array.isArray(b) &&
    left.length === right.size &&
    left.every(([name, value]) => right.has(name) && sameJson(value, right.get(name)))
  )
}
