/**
 * Server processes killed by SIGKILL in the middle of 5,000 flows: nothing that a client was told may be untrue
 * afterwards. What a flow is, is written in `engines/flows.ts`.
 * @module
 */
import { join } from 'node:path'
import { postgresStore } from 'grantwell/storage/postgres'
import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { seededNumbers } from '../../src/testing/seeded-entropy.js'
import { describeWith, postgresql } from '../engines/available.js'
import type { Ledger } from '../engines/flows.js'
import { audit, callAny, flowServer, newLedger, registerFlowClient, summary, walk } from '../engines/flows.js'
import { startPostgres } from '../engines/postgres.js'
import { temporaryFolder } from '../engines/process.js'
import type { ProcessEngine } from '../engines/servers.js'
import { startServers } from '../engines/servers.js'

/** As many for each of two engines. */
const FLOWS = 2_500
const SERVERS = 2
const WORKERS = 24

/** A server is killed whenever so many more flows are through. */
const FLOWS_TO_A_KILL = 100

/** Far more than it takes, since other tests may run at the same time. */
const TIMEOUT = 600_000

/** Walks the flows while servers are killed, now one, now the other. */
async function walkAndKill(engine: ProcessEngine, ledger: Ledger): Promise<number> {
  const servers = await startServers(SERVERS, engine)
  let kills = 0
  let killing: Promise<void> | undefined
  try {
    await walk({
      call: servers.call,
      ledger,
      flows: FLOWS,
      workers: WORKERS,
      random: seededNumbers(FLOWS),
      onFlow: () => {
        if (ledger.flows % FLOWS_TO_A_KILL !== 0) return
        // One after another, so that there is always one that answers: a dead one is replaced at once.
        killing = (killing ?? Promise.resolve()).then(() => servers.kill(kills++ % SERVERS))
      },
    })
    await killing
  } finally {
    await servers.close()
  }
  return kills
}

/** What must hold of every such run, whatever the engine. */
function expectSound(engine: string, ledger: Ledger, kills: number, faults: readonly string[]): void {
  console.log(`${engine}: ${kills} servers killed; ${summary(ledger)}`)
  expect(faults).toEqual([])
  expect(ledger.flows).toBe(FLOWS)
  expect(kills).toBe(FLOWS / FLOWS_TO_A_KILL)
  // Otherwise they were killed in idleness.
  expect(ledger.lost).toBeGreaterThan(kills)
}

describe('servers over one file of SQLite, killed', () => {
  it(
    `keep every word in ${FLOWS} flows`,
    async () => {
      const folder = temporaryFolder('killed')
      try {
        const file = join(folder.path, 'grants.db')
        const database = new Database(file)
        const server = flowServer(sqliteStore(database), (error) => expect.fail(String(error)))
        await registerFlowClient(server)
        const ledger = newLedger()
        const kills = await walkAndKill({ type: 'sqlite', file }, ledger)
        expectSound('SQLite', ledger, kills, await audit(ledger, callAny([server])))
        database.close()
      } finally {
        folder.remove()
      }
    },
    TIMEOUT,
  )
})

describeWith(describe, postgresql, 'servers over PostgreSQL, killed', () => {
  it(
    `keep every word in ${FLOWS} flows`,
    async () => {
      const engine = await startPostgres()
      const pool = new pg.Pool(engine.connection)
      try {
        const store = postgresStore(pool)
        await store.migrate()
        const server = flowServer(store, (error) => expect.fail(String(error)))
        await registerFlowClient(server)
        const ledger = newLedger()
        const kills = await walkAndKill({ type: 'postgres', connection: engine.connection }, ledger)
        expectSound('PostgreSQL', ledger, kills, await audit(ledger, callAny([server])))
      } finally {
        await pool.end()
        await engine.remove()
      }
    },
    TIMEOUT,
  )
})
