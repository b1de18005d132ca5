/**
 * Parses `FIELD=VALUE` on a command line into a change of a record, with the value in the field's type.
 * @module
 */
import type { Change, EditFields, EditValue, FieldDescription } from '../metadata/index.js'
import { dateFromISO, describeField, enumName, MetadataError } from '../metadata/index.js'
import { isExact, JsonNumber, parseJson } from '../metadata/json/json-text.js'
import { parsePath } from '../metadata/path.js'
import type { Field, MessageType } from '../metadata/schema/schema.js'
import { MetaDataSchema } from '../metadata/schema/schema.js'
import { parseSyntax } from '../metadata/text/syntax.js'
import type { FieldNode, ItemNode, ValueNode } from '../metadata/text/tree.js'

/** `FIELD=VALUE`; with `FIELD+=VALUE` the path ends with `[+]`. */
export interface Assignment {
  readonly path: string
  readonly value: string
}

const ASSIGNMENT = /^((?:[\w.]|\[[^\]=]*\])+)(\+?)=(.*)$/s

/** Parses an argument. @returns undefined if it is not an assignment, such as the name of a file */
export function parseAssignment(argument: string): Assignment | undefined {
  const [, path, plus, value] = ASSIGNMENT.exec(argument) ?? []
  return path === undefined || value === undefined ? undefined : { path: plus ? `${path}[+]` : path, value }
}

/**
 * Makes the change of an assignment. A field that the schema does not know keeps the type that it has in the text. If the text
 * does not have it either, it becomes a string, or a message if the value is a JSON object.
 * @param mayCreate - true to allow a field that neither the schema nor the text has
 * @throws {MetadataError} `invalid_path`, `invalid_value` or `unknown_field`
 */
export function makeChange({ path, value }: Assignment, text: string, mayCreate: boolean): Change {
  const fields = parseSyntax(text)
  const field = describeField(path)
  const result = field === undefined ? parseUnknownIn(fields, path, value, mayCreate) : parseKnown(field, path, value)
  if (!mayCreate && isObject(result)) checkNames(fields, path, result)
  return { [path]: result }
}

/** Checks whether a text has anything at a path. */
export function hasField(text: string, path: string): boolean {
  return findValues(parseSyntax(text), path).length > 0
}

/** Lists the paths that a change removes, since a JSON object may have `null` in it. */
export function removedPaths(change: Change): readonly string[] {
  return Object.entries(change).flatMap(([path, value]): readonly string[] => {
    if (value === null) return [path]
    if (!isObject(value) || path.endsWith('[+]')) return []
    return removedPaths(Object.fromEntries(Object.entries(value).map(([key, inner]) => [`${path}.${key}`, inner])))
  })
}

function isObject(value: unknown): value is EditFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The kind of a field that the schema does not know. */
type Kind = 'message' | 'string' | 'number' | 'name'

const KINDS: { readonly [kind in ItemNode['kind']]: Kind } = {
  message: 'message',
  string: 'string',
  integer: 'number',
  float: 'number',
  identifier: 'name',
}

function parseUnknownIn(fields: readonly FieldNode[], path: string, value: string, mayCreate: boolean): EditValue {
  // A new item of a list gets the type of the first item.
  const [node] = findValues(fields, path.replace(/\[\+\]$/, '[0]'))
  const item = node?.kind === 'list' ? node.items[0] : node
  const kind = item && KINDS[item.kind]
  if (kind === undefined && !mayCreate) refuseName(path)
  return parseUnknown(kind, path, value)
}

/** Returns the values at a path. An empty list counts as one value. */
function findValues(fields: readonly FieldNode[], path: string): readonly ValueNode[] {
  let inside: readonly FieldNode[] = fields
  let found: readonly ValueNode[] = []
  let type: MessageType | undefined = MetaDataSchema
  for (const { name, index } of parsePath(path)) {
    const field: Field | undefined = type?.byName.get(name)
    found = valuesOf(inside, name)
    if (typeof index === 'number') found = found.slice(index, index + 1)
    type = field?.kind === 'message' ? field.type : undefined
    inside = found.flatMap((node) => (node.kind === 'message' ? node.fields : []))
  }
  return found
}

function valuesOf(fields: readonly FieldNode[], name: string): readonly ValueNode[] {
  return fields
    .filter((field) => field.name === name)
    .flatMap(({ value }): readonly ValueNode[] =>
      value.kind === 'list' && value.items.length > 0 ? value.items : [value],
    )
}

/**
 * Refuses a name in a JSON object that neither the schema nor the text has at that path, in any item of a list.
 * @throws {MetadataError} `unknown_field`
 */
