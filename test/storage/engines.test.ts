/**
 * Every store keeps the contract on its engine, for two random examples of each case; but for PGlite and Redis Cluster.
 * `engines-sql.slow.test.ts` and `engines-redis.slow.test.ts` have more of them, the lifecycle and the explorer.
 * @module
 */
import { describe } from 'vitest'
import { contractSuite } from '../engines/suite.js'
import { describeRedis } from './engines-redis.js'
import { describeSqlEngines } from './engines-sql.js'

describe('the contract', () => {
  describeSqlEngines((connect) => contractSuite(connect, 2))
  describeRedis((connect) => contractSuite(connect, 2))
})
