/**
 * Names in PostgreSQL: of the table and what belongs to it, and of labels in it.
 * @module
 */
import { portableDigests } from '../../core/credentials/digests.js'
import { encodeName } from '../shared/names.js'

/** Quotes a table or `schema.table` for SQL. */
export function quoted(table: string): string {
  return table
    .split('.')
    .map((part) => `"${part}"`)
    .join('.')
}

/** Returns the quoted name of the function that writes several records. */
export function updateFunction(table: string): string {
  return quoted(`${table}_update`)
}

/**
 * Encodes a label. Its first character keeps it apart from the empty label, which the row of a record has. Long labels become
 * digests, because an index takes no row over 2,704 bytes.
 */
export function encodeLabel(label: string): string {
  const encoded = encodeName(label)
  if (encoded.length <= 256) return `=${encoded}`
  return `#${portableDigests.sha256(encoded)}`
}
