/**
 * The options that name a store: a configuration file, or an address on the command line.
 * @module
 */
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { Option } from 'commander'

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

/** A store that is named: by a configuration file, or by the kind and the address of its engine. */
export interface NamedStore {
  readonly name: keyof typeof VARIABLES | 'config'
  readonly address: string
}

/**
 * Returns the one store that is named: on the command line, else by a variable, else by a configuration file in the folder.
 * @throws Error for none, and for more than one
 */
export function namedStore(options: StoreOptions): NamedStore {
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
