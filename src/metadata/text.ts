/**
 * Text format, which is how these records live in source trees: reading it into messages, and the canonical form of the
 * reference (text format language specification).
 * @module
 */
import { type EnumAliases, type EnumNames, enumNames } from './aliases.js'
import { eachField, MAX_DEPTH, unknownBytes } from './binary.js'
import { checkMessage } from './check.js'
import { checkSize, MetadataError } from './errors.js'
import { bytesLiteral, CANONICAL, int32Of, type LiteralStyle, literalOf, stringOf } from './literals.js'
import type { MetaData, Unknown, UnknownText } from './messages.js'
import { checkInput, checkOptions, READING } from './options.js'
import {
  type EnumField,
  type Field,
  type Message,
  type MessageType,
  MetaDataSchema,
  WIRE_LENGTH,
  WIRE_START_GROUP,
  WIRE_VARINT,
} from './schema.js'
import { type FieldNode, type ItemNode, parseSyntax, piecesOf, textError } from './syntax.js'
import { checkName, scalarOf, unknownTextOf } from './unknown-text.js'

/** What `parseText` may be told. */
export interface ParseTextOptions {
  /** Refuse names of fields and values of enums that the schema does not know, as the reference does. By default they are kept. */
  readonly strict?: boolean
  /** Other names for values of enums. */
  readonly enumAliases?: EnumAliases
  /**
   * What becomes of a field that is not repeated and comes twice: `refuse` it, as the reference does by default, or take the
   * `last`, messages merged, as it does when told to merge.
   */
  readonly duplicates?: 'refuse' | 'last'
  /** Input longer than this is refused: bytes, or UTF-16 units of a string; 4 MiB by default. */
  readonly maxBytes?: number
}

