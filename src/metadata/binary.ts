/**
 * The binary form (protocol buffers, encoding): decoding that gives the verdicts of the C++ reference, and encoding.
 * @module
 */
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { checkMessage, isUnknownFields } from './check.js'
import type { MetadataErrorCode } from './errors.js'
import { checkSize, MAX_DEPTH, MetadataError } from './errors.js'
import { makeSparse } from './json/sparse.js'
import { checkInput, checkOptions } from './options.js'
import type { Unknown } from './schema/messages.js'
import type { Field, Message, MessageType } from './schema/schema.js'
import {
  WIRE_END_GROUP,
  WIRE_FIXED32,
  WIRE_FIXED64,
  WIRE_LENGTH,
  WIRE_START_GROUP,
  WIRE_VARINT,
} from './schema/schema.js'

/** What `decode` may be told. */
export interface DecodeOptions {
  /** Input longer than this is refused, in bytes; 4 MiB by default. */
  readonly maxBytes?: number
}

/** What `encode` may be told. */
export interface EncodeOptions {
  /** What becomes of fields that came from text or JSON and that the schema has no number for; `refuse` by default. */
  readonly unknownText?: 'refuse' | 'omit'
}

/** One field that the schema does not know. */
export interface UnknownField {
  readonly fieldNumber: number
  /** 0 varint, 1 of 64 bits, 2 length-delimited, 3 group, 5 of 32 bits. */
  readonly wireType: number
  /** The value, a copy: a varint or a number as it stands, what a length is the length of, what is inside a group. */
  readonly bytes: Uint8Array
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function decodeMessage(type: MessageType, bytes: Uint8Array, options?: DecodeOptions): Message {
  checkInput(bytes, 'bytes')
  const { maxBytes } = checkOptions(options, { maxBytes: 'number' })
  checkSize(bytes.length, maxBytes)
  const input = new WireReader(bytes)
  const message = type.create()
  input.message(type, message, bytes.length, MAX_DEPTH)
  input.attachUnknownFields()
  return message
}

/** @param write - what ts-proto generated for this type */
export function encodeMessage(
  type: MessageType,
  message: object,
  write: (writer: BinaryWriter) => BinaryWriter,
  options: EncodeOptions | undefined,
): Uint8Array {
  const { unknownText } = checkOptions(options, { unknownText: ['refuse', 'omit'] })
  checkMessage(type, message, unknownText ?? 'refuse')
  return write(new BinaryWriter()).finish()
}

/**
 * The fields of one message that the schema does not know, in the order in which they came. Values of enums that the schema
 * does not know are among them, by the number of their field.
 * @throws {MetadataError} when `_unknownFields` was changed into what is no sequence of fields
 */
export function unknownFields(message: Unknown): UnknownField[] {
  const fields: UnknownField[] = []
  visitFields(encodeUnknownFields(message), 'exact', MAX_DEPTH, (fieldNumber, wireType, bytes) => {
    fields.push({ fieldNumber, wireType, bytes: Uint8Array.from(bytes) })
  })
  return fields
}

/**
 * The fields of bytes of which no schema tells what they are.
 * @param varints - `tolerant`: tags and lengths may have up to 10 bytes, of which the low 32 bits count
 * @param depth - how deep groups may nest
 * @param visit - is given a view of the value of each
 * @throws {MetadataError} when they are no sequence of fields
 */
export function visitFields(
  bytes: Uint8Array,
  varints: 'exact' | 'tolerant',
  depth: number,
  visit: (fieldNumber: number, wireType: number, bytes: Uint8Array) => void,
): void {
  const input = new WireReader(bytes, varints === 'exact' ? 5 : 10)
  while (input.at < bytes.length) {
    const tag = input.tag(bytes.length)
    visit(tag >>> 3, tag & 7, input.value(tag, bytes.length, depth))
  }
}

/** The unknown fields of one message as they stand in binary. */
export function encodeUnknownFields({ _unknownFields: fields = {} }: Unknown): Uint8Array {
  if (!isUnknownFields(fields))
    throw new MetadataError('invalid_value', '_unknownFields should be lists of bytes by their tags')
  const writer = new BinaryWriter()
  for (const [tag, values] of Object.entries(fields)) for (const value of values) writer.uint32(Number(tag)).raw(value)
  return writer.finish()
}

function makeUnknownFields(tag: number, run: Uint8Array): { [tag: number]: Uint8Array[] } {
  const fields = makeSparse<Uint8Array[]>({})
  fields[tag] = [run]
  return fields
}

/** A place in binary input, and the unknown fields that were passed. */
class WireReader {
  at = 0
  /** Start and end of each stretch of unknown fields, by the message that they are of. */
  private unknown: Map<Message, number[]> | undefined

