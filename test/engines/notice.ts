/**
 * Vitest's global teardown: the last words of a run, on the engines and runtimes that did not take part.
 * @module
 */
import { notRun } from '../runtimes/runtimes.mjs'
import { notice } from './available.js'

/** Says each in one line, where there is anything to say. */
export function teardown(): void {
  // In CI their tests have failed, and say so.
  const line = process.env['CI'] ? undefined : notice()
  if (line !== undefined) console.log(line)
  const runtimes = notRun()
  if (runtimes !== undefined) console.log(runtimes)
}
