/**
 * Work of which only so much is under way at once.
 * @module
 */
import { ClientError } from './errors.js'

/** Limits of the work that there may be. */
export interface WorkLimits {
  /** Under way at once. */
  readonly atOnce: number
  /** Waiting behind that; more is refused. */
  readonly waiting: number
}

/** Does some work as soon as there is room for it. */
export type DoInTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Makes what lets only so much work be under way at once; the rest waits for its turn.
 * @throws ClientError `ERR_UNREACHABLE`, by the promise, where too much waits
 */
export function limited({ atOnce, waiting: most }: WorkLimits): DoInTurn {
  let underWay = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (underWay < atOnce) underWay++
    else if (waiting.length < most) await new Promise<void>((resolve) => waiting.push(resolve))
    else throw new ClientError('ERR_UNREACHABLE', 'the service was not asked, since too many requests wait for it')
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      // The place goes to the next one.
      if (next === undefined) underWay--
      else next()
    }
  }
}
