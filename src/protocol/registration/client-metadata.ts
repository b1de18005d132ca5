/**
 * The words of a client about itself: in a request to register, or in the document that its identifier is the URL of.
 * @module
 * @see RFC 7591, section 2; draft-ietf-oauth-client-id-metadata-document
 */
import type { RegistrationFault } from '../../core/application/faults.js'
import { parseRedirectUri } from '../../core/application/redirect-uri.js'
import type { RegistrationDetails } from '../../core/application/registration.js'
import type { RegistrationRules } from '../../core/application/registration-check.js'
import { checkRegistration } from '../../core/application/registration-check.js'
import { APPLICATION_LIMITS } from '../../core/application/registration-form.js'
import type { OAuthError } from '../../core/errors.js'
import { isOAuthError, oauthError } from '../../core/errors.js'
import { normalizeScopes, parseRequestedScopes } from '../../core/scopes.js'
import { isWithin } from '../../core/text.js'
import { DEVICE_CODE_GRANT } from '../token.js'

/** Settings for the check of what a client says. */
export interface ClientMetadataRules extends Pick<RegistrationRules, 'scopes' | 'redirect' | 'specifiedResources'> {
  /** True if a client may send its secret in the body. */
  readonly allowPost: boolean
}

/** The words of a client about itself, checked. */
export interface ClientMetadata {
  readonly type: 'client_metadata'
  readonly details: RegistrationDetails
  /** The way to authenticate that it asked for; `client_secret_basic` by default (RFC 7591, section 2). */
  readonly method: 'client_secret_basic' | 'client_secret_post' | 'none'
}

/** A document as JSON has it: any values under any names. */
export type JsonObject = Readonly<Record<string, unknown>>

const METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const

/** Redirect URIs have no more characters in all: anybody may register a client, and each leaves a record. */
const REDIRECT_URIS_LENGTH = 8192

/** The grant types that a client may ask for. Others are left out, as RFC 7591 (section 2) lets a server do. */
const CODE_GRANT = 'authorization_code'

/** Reads a JSON object; undefined for any other text. Nothing of it is on a prototype. */
export function parseJsonObject(text: string): JsonObject | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? ownMembers(value) : undefined
}

/** Copies the members of an object to one without a prototype. */
export function ownMembers(value: object): JsonObject {
  return Object.assign(Object.create(null), value)
}

/**
 * Checks what a client says about itself. Members that are not known are ignored (RFC 7591, section 2). Of its name and its website
 * nothing is fetched, and its logo is not shown.
 * @param unnamed - the name of a client that says none
 */
export function checkClientMetadata(
  given: JsonObject,
  unnamed: string,
  rules: ClientMetadataRules,
): ClientMetadata | OAuthError {
  const asked = askedOf(given, rules)
  if (isOAuthError(asked)) return asked
  const scopes = scopesOf(given, rules)
  if (isOAuthError(scopes)) return scopes
  const { method, usesCode, deviceFlow } = asked
  const name = nameOf(given, unnamed, rules)
  const registration = {
    name,
    ...(given['client_uri'] !== undefined && { website: given['client_uri'] }),
    type: method === 'none' ? 'public' : 'confidential',
    redirectUris: usesCode ? (given['redirect_uris'] ?? []) : [],
    scopes,
    resourceScope: 'all',
    deviceFlow,
  }
  const checked = checkRegistration(registration, {
    ...rules,
    redirectUris: usesCode ? 'exact' : 'none',
    website: 'optional',
    logo: 'optional',
    reasons: 'optional',
    macTokens: false,
  })
  if (checked.type === 'faults') return faultError(checked.faults)
  if (checked.details.redirectUris.join('').length > REDIRECT_URIS_LENGTH)
    return wrongRedirect(`redirect_uris must have at most ${REDIRECT_URIS_LENGTH} characters in all`)
  return { type: 'client_metadata', details: checked.details, method }
}

/** The flows and the way to authenticate that a client asks for. */
interface Asked {
  readonly method: ClientMetadata['method']
  /** True if it sends its users to the authorization endpoint. */
  readonly usesCode: boolean
  readonly deviceFlow: boolean
}

