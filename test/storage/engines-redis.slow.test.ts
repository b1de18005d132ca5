/**
 * The kit on Redis and on a Redis Cluster of three, through each of their two clients; and a scan of all servers of a cluster.
 * @module
 */
import { redisStore } from 'grantwell/storage/redis'
import { Cluster } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { allRecords } from '../../src/cli/shell/all-records.js'
import { shardOf } from '../../src/storage/redis/keys.js'
import { OF_TWO_SHARDS } from '../../src/storage/redis/scan.js'
import { describeWith, redis } from '../engines/available.js'
import { startRedisCluster } from '../engines/redis.js'
import { engineSuite } from '../engines/suite.js'
import { describeRedis, describeRedisCluster } from './engines-redis.js'

describeRedis(engineSuite)
describeRedisCluster(engineSuite)

describeWith(describe, redis, 'a scan through a client that does not tell of its cluster', () => {
  it('shows the records of all servers, even where one alone has any', async () => {
    expect(new Set(OF_TWO_SHARDS.map(shardOf)).size).toBe(2)
    const engine = await startRedisCluster()
    const client = new Cluster([...engine.nodes])
    const untold = {
      on: () => {},
      call: (command: string, ...values: string[]) => client.call(command, ...values),
    }
    // A hash slot of each server.
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    for (const key of keys) {
      const options = { namespace: `only-${key}` }
      await redisStore(client, options).write(key, 1, { expected: 0 })
      const shown: string[] = []
      for await (const record of allRecords(redisStore(untold, options))) shown.push(record.key)
      expect(shown).toEqual([key])
    }
    client.disconnect()
    await engine.remove()
  })
})
