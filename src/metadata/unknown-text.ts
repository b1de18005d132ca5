/**
 * Fields of text that the schema does not know, from the tree of the text and as values.
 * @module
 */

import { MetadataError } from './errors.js'
import { bytesOf, integerOf, stringOf } from './literals.js'
import type { UnknownText } from './messages.js'
import { type FieldNode, type ItemNode, parseSyntax, piecesOf } from './syntax.js'

/** One field of the tree, as one entry for each of its values. */
export function unknownTextOf(field: FieldNode, text: string): UnknownText[] {
  const { name, value } = field
  return (value.kind === 'list' ? value.items : [value]).map((item) => entryOf(name, item, text))
}

function entryOf(name: string, item: ItemNode, text: string): UnknownText {
  switch (item.kind) {
    case 'message':
      return { name, fields: item.fields.flatMap((field) => unknownTextOf(field, text)) }
    case 'string': {
      const pieces: string[] = []
      for (let i = 0; i < item.pieces.length; i += 2) pieces.push(text.slice(item.pieces[i], item.pieces[i + 1]))
      return { name, text: pieces.join(' ') }
    }
    default:
      return { name, text: text.slice(item.start, item.end) }
  }
}

/** A scalar that the schema does not know. */
export type UnknownScalar =
  | { readonly kind: 'string'; readonly bytes: Uint8Array; readonly value: string | undefined }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'identifier'; readonly value: string }

/**
 * What an entry says, read anew, since a program may have made it.
 * @param path - of the message that it is in
 * @throws {MetadataError} `invalid_value` when it is no name, or no value, of text format
 */
export function scalarOf(entry: UnknownText, path: string): UnknownScalar {
  if (typeof entry.text !== 'string') return refuse(entry, path)
  const source = `${entry.name}: ${entry.text}`
  const field = soleField(source, entry, path)
  const { value } = field
  switch (value.kind) {
    case 'string': {
      const pieces = piecesOf(value, source)
      return { kind: 'string', bytes: bytesOf(pieces), value: stringOf(pieces) }
    }
    case 'integer':
      return { kind: 'integer', value: integerOf(source.slice(value.start, value.end)) }
    case 'float':
      return { kind: 'float', value: Number.parseFloat(source.slice(value.start, value.end)) }
    case 'identifier':
      return { kind: 'identifier', value: source.slice(value.start, value.end) }
    default:
      return refuse(entry, path)
  }
}

/** @throws {MetadataError} `invalid_value` when the name of an entry is none of text format */
export function checkName(entry: UnknownText, path: string): void {
  soleField(`${entry.name}: 0`, entry, path)
}

function soleField(source: string, entry: UnknownText, path: string): FieldNode {
  try {
    // As long as it may be: its size was checked when it came in.
    const [field, ...others] = parseSyntax(source, Number.POSITIVE_INFINITY)
    if (field !== undefined && others.length === 0 && field.name === entry.name && field.value.end === source.length)
      return field
  } catch {}
  return refuse(entry, path)
}

function refuse(entry: UnknownText, path: string): never {
  const entryPath = path === '' ? entry.name : `${path}.${entry.name}`
  throw new MetadataError('invalid_value', `${entryPath} in _unknownText is no field of text format`, {
    path: entryPath,
  })
}
