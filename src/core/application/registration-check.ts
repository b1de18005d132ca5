/**
 * Which of what an applicant says is sound.
 * @module
 * @see Specification, sections 2.1, 5.3 and 8; RFC 6749, section 2
 */

import { nearest } from '../nearest.js'
import type { ScopeCatalogue } from '../scopes.js'
import { normalizeScopes } from '../scopes.js'
import { MUST_BE_OWN, strayName } from '../takes.js'
import { isLine, isLines, isVisible, isWithin, unseenFault } from '../text.js'
import { imageSize, imageType } from './image.js'
import type { RedirectRules } from './redirect-uri.js'
import { parseRedirectUri, redirectUriRule } from './redirect-uri.js'
import type { Registration, RegistrationDetails, RegistrationFault, ResourceScope } from './registration.js'
import { APPLICATION_LIMITS, SUBMISSION_LIMITS } from './registration.js'

/** What decides on a registration besides itself. */
export interface RegistrationRules {
  readonly scopes: ScopeCatalogue
  readonly redirect: RedirectRules
  /** Whether the service can let users specify resources. */
  readonly specifiedResources: boolean
  /** Whether the service gives out tokens of the type `mac`. */
  readonly macTokens: boolean
  /** Whether every scope needs a reason, and whether there must be a logo. */
  readonly reasons: 'required' | 'optional'
  readonly logo: 'required' | 'optional'
  /** Whether there must be a redirect URI: a resource server has none. */
  readonly redirectUris: 'required' | 'none'
}

const FIELDS: readonly (keyof Registration)[] = [
  'name',
  'logo',
  'description',
  'website',
  'type',
  'redirectUris',
  'authorizedDomain',
  'allowSubdomains',
  'scopes',
  'resourceScope',
  'deviceFlow',
  'tokenType',
]

const SCOPE_FIELDS = ['scope', 'reason'] as const

/** Unknown fields that are told of: an object can have any number, and a fault for each would be without end. */
const OTHER_FIELDS_TOLD = 32

const DOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/

/**
 * Checks a registration.
 * @param given - of any shape: what a form or a JSON document had
 * @returns what was checked, or every fault that there is, each with its path
 */
