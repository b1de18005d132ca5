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
  MetadataError,
  parseText,
} from '../metadata/index.js'
import { unknownTextAt } from '../metadata/path.js'

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
 * @throws {MetadataError} `invalid_path` or `invalid_value`
 */
export function changeOf({ path, value }: Assignment, text: string): Change {
  const field = describeField(path)
  if (field !== undefined) return { [path]: knownValueOf(field, path, value) }
  // Of a new one in a list the first shows the type.
  return { [path]: unknownValueOf(kindIn(text, path.replace(/\[\+\]$/, '[0]')), path, value) }
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
