/**
 * `FIELD=VALUE` on a command line: a change of a record, with the value in the type that the field has.
 * @module
 */
import {
  type Change,
  dateFromISO,
  describeField,
  type EditFields,
  type EditValue,
  enumName,
  type FieldDescription,
  type MetaData,
  MetadataError,
  parseText,
  type Unknown,
  type UnknownText,
} from '../metadata/index.js'
import { parsePath } from '../metadata/path.js'
import { type Field, type Message, type MessageType, MetaDataSchema } from '../metadata/schema.js'

/** `FIELD=VALUE`; with `FIELD+=VALUE` the path ends with `[+]`. */
export interface Assignment {
  readonly path: string
  readonly value: string
}

const ASSIGNMENT = /^((?:[\w.]|\[[^\]=]*\])+)(\+?)=(.*)$/s

/** Reads an argument; undefined for one that is no assignment, such as the name of a file. */
export function assignmentOf(argument: string): Assignment | undefined {
  const [, path, plus, value] = ASSIGNMENT.exec(argument) ?? []
  return path === undefined || value === undefined ? undefined : { path: plus ? `${path}[+]` : path, value }
}

/**
 * The change that an assignment makes. A field that the schema does not know keeps the type that it has in the text; where
 * it is new there, it is a string, or a message when an object of JSON is given.
 * @param mayCreate - whether a field may be made that neither the schema nor the text has
 * @throws {MetadataError} `invalid_path` or `invalid_value`
 */
export function changeOf({ path, value }: Assignment, text: string, mayCreate: boolean): Change {
  const field = describeField(path)
  if (field !== undefined) return { [path]: knownValueOf(field, path, value) }
  // Of a new one in a list the first shows the type.
  const kind = kindIn(text, path.replace(/\[\+\]$/, '[0]'))
  if (kind === undefined && !mayCreate)
    throw new MetadataError(
      'unknown_field',
      `${path} is neither in the schema nor in this file; --create-unknown makes it`,
      { path },
    )
  return { [path]: unknownValueOf(kind, path, value) }
}

/** What a field is that the schema does not know. */
type Kind = 'message' | 'string' | 'number' | 'name'

/** What a text has at a path; nothing where it does not suit the schema, which is no reason not to change it. */
function kindIn(text: string, path: string): Kind | undefined {
  try {
    const found = unknownTextAt(parseText(text, { duplicates: 'last' }), path)
    if (found?.fields !== undefined) return 'message'
    if (found?.text === undefined) return undefined
    return /^["']/.test(found.text) ? 'string' : /^-?[.\d]/.test(found.text) ? 'number' : 'name'
  } catch {
    return undefined
  }
}

/** The field of text at a path, where the schema does not know it. */
function unknownTextAt(metadata: MetaData, path: string): UnknownText | undefined {
  let type: MessageType | undefined = MetaDataSchema
  // The schema is of this very type.
  let message: (Message & Unknown) | undefined = metadata as unknown as Message
  let entry: UnknownText | undefined
  for (const { name, index } of parsePath(path)) {
    const at = typeof index === 'number' ? index : 0
    const field: Field | undefined = type?.byName.get(name)
    if (field?.kind === 'message') {
      const value: unknown = message?.[field.key]
      message = (Array.isArray(value) ? value[at] : value) as Message | undefined
      type = field.type
    } else {
      const entries: readonly UnknownText[] = (type === undefined ? entry?.fields : message?._unknownText) ?? []
      entry = entries.filter((one) => one.name === name)[at]
      type = undefined
    }
  }
  return entry
}

function knownValueOf({ kind, repeated, message }: FieldDescription, path: string, value: string): EditValue {
  if (repeated && !path.endsWith(']'))
    return refuse(path, `${path}[0]=, or ${path}+= for a new one, since it is a list`)
  if (kind === 'int32') return integerOf(value) ?? value
  if (kind !== 'message') return value
  return message !== 'Date' || value.startsWith('{') ? objectOf(path, value) : dayOf(path, value)
}

function dayOf(path: string, value: string): EditFields {
  try {
    const { year, month, day } = dateFromISO(value)
    return { year, month, day }
  } catch {
    return refuse(path, 'a day of the calendar as YYYY-MM-DD', value)
  }
}

function unknownValueOf(kind: Kind | undefined, path: string, value: string): EditValue {
  switch (kind) {
    case 'message':
      return objectOf(path, value)
    case 'number': {
      const number = integerOf(value) ?? Number(value)
      return value.trim() === '' || Number.isNaN(number)
        ? refuse(path, 'a number, as it is in this file', value)
        : number
    }
    case 'name':
      return /^[A-Za-z_]\w*$/.test(value) ? enumName(value) : refuse(path, 'a name, as it is in this file', value)
    case 'string':
      return value
    case undefined:
      return value.startsWith('{') ? objectOf(path, value) : value
  }
}

function integerOf(value: string): number | bigint | undefined {
  if (!/^-?\d+$/.test(value)) return undefined
  return Number.isSafeInteger(Number(value)) ? Number(value) : BigInt(value)
}

function objectOf(path: string, value: string): EditFields {
  try {
    const object: unknown = JSON.parse(value)
    // What is in it is checked when it is written.
    if (typeof object === 'object' && object !== null && !Array.isArray(object)) return object as EditFields
  } catch {}
  return refuse(path, 'a JSON object, such as {"type":"GIT"}', value)
}

function refuse(path: string, expected: string, value?: string): never {
  const found = value === undefined ? '' : `, and not ${JSON.stringify(value)}`
  throw new MetadataError('invalid_value', `${path} should be ${expected}${found}`, { path, expected })
}
