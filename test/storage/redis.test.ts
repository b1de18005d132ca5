/**
 * The Redis store beyond the contract: where its keys lie, that Redis forgets them by itself, that the indexes of labels
 * clean themselves, and that a command which arrives twice is one.
 * @module
 */
import { inspect } from 'node:util'
import type { RecordStore } from 'grantwell'
import { redisStore } from 'grantwell/storage/redis'
import { virtualClock } from 'grantwell/testing'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keptUntil } from '../../src/storage/shared/expiry.js'
import { eventually } from '../adapters/http.js'
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

  it('lists what expires on its way to Redis, for a server whose clock is behind', async () => {
    const [clock, behind] = [virtualClock(), virtualClock()]
    const writing = redisStore(client, { clock }).write('key', 1, {
      expected: 0,
      expiresAt: clock() + 10,
      labels: ['label'],
    })
    clock.advance(20)
    expect(await writing).toBe(true)
    const { records } = await redisStore(client, { clock: behind }).list('label')
    expect(records.map(({ key }) => key)).toEqual(['key'])
  })

  it('has Redis forget what expires, and the indexes with the last of it, by itself', async () => {
    const clock = virtualClock()
    const store = redisStore(client, { clock })
    await store.write('short', 1, { expected: 0, expiresAt: clock() + 100, labels: ['label'] })
    for (const ttl of await ttls('*record:short')) expect([100 + MARGIN, 100 + MARGIN - 1]).toContain(ttl)
    // An index may live an eighth and a margin longer, so that few writes move it.
    const within = async (life: number) => {
      for (const ttl of await ttls('*:label')) {
        expect(ttl).toBeGreaterThanOrEqual(life + MARGIN - 1)
        expect(ttl).toBeLessThanOrEqual(life + life / 8 + 2 * MARGIN)
      }
    }
    await within(100)
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
    await within(50)
  })

  it('takes expired records out of the indexes that a write adds to, 16 at a time', async () => {
    const clock = virtualClock()
    const store = redisStore(client, { clock })
    const keys = Array.from({ length: 4_000 }, (_, index) => `key ${index}`)
    const options = { expected: 0, expiresAt: clock() + 10, labels: ['label'] }
    await Promise.all(keys.map((key) => store.write(key, 1, options)))
    const [index = ''] = await client.keys('*:label:label')
    const tag = /\{\d+\}/.exec(index)?.[0]
    const size = () => client.zcard(index)
    // Others of the same shard, as another namespace tells.
    const elsewhere = redisStore(client, { namespace: 'elsewhere' })
    const others = Array.from({ length: 4_000 }, (_, place) => `other ${place}`)
    await Promise.all(others.map((key) => elsewhere.write(key, 1, { expected: 0 })))
    const inShard = (await client.keys(`elsewhere:${tag}:record:*`)).map((key) => key.slice(key.indexOf('other')))
    const full = await size()
    clock.advance(10)
    let added = 0
    const add = async (expiredLeft: number) => {
      const key = inShard[added++] ?? ''
      expect(await store.write(key, 1, { ...options, expiresAt: clock() + 10 })).toBe(true)
      expect(await size()).toBe(expiredLeft + added)
      expect(await client.zcard(`grantwell:${tag}:expiry:label`)).toBe(expiredLeft + added)
    }
    for (let left = full - 16; left > 0; left -= 16) await add(left)
    await add(0)
    await add(0)
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

  it('reads by one command; and leaves the indexes alone where a record lives a little longer with the labels that it had', async () => {
    const clock = virtualClock()
    const store = redisStore(client, { clock })
    const calls = async () => {
      const stats = (await client.info('commandstats')).matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)
      const counted = [...stats].map(([, name = '', count]) => [name, Number(count)] as const)
      return Object.fromEntries(counted.filter(([name]) => !['info', 'config|resetstat'].includes(name)))
    }
    const days = 86_400
    const write = async (labels = ['subject:a', 'client:b'], life = 180 * days) => {
      const [, record] = await store.read(['application', 'grant'])
      const options = { expected: record?.version ?? 0, expiresAt: clock() + life, labels }
      expect(await store.write('grant', { a: 1 }, options)).toBe(true)
    }
    await write()
    const touches = { zadd: 2, ttl: 2, expire: 4 }
    let touched = 0
    for (let round = 0; round < 90; round++) {
      clock.advance(days / 3)
      await client.config('RESETSTAT')
      await write()
      const { zadd, ...made } = await calls()
      if (zadd !== undefined) touched++
      const renewed = { mget: 1, evalsha: 1, getrange: 1, set: 1 }
      expect({ ...made, ...(zadd && { zadd }) }).toEqual(zadd === undefined ? renewed : { ...renewed, ...touches })
    }
    // 30 days.
    expect(touched).toBeGreaterThan(0)
    expect(touched).toBeLessThanOrEqual(3)
    // A life that is a little shorter leaves them alone, too; one that is much shorter, and other labels, in whatever direction, do not.
    await client.config('RESETSTAT')
    await write(undefined, 100 * days)
    expect(await calls()).toEqual({ mget: 1, evalsha: 1, getrange: 1, set: 1 })
    await client.config('RESETSTAT')
    await write(undefined, 600)
    expect(await calls()).toEqual({ mget: 1, evalsha: 1, getrange: 1, set: 1, zadd: 2, zrevrange: 2, expire: 4 })
    for (const ttl of [...(await ttls('*:subject:a')), ...(await ttls('*:client:b'))]) {
      expect(ttl).toBeGreaterThanOrEqual(600 + MARGIN - 1)
      expect(ttl).toBeLessThanOrEqual(600 + 600 / 8 + 2 * MARGIN)
    }
    await client.config('RESETSTAT')
    await write()
    expect(await calls()).toMatchObject({ zadd: 2 })
    // What is kept for ever, as applications are, has nothing that moves.
    const options = { labels: ['applications', 'client:c'] }
    expect(await store.write('always', 1, { ...options, expected: 0 })).toBe(true)
    const [always] = await store.read(['always'])
    await client.config('RESETSTAT')
    expect(await store.write('always', 2, { ...options, expected: always?.version ?? 0 })).toBe(true)
    expect(await calls()).toEqual({ evalsha: 1, getrange: 1, set: 1 })
    await write(['client:b'])
    expect((await store.list('subject:a')).records).toEqual([])
    await write()
    expect((await store.list('subject:a')).records).toHaveLength(1)
  })

  it('reads and writes what is asked for in one turn by one command each, and says of each what became of it', async () => {
    const clock = virtualClock()
    const store = redisStore(client, { clock })
    const keys = Array.from({ length: 10 }, (_, index) => `key ${index}`)
    await client.config('RESETSTAT')
    const labels = ['label']
    expect(await Promise.all(keys.map((key) => store.write(key, key, { expected: 0, labels })))).toEqual(
      keys.map(() => true),
    )
    const found = await Promise.all(keys.map((key) => store.read([key, 'absent'])))
    expect(found.map((records) => records.map((record) => record?.value))).toEqual(keys.map((key) => [key, undefined]))
    const stats = await client.info('commandstats')
    expect(stats).toMatch(/^cmdstat_evalsha:calls=1,/m)
    expect(stats).toMatch(/^cmdstat_mget:calls=1,/m)
    const version = found[0]?.[0]?.version ?? 0
    const write = (key: string, expected: number, value: string, expiresAt?: number) =>
      store.write(key, value, { expected, labels, expiresAt })
    expect(
      await Promise.all([
        write('key 0', version, 'first'),
        write('key 0', version, 'second'),
        write('key 1', version, 'wrong'),
        write('key 2', found[2]?.[0]?.version ?? 0, 'gone', clock()),
        write('new', 0, 'new', clock() + 1),
      ]),
    ).toEqual([true, false, false, true, true])
    const after = await store.read(['key 0', 'key 1', 'key 2', 'new'])
    expect(after.map((record) => record?.value)).toEqual(['first', 'key 1', undefined, 'new'])
    expect((await store.list('label')).records.map(({ key }) => key).toSorted()).toEqual(
      [...keys, 'new'].filter((key) => key !== 'key 2').toSorted(),
    )
  })

  it('fails for the record alone that Redis refuses, or whose text is none', async () => {
    const store = redisStore(client)
    await Promise.all(['a', 'b', 'c'].map((key) => store.write(key, key, { expected: 0 })))
    const [wrong = ''] = await client.keys('*:record:b')
    await client.del(wrong)
    await client.hset(wrong, 'no', 'text')
    const versions = (await store.read(['a', 'b', 'c'])).map((record) => record?.version ?? 0)
    const settled = await Promise.allSettled(
      ['a', 'b', 'c'].map((key, place) => store.write(key, `${key} 2`, { expected: versions[place] ?? 0 })),
    )
    expect(settled).toMatchObject([
      { status: 'fulfilled', value: true },
      { status: 'rejected', reason: { code: 'ERR_STORAGE_UNAVAILABLE' } },
      { status: 'fulfilled', value: true },
    ])
    await client.del(wrong)
    await client.set(wrong, '1  \n{"cut')
    const read = await Promise.allSettled(['a', 'b', 'c'].map((key) => store.read([key])))
    expect(read.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('has each write of a script that fails written and listed, but for the one that failed it', async () => {
    const store = redisStore(client)
    const write = (key: string, label: string) => store.write(key, key, { expected: 0, labels: [label, 'all'] })
    await write('spoilt', 'spoils')
    const [spoilt = ''] = await client.keys('*:expiry:spoils')
    await client.flushall()
    await client.set(spoilt, 'no index')
    const settled = await Promise.allSettled([write('a', 'fine'), write('spoilt', 'spoils'), write('b', 'fine')])
    expect(settled).toMatchObject([{ value: true }, { reason: { code: 'ERR_STORAGE_UNAVAILABLE' } }, { value: true }])
    expect((await store.list('fine')).records.map(({ key }) => key).toSorted()).toEqual(['a', 'b'])
  })

  it('lists a record as long as it lives, through labels that come and go and lives that grow and shrink', async () => {
    const clock = virtualClock()
    const store = redisStore(client, { clock })
    const write = async (life: number, labels: readonly string[]) => {
      const expected = (await store.read(['key']))[0]?.version ?? 0
      expect(await store.write('key', 1, { expected, expiresAt: clock() + life, labels })).toBe(true)
    }
    const index = async (label: string) => (await ttls(`*:{*}:*:${label}`)).map((ttl) => ttl - MARGIN)
    await write(1, ['a'])
    await write(5_000, ['b'])
    await write(5_000, ['a', 'b'])
    for (const label of ['a', 'b']) {
      for (const life of await index(label)) expect(life).toBeGreaterThanOrEqual(4_999)
      expect((await store.list(label)).records).toHaveLength(1)
    }
    await write(600, ['a', 'b'])
    await write(700, ['a', 'b'])
    clock.advance(690)
    expect((await store.list('a')).records).toHaveLength(1)
    // What is added to an index does not take that away from it.
    expect(await store.write('another', 1, { expected: 0, expiresAt: clock() + 1, labels: ['a', 'b'] })).toBe(true)
    for (const label of ['a', 'b']) {
      expect((await store.list(label)).records).toHaveLength(2)
      for (const life of await index(label)) expect(life).toBeLessThanOrEqual(700 + 700 / 8 + MARGIN)
    }
  })

  it('has an index live as long as the longest of its records once the one that was kept for ever has gone', async () => {
    const clock = virtualClock()
    const store = redisStore(client, { clock })
    // Names of one shard, which has one index for the label.
    const elsewhere = redisStore(client, { namespace: 'elsewhere' })
    const names = Array.from({ length: 2_000 }, (_, index) => `name ${index}`)
    await Promise.all(names.map((key) => elsewhere.write(key, 1, { expected: 0 })))
    const [tag] = /\{\d+\}/.exec((await client.keys('elsewhere:*'))[0] ?? '') ?? []
    const found = (await client.keys(`elsewhere:${tag}:record:*`)).map((key) => key.slice(key.indexOf('name')))
    const [first = '', second = '', third = '', fourth = ''] = found
    const write = async (key: string, life?: number) => {
      const expected = (await store.read([key]))[0]?.version ?? 0
      const options = { expected, labels: ['label'], ...(life !== undefined && { expiresAt: clock() + life }) }
      expect(await store.write(key, 1, options)).toBe(true)
    }
    await write(first)
    await write(second, 10_000)
    expect(await ttls('*:label')).toEqual([-1, -1])
    await write(first, 0)
    expect((await store.list('label')).records.map(({ key }) => key)).toEqual([second])
    await write(third, 10)
    for (const ttl of await ttls('*:label')) expect(ttl).toBeGreaterThan(10_000)
    expect((await store.list('label')).records.map(({ key }) => key).toSorted()).toEqual([second, third].toSorted())
    // Nor does one that is added, or cut short, take anything away from the others.
    const asLong = async () => {
      for (const ttl of await ttls('*:label')) expect(ttl).toBeGreaterThanOrEqual(10_000 + MARGIN - 1)
    }
    await write(fourth, 10)
    await asLong()
    await write(third, 5_000)
    await asLong()
    await write(third, 10)
    await asLong()
    // The longest does.
    await write(second, 100)
    for (const ttl of await ttls('*:label')) expect(ttl).toBeLessThanOrEqual(100 + 100 / 8 + 2 * MARGIN)
    for (const ttl of await ttls('*:label')) expect(ttl).toBeGreaterThanOrEqual(100 + MARGIN - 1)
    expect((await store.list('label')).records).toHaveLength(3)
  })

  it('lists a record that a server lengthens whose clock is behind that of another one, for which it has expired', async () => {
    const clocks = [virtualClock(), virtualClock()] as const
    const [behind, ahead] = clocks.map((clock) => redisStore(client, { clock })) as [RecordStore, RecordStore]
    const write = async (life: number) => {
      const expected = (await behind.read(['key']))[0]?.version ?? 0
      const options = { expected, expiresAt: clocks[0]() + life, labels: ['label'] }
      expect(await behind.write('key', 1, options)).toBe(true)
    }
    await write(1_000)
    for (const clock of clocks) clock.advance(999)
    clocks[1].advance(2)
    expect((await ahead.list('label')).records).toEqual([])
    await write(30)
    for (const store of [behind, ahead]) expect((await store.list('label')).records).toHaveLength(1)
  })

  it('asks a cluster for each record alone, so that a server that is silent fails for nobody else', async () => {
    const cluster = {
      isCluster: true,
      on: () => {},
      call: (command: string, ...values: string[]) =>
        values.some((value) => value.includes('silent')) ? new Promise(() => {}) : client.call(command, ...values),
    }
    const store = redisStore(cluster, { timeoutMs: 50 })
    const keys = ['a', 'silent', 'b']
    const written = await Promise.allSettled(keys.map((key) => store.write(key, key, { expected: 0 })))
    expect(written.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    const read = await Promise.allSettled(keys.map((key) => store.read([key])))
    expect(read).toMatchObject([{ value: [{ value: 'a' }] }, { status: 'rejected' }, { value: [{ value: 'b' }] }])
  })

  it('lists a record that was removed or expired, and came again to live as long', async () => {
    const clock = virtualClock()
    const store = redisStore(client, { clock })
    const version = async () => (await store.read(['key']))[0]?.version ?? 0
    // For 512 to 1,023 seconds it is kept until a multiple of 64: one second longer than it lives.
    const expiresAt = clock() + 1_000 - ((clock() + 1_000) % 64) - 1
    expect(keptUntil(expiresAt, clock())).toBe(expiresAt + 1)
    const write = async (until = expiresAt) =>
      expect(await store.write('key', 1, { expected: await version(), expiresAt: until, labels: ['label'] })).toBe(true)
    const listed = async () => (await store.list('label')).records.length
    await write()
    await write(1)
    expect(await listed()).toBe(0)
    await write()
    expect(await listed()).toBe(1)
    // It has expired, before Redis forgets it.
    clock.set(expiresAt)
    expect(await listed()).toBe(0)
    await write(expiresAt + 1)
    expect(await listed()).toBe(1)
  })

  it('reads one by one from a server that is a cluster by itself, through a client that knows nothing of it', async () => {
    const alone = await startRedis({ settings: ['--cluster-enabled', 'yes'] })
    const admin = new Redis(alone.port, alone.host)
    await admin.cluster('ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot))
    await eventually(async () => /cluster_state:ok/.test(String(await admin.cluster('INFO'))))
    const store = redisStore(admin)
    const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`)
    for (const key of keys) expect(await store.write(key, key, { expected: 0 })).toBe(true)
    for (let round = 0; round < 2; round++)
      expect((await store.read(keys)).map((record) => record?.value)).toEqual(keys)
    // One command was refused, and none asked again.
    expect(await admin.info('commandstats')).toMatch(/^cmdstat_mget:calls=0,.*rejected_calls=1,/m)
    const others = redisStore(admin, { namespace: 'others' })
    const writes = () => Promise.all(keys.map((key) => others.write(key, key, { expected: 0, labels: ['label'] })))
    expect(await writes()).toEqual(keys.map(() => true))
    expect(await writes()).toEqual(keys.map(() => false))
    const found = await Promise.all(keys.map((key) => others.read([key, 'absent'])))
    expect(found.map(([record]) => record?.value)).toEqual(keys)
    expect((await others.list('label')).records).toHaveLength(keys.length)
    admin.disconnect()
    await alone.remove()
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
    await client.del(key)
    await client.hset(key, 'no', 'text')
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