  /** @param maxVarintBytes - bytes of a tag or a length */
  constructor(
    private readonly bytes: Uint8Array,
    private readonly maxVarintBytes: 5 | 10 = 5,
  ) {}

  /** Reads fields up to `end` into a message, which may hold some already: what comes twice is merged. */
  message(type: MessageType, message: Message, end: number, depth: number): void {
    while (this.at < end) {
      const start = this.at
      const tag = this.tag(end)
      const field = type.byTag[tag]
      if (field === undefined) {
        this.skip(tag, end, depth)
        this.noteUnknown(message, start)
      } else if (!this.field(field, message, end, depth)) this.noteUnknown(message, start)
    }
  }

  /** @returns false when the value is of an enum that does not have it: it belongs among the unknown fields */
  private field(field: Field, message: Message, end: number, depth: number): boolean {
    switch (field.kind) {
      case 'string': {
        const text = this.string(end)
        if (field.repeated) (message[field.key] as string[]).push(text)
        else message[field.key] = text
        return true
      }
      case 'int32':
        message[field.key] = this.int32(end)
        return true
      case 'enum': {
        const number = this.int32(end)
        if (field.enum.names[number] === undefined) return false
        message[field.key] = number
        return true
      }
      case 'message': {
        const innerEnd = this.length(end)
        let inner = field.repeated ? undefined : (message[field.key] as Message | undefined)
        if (inner === undefined) {
          inner = field.type.create()
          if (field.repeated) (message[field.key] as Message[]).push(inner)
          else message[field.key] = inner
        }
        this.message(field.type, inner, innerEnd, depth - 1)
        return true
      }
    }
  }

  tag(end: number): number {
    const start = this.at
    let tag = this.bytes[start] ?? 0
    if (start < end && tag < 0x80) this.at++
    else tag = this.longTag(start, end)
    if (tag >>> 3 === 0) this.fail('invalid_tag', start, 'there is no field 0')
    return tag
  }

  private longTag(start: number, end: number): number {
    return this.varint32(end) ?? this.fail('invalid_tag', start, `a tag of more than ${this.maxVarintBytes} bytes`)
  }