export function checkRegistration(
  given: unknown,
  rules: RegistrationRules,
):
  | { readonly type: 'details'; readonly details: RegistrationDetails; readonly logo: Uint8Array | undefined }
  | { readonly type: 'faults'; readonly faults: readonly RegistrationFault[] } {
  if (typeof given !== 'object' || given === null)
    return { type: 'faults', faults: [{ path: '', message: WRONG_TYPE }] }
  const fields = ownFields(given, FIELDS)
  const faults: RegistrationFault[] = []
  const check = (holds: boolean, path: string, message: string): void => {
    if (!holds) faults.push({ path, message })
  }
  for (const name of otherFields(given, FIELDS)) check(false, name, 'is not a field of a registration')
  const stray = strayName(given, FIELDS)
  if (stray !== undefined) check(false, stray, MUST_BE_OWN)
  /** A field of the right type; where it is not, the fault is noted. */
  const read = <Value>(name: keyof Registration, fits: (value: unknown) => value is Value, optional = false) => {
    const value = fields.get(name)
    if (fits(value)) return value
    check(optional && value === undefined, name, WRONG_TYPE)
    return undefined
  }

  const name = read('name', isText)
  if (name !== undefined) {
    const sound = isVisible(name) && isWithin(name, APPLICATION_LIMITS.name) && isLine(name)
    check(sound, 'name', unseenFault(name) ?? 'must have 1 to 50 characters, on one line')
  }
  const logo = read('logo', isBytes, rules.logo === 'optional')
  if (logo !== undefined) {
    check(logo.length <= APPLICATION_LIMITS.logo, 'logo', 'must have at most 1,048,576 bytes')
    const fault = imageFault(logo)
    if (fault !== undefined) check(false, 'logo', fault)
  }
  const description = read('description', isText, true)
  if (description !== undefined) {
    const sound = isWithin(description, APPLICATION_LIMITS.description) && isLines(description)
    check(sound, 'description', unseenFault(description) ?? 'must have at most 350 characters')
  }
  const website = read('website', isText)
  if (website !== undefined) {
    const rule = 'must be an http or https URL of at most 128 characters, without user info'
    check(isWebsite(website), 'website', unseenFault(website) ?? rule)
  }
  const type = read('type', isText)
  const typed = type === 'confidential' || type === 'public' ? type : undefined
  check(type === undefined || typed !== undefined, 'type', 'must be confidential or public')

  const redirectUris = read('redirectUris', isList)
  const { redirectUri, hosts } = redirectFaults(redirectUris ?? [], typed, rules.redirect, check)
  const enough = redirectUris === undefined || redirectUris.length > 0 || rules.redirectUris === 'none'
  check(enough, 'redirectUris', 'must have at least one')
  const givenDomain = read('authorizedDomain', isText, true)
  const subdomains = read('allowSubdomains', isBoolean, true) ?? false
  const authorizedDomain = givenDomain ?? (hosts.size === 1 ? [...hosts][0] : undefined)
  domainFaults(authorizedDomain, subdomains, hosts, check)

  const requested = read('scopes', isList)
  const scopes = requested === undefined ? undefined : requestedScopes(requested, rules, check)
  const resourceScope = read('resourceScope', isText)
  const resources = RESOURCE_SCOPES.find((each) => each === resourceScope)
  check(resourceScope === undefined || resources !== undefined, 'resourceScope', 'must be all, public or specified')
  check(
    resources !== 'specified' || rules.specifiedResources,
    'resourceScope',
    'must not be specified: the server has no option resources',
  )
  const deviceFlow = read('deviceFlow', isBoolean, true) ?? false
  const tokenType = read('tokenType', isText, true) ?? 'bearer'
  check(tokenType === 'bearer' || tokenType === 'mac', 'tokenType', 'must be bearer or mac')
  check(tokenType !== 'mac' || rules.macTokens, 'tokenType', 'must not be mac: the server has no option macTokens')

  if (
    faults.length > 0 ||
    name === undefined ||
    website === undefined ||
    typed === undefined ||
    scopes === undefined ||
    resources === undefined
  ) {
    return { type: 'faults', faults }
  }
  return {
    type: 'details',
    logo,
    details: {
      type: typed,
      name,
      ...(description !== undefined && description !== '' && { description }),
      website,
      redirectUris: redirectUri,
      ...(authorizedDomain !== undefined && { authorizedDomain }),
      allowSubdomains: subdomains,
      ...scopes,
      resourceScope: resources,
      deviceFlow,
      ...(tokenType === 'mac' && { tokenType }),
    },
  }
}

/** Whether a reason says something, in at most 350 characters. */
export function isReason(value: unknown): value is string {
  return reasonFault(value) === undefined
}

/** Says what is wrong with a reason, which must say something in at most 350 characters; undefined where nothing is. */
export function reasonFault(value: unknown): string | undefined {
  if (!isText(value) || !isVisible(value) || !isWithin(value, SUBMISSION_LIMITS.reason))
    return `must have 1 to ${SUBMISSION_LIMITS.reason} characters`
  return isLines(value) ? undefined : unseenFault(value)
}

/** Says what is wrong with a logo as an image; undefined where nothing is. */
function imageFault(logo: Uint8Array): string | undefined {
  const type = imageType(logo)
  if (type === undefined) return 'must be a PNG, JPEG, GIF or WebP image'
  const size = imageSize(logo, type)
  if (size === undefined) return 'must be an image whose header has its width and height'
  // One that is larger when decoded than its bytes tell could take a browser's memory (CWE-409).
  const fits = Math.max(size.width, size.height) <= APPLICATION_LIMITS.logoSide
  return fits ? undefined : `has ${size.width} x ${size.height} pixels; must have at most 4,096 x 4,096`
}

type Check = (holds: boolean, path: string, message: string) => void

const WRONG_TYPE = 'is missing or of the wrong type'
const RESOURCE_SCOPES: readonly ResourceScope[] = ['all', 'public', 'specified']

/** The redirect URIs that are sound, and the hosts of the https ones. */
function redirectFaults(
  given: readonly unknown[],
  type: Registration['type'] | undefined,
  rules: RedirectRules,
  check: Check,
): { readonly redirectUri: readonly string[]; readonly hosts: ReadonlySet<string> } {
  const { redirectUris: limit } = SUBMISSION_LIMITS
  check(given.length <= limit, 'redirectUris', `must be at most ${limit}`)
  const redirectUri: string[] = []
  const hosts = new Set<string>()
  for (const [index, uri] of given.slice(0, limit).entries()) {
    const path = `redirectUris[${index}]`
    if (typeof uri !== 'string') {
      check(false, path, WRONG_TYPE)
      continue
    }
    const parsed = parseRedirectUri(uri, rules)
    if (parsed === undefined) {
      check(false, path, redirectUriRule(uri))
      continue
    }
    check(
      parsed.kind !== 'private-use' || type !== 'confidential',
      path,
      'must not have a private-use scheme: the client is confidential',
    )
    redirectUri.push(uri)
    if (parsed.kind === 'https') hosts.add(parsed.url.hostname)
  }
  return { redirectUri, hosts }
}

