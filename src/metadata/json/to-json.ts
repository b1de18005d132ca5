/**
 * Writes the JSON mapping of protocol buffers (ProtoJSON).
 * @module
 */
import { checkMessage, fieldPath } from '../check.js'
import { MetadataError, refuse } from '../errors.js'
import { checkOptions } from '../options.js'
import type { EnumAliases, EnumNames } from '../schema/aliases.js'
import { ENUM_VALUE_NAME, makeEnumNames } from '../schema/aliases.js'
import type { MetaData, Unknown, UnknownText } from '../schema/messages.js'
import type { Field, Message, MessageType } from '../schema/schema.js'
import { MetaDataSchema } from '../schema/schema.js'
import { parseDecimal } from '../text/literals.js'
import { UnknownReader } from '../text/unknown-text.js'
import { formatTree, isExact, isFraction, JsonNumber, toJsonFraction } from './json-text.js'

/** A value of JSON. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
/** An object of JSON. */
export interface JsonObject {
  /** A member by its name. */
  [key: string]: JsonValue
}

/** Options of `toJSON`. */
export interface ToJsonOptions {
  /** Names to write for values of enums. */
  readonly enumAliases?: EnumAliases
  /**
   * Treatment of unknown fields of text whose value JSON cannot hold exactly: a name such as `FOO` or `inf`, or bytes that are
   * not UTF-8. `refuse` is the default, `omit` leaves the field out, and `string` shows the value as a string. A JSON object
   * also cannot hold an integer past 2^53, `1.0`, or a fraction with more digits than a JavaScript number has;
   * {@link formatJson} can.
   */
  readonly unknownText?: 'refuse' | 'omit' | 'string'
}

/** Options of `formatJson`. */
export interface FormatJsonOptions {
  /** Names to write for values of enums. */
  readonly enumAliases?: EnumAliases
  /** Treatment of unknown fields of text whose value JSON cannot hold; `refuse` by default. */
  readonly unknownText?: 'refuse' | 'omit'
}

/** Converts a message to the JSON mapping, as `MessageCodec.toJSON` documents. */
export function toJson(type: MessageType, message: object, options: ToJsonOptions | undefined): JsonObject {
  const { enumAliases, unknownText = 'refuse' } = checkOptions(options, {
    enumAliases: 'object',
    unknownText: ['refuse', 'omit', 'string'],
  })
  checkMessage(type, message, 'omit')
  // The message was just checked. Without `forText` the tree has no JsonNumber in it.
  return writeMessage(
    type,
    message as Message,
    { names: makeEnumNames(enumAliases), unknownText, forText: false, reader: new UnknownReader() },
    '',
  ) as JsonObject
}

/**
 * Writes a record as JSON text. The result is that of `MetaData.toJSON` and `JSON.stringify` with an indentation of two, and
 * ends with a newline. Unknown numbers keep all their digits, and {@link readMetadata} reads them back.
 * @throws {MetadataError} `invalid_value` or `too_deep`, with the path; `too_large` if the text would have more than
 * 67,108,864 characters
 */
export function formatJson(message: MetaData, options?: FormatJsonOptions): string {
  const { enumAliases, unknownText = 'refuse' } = checkOptions(options, {
    enumAliases: 'object',
    unknownText: ['refuse', 'omit'],
  })
  checkMessage(MetaDataSchema, message, 'omit')
  const writing = { names: makeEnumNames(enumAliases), unknownText, forText: true, reader: new UnknownReader() }
  // The message was just checked.
  return `${formatTree(writeMessage(MetaDataSchema, message as unknown as Message, writing, ''))}\n`
}

interface Writing {
  readonly names: EnumNames
  readonly unknownText: 'refuse' | 'omit' | 'string'
  /** True if the tree may contain numbers that JavaScript cannot hold, because it becomes text. */
  readonly forText: boolean
  readonly reader: UnknownReader
}

/** A value of JSON, possibly with numbers that JavaScript cannot hold. */
type Tree = string | number | boolean | null | JsonNumber | Tree[] | TreeObject
interface TreeObject {
  [key: string]: Tree
}

