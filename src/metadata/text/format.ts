/**
 * The canonical form of text format, that of the reference (protoc).
 * @module
 */

import { encodeUnknownFields, visitFields } from '../binary/unknown-fields.js'
import { checkMessage } from '../check.js'
import { checkLength, limitWriter, MAX_DEPTH } from '../errors.js'
import { checkOptions } from '../options.js'
import type { EnumAliases, EnumNames } from '../schema/aliases.js'
import { makeEnumNames } from '../schema/aliases.js'
import type { MetaData, Unknown, UnknownText } from '../schema/messages.js'
import type { Field, Message, MessageType } from '../schema/schema.js'
import { MetaDataSchema, WIRE_LENGTH, WIRE_START_GROUP, WIRE_VARINT } from '../schema/schema.js'
import type { LiteralStyle } from './literals.js'
import { CANONICAL_STYLE, writeBytesLiteral, writeLiteral } from './literals.js'
import { UnknownReader } from './unknown-text.js'

/** Options of {@link formatText}. */
export interface FormatTextOptions {
  /** Writes characters that are not ASCII as they are. By default they become octal escapes of their bytes, as in the reference. */
  readonly utf8?: boolean
  /** Other names for values of enums, which are written instead. */
  readonly enumAliases?: EnumAliases
  /**
   * Unknown fields of binary input: `number` writes them by their numbers, as the reference does (no reader of text format reads
   * that), `omit` leaves them out.
   */
  readonly unknownFields?: 'number' | 'omit'
}

/**
 * Writes a record in the canonical form of the reference: fields by number, two blanks of indentation, `name {` without a
 * colon, a newline at the end. Fields that text had and the schema does not know come after those that it knows.
 * @throws {MetadataError} `invalid_value`, with the path, when a field holds what its type does not permit; `too_large` when
 * the text would have more than 67,108,864 characters
 */
export function formatText(message: MetaData, options?: FormatTextOptions): string {
  const own = checkOptions(options, { utf8: 'boolean', enumAliases: 'object', unknownFields: ['number', 'omit'] })
  checkMessage(MetaDataSchema, message, 'omit')
  // Checked just above.
  return limitWriter(() => new Printer(own).message(MetaDataSchema, message as unknown as Message, '', ''))
}

class Printer {
  private readonly names: EnumNames
  private readonly style: LiteralStyle
  private readonly byNumber: boolean
  private readonly reader = new UnknownReader()
  private length = 0

  constructor(options: FormatTextOptions) {
    this.names = makeEnumNames(options.enumAliases)
    this.style = { ...CANONICAL_STYLE, utf8: options.utf8 ?? false }
    this.byNumber = options.unknownFields !== 'omit'
  }

  message(type: MessageType, message: Message & Unknown, indent: string, path: string): string {
    let text = ''
    const unknown = message._unknownText ?? []
    for (const field of type.fields) {
      const value = message[field.key]
      if (value === undefined) {
        if (field.kind === 'enum')
          for (const entry of unknown) if (entry.name === field.name) text += this.unknownText(entry, indent, path)
      } else if (Array.isArray(value)) for (const item of value) text += this.field(field, item, indent, path)
      else text += this.field(field, value, indent, path)
    }
    for (const entry of unknown) if (!type.byName.has(entry.name)) text += this.unknownText(entry, indent, path)
    if (this.byNumber && message._unknownFields !== undefined)
      text += this.unknownFields(encodeUnknownFields(message), indent, UNKNOWN_DEPTH, 'exact')
    return text
  }

  private field(field: Field, value: unknown, indent: string, path: string): string {
    const start = indent + field.name
    switch (field.kind) {
      case 'string':
        return this.counted(`${start}: ${writeLiteral(String(value), this.style)}\n`)
      case 'int32':
        return this.counted(`${start}: ${value}\n`)
      case 'enum':
        return this.counted(`${start}: ${this.names.nameOf(field.enum, Number(value))}\n`)
      case 'message':
        return this.block(start, indent, (inner) =>
          this.message(field.type, value as Message, inner, `${path}${field.name}.`),
        )
    }
  }

  private unknownText(entry: UnknownText, indent: string, path: string): string {
    const { fields } = entry
    if (fields === undefined) {
      const scalar = this.reader.scalar(entry, path)
      let written = entry.text
      if (scalar.kind === 'string')
        written = scalar.value === undefined ? writeBytesLiteral(scalar.bytes) : writeLiteral(scalar.value, this.style)
      return this.counted(`${indent}${entry.name}: ${written}\n`)
    }
    this.reader.checkName(entry, path)
    return this.block(indent + entry.name, indent, (inner) => {
      let text = ''
      for (const field of fields) text += this.unknownText(field, inner, `${path}${entry.name}.`)
      return text
    })
  }

  /** Formats unknown fields by number, as the reference does. Bytes that can be read as a message become one. */
  private unknownFields(fields: Uint8Array, indent: string, depth: number, varints: 'exact' | 'tolerant'): string {
    let text = ''
    visitFields(fields, varints, MAX_DEPTH, (fieldNumber, wireType, bytes) => {
      const start = indent + fieldNumber
      const isBlock =
        wireType === WIRE_START_GROUP ||
        (wireType === WIRE_LENGTH && bytes.length > 0 && depth > 0 && isMessage(bytes, depth))
      text += isBlock
        ? this.block(start, indent, (inner) => this.unknownFields(bytes, inner, depth - 1, 'tolerant'))
        : this.counted(`${start}: ${formatScalar(wireType, bytes)}\n`)
    })
    return text
  }

  private block(start: string, indent: string, content: (indent: string) => string): string {
    return this.counted(`${start} {\n`) + content(`${indent}  `) + this.counted(`${indent}}\n`)
  }

  /** Counts the characters while the text grows, because a text that is too long may not fit into memory. */
  private counted(piece: string): string {
    this.length += piece.length
    checkLength(this.length)
    return piece
  }
}

/** The depth to which the reference looks for messages in unknown bytes that it prints. */
const UNKNOWN_DEPTH = 10

/** Formats the value of an unknown field that is not a message, as the reference does. */
function formatScalar(wireType: number, bytes: Uint8Array): string {
  if (wireType === WIRE_LENGTH) return writeBytesLiteral(bytes)
  if (wireType === WIRE_VARINT) return String(readVarint(bytes))
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
  return `0x${digits.reverse().join('')}`
}

/** Checks that bytes can be read as a message. The reference uses its older reader here, which accepts longer varints. */
function isMessage(bytes: Uint8Array, depth: number): boolean {
  try {
    visitFields(bytes, 'tolerant', depth, () => {})
    return true
  } catch {
    return false
  }
}

function readVarint(bytes: Uint8Array): number | bigint {
  if (bytes.length < 5) return bytes.reduceRight((value, byte) => value * 128 + (byte & 0x7f), 0)
  return BigInt.asUintN(
    64,
    bytes.reduceRight((value, byte) => (value << 7n) | BigInt(byte & 0x7f), 0n),
  )
}
