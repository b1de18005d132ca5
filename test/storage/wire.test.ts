/**
 * Round trips counted on the wire, by a proxy between a server and its engine: what DESIGN promises of the store's
 * methods holds of the engines' own protocols too.
 * @module
 * @see DESIGN, "Cost, which is also the bar"
 */
import type { RecordStore } from 'grantwell'
import { postgresStore } from 'grantwell/storage/postgres'
import { redisStore } from 'grantwell/storage/redis'
import { Redis } from 'ioredis'
import pg from 'pg'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeWith, postgresql, redis } from '../engines/available.js'
import type { PostgresEngine } from '../engines/postgres.js'
import { startPostgres } from '../engines/postgres.js'
import type { EngineProxy } from '../engines/proxy.js'
import { startProxy } from '../engines/proxy.js'
import type { RedisEngine } from '../engines/redis.js'
import { startRedis } from '../engines/redis.js'
import { codesOf, decide, poll } from '../protocol/device-form.js'
import type { TestServer } from '../support.js'
import { authorize, call, exchange, refresh, revoke, START, testServer, tokens } from '../support.js'

/** A store whose engine is behind a proxy. */
interface Wired {
  readonly store: RecordStore
  readonly proxy: EngineProxy
  readonly close: () => void | Promise<void>
}

/** Makes a store of a namespace of its own, on a connection that was not used before. */
type MakeWired = (namespace: string, clock: () => number) => Promise<Wired>

/** A server over a store that is watched; `trips` counts those of one step. */
async function watched(make: MakeWired, namespace: string) {
  const clock = { now: START }
  const wired = await make(namespace, () => clock.now)
  const test: TestServer = { ...(await testServer({ store: wired.store, clock: () => clock.now })), clock }
  const trips = async (step: () => Promise<unknown>): Promise<number> => {
    const before = wired.proxy.traffic().trips
    await step()
    return wired.proxy.traffic().trips - before
  }
  return { ...wired, test, trips }
}

/** What holds of every client. */
function suite(name: string, make: MakeWired): void {
  let runs = 0
  /** Runs steps on a server that has done everything once. */
  const warm = async (steps: (server: Awaited<ReturnType<typeof watched>>) => Promise<void>): Promise<void> => {
    const server = await watched(make, `${name.replaceAll(/\W/g, '-')}-${runs++}`)
    try {
      const { refresh_token } = await tokens(server.test)
      await refresh(server.test, refresh_token)
      await revoke(server.test, refresh_token)
      await steps(server)
      expect(server.test.errors).toEqual([])
    } finally {
      await server.close()
      await server.proxy.close()
    }
  }

  describe(name, () => {
    it('validates an access token in 1 round trip, whether it works or not', async () => {
      await warm(async ({ test, trips }) => {
        const { access_token, refresh_token } = await tokens(test)
        expect(await trips(() => call(test, access_token))).toBe(1)
        await revoke(test, refresh_token)
        expect(await trips(() => call(test, access_token))).toBe(1)
      })
    })

    it('exchanges, refreshes and revokes in 2 round trips each; refreshes again in 1', async () => {
      await warm(async ({ test, trips }) => {
        const { code } = await authorize(test)
        expect(await trips(() => exchange(test, code))).toBe(2)
        const { access_token, refresh_token } = await tokens(test)
        expect(await trips(() => refresh(test, refresh_token))).toBe(2)
        expect(await trips(() => refresh(test, refresh_token))).toBe(1)
        expect(await trips(() => revoke(test, access_token))).toBe(2)
        expect(await trips(() => revoke(test, refresh_token))).toBe(2)
        expect(await trips(() => revoke(test, refresh_token))).toBe(1)
      })
    })

    it('answers the poll of a device in 2 round trips: pending, too soon, with tokens', async () => {
      await warm(async ({ test, trips }) => {
        const codes = await codesOf(test)
        expect(await trips(() => poll(test, codes))).toBe(2)
        expect(await trips(() => poll(test, codes))).toBe(2)
        await decide(test, codes)
        test.clock.now += 30
        expect(await trips(async () => expect((await poll(test, codes)).status).toBe(200))).toBe(2)
      })
    })

    it('takes many requests at once in as many round trips, and no more', async () => {
      await warm(async ({ store, proxy }) => {
        const before = proxy.traffic()
        await Promise.all(Array.from({ length: 8 }, () => store.read(['a', 'b', 'c'])))
        const { trips, connections } = proxy.traffic()
        // On one connection they may share a round trip, on several each has its own, and a new connection has one to begin with.
        expect(trips - before.trips).toBeLessThanOrEqual(8 + connections - before.connections)
      })
    })

    it('would be caught with one round trip too many', async () => {
      const wasteful: MakeWired = async (namespace, clock) => {
        const wired = await make(namespace, clock)
        const write: RecordStore['write'] = async (key, value, options) => {
          await wired.store.read([key])
          return wired.store.write(key, value, options)
        }
        return { ...wired, store: { ...wired.store, write } }
      }
      const { test, trips, close, proxy } = await watched(wasteful, `${name}-wasteful`.replaceAll(/\W/g, '-'))
      const { refresh_token } = await tokens(test)
      expect(await trips(() => refresh(test, refresh_token))).toBe(3)
      await close()
      await proxy.close()
    })
  })
}

