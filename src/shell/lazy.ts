/**
 * Loading of code after the start: endpoints, management, signed requests.
 * @module
 */

import type { MaybePromise } from './maybe-promise.js'

/**
 * Loads a module once, as soon as the code that runs now has ended. Then it returns the module itself. If loading fails, the
 * callers that wait get the error, and the next call tries again.
 *
 * Loading does not wait for the first call: a stranger who takes all file descriptors just then would make it fail, and Node.js
 * 20 never loads a module again that failed once.
 */
export function lazy<Loaded>(load: () => Promise<Loaded>): () => MaybePromise<Loaded> {
  let loaded: { readonly value: Loaded } | undefined
  let loading: Promise<Loaded> | undefined
  const use = (): MaybePromise<Loaded> => {
    if (loaded !== undefined) return loaded.value
    loading ??= load().then(
      (value) => {
        loaded = { value }
        return value
      },
      (error: unknown) => {
        loading = undefined
        throw error
      },
    )
    return loading
  }
  // Nobody waits for this call, so its error goes nowhere.
  Promise.resolve()
    .then(use)
    .catch(() => {})
  return use
}
