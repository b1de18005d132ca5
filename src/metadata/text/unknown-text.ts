/**
 * Fields of text that the schema does not know: made from the tree of a text, and read as values.
 * @module
 */

import { MetadataError } from '../errors.js'
import type { UnknownText } from '../schema/messages.js'
import { decodeBytes, decodeString } from './literals.js'
import { parseSyntax } from './syntax.js'
import type { FieldNode, ItemNode } from './tree.js'
import { piecesOf } from './tree.js'

/** Makes an entry for each value of a field. */
export function makeUnknownText(field: FieldNode, text: string): UnknownText[] {
  const { name, value } = field
  return (value.kind === 'list' ? value.items : [value]).map((item) => makeEntry(name, item, text))
}

function makeEntry(name: string, item: ItemNode, text: string): UnknownText {
  switch (item.kind) {
    case 'message':
      return { name, fields: item.fields.flatMap((field) => makeUnknownText(field, text)) }
    case 'string': {
      const pieces: string[] = []
      for (let i = 0; i < item.pieces.length; i += 2) pieces.push(text.slice(item.pieces[i], item.pieces[i + 1]))
      return { name, text: pieces.join(' ') }
    }
    default:
      return { name, text: text.slice(item.start, item.end) }
  }
}

/** The value of a scalar that the schema does not know. */
export type UnknownScalar =
  | { readonly kind: 'string'; readonly bytes: Uint8Array; readonly value: string | undefined }
  | { readonly kind: 'integer'; readonly source: string }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'identifier'; readonly value: string }

/** Reads entries, and checks each of them, because a program may have made them. */
export class UnknownReader {
  /** The last name that was right. All values of a list have the same name, and to check a long one each time would be slow. */
  private lastGoodName: string | undefined

  /**
   * Returns the value of an entry.
   * @param path - the path of the message around it
   * @throws {MetadataError} `invalid_value` if its name or value is not text format
   */
  scalar(entry: UnknownText, path: string): UnknownScalar {
    this.checkName(entry, path)
    if (typeof entry.text !== 'string') return refuse(entry, path)
    const source = `${ANY_NAME}: ${entry.text}`
    const { value } = parseSoleField(source, ANY_NAME, entry, path)
    switch (value.kind) {
      case 'string': {
        const pieces = piecesOf(value, source)
        return { kind: 'string', bytes: decodeBytes(pieces), value: decodeString(pieces) }
      }
      case 'integer':
        return { kind: 'integer', source: source.slice(value.start, value.end) }
      case 'float':
        return { kind: 'float', value: Number.parseFloat(source.slice(value.start, value.end)) }
      case 'identifier':
        return { kind: 'identifier', value: source.slice(value.start, value.end) }
      default:
        return refuse(entry, path)
    }
  }

  /**
   * Checks the name of an entry.
   * @throws {MetadataError} `invalid_value` if it is not a name of text format
   */
  checkName(entry: UnknownText, path: string): void {
    if (entry.name === this.lastGoodName) return
    parseSoleField(`${entry.name}: 0`, entry.name, entry, path)
    this.lastGoodName = entry.name
  }
}

/** The name for a value that is parsed without its own. */
const ANY_NAME = 'a'

function parseSoleField(source: string, name: string, entry: UnknownText, path: string): FieldNode {
  try {
    // Without a limit: the size was checked when the input was read.
    const [field, ...others] = parseSyntax(source, Number.POSITIVE_INFINITY)
    if (field !== undefined && others.length === 0 && field.name === name && field.value.end === source.length)
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
