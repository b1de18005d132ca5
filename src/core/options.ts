/**
 * The one reader of options and arguments, and the one form of the error for a wrong one. Every function of this package that a
 * host calls reads its options here. The codec of metadata alone has a reader of its own, since it imports nothing of the rest.
 * @module
 */
import { configurationError } from './errors.js'
import { nearest } from './nearest.js'
import type { Takes, TakesOf } from './takes.js'
import { cut, isObject, isTaken, isThenable, MUST_BE_OWN, mustBe } from './takes.js'

/** Makes the error of a wrong option or argument from its message. */
type CreateError = (message: string) => Error

/**
 * Reads and checks options, each once. Only own properties count, so a polluted prototype changes nothing. An option that comes
 * from a class is refused: if it were ignored, it could open what it was meant to close. An option that is undefined is left out.
 * @param of - the name of the function that takes the options
 * @param isStrict - true to refuse an unknown name whose value is undefined too; false by default
 * @param createError - makes the error; GrantwellError `ERR_CONFIGURATION` by default
 * @throws the error for the first unknown, missing or wrong option
 */
export function readOptions<Options extends object>(
  of: string,
  options: unknown,
  takes: TakesOf<Options>,
  required: readonly (keyof Options & string)[] = [],
  isStrict = false,
  createError: CreateError = configurationError,
): Options {
  const fault = (words: string): Error => createError(`${of}: ${words}`)
  const own = entriesOf(options)
  if (own === undefined) throw fault(`the options ${mustBe({ words: 'an object', secret: true }, options)}`)
  const known = new Map<string, Takes>(Object.entries(takes))
  const names = [...known.keys()]
  const inherited = inheritedName(options, names)
  if (inherited !== undefined) throw fault(`the option ${inherited} ${MUST_BE_OWN}`)
  for (const [name, value] of own) {
    const taken = known.get(name)
    if (taken === undefined && value === undefined && !isStrict) continue
    if (taken === undefined) throw fault(unknownName(name, names))
    if (value !== undefined && !isTaken(taken, value)) throw fault(`the option ${name} ${mustBe(taken, value)}`)
  }
  const given = new Map(own.filter(([, value]) => value !== undefined))
  for (const name of required) if (!given.has(name)) throw fault(`the option ${name} ${mustBe(takes[name], undefined)}`)
  // The names and values of the options that were given, so of their type.
  return Object.assign(Object.create(null), Object.fromEntries(given)) as Options
}

/**
 * Reads options as {@link readOptions} does, and refuses an unknown name whose value is undefined too. For functions where a
 * misspelt option would permit, or end, more than was meant.
 */
export function readStrictOptions<Options extends object>(
  of: string,
  options: unknown,
  takes: TakesOf<Options>,
  required: readonly (keyof Options & string)[] = [],
): Options {
  return readOptions(of, options, takes, required, true)
}

/**
 * Checks an argument.
 * @param of - the name of the function that takes it
 * @throws the error for a wrong one; GrantwellError `ERR_CONFIGURATION` by default
 */
export function checkArgument(
  of: string,
  name: string,
  takes: Takes,
  value: unknown,
  createError: CreateError = configurationError,
): void {
  if (!isTaken(takes, value)) throw createError(`${of}: the argument ${name} ${mustBe(takes, value)}`)
}

/**
 * Finds a name that an object has, but not as an enumerable property of its own: a method or a getter of its class, for example.
 * Ignores `Object.prototype`, since any code may have added to it.
 */
export function inheritedName(given: unknown, names: readonly string[]): string | undefined {
  if (!isObject(given)) return undefined
  for (const name of names) {
    if (!(name in given) || Object.prototype.propertyIsEnumerable.call(given, name)) continue
    let holder: object | null = given
    for (; holder !== null && holder !== Object.prototype; holder = Object.getPrototypeOf(holder))
      if (Object.hasOwn(holder, name)) return name
  }
  return undefined
}

/** The kinds of objects that may hold options. A `Map` or a `Set` has none as properties, so all that it holds would be ignored. */
const HOLDERS: readonly string[] = ['[object Object]', '[object Module]']

/** True for an object that may hold options. May throw for one that throws when it is read. */
export function holdsOptions(given: unknown): given is object {
  return isObject(given) && HOLDERS.includes(Object.prototype.toString.call(given)) && !isThenable(given)
}

/** Returns the options of an object; undefined for a value that holds none, or that throws when it is read. */
function entriesOf(given: unknown): readonly (readonly [string, unknown])[] | undefined {
  try {
    return holdsOptions(given) ? Object.entries(given) : undefined
  } catch {
    return undefined
  }
}

function unknownName(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  const instead = meant === undefined ? `it takes ${known.join(', ') || 'none'}` : `did you mean ${meant}?`
  return `there is no option ${/^\w{1,64}$/.test(name) ? name : cut(JSON.stringify(name))}; ${instead}`
}
