/**
 * Runs statements: prepared, with a time-out, and again after PostgreSQL rolled one back.
 * @module
 */
import { StorageUnavailable } from '../../core/errors.js'
import { withTimeout } from '../shared/time-out.js'
import type { Answer, EmbeddedPostgres, NodePostgres } from './client.js'
import type { RecordRow } from './row.js'
import type { StatementName } from './statements.js'
import { createStatements } from './statements.js'

/** Runs a statement. Its rows are records unless told otherwise. */
export type RunStatement = <Row = RecordRow>(name: StatementName, values: unknown[]) => Promise<Answer<Row>>

/** The codes `serialization_failure` and `deadlock_detected`: the statement did nothing, and may succeed if it runs again. */
const ROLLED_BACK: ReadonlySet<unknown> = new Set(['40001', '40P01'])

/** The code `undefined_table`. */
const UNDEFINED_TABLE = '42P01'

/** The most runs of a statement that is rolled back each time. */
const MAX_RUNS = 10

/** Creates the function that runs a store's statements. It prepares each at its first use on each connection. */
export function createStatementRunner(
  client: NodePostgres | EmbeddedPostgres,
  table: string,
  timeoutMs: number,
): RunStatement {
  const statements = createStatements(table)

  function send(name: StatementName, values: unknown[]): Promise<Answer<unknown>> {
    const { text, digest } = statements[name]
    return 'waitReady' in client
      ? client.query(text, values)
      : client.query({ name: `grantwell.${name}.${digest}`, text, values, query_timeout: timeoutMs })
  }

  return async <Row>(name: StatementName, values: unknown[]) => {
    for (let run = 1; ; run++) {
      try {
        return (await withTimeout(timeoutMs, 'PostgreSQL', send(name, values))) as Answer<Row> // the statement's own columns
      } catch (error) {
        const code = codeOf(error)
        if (code === UNDEFINED_TABLE)
          throw new StorageUnavailable(`PostgreSQL has no table ${table}: call migrate() first`, causeOf(error))
        if (run === MAX_RUNS || !ROLLED_BACK.has(code)) throw error
      }
    }
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof StorageUnavailable ? error.cause : undefined
}

/** Returns PostgreSQL's code of an error. */
function codeOf(error: unknown): unknown {
  const cause = causeOf(error)
  return typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
}
