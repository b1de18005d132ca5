/**
 * Paths such as `third_party.identifier[0].version`: names as in text format, with an index for an item of a list.
 * @module
 */
import { checkMessage } from './check.js'
import { describeKind, MAX_DEPTH, MetadataError } from './errors.js'
import type { MetaData, Unknown, UnknownText } from './schema/messages.js'
import type { Field, Message, MessageType } from './schema/schema.js'
import { DirectoryTypeEnum, MetaDataSchema } from './schema/schema.js'
import { parseBigint, parseDecimal } from './text/literals.js'
import { UnknownReader } from './text/unknown-text.js'

/** One step of a path. */
export interface Step {
  /** The name of a field: `url`, or `[package.extension]`. */
  readonly name: string
  /** The index from 0; `+` for a new item after the last one. */
  readonly index: number | '+' | undefined
}

const STEP = /(?:([A-Za-z_]\w*)|(\[[A-Za-z_]\w*(?:[./][A-Za-z_]\w*)*\]))(?:\[(\d{1,9}|\+)\])?(\.|$)/y

/**
 * Parses a path.
 * @throws {MetadataError} `invalid_path`
 */
export function parsePath(path: string): readonly Step[] {
  if (typeof path !== 'string')
    throw new MetadataError('invalid_path', `a path should be a string, got ${describeKind(path)}`)
  const steps: Step[] = []
  for (let position = 0, end = '.'; end === '.'; position = STEP.lastIndex) {
    STEP.lastIndex = position
    const match = STEP.exec(path)
    if (match === null) {
      const expected = 'names with dots between them, each with an index such as [0] where it has one'
      throw new MetadataError('invalid_path', `${JSON.stringify(path)} is no path: expected ${expected}`, {
        path,
        expected,
      })
    }
    if (steps.length === MAX_DEPTH) refusePath(path, `more than ${MAX_DEPTH} steps`)
    const [, name, bracketed, index, after = ''] = match
    steps.push({
      name: name ?? bracketed ?? '',
      index: index === undefined || index === '+' ? index : Number(index),
    })
    end = after
  }
  return steps
}

/** The value of a field. An enum is its name, a message has the names of text format, and bytes that are not UTF-8 stay bytes. */
export type FieldValue = string | number | bigint | boolean | Uint8Array | readonly FieldValue[] | FieldValues
/** The fields of a message that are set, by name. */
export interface FieldValues {
  /** A field by its name. */
  readonly [name: string]: FieldValue
}

/**
 * Returns the value of a field by its path. The schema need not know the field.
 * @returns undefined for a field that is not set, but `PACKAGE` for `third_party.type`. A repeated field without an index is an array.
 * A field that the schema does not know is an array if it comes more than once; the index 0 always works.
 * @throws {MetadataError} `invalid_path` for a wrong path, or one that contradicts the schema; `invalid_value` for an unknown integer
 * of more than 10,000 characters
 * @example
 * getField(parseText(text), 'third_party.identifier[0].version')
 */
export function getField(message: MetaData, path: string): FieldValue | undefined {
  checkMessage(MetaDataSchema, message, 'omit')
  // The line above has checked the message.
  return valueAt(MetaDataSchema, message as unknown as Message, parsePath(path), path)
}

function valueAt(
  type: MessageType,
  message: Message & Unknown,
  steps: readonly Step[],
  path: string,
): FieldValue | undefined {
  const [step, ...rest] = steps
  if (step === undefined) return messageValues(type, message)
  if (step.index === '+') return refusePath(path, 'there is nothing to read at [+]')
  const field = type.byName.get(step.name)
  if (field === undefined) {
    const unknown = message._unknownText ?? []
    if (!unknown.some(({ name }) => name === step.name)) refuseJsonName(type, step.name, path)
    return unknownValueAt(unknown, steps, path)
  }
  if (step.index !== undefined && !field.repeated) return refusePath(path, `${step.name} is not a list`)
  if (rest.length > 0 && field.kind !== 'message') return refusePath(path, `${step.name} is not a message`)
  let value = message[field.key]
  if (field.repeated) {
    if (!Array.isArray(value)) return undefined
    if (step.index === undefined) {
      if (rest.length > 0) return refusePath(path, `${step.name} is a list: say which, as ${step.name}[0]`)
      return value.map((item) => plainValue(field, item))
    }
    value = value[step.index]
  }
  if (value === undefined) {
    if (field.kind === 'enum') return unknownValueAt(message._unknownText ?? [], steps, path) ?? defaultOf(field)
    const [next] = rest
    return next?.name === 'type' && field.name === 'third_party' && rest.length === 1 ? 'PACKAGE' : undefined
  }
  return field.kind === 'message' ? valueAt(field.type, value as Message, rest, path) : plainValue(field, value)
}

