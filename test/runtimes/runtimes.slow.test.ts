/**
 * The portable suite on every runtime that is here: Node 20, 22 and 24, Bun, Deno without permissions, workerd without
 * Node's modules.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Bundle } from './bundle.js'
import { bundleSuite } from './bundle.js'
import type { Execution } from './execute.js'
import { execute } from './execute.js'
import { runtimes, whyNot } from './runtimes.mjs'
import { suites } from './suite/index.js'

const directory = mkdtempSync(join(tmpdir(), 'grantwell-runtimes-'))
const values = new Map<string, Map<string, string>>()
let bundle: Bundle

beforeAll(async () => {
  bundle = await bundleSuite(directory, runtimes.find(({ name }) => name === 'workerd')?.version ?? '')
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('the bundle of the suite', () => {
  it('has all that it imports in it', () => {
    expect(bundle.imports).toEqual([])
  })
})

for (const runtime of runtimes) {
  const { title, name, version } = runtime
  const missing = whyNot(runtime)
  if (missing !== undefined) {
    describe.skip(title, () => {
      it(`was not run on: ${missing}; node test/runtimes/install.mjs gets it, where the registry has it`, () => {})
    })
    continue
  }
  describe(title, () => {
    let execution: Execution

    beforeAll(async () => {
      execution = await execute(runtime, bundle)
    })

    it('is what it is said to be, and nothing of Node is left in it', () => {
      const [begin] = execution.lines
      const told = name === 'workerd' ? undefined : version
      expect(begin, execution.end).toEqual({ type: 'begin', name, ...(told && { version: told }), left: [] })
    })

    it('ends by itself once all cases have run', () => {
      const cases = execution.lines.filter(({ type }) => type === 'case').length
      expect(execution.lines.at(-1), execution.end).toEqual({ type: 'end', cases })
      expect(execution.isClean, execution.end).toBe(true)
    })

    for (const suite of suites) {
      describe(suite.title, () => {
        it.each(suite.cases().map((each) => each.name))('%s', (which) => {
          const found = execution.lines.flatMap((line) =>
            line.type === 'case' && line.suite === suite.title && line.name === which ? [line] : [],
          )
          if (found.length === 0) expect.fail(`${title} said nothing of it; it ended with ${execution.end}`)
          expect(found).toHaveLength(1)
          for (const { error, value } of found) {
            if (error !== undefined) expect.fail(`on ${title}: ${error}`)
            if (value === undefined) continue
            const others = values.get(`${suite.title} ${which}`) ?? new Map<string, string>()
            values.set(`${suite.title} ${which}`, others.set(title, value))
            const [first] = others
            expect([title, value]).toEqual([title, first?.[1]])
          }
        })
      })
    }
  })
}
