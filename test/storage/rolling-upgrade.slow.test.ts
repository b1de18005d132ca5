/**
 * A rolling upgrade under load: servers of the release before and of this one over one store. Each is replaced by one of the other release,
 * forward, back, and forward again, and nothing that a client was told may be untrue afterwards. `BEFORE=<commit>` says which release.
 * @module
 */
import { join } from 'node:path'
import type { RecordStore } from 'grantwell'
import { postgresStore } from 'grantwell/storage/postgres'
import { redisStore } from 'grantwell/storage/redis'
import { sqliteStore } from 'grantwell/storage/sqlite'
import { Redis } from 'ioredis'
import Database from 'libsql'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seededNumbers } from '../../src/testing/seeded-entropy.js'
import { describeWith, postgresql, redis } from '../engines/available.js'
import type { EarlierSources } from '../engines/earlier-sources.js'
import { earlierCommit, unpackSources } from '../engines/earlier-sources.js'
import { audit, callAny, flowServer, newLedger, registerFlowClient, summary, walk } from '../engines/flows.js'
import { startPostgres } from '../engines/postgres.js'
import { temporaryFolder } from '../engines/process.js'
import { startRedis } from '../engines/redis.js'
import type { ProcessEngine } from '../engines/servers.js'
import { SOURCES, startServers } from '../engines/servers.js'

/** On each engine. `FLOWS=10000` takes as many as the figures in the notes. */
const FLOWS = Number(process.env['FLOWS'] ?? 800)
const WORKERS = 24

/** The releases that replace servers, in turn: forward, back, and forward again. Between two of them the servers are of different releases. */
const REPLACEMENTS = ['this', 'this', 'earlier', 'earlier', 'this', 'this'] as const

/** Far more than it takes, since other tests may run at the same time. */
const TIMEOUT = 600_000

const commit = earlierCommit()
let earlier: EarlierSources
beforeAll(() => {
  if (commit !== undefined) earlier = unpackSources(commit)
})
afterAll(() => earlier?.remove())

/** Walks the flows while servers are replaced, and looks at every token afterwards. */
async function upgradeUnderLoad(name: string, engine: ProcessEngine, store: RecordStore): Promise<void> {
  const server = flowServer(store, (error) => expect.fail(String(error)))
  await registerFlowClient(server)
  const ledger = newLedger()
  const servers = await startServers(2, engine, earlier.directory)
  const step = Math.floor(FLOWS / (REPLACEMENTS.length + 1))
  let replaced = 0
  let replacing = Promise.resolve()
  try {
    await walk({
      call: servers.call,
      ledger,
      flows: FLOWS,
      workers: WORKERS,
      random: seededNumbers(FLOWS),
      onFlow: () => {
        if (ledger.flows % step !== 0) return
        const release = REPLACEMENTS[ledger.flows / step - 1]
        if (release === undefined) return
        replacing = replacing.then(async () => {
          await servers.kill(replaced % 2, release === 'this' ? SOURCES : earlier.directory)
          replaced++
        })
      },
    })
    await replacing
  } finally {
    await servers.close()
  }
  console.log(`${name}: ${replaced} servers replaced, of ${earlier.commit.slice(0, 8)} and this; ${summary(ledger)}`)
  expect(await audit(ledger, callAny([server]))).toEqual([])
  expect([ledger.flows, replaced]).toEqual([FLOWS, REPLACEMENTS.length])
}

const NOT_RUN = commit === undefined ? ' (not run: this checkout has no earlier commit)' : ''

describe.skipIf(commit === undefined)(`a rolling upgrade from the release before, and back${NOT_RUN}`, () => {
  it(
    'loses nothing and does nothing twice on SQLite',
    async () => {
      const folder = temporaryFolder('upgrade')
      const file = join(folder.path, 'grants.db')
      const database = new Database(file)
      try {
        await upgradeUnderLoad('SQLite', { type: 'sqlite', file }, sqliteStore(database))
      } finally {
        database.close()
        folder.remove()
      }
    },
    TIMEOUT,
  )

  describeWith(describe, postgresql, 'over PostgreSQL', () => {
    it(
      'loses nothing and does nothing twice',
      async () => {
        const engine = await startPostgres()
        const pool = new pg.Pool(engine.connection)
        try {
          const store = postgresStore(pool)
          await store.migrate()
          await upgradeUnderLoad('PostgreSQL', { type: 'postgres', connection: engine.connection }, store)
        } finally {
          await pool.end()
          await engine.remove()
        }
      },
      TIMEOUT,
    )
  })

  describeWith(describe, redis, 'over Redis', () => {
    it(
      'loses nothing and does nothing twice',
      async () => {
        const engine = await startRedis()
        const client = new Redis(engine.port, engine.host)
        try {
          const { host, port } = engine
          await upgradeUnderLoad('Redis', { type: 'redis', host, port }, redisStore(client))
        } finally {
          client.disconnect()
          await engine.remove()
        }
      },
      TIMEOUT,
    )
  })
})
