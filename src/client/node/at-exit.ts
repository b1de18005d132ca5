/**
 * What is cleared away when the process ends by itself in the middle of something.
 * @module
 */

const actions = new Set<() => void>()
let isListening = false

/**
 * Has something done when the process ends, if it is not done before.
 * @param action - at once, without waiting; what it throws is left alone
 * @returns how to call it off
 */
export function atExit(action: () => void): () => void {
  actions.add(action)
  // One listener for all: of more than ten Node warns.
  if (!isListening) process.once('exit', runAll)
  isListening = true
  return () => {
    actions.delete(action)
  }
}

function runAll(): void {
  for (const action of actions) {
    try {
      action()
    } catch {
      // There is nobody left to tell.
    }
  }
}
