/**
 * What is loaded behind the start: once, and anew where that failed.
 * @module
 */
import { createAuthorizationServer } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { applicationsOf } from '../../src/management/applications.js'
import { grantsOf } from '../../src/management/grants.js'
import { loadLater } from '../../src/shell/lazy.js'
import { resolveOptions } from '../../src/shell/options.js'
import { createTransactions } from '../../src/shell/transactions.js'

describe('what is loaded behind the start', () => {
  it('is loaded without being asked for, but no start waits for it', async () => {
    let loads = 0
    loadLater(async () => ++loads)
    expect(loads).toBe(0)
    await new Promise((resolve) => setImmediate(resolve))
    expect(loads).toBe(1)
  })

  it('ends no process where that fails', async () => {
    loadLater(() => Promise.reject(new Error('not there')))
    await new Promise((resolve) => setImmediate(resolve))
  })

  it('is loaded once, however many ask at the same time', async () => {
    let loads = 0
    const use = loadLater(async () => ({ load: ++loads }))
    expect(loads).toBe(0)
    const [first, second] = await Promise.all([use(), use()])
    expect(second).toBe(first)
    expect(await use()).toBe(first)
    expect(loads).toBe(1)
  })

  it('is loaded anew where that failed, which all are told who waited', async () => {
    let loads = 0
    const use = loadLater(async () => {
      if (++loads === 1) throw new Error('not there')
      return loads
    })
    const told = await Promise.allSettled([use(), use()])
    expect(told).toStrictEqual([1, 2].map(() => ({ status: 'rejected', reason: new Error('not there') })))
    expect(await Promise.all([use(), use()])).toStrictEqual([2, 2])
  })
})

describe('the functions of administrators', () => {
  const options = { issuer: 'https://git.example', store: memoryStore(), user: () => undefined, signInUrl: () => '/' }
  const settings = resolveOptions(options)
  const transactions = createTransactions(settings)
  const server = createAuthorizationServer(options)

  /** Calls each function with arguments that none takes. The error names the function. */
  async function errorsOf(functions: object): Promise<readonly (readonly [string, string])[]> {
    const errors = Object.entries(functions).map(async ([name, run]) => {
      const called = (async () => run(...[1, 2, 3].map(() => Symbol('none'))))()
      return [name, await called.then(() => 'no error', String)] as const
    })
    return Promise.all(errors)
  }

  it.each([
    ['applications', server.applications, applicationsOf(settings, transactions)],
    ['grants', server.grants, grantsOf(settings, transactions)],
  ])('are all there, and each is its own: %s', async (_, loaded, direct) => {
    const errors = await errorsOf(direct)
    expect(await errorsOf(loaded)).toStrictEqual(errors)
    expect(new Set(errors.map(([, error]) => error)).size).toBe(errors.length)
  })
})
