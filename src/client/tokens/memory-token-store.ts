/**
 * A token store in the memory of this process: gone with it.
 * @module
 */
import type { TokenStore, Tokens } from './tokens.js'
import { checkTokens } from './tokens-check.js'

/**
 * Makes a store in memory. Any number of token sources may share it.
 * @param tokens - what it holds at first; nothing by default
 * @throws ClientError `ERR_CONFIGURATION` for what are no tokens
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
      last = result.catch(() => {}) // whoever waits for it is told; whoever comes next does not mind
      return result
    },
  }
}
