/**
 * The store that the command works on: of a configuration file, or of an address on the command line.
 * @module
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { Option } from 'commander'
import type { AuthorizationServer, RecordStore } from '../../index.js'
import { createAuthorizationServer } from '../../index.js'
import type { PostgresStore } from '../../storage/postgres.js'
import { postgresStore } from '../../storage/postgres.js'
import { redisStore } from '../../storage/redis.js'
import { sqliteStore } from '../../storage/sqlite.js'

/** The options that every command on a store has. */
export interface StoreOptions {
  readonly config?: string
  readonly postgres?: string
  readonly sqlite?: string
  readonly redis?: string
  readonly namespace?: string
  readonly issuer?: string
  readonly json?: true
}

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

/** The names of a configuration file, the first that is there. */
const CONFIG_FILES = ['grantwell.config.ts', 'grantwell.config.mjs', 'grantwell.config.js'] as const

/** Adds the options of a store to a command. */
export function withStoreOptions(command: Command): Command {
  return command
    .addOption(new Option('--config <file>', `a file that exports the store; ${CONFIG_FILES[0]} or .js by default`))
    .addOption(new Option('--postgres <url>', 'records in PostgreSQL; or the variable GRANTWELL_POSTGRES'))
    .addOption(new Option('--sqlite <file>', 'records in a file of SQLite; or GRANTWELL_SQLITE'))
    .addOption(new Option('--redis <url>', 'records in Redis; or GRANTWELL_REDIS'))
    .addOption(new Option('--namespace <name>', 'the namespace of the records; that of the store by default'))
    .addOption(new Option('--issuer <url>', 'the issuer, for a store that has no records yet'))
    .addOption(new Option('--json', 'print JSON'))
}

/** Variables that name a store where the command line names none: an address with a password is not for a command line. */
const VARIABLES = { postgres: 'GRANTWELL_POSTGRES', sqlite: 'GRANTWELL_SQLITE', redis: 'GRANTWELL_REDIS' } as const

/**
 * Returns the one store that is named: on the command line, else by a variable, else by a configuration file in the folder.
 * @throws Error for more than one
 */
function namedStore(options: StoreOptions): {
  readonly name: keyof typeof ENGINES | 'config'
  readonly address: string
} {
  const given = (['config', 'postgres', 'sqlite', 'redis'] as const).flatMap((name) => {
    const address = options[name]
    return address === undefined ? [] : { name, address, said: `--${name}` }
  })
  const set = (['postgres', 'sqlite', 'redis'] as const).flatMap((name) => {
    const address = process.env[VARIABLES[name]]
    return address === undefined || address === '' ? [] : { name, address, said: VARIABLES[name] }
  })
  const [first, ...others] = given.length > 0 ? given : set
  if (first === undefined) return { name: 'config', address: findConfiguration() }
  if (others.length === 0) return first
  throw new Error(`${[first, ...others].map(({ said }) => said).join(' and ')} name different stores: give one of them`)
}

/** Returns the configuration file of the folder. */
function findConfiguration(): string {
  const file = CONFIG_FILES.find((name) => existsSync(name))
  if (file !== undefined) return file
  throw new Error(
    `there is no ${CONFIG_FILES.join(', ')} here: write one that exports the store, or give --postgres, --sqlite or --redis`,
  )
}

/**
 * Opens the store that the options name.
 * @param isNew - true if a file of SQLite may be made
 * @throws Error for none, for more than one, and for a file or a package that is not there
 */
export async function connect(options: StoreOptions, isNew = false): Promise<Connection> {
  const { name, address } = namedStore(options)
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
