/**
 * Runs the portable suite and prints what came of it, a line of JSON for each case.
 * @module
 */
import type { Identity } from './bare.js'
import { identity, left } from './bare.js'
import { suites } from './suite/index.js'

/** A line of the output. */
export type Line =
  | ({ readonly type: 'begin'; readonly left: readonly string[] } & Identity)
  | {
      readonly type: 'case'
      readonly suite: string
      readonly name: string
      /** What must be the same on every runtime. */
      readonly value?: string
      /** What is wrong. */
      readonly error?: string
    }
  | { readonly type: 'end'; readonly cases: number }

/** Runs all cases, one after the other. */
export async function runSuite(): Promise<void> {
  say({ type: 'begin', ...identity, left })
  let cases = 0
  for (const suite of suites) {
    for (const { name, run } of suite.cases()) {
      cases++
      const outcome = await Promise.resolve()
        .then(run)
        .then(
          (value: unknown) => (typeof value === 'string' ? { value } : {}),
          (error: unknown) => ({ error: told(error) }),
        )
      say({ type: 'case', suite: suite.title, name, ...outcome })
    }
  }
  say({ type: 'end', cases })
}

function say(line: Line): void {
  console.log(JSON.stringify(line))
}

/** With its stack, which not every runtime begins with the message, and with what caused it: of a property, the reason. */
function told(error: unknown): string {
  if (!(error instanceof Error)) return `not an Error: ${String(error)}`
  const { name, message, stack = '', cause } = error
  const own = stack.includes(message) ? stack : `${name}: ${message}\n${stack}`
  return cause === undefined ? own : `${own}\ncaused by ${told(cause)}`
}