describeWith(describe, postgresql, 'PostgreSQL on the wire', () => {
  let engine: PostgresEngine
  beforeAll(async () => {
    engine = await startPostgres()
    const pool = new pg.Pool(engine.connection)
    await postgresStore(pool).migrate()
    await pool.end()
  })
  afterAll(() => engine?.remove())

  const make: MakeWired = async (namespace, clock) => {
    const proxy = await startProxy(engine.connection.port, { latency: true })
    const pool = new pg.Pool({ ...engine.connection, port: proxy.port })
    return { store: postgresStore(pool, { namespace, clock }), proxy, close: () => pool.end() }
  }
  suite('pg', make)

  it('a new connection costs 1 round trip, and a statement no more at its first use than at its second', async () => {
    const { store, proxy, close } = await make('first-use', () => START)
    await store.read(['key', 'another'])
    expect(proxy.traffic()).toMatchObject({ trips: 2, connections: 1 })
    await store.list('label')
    expect(proxy.traffic()).toMatchObject({ trips: 3, connections: 1 })
    await close()
    await proxy.close()
  })
})

describeWith(describe, redis, 'Redis on the wire', () => {
  let engine: RedisEngine
  beforeAll(async () => {
    engine = await startRedis()
  })
  afterAll(() => engine?.remove())

  const overIoredis: MakeWired = async (namespace, clock) => {
    const proxy = await startProxy(engine.port, { latency: true })
    const client = new Redis({ host: engine.host, port: proxy.port })
    return { store: redisStore(client, { namespace, clock }), proxy, close: () => client.disconnect() }
  }
  const overNodeRedis: MakeWired = async (namespace, clock) => {
    const proxy = await startProxy(engine.port, { latency: true })
    const client = await createClient({ socket: { host: engine.host, port: proxy.port } }).connect()
    return { store: redisStore(client, { namespace, clock }), proxy, close: () => client.destroy() }
  }
  suite('ioredis', overIoredis)
  suite('node-redis', overNodeRedis)

  it('a server that has not seen the script yet costs 1 round trip more, once', async () => {
    const { store, proxy, close } = await overNodeRedis('first-use', () => START)
    const admin = new Redis(engine.port, engine.host)
    await admin.script('FLUSH')
    const { trips } = proxy.traffic()
    expect(await store.write('key', 1, { expected: 0 })).toBe(true)
    expect(proxy.traffic().trips - trips).toBe(2)
    expect(await store.write('another', 1, { expected: 0 })).toBe(true)
    expect(proxy.traffic().trips - trips).toBe(3)
    admin.disconnect()
    await close()
    await proxy.close()
  })
})
