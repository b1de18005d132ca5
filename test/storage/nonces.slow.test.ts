/**
 * Copies of one signed request that race on several servers over one store: one of them is let in, whatever the order, on
 * every engine, and also where the store fails or its answer is lost.
 * @module
 * @see draft-ietf-oauth-v2-http-mac-01, section 4.1
 */
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import type { GuardResult, HttpRequest, RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { postgresStore } from 'grantwell/storage/postgres'
import { redisStore } from 'grantwell/storage/redis'
import { sqliteStore } from 'grantwell/storage/sqlite'
import { Cluster, Redis } from 'ioredis'
import Database from 'libsql'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeWith, postgresql, redis } from '../engines/available.js'
import type { PostgresEngine } from '../engines/postgres.js'
import { startPostgres } from '../engines/postgres.js'
import { temporaryFolder } from '../engines/process.js'
import type { RedisClusterEngine, RedisEngine } from '../engines/redis.js'
import { startRedis, startRedisCluster } from '../engines/redis.js'
import { MAC_OPTIONS, macTokens, signedParts, signedRequest, withSigner } from '../protocol/mac-client.js'
import type { TestServer } from '../support.js'
import { ISSUER, START, testServer } from '../support.js'
import type { Farm, Random } from './farm.js'
import { farm, randomOf, slowly, someTurns } from './farm.js'

/** What becomes of a request at a server. */
async function ask({ server }: Pick<TestServer, 'server'>, { method, url, headers }: HttpRequest): Promise<string> {
  return said(await server.authenticate({ method, url, headers: { ...headers } }))
}

function said(found: GuardResult): string {
  if (found.type === 'authenticated') return found.type
  return found.error.type === 'error' ? found.error.reason : found.error.type
}

/** A farm with the application that signs. */
async function signingFarm(count: number, random: Random, wrap?: Parameters<typeof farm>[3]): Promise<Farm> {
  const servers = await farm(count, random, MAC_OPTIONS, wrap)
  await withSigner({ ...servers.any(), server: createBeside(servers.any(), servers.shared) })
  return servers
}

/** One more server over a store, that nothing happens to. */
function createBeside({ clock }: Pick<TestServer, 'clock'>, store: RecordStore, onError = () => {}) {
  return createAuthorizationServer({
    issuer: ISSUER,
    store,
    user: () => undefined,
    signInUrl: () => '/sign-in',
    digests: nodeDigests,
    clock: () => clock.now,
    onError,
    ...MAC_OPTIONS,
  })
}

describe('copies of one signed request', () => {
  it('[30] race on 2 to 5 servers: exactly one is let in, and every other request beside them', async () => {
    for (const count of [2, 5]) {
      const servers = await signingFarm(count, randomOf(count))
      const pair = await macTokens(servers.any())
      for (let seed = 0; seed < 200; seed++) {
        const random = randomOf(1000 * count + seed)
        const any = () => servers.servers[random(count)] ?? servers.any()
        const copy = signedRequest(pair, signedParts(servers))
        const race = (asked: readonly HttpRequest[]) =>
          Promise.all(
            asked.map(async (request) => {
              await someTurns(random)
              return ask(any(), request)
            }),
          )
        const [copies, others] = await Promise.all([
          race(Array.from({ length: 2 + random(5) }, () => copy)),
          race(Array.from({ length: random(3) }, () => signedRequest(pair, signedParts(servers)))),
        ])
        const sorted = copies.toSorted()
        expect([seed, sorted]).toEqual([seed, ['authenticated', ...Array(copies.length - 1).fill('mac_replayed')]])
        for (const other of others) expect(other).toBe('authenticated')
        expect(await ask(any(), copy)).toBe('mac_replayed')
      }
      expect(servers.any().errors).toEqual([])
    }
  })

  it('[49] race while the store fails, before or after it wrote: never are two let in, and one that is told 503 may come again', async () => {
    let passed = 0
    let failed = 0
    for (let seed = 0; seed < 300; seed++) {
      const random = randomOf(seed)
      const state = { armed: false }
      const failing = (store: RecordStore): RecordStore => {
        const slow = slowly(store, random)
        return {
          ...slow,
          read: async (keys) => {
            if (state.armed && random(12) === 0) throw new Error('not read')
            return slow.read(keys)
          },
          write: async (...args) => {
            const fate = state.armed ? random(3) : 2
            if (fate === 0) throw new Error('not written')
            const written = await slow.write(...args)
            if (fate === 1) throw new Error('written, and the answer lost')
            return written
          },
        }
      }
      const servers = await signingFarm(3, random, failing)
      const pair = await macTokens(servers.any())
      const request = signedRequest(pair, signedParts(servers))
      state.armed = true
      const answers = await Promise.all(Array.from({ length: 4 }, () => ask(servers.any(), request)))
      for (const answer of answers) expect(['authenticated', 'mac_replayed', 'store_failed']).toContain(answer)
      const inside = answers.filter((answer) => answer === 'authenticated').length
      state.armed = false
      const again = [await ask(servers.any(), request), await ask(servers.any(), request)]
      // Let in once, before or now; or never, where it was written and nobody could tell by whom.
      const times = inside + again.filter((answer) => answer === 'authenticated').length
      expect(times, `seed ${seed}`).toBeLessThanOrEqual(1)
      expect(again[1]).toBe('mac_replayed')
      passed += inside
      failed += answers.filter((answer) => answer === 'store_failed').length
    }
    expect([passed > 50, failed > 50]).toEqual([true, true])
  })
})

