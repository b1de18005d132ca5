/**
 * What a host passes to the functions that it calls for applicants, administrators and users: read strictly.
 * @module
 */
import { configurationError } from '../core/errors.js'
import type { Takes, TakesOf } from '../core/takes.js'
import { isTaken, NAME, readOptions } from '../core/takes.js'

/**
 * Reads the options of a function that a host calls: own properties alone, each with a known name.
 * @param of - the function
 * @throws GrantwellError `ERR_CONFIGURATION`: a misspelt option could permit, or end, more than was meant
 */
export function ownOptions<Options extends object>(
  of: string,
  given: unknown,
  takes: TakesOf<Options>,
  required: readonly (keyof Options & string)[] = [],
): Options {
  const own = readOptions<Options>(of, given, takes, required, true)
  if (typeof own === 'string') throw configurationError(own)
  return own
}

/** An identifier or a name as a host has it; it may be nobody's. */
export const TEXT: Takes = { words: 'a string', fits: (value) => typeof value === 'string' }

/** The page of a list. */
export interface PageOptions {
  readonly limit?: number
  readonly cursor?: string
}

export const PAGE: TakesOf<PageOptions> = {
  limit: {
    words: 'a whole number from 1 on',
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  },
  cursor: TEXT,
}

/** Whether a value is a name of somebody: a string that is not empty. */
export function isName(value: unknown): value is string {
  return isTaken(NAME, value)
}
