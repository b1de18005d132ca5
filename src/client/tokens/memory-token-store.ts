/**
 * A token store in the memory of this process.
 * @module
 */
import type { TokenStore, Tokens } from './tokens.js'
import { checkTokens } from './tokens-check.js'

/**
 * Creates a store in memory. Any number of token sources may share it. It loses the tokens when the process ends.
 * @param tokens - its first content; empty by default
 * @throws ClientError `ERR_CONFIGURATION` for anything but tokens
 * @example
 * ```ts
 * const source = createTokenSource({ client, store: memoryTokenStore(tokens) })
 * ```
 */
export function memoryTokenStore(tokens?: Tokens): TokenStore {
  if (tokens !== undefined) checkTokens('memoryTokenStore', tokens)
  let kept = tokens
  let last: Promise<unknown> = Promise.resolve()
  return {
    read: () => kept,
    write: (next) => {
      kept = next
    },
    exclusively: (action) => {
      const result = last.then(action)
      last = result.catch(() => {}) // the caller gets the error; the next action runs all the same
      return result
    },
  }
}
