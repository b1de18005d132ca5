/**
 * The JSON mapping of protocol buffers (ProtoJSON), both ways.
 * @module
 */
import { type EnumAliases, type EnumNames, enumNames } from './aliases.js'
import { at, checkMessage, LONE_SURROGATE } from './check.js'
import { MAX_DEPTH, MetadataError, refuse } from './errors.js'
import { CANONICAL, literalOf } from './literals.js'
import type { Unknown, UnknownText } from './messages.js'
import { checkOptions, isPlain } from './options.js'
import type { EnumField, Field, Message, MessageType } from './schema.js'
import { checkName, scalarOf } from './unknown-text.js'

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
}

/** What `fromJSON` may be told. */
export interface FromJsonOptions {
  /** Refuse keys and values of enums that the schema does not know, as the reference does. By default they are kept. */
  readonly strict?: boolean
  /** Other names for values of enums. */
  readonly enumAliases?: EnumAliases
}

export function toJson(type: MessageType, message: object, options: ToJsonOptions | undefined): JsonObject {
  const { enumAliases } = checkOptions(options, { enumAliases: 'object' })
  checkMessage(type, message, 'omit')
  // Checked just above.
  return write(type, message as Message, enumNames(enumAliases), '')
}

function write(type: MessageType, message: Message & Unknown, names: EnumNames, path: string): JsonObject {
  const json: JsonObject = {}
  for (const field of type.fields) {
    const value = message[field.key]
    if (Array.isArray(value)) {
      if (value.length > 0)
        json[field.key] = value.map((item, index) => writeValue(field, item, names, at(path, field, index)))
    } else if (value !== undefined) json[field.key] = writeValue(field, value, names, at(path, field))
  }
  for (const { name, ...entry } of message._unknownText ?? []) {
    const known = type.byName.get(name)
    if (known === undefined && type.byKey.has(name))
      throw new MetadataError('unknown_field', `${at(path, { name })} would be ${type.byKey.get(name)?.name} in JSON`, {
        path: at(path, { name }),
      })
    // The name of an enum's value that the schema does not know, unless the field was given another value since.
    if (known === undefined) add(json, name, writeUnknown({ name, ...entry }, path))
    else if (message[known.key] === undefined) json[known.key] = writeUnknown({ name, ...entry }, path)
  }
  return json
}

function writeValue(field: Field, value: unknown, names: EnumNames, path: string): JsonValue {
  switch (field.kind) {
    case 'string':
      return String(value)
    case 'int32':
      return Number(value)
    case 'enum':
      return names.nameOf(field.enum, Number(value))
    case 'message':
      return write(field.type, value as Message, names, path)
  }
}

/** Several entries of one name become a list. */
function add(json: JsonObject, key: string, value: JsonValue): void {
  const before = Object.hasOwn(json, key) ? json[key] : undefined
  if (Array.isArray(before)) before.push(value)
  else {
    const next = before === undefined ? value : [before, value]
    // Not by assignment, for which `__proto__` is no key.
    Object.defineProperty(json, key, { value: next, enumerable: true, configurable: true, writable: true })
  }
}

function writeUnknown(entry: UnknownText, path: string): JsonValue {
  if (entry.fields !== undefined) {
    checkName(entry, path)
    const json: JsonObject = {}
    for (const inner of entry.fields) add(json, inner.name, writeUnknown(inner, at(path, entry)))
    return json
  }
  const scalar = scalarOf(entry, path)
  switch (scalar.kind) {
    case 'string':
      return scalar.value ?? btoa(Array.from(scalar.bytes, (byte) => String.fromCharCode(byte)).join(''))
    case 'integer': {
      const number = Number(scalar.value)
      return Number.isSafeInteger(number) ? number : String(scalar.value)
    }
    case 'float':
      return Number.isFinite(scalar.value) ? scalar.value : String(entry.text)
    case 'identifier':
      return scalar.value === 'true' ? true : scalar.value === 'false' ? false : scalar.value
  }
}