function askedOf(given: JsonObject, { allowPost }: ClientMetadataRules): Asked | OAuthError {
  const { token_endpoint_auth_method: asked = 'client_secret_basic' } = given
  const methods = METHODS.filter((each) => allowPost || each !== 'client_secret_post')
  const method = methods.find((each) => each === asked)
  if (method === undefined) return wrong(`token_endpoint_auth_method must be ${methods.join(', ')}`)
  const grantTypes = textsIn(given, 'grant_types') ?? [CODE_GRANT]
  const responseTypes = textsIn(given, 'response_types') ?? ['code']
  if (isOAuthError(grantTypes)) return grantTypes
  if (isOAuthError(responseTypes)) return responseTypes
  const usesCode = grantTypes.includes(CODE_GRANT)
  const deviceFlow = grantTypes.includes(DEVICE_CODE_GRANT)
  if (!usesCode && !deviceFlow) return wrong(`grant_types must have ${CODE_GRANT} or ${DEVICE_CODE_GRANT}`)
  if (usesCode && !responseTypes.includes('code')) return wrong('response_types must have code')
  return { method, usesCode, deviceFlow }
}

/** Reads a member that is a list of strings; undefined where it is absent. */
function textsIn(given: JsonObject, name: string): readonly string[] | OAuthError | undefined {
  const value = given[name]
  if (value === undefined) return undefined
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
    return wrong(`${name} must be a list of strings`)
  return value
}

/** Returns the scopes that a client asks for: those that it names, or all that there are. */
function scopesOf({ scope }: JsonObject, { scopes: catalogue }: ClientMetadataRules): readonly string[] | OAuthError {
  if (scope === undefined || scope === '') return normalizeScopes(catalogue, [...catalogue.entries.keys()]) ?? []
  const scopes = typeof scope === 'string' ? parseRequestedScopes(catalogue, scope) : undefined
  return scopes ?? wrong('scope must be scopes of this service, separated by a space')
}

/** Returns the name of a client. One that says none is known by where it sends its users. */
function nameOf(
  { client_name: name, redirect_uris: uris }: JsonObject,
  unnamed: string,
  { redirect }: ClientMetadataRules,
): unknown {
  if (typeof name === 'string' && name !== '') return shortened(name)
  if (name !== undefined && name !== '') return name
  const first: unknown = Array.isArray(uris) ? uris[0] : undefined
  const host = typeof first === 'string' ? parseRedirectUri(first, redirect)?.url.host : undefined
  return shortened(host || unnamed)
}

/** Returns a name, or the beginning of one that is too long: programs write names, and nobody is there to choose a shorter one. */
function shortened(name: string): string {
  if (isWithin(name, APPLICATION_LIMITS.name)) return name
  // Longer than any name that is kept, and short enough to be taken apart.
  const beginning = name.slice(0, LONGEST_NAME)
  const characters = [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(beginning)]
  return `${characters
    .slice(0, APPLICATION_LIMITS.name - 1)
    .map(({ segment }) => segment)
    .join('')}…`
}

/** Code units of a name that are looked at: 50 characters of 16, as a person's keyboard has them. */
const LONGEST_NAME = 800

/** The fields of a registration, each with its name on the wire. */
const WIRE_NAMES: readonly (readonly [string, string])[] = [
  ['name', 'client_name'],
  ['website', 'client_uri'],
  ['redirectUris', 'redirect_uris'],
  ['scopes', 'scope'],
]

/** Makes the error of faults. They are told without what came, which may be a secret, or text for another reader. */
function faultError(faults: readonly RegistrationFault[]): OAuthError {
  const text = faults.map((fault) => `${wireName(fault.path)} ${messageOnWire(fault)}`).join('; ')
  return faults.some(({ path }) => path.startsWith('redirectUris')) ? wrongRedirect(text) : wrong(text)
}

/** Makes the error of what a client said wrong about its redirect URIs. */
function wrongRedirect(message: string): OAuthError {
  return oauthError('invalid_redirect_uri', 'malformed_request', sentence(message))
}

/** Writes the sentence of a fault without what came. */
function messageOnWire({ code, values, message }: RegistrationFault): string {
  return code === 'type' || code === 'missing' ? `must be ${values['takes']}` : message
}

/** Writes the place of a fault by the name on the wire: `redirect_uris[1]` for `redirectUris[1]`. */
function wireName(path: string): string {
  return WIRE_NAMES.reduce(
    (name, [field, member]) => (name.startsWith(field) ? member + name.slice(field.length) : name),
    path,
  )
}

/** Makes the error of what a client said wrong about itself. */
export function wrong(message: string): OAuthError {
  return oauthError('invalid_client_metadata', 'malformed_request', sentence(message))
}

/** Characters that a description may have: printable ASCII without quotes and backslashes (RFC 6749, section 5.2). */
function sentence(text: string): string {
  return `${text
    .split(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/)
    .join('?')
    .slice(0, 300)}.`
}
