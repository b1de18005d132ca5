/**
 * Copies of many records from engine to engine by the command, and back: equal, and streamed. The suite copies 20,000 records;
 * `RECORDS=1000000` copies a million.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { postgresStore } from 'grantwell/storage/postgres'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeWith, postgresql, redis } from '../engines/available.js'
import type { PostgresEngine } from '../engines/postgres.js'
import { startPostgres } from '../engines/postgres.js'
import type { RedisEngine } from '../engines/redis.js'
import { startRedis } from '../engines/redis.js'
import { FIXTURES } from '../server/record-life.js'
import { build, folder, grantwell, link, removeBuild, write } from './command.js'

const RECORDS = Number(process.env['RECORDS'] ?? 20_000)

/** Bytes that the process of a command may take at most, whatever it copies. */
const MOST_MEMORY = 200 * 2 ** 20

/** Prints the most memory that a process had. */
const TELL_MEMORY = `process.on('exit', () => process.stderr.write('\\nmemory ' + process.resourceUsage().maxRSS * 1024))`

beforeAll(build, 120_000)
afterAll(removeBuild)

/** Writes grants of as many users, in the shape that a server writes. */
async function fill(engine: PostgresEngine, namespace: string): Promise<void> {
  const pool = new pg.Pool({ ...engine.connection, max: 16 })
  const store = postgresStore(pool, { namespace })
  await store.migrate()
  const [, { records }] = FIXTURES[0] ?? expect.fail()
  const { value } = records.find(({ labels }) => labels?.includes('subject:ada')) ?? expect.fail()
  // After all tokens of that grant, and ten years ahead.
  const expiresAt = 2_100_000_000
  const writeOne = (index: number) => {
    const id = index.toString().padStart(22, '0')
    const subject = `user-${index}`
    const grant = { ...(value as object), id, subject, keepUntil: expiresAt } as typeof value // as it was, for another user
    const labels = [`subject:${subject}`, 'client:web']
    return store.write(`grant:${id}`, grant, { expected: 0, expiresAt: expiresAt + (index % 1000), labels })
  }
  for (let begin = 0; begin < RECORDS; begin += 1_000)
    await Promise.all(Array.from({ length: Math.min(1_000, RECORDS - begin) }, (_, index) => writeOne(begin + index)))
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
    }, 900_000)
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
