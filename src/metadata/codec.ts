/**
 * The codecs of the messages, one for each message of the schema.
 * @module
 */
import type { BinaryWriter } from '@bufbuild/protobuf/wire'
import type { DecodeOptions } from './binary/decode.js'
import { decodeMessage } from './binary/decode.js'
import type { EncodeOptions } from './binary/encode.js'
import { encodeMessage } from './binary/encode.js'
import { fieldPath, tooDeepError } from './check.js'
import { MAX_DEPTH, MetadataError, refuse } from './errors.js'
import * as generated from './generated/metadata.js'
import type { FromJsonOptions } from './json/from-json.js'
import { fromJson } from './json/from-json.js'
import { isIndexLike, makeSparse } from './json/sparse.js'
import type { JsonObject, ToJsonOptions } from './json/to-json.js'
import { toJson } from './json/to-json.js'
import { isBytes, isPlainObject } from './options.js'
import type {
  DateMessage as DateMessageFields,
  MetaData as MetaDataFields,
  Partly,
  Security as SecurityFields,
  ThirdPartyMetaData as ThirdPartyMetaDataFields,
  UrlMessage as UrlMessageFields,
} from './schema/messages.js'
import type { Message, MessageType } from './schema/schema.js'
import { DateSchema, MetaDataSchema, SecuritySchema, ThirdPartySchema, UrlSchema } from './schema/schema.js'

/** A codec, which makes, reads and writes messages of one type. */
export interface MessageCodec<T> {
  /**
   * Makes a message with copies of these fields. Other fields are unset, and other lists are empty.
   * @throws {MetadataError} `unknown_field` for a key that is not a field, `invalid_value` for a message that is not an object,
   * `too_deep` for unknown fields that no writer takes
   */
  create(base?: Partly<T>): T
  /**
   * Encodes a message in binary: the fields by number, then the unknown fields that it was decoded with, byte for byte and in their
   * order. Only the tag of the first unknown field may change: it is written in its shortest form.
   * @throws {MetadataError} `invalid_value`, with the path, for a value that its field does not permit; `unknown_field` if a field of
   * text without a number would be lost
   */
  encode(message: T, options?: EncodeOptions): Uint8Array
  /**
   * Decodes binary, and accepts and refuses the same input as the C++ reference (protobuf 3.21, `protoc --decode`). A message that
   * comes twice is merged. A known field of another wire type, or with a value that its enum does not have, becomes an unknown field.
   * One case differs: a string that is not UTF-8 is refused, because no JavaScript string can hold it. The result does not refer to
   * `bytes`.
   * @throws {MetadataError} with the offset: `truncated`, `invalid_varint`, `invalid_tag`, `invalid_length`,
   * `unexpected_end_group`, `too_deep` (more than 100), `invalid_utf8` or `too_large`
   */
  decode(bytes: Uint8Array, options?: DecodeOptions): T
  /**
   * Converts a message to the JSON mapping (ProtoJSON): keys in camel case, enums by name, without unset fields. Unknown fields of text
   * keep their names. Unknown fields of binary have no names and are left out.
   * @throws {MetadataError} `invalid_value`, with the path, also for a field that JSON cannot hold: see `unknownText`
   */
  toJSON(message: T, options?: ToJsonOptions): JsonObject
  /**
   * Converts from the JSON mapping: keys in camel case or as in the schema, enums by name or number, `null` for unset.
   * @param json - a value of `JSON.parse`
   * @throws {MetadataError} `invalid_value`, `unknown_field`, `unknown_enum_value` or `duplicate_field`, with the path
   */
  fromJSON(json: unknown, options?: FromJsonOptions): T
}

function createCodec<T extends object>(
  type: MessageType,
  generatedCodec: { encode(message: T, writer: BinaryWriter): BinaryWriter },
): MessageCodec<T> {
  // The tables know a message only as an object with string keys. A test compares the results with the generated code, so they are T.
  return {
    create: (base) => copyMessage(type, base ?? {}, '') as T,
    encode: (message, options) =>
      encodeMessage(type, message, (writer) => generatedCodec.encode(message, writer), options),
    decode: (bytes, options) => decodeMessage(type, bytes, options) as T,
    toJSON: (message, options) => toJson(type, message, options),
    fromJSON: (json, options) => fromJson(type, json, options) as T,
  }
}

