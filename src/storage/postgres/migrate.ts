/**
 * Makes the table where it is missing, and checks its shape where it is not.
 * @module
 */
import { readStrictOptions } from '../../core/options.js'
import { FLAG } from '../../core/takes.js'
import { checkTableShape } from '../shared/table-shape.js'
import { withTimeout } from '../shared/time-out.js'
import type { EmbeddedPostgres, NodePostgres } from './client.js'
import type { RunStatement } from './run.js'
import { SHAPE, schemaSql } from './schema.js'

/** Makes the table of a store; or, with `print`, returns the SQL that makes it and asks no database. */
export interface Migrate {
  /** Makes the table, and what belongs to it, where it is missing. */
  (options?: { readonly print?: false }): Promise<void>
  /** Prints. @returns the SQL, to be run in one transaction, as by `psql --single-transaction` */
  (options: { readonly print: true }): Promise<string>
}

const MIGRATE_OPTIONS = { print: FLAG }

/** Creates the function that makes the table, or prints the SQL for it. */
export function createMigrate(
  client: NodePostgres | EmbeddedPostgres,
  run: RunStatement,
  table: string,
  timeoutMs: number,
): Migrate {
  const migrateOrPrint = async (options: { readonly print?: boolean } = {}): Promise<string | undefined> => {
    const { print = false } = readStrictOptions<{ readonly print?: boolean }>('migrate', options, MIGRATE_OPTIONS)
    if (print) return `${schemaSql(table)};\n`
    await migrate(client, run, table, timeoutMs)
    return undefined
  }
  return migrateOrPrint as Migrate // a text for `print: true` alone
}

/**
 * Makes the table where it is missing. Servers that start at the same time wait for each other, by a lock.
 * @throws GrantwellError `ERR_CONFIGURATION` for a table of that name with another shape
 */
async function migrate(
  client: NodePostgres | EmbeddedPostgres,
  run: RunStatement,
  table: string,
  timeoutMs: number,
): Promise<void> {
  const { rows } = await run<{ readonly exists: string }>('exists', [])
  if (rows[0]?.exists !== 'true') {
    const text = schemaSql(table)
    const made: Promise<unknown> = 'waitReady' in client ? client.exec(text) : client.query({ text })
    await withTimeout(timeoutMs, 'PostgreSQL', made)
  }
  const shape = await run<{ readonly part: string }>('shape', [])
  const parts = shape.rows.map(({ part }) => part)
  checkTableShape('postgresStore', table, SHAPE, parts)
}
