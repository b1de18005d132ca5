/**
 * Options and arguments of the client's functions, checked once at their edge.
 * @module
 */
import type { Takes, TakesOf } from '../core/takes.js'
import { isTaken, mustBe, readOptions as read } from '../core/takes.js'
import { ClientError } from './errors.js'

/** Values that each option takes. */
export type OptionChecks<Options> = TakesOf<Options>

/**
 * Reads the options that were given: own properties alone, so that a polluted prototype changes nothing, and each one sound.
 * @param of - the function that takes them
 * @param isStrict - refuses an unknown name whose value is undefined too
 * @throws ClientError `ERR_CONFIGURATION` for an unknown, missing or wrong one
 */
export function readOptions<Options extends object>(
  of: string,
  options: Options,
  takes: OptionChecks<Options>,
  required: readonly (keyof Options & string)[] = [],
  isStrict = false,
): Options {
  const own = read<Options>(of, options, takes, required, isStrict)
  if (typeof own === 'string') throw mistake(own)
  return own
}

/** @throws ClientError `ERR_CONFIGURATION` for an argument that is not what is taken */
export function checkArgument(of: string, name: string, takes: Takes, value: unknown): void {
  if (!isTaken(takes, value)) throw mistake(`${of}: the argument ${name} ${mustBe(takes, value)}`)
}

/** Makes the error of whoever calls. */
export function mistake(message: string, cause?: unknown): ClientError {
  return new ClientError('ERR_CONFIGURATION', message, { cause })
}

/** The longest that a timer can wait, in seconds; one that is set for longer goes off at once. */
export const LONGEST_WAIT: number = (2 ** 31 - 1) / 1000

/** Makes what takes a time to wait. What is longer than the most can only be meant as milliseconds. */
export function wait(most: number): Takes {
  return {
    words: `seconds, above 0 and at most ${most}`,
    fits: (value) => typeof value === 'number' && value > 0 && value <= most,
    most,
  }
}

/** Makes what takes a length of time, or none. */
export function duration(most: number): Takes {
  return {
    words: `seconds from 0 to ${most}`,
    fits: (value) => typeof value === 'number' && value >= 0 && value <= most,
    most,
  }
}

/** Scopes as a request has them (RFC 6749, section 3.3). */
export const SCOPE: Takes = {
  words: 'scopes separated by single spaces',
  fits: (value) =>
    typeof value === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(value),
}

export const SIGNAL: Takes = { words: 'an AbortSignal', fits: (value) => value instanceof AbortSignal }
