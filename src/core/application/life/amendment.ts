/**
 * A change that names only what is to be other: the registration that it makes of the details of an application.
 * @module
 */
import { isObject } from '../../takes.js'
import type { ApplicationDetails } from '../application.js'
import type { Registration } from '../registration.js'
import { FIELDS } from '../registration-form.js'

/** Fields that a change takes away by `null`. */
const OPTIONAL: readonly string[] = [
  'description',
  'authorizedDomain',
  'allowSubdomains',
  'redirectMatching',
  'deviceFlow',
  'tokenType',
] satisfies readonly (keyof Registration)[]

/**
 * Makes a registration of the details of an application and a change. It has yet to be checked, as one that was handed in whole.
 * @param given - of any shape; a field that is undefined stays as it is, null takes an optional one away
 */
export function amended(details: ApplicationDetails, given: unknown): unknown {
  if (!isObject(given)) return given
  const isField = (name: string): boolean => FIELDS.some((field) => field === name)
  // The name of an unknown field is a fault, whatever it has.
  const changes = Object.entries(given).filter(([name, value]) => value !== undefined || !isField(name))
  // A domain that is given now takes the place of exact matching.
  const isDomainGiven = changes.some(([name, value]) => name === 'authorizedDomain' && value !== null)
  const { redirectMatching, ...present } = registrationOf(details)
  const merged: Record<string, unknown> = {
    ...present,
    ...(redirectMatching !== undefined && !isDomainGiven && { redirectMatching }),
  }
  for (const [name, value] of changes) {
    if (value === null && OPTIONAL.includes(name)) delete merged[name]
    else merged[name] = name === 'scopes' ? withReasons(value, details.reasons) : value
  }
  return merged
}

/** Returns the registration that the details of an application were made of, without its logo. */
export function registrationOf(details: ApplicationDetails): Omit<Registration, 'logo'> {
  const { name, description, website, type, redirectUris, authorizedDomain, allowSubdomains } = details
  const { scopes, reasons, resourceScope, deviceFlow, tokenType } = details
  const hosts = new Set(redirectUris.filter((uri) => uri.startsWith('https:')).map((uri) => new URL(uri).hostname))
  const isExact = authorizedDomain === undefined && hosts.size > 0
  // A domain that the redirect URIs tell goes with them.
  const isTold = hosts.size === 1 && [...hosts][0] === authorizedDomain && !allowSubdomains
  return {
    name,
    ...(description !== undefined && { description }),
    website,
    type,
    redirectUris,
    ...(authorizedDomain !== undefined && !isTold && { authorizedDomain, allowSubdomains }),
    ...(isExact && { redirectMatching: 'exact' }),
    scopes: scopes.map((scope) => withReason(scope, reasons)),
    resourceScope,
    deviceFlow,
    ...(tokenType !== undefined && { tokenType }),
  }
}

/** Gives scopes that are named alone the reasons that they have already. */
function withReasons(scopes: unknown, reasons: ApplicationDetails['reasons']): unknown {
  if (!Array.isArray(scopes)) return scopes
  return scopes.map((scope: unknown) => (typeof scope === 'string' ? withReason(scope, reasons) : scope))
}

function withReason(scope: string, reasons: ApplicationDetails['reasons']): Registration['scopes'][number] {
  const reason = Object.hasOwn(reasons, scope) ? reasons[scope] : undefined
  return reason === undefined ? scope : { scope, reason }
}
