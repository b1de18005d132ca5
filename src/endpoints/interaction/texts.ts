/**
 * Checks of the texts in what a host's functions give.
 * @module
 */

/** True for a string. */
export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** True for a string, or for none. */
export function isTextOrNone(value: unknown): boolean {
  return value === undefined || value === null || isText(value)
}

/** True for a string that a form brings back unchanged: a browser rewrites line ends, NUL and half characters. */
export function isSendable(value: unknown): boolean {
  return isText(value) && !/[\r\n\0\p{Cs}]/u.test(value)
}
