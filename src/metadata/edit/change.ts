/**
 * The types of a change: values by path.
 * @module
 */
import { MetadataError } from '../errors.js'
import type { DirectoryType, LicenseType, Security_Category } from '../generated/metadata.js'
import { ENUM_VALUE_NAME } from '../schema/aliases.js'
import type { DateMessage, Security, ThirdPartyMetaData, UrlMessage } from '../schema/messages.js'

export const BARE_NAME: unique symbol = Symbol.for('grantwell.metadata.enumName')

/** A value that is written without quotes, for an enum that the schema does not know. */
export interface EnumNameValue {
  readonly [BARE_NAME]: string
}

/**
 * Marks a string as the name of an enum value, for a field that the schema does not know. A plain string would be written in quotes.
 * @throws {MetadataError} `invalid_value` if it is not a name
 */
export function enumName(name: string): EnumNameValue {
  if (!ENUM_VALUE_NAME.test(name))
    throw new MetadataError('invalid_value', `${JSON.stringify(name)} is no name of an enum's value`)
  return { [BARE_NAME]: name }
}

/**
 * A value to set. A message is given by the names of its fields, or as a message of this package. `null` removes a field. A field
 * that is not named, or that is `undefined`, stays.
 */
export type EditValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | EnumNameValue
  | readonly EditValue[]
  | EditFields
  | EditMessage
/** Messages of this package that can be set. */
export type EditMessage = DateMessage | UrlMessage | Security | ThirdPartyMetaData
/** Fields to set in a message. */
export interface EditFields {
  readonly [name: string]: EditValue | undefined
}

type Text = string | null | undefined
/** The names of an enum, which an editor can list, and any other string, because aliases may be given. */
type NameOf<Enum> = keyof Enum | (string & Record<never, never>) | null | undefined
type Whole = number | null | undefined

/**
 * The change that {@link editText} makes: values by path. The paths of the schema are listed with their types. Other paths may be
 * given too: those with an index, and those of fields that the schema does not know.
 */
export interface Change {
  readonly name?: Text
  readonly description?: Text
  readonly 'third_party.version'?: Text
  readonly 'third_party.license_type'?: NameOf<typeof LicenseType>
  readonly 'third_party.license_note'?: Text
  readonly 'third_party.local_modifications'?: Text
  readonly 'third_party.type'?: NameOf<typeof DirectoryType>
  readonly 'third_party.url'?: readonly (EditFields | UrlMessage)[] | null | undefined
  readonly 'third_party.url[+]'?: EditFields | UrlMessage | undefined
  readonly 'third_party.security.category'?: NameOf<typeof Security_Category>
  readonly 'third_party.security.note'?: Text
  readonly 'third_party.security.tag'?: readonly string[] | null | undefined
  readonly 'third_party.security.tag[+]'?: string | undefined
  readonly 'third_party.security.mitigated_security_patch'?: readonly string[] | null | undefined
  readonly 'third_party.security.mitigated_security_patch[+]'?: string | undefined
  readonly 'third_party.last_upgrade_date'?:
    | { readonly year?: Whole; readonly month?: Whole; readonly day?: Whole }
    | null
    | undefined
  readonly 'third_party.last_upgrade_date.year'?: Whole
  readonly 'third_party.last_upgrade_date.month'?: Whole
  readonly 'third_party.last_upgrade_date.day'?: Whole
  readonly [path: string]: EditValue | undefined
}
