/**
 * Options and arguments of the client's functions, checked once where they enter.
 * @module
 */
import { checkArgument as check, readOptions as read } from '../core/options.js'
import type { Takes, TakesOf } from '../core/takes.js'
import { configurationError } from './errors.js'
import { parseAddress } from './http/address.js'

/** The check of each option. */
export type OptionChecks<Options> = TakesOf<Options>

/**
 * Reads and checks options. Only own properties count, so a polluted prototype changes nothing.
 * @param of - the name of the function that takes them
 * @param isStrict - true to refuse unknown names whose value is undefined too
 * @throws ClientError `ERR_CONFIGURATION` for an unknown, missing or wrong option
 */
export function readOptions<Options extends object>(
  of: string,
  options: Options,
  takes: OptionChecks<Options>,
  required: readonly (keyof Options & string)[] = [],
  isStrict = false,
): Options {
  return read(of, options, takes, required, isStrict, configurationError)
}

/** Checks an argument. @throws ClientError `ERR_CONFIGURATION` for a wrong one */
export function checkArgument(of: string, name: string, takes: Takes, value: unknown): void {
  check(of, name, takes, value, configurationError)
}

/** The longest time that a timer can wait, in seconds. A timer with a longer time fires at once. */
export const MAX_TIMER: number = (2 ** 31 - 1) / 1000

/** Creates the check of a time to wait, in seconds. A time that exceeds the maximum is probably meant in milliseconds. */
export function waitingTime(most: number): Takes {
  return {
    words: `seconds, above 0 and at most ${most}`,
    fits: (value) => typeof value === 'number' && value > 0 && value <= most,
    most,
  }
}

/** Creates the check of a length of time in seconds, which may be 0. */
export function duration(most: number): Takes {
  return {
    words: `seconds from 0 to ${most}`,
    fits: (value) => typeof value === 'number' && value >= 0 && value <= most,
    most,
  }
}

/** Scopes in the form of a request (RFC 6749, section 3.3). */
export const SCOPE: Takes = {
  words: 'scopes separated by single spaces',
  fits: (value) =>
    typeof value === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(value),
}

/** Protected resources in the form of a request: absolute, without a fragment (RFC 8707, section 2). */
export const RESOURCE: Takes = {
  words: "the URL of a protected resource, such as 'https://api.example', or a list of such URLs",
  fits: (value) => {
    const all: readonly unknown[] = Array.isArray(value) ? value : [value]
    return all.length > 0 && all.every((each) => typeof each === 'string' && !each.includes('#') && parseAddress(each))
  },
}

export const SIGNAL: Takes = { words: 'an AbortSignal', fits: (value) => value instanceof AbortSignal }
