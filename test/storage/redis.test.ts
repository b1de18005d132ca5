/**
 * The Redis store beyond the contract: where its keys lie, that Redis forgets them by itself, that the indexes of labels
 * clean themselves, and that a command which arrives twice is one.
 * @module
 */
import { inspect } from 'node:util'
import { redisStore } from 'grantwell/storage/redis'
import { virtualClock } from 'grantwell/testing'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { describeWith, redis } from '../engines/available.js'
import type { RedisEngine } from '../engines/redis.js'
import { startRedis } from '../engines/redis.js'

/** Seconds that Redis keeps a record longer than its life. */
const MARGIN = 60

describeWith(describe, redis, 'on Redis', () => {
  let engine: RedisEngine
  let client: Redis
  beforeAll(async () => {
    engine = await startRedis({ settings: ['--cluster-enabled', 'no'] })
    client = new Redis(engine.port, engine.host)
  })
  beforeEach(() => client.flushall())
  afterAll(async () => {
    client?.disconnect()
    await engine?.remove()
  })

  const ttls = async (pattern: string) => Promise.all((await client.keys(pattern)).map((key) => client.ttl(key)))

  it('keeps a record and its part of the indexes under one hash tag, and spreads records over 128 of them', async () => {
    const store = redisStore(client)
    await store.write('a {tag} of its own', 1, { expected: 0, labels: ['subject:{a}', 'client:b'] })
    const keys = await client.keys('*')
    expect(keys).toHaveLength(5)
    const tags = new Set(keys.map((key) => /^grantwell:\{(\d+)\}:/.exec(key)?.[1]))
    expect(tags.size).toBe(1)
    await client.flushall()
    await Promise.all(Array.from({ length: 4_000 }, (_, index) => store.write(`grant:${index}`, 1, { expected: 0 })))
    const shards = (await client.keys('*')).map((key) => Number(/\{(\d+)\}/.exec(key)?.[1]))
    const counts = Array.from({ length: 128 }, (_, shard) => shards.filter((each) => each === shard).length)
    // 31 each on the average; an even spread stays far within these.
    expect(Math.min(...counts)).toBeGreaterThan(8)
    expect(Math.max(...counts)).toBeLessThan(80)
  })

  it('has Redis forget what expires, and the indexes with the last of it, by itself', async () => {
    const clock = virtualClock()
    const store = redisStore(client, { clock })
    await store.write('short', 1, { expected: 0, expiresAt: clock() + 100, labels: ['label'] })
    for (const ttl of await ttls('*')) expect([100 + MARGIN, 100 + MARGIN - 1]).toContain(ttl)
    await store.write('for ever', 1, { expected: 0 })
    expect(await ttls('*record:for ever')).toEqual([-1])
    // An index lives as long as the longest of its records.
    const version = async (key: string) => (await store.read([key]))[0]?.version ?? 0
    await store.write('short', 1, { expected: await version('short'), expiresAt: clock() + 5_000, labels: ['label'] })
    for (const ttl of await ttls('*label')) expect(ttl).toBeGreaterThan(5_000)
    await store.write('short', 1, { expected: await version('short'), labels: ['label'] })
    for (const ttl of await ttls('*short')) expect(ttl).toBe(-1)
    for (const ttl of await ttls('*label')) expect(ttl).toBe(-1)
    await store.write('short', 1, { expected: await version('short'), expiresAt: clock() + 50, labels: ['label'] })
    for (const ttl of await ttls('*label')) expect([50 + MARGIN, 50 + MARGIN - 1]).toContain(ttl)
  })

  it('takes expired records out of the indexes that a write touches, 16 at a time', async () => {
    const clock = virtualClock()
    const store = redisStore(client, { clock })
    const keys = Array.from({ length: 4_000 }, (_, index) => `key ${index}`)
    const options = { expected: 0, expiresAt: clock() + 10, labels: ['label'] }
    await Promise.all(keys.map((key) => store.write(key, 1, options)))
    const [index = ''] = await client.keys('*:label:label')
    const tag = /\{\d+\}/.exec(index)?.[0]
    const size = () => client.zcard(index)
    const [first = ''] = await client.zrange(index, '0', '0')
    const full = await size()
    clock.advance(10)
    const rewrite = async (left: number) => {
      const version = (await store.read([first]))[0]?.version ?? 0
      expect(await store.write(first, 1, { expected: version, expiresAt: clock() + 10, labels: ['label'] })).toBe(true)
      expect(await size()).toBe(left)
      expect(await client.zcard(`grantwell:${tag}:expiry:label`)).toBe(left)
    }
    for (let left = full - 16; left > 1; left -= 16) await rewrite(left)
    await rewrite(1)
  })

  it('takes out of an index what a list finds there that no longer has the label', async () => {
    const store = redisStore(client)
    const version = async (key: string) => (await store.read([key]))[0]?.version ?? 0
    for (const key of ['stays', 'removed', 'relabelled', 'unlabelled'])
      await store.write(key, 1, { expected: 0, labels: ['label'] })
    await store.write('removed', 1, { expected: await version('removed'), expiresAt: 1 })
    await store.write('relabelled', 1, { expected: await version('relabelled'), labels: ['label 2'] })
    await store.write('unlabelled', 1, { expected: await version('unlabelled') })
    const members = async (kind: string) =>
      (await Promise.all((await client.keys(`*:${kind}:label`)).map((key) => client.zrange(key, '0', '-1')))).flat()
    expect((await members('label')).toSorted()).toEqual(['relabelled', 'removed', 'stays', 'unlabelled'])
    expect((await store.list('label')).records.map(({ key }) => key)).toEqual(['stays'])
    expect([await members('label'), await members('expiry')]).toEqual([['stays'], ['stays']])
    expect((await store.list('label 2')).records.map(({ key }) => key)).toEqual(['relabelled'])
  })

  it('goes on where Redis has forgotten the scripts', async () => {
    const store = redisStore(client)
    expect(await store.write('key', 1, { expected: 0 })).toBe(true)
    await client.script('FLUSH')
    expect(await store.write('another', 1, { expected: 0 })).toBe(true)
    expect(await store.write('another', 1, { expected: 0 })).toBe(false)
  })

  it('takes a write that arrives twice, since a client that lost its connection sends it again, for one', async () => {
    const twice = {
      on: () => {},
      call: async (command: string, ...values: string[]) => {
        await client.call(command, ...values).catch(() => undefined)
        return client.call(command, ...values)
      },
    }
    const store = redisStore(twice)
    expect(await store.write('key', { a: 1 }, { expected: 0, labels: ['label'] })).toBe(true)
    const [record] = await store.read(['key'])
    expect(await store.write('key', { a: 2 }, { expected: record?.version ?? 0 })).toBe(true)
    expect(await store.write('key', { a: 3 }, { expected: record?.version ?? 0 })).toBe(false)
    expect((await store.read(['key']))[0]?.value).toEqual({ a: 2 })
  })

  it('listens to a client once, however many stores are on it', () => {
    const before = client.listenerCount('error')
    for (let index = 0; index < 20; index++) redisStore(client, { namespace: `issuer-${index}` })
    expect(client.listenerCount('error')).toBeLessThanOrEqual(Math.max(before, 1))
  })

  it('gives an empty page for a cursor that is none, and asks nothing', async () => {
    const store = redisStore({ on: () => {}, call: () => Promise.reject(new Error('asked')) })
    for (const cursor of ['', 'abc', ':', '128:', '999:x', '-5:', '-2000000:', '1e3:', '0x1:', ' 1:', 'Infinity:'])
      expect(await store.list('label', { cursor })).toEqual({ records: [] })
  })

  it('tells nothing of the record in the error of a script that failed', async () => {
    const store = redisStore(client)
    await store.write('key', 1, { expected: 0 })
    const [key = ''] = await client.keys('*')
    await client.set(key, 'no hash')
    const failed = await Promise.resolve(store.write('key', { salt: 'a-secret' }, { expected: 1 })).catch(
      (error) => error,
    )
    expect(failed).toMatchObject({
      code: 'ERR_STORAGE_UNAVAILABLE',
      cause: { message: expect.stringContaining('WRONGTYPE') },
    })
    expect(inspect(failed, { depth: 10, showHidden: true })).not.toContain('a-secret')
  })
})