function writeMessage(type: MessageType, message: Message & Unknown, writing: Writing, path: string): TreeObject {
  const json: TreeObject = {}
  for (const field of type.fields) {
    const value = message[field.key]
    if (Array.isArray(value)) {
      if (value.length > 0)
        json[field.key] = value.map((item, index) => writeValue(field, item, writing, fieldPath(path, field, index)))
    } else if (value !== undefined) json[field.key] = writeValue(field, value, writing, fieldPath(path, field))
  }
  for (const { name, ...entry } of message._unknownText ?? []) {
    const known = type.byName.get(name)
    if (known === undefined && type.byKey.has(name))
      throw new MetadataError(
        'unknown_field',
        `${fieldPath(path, { name })} would be ${type.byKey.get(name)?.name} in JSON`,
        {
          path: fieldPath(path, { name }),
        },
      )
    if (known === undefined) addEntry(json, name, writeUnknown({ name, ...entry }, writing, path))
    // The entry is an unknown value of a known enum. It is written unless the program has set the field since.
    else if (message[known.key] === undefined) json[known.key] = writeEnum({ name, ...entry }, writing, path)
  }
  return json
}

function writeValue(field: Field, value: unknown, writing: Writing, path: string): Tree {
  switch (field.kind) {
    case 'string':
      return String(value)
    case 'int32':
      return Number(value)
    case 'enum':
      return writing.names.nameOf(field.enum, Number(value))
    case 'message':
      return writeMessage(field.type, value as Message, writing, path)
  }
}

/** Adds a value under a key. Several values of one key become a list. */
function addEntry(json: TreeObject, key: string, value: Tree | undefined): void {
  if (value === undefined) return
  const before = Object.hasOwn(json, key) ? json[key] : undefined
  if (Array.isArray(before)) before.push(value)
  else {
    const next = before === undefined ? value : [before, value]
    // An assignment to `__proto__` would set the prototype.
    Object.defineProperty(json, key, { value: next, enumerable: true, configurable: true, writable: true })
  }
}

/** Writes an enum value that the schema does not know: a name, or a number of 32 bits. */
function writeEnum(entry: UnknownText, { reader }: Writing, path: string): Tree {
  const scalar = entry.fields === undefined ? reader.scalar(entry, path) : undefined
  const number = scalar?.kind === 'integer' ? Number(parseDecimal(scalar.source)) : Number.NaN
  if (number === (number | 0)) return number
  if (scalar?.kind === 'identifier' && ENUM_VALUE_NAME.test(scalar.value)) return scalar.value
  return refuse(fieldPath(path, entry), 'the name of a value, or an integer of 32 bits')
}

/** Writes a field that the schema does not know. @returns undefined if the field is left out */
function writeUnknown(entry: UnknownText, writing: Writing, path: string): Tree | undefined {
  if (entry.fields !== undefined) {
    writing.reader.checkName(entry, path)
    const json: TreeObject = {}
    for (const inner of entry.fields) addEntry(json, inner.name, writeUnknown(inner, writing, fieldPath(path, entry)))
    return json
  }
  const scalar = writing.reader.scalar(entry, path)
  const { text = '' } = entry
  switch (scalar.kind) {
    case 'string': {
      if (scalar.value !== undefined) return scalar.value
      const base64 = (): string => btoa(Array.from(scalar.bytes, (byte) => String.fromCharCode(byte)).join(''))
      return writeInexact(entry, 'bytes that are not UTF-8', base64, writing, path)
    }
    case 'integer': {
      const digits = parseDecimal(scalar.source)
      const number = Number(digits)
      // In a field of fractions, minus zero differs from zero.
      if (number === 0 && text.startsWith('-')) return writing.forText ? new JsonNumber('-0') : -0
      if (Number.isSafeInteger(number)) return number
      return writing.forText
        ? new JsonNumber(digits)
        : writeInexact(entry, `the number ${text}`, () => digits, writing, path)
    }
    case 'float': {
      if (writing.forText) return toJsonFraction(text)
      if (isFraction(scalar.value) && isExact(text)) return scalar.value
      const shown = (): Tree => (Number.isSafeInteger(scalar.value) && isExact(text) ? scalar.value : text)
      return writeInexact(entry, `the number ${text}`, shown, writing, path)
    }
    case 'identifier':
      if (scalar.value === 'true' || scalar.value === 'false') return scalar.value === 'true'
      return writeInexact(entry, `the name ${scalar.value}`, () => scalar.value, writing, path)
  }
}

/** Handles a value that JSON cannot hold exactly, as the option `unknownText` says. */
function writeInexact(
  entry: UnknownText,
  what: string,
  shown: () => Tree,
  { unknownText }: Writing,
  path: string,
): Tree | undefined {
  if (unknownText === 'string') return shown()
  if (unknownText === 'omit') return undefined
  const entryPath = fieldPath(path, entry)
  throw new MetadataError('invalid_value', `JSON cannot hold ${what} of ${entryPath} as it is`, { path: entryPath })
}
