/**
 * Redis and a Redis Cluster of three, through each of their two clients.
 * @module
 */
import { redisStore } from 'grantwell/storage/redis'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { afterAll, beforeAll, describe } from 'vitest'
import { describeWith, redis } from '../engines/available.js'
import type { RedisClusterEngine, RedisEngine } from '../engines/redis.js'
import { startRedis, startRedisCluster } from '../engines/redis.js'
import type { EngineSuite } from '../engines/suite.js'

/** Runs a suite on Redis. */
export function describeRedis(suite: EngineSuite): void {
  describeWith(describe, redis, 'Redis', () => {
    let engine: RedisEngine
    beforeAll(async () => {
      engine = await startRedis()
    })
    afterAll(() => engine?.remove())

    describe('ioredis', () => {
      suite(() => {
        const client = new Redis(engine.port, engine.host)
        return { store: (wiring) => redisStore(client, wiring), close: () => client.disconnect() }
      })
    })
    describe('node-redis', () => {
      suite(async () => {
        const client = await createClient({ socket: { host: engine.host, port: engine.port } }).connect()
        return { store: (wiring) => redisStore(client, wiring), close: () => client.destroy() }
      })
    })
  })
}

/** Runs a suite on a cluster. */
export function describeRedisCluster(suite: EngineSuite): void {
  describeWith(describe, redis, 'Redis Cluster of three', () => {
    let engine: RedisClusterEngine
    beforeAll(async () => {
      engine = await startRedisCluster()
    })
    afterAll(() => engine?.remove())

    describe('ioredis', () => {
      suite(() => {
        const client = new Cluster([...engine.nodes])
        return { store: (wiring) => redisStore(client, wiring), close: () => client.disconnect() }
      })
    })
    describe('node-redis', () => {
      suite(async () => {
        const rootNodes = engine.nodes.map((socket) => ({ socket }))
        const client = await createCluster({ rootNodes }).connect()
        return { store: (wiring) => redisStore(client, wiring), close: () => client.destroy() }
      })
    })
  })
}
