/**
 * Cleanup when the process ends in the middle of an action.
 * @module
 */

const actions = new Set<() => void>()
let isListening = false

/**
 * Registers an action that runs when the process ends.
 * @param action - must be synchronous; its errors are ignored
 * @returns a function that cancels the action
 */
export function atExit(action: () => void): () => void {
  actions.add(action)
  // One listener for all actions: Node warns about more than ten listeners.
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
      // The process ends, so nobody could handle the error.
    }
  }
}
