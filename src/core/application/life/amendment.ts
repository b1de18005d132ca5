/**
 * A change that names only what is to be other: the registration that it makes of the details of an application.
 * @module
 */
import { holdsOptions, inheritedName } from '../../options.js'
import { entriesOfAny } from '../../takes.js'
import type { ApplicationDetails } from '../application.js'
import type { Registration } from '../registration.js'
import { FIELDS } from '../registration-form.js'

/** Fields that a change takes away by `null`. */
const OPTIONAL: readonly string[] = [
  'description',
  'website',
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
  // Anything else has no fields of its own, and would change nothing in silence.
  const own = holdsOptions(given) && inheritedName(given, FIELDS) === undefined ? entriesOfAny(given) : undefined
  if (own === undefined) return given
  const isField = (name: string): boolean => FIELDS.some((field) => field === name)
  // The name of an unknown field is a fault, whatever it has.
  const changes = own.filter(([name, value]) => value !== undefined || !isField(name))
  // A domain that is given now takes the place of exact matching.
  const isDomainGiven = changes.some(([name, value]) => name === 'authorizedDomain' && value !== null)
  const { redirectMatching, ...present } = registrationOf(details)
  const merged = new Map<string, unknown>(Object.entries(present))
  if (redirectMatching !== undefined && !isDomainGiven) merged.set('redirectMatching', redirectMatching)
  for (const [name, value] of changes) {
    if (value === null && OPTIONAL.includes(name)) merged.delete(name)
    else merged.set(name, name === 'scopes' ? withReasons(value, details.reasons) : value)
  }
  return Object.fromEntries(merged)
}

/** Returns the registration that the details of an application were made of, without its logo, and without a website where there is none. */
export function registrationOf(
  details: ApplicationDetails,
): Omit<Registration, 'logo' | 'website'> & Partial<Pick<Registration, 'website'>> {
  const { name, description, website, type, redirectUris, authorizedDomain, allowSubdomains } = details
  const { scopes, reasons, resourceScope, deviceFlow, tokenType } = details
  const hosts = new Set(redirectUris.filter((uri) => uri.startsWith('https:')).map((uri) => new URL(uri).hostname))
  const isExact = authorizedDomain === undefined && hosts.size > 0
  // A domain that the redirect URIs tell goes with them.
  const isTold = hosts.size === 1 && [...hosts][0] === authorizedDomain && !allowSubdomains
  return {
    name,
    ...(description !== undefined && { description }),
    ...(website !== '' && { website }),
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
