/**
 * The examples of frameworks, and the engine that each is for.
 * @module
 */
import { join } from 'node:path'
import type { Engine } from '../engines/available.js'
import { postgresql, redis } from '../engines/available.js'
import { startPostgres } from '../engines/postgres.js'
import { temporaryFolder } from '../engines/process.js'
import { startRedis } from '../engines/redis.js'

/** An engine of one's own for an example. */
export interface Store {
  /** How the example is told where it is. */
  readonly env: Readonly<Record<string, string>>
  readonly remove: () => Promise<void> | void
}

/** An example. */
export interface Framework {
  readonly title: string
  /** A file or a folder of examples/frameworks. */
  readonly path: string
  /** What is to be on the machine. */
  readonly engine?: Engine
  readonly store: () => Promise<Store> | Store
  /** Where no store is, and what is said of it. */
  readonly nowhere: { readonly env: (port: number) => Readonly<Record<string, string>>; readonly says: RegExp }
}

/** All of them. */
export const FRAMEWORKS: readonly Framework[] = [
  {
    title: 'node:http over SQLite',
    path: 'node-http.mjs',
    store: () => inFolder('grants.db'),
    nowhere: { env: () => ({ DATABASE: '/there/is/none/grants.db' }), says: /\/there\/is\/none\/grants\.db/ },
  },
  {
    title: 'Express 5 over PostgreSQL',
    path: 'express.mjs',
    engine: postgresql,
    store: async () => {
      const engine = await startPostgres()
      const { host, port, user, database } = engine.connection
      return { env: { DATABASE_URL: `postgres://${user}@${host}:${port}/${database}` }, remove: engine.remove }
    },
    nowhere: {
      env: (port) => ({ DATABASE_URL: `postgres://127.0.0.1:${port}/grants` }),
      says: /^grantwell: PostgreSQL failed: .*(?:ECONNREFUSED 127|ENOTDIR)/,
    },
  },
  {
    title: 'Fastify 5 over Redis',
    path: 'fastify.mjs',
    engine: redis,
    store: inRedis,
    nowhere: {
      env: (port) => ({ REDIS_URL: `redis://127.0.0.1:${port}` }),
      says: /^grantwell: Redis did not answer within 5000 ms: connect ECONNREFUSED 127/,
    },
  },
  {
    title: 'Hono over PGlite',
    path: 'hono.mjs',
    store: () => inFolder('grants'),
    nowhere: {
      env: () => ({ DATABASE: '/dev/null/grants' }),
      says: /^ENOTDIR: .*\/dev\/null\/grants/,
    },
  },
  {
    title: 'route handlers of Next.js over Redis',
    path: 'nextjs',
    engine: redis,
    store: inRedis,
    nowhere: {
      env: (port) => ({ REDIS_URL: `redis://127.0.0.1:${port}` }),
      says: /^grantwell: Redis did not answer within 5000 ms: connect ECONNREFUSED 127/,
    },
  },
]

function inFolder(file: string): Store {
  const { path, remove } = temporaryFolder('example')
  return { env: { DATABASE: join(path, file) }, remove }
}

async function inRedis(): Promise<Store> {
  const { host, port, remove } = await startRedis()
  return { env: { REDIS_URL: `redis://${host}:${port}` }, remove }
}