function copyMessage(type: MessageType, base: unknown, path: string): Message {
  if (!isPlainObject(base)) return refuse(path, 'a message', base)
  const message = type.create()
  for (const [key, value] of Object.entries(base)) {
    const field = type.byKey.get(key)
    if (value === undefined) continue
    if (field === undefined) {
      if (key !== '_unknownFields' && key !== '_unknownText') {
        const unknownPath = fieldPath(path, { name: key })
        throw new MetadataError('unknown_field', `${type.name} has no field ${unknownPath}`, { path: unknownPath })
      }
      message[key] = copyUnknown(value, new Map(), fieldPath(path, { name: key }), MAX_LEVELS)
    } else if (Array.isArray(value))
      message[key] = value.map((item, index) =>
        field.kind === 'message' ? copyMessage(field.type, item, fieldPath(path, field, index)) : item,
      )
    else message[key] = field.kind === 'message' ? copyMessage(field.type, value, fieldPath(path, field)) : value
  }
  return message
}

/** The deepest nesting of unknown fields: each message is an object in a list, and the values in the last one are objects too. */
const MAX_LEVELS = 2 * (MAX_DEPTH + 2)

/**
 * Copies unknown fields, whatever a program put into them. `structuredClone` would copy a shared name for each of its values, and
 * the whole buffer of each bytes value: its time would grow with the square of the input.
 * @param copies - the copies of the objects that were met before
 * @param levels - levels of lists and objects that may nest in it
 * @throws {MetadataError} `too_deep`
 */
function copyUnknown(value: unknown, copies: Map<object, unknown>, path: string, levels: number): unknown {
  if (typeof value !== 'object' || value === null) {
    // `structuredClone` throws the right error for a value that cannot be copied.
    return typeof value === 'function' || typeof value === 'symbol' ? structuredClone(value) : value
  }
  const known = copies.get(value)
  if (known !== undefined) return known
  if (levels === 0) throw tooDeepError(path)
  if (isBytes(value)) {
    const bytes = new Uint8Array(value)
    copies.set(value, bytes)
    return bytes
  }
  if (Array.isArray(value)) {
    const list: unknown[] = []
    copies.set(value, list)
    for (const item of value) list.push(copyUnknown(item, copies, path, levels - 1))
    return list
  }
  if (!isPlainObject(value)) return structuredClone(value)
  const entries = Object.entries(value)
  // If there are keys that are numbers, they come first.
  const object = isIndexLike(entries[0]?.[0] ?? '') ? makeSparse({}) : {}
  copies.set(value, object)
  for (const [key, inner] of entries) {
    const copied = copyUnknown(inner, copies, path, levels - 1)
    // An assignment would set the prototype for the key `__proto__`.
    Object.defineProperty(object, key, { value: copied, enumerable: true, configurable: true, writable: true })
  }
  return object
}

/** The record of a third-party project. */
export const MetaData: MessageCodec<MetaDataFields> = createCodec(MetaDataSchema, generated.MetaData)
/** The origin of the project, the version that is here, and its terms. */
export const ThirdPartyMetaData: MessageCodec<ThirdPartyMetaDataFields> = createCodec(
  ThirdPartySchema,
  generated.ThirdPartyMetaData,
)
/** One place where the project is found: `URL` in the schema. */
export const UrlMessage: MessageCodec<UrlMessageFields> = createCodec(UrlSchema, generated.URL)
/** A day: `Date` in the schema. */
export const DateMessage: MessageCodec<DateMessageFields> = createCodec(DateSchema, generated.DateMessage)
/** The trust that the project's code deserves. */
export const Security: MessageCodec<SecurityFields> = createCodec(SecuritySchema, generated.Security)

/** The record of a third-party project (specification, MetaData). */
export type MetaData = MetaDataFields
/** The origin of the project, the version that is here, and its terms (specification, ThirdPartyMetaData). */
export type ThirdPartyMetaData = ThirdPartyMetaDataFields
/** One place where the project is found (specification, URL). */
export type UrlMessage = UrlMessageFields
/** A day (specification, Date). */
export type DateMessage = DateMessageFields
/** The trust that the project's code deserves (specification, Security). */
export type Security = SecurityFields
