/**
 * A limit on the operations that run at the same time.
 * @module
 */
import { ClientError } from '../errors.js'

/** Limits on operations. */
export interface ConcurrencyLimits {
  /** Number of operations that run at once. */
  readonly atOnce: number
  /** Number of operations that may wait; more are refused. */
  readonly waiting: number
  /** Seconds that an operation may wait before it is refused. */
  readonly patience: number
}

/** Runs an operation as soon as the limits allow it. */
export type RunLimited = <Result>(operation: () => Promise<Result>) => Promise<Result>

/**
 * Creates a function that runs a limited number of operations at once. The others wait in order.
 * @throws ClientError `ERR_UNREACHABLE`, by the promise, if too many operations wait, or one waits too long
 */
export function limitConcurrency({ atOnce, waiting: maxWaiting, patience }: ConcurrencyLimits): RunLimited {
  let running = 0
  /** The functions that start the waiting operations, in their order of arrival. */
  const waiting = new Set<() => void>()

  function waitForTurn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(start)
        reject(notAsked(`earlier requests got no answer within ${patience} seconds`))
      }, patience * 1000)
      waiting.add(start)
    })
  }

  return async (operation) => {
    if (running < atOnce) running++
    else if (waiting.size < maxWaiting) await waitForTurn()
    else throw notAsked('too many other requests are waiting')
    try {
      return await operation()
    } finally {
      const [next] = waiting
      // The next operation takes the place of this one.
      if (next === undefined) running--
      else {
        waiting.delete(next)
        next()
      }
    }
  }
}

function notAsked(reason: string): ClientError {
  return new ClientError('ERR_UNREACHABLE', `the request was not sent: ${reason}`)
}
