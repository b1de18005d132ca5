/**
 * The parts of the written service that differ by store.
 * @module
 */
import type { PackageName } from './manifest.js'

/** The code of one store. */
export interface Store {
  /** Its name in sentences. */
  readonly title: string
  /** A hint beside the name, for the one who chooses. */
  readonly hint: string
  /** The packages that the service imports. */
  readonly packages: readonly PackageName[]
  readonly imports: readonly string[]
  /** The body of `openStore`, with its docstring. */
  readonly open: string
  /** The engine that must run before the service does, with its address. */
  readonly engine?: string
}

/** Names of all stores, as options take them. */
export const STORE_NAMES = ['memory', 'sqlite', 'postgres', 'redis'] as const

export type StoreName = (typeof STORE_NAMES)[number]

export const STORES: Readonly<Record<StoreName, Store>> = {
  memory: {
    title: 'memory',
    hint: 'forgets everything when the process ends',
    packages: [],
    imports: ["import { memoryStore } from 'grantwell/storage/memory'"],
    open: `
/** Opens the store. All records are gone when the process ends. */
async function openStore() {
  return memoryStore()
}
`,
  },
  sqlite: {
    title: 'SQLite',
    hint: 'one file, for the processes of one machine',
    packages: ['libsql'],
    imports: ["import { sqliteStore } from 'grantwell/storage/sqlite'", "import Database from 'libsql'"],
    open: `
/** Opens the store. It makes its tables where they are missing. */
async function openStore() {
  const { DATABASE = 'grants.db' } = process.env
  return sqliteStore(new Database(DATABASE))
}
`,
  },
  postgres: {
    title: 'PostgreSQL',
    hint: 'any number of servers',
    packages: ['pg'],
    imports: ["import { postgresStore } from 'grantwell/storage/postgres'", "import pg from 'pg'"],
    open: `
/** Opens the store, and makes its table where it is missing. */
async function openStore() {
  const { DATABASE_URL } = process.env // without it, PGHOST and its like
  const store = postgresStore(new pg.Pool({ connectionString: DATABASE_URL }))
  await store.migrate()
  return store
}
`,
    engine: 'PostgreSQL at the address in DATABASE_URL',
  },
  redis: {
    title: 'Redis',
    hint: 'any number of servers',
    packages: ['ioredis'],
    imports: ["import { redisStore } from 'grantwell/storage/redis'", "import { Redis } from 'ioredis'"],
    open: `
/** Opens the store. Set \`appendonly yes\` and \`appendfsync always\` in Redis: a crash brings back what it has lost. */
async function openStore() {
  const { REDIS_URL = 'redis://127.0.0.1:6379' } = process.env
  return redisStore(new Redis(REDIS_URL))
}
`,
    engine: 'Redis at the address in REDIS_URL (redis://127.0.0.1:6379 by default)',
  },
}