/** What `formatText` may be told. */
export interface FormatTextOptions {
  /** Write what is not ASCII as it is, and not as octal escapes of its bytes, which is what the reference writes by default. */
  readonly utf8?: boolean
  /** Names to write for values of enums. */
  readonly enumAliases?: EnumAliases
  /**
   * Unknown fields that came from binary: by `number`, as the reference prints them (no reader of text format takes that
   * back), or `omit`.
   */
  readonly unknownFields?: 'number' | 'omit'
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
export function parseText(input: string | Uint8Array, options: ParseTextOptions = {}): MetaData {
  const own = checkOptions(options, READING)
  const text = textOf(input, own.maxBytes)
  const reader = new Reader(text, own)
  const message = MetaDataSchema.create()
  reader.message(MetaDataSchema, message, parseSyntax(text, own.maxBytes))
  reader.attachUnknownNames()
  // The schema is of this very type.
  return message as unknown as MetaData
}

/** @throws {MetadataError} `invalid_utf8` with the place of the first byte that is wrong, or `too_large` */
export function textOf(input: string | Uint8Array, maxBytes?: number): string {
  checkInput(input, 'bytes or text')
  checkSize(input.length, maxBytes)
  if (typeof input === 'string') return input
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

class Reader {
  private readonly names: EnumNames
  private readonly strict: boolean
  private readonly lastWins: boolean
  /** Values that their enums do not have, by message and field: the last of each, where the last wins. */
  private readonly unknownNames = new Map<Message, Map<EnumField, UnknownText[]>>()

  constructor(
    private readonly text: string,
    options: ParseTextOptions,
  ) {
    this.names = enumNames(options.enumAliases)
    this.strict = options.strict ?? false
    this.lastWins = options.duplicates === 'last'
  }

  message(type: MessageType, message: Message, fields: readonly FieldNode[]): void {
    for (const node of fields) {
      const field = type.byName.get(node.name)
      if (field !== undefined) this.field(field, message, node)
      else if (this.strict)
        throw textError('unknown_field', `${type.name} has no field ${node.name}`, this.text, node.start)
      else for (const entry of unknownTextOf(node, this.text)) keep(message, entry)
    }
  }

  private field(field: Field, message: Message, node: FieldNode): void {
    const { value } = node
    if (field.repeated) {
      if (field.kind !== 'message' && node.colon < 0) this.expected('":"', value)
      const items = value.kind === 'list' ? value.items : [value]
      const values = message[field.key] as unknown[]
      for (const item of items) {
        if (field.kind !== 'message') values.push(this.scalar(field, item))
        else {
          if (item.kind !== 'message') this.expected('"{"', item)
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
    if (value.kind === 'list') this.expected(EXPECTED[field.kind], value)
    else if (field.kind !== 'message') {
      const scalar = this.scalar(field, value)
      message[field.key] = scalar
      if (field.kind === 'enum') this.noteName(field, message, scalar === undefined ? node : undefined)
    } else if (value.kind !== 'message') this.expected('"{"', value)
    else {
      const inner = (message[field.key] as Message | undefined) ?? field.type.create()
      message[field.key] = inner
      this.message(field.type, inner, value.fields)
    }
  }

  /** @returns undefined for a value that the enum does not have */
  private scalar(field: Exclude<Field, { kind: 'message' }>, node: ItemNode): string | number | undefined {
    switch (field.kind) {
      case 'string': {
        if (node.kind !== 'string') return this.expected('a string', node)
        if (!node.escaped && node.pieces.length === 2) return this.text.slice(node.start + 1, node.end - 1)
        const pieces = piecesOf(node, this.text)
        const value = node.escaped ? stringOf(pieces) : pieces.join('')
        if (value === undefined)
          throw textError('invalid_utf8', 'a string whose bytes are not UTF-8', this.text, node.start)
        return value
      }
      case 'int32':
        return node.kind === 'integer' ? this.int32(node) : this.expected('an integer', node)
      case 'enum':
        return this.enumValue(field, node)
    }
  }

  /** @param node - of a value that the enum does not have; undefined for one that it has */
  private noteName(field: EnumField, message: Message, node: FieldNode | undefined): void {
    let names = this.unknownNames.get(message)
    if (node === undefined) names?.delete(field)
    else {
      if (names === undefined) {
        names = new Map()
        this.unknownNames.set(message, names)
      }
      names.set(field, unknownTextOf(node, this.text))
    }
  }

  attachUnknownNames(): void {
    for (const [message, names] of this.unknownNames)
      for (const entries of names.values()) for (const entry of entries) keep(message, entry)
  }

  private int32(node: ItemNode): number {
    const source = this.text.slice(node.start, node.end)
    const value = int32Of(source)
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
    else this.expected(`a value of ${field.enum.name}`, node)
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

  private expected(expected: string, node: { readonly start: number; readonly end: number }): never {
    const [found = ''] = /^[^\n]{0,40}/.exec(this.text.slice(node.start, node.end)) ?? []
    throw textError('syntax', `expected ${expected}, found ${found}`, this.text, node.start, { expected })
  }
}

const EXPECTED: { readonly [kind in Field['kind']]: string } = {
  string: 'a string',
  int32: 'an integer',
  enum: 'a name',
  message: '"{"',
}

function keep(message: Unknown & Message, entry: UnknownText): void {
  if (message._unknownText === undefined) message._unknownText = [entry]
  else message._unknownText.push(entry)
}

/**
 * Writes a record in the canonical form of the reference: fields by number, two blanks of indentation, `name {` without a
 * colon, a newline at the end. Fields that text had and the schema does not know come after those that it knows.
 * @throws {MetadataError} `invalid_value`, with the path, when a field holds what its type does not permit; `too_large` when
 * the text would be longer than a string can be
 */
export function formatText(message: MetaData, options: FormatTextOptions = {}): string {
  const own = checkOptions(options, { utf8: 'boolean', enumAliases: 'object', unknownFields: ['number', 'omit'] })
  checkMessage(MetaDataSchema, message, 'omit')
  try {
    // Checked just above.
    return new Printer(own).message(MetaDataSchema, message as unknown as Message, '', '')
  } catch (error) {
    // Megabytes of deep nesting, each level of it indented, may be more than a string can hold.
    if (error instanceof RangeError) throw new MetadataError('too_large', 'more text than a string can hold')
    throw error
  }
}

class Printer {
  private readonly names: EnumNames
  private readonly style: LiteralStyle
  private readonly byNumber: boolean

  constructor(options: FormatTextOptions) {
    this.names = enumNames(options.enumAliases)
    this.style = { ...CANONICAL, utf8: options.utf8 ?? false }
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
      text += printUnknownFields(unknownBytes(message), indent, UNKNOWN_DEPTH, 'exact')
    return text
  }

  private field(field: Field, value: unknown, indent: string, path: string): string {
    const start = indent + field.name
    switch (field.kind) {
      case 'string':
        return `${start}: ${literalOf(String(value), this.style)}\n`
      case 'int32':
        return `${start}: ${value}\n`
      case 'enum':
        return `${start}: ${this.names.nameOf(field.enum, Number(value))}\n`
      case 'message': {
        const inner = this.message(field.type, value as Message, `${indent}  `, `${path}${field.name}.`)
        return `${start} {\n${inner}${indent}}\n`
      }
    }
  }

  private unknownText(entry: UnknownText, indent: string, path: string): string {
    if (entry.fields === undefined) {
      const scalar = scalarOf(entry, path)
      let written = entry.text
      if (scalar.kind === 'string')
        written = scalar.value === undefined ? bytesLiteral(scalar.bytes) : literalOf(scalar.value, this.style)
      return `${indent}${entry.name}: ${written}\n`
    }
    checkName(entry, path)
    let text = `${indent}${entry.name} {\n`
    for (const inner of entry.fields) text += this.unknownText(inner, `${indent}  `, `${path}${entry.name}.`)
    return `${text}${indent}}\n`
  }
}

/** How deep the reference looks for messages in unknown bytes that it prints. */
const UNKNOWN_DEPTH = 10

/** Unknown fields by number, as the reference prints them: bytes that can be read as a message as one. */
function printUnknownFields(fields: Uint8Array, indent: string, depth: number, varints: 'exact' | 'tolerant'): string {
  let text = ''
  const block = (inner: Uint8Array): string =>
    ` {\n${printUnknownFields(inner, `${indent}  `, depth - 1, 'tolerant')}${indent}}\n`
  eachField(fields, varints, MAX_DEPTH, (fieldNumber, wireType, bytes) => {
    text += indent + fieldNumber
    switch (wireType) {
      case WIRE_LENGTH:
        text += bytes.length > 0 && depth > 0 && isMessage(bytes, depth) ? block(bytes) : `: ${bytesLiteral(bytes)}\n`
        break
      case WIRE_START_GROUP:
        text += block(bytes)
        break
      case WIRE_VARINT:
        text += `: ${varintOf(bytes)}\n`
        break
      default: {
        const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
        text += `: 0x${digits.reverse().join('')}\n`
      }
    }
  })
  return text
}

/** The reference tries its older reader here, which is more tolerant of long varints. */
function isMessage(bytes: Uint8Array, depth: number): boolean {
  try {
    eachField(bytes, 'tolerant', depth, () => {})
    return true
  } catch {
    return false
  }
}

function varintOf(bytes: Uint8Array): number | bigint {
  if (bytes.length < 5) return bytes.reduceRight((value, byte) => value * 128 + (byte & 0x7f), 0)
  return BigInt.asUintN(
    64,
    bytes.reduceRight((value, byte) => (value << 7n) | BigInt(byte & 0x7f), 0n),
  )
}
