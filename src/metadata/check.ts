/**
 * The check of a message that every writer makes first, because a caller in JavaScript can put anything into a message.
 * @module
 */
import { MAX_DEPTH, MetadataError, refuse } from './errors.js'
import { isBytes, isPlainObject } from './options.js'
import type { UnknownText } from './schema/messages.js'
import type { Field, Message, MessageType } from './schema/schema.js'

/** A lone surrogate: half of a character, which UTF-8 cannot hold. */
export const LONE_SURROGATE: RegExp = /[\ud800-\udfff]/u

/** A fault and its place. The path begins at the message that was checked, so no path is built for a good message. */
interface Fault {
  readonly path: string
  /** The value that should be there; undefined for a field that has a name and no number. */
  readonly expected: string | undefined
  /** True if messages nest more deeply here than any reader reads. */
  readonly isTooDeep?: true
}

/**
 * Checks a message with all that it contains.
 * @param unknownText - `omit` permits fields that have a name and no number, `refuse` does not
 * @throws {MetadataError} `invalid_value`, `too_deep` or `unknown_field`, with the path
 */
export function checkMessage(type: MessageType, message: unknown, unknownText: 'refuse' | 'omit'): void {
  const fault = findFault(type, message, unknownText, MAX_DEPTH)
  if (fault === undefined) return
  const { path, expected, isTooDeep } = fault
  if (isTooDeep) throw tooDeepError(path)
  if (expected !== undefined) refuse(path, expected)
  throw new MetadataError('unknown_field', `${path} has no number in this schema, so binary cannot hold it`, { path })
}

/** Creates the error of a message that is nested more deeply than {@link MAX_DEPTH}. */
export function tooDeepError(path: string): MetadataError {
  return new MetadataError('too_deep', `${path} is nested more than ${MAX_DEPTH} deep`, { path })
}

/**
 * Finds the first fault of a message.
 * @param depth - the number of messages that may nest within this one
 */
function findFault(
  type: MessageType,
  message: unknown,
  unknownText: 'refuse' | 'omit',
  depth: number,
): Fault | undefined {
  if (!isObject(message)) return { path: '', expected: 'a message' }
  for (const field of type.fields) {
    const value = message[field.key]
    if (field.repeated) {
      if (!Array.isArray(value)) return { path: field.name, expected: 'a list' }
      for (let i = 0; i < value.length; i++) {
        const fault = findValueFault(field, value[i], unknownText, depth)
        if (fault !== undefined) return prefixPath(fieldPath('', field, i), fault)
      }
    } else if (value !== undefined) {
      const fault = findValueFault(field, value, unknownText, depth)
      if (fault !== undefined) return prefixPath(field.name, fault)
    }
  }
  return findUnknownFault(message, unknownText, depth)
}

function findUnknownFault(
  { _unknownFields: bytes, _unknownText: texts }: Message,
  unknownText: 'refuse' | 'omit',
  depth: number,
): Fault | undefined {
  if (bytes !== undefined && !isUnknownFields(bytes))
    return { path: '_unknownFields', expected: 'lists of bytes by their tags' }
  if (texts === undefined) return undefined
  if (!Array.isArray(texts)) return { path: '_unknownText', expected: EXPECTED_ENTRIES }
  for (const entry of texts) {
    const fault = findEntryFault(entry, depth)
    if (fault !== undefined) return fault
  }
  // The loop above checked the type of each entry.
  const [lost] = texts as readonly UnknownText[]
  return unknownText === 'refuse' && lost !== undefined ? { path: lost.name, expected: undefined } : undefined
}

const EXPECTED_ENTRIES = 'a list of fields of text format'

/** Finds the first fault of an unknown field. Counts messages, not the values in them, as the readers do. */
function findEntryFault(entry: unknown, depth: number): Fault | undefined {
  const none: Fault = { path: '_unknownText', expected: EXPECTED_ENTRIES }
  if (!isObject(entry)) return none
  const { name, text, fields } = entry
  if (typeof name !== 'string') return none
  if (fields === undefined) return typeof text === 'string' ? undefined : none
  if (!Array.isArray(fields)) return none
  if (depth === 0) return { path: name, expected: undefined, isTooDeep: true }
  for (const inner of fields) {
    const fault = findEntryFault(inner, depth - 1)
    if (fault !== undefined) return fault.isTooDeep ? prefixPath(name, fault) : fault
  }
  return undefined
}

/** Checks that a value has lists of bytes by tags: numbers of 32 bits whose field number is not 0. */
export function isUnknownFields(value: unknown): boolean {
  if (!isObject(value)) return false
  return Object.entries(value).every(([key, run]) => {
    const tag = Number(key) >>> 0
    return String(tag) === key && tag >= 8 && Array.isArray(run) && run.every(isBytes)
  })
}

function isObject(value: unknown): value is Message {
  return isPlainObject(value)
}

function findValueFault(
  field: Field,
  value: unknown,
  unknownText: 'refuse' | 'omit',
  depth: number,
): Fault | undefined {
  switch (field.kind) {
    case 'string':
      if (typeof value !== 'string') return { path: '', expected: 'a string' }
      return LONE_SURROGATE.test(value) ? { path: '', expected: 'a string without lone surrogates' } : undefined
    case 'int32':
      return typeof value === 'number' && (value | 0) === value
        ? undefined
        : { path: '', expected: 'an integer of 32 bits' }
    case 'enum':
      return typeof value === 'number' && field.enum.names[value] !== undefined
        ? undefined
        : { path: '', expected: `a value of ${field.enum.name}` }
    case 'message':
      return findFault(field.type, value, unknownText, depth - 1)
  }
}

function prefixPath(outer: string, { path, ...fault }: Fault): Fault {
  return { ...fault, path: path === '' ? outer : `${outer}.${path}` }
}

/** Returns the path of a field of the message at `path`. */
export function fieldPath(path: string, field: { readonly name: string }, index?: number): string {
  return `${path}${path === '' ? '' : '.'}${field.name}${index === undefined ? '' : `[${index}]`}`
}
