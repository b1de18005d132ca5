/**
 * Engines that stop, connections that are cut and connections that stall, for real and under load: servers answer 503
 * meanwhile and work again afterwards by themselves, and nothing that a client was told becomes untrue.
 * @module
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { AuthorizationServer, RecordStore } from 'grantwell'
import { postgresStore } from 'grantwell/storage/postgres'
import { redisStore } from 'grantwell/storage/redis'
import { Redis } from 'ioredis'
import pg from 'pg'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seededNumbers } from '../../src/testing/seeded-entropy.js'
import { eventually } from '../adapters/http.js'
import { describeWith, postgresql, redis } from '../engines/available.js'
import type { Call, Ledger } from '../engines/flows.js'
import { audit, callAny, flowServer, newLedger, registerFlowClient, summary, walk } from '../engines/flows.js'
import type { PostgresEngine } from '../engines/postgres.js'
import { startPostgres } from '../engines/postgres.js'
import type { EngineProxy } from '../engines/proxy.js'
import { startProxy } from '../engines/proxy.js'
import type { RedisEngine } from '../engines/redis.js'
import { startRedis } from '../engines/redis.js'
import { startServers } from '../engines/servers.js'

const FLOWS = 200
const WORKERS = 12

/** Milliseconds after which a store gives up on its engine here. */
const TIMEOUT = 400

/** A store over an engine behind a proxy, and its end. */
interface Connected {
  readonly store: RecordStore
  readonly close: () => void | Promise<void>
}

/** Two servers with a connection, or a pool, each. */
interface Farm {
  readonly servers: readonly AuthorizationServer[]
  readonly call: Call
  /** What the servers' stores failed with. */
  readonly errors: unknown[]
  readonly close: () => Promise<void>
}

async function farmOf(connect: () => Promise<Connected>): Promise<Farm> {
  const errors: unknown[] = []
  const connected = [await connect(), await connect()]
  const servers = connected.map(({ store }) => flowServer(store, (error) => errors.push(error)))
  const [first] = servers as [AuthorizationServer, AuthorizationServer]
  await registerFlowClient(first)
  const close = async (): Promise<void> => {
    for (const each of connected) await each.close()
  }
  return { servers, call: callAny(servers), errors, close }
}

/** Walks flows while there is trouble, again and again, and looks up afterwards whether everything holds. */
async function underTrouble(
  name: string,
  { call, errors }: Pick<Farm, 'call' | 'errors'>,
  flowsToATrouble: number,
  trouble: (number: number) => Promise<void>,
): Promise<Ledger> {
  const ledger = newLedger()
  let troubles = 0
  let running: Promise<void> | undefined
  const onFlow = (): void => {
    if (running !== undefined || ledger.flows < (troubles + 1) * flowsToATrouble || ledger.flows === FLOWS) return
    running = trouble(troubles++).finally(() => {
      running = undefined
    })
  }
  await walk({ call, ledger, flows: FLOWS, workers: WORKERS, random: seededNumbers(FLOWS), onFlow })
  await running
  const faults = await audit(ledger, call)
  console.log(`${name}, ${troubles} times: ${summary(ledger)}`)
  expect(faults).toEqual([])
  expect(troubles).toBeGreaterThan(3)
  for (const error of errors) expect(error).toMatchObject({ code: 'ERR_STORAGE_UNAVAILABLE' })
  return ledger
}

/** What holds of every client: its connections are cut, and stall. */
function connectionSuite(name: string, port: () => number, connect: (port: number) => Promise<Connected>): void {
  /** Runs on two servers whose connections go through a proxy. */
  const behindProxy = async (run: (farm: Farm, proxy: EngineProxy) => Promise<void>): Promise<void> => {
    const proxy = await startProxy(port())
    const farm = await farmOf(() => connect(proxy.port))
    try {
      await run(farm, proxy)
    } finally {
      await proxy.close()
      await farm.close()
    }
  }

  it(`${name}: keeps every word while its connections are cut again and again`, () =>
    behindProxy(async (farm, proxy) => {
      await underTrouble(`${name} cut`, farm, 10, async (number) => {
        proxy.cut()
        if (number % 4 !== 0) return
        proxy.refuse()
        proxy.cut()
        await wait(100)
        proxy.admit()
      })
      expect(proxy.traffic().connections).toBeGreaterThan(10)
    }))

  it(`${name}: keeps every word while its engine stalls longer than it waits`, () =>
    behindProxy(async (farm, proxy) => {
      const { unavailable } = await underTrouble(`${name} stalled`, farm, 40, async () => {
        proxy.stall()
        await wait(1.5 * TIMEOUT)
        proxy.resume()
      })
      expect(unavailable).toBeGreaterThan(0)
    }))

  it(`${name}: answers 503 with Retry-After while its engine stalls, and works again afterwards`, () =>
    behindProxy(async ({ call, errors }, proxy) => {
      // One after another, so that there are tokens at all.
      const ledger = newLedger()
      await walk({ call, ledger, flows: 8, workers: 1, random: () => 7 })
      expect(errors).toEqual([])
      const [first] = ledger.entries[0]?.pairs ?? []
      const headers = { authorization: `Bearer ${first?.access_token}` }
      const ask = () => call({ method: 'GET', url: '/api', headers })
      expect((await ask()).status).toBe(200)
      proxy.stall()
      // They come while nothing comes from the engine, so it is the store that gave up.
      const answers = await Promise.all(Array.from({ length: 20 }, ask))
      for (const answer of answers)
        expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': expect.stringMatching(/^[1-9]\d*$/) } })
      for (const error of errors) expect(error).toMatchObject({ code: 'ERR_STORAGE_UNAVAILABLE' })
      proxy.resume()
      await eventually(async () => (await ask()).status === 200)
      expect(await audit(ledger, call)).toEqual([])
    }))
}

