/**
 * Parts that no start waits for: pages, administration, signed requests.
 * @module
 */

/**
 * Loads once, as soon as the code that runs now is through. Where that fails, whoever waits is told, and the next use tries again.
 *
 * Nothing waits for a first use to be loaded: a stranger who takes all file descriptors just then would make it fail, and Node.js 20 never
 * loads again what failed once.
 */
export function loadLater<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | undefined
  const use = (): Promise<Loaded> => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return loaded
  }
  // Nobody waits yet.
  Promise.resolve()
    .then(use)
    .catch(() => {})
  return use
}
