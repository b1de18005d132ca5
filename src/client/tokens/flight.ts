/**
 * One endeavour for all who wait for its result: tried again while nobody answers.
 * @module
 */
import { isClientError, retryAfterOf } from '../http/http.js'

/** An endeavour that is under way, or over. It goes on whether or not somebody waits. */
export interface Flight<Result> {
  /**
   * Waits for the result.
   * @throws what the last attempt threw; the reason of the signal
   */
  readonly result: (signal: AbortSignal | undefined) => Promise<Result>
  /** The same, or undefined as soon as an attempt has failed and another will follow. */
  readonly resultForNow: (signal: AbortSignal | undefined) => Promise<Result | undefined>
}

/** Seconds before the second attempt; doubled before each further one, up to the longest. */
const PAUSE = 0.25
const LONGEST_PAUSE = 5

/** How a flight goes. */
export interface Course {
  /** Seconds from its beginning in which an attempt may begin that follows one without an answer. */
  readonly retryFor: number
  /** Seconds since the epoch. */
  readonly now: () => number
  /** Called once it is over, before anybody gets the result. */
  readonly onLanding: (succeeded: boolean) => void
}

/** Begins. */
export function takeOff<Result>(attempt: () => Promise<Result>, { retryFor, now, onLanding }: Course): Flight<Result> {
  let waiting = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let stumble = (): void => {}
  const stumbled = new Promise<undefined>((resolve) => {
    stumble = () => resolve(undefined)
  })
  const result = fly().then(
    (value) => {
      onLanding(true)
      return value
    },
    (error: unknown) => {
      onLanding(false)
      throw error
    },
  )
  result.catch(() => {}) // those who wait are told, if there are any

  async function fly(): Promise<Result> {
    const begun = performance.now()
    for (let pause = PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      try {
        return await attempt()
      } catch (error) {
        if (!isClientError(error) || error.code !== 'ERR_UNREACHABLE') throw error
        // Not all clients of a service that comes back at the same moment.
        const seconds = Math.max(retryAfterOf(error, now()) ?? 0, pause * (0.5 + Math.random() / 2))
        if ((performance.now() - begun) / 1000 + seconds > retryFor) throw error
        stumble()
        await new Promise<void>((resolve) => {
          timer = setTimeout(resolve, seconds * 1000)
          holdProcess()
        })
      }
    }
  }

  /** Between attempts the process may end, unless somebody waits. Where there is no Node there is nothing to hold. */
  function holdProcess(): void {
    if (waiting > 0) timer?.ref?.()
    else timer?.unref?.()
  }

  async function wait<Awaited>(
    promises: readonly Promise<Awaited>[],
    signal: AbortSignal | undefined,
  ): Promise<Awaited> {
    signal?.throwIfAborted()
    let abort = (): void => {}
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(signal?.reason)
    })
    signal?.addEventListener('abort', abort)
    waiting++
    holdProcess()
    try {
      return await Promise.race([...promises, aborted])
    } finally {
      waiting--
      holdProcess()
      signal?.removeEventListener('abort', abort)
    }
  }

  return {
    result: (signal) => wait([result], signal),
    resultForNow: (signal) => wait<Result | undefined>([result, stumbled], signal),
  }
}
