/**
 * The check of a record that can be read: wrong and missing fields.
 * @module
 */
import { checkMessage } from './check.js'
import { dateToISO } from './date.js'
import type { MetaData, ThirdPartyMetaData, UrlMessage } from './schema/messages.js'
import { MetaDataSchema, UrlTypeEnum } from './schema/schema.js'

/** A wrong or missing field of a record. */
export interface Problem {
  /** The field, as `third_party.last_upgrade_date.day`. */
  readonly path: string
  /**
   * `error`: `empty` for a text of blanks, `invalid_date` for a day that does not exist or is incomplete, `invalid_url`,
   * `missing_version` if there is an upgrade date, `missing_value` for a URL with only a type.
   * `warning`: `missing_name`, `missing_third_party`, `missing_url`, `missing_version`, `missing_license_type`,
   * `missing_upgrade_date`, `unknown_enum_value`.
   */
  readonly code: ProblemCode
  /** `error` for a wrong field, `warning` for one that a complete record has. */
  readonly severity: 'error' | 'warning'
  /** A line for people. */
  readonly message: string
}

/** The stable code of a problem. */
export type ProblemCode =
  | 'empty'
  | 'invalid_date'
  | 'invalid_url'
  | 'missing_value'
  | 'missing_name'
  | 'missing_third_party'
  | 'missing_url'
  | 'missing_version'
  | 'missing_license_type'
  | 'missing_upgrade_date'
  | 'unknown_enum_value'

/**
 * Lists the wrong and missing fields of a record, in the order of the fields. The list of a good and complete record is empty. A
 * version or an address also counts if it is in a field `identifier` or `homepage`, which many records have and the schema does not.
 * @throws {MetadataError} `invalid_value` if a field has a value that its type does not permit
 */
export function validate(metadata: MetaData): Problem[] {
  const problems: Problem[] = []
  eachProblem(metadata, (problem) => {
    problems.push(problem)
  })
  return problems
}

/** Visits the problems that {@link validate} lists, one by one: all problems of a record may not fit into memory. */
export function eachProblem(metadata: MetaData, visit: (problem: Problem) => void): void {
  checkMessage(MetaDataSchema, metadata, 'omit')
  const add = (severity: Problem['severity'], path: string, code: ProblemCode, message: string): void =>
    visit({ path, code, severity, message })
  const notEmpty = (path: string, value: string | undefined): void => {
    if (value?.trim() === '') add('error', path, 'empty', 'nothing but blanks')
  }

  notEmpty('name', metadata.name)
  if (metadata.name === undefined) add('warning', 'name', 'missing_name', 'no name')
  notEmpty('description', metadata.description)
  const { thirdParty } = metadata
  if (thirdParty === undefined) {
    add('warning', 'third_party', 'missing_third_party', 'nothing of where it comes from')
    return
  }

  // Their values are not read: a number may have millions of digits.
  const unknown = thirdParty._unknownText ?? []
  const identifiers = unknown.flatMap(({ name, fields }) => (name === 'identifier' && fields ? [fields] : []))
  const isInIdentifier = (field: string): boolean => identifiers.some((each) => each.some(({ name }) => name === field))
  thirdParty.url.forEach((url, index) => {
    const path = `third_party.url[${index}]`
    if (url.value === undefined) add('error', `${path}.value`, 'missing_value', 'no address')
    else if (!isUrl(url)) add('error', `${path}.value`, 'invalid_url', `${JSON.stringify(url.value)} is no URL`)
    if (hasUnknownName(url, 'type'))
      add('warning', `${path}.type`, 'unknown_enum_value', 'a kind of URL that is not known')
  })
  const hasHomepage = unknown.some(({ name }) => name === 'homepage')
  if (thirdParty.url.length === 0 && !hasHomepage && !isInIdentifier('value'))
    add('warning', 'third_party.url', 'missing_url', 'no URL')

  notEmpty('third_party.version', thirdParty.version)
  const hasVersion = thirdParty.version !== undefined || isInIdentifier('version')
  if (!hasVersion) {
    const dated = thirdParty.lastUpgradeDate !== undefined
    const message = dated ? 'no version, though there is a date at which it was upgraded' : 'no version'
    add(dated ? 'error' : 'warning', 'third_party.version', 'missing_version', message)
  }
  if (hasUnknownName(thirdParty, 'license_type'))
    add('warning', 'third_party.license_type', 'unknown_enum_value', 'a kind of licence that is not known')
  else if (thirdParty.licenseType === undefined)
    add('warning', 'third_party.license_type', 'missing_license_type', 'no kind of licence')
  notEmpty('third_party.license_note', thirdParty.licenseNote)
  notEmpty('third_party.local_modifications', thirdParty.localModifications)
  if (thirdParty.security !== undefined) {
    if (hasUnknownName(thirdParty.security, 'category'))
      add('warning', 'third_party.security.category', 'unknown_enum_value', 'a category that is not known')
    notEmpty('third_party.security.note', thirdParty.security.note)
    thirdParty.security.tag.forEach((tag, index) => {
      notEmpty(`third_party.security.tag[${index}]`, tag)
    })
    thirdParty.security.mitigatedSecurityPatch.forEach((patch, index) => {
      notEmpty(`third_party.security.mitigated_security_patch[${index}]`, patch)
    })
  }
  validateDate(thirdParty, hasVersion, add)
  if (hasUnknownName(thirdParty, 'type'))
    add('warning', 'third_party.type', 'unknown_enum_value', 'a kind of directory that is not known')
}

