/**
 * Reads the JSON mapping of protocol buffers (ProtoJSON).
 * @module
 */
import { fieldPath, LONE_SURROGATE, tooDeepError } from '../check.js'
import { MAX_DEPTH, MetadataError, refuse } from '../errors.js'
import { checkOptions, isPlainObject } from '../options.js'
import type { EnumAliases, EnumNames } from '../schema/aliases.js'
import { ENUM_VALUE_NAME, makeEnumNames } from '../schema/aliases.js'
import type { Unknown, UnknownText } from '../schema/messages.js'
import type { EnumField, Field, Message, MessageType } from '../schema/schema.js'
import { CANONICAL_STYLE, writeLiteral } from '../text/literals.js'
import { isExact, isFraction, JsonNumber } from './json-text.js'

/** Options of `fromJSON`. */
export interface FromJsonOptions {
  /** Refuses keys and enum values that the schema does not know, as the reference does. By default they are kept. */
  readonly strict?: boolean
  /** Other names for values of enums. */
  readonly enumAliases?: EnumAliases
}

/** Reads a message from the JSON mapping, as `MessageCodec.fromJSON` documents. */
export function fromJson(type: MessageType, json: unknown, options: FromJsonOptions | undefined): Message {
  const { strict = false, enumAliases } = checkOptions(options, { strict: 'boolean', enumAliases: 'object' })
  const names = makeEnumNames(enumAliases)
  return readMessage(type, json, { names, strict }, '', MAX_DEPTH)
}

interface Reading {
  readonly names: EnumNames
  readonly strict: boolean
}

/**
 * Reads a message.
 * @param depth - levels of messages that may nest in this one
 */
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
  // No number of the schema has more digits than a JavaScript number. NaN means a number that would be rounded.
  const value = given instanceof JsonNumber ? exactNumber(given.source) : given
  switch (field.kind) {
    case 'string':
      if (typeof value !== 'string') return refuse(path, 'a string', value)
      return LONE_SURROGATE.test(value) ? refuse(path, 'a string without lone surrogates') : value
    case 'int32': {
      // ProtoJSON also accepts a number in quotes, in any spelling of JSON.
      const number = typeof value === 'string' && JSON_NUMBER.test(value) ? exactNumber(value) : value
      // `| 0` also turns -0 into 0.
      return typeof number === 'number' && (number | 0) === number ? number | 0 : refuse(path, 'an integer of 32 bits')
    }
    case 'enum':
      return readEnum(field, message, value, reading, path)
    case 'message':
      return readMessage(field.type, value, reading, path, depth - 1)
  }
}

/** Returns the value of a JSON number, or NaN if JavaScript would round it. */
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
  if (!reading.strict && (typeof value === 'number' || ENUM_VALUE_NAME.test(text))) {
    addUnknown(message, [{ name: field.name, text }])
    return undefined
  }
  throw new MetadataError('unknown_enum_value', `${path}: ${field.enum.name} has no value ${JSON.stringify(text)}`, {
    path,
    expected: `one of ${[...field.enum.numbers.keys()].join(', ')}`,
  })
}

/** A field name of text format: `homepage`, `[package.extension]`, `[host/package.Type]`. */
const FIELD_NAME = /^(?:[A-Za-z_]\w*|\[[A-Za-z_]\w*(?:[./][A-Za-z_]\w*)*\])$/

/**
 * Converts a key that the schema does not know into fields of text format.
 * @param depth - levels of messages that may nest in it
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
