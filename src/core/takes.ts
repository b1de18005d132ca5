/**
 * Checks of options, of arguments and of the answers of a host's functions, and the words for a wrong value: its name, the values
 * that are taken, and the value that came.
 * @module
 */

/** The values that an option, an argument or an answer takes. */
export interface Takes {
  /** Words that complete "must be". */
  readonly words: string
  /** Returns true for a value that is taken. May throw for a value that throws when it is read: such a value is not taken. */
  readonly fits: (value: unknown) => boolean
  /** True if messages leave out the value itself: a key, a password, an address that may hold one. */
  readonly secret?: true
  /** The greatest number of seconds. A greater value that fits as milliseconds is reported as milliseconds. */
  readonly most?: number
}

/** The values of one type that an option, an argument or a field takes. */
export interface TakesType<Value> extends Takes {
  readonly fits: (value: unknown) => value is Value
}

/** The values that each option takes, by its name. */
export type TakesOf<Options> = { readonly [Name in keyof Required<Options>]: Takes }

/** Creates the check of a number of whole seconds. A greater number than `most` is probably meant in milliseconds. */
export function seconds(least: 0 | 1, most: number): Takes {
  return {
    words: `whole seconds from ${least} to ${most}`,
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    most,
  }
}

/** Creates the check of a string that is one of some. */
export function oneOf(...texts: readonly string[]): Takes {
  return {
    words: texts.map((text) => `'${text}'`).join(' or '),
    fits: (value) => texts.some((text) => text === value),
  }
}

/** Creates the check of an object with some methods. They may be inherited, since an engine may be an instance of a class. */
export function methods(words: string, ...names: readonly string[]): Takes {
  return {
    words: `${words} with the methods ${names.join(', ')}`,
    fits: (value) => isObject(value) && names.every((name) => typeof value[name] === 'function'),
    secret: true,
  }
}

/** Takes functions. */
export const FUNCTION: Takes = { words: 'a function', fits: (value) => typeof value === 'function' }

/** Takes booleans. */
export const FLAG: TakesType<boolean> = { words: 'true or false', fits: (value) => typeof value === 'boolean' }

/** Takes strings that are not empty. */
export const NAME: Takes = {
  words: 'a string that is not empty',
  fits: (value) => typeof value === 'string' && value !== '',
}

/** Takes any string. An identifier that a host passes may belong to nobody. */
export const TEXT: TakesType<string> = { words: 'a string', fits: (value) => typeof value === 'string' }

/** Takes any value, for one that is checked elsewhere. */
export const ANYTHING: Takes = { words: 'anything', fits: () => true, secret: true }

/** Words for an option that is not an enumerable property of the object itself. */
export const MUST_BE_OWN = "must be the object's own; got an inherited one"

/** Returns true for an object, whose members can be read. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Returns true for an object that is no list, date, map or the like, whose content would be ignored. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && Object.prototype.toString.call(value) === '[object Object]'
}

/** Returns true if a value is taken. */
export function isTaken({ fits }: Takes, value: unknown): boolean {
  try {
    return fits(value)
  } catch {
    return false
  }
}

/**
 * Describes the fault of a value: the rest of a sentence that begins with its name.
 * @param takes - with `most` for whole seconds, so that milliseconds are recognized
 */
export function mustBe({ words, secret, most }: Omit<Takes, 'fits'>, value: unknown): string {
  const isMilliseconds = most !== undefined && typeof value === 'number' && value > most && value / 1000 <= most
  return `must be ${words}; got ${came(value, secret)}${isMilliseconds ? ' (milliseconds?)' : ''}`
}

/**
 * Describes a value in a few words: its type and, if that is harmless, the value.
 * @param secret - true to leave the value out; false by default
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

/** Returns true for a promise, also for one of a library. */
export function isThenable(value: unknown): boolean {
  return isObject(value) && typeof value['then'] === 'function'
}

/**
 * Describes a wrong answer of a host's function: the value that came, and the field of it that somebody forgot to await.
 * @param secret - true to leave the value out; false by default
 */
export function answerFault(of: string, words: string, answer: unknown, secret = false): string {
  const place = isPromise(answer) ? undefined : placesIn(answer)[0]?.[0]
  const where = place === undefined ? '' : `, in which ${place} is a Promise (did you forget await?)`
  return `${of} must give ${words}; got ${came(answer, secret || typeof answer === 'string')}${where}`
}

/** Returns the promises that a wrong answer is, or has in its fields and entries. Nobody would wait for them. */
export function promisesIn(answer: unknown): readonly unknown[] {
  return isPromise(answer) ? [answer] : placesIn(answer).map(([, promise]) => promise)
}

/** Finds the promises in an object, with their places. In a list, it reads the fields of the entries too. */
function placesIn(value: unknown, isEntry = false): readonly (readonly [string, unknown])[] {
  const isList = Array.isArray(value)
  return (entriesOfAny(value) ?? []).flatMap(([name, each]) => {
    const place = isList ? `[${name}]` : /^\w{1,64}$/.test(name) ? name : 'a field'
    if (isPromise(each)) return [[place, each] as const]
    if (!isList || isEntry) return []
    return placesIn(each, true).map(([field, promise]) => [`${place}.${field}`, promise] as const)
  })
}

/** Returns the entries of an object; undefined for any other value, and for an object that throws when it is read. */
export function entriesOfAny(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  try {
    return isObject(value) ? Object.entries(value) : undefined
  } catch {
    return undefined
  }
}

/** Returns true for a promise. A value that throws when it is read is none. */
function isPromise(value: unknown): boolean {
  try {
    return isThenable(value)
  } catch {
    return false
  }
}

/** Shortens a text for a message. */
export function cut(text: string): string {
  return text.length > 66 ? `${text.slice(0, 64)}…` : text
}
