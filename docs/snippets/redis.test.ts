/**
 * The code of the page "Redis".
 * @module
 */

// #region imports
import { redisStore } from 'grantwell/storage/redis'
import { Redis } from 'ioredis'
// #endregion imports
import { describe, expect, it } from 'vitest'
import { describeWith, redis } from '../../test/engines/available.js'
import { startRedis } from '../../test/engines/redis.js'

// #region node-redis-imports
import { createClient } from 'redis'
// #endregion node-redis-imports

// #region durable
const NEEDED = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' }

/** Throws if this Redis may lose what it acknowledged, or may evict records. */
async function checkSettings(client: Redis): Promise<void> {
  for (const [name, needed] of Object.entries(NEEDED)) {
    const [, found] = (await client.config('GET', name)) as [string, string]
    if (found !== needed) throw new Error(`Redis has ${name} ${found}; grants need ${needed}`)
  }
}
// #endregion durable

describeWith(describe, redis, 'Redis', () => {
  it('keeps records through both clients', async () => {
    const engine = await startRedis({ durable: true })
    const address = `redis://${engine.host}:${engine.port}`
    try {
      // #region ioredis
      const client = new Redis(address)
      const store = redisStore(client)
      // #endregion ioredis
      await checkSettings(client)
      expect(await store.write('key', { a: 1 }, { expected: 0 })).toBe(true)

      // #region node-redis
      const nodeRedis = await createClient({ url: address }).connect()
      const sameStore = redisStore(nodeRedis)
      // #endregion node-redis
      expect((await sameStore.read(['key']))[0]?.value).toEqual({ a: 1 })
      nodeRedis.destroy()

      // #region options
      const options = {
        namespace: 'git.example', // one for each issuer that shares the Redis
        timeoutMs: 2_000,
      }
      // #endregion options
      expect(await redisStore(client, options).read(['key'])).toEqual([undefined])
      expect(await client.keys('*')).toEqual([expect.stringMatching(/^grantwell:\{\d+\}:record:key$/)])
      client.disconnect()
    } finally {
      await engine.remove()
    }
  })

  it('loses nothing at a crash where it is durable', async () => {
    const engine = await startRedis({ durable: true })
    try {
      const before = new Redis(engine.port, engine.host)
      await redisStore(before).write('key', 'value', { expected: 0 })
      before.disconnect()
      await engine.stop('kill')
      await engine.start()
      const after = new Redis(engine.port, engine.host)
      expect((await redisStore(after).read(['key']))[0]?.value).toBe('value')
      after.disconnect()
    } finally {
      await engine.remove()
    }
  })

  it('is found out where it is not, and says when it does not answer', async () => {
    const engine = await startRedis()
    try {
      const client = new Redis(engine.port, engine.host, { retryStrategy: () => 10 })
      client.on('error', () => {})
      await expect(checkSettings(client)).rejects.toThrow('Redis has appendonly no; grants need yes')
      const store = redisStore(client, { timeoutMs: 200 })
      await store.read(['key'])
      await engine.stop('kill')
      await expect(store.read(['key'])).rejects.toThrow(/^grantwell: Redis (failed|did not answer within 200 ms)/)
      client.disconnect()
    } finally {
      await engine.remove()
    }
  })
})
