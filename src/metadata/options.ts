/**
 * Checks of options and input, which a caller in JavaScript may get wrong. The codec has a reader of options of its own, since it
 * is one file that imports nothing of the rest. Its messages have the same form as those of `core/options.ts`.
 * @module
 */
import { describeKind, refuse } from './errors.js'

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
 * Reads and checks options. Only own properties count, and an unknown or inherited name is refused, since it would be ignored
 * silently.
 * @throws {TypeError} a mistake of the program, and not of its input
 */
export function checkOptions<T extends object>(options: T | undefined, takes: OptionTypes): Partial<T> {
  // Nothing is a part of any options; a frozen object has no type that says so.
  if (options === undefined) return NO_OPTIONS as Partial<T>
  if (!isPlainObject(options)) throw new TypeError(`the options must be an object; got ${describeKind(options)}`)
  for (const name of Object.keys(takes)) refuseInherited(options, name, `the option ${name}`)
  for (const [name, value] of Object.entries(options)) {
    const type = Object.hasOwn(takes, name) ? takes[name] : undefined
    if (type === undefined) throw new TypeError(`there is no option ${name}; it takes ${Object.keys(takes).join(', ')}`)
    const isGood =
      type === 'object' ? isPlainObject(value) : typeof type === 'string' ? typeof value === type : type.includes(value)
    if (value !== undefined && (!isGood || Number.isNaN(value))) {
      const words = typeof type === 'string' ? WORDS[type] : type.map((each) => `'${each}'`).join(' or ')
      const came = typeof value === 'string' ? JSON.stringify(value.slice(0, 64)) : describeKind(value)
      throw new TypeError(`the option ${name} must be ${words}; got ${came}`)
    }
  }
  return Object.assign(Object.create(null), options)
}

const WORDS = { boolean: 'true or false', number: 'a number', object: 'an object' } as const

/**
 * Refuses a name that an object has from its class or its prototype, since it would be ignored silently. Ignores
 * `Object.prototype` itself, since any code may have added to it.
 * @param what - the name in a message
 * @throws {TypeError} a mistake of the program
 */
export function refuseInherited(given: object, name: string, what: string): void {
  if (!(name in given) || Object.prototype.propertyIsEnumerable.call(given, name)) return
  for (let holder = given; holder !== null && holder !== Object.prototype; holder = Object.getPrototypeOf(holder))
    if (Object.hasOwn(holder, name)) throw new TypeError(`${what} must be the object's own; got an inherited one`)
}

/** No options. Without a prototype, like the others. */
const NO_OPTIONS: Readonly<Record<string, never>> = Object.freeze(Object.create(null))

/** Returns true for an object with keys and values, and not for a Map, a Date or a list. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  // A short way for nearly all objects.
  if (Object.getPrototypeOf(value) === Object.prototype) return true
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** Returns true for bytes, also for those of another realm and Node's Buffer. */
export function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === '[object Uint8Array]'
}

/**
 * Checks the type of an input.
 * @throws {MetadataError} `invalid_value` for another type, such as the ArrayBuffer that holds it
 */
export function checkInput(input: unknown, expected: 'bytes' | 'bytes or text'): void {
  if (isBytes(input) || (expected === 'bytes or text' && typeof input === 'string')) return
  refuse('the input', expected === 'bytes' ? 'a Uint8Array' : 'a string or a Uint8Array', input)
}
