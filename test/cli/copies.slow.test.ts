/**
 * Copies of many records from engine to engine by the command, and back: equal, and streamed. The suite copies 5,000 records;
 * `RECORDS=1000000` copies a million.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { postgresStore } from 'grantwell/storage/postgres'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { build } from '../built.js'
import { describeWith, postgresql, redis } from '../engines/available.js'
import type { PostgresEngine } from '../engines/postgres.js'
import { startPostgres } from '../engines/postgres.js'
import type { RedisEngine } from '../engines/redis.js'
import { startRedis } from '../engines/redis.js'
import { FIXTURES } from '../server/record-life.js'
import { folder, grantwell, link, write } from './command.js'

const RECORDS = Number(process.env['RECORDS'] ?? 5_000)

/** Bytes that the process of a command may take at most, whatever it copies. */
const MOST_MEMORY = 200 * 2 ** 20

/** Prints the most memory that a process had. */
const TELL_MEMORY = `process.on('exit', () => process.stderr.write('\\nmemory ' + process.resourceUsage().maxRSS * 1024))`

beforeAll(build)

/** Makes grants of as many users, in the shape that a server writes: one by the store, and the others from it by SQL. */
async function fill(engine: PostgresEngine, namespace: string): Promise<void> {
  const pool = new pg.Pool(engine.connection)
  const store = postgresStore(pool, { namespace })
  await store.migrate()
  const [, { records }] = FIXTURES[0] ?? expect.fail()
  const { value } = records.find(({ labels }) => labels?.includes('subject:ada')) ?? expect.fail()
  // After all tokens of that grant.
  const expiresAt = 2_100_000_000
  const [id, subject] = ['0'.repeat(22), 'user-0']
  const grant = { ...(value as object), id, subject, keepUntil: expiresAt } as typeof value // as it was, for another user
  await store.write(`grant:${id}`, grant, { expected: 0, expiresAt, labels: [`subject:${subject}`, 'client:web'] })
  await pool.query(
    `INSERT INTO grantwell_records (namespace, label, key, version, value, expires_at, kept_until, labels)
       SELECT namespace, '', 'grant:' || lpad(i::text, 22, '0'), version + i,
         replace(replace(value, $1, lpad(i::text, 22, '0')), $2, 'user-' || i),
         expires_at + i % 1000, kept_until + 1000, replace(labels, $2, 'user-' || i)
       FROM grantwell_records, generate_series(1, $3 - 1) i WHERE namespace = $4 AND label = ''`,
    [id, subject, RECORDS, namespace],
  )
  await pool.end()
}

describeWith(describe, postgresql, 'from PostgreSQL', () => {
  describeWith(describe, redis, 'into Redis and back', () => {
    let source: PostgresEngine
    let target: RedisEngine
    beforeAll(async () => {
      source = await startPostgres()
      target = await startRedis()
      await fill(source, 'before')
    })
    afterAll(async () => {
      await source.remove()
      await target.remove()
    })

    it('is equal, and takes little memory however many records there are', () => {
      link(fileURLToPath(new URL('../../node_modules', import.meta.url)), 'node_modules')
      const tell = write('memory.cjs', TELL_MEMORY)
      const { user, host, port, database } = source.connection
      const figures: { command: string; seconds: number; megabytes: number }[] = []
      const run = (command: 'export' | 'import' | 'check', file: string, ...store: readonly string[]) => {
        const begun = performance.now()
        const files = command === 'check' ? [] : [file]
        const { code, stdout, stderr } = grantwell(['store', command, ...files, '--json', ...store], {
          env: { NODE_OPTIONS: `--require ${tell}` },
          hangsAfter: 1_800_000,
        })
        expect([code, stderr]).toEqual([0, expect.stringMatching(/^\nmemory \d+$/)])
        const memory = Number(stderr.split(' ')[1])
        const seconds = (performance.now() - begun) / 1000
        figures.push({ command: `${command} ${store[0]}`, seconds, megabytes: memory / 2 ** 20 })
        expect(memory).toBeLessThan(MOST_MEMORY)
        return JSON.parse(stdout)
      }
      const postgres = ['--postgres', `postgres://${user}@${host}:${port}/${database}`]
      const inRedis = ['--redis', `redis://${target.host}:${target.port}`]
      const exported = run('export', 'a.jsonl', ...postgres, '--namespace', 'before')
      expect(exported.exported).toBe(RECORDS)
      run('import', 'a.jsonl', ...inRedis)
      expect(run('check', '', ...inRedis)).toMatchObject({ records: RECORDS, broken: 0 })
      expect(run('export', 'b.jsonl', ...inRedis)).toEqual(exported)
      const { imported, digest } = run('import', 'b.jsonl', ...postgres, '--namespace', 'after')
      expect({ exported: imported, digest }).toEqual(exported)
      expect(run('export', 'c.jsonl', ...postgres, '--namespace', 'after')).toEqual(exported)
      if (RECORDS <= 100_000) {
        const lines = (file: string) => new Set(readFileSync(join(folder(), file), 'utf8').split('\n').slice(1))
        expect(lines('b.jsonl')).toEqual(lines('a.jsonl'))
        expect(lines('c.jsonl')).toEqual(lines('a.jsonl'))
      }
      if (process.env['RECORDS'] !== undefined) console.table(figures)
    }, 3_600_000)
  })
})
