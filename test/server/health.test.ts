/**
 * The health of a server: what is wrong with its store or its clock.
 * @module
 */
import { createAuthorizationServer } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ISSUER } from '../support.js'
import { StoreFailure, watchedServer } from './helpers.js'

const systemTime = () => Math.floor(Date.now() / 1000)
const required = { issuer: ISSUER, user: () => undefined, signInUrl: () => '/sign-in' }

describe('health', () => {
  afterEach(() => void vi.useRealTimers())

  it('is good where the store answers and the clock is right, in one read', async () => {
    const test = await watchedServer({ clock: systemTime })
    await test.server.health()
    test.forget()
    expect(await test.server.health()).toStrictEqual({
      healthy: true,
      problems: [],
      storeMilliseconds: expect.any(Number),
    })
    expect([test.trips.reads, test.trips.writes]).toEqual([1, 0])
  })

  it('is good before the first request, and says how long the store took', async () => {
    const store = memoryStore()
    const slow = {
      ...store,
      read: async (keys: readonly string[]) => {
        await new Promise((resolve) => setTimeout(resolve, 30))
        return store.read(keys)
      },
    }
    const { healthy, storeMilliseconds } = await createAuthorizationServer({ ...required, store: slow }).health()
    expect(healthy).toBe(true)
    expect(storeMilliseconds).toBeGreaterThanOrEqual(25)
  })

  it('is bad while the store fails, and good again afterwards; what the store said is for onError alone', async () => {
    let fails = true
    const store = memoryStore()
    const errors: unknown[] = []
    const server = createAuthorizationServer({
      ...required,
      onError: (error) => errors.push(error),
      store: {
        ...store,
        read: (keys) => {
          if (fails) throw new StoreFailure()
          return store.read(keys)
        },
      },
    })
    const health = await server.health()
    expect(health).toMatchObject({ healthy: false, problems: [{ code: 'store_failed' }] })
    expect(JSON.stringify(health)).not.toContain('hunter2')
    expect(errors).toHaveLength(1)
    fails = false
    expect((await server.health()).healthy).toBe(true)
  })

  it('is bad over the records of another issuer', async () => {
    const store = memoryStore()
    await createAuthorizationServer({ ...required, store }).health()
    const errors: unknown[] = []
    const other = {
      ...required,
      issuer: 'https://other.example',
      store,
      onError: (error: unknown) => errors.push(error),
    }
    expect(await createAuthorizationServer(other).health()).toMatchObject({ problems: [{ code: 'store_failed' }] })
    expect(errors).toMatchObject([{ code: 'ERR_NAMESPACE' }])
  })

  it('is bad where the store lost its records while the server ran', async () => {
    let store = memoryStore()
    const proxy = { ...store, read: (keys: readonly string[]) => store.read(keys) }
    const server = createAuthorizationServer({
      ...required,
      store: { ...proxy, write: (...write) => store.write(...write) },
    })
    expect((await server.health()).healthy).toBe(true)
    store = memoryStore()
    expect(await server.health()).toMatchObject({ healthy: false, problems: [{ code: 'store_emptied' }] })
  })

  it.each([
    [3600, 'the option clock is 3600 seconds ahead of the clock of the system'],
    [-90, 'the option clock is 90 seconds behind the clock of the system'],
  ])('is bad where the clock of the host is off by %d seconds', async (difference, message) => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 })
    const server = createAuthorizationServer({
      ...required,
      store: memoryStore(),
      clock: () => systemTime() + difference,
    })
    expect((await server.health()).problems).toStrictEqual([{ code: 'clock_differs', message }])
  })

  it('is good where the clock of the host is off by less than a minute', async () => {
    const server = createAuthorizationServer({ ...required, store: memoryStore(), clock: () => systemTime() + 50 })
    expect((await server.health()).healthy).toBe(true)
  })

  it.each([Number.NaN, -1, 1_800_000_000.5])(
    'tells of a clock that gives %s, and of a store that fails',
    async (wrong) => {
      let fails = false
      const store = memoryStore()
      const server = createAuthorizationServer({
        ...required,
        onError: () => {},
        clock: () => (fails ? wrong : systemTime()),
        store: {
          ...store,
          read: (keys) => {
            if (fails) throw new StoreFailure()
            return store.read(keys)
          },
        },
      })
      fails = true
      const { problems } = await server.health()
      expect(problems.map(({ code }) => code)).toEqual(['store_failed', 'clock_failed'])
    },
  )
})
