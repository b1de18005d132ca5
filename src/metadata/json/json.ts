/**
 * The JSON mapping of protocol buffers (ProtoJSON), both ways.
 * @module
 */

import { checkMessage, fieldPath, LONE_SURROGATE, tooDeepError } from '../check.js'
import { MAX_DEPTH, MetadataError, refuse } from '../errors.js'
import { checkOptions, isPlainObject } from '../options.js'
import type { EnumAliases, EnumNames } from '../schema/aliases.js'
import { makeEnumNames } from '../schema/aliases.js'
import type { MetaData, Unknown, UnknownText } from '../schema/messages.js'
import type { EnumField, Field, Message, MessageType } from '../schema/schema.js'
import { MetaDataSchema } from '../schema/schema.js'
import { CANONICAL_STYLE, parseDecimal, writeLiteral } from '../text/literals.js'
import { UnknownReader } from '../text/unknown-text.js'
import { formatTree, isExact, isFraction, JsonNumber, toJsonFraction } from './json-text.js'

/** A value of JSON. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
/** An object of JSON. */
export interface JsonObject {
  [key: string]: JsonValue
}

/** What `toJSON` may be told. */
export interface ToJsonOptions {
  /** Names to write for values of enums. */
  readonly enumAliases?: EnumAliases
  /**
   * What becomes of an unknown field of text whose value JSON cannot hold, so that it would come back as another: a name such
   * as `FOO` or `inf`, bytes that are not UTF-8. `refuse`, which is the default; `omit`; or `string`, to show it as a string.
   * An object of JSON holds no integer past 2^53, no `1.0` and no fraction of more digits than a number of JavaScript has
   * either; {@link formatJson} does.
   */
  readonly unknownText?: 'refuse' | 'omit' | 'string'
}

/** Options of `formatJson`. */
export interface FormatJsonOptions {
  /** Names to write for values of enums. */
  readonly enumAliases?: EnumAliases
  /** The fate of an unknown field of text whose value JSON cannot hold: `refuse`, which is the default, or `omit`. */
  readonly unknownText?: 'refuse' | 'omit'
}

/** What `fromJSON` may be told. */
export interface FromJsonOptions {
  /** Refuse keys and values of enums that the schema does not know, as the reference does. By default they are kept. */
  readonly strict?: boolean
  /** Other names for values of enums. */
  readonly enumAliases?: EnumAliases
}

export function toJson(type: MessageType, message: object, options: ToJsonOptions | undefined): JsonObject {
  const { enumAliases, unknownText = 'refuse' } = checkOptions(options, {
    enumAliases: 'object',
    unknownText: ['refuse', 'omit', 'string'],
  })
  checkMessage(type, message, 'omit')
  // Checked just above. Numbers of text are in no tree but in one that is for text.
  return writeMessage(
    type,
    message as Message,
    { names: makeEnumNames(enumAliases), unknownText, forText: false, reader: new UnknownReader() },
    '',
  ) as JsonObject
}

/**
 * Writes a record as JSON text: as `MetaData.toJSON` and `JSON.stringify` with an indentation of two, and a newline at the
 * end. Unknown numbers keep all their digits, however many: {@link readMetadata} reads them back.
 * @throws {MetadataError} `invalid_value` or `too_deep`, with the path; `too_large` when the text would have more than
 * 67,108,864 characters
 */
export function formatJson(message: MetaData, options?: FormatJsonOptions): string {
  const { enumAliases, unknownText = 'refuse' } = checkOptions(options, {
    enumAliases: 'object',
    unknownText: ['refuse', 'omit'],
  })
  checkMessage(MetaDataSchema, message, 'omit')
  const writing = { names: makeEnumNames(enumAliases), unknownText, forText: true, reader: new UnknownReader() }
  // Checked just above.
  return `${formatTree(writeMessage(MetaDataSchema, message as unknown as Message, writing, ''))}\n`
}

