/**
 * Checks of the answers of a host's functions, each made where the answer enters.
 * @module
 */
import { configurationError } from '../core/errors.js'
import type { Takes } from '../core/takes.js'
import { answerFault, isTaken, promisesIn } from '../core/takes.js'

/**
 * Checks the answer of a host's function.
 * @param of - the name that the host knows the function by, such as `user()`
 * @returns the answer
 * @throws GrantwellError `ERR_CONFIGURATION`, with the answer that came and the answers that are taken
 */
export function checkedAnswer<Answer>(of: string, takes: Takes, answer: unknown): Answer {
  if (isTaken(takes, answer)) return answer as Answer // as was just checked
  throw wrongAnswer(of, takes.words, answer, takes.secret)
}

/**
 * Makes the error of a host's function that gave a wrong answer.
 * @param secret - true to leave the answer out of the message; false by default
 */
export function wrongAnswer(of: string, words: string, answer: unknown, secret = false): Error {
  // Nobody waits for them: were one to fail, it would end the process.
  for (const forgotten of promisesIn(answer)) Promise.resolve(forgotten).catch(() => {})
  return configurationError(answerFault(of, words, answer, secret))
}

/**
 * Wraps a function of the host that only observes, so that it cannot change an answer: an error that it throws, at once or by its
 * promise, goes to `failed`.
 */
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
