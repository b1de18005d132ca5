/**
 * Options and input, as a caller in JavaScript may give them.
 * @module
 */
import { refuse } from './errors.js'

/** The values that each option takes: a type, or one of some values. */
type OptionTypes = { readonly [name: string]: 'boolean' | 'number' | 'object' | readonly string[] }

/** The options of every reader of text. */
export const READ_OPTIONS: OptionTypes = {
  strict: 'boolean',
  enumAliases: 'object',
  duplicates: ['refuse', 'last'],
  maxBytes: 'number',
}

/**
 * Checks the options that a caller gave, and returns them. Refuses a misspelt or inherited one, which would otherwise be ignored without
 * a word.
 * @throws {TypeError} for a mistake of the program; a mistake of its input is a `MetadataError`
 */
export function checkOptions<T extends object>(options: T | undefined, takes: OptionTypes): Partial<T> {
  // The empty object is a part of any options, but its type does not say so.
  if (options === undefined) return NO_OPTIONS as Partial<T>
  if (!isPlainObject(options)) throw new TypeError('the options should be an object')
  for (const name of Object.keys(takes)) refuseInherited(options, name, `the option ${name}`)
  for (const [name, value] of Object.entries(options)) {
    const type = Object.hasOwn(takes, name) ? takes[name] : undefined
    if (type === undefined)
      throw new TypeError(`there is no option ${name}: there are ${Object.keys(takes).join(', ')}`)
    const isGood =
      type === 'object' ? isPlainObject(value) : typeof type === 'string' ? typeof value === type : type.includes(value)
    if (value !== undefined && (!isGood || Number.isNaN(value)))
      throw new TypeError(`the option ${name} should be ${typeof type === 'string' ? `a ${type}` : type.join(' or ')}`)
  }
  return Object.assign(Object.create(null), options)
}

/**
 * Refuses a name that an object has from its class or its prototype, which would otherwise be ignored without a word. Names of
 * `Object.prototype` are ignored, because any code may have added to it.
 * @param what - the name in a message
 * @throws {TypeError} for a mistake of the program
 */
export function refuseInherited(given: object, name: string, what: string): void {
  if (!(name in given) || Object.prototype.propertyIsEnumerable.call(given, name)) return
  for (let holder = given; holder !== null && holder !== Object.prototype; holder = Object.getPrototypeOf(holder))
    if (Object.hasOwn(holder, name)) throw new TypeError(`${what} must be the object's own; got an inherited one`)
}

/** The empty options, without a prototype like all others. */
const NO_OPTIONS: Readonly<Record<string, never>> = Object.freeze(Object.create(null))

/** Checks that a value is an object with keys and values: not a Map, a Date or a list. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  // Nearly all objects pass here; the test below costs more.
  if (Object.getPrototypeOf(value) === Object.prototype) return true
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** Checks that a value is bytes, also those of another realm and Node's Buffer. */
export function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === '[object Uint8Array]'
}

/**
 * Checks the type of an input.
 * @throws {MetadataError} `invalid_value` for a value of another type, such as the ArrayBuffer that holds the bytes
 */
export function checkInput(input: unknown, expected: 'bytes' | 'bytes or text'): void {
  if (isBytes(input) || (expected === 'bytes or text' && typeof input === 'string')) return
  refuse('the input', expected === 'bytes' ? 'a Uint8Array' : 'a string or a Uint8Array', input)
}