interface Writing {
  readonly names: EnumNames
  readonly unknownText: 'refuse' | 'omit' | 'string'
  /** Whether numbers may be in it that JavaScript cannot hold. */
  readonly forText: boolean
  readonly reader: UnknownReader
}

/** JSON, with numbers in it that JavaScript cannot hold. */
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
    // A value that the schema does not know of an enum that it knows, unless the field was given another value since.
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

/** Several entries of one name become a list. */
function addEntry(json: TreeObject, key: string, value: Tree | undefined): void {
  if (value === undefined) return
  const before = Object.hasOwn(json, key) ? json[key] : undefined
  if (Array.isArray(before)) before.push(value)
  else {
    const next = before === undefined ? value : [before, value]
    // Not by assignment, for which `__proto__` is no key.
    Object.defineProperty(json, key, { value: next, enumerable: true, configurable: true, writable: true })
  }
}

/** A name, or a number of 32 bits, that no value of its enum has. */
function writeEnum(entry: UnknownText, { reader }: Writing, path: string): Tree {
  const scalar = entry.fields === undefined ? reader.scalar(entry, path) : undefined
  const number = scalar?.kind === 'integer' ? Number(parseDecimal(scalar.source)) : Number.NaN
  if (number === (number | 0)) return number
  if (scalar?.kind === 'identifier' && ENUM_NAME.test(scalar.value)) return scalar.value
  return refuse(fieldPath(path, entry), 'the name of a value, or an integer of 32 bits')
}

/** @returns undefined for what is left out */
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
      // Where the field is a fraction, minus zero is another number than zero.
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

/** A value that would come back as another. */
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

export function fromJson(type: MessageType, json: unknown, options: FromJsonOptions | undefined): Message {
  const { strict = false, enumAliases } = checkOptions(options, { strict: 'boolean', enumAliases: 'object' })
  const names = makeEnumNames(enumAliases)
  return readMessage(type, json, { names, strict }, '', MAX_DEPTH)
}

interface Reading {
  readonly names: EnumNames
  readonly strict: boolean
}

/** @param depth - how many messages may nest within this one */
function readMessage(type: MessageType, json: unknown, reading: Reading, path: string, depth: number): Message {
  if (!isPlainObject(json)) return refuse(path, 'an object', json)
  const message: Message & Unknown = type.create()
  for (const [key, value] of Object.entries(json)) {
    const field = type.byKey.get(key) ?? type.byName.get(key)
    if (field !== undefined) {
      if (key !== field.key && Object.hasOwn(json, field.key))
        throw new MetadataError('duplicate_field', `${fieldPath(path, field)} is there as ${key} and as ${field.key}`, {
          path: fieldPath(path, field),
        })
      readField(field, message, value, reading, path, depth)
    } else if (reading.strict) {
      const unknownPath = fieldPath(path, { name: key })
      throw new MetadataError('unknown_field', `${type.name} has no field ${unknownPath}`, { path: unknownPath })
    } else addUnknown(message, readUnknown(key, value, path, depth))
  }
  return message
}

function readField(
  field: Field,
  message: Message,
  value: unknown,
  reading: Reading,
  path: string,
  depth: number,
): void {
  if (value === null) return
  if (!field.repeated) {
    message[field.key] = readValue(field, message, value, reading, fieldPath(path, field), depth)
    return
  }
  if (!Array.isArray(value)) refuse(fieldPath(path, field), 'a list', value)
  else
    message[field.key] = value.map((item, index) =>
      readValue(field, message, item, reading, fieldPath(path, field, index), depth),
    )
}

