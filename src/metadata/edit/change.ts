/**
 * The types of a change: values by path.
 * @module
 */
import { MetadataError, refuse } from '../errors.js'
import type { DirectoryType, LicenseType, Security_Category } from '../generated/metadata.js'
import { ENUM_VALUE_NAME } from '../schema/aliases.js'
import type { DateMessage, Security, ThirdPartyMetaData, UrlMessage } from '../schema/messages.js'

export const BARE_NAME: unique symbol = Symbol.for('grantwell.metadata.enumName')

/** A value that is written without quotes, for an enum that the schema does not know. */
export interface EnumNameValue {
  /** The name of the value. */
  readonly [BARE_NAME]: string
}

/**
 * Marks a string as the name of an enum value, for a field that the schema does not know. A plain string would be written in quotes.
 * @throws {MetadataError} `invalid_value` if it is not a name
 */
export function enumName(name: string): EnumNameValue {
  if (typeof name !== 'string') refuse('the name of a value', 'a string', name)
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
  /** A field by its name. */
  readonly [name: string]: EditValue | undefined
}

/** The names of an enum, which an editor can list, and any other, since aliases may be given. */
export type NameOf<Enum> = keyof Enum | (string & Record<never, never>) | null | undefined

/**
 * The change that {@link editText} makes: values by path. The paths of the schema are listed with their types. Other paths may be
 * given too: those with an index, and those of fields that the schema does not know.
 */
export interface Change {
  /** The field `name`. */
  readonly name?: string | null | undefined
  /** The field `description`. */
  readonly description?: string | null | undefined
  /** The version of the copied code. */
  readonly 'third_party.version'?: string | null | undefined
  /** The kind of the licence. */
  readonly 'third_party.license_type'?: NameOf<typeof LicenseType>
  /** A note on the licence. */
  readonly 'third_party.license_note'?: string | null | undefined
  /** A description of local changes. */
  readonly 'third_party.local_modifications'?: string | null | undefined
  /** The type of the directory. */
  readonly 'third_party.type'?: NameOf<typeof DirectoryType>
  /** All addresses. */
  readonly 'third_party.url'?: readonly (EditFields | UrlMessage)[] | null | undefined
  /** One more address. */
  readonly 'third_party.url[+]'?: EditFields | UrlMessage | undefined
  /** The category of security. */
  readonly 'third_party.security.category'?: NameOf<typeof Security_Category>
  /** A note on security. */
  readonly 'third_party.security.note'?: string | null | undefined
  /** All tags of security. */
  readonly 'third_party.security.tag'?: readonly string[] | null | undefined
  /** One more tag. */
  readonly 'third_party.security.tag[+]'?: string | undefined
  /** All patches that are mitigated. */
  readonly 'third_party.security.mitigated_security_patch'?: readonly string[] | null | undefined
  /** One more patch that is mitigated. */
  readonly 'third_party.security.mitigated_security_patch[+]'?: string | undefined
  /** The date of the last upgrade. */
  readonly 'third_party.last_upgrade_date'?:
    | {
        readonly year?: number | null | undefined
        readonly month?: number | null | undefined
        readonly day?: number | null | undefined
      }
    | null
    | undefined
  /** The year of the last upgrade. */
  readonly 'third_party.last_upgrade_date.year'?: number | null | undefined
  /** The month of the last upgrade, from 1. */
  readonly 'third_party.last_upgrade_date.month'?: number | null | undefined
  /** The day of the last upgrade, from 1. */
  readonly 'third_party.last_upgrade_date.day'?: number | null | undefined
  /** Any other field by its path. */
  readonly [path: string]: EditValue | undefined
}
