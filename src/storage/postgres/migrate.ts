/**
 * Makes the table where it is missing, and checks its shape where it is not.
 * @module
 */
import { checkTableShape } from '../shared/table-shape.js'
import { withTimeout } from '../shared/time-out.js'
import type { EmbeddedPostgres, NodePostgres } from './client.js'
import type { RunStatement } from './run.js'
import { SHAPE, schemaSql } from './schema.js'

/**
 * Makes the table where it is missing. Servers that start at the same time wait for each other, by a lock.
 * @throws GrantwellError `ERR_CONFIGURATION` for a table of that name with another shape
 */
export async function migrate(
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
