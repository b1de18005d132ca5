/**
 * Answers to what a program asks about the schema and about a text before it changes anything.
 * @module
 */
import { refuse } from './errors.js'
import { parsePath, refusePath } from './path.js'
import type { Field, MessageType } from './schema/schema.js'
import { MetaDataSchema } from './schema/schema.js'
import { parseSyntax } from './text/syntax.js'
import type { FieldNode, ItemNode } from './text/tree.js'

/** A field of the schema. */
export interface FieldDescription {
  /** The kind of its values. */
  readonly kind: 'string' | 'int32' | 'enum' | 'message'
  /** True for a list. */
  readonly repeated: boolean
  /** The name of a message's type in the schema: `URL`, `Date`, `Security` or `ThirdPartyMetaData`. */
  readonly message?: string
  /** The names of an enum's values. */
  readonly values?: readonly string[]
}

/**
 * Describes a field of the schema.
 * @param path - indexes in it are ignored
 * @returns undefined for a field that the schema does not know
 * @throws {MetadataError} `invalid_path` if it is not a path
 * @example
 * describeField('third_party.url[0].type')?.values // ['UNKNOWN', 'HOMEPAGE', ...]
 */
export function describeField(path: string): FieldDescription | undefined {
  let type: MessageType | undefined = MetaDataSchema
  let field: Field | undefined
  for (const { name } of parsePath(path)) {
    field = type?.byName.get(name)
    type = field?.kind === 'message' ? field.type : undefined
  }
  if (field === undefined) return undefined
  const { kind, repeated } = field
  if (field.kind === 'message') return { kind, repeated, message: field.type.name }
  return field.kind === 'enum' ? { kind, repeated, values: [...field.enum.numbers.keys()] } : { kind, repeated }
}

/** A place in a text. */
export interface TextPlace {
  /** The number of the line, from 1. */
  readonly line: number
  /** UTF-16 units from the start of the line, from 1. */
  readonly column: number
}

/**
 * Locates a field in a text, for messages about it.
 * @returns the place of its name, or of its value within a list. For a field that is not there: the place of the nearest message around
 * it that is there, or else of the first field
 * @throws {MetadataError} `syntax` if the text is not text format; `invalid_path` if the path is not a path
 */
export function locateField(text: string, path: string): TextPlace {
  const [place = { line: 1, column: 1 }] = locateFields(text, [path])
  return place
}

/** Locates several fields, as {@link locateField} does, but reads the text once. */
export function locateFields(text: string, paths: readonly string[]): TextPlace[] {
  if (typeof text !== 'string') refuse('the text', 'a string', text)
  if (paths.length === 0) return []
  // Without a limit: the text was read before, with a limit of its own.
  const root = parseSyntax(text, Number.POSITIVE_INFINITY)
  const lineStarts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)]
  const known = new Map<readonly FieldNode[], ReadonlyMap<string, readonly Value[]>>()
  return paths.map((path) => {
    let fields = root
    let offset = root[0]?.start ?? 0
    for (const { name, index } of parsePath(path)) {
      if (index === '+') return refusePath(path, 'nothing stands at [+]')
      const values = known.get(fields) ?? valuesByName(fields)
      known.set(fields, values)
      const value = values.get(name)?.[index ?? 0]
      if (value === undefined) break
      offset = value.start
      fields = value.item.kind === 'message' ? value.item.fields : []
    }
    const line = lineAt(lineStarts, offset)
    return { line, column: offset - (lineStarts[line - 1] ?? 0) + 1 }
  })
}

/** A value of a field, and the offset at which a person looks for it: of the name, or of its place in the list. */
interface Value {
  readonly start: number
  readonly item: ItemNode
}

function valuesByName(fields: readonly FieldNode[]): ReadonlyMap<string, readonly Value[]> {
  const byName = new Map<string, Value[]>()
  for (const { name, start, value } of fields) {
    const values = byName.get(name) ?? []
    byName.set(name, values)
    if (value.kind === 'list') for (const item of value.items) values.push({ start: item.start, item })
    else values.push({ start, item: value })
  }
  return byName
}

/** Returns the number, from 1, of the last line that starts at or before an offset. */
function lineAt(lineStarts: readonly number[], offset: number): number {
  let low = 0
  let high = lineStarts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((lineStarts[middle] ?? 0) <= offset) low = middle
    else high = middle
  }
  return low + 1
}