function readValue(
  field: Field,
  message: Message,
  given: unknown,
  reading: Reading,
  path: string,
  depth: number,
): unknown {
  // No field of the schema has a number that JavaScript cannot hold: one that it would round is none of them.
  const value = given instanceof JsonNumber ? exactNumber(given.source) : given
  switch (field.kind) {
    case 'string':
      if (typeof value !== 'string') return refuse(path, 'a string', value)
      return LONE_SURROGATE.test(value) ? refuse(path, 'a string without lone surrogates') : value
    case 'int32': {
      // A number in quotes is one too (ProtoJSON), in any way in which JSON writes numbers.
      const number = typeof value === 'string' && JSON_NUMBER.test(value) ? exactNumber(value) : value
      // `| 0` makes 0 of -0 as well.
      return typeof number === 'number' && (number | 0) === number ? number | 0 : refuse(path, 'an integer of 32 bits')
    }
    case 'enum':
      return readEnum(field, message, value, reading, path)
    case 'message':
      return readMessage(field.type, value, reading, path, depth - 1)
  }
}

/** The value of a number of JSON; NaN where that would be another. */
function exactNumber(source: string): number {
  return isExact(source) ? Number(source) : Number.NaN
}

const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

function readEnum(
  field: EnumField,
  message: Message,
  value: unknown,
  reading: Reading,
  path: string,
): number | undefined {
  if (typeof value === 'number') {
    if ((value | 0) !== value) return refuse(path, `a name of ${field.enum.name}, or an integer of 32 bits`)
    if (field.enum.names[value] !== undefined) return value | 0
  } else if (typeof value === 'string') {
    const number = reading.names.numberOf(field.enum, value)
    if (number !== undefined) return number
  } else return refuse(path, `a name of ${field.enum.name}`)
  const text = typeof value === 'number' ? String(value | 0) : value
  if (!reading.strict && (typeof value === 'number' || ENUM_NAME.test(text))) {
    addUnknown(message, [{ name: field.name, text }])
    return undefined
  }
  throw new MetadataError('unknown_enum_value', `${path}: ${field.enum.name} has no value ${JSON.stringify(text)}`, {
    path,
    expected: `one of ${[...field.enum.numbers.keys()].join(', ')}`,
  })
}

/** What text format has as a name: `homepage`, `[package.extension]`, `[host/package.Type]`. */
const FIELD_NAME = /^(?:[A-Za-z_]\w*|\[[A-Za-z_]\w*(?:[./][A-Za-z_]\w*)*\])$/
const ENUM_NAME = /^[A-Za-z_]\w*$/

/**
 * One key that the schema does not know, as fields of text format.
 * @param depth - how many messages may nest here
 */
function readUnknown(name: string, value: unknown, path: string, depth: number): UnknownText[] {
  const entryPath = fieldPath(path, { name })
  if (!FIELD_NAME.test(name))
    throw new MetadataError('invalid_value', `the key ${JSON.stringify(name)} is no name that a field may have`, {
      path: entryPath,
    })
  const values = Array.isArray(value) ? value : value === null ? [] : [value]
  return values.map((item: unknown): UnknownText => {
    const entry: UnknownText = { name }
    if (item instanceof JsonNumber) entry.text = item.source
    else if (isPlainObject(item)) {
      if (depth === 0) throw tooDeepError(entryPath)
      entry.fields = Object.entries(item).flatMap(([key, inner]) => readUnknown(key, inner, entryPath, depth - 1))
    } else if (typeof item === 'string') {
      if (LONE_SURROGATE.test(item)) refuse(entryPath, 'a string without lone surrogates')
      entry.text = writeLiteral(item, { ...CANONICAL_STYLE, utf8: true })
    } else if (typeof item === 'boolean') entry.text = String(item)
    else if (typeof item === 'number' && Number.isFinite(item)) {
      if (!isFraction(item) && !Number.isSafeInteger(item))
        refuse(
          entryPath,
          'an integer of at most 53 bits, since JSON.parse rounds larger ones: readMetadata takes the text',
        )
      entry.text = Object.is(item, -0) ? '-0' : String(item)
    } else refuse(entryPath, 'a string, a number, a truth value, an object, or a list of these', item)
    return entry
  })
}

function addUnknown(message: Message & Unknown, entries: readonly UnknownText[]): void {
  if (entries.length === 0) return
  message._unknownText ??= []
  for (const entry of entries) message._unknownText.push(entry)
}
