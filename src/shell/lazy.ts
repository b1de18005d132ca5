/**
 * Loading of code after the start: pages, management, signed requests.
 * @module
 */

/**
 * Loads a module once, as soon as the code that runs now has ended. If that fails, the callers that wait get the error, and the
 * next call tries again.
 *
 * Loading does not wait for the first call: a stranger who takes all file descriptors just then would make it fail, and Node.js
 * 20 never loads a module again that failed once.
 */
export function lazy<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | undefined
  const use = (): Promise<Loaded> => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return loaded
  }
  // Nobody waits for this call, so its error goes nowhere.
  Promise.resolve()
    .then(use)
    .catch(() => {})
  return use
}
