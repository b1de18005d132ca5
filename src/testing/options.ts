/**
 * The checks of the kit's options, read as strictly as those of a server: a test that tries nothing must not look like one that
 * passed.
 * @module
 */
import { readOptions } from '../core/options.js'
import type { Takes, TakesOf } from '../core/takes.js'

export type { Takes } from '../core/takes.js'
export { FLAG, FUNCTION, TEXT } from '../core/takes.js'

/**
 * Reads the options of a function of the kit, without those that are undefined.
 * @param of - the name of the function
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown, missing or wrong option
 */
export function checkedOptions<Options extends object>(
  of: string,
  given: Options,
  takes: TakesOf<Options>,
  required: readonly (keyof Options & string)[] = [],
): Options {
  return readOptions<Options>(of, given, takes, required)
}

/** Creates the check of a whole number that is not below a least one. */
export function wholeFrom(least: number): Takes {
  return {
    words: `a whole number from ${least} on`,
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= least,
  }
}

/** Takes whole numbers. */
export const WHOLE: Takes = { words: 'a whole number', fits: Number.isSafeInteger }

/** Takes finite numbers above 0. */
export const POSITIVE: Takes = {
  words: 'a number above 0',
  fits: (value) => Number.isFinite(value) && Number(value) > 0,
}

/** Takes objects. */
export const OBJECT: Takes = { words: 'an object', fits: (value) => typeof value === 'object' && value !== null }

/** Creates the check of a text that is one of some. */
export function oneOf<Text extends string>(texts: { readonly [Each in Text]: true }): Takes {
  return {
    words: Object.keys(texts).join(' or '),
    fits: (value) => typeof value === 'string' && Object.hasOwn(texts, value),
  }
}