  /** The low 32 bits of a varint; undefined when it is too long. */
  private varint32(end: number): number | undefined {
    let value = 0
    for (let shift = 0; shift < this.maxVarintBytes * 7; shift += 7) {
      const byte = this.nextByte(end)
      if (shift < 32) value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    return undefined
  }

  private nextByte(end: number): number {
    if (this.at >= end)
      this.fail('truncated', this.at, 'the input, or the message that holds this field, ends within a field')
    return this.bytes[this.at++] ?? 0
  }

  /** Any varint of up to 64 bits; its low 32 as a signed number, which is what the reference makes of longer ones. */
  private int32(end: number): number {
    const first = this.bytes[this.at] ?? 0
    if (this.at < end && first < 0x80) {
      this.at++
      return first
    }
    const start = this.at
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.nextByte(end)
      if (shift < 32) value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    return this.fail('invalid_varint', start, 'a varint of more than 10 bytes')
  }

  /** Reads a length. @returns where what it is the length of ends */
  private length(end: number): number {
    const start = this.at
    let length = this.bytes[start] ?? 0
    if (start < end && length < 0x80) this.at++
    else {
      length =
        this.varint32(end) ?? this.fail('invalid_length', start, `a length of more than ${this.maxVarintBytes} bytes`)
      // A tag may have bits beyond 32, which are dropped; a length may not.
      const top = this.at === start + 5 ? (this.bytes[start + 4] ?? 0) : 0
      if (this.maxVarintBytes === 5 && top > 0x0f) this.fail('invalid_length', start, 'a length of more than 32 bits')
    }
    if (length > end - this.at)
      this.fail('invalid_length', start, `a length of ${length} where ${end - this.at} bytes are left in the message`)
    return this.at + length
  }

  private string(end: number): string {
    const start = this.at
    const textEnd = this.length(end)
    const textStart = this.at
    this.at = textEnd
    // Short and ASCII is the usual case, and a call of the decoder costs more than some dozen characters do.
    if (textEnd - textStart <= 32) {
      let text = ''
      let at = textStart
      for (; at < textEnd; at++) {
        const byte = this.bytes[at] ?? 0
        if (byte >= 0x80) break
        text += String.fromCharCode(byte)
      }
      if (at === textEnd) return text
    }
    try {
      return utf8.decode(this.bytes.subarray(textStart, textEnd))
    } catch {
      return this.fail('invalid_utf8', start, 'a string that is not UTF-8')
    }
  }

  /** A view of the value of a field. */
  value(tag: number, end: number, depth: number): Uint8Array {
    if ((tag & 7) === WIRE_LENGTH) {
      const valueEnd = this.length(end)
      const value = this.bytes.subarray(this.at, valueEnd)
      this.at = valueEnd
      return value
    }
    const start = this.at
    const valueEnd = this.skip(tag, end, depth)
    return this.bytes.subarray(start, valueEnd)
  }

  /** Passes over the value of a field. @returns where it ends, which for a group is before its end tag */
  skip(tag: number, end: number, depth: number): number {
    const start = this.at
    switch (tag & 7) {
      case WIRE_VARINT:
        this.int32(end)
        return this.at
      case WIRE_FIXED64:
        return this.skipBytes(8, end)
      case WIRE_LENGTH:
        this.at = this.length(end)
        return this.at
      case WIRE_START_GROUP:
        if (depth === 0) this.fail('too_deep', start, `groups nested more than ${MAX_DEPTH} deep`)
        for (;;) {
          const innerStart = this.at
          if (innerStart >= end) this.fail('truncated', innerStart, `no end of the group ${tag >>> 3}`)
          const inner = this.tag(end)
          if (inner === tag + 1) return innerStart
          this.skip(inner, end, depth - 1)
        }
      case WIRE_END_GROUP:
        return this.fail('unexpected_end_group', start, `the end of a group ${tag >>> 3} that was not open`)
      case WIRE_FIXED32:
        return this.skipBytes(4, end)
      default:
        return this.fail('invalid_tag', start, `there is no wire type ${tag & 7}`)
    }
  }

  private skipBytes(count: number, end: number): number {
    if (count > end - this.at)
      this.fail('truncated', end, 'the input, or the message that holds this field, ends within a field')
    this.at += count
    return this.at
  }

  /** Notes what was passed since `start` as unknown. */
  private noteUnknown(message: Message, start: number): void {
    this.unknown ??= new Map()
    const stretches = this.unknown.get(message)
    if (stretches === undefined) this.unknown.set(message, [start, this.at])
    else if (stretches[stretches.length - 1] === start) stretches[stretches.length - 1] = this.at
    else stretches.push(start, this.at)
  }

  /** Done once, at the end, so that a message that comes in a thousand parts is not copied a thousand times. */
  attachUnknownFields(): void {
    if (this.unknown === undefined) return
    // One copy of them all, of which each message has a view: a thousand small buffers would cost far more.
    let size = 0
    for (const stretches of this.unknown.values())
      for (let i = 0; i < stretches.length; i += 2) size += (stretches[i + 1] ?? 0) - (stretches[i] ?? 0)
    const copy = new Uint8Array(size)
    let filled = 0
    for (const [message, stretches] of this.unknown) {
      this.at = stretches[0] ?? 0
      const tag = this.tag(this.bytes.length)
      stretches[0] = this.at
      const start = filled
      for (let i = 0; i < stretches.length; i += 2) {
        copy.set(this.bytes.subarray(stretches[i], stretches[i + 1]), filled)
        filled += (stretches[i + 1] ?? 0) - (stretches[i] ?? 0)
      }
      message['_unknownFields'] = makeUnknownFields(tag, copy.subarray(start, filled))
    }
  }

  private fail(code: MetadataErrorCode, offset: number, what: string): never {
    throw new MetadataError(code, `${what}, at byte ${offset}`, { offset })
  }
}
