/**
 * A case of the portable suite: code that any runtime runs, without a test runner, and that throws where something is
 * wrong.
 * @module
 */
import fc from 'fast-check'

/** A case. */
export interface Case {
  readonly name: string
  /** Throws, or rejects with, an Error that says what is wrong. A text that it gives must be the same on every runtime. */
  readonly run: () => unknown
}

/** Cases of one subject. */
export interface Suite {
  readonly title: string
  /** Called where the cases run: a runtime may refuse random numbers while it loads a module. */
  readonly cases: () => readonly Case[]
}

/** Where random examples start, so that every runtime tries the same ones. */
export const SEED = 20_260

/** Throws unless something holds. */
export function demand(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise)
}

/** Throws unless a value is the wanted one, in every part; a part that is undefined is as good as one that is not there. */
export function same(found: unknown, wanted: unknown, what: string): void {
  if (!equal(found, wanted)) throw new Error(`${what}: instead of ${show(wanted)} came ${show(found)}`)
}

/** Throws unless an object has these parts at least. */
export function has(found: object, wanted: Readonly<Record<string, unknown>>, what: string): void {
  const parts = new Map(Object.entries(found))
  same(Object.fromEntries(Object.keys(wanted).map((name) => [name, parts.get(name)])), wanted, what)
}

/** Tries a property on the examples that every runtime tries. */
export function forAll<Value>(
  values: fc.Arbitrary<Value>,
  holds: (value: Value) => void,
  numRuns = 100,
  examples: readonly NoInfer<Value>[] = [],
): void {
  const property = fc.property(values, holds)
  fc.assert(property, { seed: SEED, numRuns, examples: examples.map((value) => [value]) })
}

/** A value as a message shows it. */
function show(value: unknown): string {
  const text = fc.stringify(value)
  return text.length <= 600 ? text : `${text.slice(0, 600)}... (${text.length} characters)`
}

function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b) || ArrayBuffer.isView(a) !== ArrayBuffer.isView(b)) return false
  const [ours, theirs] = [partsOf(a), partsOf(b)]
  return (
    ours.size === theirs.size && [...ours].every(([name, part]) => theirs.has(name) && equal(part, theirs.get(name)))
  )
}

function partsOf(value: object): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(value).filter(([, part]) => part !== undefined || Array.isArray(value)))
}

/** Bytes in hexadecimal. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The bytes that a text in hexadecimal spells. */
export function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  )
}

/** The bytes of base64url by the platform's own decoder. */
export function platformBytes(base64url: string): Uint8Array {
  return Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  )
}

/** base64url by the platform's own encoder, to hold ours against. */
export function platformBase64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
