/**
 * What an option, an argument or the answer of a host's function takes, and the words for one that is wrong: its name, what is
 * taken, and what came.
 * @module
 */
import { nearest } from './nearest.js'

/** Values that are taken. */
export interface Takes {
  /** In words that complete "must be". */
  readonly words: string
  /** Whether a value is one of them. May throw for a value that throws when it is read: then it is none. */
  readonly fits: (value: unknown) => boolean
  /** Whether the value itself is kept out of messages: a key, a password, an address that may hold one. */
  readonly secret?: true
  /** The most seconds that it can be: what is more, but fits as milliseconds, is told to be that. */
  readonly most?: number
}

/** Options by their names. */
export type TakesOf<Options> = { readonly [Name in keyof Required<Options>]: Takes }

/** Makes what takes whole seconds. What is longer than the most can only be meant as milliseconds. */
export function seconds(least: 0 | 1, most: number): Takes {
  return {
    words: `whole seconds from ${least} to ${most}`,
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    most,
  }
}

/** Makes what takes one of some strings. */
export function oneOf(...texts: readonly string[]): Takes {
  return {
    words: texts.map((text) => `'${text}'`).join(' or '),
    fits: (value) => texts.some((text) => text === value),
  }
}

/** Makes what takes an object with some methods, its own or not: an engine may be an instance of a class. */
export function methods(words: string, ...names: readonly string[]): Takes {
  return {
    words: `${words} with the methods ${names.join(', ')}`,
    fits: (value) => isObject(value) && names.every((name) => typeof value[name] === 'function'),
    secret: true,
  }
}

export const FUNCTION: Takes = { words: 'a function', fits: (value) => typeof value === 'function' }

export const FLAG: Takes = { words: 'true or false', fits: (value) => typeof value === 'boolean' }

export const NAME: Takes = {
  words: 'a string that is not empty',
  fits: (value) => typeof value === 'string' && value !== '',
}

/** Anything: somebody else checks it. */
export const ANYTHING: Takes = { words: 'anything', fits: () => true, secret: true }

/** Whether a value has members that can be asked for. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Whether a value is taken. */
export function isTaken({ fits }: Takes, value: unknown): boolean {
  try {
    return fits(value)
  } catch {
    return false
  }
}

/**
 * Says what is wrong with a value: the rest of a sentence that begins with its name.
 * @param takes - for whole seconds, with the most, so that milliseconds are told
 */
export function mustBe({ words, secret, most }: Omit<Takes, 'fits'>, value: unknown): string {
  const isMilliseconds = most !== undefined && typeof value === 'number' && value > most && value / 1000 <= most
  return `must be ${words}; got ${came(value, secret)}${isMilliseconds ? ' (milliseconds?)' : ''}`
}

/**
 * Reads options, each once: own properties alone, without those that are undefined, so that a polluted prototype changes nothing. One
 * that comes from a class is refused: passed over, it could open what it was to close.
 * @param of - the function that takes them
 * @param isStrict - refuses an unknown name whose value is undefined too: where an option that is left out permits or ends more
 * @returns the options, or a sentence that says the first thing that is wrong with them
 */
export function readOptions<Options extends object>(
  of: string,
  options: unknown,
  takes: TakesOf<Options>,
  required: readonly (keyof Options & string)[] = [],
  isStrict = false,
): Options | string {
  const own = entriesOf(options)
  if (own === undefined) return `${of}: the options ${mustBe({ words: 'an object', secret: true }, options)}`
  const known = new Map<string, Takes>(Object.entries(takes))
  const stray = strayName(options, [...known.keys()])
  if (stray !== undefined) return `${of}: the option ${stray} ${MUST_BE_OWN}`
  for (const [name, value] of own) {
    const taken = known.get(name)
    if (taken === undefined && value === undefined && !isStrict) continue
    if (taken === undefined) return `${of}: ${unknownName(name, [...known.keys()])}`
    if (value !== undefined && !isTaken(taken, value)) return `${of}: the option ${name} ${mustBe(taken, value)}`
  }
  const given = new Map(own.filter(([, value]) => value !== undefined))
  for (const name of required)
    if (!given.has(name)) return `${of}: the option ${name} ${mustBe(takes[name], undefined)}`
  // The names and values of the options that were given, so of their type.
  return Object.assign(Object.create(null), Object.fromEntries(given)) as Options
}

/** Words for an option that is not an enumerable property of the object itself. */
export const MUST_BE_OWN = "must be the object's own; got an inherited one"

