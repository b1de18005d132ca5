/**
 * Other names for the values of enums, for records that use names of their own in place of the neutral ones of the schema.
 * @module
 */
import type { DirectoryType, LicenseType, Security_Category, URL_Type } from '../generated/metadata.js'
import { refuseInherited } from '../options.js'
import type { EnumType } from './schema.js'
import { ENUMS } from './schema.js'

/**
 * Names of text and JSON for the schema's values, by enum: `{ 'URL.Type': { PIPER: 'INTERNAL_VCS' } }`. Readers accept them beside the
 * names of the schema. Writers write them instead: the first of several names for one value.
 */
export interface EnumAliases {
  /** Aliases of the values of `URL.Type`. */
  readonly 'URL.Type'?: { readonly [alias: string]: keyof typeof URL_Type }
  /** Aliases of the values of `Security.Category`. */
  readonly 'Security.Category'?: { readonly [alias: string]: keyof typeof Security_Category }
  /** Aliases of the values of `LicenseType`. */
  readonly LicenseType?: { readonly [alias: string]: keyof typeof LicenseType }
  /** Aliases of the values of `DirectoryType`. */
  readonly DirectoryType?: { readonly [alias: string]: keyof typeof DirectoryType }
}

/** The form of a name that an enum value may have. */
export const ENUM_VALUE_NAME: RegExp = /^[A-Za-z_]\w*$/

/** Conversions between the names and numbers of enum values. */
export interface EnumNames {
  readonly numberOf: (type: EnumType, name: string) => number | undefined
  readonly nameOf: (type: EnumType, number: number) => string
}

const SCHEMA_NAMES: EnumNames = {
  numberOf: (type, name) => type.numbers.get(name),
  nameOf: (type, number) => type.names[number] ?? String(number),
}

/**
 * Creates the conversions for some aliases.
 * @throws {TypeError} for an unknown enum or value: a mistake of the program, not of a record
 */
export function makeEnumNames(aliases: EnumAliases | undefined): EnumNames {
  if (aliases === undefined) return SCHEMA_NAMES
  const numbers = new Map<string, number>()
  const names = new Map<string, string>()
  for (const { name } of ENUMS) refuseInherited(aliases, name, `enumAliases: ${name}`)
  for (const [enumName, values] of Object.entries(aliases)) {
    const type = ENUMS.find(({ name }) => name === enumName)
    if (type === undefined) throw new TypeError(`enumAliases: there is no enum ${enumName}`)
    for (const alias in values) refuseInherited(values, alias, `enumAliases: ${alias}`)
    for (const [alias, name] of Object.entries(values)) {
      const number = type.numbers.get(String(name))
      if (number === undefined) throw new TypeError(`enumAliases: ${enumName} has no value ${String(name)}`)
      if (!ENUM_VALUE_NAME.test(alias))
        throw new TypeError(`enumAliases: ${JSON.stringify(alias)} is no name of an enum value`)
      if (type.numbers.has(alias)) throw new TypeError(`enumAliases: ${enumName} has a value ${alias} of its own`)
      numbers.set(`${enumName} ${alias}`, number)
      if (!names.has(`${enumName} ${number}`)) names.set(`${enumName} ${number}`, alias)
    }
  }
  return {
    numberOf: (type, name) => type.numbers.get(name) ?? numbers.get(`${type.name} ${name}`),
    nameOf: (type, number) => names.get(`${type.name} ${number}`) ?? SCHEMA_NAMES.nameOf(type, number),
  }
}
