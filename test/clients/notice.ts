/**
 * The last words of the slow run, on the clients of Debian that did not take part.
 * @module
 */
import { notice } from '../engines/available.js'
import { CLI_OAUTH, DEBIAN_CLIENTS, engineOf } from './debian.js'

/** Says it in one line, where there is anything to say. */
export function teardown(): void {
  // In CI their tests have failed, and say so.
  const line = process.env['CI'] ? undefined : notice([...DEBIAN_CLIENTS, CLI_OAUTH].map(engineOf), 'npm run test:slow')
  if (line !== undefined) console.log(line)
}