function domainFaults(
  domain: string | undefined,
  allowSubdomains: boolean,
  hosts: ReadonlySet<string>,
  check: Check,
): void {
  if (domain === undefined) {
    check(hosts.size === 0, 'authorizedDomain', 'must be given: the redirect URIs have several hosts')
    return
  }
  check(DOMAIN.test(domain), 'authorizedDomain', 'must be a domain name in lower case, without port or trailing dot')
  check(!allowSubdomains || domain.includes('.'), 'allowSubdomains', 'must not open a top-level domain')
  for (const host of hosts) {
    const inside = host === domain || (allowSubdomains && host.endsWith(`.${domain}`))
    check(inside, 'redirectUris', `${host} is not in the authorized domain`)
  }
}

/** The scopes in normal form, and the reasons; undefined where they are at fault. */
function requestedScopes(
  given: readonly unknown[],
  rules: RegistrationRules,
  check: Check,
): Pick<RegistrationDetails, 'scopes' | 'reasons'> | undefined {
  const { entries } = rules.scopes
  // Past what the catalogue has, there is nothing to ask for, and a fault for each would be without end.
  if (given.length === 0 || given.length > entries.size) {
    check(false, 'scopes', 'must be one or more scopes of the catalogue, each asked for once')
    return undefined
  }
  const wanted: string[] = []
  const names = new Set<number>()
  const reasons: Record<string, string> = {}
  for (const [index, each] of given.entries()) {
    const path = `scopes[${index}]`
    const isObject = typeof each === 'object' && each !== null
    if (typeof each !== 'string' && !isObject) {
      check(false, path, WRONG_TYPE)
      continue
    }
    const asked = isObject ? each : { scope: each }
    const wish = ownFields(asked, SCOPE_FIELDS)
    const [scope, reason] = [wish.get('scope'), wish.get('reason')]
    for (const name of otherFields(asked, SCOPE_FIELDS)) {
      check(false, `${path}.${name}`, 'is not a field of a scope that is asked for')
    }
    if (reason !== undefined || rules.reasons === 'required') {
      const fault = reasonFault(reason)
      if (fault !== undefined) check(false, `${path}.reason`, fault)
    }
    const entry = isText(scope) ? entries.get(scope) : undefined
    const at = isObject ? `${path}.scope` : path
    if (entry === undefined) {
      check(false, at, unknownScope(scope, [...entries.keys()]))
      continue
    }
    check(!names.has(entry.position), at, 'is asked for twice')
    names.add(entry.position)
    wanted.push(entry.scope)
    if (isText(reason)) reasons[entry.scope] = reason
  }
  const scopes = normalizeScopes(rules.scopes, wanted)
  return scopes === undefined ? undefined : { scopes, reasons }
}

/** The fields of an object that are known. Own ones alone, so that a polluted prototype adds none. */
function ownFields(given: object, known: readonly string[]): ReadonlyMap<string, unknown> {
  const values = given as Readonly<Record<string, unknown>> // any object may be asked for any name
  return new Map(known.filter((name) => Object.hasOwn(given, name)).map((name) => [name, values[name]]))
}

/** The first names of an object that are not known. */
function otherFields(given: object, known: readonly string[]): readonly string[] {
  const others: string[] = []
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    others.push(name)
    if (others.length === OTHER_FIELDS_TOLD) break
  }
  return others
}

/** Names scopes of this catalogue, which may be the host's own. */
function unknownScope(scope: unknown, known: readonly string[]): string {
  const meant = isText(scope) ? nearest(scope, known) : undefined
  return `must be a scope of the catalogue, such as ${meant ?? known[0]}`
}

function isWebsite(text: string): boolean {
  if (!isWithin(text, APPLICATION_LIMITS.website) || !isLine(text) || /\s/.test(text) || !URL.canParse(text))
    return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}
