/**
 * What is loaded behind the start: once, and anew where that failed.
 * @module
 */
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { createAdministration } from '../../src/management/administration.js'
import { createApplications } from '../../src/management/applications.js'
import { createGrants } from '../../src/management/grants.js'
import { createInternals } from '../../src/server.js'
import { lazy } from '../../src/shell/lazy.js'
import { resolveOptions } from '../../src/shell/options/settings.js'

describe('what is loaded behind the start', () => {
  it('is loaded without being asked for, but no start waits for it', async () => {
    let loads = 0
    lazy(async () => ++loads)
    expect(loads).toBe(0)
    await new Promise((resolve) => setImmediate(resolve))
    expect(loads).toBe(1)
  })

  it('ends no process where that fails', async () => {
    lazy(() => Promise.reject(new Error('not there')))
    await new Promise((resolve) => setImmediate(resolve))
  })

  it('is loaded once, however many ask at the same time', async () => {
    let loads = 0
    const use = lazy(async () => ({ load: ++loads }))
    expect(loads).toBe(0)
    const [first, second] = await Promise.all([use(), use()])
    expect(second).toBe(first)
    expect(await use()).toBe(first)
    expect(loads).toBe(1)
  })

  it('is loaded anew where that failed, which all are told who waited', async () => {
    let loads = 0
    const use = lazy(async () => {
      if (++loads === 1) throw new Error('not there')
      return loads
    })
    const told = await Promise.allSettled([use(), use()])
    expect(told).toStrictEqual([1, 2].map(() => ({ status: 'rejected', reason: new Error('not there') })))
    expect(await Promise.all([use(), use()])).toStrictEqual([2, 2])
  })
})

it('every function of administrators is there before its code is loaded', async () => {
  const options = { issuer: 'https://git.example', store: memoryStore(), user: () => undefined, signInUrl: () => '/' }
  const internals = createInternals(resolveOptions(options))
  const { applications, grants } = createAdministration(internals)
  const namesOf = (functions: object) => Object.keys(functions).sort()
  expect(namesOf(applications)).toStrictEqual(namesOf(createApplications(internals)))
  expect(namesOf(grants)).toStrictEqual(namesOf(createGrants(internals)))
})
