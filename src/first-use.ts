/**
 * What is loaded at its first use: a process that only deals in tokens never loads the pages.
 * @module
 */

/** Loads once. Where that fails, whoever waited is told, and the next use tries again. */
export function atFirstUse<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | undefined
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return loaded
  }
}
