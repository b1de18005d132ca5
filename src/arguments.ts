/**
 * What a host passes to the functions that it calls for applicants, administrators and users: read strictly.
 * @module
 */
import { mistake } from './options.js'

/**
 * The options of a function that a host calls: own properties alone, each with a known name.
 * @throws GrantwellError `ERR_CONFIGURATION`: a slip of the pen could permit, or end, more than was meant
 */
export function ownOptions<Options extends object>(
  of: string,
  given: Options,
  names: readonly (keyof Options & string)[],
): Options {
  const isKnown = (name: string): boolean => (names as readonly string[]).includes(name)
  if (typeof given !== 'object' || given === null) throw mistake(`${of} takes { ${names.join(', ')} }`)
  const unknown = Object.keys(given).find((name) => !isKnown(name))
  if (unknown !== undefined) throw mistake(`${of} takes { ${names.join(', ')} }, not ${unknown}`)
  return Object.assign(Object.create(null), given) as Options // own properties of what was given
}

/** Whether a value is a name of somebody: a string that is not empty. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
