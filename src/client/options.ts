/**
 * Options of the client's functions, checked once at their edge.
 * @module
 */
import { ClientError } from './errors.js'

/** For each option, whether a value of it is sound. */
export type OptionChecks<Options> = { readonly [Name in keyof Required<Options>]: (value: unknown) => boolean }

/**
 * The options that were given: own properties alone, so that a polluted prototype changes nothing, and each one sound.
 * @throws ClientError `ERR_CONFIGURATION` for an unknown, missing or wrong one
 */
export function readOptions<Options extends object>(
  options: Options,
  checks: OptionChecks<Options>,
  required: readonly (keyof Options & string)[] = [],
): Options {
  if (typeof options !== 'object' || options === null) throw mistake('the options are no object')
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  for (const [name, value] of given) {
    if (!Object.hasOwn(checks, name)) throw mistake(`unknown option: ${name}`)
    if (!checks[name as keyof Options](value)) throw mistake(`not a valid value of the option ${name}`) // it is one of them
  }
  for (const name of required) {
    if (!given.some(([each]) => each === name)) throw mistake(`the option ${name} is missing`)
  }
  // The names and values of the options that were given, so of their type.
  return Object.assign(Object.create(null), Object.fromEntries(given)) as Options
}

/** A mistake of whoever calls. */
export function mistake(message: string, cause?: unknown): ClientError {
  return new ClientError('ERR_CONFIGURATION', message, { cause })
}

/** The longest that a timer can wait, in seconds; one that is set for longer goes off at once. */
export const LONGEST_WAIT: number = (2 ** 31 - 1) / 1000

/** A time to wait, in seconds. */
export function isWait(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && value <= LONGEST_WAIT
}

export function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

/** Scopes as a request has them (RFC 6749, section 3.3). */
export function isScope(value: unknown): boolean {
  return typeof value === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(value)
}

export function isSignal(value: unknown): boolean {
  return value instanceof AbortSignal
}
