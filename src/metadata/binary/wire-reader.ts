/**
 * Reads the wire format of protocol buffers: tags, varints, lengths, and the values of fields that no schema describes
 * (protocol buffers, encoding).
 * @module
 */
import type { MetadataErrorCode } from '../errors.js'
import { MAX_DEPTH, MetadataError } from '../errors.js'
import {
  WIRE_END_GROUP,
  WIRE_FIXED32,
  WIRE_FIXED64,
  WIRE_LENGTH,
  WIRE_START_GROUP,
  WIRE_VARINT,
} from '../schema/schema.js'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A position in binary input. Every `end` is the offset at which the message that is being read ends. */
export class WireReader {
  at = 0

  /** @param maxVarintBytes - the most bytes that a tag or a length may have */
  constructor(
    private readonly bytes: Uint8Array,
    private readonly maxVarintBytes: 5 | 10 = 5,
  ) {}

  /** Reads a tag: the field number times 8, plus the wire type. */
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

  /** Returns the low 32 bits of a varint, or undefined if the varint is too long. */
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

  /** Reads a varint of up to 64 bits. Returns its low 32 bits as a signed number, as the reference does. */
  int32(end: number): number {
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

  /** Reads a length. @returns the offset at which the value of this length ends */
  length(end: number): number {
    const start = this.at
    let length = this.bytes[start] ?? 0
    if (start < end && length < 0x80) this.at++
    else {
      length =
        this.varint32(end) ?? this.fail('invalid_length', start, `a length of more than ${this.maxVarintBytes} bytes`)
      // The bits of a tag beyond 32 are dropped. A length must not have any.
      const top = this.at === start + 5 ? (this.bytes[start + 4] ?? 0) : 0
      if (this.maxVarintBytes === 5 && top > 0x0f) this.fail('invalid_length', start, 'a length of more than 32 bits')
    }
    if (length > end - this.at)
      this.fail('invalid_length', start, `a length of ${length} where ${end - this.at} bytes are left in the message`)
    return this.at + length
  }

  /** Reads a length, and a string of that many bytes. */
  string(end: number): string {
    const start = this.at
    const textEnd = this.length(end)
    const textStart = this.at
    this.at = textEnd
    // Most strings are short ASCII, for which this loop is faster than a call of the decoder.
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

  /** Returns a view of the value of a field, without its length and without the end tag of a group. */
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

  /**
   * Skips the value of a field.
   * @param depth - levels of groups that may nest in it
   * @returns the offset at which the value ends; for a group, the offset of its end tag
   */
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

  private fail(code: MetadataErrorCode, offset: number, what: string): never {
    throw new MetadataError(code, `${what}, at byte ${offset}`, { offset })
  }
}