/**
 * Refuses the JSON name of a known field. In text format, it would be the name of an unknown field.
 * @throws {MetadataError} `invalid_path`
 */
export function refuseJsonName(type: MessageType | undefined, name: string, path: string): void {
  const field = type?.byName.has(name) ? undefined : type?.byKey.get(name)
  if (field !== undefined) refusePath(path, `${name} is ${field.name} in text format`)
}

/** Returns the default of a field. The schema has one (specification, ThirdPartyMetaData: `type`). */
function defaultOf(field: Field): string | undefined {
  return field.kind === 'enum' && field.enum === DirectoryTypeEnum ? 'PACKAGE' : undefined
}

function plainValue(field: Field, value: unknown): FieldValue {
  switch (field.kind) {
    case 'string':
      return String(value)
    case 'int32':
      return Number(value)
    case 'enum':
      return field.enum.names[Number(value)] ?? Number(value)
    case 'message':
      return messageValues(field.type, value as Message)
  }
}

function messageValues(type: MessageType, message: Message & Unknown): FieldValues {
  const values = new Map<string, FieldValue>()
  for (const field of type.fields) {
    const value = message[field.key]
    if (Array.isArray(value)) {
      if (value.length > 0)
        values.set(
          field.name,
          value.map((item) => plainValue(field, item)),
        )
    } else if (value !== undefined) values.set(field.name, plainValue(field, value))
  }
  const unknown = message._unknownText?.filter(({ name }) => !values.has(name)) ?? []
  for (const [name, entries] of groupByName(unknown)) values.set(name, combineValues(entries))
  return Object.fromEntries(values)
}

function groupByName(entries: readonly UnknownText[]): Map<string, UnknownText[]> {
  const groups = new Map<string, UnknownText[]>()
  for (const entry of entries) {
    const group = groups.get(entry.name)
    if (group === undefined) groups.set(entry.name, [entry])
    else group.push(entry)
  }
  return groups
}

/**
 * Combines the values of one name: a single value as it is, several as an array.
 * @param entries - all entries of the name
 */
function combineValues(entries: readonly UnknownText[]): FieldValue {
  const reader = new UnknownReader()
  const [first, ...others] = entries.map((entry) => unknownValue(entry, reader))
  return first === undefined ? [] : others.length === 0 ? first : [first, ...others]
}

function unknownValue(entry: UnknownText, reader: UnknownReader): FieldValue {
  if (entry.fields !== undefined)
    return Object.fromEntries([...groupByName(entry.fields)].map(([name, entries]) => [name, combineValues(entries)]))
  const scalar = reader.scalar(entry, '')
  switch (scalar.kind) {
    case 'string':
      return scalar.value ?? scalar.bytes
    case 'integer': {
      const number = Number(parseDecimal(scalar.source))
      return Number.isSafeInteger(number) ? number : parseBigint(scalar.source)
    }
    case 'float':
      return scalar.value
    case 'identifier':
      return scalar.value === 'true' ? true : scalar.value === 'false' ? false : scalar.value
  }
}

function unknownValueAt(entries: readonly UnknownText[], steps: readonly Step[], path: string): FieldValue | undefined {
  const [step, ...rest] = steps
  if (step === undefined) return undefined
  if (step.index === '+') return refusePath(path, 'there is nothing to read at [+]')
  const found = entries.filter(({ name }) => name === step.name)
  if (rest.length === 0 && step.index === undefined) return found.length === 0 ? undefined : combineValues(found)
  if (step.index === undefined && found.length > 1)
    return refusePath(path, `there are ${found.length} of ${step.name}: say which, as ${step.name}[0]`)
  const entry = found[step.index ?? 0]
  if (entry === undefined) return undefined
  if (rest.length === 0) return unknownValue(entry, new UnknownReader())
  return entry.fields === undefined ? undefined : unknownValueAt(entry.fields, rest, path)
}

/**
 * Throws the error of a path.
 * @throws {MetadataError} `invalid_path`
 */
export function refusePath(path: string, why: string): never {
  throw new MetadataError('invalid_path', `${path}: ${why}`, { path })
}