describe('a nonce that another server takes away as expired', () => {
  it('[30] stays where clocks differ by less than ten minutes, however short the window', async () => {
    const time = { now: START }
    const database = new Database(':memory:')
    const storeAt = (ahead: number) => sqliteStore(database, { clock: () => time.now + ahead })
    const options = { ...MAC_OPTIONS, macWindow: 2, clock: () => time.now, store: storeAt(0) }
    const test = { ...(await withSigner(await testServer(options))), clock: time }
    const pair = await macTokens(test)
    const request = signedRequest(pair, signedParts(test, { ts: String(START - 2) }))
    expect(await ask(test, request)).toBe('authenticated')
    storeAt(590).removeExpired()
    expect(await ask(test, request)).toBe('mac_replayed')
    database.close()
  })
})

/** Two servers with a connection each: of many copies at once exactly one is let in, on either of them, round after round. */
function raceOn(connect: () => Promise<{ readonly store: RecordStore; readonly close: () => unknown }>): void {
  it('[30] race on two connections: exactly one is let in', async () => {
    const connections = [await connect(), await connect()]
    try {
      const [first, second] = connections
      if (first === undefined || second === undefined) expect.fail('not connected')
      const test = await withSigner(await testServer({ ...MAC_OPTIONS, store: first.store }))
      const beside = createBeside(test, second.store, () => expect.fail('the store failed'))
      const servers = [test.server, beside]
      const pair = await macTokens(test)
      for (let round = 0; round < 10; round++) {
        const request = signedRequest(pair, signedParts(test))
        const copies = Array.from({ length: 16 }, (_, copy) =>
          ask({ server: servers[copy % 2] ?? test.server }, request),
        )
        const answers = (await Promise.all(copies)).toSorted()
        expect(answers).toEqual(['authenticated', ...Array(15).fill('mac_replayed')])
        for (const server of servers) expect(await ask({ server }, request)).toBe('mac_replayed')
      }
      expect(test.errors).toEqual([])
    } finally {
      for (const { close } of connections) await close()
    }
  })
}

const clock = () => START
let used = 0
const namespace = () => `nonces-${process.pid}-${used++}`

describe('SQLite, a file', () => {
  const folder = temporaryFolder('nonces')
  afterAll(folder.remove)
  raceOn(async () => {
    const database = new Database(join(folder.path, 'grants.db'))
    return { store: sqliteStore(database, { clock, synchronous: 'normal' }), close: () => database.close() }
  })
})

describe('PGlite, in memory', () => {
  let engine: PGlite
  beforeAll(async () => {
    engine = await PGlite.create()
    await postgresStore(engine).migrate()
  })
  afterAll(() => engine?.close())
  raceOn(async () => ({ store: postgresStore(engine, { clock }), close: () => {} }))
})

describeWith(describe, postgresql, 'PostgreSQL', () => {
  let engine: PostgresEngine
  beforeAll(async () => {
    engine = await startPostgres()
    const pool = new pg.Pool(engine.connection)
    await postgresStore(pool).migrate()
    await pool.end()
  })
  afterAll(() => engine?.remove())
  raceOn(async () => {
    const pool = new pg.Pool(engine.connection)
    return { store: postgresStore(pool, { clock }), close: () => pool.end() }
  })
})

describeWith(describe, redis, 'Redis', () => {
  let engine: RedisEngine
  beforeAll(async () => {
    engine = await startRedis()
  })
  afterAll(() => engine?.remove())
  const name = namespace()
  raceOn(async () => {
    const client = new Redis(engine.port, engine.host)
    return { store: redisStore(client, { clock, namespace: name }), close: () => client.disconnect() }
  })
})

describeWith(describe, redis, 'Redis Cluster of three', () => {
  let engine: RedisClusterEngine
  beforeAll(async () => {
    engine = await startRedisCluster()
  })
  afterAll(() => engine?.remove())
  const name = namespace()
  raceOn(async () => {
    const client = new Cluster([...engine.nodes])
    return { store: redisStore(client, { clock, namespace: name }), close: () => client.disconnect() }
  })
})
