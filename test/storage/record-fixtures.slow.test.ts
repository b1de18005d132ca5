/**
 * Records of every version that a release wrote, read from PostgreSQL and Redis. Those in memory and in SQLite are in
 * `test/server/record-fixtures.test.ts`.
 * @module
 */
import { postgresStore } from 'grantwell/storage/postgres'
import { redisStore } from 'grantwell/storage/redis'
import { Redis } from 'ioredis'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { describeWith, postgresql, redis } from '../engines/available.js'
import { startPostgres } from '../engines/postgres.js'
import { startRedis } from '../engines/redis.js'
import { expectRead, FIXTURES, load } from '../server/record-life.js'
import { START } from '../support.js'

const clock = () => START + 60

describeWith(describe, postgresql, 'PostgreSQL', () => {
  it('has the records of every version read', async () => {
    const engine = await startPostgres()
    const pool = new pg.Pool(engine.connection)
    try {
      for (const [namespace, { records, held }] of FIXTURES) {
        const store = postgresStore(pool, { clock, namespace })
        await store.migrate()
        await load(store, records)
        await expectRead(store, held)
      }
      expect(FIXTURES.length).toBeGreaterThan(0)
    } finally {
      await pool.end()
      await engine.remove()
    }
  })
})

describeWith(describe, redis, 'Redis', () => {
  it('has the records of every version read', async () => {
    const engine = await startRedis()
    const client = new Redis(engine.port, engine.host)
    try {
      for (const [namespace, { records, held }] of FIXTURES) {
        const store = redisStore(client, { clock, namespace })
        await load(store, records)
        await expectRead(store, held)
      }
      expect(FIXTURES.length).toBeGreaterThan(0)
    } finally {
      client.disconnect()
      await engine.remove()
    }
  })
})