describeWith(describe, postgresql, 'PostgreSQL', () => {
  let engine: PostgresEngine
  beforeAll(async () => {
    engine = await startPostgres({ durable: true })
    const pool = new pg.Pool(engine.connection)
    await postgresStore(pool).migrate()
    await pool.end()
  })
  afterAll(() => engine?.remove())

  const connecting = (namespace: string) => async (port: number) => {
    const pool = new pg.Pool({ ...engine.connection, port })
    return { store: postgresStore(pool, { namespace, timeoutMs: TIMEOUT }), close: () => pool.end() }
  }

  it('keeps every word while it is stopped and started again, by order and by a crash', async () => {
    const connect = connecting('stopped')
    const farm = await farmOf(() => connect(engine.connection.port))
    await underTrouble('PostgreSQL stopped', farm, 30, async (number) => {
      await engine.stop(number % 2 === 0 ? 'fast' : 'immediate')
      await wait(100)
      await engine.start()
    })
    await farm.close()
  })

  connectionSuite(
    'pg',
    () => engine.connection.port,
    (port) => connecting(`pg-${port}`)(port),
  )

  it('does not end a server whose idle connections it ends', async () => {
    const servers = await startServers(1, { type: 'postgres', connection: engine.connection })
    const admin = new pg.Client(engine.connection)
    await admin.connect()
    const others = 'FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = $1'
    const count = async () => (await admin.query(`SELECT pid ${others}`, ['client backend'])).rowCount
    const ask = () => servers.call({ method: 'GET', url: '/api', headers: { authorization: `Bearer ${NOBODYS}` } })
    try {
      const pids = servers.pids()
      expect((await ask()).status).toBe(401)
      // Its first write removes beside it what has expired.
      expect(await count()).toBeGreaterThan(0)
      await admin.query(`SELECT pg_terminate_backend(pid) ${others}`, ['client backend'])
      await eventually(async () => (await count()) === 0)
      await eventually(async () => (await ask()).status === 401)
      expect(servers.pids()).toEqual(pids)
    } finally {
      await admin.end()
      await servers.close()
    }
  })
})

/** An access token that is well-formed, so that it is looked up, and nobody's. */
const NOBODYS = `gwa_${'A'.repeat(81)}`

describeWith(describe, redis, 'Redis', () => {
  let engine: RedisEngine
  beforeAll(async () => {
    engine = await startRedis({ durable: true })
  })
  afterAll(() => engine?.remove())

  const overIoredis = async (port: number, namespace: string): Promise<Connected> => {
    const client = new Redis({ host: engine.host, port })
    client.on('error', () => {}) // else it tells the console of each
    return { store: redisStore(client, { namespace, timeoutMs: TIMEOUT }), close: () => client.disconnect() }
  }
  const overNodeRedis = async (port: number, namespace: string): Promise<Connected> => {
    const client = createClient({ socket: { host: engine.host, port } })
    await client.connect()
    return { store: redisStore(client, { namespace, timeoutMs: TIMEOUT }), close: () => client.destroy() }
  }

  for (const [name, connect] of [
    ['ioredis', overIoredis],
    ['node-redis', overNodeRedis],
  ] as const) {
    it(`${name}: keeps every word while it is stopped and started again, by order and by SIGKILL`, async () => {
      const farm = await farmOf(() => connect(engine.port, `${name}-stopped`))
      await underTrouble(`Redis stopped, ${name}`, farm, 30, async (number) => {
        await engine.stop(number % 2 === 0 ? 'shutdown' : 'kill')
        await wait(100)
        await engine.start()
      })
      await farm.close()
    })
    connectionSuite(
      name,
      () => engine.port,
      (port) => connect(port, `${name}-${port}`),
    )
  }
})
