/**
 * Opens the store that the command works on, and makes its server. This file is loaded only where a store is opened: the server and the
 * stores are larger than the rest of the command.
 * @module
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AuthorizationServer, RecordStore } from '../../index.js'
import { createAuthorizationServer } from '../../index.js'
import type { PostgresStore } from '../../storage/postgres.js'
import { postgresStore } from '../../storage/postgres.js'
import { redisStore } from '../../storage/redis.js'
import { sqliteStore } from '../../storage/sqlite.js'
import type { NamedStore, StoreOptions } from './store-options.js'

/** A store with the functions that some have besides the contract. */
export interface OpenedStore extends RecordStore {
  readonly migrate?: PostgresStore['migrate']
  readonly removeExpired?: () => number | Promise<number>
}

/** An opened store. */
export interface Connection {
  readonly store: OpenedStore
  /** Returns the server of the store's issuer: that of the configuration file, or one made here. */
  readonly server: () => Promise<AuthorizationServer>
  readonly close: () => unknown
}

/**
 * Opens a store.
 * @param isNew - true if a file of SQLite may be made
 * @throws Error for a file or a package that is not there
 */
export async function connect(
  { name, address }: NamedStore,
  options: StoreOptions,
  isNew: boolean,
): Promise<Connection> {
  if (name === 'config') return openConfigured(address, options)
  const opened = await ENGINES[name](address, options, isNew)
  return { ...opened, server: () => serverOf(opened.store, options.issuer) }
}

/** Makes the server of a store, whose issuer the store knows. */
async function serverOf(store: RecordStore, given: string | undefined): Promise<AuthorizationServer> {
  const issuer = given ?? (await issuerOf(store))
  if (issuer === undefined)
    throw new Error('the store has no records yet, so it has no issuer: name it with --issuer, as the server does')
  // Nobody signs in here.
  const pages = { user: () => undefined, signInUrl: () => '/' }
  return createAuthorizationServer({ issuer, store, ...pages, allowInsecureIssuer: true, onError: () => {} })
}

/** Reads the issuer that a store has the records of. */
async function issuerOf(store: RecordStore): Promise<string | undefined> {
  const [record] = await store.read(['issuer'])
  const { issuer } = (record?.value ?? {}) as { readonly issuer?: unknown } // whatever is stored
  return typeof issuer === 'string' ? issuer : undefined
}

/** Opens the store of a configuration file. */
async function openConfigured(file: string, { issuer, namespace }: StoreOptions): Promise<Connection> {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`)
  if (namespace !== undefined)
    throw new Error(`--namespace is for --postgres, --sqlite or --redis: ${file} makes its store itself`)
  const found = await importFile(file)
  const exported = { ...(found['default'] as object | undefined), ...found } as Readonly<Record<string, unknown>>
  const { store, server } = exported
  const close = (): unknown => (typeof exported['close'] === 'function' ? exported['close']() : undefined)
  if (!isStore(store)) {
    await close()
    throw new Error(`${file} must export the store: export const store = ...`)
  }
  return { store, server: () => (isServer(server) ? Promise.resolve(server) : serverOf(store, issuer)), close }
}

/** Imports a module. */
async function importFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(pathToFileURL(resolve(file)).href)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'ERR_UNKNOWN_FILE_EXTENSION') throw error
    throw new Error(
      `Node ${process.versions.node} does not read ${file}: take Node 22.18 or later, or write it as .mjs`,
    )
  }
}

function isStore(value: unknown): value is OpenedStore {
  return typeof value === 'object' && value !== null && 'read' in value && 'write' in value && 'list' in value
}

function isServer(value: unknown): value is AuthorizationServer {
  return typeof value === 'object' && value !== null && 'applications' in value && 'grants' in value
}

/** Opens the store at an address. */
type Open = (
  address: string,
  options: StoreOptions,
  isNew: boolean,
) => Promise<{ readonly store: OpenedStore; readonly close: () => unknown }>

/** Makes a store over an open client, and closes the client if it cannot be made: the process would wait for it. */
async function openedWith(make: () => OpenedStore, close: () => unknown): ReturnType<Open> {
  try {
    return { store: make(), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Returns true if a database has the table of records. A store makes it where it is missing, and a command that only reads may not. */
function hasRecords(database: Parameters<typeof sqliteStore>[0]): boolean {
  return database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'grantwell_records'`).all().length > 0
}

/** Functions that open each engine, by the client that the folder has installed. */
const ENGINES: { readonly [Name in 'postgres' | 'sqlite' | 'redis']: Open } = {
  postgres: async (connectionString, { namespace }) => {
    const { Pool } = installed<typeof import('pg')>('PostgreSQL', 'pg')
    const pool = new Pool({ connectionString, max: 16 })
    return openedWith(
      () => postgresStore(pool, named(namespace)),
      () => pool.end(),
    )
  },
  sqlite: async (file, { namespace }, isNew) => {
    if (!isNew && !existsSync(file)) throw new Error(`there is no file ${file}: store migrate makes one`)
    const Database = installed<new (file: string) => Parameters<typeof sqliteStore>[0] & { close: () => void }>(
      'SQLite',
      'better-sqlite3',
      'libsql',
    )
    const database = new Database(file)
    return openedWith(
      () => {
        if (!isNew && !hasRecords(database))
          throw new Error(`${file} has no records of a store: store migrate makes its tables`)
        return sqliteStore(database, named(namespace))
      },
      () => database.close(),
    )
  },
  redis: async (url, { namespace }) => {
    const { Redis } = installed<typeof import('ioredis')>('Redis', 'ioredis')
    const client = new Redis(url, { maxRetriesPerRequest: 1 })
    // It is told by the operation that fails.
    client.on('error', () => {})
    return openedWith(
      () => redisStore(client, named(namespace)),
      () => client.disconnect(),
    )
  },
}

function named(namespace: string | undefined): { readonly namespace?: string } {
  return namespace === undefined ? {} : { namespace }
}

/** Loads the client of an engine from the folder in which the command runs. */
function installed<Client>(engine: string, ...names: readonly string[]): Client {
  const require = createRequire(join(process.cwd(), 'package.json'))
  for (const name of names) {
    try {
      return require(name) as Client // the package of that name
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  throw new Error(`the client of ${engine} is not installed here: npm install ${names[0]}`)
}
