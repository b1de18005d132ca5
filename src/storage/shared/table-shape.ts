/**
 * The check that a table has the columns that a store needs, before the store writes to it.
 * @module
 */
import { configurationError } from '../../core/errors.js'

/**
 * Compares a table with the one that a store makes. The host may add columns that no write must name.
 * @param of - the name of the function that makes the store, for messages
 * @param expected - parts of the store's table, such as `key text NOT NULL`
 * @param found - parts of the table that is there
 * @throws GrantwellError `ERR_CONFIGURATION` for a table of another shape, with the parts that are missing and those in their place
 */
export function checkTableShape(
  of: string,
  table: string,
  expected: readonly string[],
  found: readonly string[],
): void {
  const missing = expected.filter((part) => !found.includes(part))
  const foreign = found.filter((part) => !expected.includes(part))
  const inTheWay = foreign.filter((part) => missing.length > 0 || part.endsWith(' NOT NULL'))
  if (missing.length === 0 && inTheWay.length === 0) return
  throw configurationError(
    `${of}: the table ${table} has another shape: it ${words(missing, inTheWay)}; ` +
      'rename it, or give the store a place of its own',
  )
}

function words(missing: readonly string[], inTheWay: readonly string[]): string {
  const has = `has ${inTheWay.join(', ')}`
  if (missing.length === 0) return has
  return `lacks ${missing.join(', ')}${inTheWay.length === 0 ? '' : `, and ${has}`}`
}
