/**
 * Checks the options of the kit, which a caller in JavaScript may get wrong: a test that tries nothing must not look like
 * one that passed.
 * @module
 */
import { isObject, isThenable, MUST_BE_OWN, strayName } from '../core/takes.js'
import { show } from './storage-contract/assert.js'

/** The values that an option takes: in words, and as a check. */
export interface Takes {
  readonly words: string
  readonly fits: (value: unknown) => boolean
}

/**
 * Returns the options that a caller gave, without those that are undefined. Refuses one that comes from a class or a prototype.
 * @param of - whose options they are, for messages
 * @throws TypeError for an unknown option, or a wrong value
 */
export function checkedOptions<Options extends object>(
  of: string,
  given: Options,
  takes: { readonly [Name in keyof Options]-?: Takes },
): Options {
  if (!isObject(given) || Array.isArray(given) || isThenable(given))
    throw new TypeError(`the options of ${of} are an object`)
  const known = new Map<string, Takes>(Object.entries(takes))
  const stray = strayName(given, [...known.keys()])
  if (stray !== undefined) throw new TypeError(`the option ${stray} of ${of} ${MUST_BE_OWN}`)
  const own = Object.entries(given).filter(([, value]) => value !== undefined)
  for (const [name, value] of own) {
    const wanted = known.get(name)
    if (wanted === undefined) throw new TypeError(`there is no option ${name} of ${of}`)
    if (!wanted.fits(value)) throw new TypeError(`the option ${name} of ${of} is ${wanted.words}, not ${show(value)}`)
  }
  return Object.assign(Object.create(null), Object.fromEntries(own))
}

/** Takes whole numbers that are not below a least one. */
export function wholeFrom(least: number): Takes {
  return {
    words: `a whole number from ${least} on`,
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= least,
  }
}

export const WHOLE: Takes = { words: 'a whole number', fits: Number.isSafeInteger }

/** Takes finite numbers above 0. */
export const POSITIVE: Takes = {
  words: 'a number above 0',
  fits: (value) => Number.isFinite(value) && Number(value) > 0,
}

export const TEXT: Takes = { words: 'a text', fits: (value) => typeof value === 'string' }

export const FLAG: Takes = { words: 'true or false', fits: (value) => typeof value === 'boolean' }

export const FUNCTION: Takes = { words: 'a function', fits: (value) => typeof value === 'function' }

export const OBJECT: Takes = { words: 'an object', fits: (value) => typeof value === 'object' && value !== null }

/** Takes one of some texts. */
export function oneOf<Text extends string>(texts: { readonly [Each in Text]: true }): Takes {
  return {
    words: Object.keys(texts).join(' or '),
    fits: (value) => typeof value === 'string' && Object.hasOwn(texts, value),
  }
}
