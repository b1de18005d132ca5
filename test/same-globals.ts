/**
 * Checks after each file of tests whose process goes on with others that it leaves the globals of the platform as they were. A package
 * that puts classes of its own in their places, as `@hono/node-server` does, would be seen by whichever file comes next.
 * @module
 */
import { afterAll, expect } from 'vitest'

const NAMES = [
  'AbortController',
  'Date',
  'Headers',
  'Request',
  'Response',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'clearTimeout',
  'fetch',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
] as const

const valuesNow = () => NAMES.map((name) => [name, globalThis[name]] as const)
const before = valuesNow()

afterAll(() => {
  const replaced = valuesNow().filter(([, value], index) => value !== before[index]?.[1])
  expect(replaced.map(([name]) => name)).toEqual([])
})
