/**
 * The kit on Redis and on a Redis Cluster of three, through each of their two clients.
 * @module
 */
import { engineSuite } from '../engines/suite.js'
import { describeRedis, describeRedisCluster } from './engines-redis.js'

describeRedis(engineSuite)
describeRedisCluster(engineSuite)