function checkNames(fields: readonly FieldNode[], path: string, object: EditFields): void {
  const steps = parsePath(path)
  let inside = fields
  let type: MessageType | undefined = MetaDataSchema
  for (const { name } of steps) {
    const field: Field | undefined = type?.byName.get(name)
    type = field?.kind === 'message' ? field.type : undefined
    inside = fieldsIn(inside, name)
  }
  check(inside, type, path, object)

  function check(here: readonly FieldNode[], of: MessageType | undefined, at: string, value: EditFields): void {
    for (const [key, inner] of Object.entries(value)) {
      const field = of?.byName.get(key) ?? of?.byKey.get(key)
      if (field === undefined && !here.some(({ name }) => name === key)) refuseName(`${at}.${key}`)
      const next = field?.kind === 'message' ? field.type : undefined
      for (const one of Array.isArray(inner) ? inner : [inner])
        if (isObject(one)) check(fieldsIn(here, field?.name ?? key), next, `${at}.${key}`, one)
    }
  }
}

function fieldsIn(fields: readonly FieldNode[], name: string): readonly FieldNode[] {
  return valuesOf(fields, name).flatMap((node) => (node.kind === 'message' ? node.fields : []))
}

function refuseName(path: string): never {
  throw new MetadataError(
    'unknown_field',
    `${path} is neither in the schema nor in this file; --create-unknown makes it`,
    { path },
  )
}

function parseKnown({ kind, repeated, message }: FieldDescription, path: string, value: string): EditValue {
  if (repeated && !path.endsWith(']'))
    return refuse(path, `${path}[0]=, or ${path}+= for a new one, since it is a list`)
  if (kind === 'int32') return parseInteger(value) ?? value
  if (kind !== 'message') return value
  return message !== 'Date' || value.startsWith('{') ? parseObject(path, value) : parseDay(path, value)
}

function parseDay(path: string, value: string): EditFields {
  try {
    const { year, month, day } = dateFromISO(value)
    return { year, month, day }
  } catch {
    return refuse(path, 'a day of the calendar as YYYY-MM-DD', value)
  }
}

function parseUnknown(kind: Kind | undefined, path: string, value: string): EditValue {
  switch (kind) {
    case 'message':
      return parseObject(path, value)
    case 'number': {
      const number = parseInteger(value) ?? Number(value)
      if (value.trim() === '' || Number.isNaN(number)) return refuse(path, 'a number, as it is in this file', value)
      if (typeof number === 'number' && isRounded(value.trim(), number)) return refuse(path, EXPECTED_EXACT, value)
      return number
    }
    case 'name':
      return /^[A-Za-z_]\w*$/.test(value) ? enumName(value) : refuse(path, 'a name, as it is in this file', value)
    case 'string':
      return value
    case undefined:
      return value.startsWith('{') ? parseObject(path, value) : value
  }
}

function parseInteger(value: string): number | bigint | undefined {
  if (!/^-?\d+$/.test(value)) return undefined
  return Number.isSafeInteger(Number(value)) ? Number(value) : BigInt(value)
}

const EXPECTED_EXACT = 'a number of at most 17 significant digits, since more would be rounded'

/** Checks whether a number differs from the digits it was parsed from. */
function isRounded(source: string, number: number): boolean {
  if (/^0[xbo]/i.test(source)) return !Number.isSafeInteger(number)
  return /^[+-]?[.\d]/.test(source) && !isExact(source.replace(/^\+/, ''))
}

function parseObject(path: string, value: string): EditFields {
  let json: unknown
  try {
    json = toEditValue(parseJson(value))
  } catch (error) {
    const why = error instanceof MetadataError && value.trimStart().startsWith('{') ? error.message : undefined
    return refuse(path, 'a JSON object, such as {"type":"GIT"}', value, why)
  }
  return isObject(json) ? json : refuse(path, 'a JSON object, such as {"type":"GIT"}', value)
}

/** Converts a JSON tree into values to set. `editText` checks them later. */
function toEditValue(tree: unknown): EditValue {
  if (tree instanceof JsonNumber) {
    const number = parseInteger(tree.source) ?? Number(tree.source)
    return typeof number === 'number' && !isExact(tree.source) ? refuse(tree.source, EXPECTED_EXACT) : number
  }
  if (Array.isArray(tree)) return tree.map(toEditValue)
  if (typeof tree !== 'object' || tree === null) return tree as EditValue
  return Object.fromEntries(Object.entries(tree).map(([key, inner]) => [key, toEditValue(inner)]))
}

function refuse(path: string, expected: string, value?: string, why?: string): never {
  const found = value === undefined ? '' : `, and not ${JSON.stringify(value)}`
  const reason = why === undefined ? '' : ` (${why})`
  throw new MetadataError('invalid_value', `${path} should be ${expected}${found}${reason}`, { path, expected })
}
