/**
 * The schema of metadata records as the specification has it: the one copy that tests compare with and make records of.
 * @module
 */

/** Everything of the specification, as `message.field number type` and `enum VALUE=number`. */
export const SPECIFICATION: readonly string[] = `
MetaData.name 1 string
MetaData.description 3 string
MetaData.third_party 13 ThirdPartyMetaData
ThirdPartyMetaData.url 1 repeated URL
ThirdPartyMetaData.version 2 string
ThirdPartyMetaData.license_type 4 LicenseType
ThirdPartyMetaData.license_note 5 string
ThirdPartyMetaData.local_modifications 6 string
ThirdPartyMetaData.security 7 Security
ThirdPartyMetaData.last_upgrade_date 10 Date
ThirdPartyMetaData.type 11 DirectoryType
URL.type 1 URL.Type
URL.value 2 string
Date.year 1 int32
Date.month 2 int32
Date.day 3 int32
Security.category 1 Security.Category
Security.note 2 string
Security.tag 3 repeated string
Security.mitigated_security_patch 5 repeated string
URL.Type UNKNOWN=0 HOMEPAGE=1 ARCHIVE=2 GIT=3 INTERNAL_VCS=4 SVN=7 HG=8 DARCS=9 OTHER=11
Security.Category SANDBOXED_ONLY=1 TRUSTED_DATA_ONLY=2 REVIEWED_AND_SECURE=3
LicenseType UNKNOWN=0 BY_EXCEPTION_ONLY=1 NOTICE=2 PERMISSIVE=3 RECIPROCAL=4 RESTRICTED_IF_STATICALLY_LINKED=5 RESTRICTED=6 UNENCUMBERED=7
DirectoryType PACKAGE=1 VENDOR_INTERNAL=4`
  .trim()
  .split('\n')

export type TypeName = 'MetaData' | 'ThirdPartyMetaData' | 'URL' | 'Date' | 'Security'

/** What a field holds: a string, an integer, a message of the schema, or the values of an enum by name. */
export type Kind = 'string' | 'int32' | TypeName | { readonly [name: string]: number }

export interface KnownField {
  readonly number: number
  readonly name: string
  /** In TypeScript and in JSON. */
  readonly key: string
  readonly is: Kind
  readonly repeated: boolean
}

const enums = new Map(
  SPECIFICATION.filter((line) => line.includes('=')).map((line) => {
    const [name = '', ...values] = line.split(' ')
    const entries = values.map((value) => value.split('=')).map(([key = '', number]) => [key, Number(number)])
    return [name, Object.fromEntries(entries) as { readonly [name: string]: number }] // numbers, as above
  }),
)

/** The schema, each type's fields in canonical order. */
export const SCHEMA: { readonly [type in TypeName]: readonly KnownField[] } = {
  MetaData: fieldsOf('MetaData'),
  ThirdPartyMetaData: fieldsOf('ThirdPartyMetaData'),
  URL: fieldsOf('URL'),
  Date: fieldsOf('Date'),
  Security: fieldsOf('Security'),
}

function fieldsOf(type: TypeName): readonly KnownField[] {
  return SPECIFICATION.flatMap((line) => {
    const [, of, name = '', number, repeated, is = ''] = /^(\w+)\.(\w+) (\d+) (repeated )?(\S+)$/.exec(line) ?? []
    if (of !== type) return []
    const key = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
    const kind = enums.get(is) ?? (is as Exclude<Kind, object>) // the specification has no other types
    return [{ number: Number(number), name, key, is: kind, repeated: repeated !== undefined }]
  })
}

export const isType = (is: Kind | undefined): is is TypeName => typeof is === 'string' && Object.hasOwn(SCHEMA, is)
