/**
 * Time limits and signals for asynchronous actions.
 * @module
 */

/** Conditions that end an action early. */
export interface Limits {
  /** Its reason is thrown when it is aborted. */
  readonly signal?: AbortSignal | undefined
  /** The seconds that the action may take, and the error that is thrown afterwards; unlimited by default. */
  readonly time?: { readonly seconds: number; readonly late: unknown }
}

/**
 * Runs an action within limits. When a limit is reached, the promise of the action is ignored, so that an action which
 * ignores its signal delays nobody.
 */
export function withTimeout<Result>(
  { signal, time }: Limits,
  action: (ended: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  return new Promise<Result>((resolve, reject) => {
    const end = (reason: unknown): void => {
      settle()
      reject(reason)
      controller.abort(reason)
    }
    const onAbort = (): void => end(signal?.reason)
    const timer = time && setTimeout(() => end(time.late), time.seconds * 1000)
    const settle = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    if (signal?.aborted) {
      onAbort()
      return
    }
    signal?.addEventListener('abort', onAbort)
    action(controller.signal).then(resolve, reject).finally(settle)
  })
}

/** Waits for some seconds, or until the signal is aborted, and then throws its reason. */
export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  const late = Symbol('late')
  return withTimeout({ signal, time: { seconds, late } }, () => new Promise<never>(() => {})).catch(
    (thrown: unknown) => {
      if (thrown !== late) throw thrown
    },
  )
}
