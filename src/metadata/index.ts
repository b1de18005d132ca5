/**
 * `grantwell/metadata`: records of third-party projects in binary, JSON and text format, with nothing lost.
 *
 * @example
 * import { editText, parseText } from 'grantwell/metadata'
 *
 * const { name, thirdParty } = parseText(text)
 * const next = editText(text, { 'third_party.version': '1.3.2' })
 * @module
 */

export type { DecodeOptions } from './binary/decode.js'
export type { EncodeOptions } from './binary/encode.js'
export { type UnknownField, unknownFields } from './binary/unknown-fields.js'
export { DateMessage, type MessageCodec, MetaData, Security, ThirdPartyMetaData, UrlMessage } from './codec.js'
export { dateFromISO, dateToISO, fromDate, toDate } from './date.js'
export {
  type Change,
  type EditFields,
  type EditMessage,
  type EditValue,
  type EnumNameValue,
  enumName,
  type NameOf,
} from './edit/change.js'
export { type EditTextOptions, editText } from './edit/edit.js'
export { MetadataError, type MetadataErrorCode, type MetadataErrorPlace } from './errors.js'
export { describeField, type FieldDescription, locateField, locateFields, type TextPlace } from './fields.js'
export {
  DirectoryType,
  LicenseType,
  Security_Category as SecurityCategory,
  URL_Type as UrlType,
} from './generated/metadata.js'
export type { FromJsonOptions } from './json/from-json.js'
export {
  type FormatJsonOptions,
  formatJson,
  type JsonObject,
  type JsonValue,
  type ToJsonOptions,
} from './json/to-json.js'
export { type FieldValue, type FieldValues, getField } from './path.js'
export { type ReadOptions, type ReadResult, readMetadata } from './read.js'
export type { EnumAliases } from './schema/aliases.js'
export type { Partly, Unknown, UnknownText } from './schema/messages.js'
export { type FormatTextOptions, formatText } from './text/format.js'
export { type ParseTextOptions, parseText } from './text/text.js'
export { type Problem, type ProblemCode, validate } from './validate.js'
