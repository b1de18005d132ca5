/**
 * A submitted registration of any shape, read field by field while its faults are noted.
 * @module
 */

import { inheritedName } from '../options.js'
import type { TakesType } from '../takes.js'
import type { BrokenRule, RegistrationFault, RegistrationFaultCode } from './faults.js'
import { brokenRule, registrationFault, wrongType } from './faults.js'
import type { Registration } from './registration.js'

/** A registration while it is read. */
export interface RegistrationForm {
  /** Reads a field of the right type; undefined where it is absent or wrong, which is noted unless it may be absent. */
  readonly read: <Value>(name: keyof Registration, type: TakesType<Value>, isOptional?: boolean) => Value | undefined
  /** Notes a fault where a condition does not hold. */
  readonly check: Check
  /** The faults so far. */
  readonly faults: readonly RegistrationFault[]
}

/** Notes a fault where a condition does not hold. */
export type Check = (holds: boolean, path: string, rule: BrokenRule<RegistrationFaultCode>) => void

/** The fields of a registration. */
export const FIELDS: readonly (keyof Registration)[] = [
  'name',
  'logo',
  'description',
  'website',
  'type',
  'redirectUris',
  'authorizedDomain',
  'allowSubdomains',
  'redirectMatching',
  'scopes',
  'resourceScope',
  'deviceFlow',
  'tokenType',
]

/** Unknown fields that are told: an object can have any number, and a fault for each would be without end. */
const OTHER_FIELDS_TOLD = 32

/** Begins to read a registration. Its unknown and inherited fields are noted as faults. */
export function createForm(given: object): RegistrationForm {
  const fields = ownFields(given, FIELDS)
  const faults: RegistrationFault[] = []
  const check: Check = (holds, path, rule) => {
    if (!holds) faults.push(registrationFault(path, rule))
  }
  for (const name of otherFields(given, FIELDS)) check(false, name, brokenRule('field_unknown'))
  const stray = inheritedName(given, FIELDS)
  if (stray !== undefined) check(false, stray, brokenRule('field_inherited'))
  return {
    faults,
    check,
    read: (name, type, isOptional = false) => {
      const value = fields.get(name)
      if (type.fits(value)) return value
      check(isOptional && value === undefined, name, wrongType(type, value))
      return undefined
    },
  }
}

/** Returns the known fields of an object. Own ones alone, so that a polluted prototype adds none. */
export function ownFields(given: object, known: readonly string[]): ReadonlyMap<string, unknown> {
  const values = given as Readonly<Record<string, unknown>> // any object may be asked for any name
  return new Map(known.filter((name) => Object.hasOwn(given, name)).map((name) => [name, values[name]]))
}

/** Returns the first unknown names of an object. */
export function otherFields(given: object, known: readonly string[]): readonly string[] {
  const others: string[] = []
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    others.push(name)
    if (others.length === OTHER_FIELDS_TOLD) break
  }
  return others
}

/** The type of a field with bytes. */
export const BYTES: TakesType<Uint8Array> = {
  words: 'bytes in a Uint8Array',
  fits: (value) => value instanceof Uint8Array,
}

/** The type of a field with a list. */
export const LIST: TakesType<readonly unknown[]> = { words: 'a list', fits: (value) => Array.isArray(value) }

/** Limits of section 8: characters, and bytes of the logo; and the pixels of each of its sides. */
export const APPLICATION_LIMITS = { name: 50, description: 350, website: 128, logo: 1_048_576, logoSide: 4096 } as const

/** Limits that the specification leaves open: characters of a reason, and the number of redirect URIs. */
export const SUBMISSION_LIMITS = { reason: 350, redirectUris: 64 } as const
