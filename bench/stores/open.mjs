// The stores by their names, each on its own engine, empty: PostgreSQL and Redis where POSTGRES_URL and REDIS_URL tell.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresTrips, redisTrips, sqliteTrips, tripsOf } from './trips.mjs'

/** Connections of a process to PostgreSQL. */
const CONNECTIONS = 10

/** The variables that tell where an engine is. */
const URLS = { postgres: 'POSTGRES_URL', redis: 'REDIS_URL' }

export const STORES = ['memory', 'sqlite', 'postgres', 'redis']

/** The variable that is missing for a store to be opened, if any. */
export const missingFor = (name) => (URLS[name] in process.env ? undefined : URLS[name])

const tableOf = (namespace) => `grantwell_${namespace.replaceAll(/\W/g, '_')}`

/** What opens an engine for its bare round trips. */
const tripsOpeners = {
  sqlite: async () => sqliteTrips(await databaseOf(), 'bare'),
  postgres: async (namespace) => postgresTrips(await poolOf(), tableOf(namespace)),
  redis: async (namespace) => redisTrips(await redisOf(), `${namespace}:`),
}

const openers = {
  memory: async (_, clock) => (await import('grantwell/storage/memory')).memoryStore({ clock }),
  sqlite: async (_, clock) => (await import('grantwell/storage/sqlite')).sqliteStore(await databaseOf(), { clock }),
  postgres: async (namespace, clock) => {
    const { postgresStore } = await import('grantwell/storage/postgres')
    const store = postgresStore(await poolOf(), { namespace, clock, table: tableOf(namespace) })
    await store.migrate()
    return store
  },
  redis: async (namespace, clock) =>
    (await import('grantwell/storage/redis')).redisStore(await redisOf(), { namespace, clock }),
}

async function databaseOf() {
  const { default: Database } = await import('libsql')
  const folder = mkdtempSync(join(tmpdir(), 'grantwell-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return new Database(join(folder, 'bench.db'))
}

async function poolOf() {
  const { default: pg } = await import('pg')
  return new pg.Pool({ connectionString: urlOf('postgres'), max: CONNECTIONS })
}

async function redisOf() {
  const { Redis } = await import('ioredis')
  return new Redis(urlOf('redis'))
}

const removers = {
  postgres: async (namespace) => {
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: urlOf('postgres') })
    await client.connect()
    await client.query(
      `DROP TABLE IF EXISTS ${tableOf(namespace)};
       DROP FUNCTION IF EXISTS ${tableOf(namespace)}_relabel, ${tableOf(namespace)}_update`,
    )
    await client.end()
  },
  redis: async (namespace) => {
    const { Redis } = await import('ioredis')
    const client = new Redis(urlOf('redis'))
    for await (const found of client.scanStream({ match: `${namespace}:*`, count: 1_000 }))
      if (found.length > 0) await client.unlink(found)
    await client.quit()
  },
}

/**
 * @param namespace - whose records they are; of this process alone by default
 * @param clock - the system's by default
 */
export function openStore(name, namespace = `bench-${process.pid}`, clock = undefined) {
  return openers[name](namespace, clock)
}

/** Opens an engine for its bare round trips: a function that makes those of an operation. */
export async function openTrips(name, namespace = `bench-${process.pid}`) {
  return tripsOf(await tripsOpeners[name](namespace))
}

/** Removes what a process that has ended left behind in an engine. */
export async function removeRecords(name, namespace) {
  await removers[name]?.(namespace)
}

function urlOf(name) {
  const missing = missingFor(name)
  if (missing !== undefined) throw new Error(`${missing} does not tell where it is`)
  return process.env[URLS[name]]
}
