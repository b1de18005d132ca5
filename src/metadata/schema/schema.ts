/**
 * The schema as the codec reads it: `proto/metadata.proto` in the form of tables. A test compares them with the descriptor
 * that a compiler makes of that file.
 * @module
 */
import * as generated from '../generated/metadata.js'

/** A message as the tables know it: values by the names that ts-proto gives them. */
export type Message = { [key: string]: unknown }

interface FieldOf<Kind> {
  readonly kind: Kind
  readonly number: number
  /** The name in text format and in the paths of errors. */
  readonly name: string
  /** The name in TypeScript and in JSON. */
  readonly key: string
  readonly repeated: boolean
}

export type ScalarField = FieldOf<'string' | 'int32'>
export interface EnumField extends FieldOf<'enum'> {
  readonly enum: EnumType
}
export interface MessageField extends FieldOf<'message'> {
  readonly type: MessageType
}
export type Field = ScalarField | EnumField | MessageField

export interface EnumType {
  /** The name in `enumAliases` and in error messages. */
  readonly name: EnumName
  readonly numbers: ReadonlyMap<string, number>
  /** Names by number. A number without a name is a hole. */
  readonly names: readonly (string | undefined)[]
}

export interface MessageType {
  readonly name: string
  /** The fields by ascending number, which is the order in which they are written. */
  readonly fields: readonly Field[]
  /** Fields by tag (number and wire type together). A tag without a field is a hole. */
  readonly byTag: readonly (Field | undefined)[]
  readonly byName: ReadonlyMap<string, Field>
  readonly byKey: ReadonlyMap<string, Field>
  /** Makes an empty message, by a literal: then all messages of a type have one shape in V8, and are fast to fill. */
  readonly create: () => Message
}

export type EnumName = 'LicenseType' | 'DirectoryType' | 'URL.Type' | 'Security.Category'

export const WIRE_VARINT = 0
export const WIRE_FIXED64 = 1
export const WIRE_LENGTH = 2
export const WIRE_START_GROUP = 3
export const WIRE_END_GROUP = 4
export const WIRE_FIXED32 = 5

function enumType(name: EnumName, values: { readonly [name: string]: number }): EnumType {
  const names: (string | undefined)[] = []
  for (const [valueName, number] of Object.entries(values)) names[number] = valueName
  return { name, names, numbers: new Map(Object.entries(values)) }
}

export const UrlTypeEnum: EnumType = enumType('URL.Type', generated.URL_Type)
const CategoryEnum = enumType('Security.Category', generated.Security_Category)
const LicenseTypeEnum = enumType('LicenseType', generated.LicenseType)
export const DirectoryTypeEnum: EnumType = enumType('DirectoryType', generated.DirectoryType)

export const ENUMS: readonly EnumType[] = [UrlTypeEnum, CategoryEnum, LicenseTypeEnum, DirectoryTypeEnum]

function messageType(name: string, create: () => Message, fields: readonly Field[]): MessageType {
  const byTag: (Field | undefined)[] = []
  for (const field of fields) {
    const wireType = field.kind === 'string' || field.kind === 'message' ? WIRE_LENGTH : WIRE_VARINT
    byTag[field.number * 8 + wireType] = field
  }
  return {
    name,
    fields,
    byTag,
    byName: new Map(fields.map((field) => [field.name, field])),
    byKey: new Map(fields.map((field) => [field.key, field])),
    create,
  }
}

function scalar(kind: ScalarField['kind'], number: number, name: string, repeated = false): ScalarField {
  return { kind, number, name, key: makeKey(name), repeated }
}

function enumeration(number: number, name: string, type: EnumType): EnumField {
  return { kind: 'enum', number, name, key: makeKey(name), repeated: false, enum: type }
}

function nested(number: number, name: string, type: MessageType, repeated = false): MessageField {
  return { kind: 'message', number, name, key: makeKey(name), repeated, type }
}

function makeKey(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export const UrlSchema: MessageType = messageType('URL', () => ({ type: undefined, value: undefined }), [
  enumeration(1, 'type', UrlTypeEnum),
  scalar('string', 2, 'value'),
])

export const DateSchema: MessageType = messageType(
  'Date',
  () => ({ year: undefined, month: undefined, day: undefined }),
  [scalar('int32', 1, 'year'), scalar('int32', 2, 'month'), scalar('int32', 3, 'day')],
)

export const SecuritySchema: MessageType = messageType(
  'Security',
  () => ({ category: undefined, note: undefined, tag: [], mitigatedSecurityPatch: [] }),
  [
    enumeration(1, 'category', CategoryEnum),
    scalar('string', 2, 'note'),
    scalar('string', 3, 'tag', true),
    scalar('string', 5, 'mitigated_security_patch', true),
  ],
)

export const ThirdPartySchema: MessageType = messageType(
  'ThirdPartyMetaData',
  () => ({
    url: [],
    version: undefined,
    licenseType: undefined,
    licenseNote: undefined,
    localModifications: undefined,
    security: undefined,
    lastUpgradeDate: undefined,
    type: undefined,
  }),
  [
    nested(1, 'url', UrlSchema, true),
    scalar('string', 2, 'version'),
    enumeration(4, 'license_type', LicenseTypeEnum),
    scalar('string', 5, 'license_note'),
    scalar('string', 6, 'local_modifications'),
    nested(7, 'security', SecuritySchema),
    nested(10, 'last_upgrade_date', DateSchema),
    enumeration(11, 'type', DirectoryTypeEnum),
  ],
)

export const MetaDataSchema: MessageType = messageType(
  'MetaData',
  () => ({ name: undefined, description: undefined, thirdParty: undefined }),
  [scalar('string', 1, 'name'), scalar('string', 3, 'description'), nested(13, 'third_party', ThirdPartySchema)],
)
