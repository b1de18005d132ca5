/** The options of the kit: a wrong one is refused by name, and none is passed over since the object has it from elsewhere. */
import type { GrantOptions, LifecycleOptions, VirtualClock } from 'grantwell/testing'
import { arbitraries, explore, lifecycle, storageContract, virtualClock, wire } from 'grantwell/testing'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/storage/memory.js'

/** Every function of the kit that takes options, and each of its options with a good value. */
const CALLS: readonly (readonly [string, (options: never) => unknown, Readonly<Record<string, unknown>>])[] = [
  ['arbitraries.registration', arbitraries.registration, { specifiedResources: true }],
  ['arbitraries.application', arbitraries.application, { specifiedResources: true, clientId: 'app' }],
  ['arbitraries.grant', arbitraries.grant, { clientId: 'app', subject: 'ada', redirectUri: 'a:/b', rules: {} }],
  ['arbitraries.request', arbitraries.request, { clients: [], credentials: [] }],
  ['wire', wire, { store: {}, clock: virtualClock(), createServer: () => {}, issuer: 'https://git.example' }],
  ['explore', explore, { requests: ['refresh'], faults: 1, seed: 1 }],
  ['storageContract', (options) => storageContract(() => ({}) as never, options), { numRuns: 1, seed: 1 }],
  ['lifecycle', (options) => lifecycle(() => ({}) as never, options), { numRuns: 1, seed: 1 }],
]

/** The error for a wrong option. @param message - the message itself, without the name of the package, or a matcher */
function wrong(message: unknown): object {
  return { code: 'ERR_CONFIGURATION', message: typeof message === 'string' ? `grantwell: ${message}` : message }
}

/** What a call throws, at once or later. */
async function faultOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
  } catch (error) {
    return error
  }
  return undefined
}

describe('options', () => {
  it.each(CALLS)('of %s are refused where they come from a class or a prototype', async (of, call, good) => {
    for (const [name, value] of Object.entries(good)) {
      class Options {
        get [name]() {
          return value
        }
      }
      for (const options of [Object.create({ [name]: value }), new Options()])
        expect(await faultOf(() => call(options as never))).toMatchObject(
          wrong(`${of}: the option ${name} must be the object's own; got an inherited one`),
        )
    }
  })

  it.each(CALLS)('of %s are refused where they are no options, unknown or wrong', async (of, call, good) => {
    for (const options of [null, [], Promise.resolve({})])
      expect(await faultOf(() => call(options as never))).toMatchObject(
        wrong(
          expect.stringMatching(`^grantwell: ${of}: the options must be an object; got (?:null|an array|a Promise)`),
        ),
      )
    expect(await faultOf(() => call({ nothing: 1 } as never))).toMatchObject(
      wrong(expect.stringMatching(`^grantwell: ${of}: there is no option nothing; it takes `)),
    )
    for (const name of Object.keys(good))
      expect(await faultOf(() => call({ [name]: Symbol('x') } as never))).toMatchObject(
        wrong(expect.stringMatching(`^grantwell: ${of}: the option ${name} must be .*; got a symbol$`)),
      )
  })

  it('in options are held to the same', async () => {
    const rules: NonNullable<GrantOptions['rules']> = Object.create({ gracePeriod: 1 })
    expect(() => arbitraries.grant({ rules })).toThrow(
      "arbitraries.grant, rules: the option gracePeriod must be the object's own",
    )
    const terms: NonNullable<LifecycleOptions['terms']> = Object.create({ gracePeriod: 1 })
    await expect(lifecycle(() => ({}) as never, { terms })).rejects.toThrow("must be the object's own")
  })

  it('are what wire works with', async () => {
    const clock: VirtualClock = virtualClock()
    const { client } = await wire({ store: memoryStore({ clock }), clock, issuer: 'https://other.example' })
    expect(client.clientId).toBe('lifecycle')
  })
})
