/**
 * Names in PostgreSQL: of the table and what belongs to it, and of labels in it.
 * @module
 */
import { portableDigests } from '../../core/credentials/digests.js'
import { decodeName, encodeName } from '../shared/names.js'

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

/** Returns the quoted name of the function that keeps labels in step. */
export function relabelFunction(table: string): string {
  return quoted(`${table}_relabel`)
}

/** Characters of a SHA-256 digest in base64url, and the sign before it. */
const DIGEST_LENGTH = 44

/**
 * Encodes a label. Its first character keeps it apart from the empty label, which the row of a record has. A long label begins with its
 * digest, which stands for it in the index: an index takes no row over 2,704 bytes.
 */
export function encodeLabel(label: string): string {
  const encoded = encodeName(label)
  return encoded.length <= 256 ? `=${encoded}` : `#${portableDigests.sha256(encoded)}${encoded}`
}

/**
 * Decodes a label.
 * @throws Error for a digest alone, as an earlier release kept of a long label
 */
export function decodeLabel(encoded: string): string {
  if (encoded.startsWith('#') && encoded.length === DIGEST_LENGTH)
    throw new Error('a label was kept as a digest alone by an earlier release: write its record again')
  return decodeName(encoded.slice(encoded.startsWith('#') ? DIGEST_LENGTH : 1))
}

/** Returns what stands for an encoded label in the index. */
export function indexedLabel(encoded: string): string {
  return encoded.startsWith('#') ? encoded.slice(0, DIGEST_LENGTH) : encoded
}

/** The SQL of {@link indexedLabel}. */
export function indexedLabelSql(label: string): string {
  return `CASE WHEN starts_with(${label}, '#') THEN left(${label}, ${DIGEST_LENGTH}) ELSE ${label} END`
}
