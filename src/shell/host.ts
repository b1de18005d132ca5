/**
 * Checks of what a host's functions give, each made where it enters.
 * @module
 */
import { configurationError } from '../core/errors.js'
import type { Takes } from '../core/takes.js'
import { answerFault, isTaken, mustBe, promisesIn } from '../core/takes.js'

/**
 * Checks the answer of a host's function.
 * @param of - the function as the host knows it, such as `user()`
 * @returns the answer
 * @throws GrantwellError `ERR_CONFIGURATION`, which says what came and what is taken
 */
export function checkedAnswer<Answer>(of: string, takes: Takes, answer: unknown): Answer {
  if (isTaken(takes, answer)) return answer as Answer // as was just checked
  throw wrongAnswer(of, takes.words, answer, takes.secret)
}

/**
 * Makes the error of a host's function that gave something else than it should.
 * @param secret - whether a value stays out of the message; false by default
 */
export function wrongAnswer(of: string, words: string, answer: unknown, secret = false): Error {
  // Nobody waits for them: were one to fail, it would end the process.
  for (const forgotten of promisesIn(answer)) Promise.resolve(forgotten).catch(() => {})
  return configurationError(answerFault(of, words, answer, secret))
}

/** @throws GrantwellError `ERR_CONFIGURATION` for an argument that is not what is taken */
export function checkArgument(of: string, name: string, takes: Takes, value: unknown): void {
  if (!isTaken(takes, value)) throw configurationError(`${of}: the argument ${name} ${mustBe(takes, value)}`)
}

/** Makes a function of the host harmless that changes no answer: what it throws, at once or by its promise, goes elsewhere. */
export function harmless<Told>(tell: (told: Told) => unknown, failed: (error: unknown) => void): (told: Told) => void {
  return (told) => {
    try {
      const later = tell(told)
      if (typeof later === 'object') Promise.resolve(later).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