/**
 * Finds a name that an object has, but not as an enumerable property of its own: a method or a getter of its class, say. What everything
 * has by `Object.prototype` is not looked at, since any code may have added to it.
 */
export function strayName(given: unknown, names: readonly string[]): string | undefined {
  if (!isObject(given)) return undefined
  for (const name of names) {
    if (!(name in given) || Object.prototype.propertyIsEnumerable.call(given, name)) continue
    let holder: object | null = given
    for (; holder !== null && holder !== Object.prototype; holder = Object.getPrototypeOf(holder))
      if (Object.hasOwn(holder, name)) return name
  }
  return undefined
}

/** The options of an object; undefined where it is none, or throws when it is read. */
function entriesOf(given: unknown): readonly (readonly [string, unknown])[] | undefined {
  try {
    if (!isObject(given) || Array.isArray(given) || isThenable(given)) return undefined
    return Object.entries(given)
  } catch {
    return undefined
  }
}

function unknownName(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  const instead = meant === undefined ? `it takes ${known.join(', ') || 'none'}` : `did you mean ${meant}?`
  return `there is no option ${/^\w{1,64}$/.test(name) ? name : cut(JSON.stringify(name))}; ${instead}`
}

/**
 * Says what a value is, in a few words: its type and, where that is harmless, the value.
 * @param secret - whether the value itself stays out of the words; false by default
 */
export function came(value: unknown, secret = false): string {
  switch (typeof value) {
    case 'object':
      return value === null ? 'null' : objectCame(value)
    case 'symbol':
    case 'function':
      return `a ${typeof value}`
    case 'string':
      // An address may have a password in it, or a token.
      return secret || /[@?]/.test(value) ? 'a string' : cut(JSON.stringify(value))
    case 'number':
    case 'bigint':
      return secret ? `a ${typeof value}` : cut(String(value))
    default:
      return String(value)
  }
}

function objectCame(value: object): string {
  try {
    if (isThenable(value)) return 'a Promise (did you forget await?)'
    const tag = /^\[object (\w{1,40})\]$/.exec(Object.prototype.toString.call(value))?.[1] ?? 'Object'
    const type = tag === 'Object' || tag === 'Array' ? tag.toLowerCase() : tag
    const size = 'length' in value && typeof value.length === 'number' ? ` of ${value.length}` : ''
    return `${/^[aeio]/i.test(type) ? 'an' : 'a'} ${type}${size}`
  } catch {
    return 'an object that throws when it is read'
  }
}

/** Whether a value is a promise, be it of a library. */
export function isThenable(value: unknown): boolean {
  return isObject(value) && typeof value['then'] === 'function'
}

/**
 * Says what is wrong with the answer of a host's function: what came, and the field of it that somebody forgot to await.
 * @param secret - whether a value stays out of the message; false by default
 */
export function answerFault(of: string, words: string, answer: unknown, secret = false): string {
  const place = isPromise(answer) ? undefined : placesIn(answer)[0]?.[0]
  const where = place === undefined ? '' : `, in which ${place} is a Promise (did you forget await?)`
  return `${of} must give ${words}; got ${came(answer, secret || typeof answer === 'string')}${where}`
}

/** The promises that a wrong answer is, or has in its fields and entries, which nobody would wait for. */
export function promisesIn(answer: unknown): readonly unknown[] {
  return isPromise(answer) ? [answer] : placesIn(answer).map(([, promise]) => promise)
}

/** Finds the places of promises in an object, and each of them; in a list, the fields of its entries are looked at too. */
function placesIn(value: unknown, isEntry = false): readonly (readonly [string, unknown])[] {
  const isList = Array.isArray(value)
  return (entriesOfAny(value) ?? []).flatMap(([name, each]) => {
    const place = isList ? `[${name}]` : /^\w{1,64}$/.test(name) ? name : 'a field'
    if (isPromise(each)) return [[place, each] as const]
    if (!isList || isEntry) return []
    return placesIn(each, true).map(([field, promise]) => [`${place}.${field}`, promise] as const)
  })
}

function entriesOfAny(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  try {
    return isObject(value) ? Object.entries(value) : undefined
  } catch {
    return undefined
  }
}

/** Whether a value is a promise; one that throws when it is read is none. */
function isPromise(value: unknown): boolean {
  try {
    return isThenable(value)
  } catch {
    return false
  }
}

function cut(text: string): string {
  return text.length > 66 ? `${text.slice(0, 64)}…` : text
}
