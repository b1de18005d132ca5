/**
 * The kit on Redis and on a Redis Cluster of three, through each of their two clients.
 * @module
 */
import { engineSuite } from '../engines/suite.js'
import { describeRedisEngines } from './engines-redis.js'

describeRedisEngines(engineSuite)
