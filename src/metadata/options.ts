/**
 * Options and input, as a caller in JavaScript may give them.
 * @module
 */
import { refuse } from './errors.js'

/** What each option takes: a type, or one of some values. */
type OptionTypes = { readonly [name: string]: 'boolean' | 'number' | 'object' | readonly string[] }

/** What the options of every reader of text are. */
export const READ_OPTIONS: OptionTypes = {
  strict: 'boolean',
  enumAliases: 'object',
  duplicates: ['refuse', 'last'],
  maxBytes: 'number',
}

/**
 * The options that a caller gave: its own alone. A misspelt one, or one that a prototype has, would be passed over in silence.
 * @throws {TypeError} a mistake of the program, and not of its input
 */
export function checkOptions<T extends object>(options: T | undefined, takes: OptionTypes): Partial<T> {
  // Nothing is a part of any options; a frozen object has no type that says so.
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
 * Refuses a name that an object has from its class or its prototype: it would be passed over in silence. What `Object.prototype`
 * has is not looked at, since any code may have added to it.
 * @param what - the name in a message
 * @throws {TypeError} a mistake of the program
 */
export function refuseInherited(given: object, name: string, what: string): void {
  if (!(name in given) || Object.prototype.propertyIsEnumerable.call(given, name)) return
  for (let holder = given; holder !== null && holder !== Object.prototype; holder = Object.getPrototypeOf(holder))
    if (Object.hasOwn(holder, name)) throw new TypeError(`${what} must be the object's own; got an inherited one`)
}

/** No option. Without a prototype, as the others. */
const NO_OPTIONS: Readonly<Record<string, never>> = Object.freeze(Object.create(null))

/** Whether a value is an object with keys and values, and no Map, no Date and no list. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  // Nearly all are; the other way costs more.
  if (Object.getPrototypeOf(value) === Object.prototype) return true
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** Whether a value is bytes, those of another realm and Node's Buffer too. */
export function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === '[object Uint8Array]'
}

/** @throws {MetadataError} `invalid_value` for what is no input, such as the ArrayBuffer that holds it */
export function checkInput(input: unknown, expected: 'bytes' | 'bytes or text'): void {
  if (isBytes(input) || (expected === 'bytes or text' && typeof input === 'string')) return
  refuse('the input', expected === 'bytes' ? 'a Uint8Array' : 'a string or a Uint8Array', input)
}