export function fromJson(type: MessageType, json: unknown, options: FromJsonOptions | undefined): Message {
  const { strict = false, enumAliases } = checkOptions(options, { strict: 'boolean', enumAliases: 'object' })
  const names = enumNames(enumAliases)
  return read(type, json, { names, strict }, '')
}

interface Reading {
  readonly names: EnumNames
  readonly strict: boolean
}

function read(type: MessageType, json: unknown, reading: Reading, path: string): Message {
  if (!isPlain(json)) return refuse(path, 'an object')
  const message: Message & Unknown = type.create()
  for (const [key, value] of Object.entries(json)) {
    const field = type.byKey.get(key) ?? type.byName.get(key)
    if (field !== undefined) {
      if (key !== field.key && Object.hasOwn(json, field.key))
        throw new MetadataError('duplicate_field', `${at(path, field)} is there as ${key} and as ${field.key}`, {
          path: at(path, field),
        })
      readField(field, message, value, reading, path)
    } else if (reading.strict) {
      const unknownPath = at(path, { name: key })
      throw new MetadataError('unknown_field', `${type.name} has no field ${unknownPath}`, { path: unknownPath })
    } else keep(message, unknownOf(key, value, path, MAX_DEPTH))
  }
  return message
}

function readField(field: Field, message: Message, value: unknown, reading: Reading, path: string): void {
  if (value === null) return
  if (!field.repeated) {
    message[field.key] = readValue(field, message, value, reading, at(path, field))
    return
  }
  if (!Array.isArray(value)) refuse(at(path, field), 'a list')
  else message[field.key] = value.map((item, index) => readValue(field, message, item, reading, at(path, field, index)))
}

function readValue(field: Field, message: Message, value: unknown, reading: Reading, path: string): unknown {
  switch (field.kind) {
    case 'string':
      if (typeof value !== 'string') return refuse(path, 'a string')
      return LONE_SURROGATE.test(value) ? refuse(path, 'a string without lone surrogates') : value
    case 'int32': {
      // A number in quotes is one too (ProtoJSON), in any way in which JSON writes numbers.
      const number = typeof value === 'string' && JSON_NUMBER.test(value) ? Number(value) : value
      // `| 0` makes 0 of -0 as well.
      return typeof number === 'number' && (number | 0) === number ? number | 0 : refuse(path, 'an integer of 32 bits')
    }
    case 'enum':
      return readEnum(field, message, value, reading, path)
    case 'message':
      return read(field.type, value, reading, path)
  }
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
    keep(message, [{ name: field.name, text }])
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

/** One key that the schema does not know, as fields of text format. */
function unknownOf(name: string, value: unknown, path: string, depth: number): UnknownText[] {
  const entryPath = at(path, { name })
  if (!FIELD_NAME.test(name))
    throw new MetadataError('invalid_value', `the key ${JSON.stringify(name)} is no name that a field may have`, {
      path: entryPath,
    })
  if (depth === 0)
    throw new MetadataError('too_deep', `${entryPath} is nested more than ${MAX_DEPTH} deep`, { path: entryPath })
  const values = Array.isArray(value) ? value : value === null ? [] : [value]
  return values.map((item: unknown): UnknownText => {
    const entry: UnknownText = { name }
    if (typeof item === 'object' && item !== null && !Array.isArray(item))
      entry.fields = Object.entries(item).flatMap(([key, inner]) => unknownOf(key, inner, entryPath, depth - 1))
    else if (typeof item === 'string' && !LONE_SURROGATE.test(item))
      entry.text = literalOf(item, { ...CANONICAL, utf8: true })
    else if (typeof item === 'boolean' || Number.isFinite(item)) entry.text = String(item)
    else refuse(entryPath, 'a string, a number, a truth value, an object, or a list of these')
    return entry
  })
}

function keep(message: Message & Unknown, entries: readonly UnknownText[]): void {
  if (entries.length === 0) return
  message._unknownText ??= []
  for (const entry of entries) message._unknownText.push(entry)
}
