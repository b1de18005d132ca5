/**
 * Fields of binary input that the schema does not know, taken apart and written again.
 * @module
 */
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { isUnknownFields } from '../check.js'
import { MAX_DEPTH, MetadataError } from '../errors.js'
import type { Unknown } from '../schema/messages.js'
import { WireReader } from './wire-reader.js'

/** One field that the schema does not know. */
export interface UnknownField {
  /** The number of the field. */
  readonly fieldNumber: number
  /** 0 varint, 1 of 64 bits, 2 length-delimited, 3 group, 5 of 32 bits. */
  readonly wireType: number
  /** A copy of the value: the bytes of a varint or number, the bytes that follow a length, or the content of a group. */
  readonly bytes: Uint8Array
}

/**
 * Returns the fields of one message that the schema does not know, in their original order. Enum values that the schema does
 * not know are among them, under the number of their field.
 * @throws {MetadataError} `invalid_value` or a code of binary input, if `_unknownFields` was changed and is no longer a
 * sequence of fields
 */
export function unknownFields(message: Unknown): UnknownField[] {
  const fields: UnknownField[] = []
  visitFields(encodeUnknownFields(message), 'exact', MAX_DEPTH, (fieldNumber, wireType, bytes) => {
    fields.push({ fieldNumber, wireType, bytes: Uint8Array.from(bytes) })
  })
  return fields
}

/**
 * Visits the fields of binary input without a schema.
 * @param varints - `tolerant`: tags and lengths may have up to 10 bytes, and only their low 32 bits count
 * @param depth - levels of groups that may nest
 * @param visit - receives a view of each value, not a copy
 * @throws {MetadataError} if the bytes are not a sequence of fields
 */
export function visitFields(
  bytes: Uint8Array,
  varints: 'exact' | 'tolerant',
  depth: number,
  visit: (fieldNumber: number, wireType: number, bytes: Uint8Array) => void,
): void {
  const reader = new WireReader(bytes, varints === 'exact' ? 5 : 10)
  while (reader.at < bytes.length) {
    const tag = reader.tag(bytes.length)
    visit(tag >>> 3, tag & 7, reader.value(tag, bytes.length, depth))
  }
}

/** Encodes the unknown fields of one message as they stand in binary. */
export function encodeUnknownFields({ _unknownFields: fields = {} }: Unknown): Uint8Array {
  if (!isUnknownFields(fields))
    throw new MetadataError('invalid_value', '_unknownFields should be lists of bytes by their tags')
  const writer = new BinaryWriter()
  for (const [tag, values] of Object.entries(fields)) for (const value of values) writer.uint32(Number(tag)).raw(value)
  return writer.finish()
}