function validateDate(
  { lastUpgradeDate: date }: ThirdPartyMetaData,
  hasVersion: boolean,
  add: (severity: Problem['severity'], path: string, code: ProblemCode, message: string) => void,
): void {
  const path = 'third_party.last_upgrade_date'
  if (date === undefined) {
    if (hasVersion) add('warning', path, 'missing_upgrade_date', 'no date at which it was upgraded')
    return
  }
  const { year, month, day } = date
  const missing = (['year', 'month', 'day'] as const).filter((part) => date[part] === undefined)
  for (const part of missing) add('error', `${path}.${part}`, 'invalid_date', `no ${part}`)
  if (month !== undefined && (month < 1 || month > 12))
    add('error', `${path}.month`, 'invalid_date', `there is no month ${month}`)
  else if (missing.length === 0 && dateToISO(date) === undefined)
    add('error', path, 'invalid_date', `there is no day ${year}-${month}-${day}`)
}

/** Checks that the enum field of a name has a value that the schema does not know. */
function hasUnknownName(
  message: UrlMessage | ThirdPartyMetaData | NonNullable<ThirdPartyMetaData['security']>,
  field: string,
): boolean {
  return message._unknownText?.some(({ name }) => name === field) === true
}

/** `git@host:path`, which version control accepts beside URLs. */
const SCP_LIKE = /^[\w.-]+@[\w.-]+:\S+$/

/** Kinds of URL that people do not open in a browser. */
const NOT_FOR_BROWSERS = new Set(['GIT', 'SVN', 'HG', 'DARCS', 'INTERNAL_VCS', 'OTHER', 'UNKNOWN'])

/**
 * A user and host that are longer than those of any URL (a host has at most 253 characters). If they are not ASCII, the time of
 * `new URL` grows with the square of their length.
 */
const LONG_HOST = /^(?:file:[/\\]{2}|(?!file:)[^:/?#]*:[/\\]*)[^/\\?#]{1024}/i

function isUrl({ type, value = '' }: UrlMessage): boolean {
  const typeName = type === undefined ? 'UNKNOWN' : (UrlTypeEnum.names[type] ?? 'UNKNOWN')
  // An internal system has its own form of address.
  if (typeName === 'INTERNAL_VCS') return value.trim() !== ''
  if (NOT_FOR_BROWSERS.has(typeName) && SCP_LIKE.test(value)) return true
  if (/[\s\p{Cc}]/u.test(value) || LONG_HOST.test(value)) return false
  try {
    const { hostname, protocol } = new URL(value)
    return hostname !== '' || protocol === 'file:'
  } catch {
    return false
  }
}
