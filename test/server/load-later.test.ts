/**
 * What is loaded behind the start: once, and anew where that failed.
 * @module
 */
import { createAuthorizationServer } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { administrationOf } from '../../src/management/administration.js'
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

it('the functions of administrators are all that there are, and each is its own', async () => {
  const options = { issuer: 'https://git.example', store: memoryStore(), user: () => undefined, signInUrl: () => '/' }
  const settings = resolveOptions(options)
  const transactions = createTransactions(settings)
  const { applications, grants } = administrationOf(settings, transactions)
  expect(Object.keys(applications)).toStrictEqual(Object.keys(applicationsOf(settings, transactions)))
  expect(Object.keys(grants)).toStrictEqual(Object.keys(grantsOf(settings, transactions)))
  const server = createAuthorizationServer(options)
  for (const functions of [server.applications, server.grants])
    for (const [name, run] of Object.entries(functions)) expect(run.toString(), name).toContain(`.${name}(`)
})
