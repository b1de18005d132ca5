/**
 * The clients that the store of PostgreSQL works with, and the rows that they return.
 * @module
 */
import { methods } from '../../core/takes.js'
import { checkClient } from '../shared/options.js'

/** A `Pool` of pg, as far as the store uses it. */
export interface NodePostgres {
  /** The options of a `Pool`; a `Client` has none. */
  readonly options?: { connectionTimeoutMillis?: number | undefined }
  /** Runs a statement. */
  query(query: {
    name?: string
    text: string
    values?: unknown[]
    query_timeout?: number
  }): Promise<{ rows: unknown[]; rowCount: number | null }>
  /** Listens to errors that belong to no statement. */
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Counts the listeners of an event. */
  listenerCount(event: string): number
}

/** A `PGlite`, as far as the store uses it. */
export interface EmbeddedPostgres {
  /** A promise that is fulfilled once the database is ready. */
  readonly waitReady: Promise<void>
  /** Runs a statement. */
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; affectedRows?: number }>
  /** Runs several statements. */
  exec(text: string): Promise<unknown>
}

/** The answer to a statement, from pg or PGlite. */
export interface Answer<Row> {
  readonly rows: readonly Row[]
  readonly rowCount?: number | null | undefined
  readonly affectedRows?: number | undefined
}

/** Returns the number of rows that a statement wrote or removed. */
export function changedRows({ rowCount, affectedRows }: Answer<unknown>): number {
  return rowCount ?? affectedRows ?? 0
}

/**
 * Checks the client that the host passes in, and keeps its idle connections from ending the process or blocking its pool.
 * @throws GrantwellError `ERR_CONFIGURATION`
 */
export function prepareClient(client: NodePostgres | EmbeddedPostgres, timeoutMs: number): void {
  checkClient('postgresStore', 'client', methods('a Pool or Client of pg, or a PGlite,', 'query'), client)
  if ('listenerCount' in client && client.listenerCount('error') === 0) client.on('error', () => {})
  // Without a time-out, connections that are accepted and never answered would keep their places in the pool for ever.
  if ('options' in client && client.options !== undefined) client.options.connectionTimeoutMillis ||= timeoutMs
}
