// What the stores' operations cost, in the engine's own shortest command, which makes machines comparable.
//   npm run bench:stores
// PostgreSQL and Redis take part where POSTGRES_URL and REDIS_URL tell where they are; the records are removed at the end.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { memoryStore } from 'grantwell/storage/memory'
import { postgresStore } from 'grantwell/storage/postgres'
import { redisStore } from 'grantwell/storage/redis'
import { sqliteStore } from 'grantwell/storage/sqlite'
import { Redis } from 'ioredis'
import Database from 'libsql'
import pg from 'pg'

const { POSTGRES_URL, REDIS_URL } = process.env
const ROUNDS = 15
const RECORDS = 500
const IN_FLIGHT = 50

const namespace = `bench-${process.pid}`
/** A grant of three pairs or so, and an application. */
const value = { v: 1, text: 'a'.repeat(1_500) }
const keys = Array.from({ length: RECORDS }, (_, index) => `grant:${index}`)

/** Does a job for every key, some at a time; microseconds for each. */
async function timed(job) {
  const begun = process.hrtime.bigint()
  let next = 0
  const worker = async () => {
    while (next < RECORDS) await job(keys[next++])
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  return Number(process.hrtime.bigint() - begun) / 1_000 / RECORDS
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

/** @param bare - the engine's shortest command; none for memory */
async function measure(name, store, bare) {
  const versions = new Map()
  const options = (expected) => ({ expected, labels: ['subject:ada', 'client:web'], expiresAt: 4_000_000_000 })
  const look = async (key) => versions.set(key, (await store.read([key]))[0]?.version ?? 0)
  await store.write('application:bench', value, options(0))
  for (const key of keys) await store.write(key, value, options(0))
  const runs = { bare: [], read: [], write: [] }
  for (let round = 0; round < ROUNDS; round++) {
    runs.bare.push(bare === undefined ? Number.NaN : await timed(bare))
    runs.read.push(await timed((key) => store.read(['application:bench', key])))
    await timed(look)
    runs.write.push(
      await timed(async (key) => {
        if (!(await store.write(key, value, options(versions.get(key))))) throw new Error('not written')
      }),
    )
  }
  const per = (what) => runs[what].map((each, round) => each / runs.bare[round])
  const cells = [
    median(runs.read).toFixed(1),
    median(runs.write).toFixed(1),
    ...(bare === undefined
      ? ['', '', '']
      : [median(runs.bare).toFixed(1), ...['read', 'write'].map((what) => median(per(what)).toFixed(1))]),
  ]
  console.log(`${name.padEnd(20)}${cells.map((cell) => cell.padStart(10)).join('')}`)
}

console.log(`microseconds an operation, ${IN_FLIGHT} in flight; then the engine's shortest command, and both in it`)
console.log(`${''.padEnd(20)}${['read', 'write', 'bare', 'read', 'write'].map((cell) => cell.padStart(10)).join('')}`)
await measure('memory', memoryStore())

const folder = mkdtempSync(join(tmpdir(), 'grantwell-bench-'))
for (const synchronous of ['normal', 'full']) {
  const database = new Database(join(folder, `${synchronous}.db`))
  const one = database.prepare('SELECT 1')
  await measure(`SQLite, ${synchronous}`, sqliteStore(database, { synchronous }), () => one.get())
  database.close()
}
rmSync(folder, { recursive: true })

const embedded = await PGlite.create()
const inEmbedded = postgresStore(embedded)
await inEmbedded.migrate()
await measure('PGlite', inEmbedded, () => embedded.query('SELECT 1'))
await embedded.close()

if (POSTGRES_URL === undefined) console.log('PostgreSQL: POSTGRES_URL does not tell where it is')
else {
  const pool = new pg.Pool({ connectionString: POSTGRES_URL })
  const store = postgresStore(pool, { namespace, table: 'grantwell_bench' })
  await store.migrate()
  await measure('PostgreSQL', store, () => pool.query({ name: 'bare', text: 'SELECT 1' }))
  await pool.query('DROP TABLE grantwell_bench; DROP FUNCTION grantwell_bench_relabel')
  await pool.end()
}

if (REDIS_URL === undefined) console.log('Redis: REDIS_URL does not tell where it is')
else {
  const client = new Redis(REDIS_URL)
  const store = redisStore(client, { namespace })
  await measure('Redis', store, () => client.ping())
  for await (const found of client.scanStream({ match: `${namespace}:*` }))
    if (found.length > 0) await client.del(found)
  await client.quit()
}
