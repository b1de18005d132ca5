/**
 * Checks of the texts in what a host's functions give.
 * @module
 */
import { configurationError } from '../../core/errors.js'
import type { Takes } from '../../core/takes.js'
import { answerFault, came, cut, entriesOfAny, promisesIn } from '../../core/takes.js'
import { wrongAnswer } from '../../shell/host.js'

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

/** Makes the error of a wrong answer, with the types of the fields of it, or of the first entry of a list. */
export function wrongFields(of: string, { words }: Takes, answer: unknown): Error {
  const one = Array.isArray(answer) ? answer[0] : answer
  const fields = entriesOfAny(one)?.map(([name, value]) => `${name}: ${came(value, true)}`)
  if (fields === undefined || promisesIn(answer).length > 0) return wrongAnswer(of, words, answer)
  return configurationError(`${answerFault(of, words, answer)}, { ${cut(fields.join(', '))} }`)
}
