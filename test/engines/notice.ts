/**
 * Vitest's global teardown: the last word of a run, on the engines that did not take part.
 * @module
 */
import { notice } from './available.js'

/** Says it in one line, where there is anything to say. */
export function teardown(): void {
  // In CI their tests have failed, and say so.
  const line = process.env['CI'] ? undefined : notice()
  if (line !== undefined) console.log(line)
}
