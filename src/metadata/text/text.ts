/**
 * The reader of text format, in which these records are kept in source trees (text format language specification).
 * @module
 */

import type { MetadataError } from '../errors.js'
import { checkSize } from '../errors.js'
import { checkInput, checkOptions, READ_OPTIONS } from '../options.js'
import type { EnumAliases, EnumNames } from '../schema/aliases.js'
import { makeEnumNames } from '../schema/aliases.js'
import type { MetaData, Unknown, UnknownText } from '../schema/messages.js'
import type { EnumField, Field, Message, MessageType } from '../schema/schema.js'
import { MetaDataSchema } from '../schema/schema.js'
import { decodeString, parseInt32 } from './literals.js'
import { parseSyntax } from './syntax.js'
import { textError } from './text-error.js'
import type { FieldNode, ItemNode } from './tree.js'
import { piecesOf } from './tree.js'
import { makeUnknownText } from './unknown-text.js'

/** Options of {@link parseText}. */
export interface ParseTextOptions {
  /** Refuses names of fields and enum values that the schema does not know, as the reference does. By default they are kept. */
  readonly strict?: boolean
  /** Other names for values of enums. */
  readonly enumAliases?: EnumAliases
  /**
   * The treatment of a field that is not repeated and comes twice: `refuse`, the default, as in the reference; or `last`, which takes
   * the last value and merges messages, as the reference does when it merges.
   */
  readonly duplicates?: 'refuse' | 'last'
  /** The longest input that is read: bytes, or UTF-16 units of a string; 4 MiB by default. */
  readonly maxBytes?: number
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a record in text format.
 * @param input - the text, or its bytes in UTF-8
 * @throws {MetadataError} with line and column: `syntax`, `unknown_field`, `unknown_enum_value`, `duplicate_field`,
 * `out_of_range`, `invalid_utf8`, `too_deep` or `too_large`
 * @example
 * parseText('name: "zlib" third_party { version: "1.3.1" }').thirdParty?.version // '1.3.1'
 */
export function parseText(input: string | Uint8Array, options?: ParseTextOptions): MetaData {
  const own = checkOptions(options, READ_OPTIONS)
  const text = decodeText(input, own.maxBytes)
  const reader = new MessageReader(text, own)
  const message = MetaDataSchema.create()
  reader.message(MetaDataSchema, message, parseSyntax(text, own.maxBytes))
  reader.attachUnknownNames()
  // The schema is of this very type.
  return message as unknown as MetaData
}

/**
 * Decodes a text from UTF-8.
 * @throws {MetadataError} `invalid_utf8` with the place of the first wrong byte, or `too_large`
 */
export function decodeText(input: string | Uint8Array, maxBytes?: number): string {
  checkInput(input, 'bytes or text')
  checkSize(input.length, maxBytes)
  if (typeof input === 'string') return input
  const fault = findUtf16Fault(input)
  if (fault !== undefined) throw fault
  try {
    return utf8.decode(input)
  } catch {
    // What is good before it can be decoded, and then says where it ends.
    let text = ''
    for (let start = 0, end = input.length; start < end; ) {
      const middle = Math.ceil((start + end) / 2)
      try {
        text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(input.subarray(0, middle), {
          stream: true,
        })
        start = middle
      } catch {
        end = middle - 1
      }
    }
    throw textError('invalid_utf8', 'bytes that are not UTF-8', text, text.length)
  }
}

/** Bytes by which an encoding is recognized. */
const SAMPLE = 1024

/** Finds the fault of bytes that are UTF-16: they begin with its byte order mark, or nearly every second byte is zero. */
export function findUtf16Fault(bytes: Uint8Array): MetadataError | undefined {
  const [first = 0, second = 0] = bytes
  const zeros = [0, 0]
  const pairs = Math.min(bytes.length, SAMPLE) >> 1
  for (let i = 0; i < pairs * 2; i++) if (bytes[i] === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const isLittle = (first === 0xff && second === 0xfe) || (even === 0 && odd * 2 > pairs)
  const isBig = (first === 0xfe && second === 0xff) || (odd === 0 && even * 2 > pairs)
  if (!isLittle && !isBig) return undefined
  const order = isLittle ? 'little' : 'big'
  return textError('invalid_utf8', `UTF-16 (${order}-endian), where UTF-8 is taken: save the text as UTF-8`, '', 0)
}

class MessageReader {
  private readonly names: EnumNames
  private readonly strict: boolean
  private readonly lastWins: boolean
  /** Unknown values of enums, by message and field: the last of each, for input in which the last value counts. */
  private readonly unknownNames = new Map<Message, Map<EnumField, UnknownText[]>>()

  constructor(
    private readonly text: string,
    options: ParseTextOptions,
  ) {
    this.names = makeEnumNames(options.enumAliases)
    this.strict = options.strict ?? false
    this.lastWins = options.duplicates === 'last'
  }

  message(type: MessageType, message: Message, fields: readonly FieldNode[]): void {
    for (const node of fields) {
      const field = type.byName.get(node.name)
      if (field !== undefined) this.field(field, message, node)
      else if (this.strict)
        throw textError('unknown_field', `${type.name} has no field ${node.name}`, this.text, node.start)
      else for (const entry of makeUnknownText(node, this.text)) addUnknown(message, entry)
    }
  }

  private field(field: Field, message: Message, node: FieldNode): void {
    const { value } = node
    if (field.repeated) {
      if (field.kind !== 'message' && node.colon < 0) this.fail('":"', value)
      const items = value.kind === 'list' ? value.items : [value]
      const values = message[field.key] as unknown[]
      for (const item of items) {
        if (field.kind !== 'message') values.push(this.scalar(field, item))
        else {
          if (item.kind !== 'message') this.fail('"{"', item)
          else {
            const inner = field.type.create()
            values.push(inner)
            this.message(field.type, inner, item.fields)
          }
        }
      }
      return
    }
    const isPresent =
      message[field.key] !== undefined || (field.kind === 'enum' && this.unknownNames.get(message)?.has(field) === true)
    if (isPresent && !this.lastWins)
      throw textError('duplicate_field', `${field.name} comes twice, and is not a list`, this.text, node.start)
    if (value.kind === 'list') this.fail(EXPECTED_TOKEN[field.kind], value)
    else if (field.kind !== 'message') {
      const scalar = this.scalar(field, value)
      message[field.key] = scalar
      if (field.kind === 'enum') this.noteUnknownName(field, message, scalar === undefined ? node : undefined)
    } else if (value.kind !== 'message') this.fail('"{"', value)
    else {
      const inner = (message[field.key] as Message | undefined) ?? field.type.create()
      message[field.key] = inner
      this.message(field.type, inner, value.fields)
    }
  }

  /**
   * Reads the value of an enum.
   * @returns undefined for a value that the enum does not have
   */
  private scalar(field: Exclude<Field, { kind: 'message' }>, node: ItemNode): string | number | undefined {
    switch (field.kind) {
      case 'string': {
        if (node.kind !== 'string') return this.fail('a string', node)
        if (!node.escaped && node.pieces.length === 2) return this.text.slice(node.start + 1, node.end - 1)
        const pieces = piecesOf(node, this.text)
        const value = node.escaped ? decodeString(pieces) : pieces.join('')
        if (value === undefined)
          throw textError('invalid_utf8', 'a string whose bytes are not UTF-8', this.text, node.start)
        return value
      }
      case 'int32':
        return node.kind === 'integer' ? this.int32(node) : this.fail('an integer', node)
      case 'enum':
        return this.enumValue(field, node)
    }
  }

  /** @param node - of a value that the enum does not have; undefined for one that it has */
  private noteUnknownName(field: EnumField, message: Message, node: FieldNode | undefined): void {
    let names = this.unknownNames.get(message)
    if (node === undefined) names?.delete(field)
    else {
      if (names === undefined) {
        names = new Map()
        this.unknownNames.set(message, names)
      }
      names.set(field, makeUnknownText(node, this.text))
    }
  }

  attachUnknownNames(): void {
    for (const [message, names] of this.unknownNames)
      for (const entries of names.values()) for (const entry of entries) addUnknown(message, entry)
  }

  private int32(node: ItemNode): number {
    const source = this.text.slice(node.start, node.end)
    const value = parseInt32(source)
    if (!Number.isNaN(value)) return value
    throw textError('out_of_range', `${source} is no integer of 32 bits`, this.text, node.start)
  }

  private enumValue(field: EnumField, node: ItemNode): number | undefined {
    const source = this.text.slice(node.start, node.end)
    let number: number | undefined
    if (node.kind === 'integer') {
      const value = this.int32(node)
      if (field.enum.names[value] !== undefined) number = value
    } else if (node.kind === 'identifier' && !source.startsWith('-')) number = this.names.numberOf(field.enum, source)
    else this.fail(`a value of ${field.enum.name}`, node)
    if (number !== undefined || !this.strict) return number
    const expected = `one of ${[...field.enum.numbers.keys()].join(', ')}`
    throw textError(
      'unknown_enum_value',
      `${field.enum.name} has no value ${source}: expected ${expected}`,
      this.text,
      node.start,
      { expected },
    )
  }

  private fail(expected: string, node: { readonly start: number; readonly end: number }): never {
    const [found = ''] = /^[^\n]{0,40}/.exec(this.text.slice(node.start, node.end)) ?? []
    throw textError('syntax', `expected ${expected}, found ${found}`, this.text, node.start, { expected })
  }
}

const EXPECTED_TOKEN: { readonly [kind in Field['kind']]: string } = {
  string: 'a string',
  int32: 'an integer',
  enum: 'a name',
  message: '"{"',
}

function addUnknown(message: Unknown & Message, entry: UnknownText): void {
  if (message._unknownText === undefined) message._unknownText = [entry]
  else message._unknownText.push(entry)
}
