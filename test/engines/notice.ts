/**
 * Vitest's global teardown: the last word of a run, on the engines that did not take part.
 * @module
 */
import { notice } from './available.js'

/** Says it in one line, where there is anything to say. */
export function teardown(): void {
  const line = notice()
  if (line !== undefined) console.log(line)
}
