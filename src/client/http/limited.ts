/**
 * Work of which only so much is under way at once.
 * @module
 */
import { ClientError } from '../errors.js'

/** Limits of the work that there may be. */
export interface WorkLimits {
  /** Under way at once. */
  readonly atOnce: number
  /** Waiting behind that; more is refused. */
  readonly waiting: number
  /** Seconds that it waits; what still waits then is refused. */
  readonly patience: number
}

/** Does some work as soon as there is room for it. */
export type DoInTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Makes what lets only so much work be under way at once; the rest waits for its turn.
 * @throws ClientError `ERR_UNREACHABLE`, by the promise, where too much waits, or for too long
 */
export function limited({ atOnce, waiting: most, patience }: WorkLimits): DoInTurn {
  let underWay = 0
  /** The functions that begin each, in the order in which they came. */
  const waiting = new Set<() => void>()

  function turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(begin)
        reject(notAsked(`since it did not answer those before within ${patience} seconds`))
      }, patience * 1000)
      waiting.add(begin)
    })
  }

  return async (work) => {
    if (underWay < atOnce) underWay++
    else if (waiting.size < most) await turn()
    else throw notAsked('since too many requests wait for it')
    try {
      return await work()
    } finally {
      const [next] = waiting
      // The place goes to the next one.
      if (next === undefined) underWay--
      else {
        waiting.delete(next)
        next()
      }
    }
  }
}

function notAsked(reason: string): ClientError {
  return new ClientError('ERR_UNREACHABLE', `the service was not asked, ${reason}`)
}
