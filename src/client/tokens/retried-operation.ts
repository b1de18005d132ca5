/**
 * One operation whose result many callers wait for, retried while the service cannot be reached.
 * @module
 */
import { isClientError } from '../errors.js'
import { retryAfterOf } from '../http/http.js'

/** An operation that has started. It continues even if no caller waits for it. */
export interface RetriedOperation<Result> {
  /**
   * Waits for the result.
   * @throws the error of the last attempt; the reason of the signal
   */
  readonly result: (signal: AbortSignal | undefined) => Promise<Result>
  /** Waits for the result like `result`, but returns undefined as soon as an attempt has failed and a retry will follow. */
  readonly resultWithoutRetry: (signal: AbortSignal | undefined) => Promise<Result | undefined>
}

/** Seconds before the first retry. They double for each further one, up to the maximum. */
const FIRST_PAUSE = 0.25
const MAX_PAUSE = 5

/** Settings of an operation. */
export interface RetrySettings {
  /** Seconds from the start in which a retry may begin. */
  readonly retryFor: number
  /** Returns seconds since the epoch. */
  readonly now: () => number
  /** Called when the operation ends, before any caller gets the result. */
  readonly onEnd: (succeeded: boolean) => void
}

/** A timer that keeps the process alive only while a caller waits. */
interface RetryTimer {
  waiting: number
  timer: ReturnType<typeof setTimeout> | undefined
}

/** Starts an operation. The first attempt begins at once. */
export function startOperation<Result>(
  attempt: () => Promise<Result>,
  { retryFor, now, onEnd }: RetrySettings,
): RetriedOperation<Result> {
  const timer: RetryTimer = { waiting: 0, timer: undefined }
  let onRetry = (): void => {}
  const retried = new Promise<undefined>((resolve) => {
    onRetry = () => resolve(undefined)
  })
  const pause = (seconds: number): Promise<void> => {
    onRetry()
    return wait(timer, seconds)
  }
  const result = runWithRetries(attempt, { retryFor, now, pause }).then(
    (value) => {
      onEnd(true)
      return value
    },
    (error: unknown) => {
      onEnd(false)
      throw error
    },
  )
  result.catch(() => {}) // the callers that wait get the error, if there are any
  return {
    result: (signal) => raceFor(timer, [result], signal),
    resultWithoutRetry: (signal) => raceFor<Result | undefined>(timer, [result, retried], signal),
  }
}

/** Runs attempts until one succeeds, fails for another reason than an unreachable service, or the time is over. */
async function runWithRetries<Result>(
  attempt: () => Promise<Result>,
  { retryFor, now, pause }: Omit<RetrySettings, 'onEnd'> & { readonly pause: (seconds: number) => Promise<void> },
): Promise<Result> {
  const begun = performance.now()
  for (let backoff = FIRST_PAUSE; ; backoff = Math.min(2 * backoff, MAX_PAUSE)) {
    try {
      return await attempt()
    } catch (error) {
      if (!isClientError(error) || error.code !== 'ERR_UNREACHABLE') throw error
      // A random part, so that not all clients return at the same moment when a service comes back.
      const seconds = Math.max(retryAfterOf(error, now()) ?? 0, backoff * (0.5 + Math.random() / 2))
      if ((performance.now() - begun) / 1000 + seconds > retryFor) throw error
      await pause(seconds)
    }
  }
}

/** Waits for some seconds. */
function wait(timer: RetryTimer, seconds: number): Promise<void> {
  return new Promise((resolve) => {
    timer.timer = setTimeout(resolve, seconds * 1000)
    updateHold(timer)
  })
}

/** Keeps the process alive during a pause if a caller waits, and else lets it end. Only Node's timers have `ref` and `unref`. */
function updateHold({ waiting, timer }: RetryTimer): void {
  if (waiting > 0) timer?.ref?.()
  else timer?.unref?.()
}

/** Waits for the first of some promises, or for the signal. */
async function raceFor<Result>(
  timer: RetryTimer,
  promises: readonly Promise<Result>[],
  signal: AbortSignal | undefined,
): Promise<Result> {
  signal?.throwIfAborted()
  let abort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason)
  })
  signal?.addEventListener('abort', abort)
  timer.waiting++
  updateHold(timer)
  try {
    return await Promise.race([...promises, aborted])
  } finally {
    timer.waiting--
    updateHold(timer)
    signal?.removeEventListener('abort', abort)
  }
}
