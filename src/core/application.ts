/**
 * Applications: what is registered about one, which registrations are sound, and who may use it.
 * @module
 * @see Specification, sections 1, 2.1 and 8; RFC 6749, section 2
 */
import { constantTimeEqual } from './base64url.js'
import type { Digests } from './digests.js'
import { digestOf } from './digests.js'
import type { RedirectRegistration, RedirectRules } from './redirect-uri.js'
import { parseRedirectUri } from './redirect-uri.js'
import type { Scope, ScopeCatalogue } from './scopes.js'
import { normalizeScopes } from './scopes.js'
import type { ClientId, Digest, Seconds } from './values.js'

/** What an applicant and the administrators agreed on (specification, section 2.1). */
export interface Registration {
  /** Shown to the user; at most 50 characters as a person counts them. */
  readonly name: string
  /** PNG, JPEG, GIF or WebP, at most 1 MB (1,048,576 bytes). */
  readonly logo: Uint8Array
  /** At most 350 characters. */
  readonly description?: string
  /** Official website: an http or https URL of at most 128 characters. */
  readonly website: string
  /** `confidential` keeps a secret (a server); `public` cannot (a native or command-line tool). */
  readonly type: 'confidential' | 'public'
  /** At least one: https, http on loopback (any port will be admitted), or a private-use scheme for public clients. */
  readonly redirectUris: readonly string[]
  /** The domain that redirect URIs must have; by default the one that all registered https URIs share. */
  readonly authorizedDomain?: string
  /** Whether subdomains of it are admitted; false by default. */
  readonly allowSubdomains?: boolean
  /** The scopes that it may ask for, such as `['repo-code:rw', 'account-profile:r']`. */
  readonly scopes: readonly string[]
  /** The widest resource scope that it may ask for; a user may grant a narrower one. */
  readonly resourceScope: ResourceScope
}

/** Authorization resource scope: all resources of the account, its public ones, or specified ones. */
export type ResourceScope = 'all' | 'public' | 'specified'

/** The record of an application. JSON. */
export interface Application extends RedirectRegistration {
  /** Version of this shape. */
  readonly v: 1
  readonly clientId: ClientId
  /** A suspended application gets nothing, and its live tokens do not work until it is reinstated. */
  readonly state: 'approved' | 'suspended'
  readonly name: string
  readonly description?: string
  readonly website: string
  /** Of the logo's bytes, which are kept apart. */
  readonly logo: Digest
  readonly scopes: readonly Scope[]
  readonly resourceScope: ResourceScope
  /** Absent for public clients. */
  readonly secretDigest?: Digest
  readonly createdAt: Seconds
}

/** One thing that is wrong with a registration. */
export interface RegistrationFault {
  /** Where, such as `redirectUris[1]`. */
  readonly path: string
  readonly message: string
}

/** Limits of section 8: characters, and bytes for the logo. */
export const APPLICATION_LIMITS = { name: 50, description: 350, website: 128, logo: 1_048_576 } as const

/** The resource scopes that a user may choose from, for each that an application is registered with. */
export const RESOURCE_CHOICES: { readonly [Registered in ResourceScope]: readonly ResourceScope[] } = {
  all: ['all', 'public', 'specified'],
  public: ['public', 'specified'],
  specified: ['specified'],
}

/** The longest emoji of a person's keyboard have 15 UTF-16 code units. */
const CODE_UNITS_PER_CHARACTER = 16

const isText = (value: unknown): boolean => typeof value === 'string'
const isTextOrAbsent = (value: unknown): boolean => value === undefined || isText(value)
const isListOfText = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

const SHAPE: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  Object.entries({
    name: isText,
    logo: (value) => value instanceof Uint8Array,
    description: isTextOrAbsent,
    website: isText,
    type: isText,
    redirectUris: isListOfText,
    authorizedDomain: isTextOrAbsent,
    allowSubdomains: (value) => value === undefined || typeof value === 'boolean',
    scopes: isListOfText,
    resourceScope: isText,
  } satisfies { readonly [Name in keyof Required<Registration>]: (value: unknown) => boolean }),
)

const DOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/
const CONTROL = /\p{Cc}/u

/**
 * Checks a registration and makes the record.
 * @param secretDigest - of the client secret; absent for a public client
 * @returns the application, approved, or every fault that there is, each with its path
 */
export function registerApplication(
  registration: Registration,
  identity: { readonly clientId: ClientId; readonly secretDigest?: Digest },
  now: Seconds,
  rules: { readonly scopes: ScopeCatalogue; readonly redirect: RedirectRules; readonly digests: Digests },
):
  | { readonly type: 'application'; readonly application: Application }
  | { readonly type: 'faults'; readonly faults: readonly RegistrationFault[] } {
  const misshapen = shapeFaults(registration)
  if (misshapen.length > 0) return { type: 'faults', faults: misshapen }
  const { name, description, website, type, redirectUris, resourceScope } = registration
  const faults: RegistrationFault[] = []
  const check = (holds: boolean, path: string, message: string): void => {
    if (!holds) faults.push({ path, message })
  }
  check(
    name.trim() !== '' && isWithin(name, APPLICATION_LIMITS.name) && !CONTROL.test(name),
    'name',
    'must have 1 to 50 characters',
  )
  check(isWithin(description ?? '', APPLICATION_LIMITS.description), 'description', 'must have at most 350 characters')
  check(isWebsite(website), 'website', 'must be an http or https URL of at most 128 characters')
  check(registration.logo.length <= APPLICATION_LIMITS.logo, 'logo', 'must have at most 1,048,576 bytes')
  check(imageType(registration.logo) !== undefined, 'logo', 'must be a PNG, JPEG, GIF or WebP image')
  check(type === 'confidential' || type === 'public', 'type', 'must be confidential or public')
  check(Object.hasOwn(RESOURCE_CHOICES, resourceScope), 'resourceScope', 'must be all, public or specified')
  check(redirectUris.length > 0, 'redirectUris', 'must have at least one')

  const kinds = redirectUris.map((uri) => parseRedirectUri(uri, rules.redirect))
  kinds.forEach((parsed, index) => {
    const path = `redirectUris[${index}]`
    if (parsed === undefined) {
      check(
        false,
        path,
        'must be https, http on loopback or a private-use scheme, canonical, without fragment, user info or parameters of the response',
      )
    } else {
      check(
        parsed.kind !== 'private-use' || type === 'public',
        path,
        'must not have a private-use scheme: the client is confidential',
      )
    }
  })
  const hosts = new Set(kinds.flatMap((parsed) => (parsed?.kind === 'https' ? [parsed.url.hostname] : [])))
  const [onlyHost] = hosts.size === 1 ? hosts : []
  const authorizedDomain = registration.authorizedDomain ?? onlyHost
  const allowSubdomains = registration.allowSubdomains ?? false
  check(
    hosts.size === 0 || authorizedDomain !== undefined,
    'authorizedDomain',
    'must be given: the redirect URIs have several hosts',
  )
  if (authorizedDomain !== undefined) {
    check(
      DOMAIN.test(authorizedDomain),
      'authorizedDomain',
      'must be a domain name in lower case, without port or trailing dot',
    )
    check(!allowSubdomains || authorizedDomain.includes('.'), 'allowSubdomains', 'must not open a top-level domain')
    for (const host of hosts) {
      const inside = host === authorizedDomain || (allowSubdomains && host.endsWith(`.${authorizedDomain}`))
      check(inside, 'redirectUris', `${host} is not in the authorized domain`)
    }
  }
  const scopes = normalizeScopes(rules.scopes, registration.scopes)
  if (scopes === undefined) check(false, 'scopes', 'must be one or more scopes of the catalogue, such as repo-code:r')
  if (faults.length > 0 || scopes === undefined) return { type: 'faults', faults }
  return {
    type: 'application',
    application: {
      v: 1,
      clientId: identity.clientId,
      type,
      state: 'approved',
      name,
      ...(description !== undefined && description !== '' && { description }),
      website,
      logo: digestOf(rules.digests, registration.logo),
      redirectUris: [...redirectUris],
      ...(authorizedDomain !== undefined && { authorizedDomain }),
      allowSubdomains,
      scopes,
      resourceScope,
      ...(identity.secretDigest !== undefined && { secretDigest: identity.secretDigest }),
      createdAt: now,
    },
  }
}

/** The media type of an image, told by its first bytes; undefined for any other. SVG is none of them: it can run scripts. */
export function imageType(bytes: Uint8Array): 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 12))
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif'
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : undefined
}

/** Stands in for the digest of an application that does not exist or has no secret: as long, and equal to none. */
const NO_DIGEST = '-'.repeat(43)

/**
 * Whether a presented secret is the application's, in the same time for a wrong one, an unknown application and a
 * public client.
 * @param presented - the digest of what the client sent
 */
export function hasSecret(application: Application | undefined, presented: Digest): boolean {
  const expected = application?.secretDigest
  return constantTimeEqual(expected ?? NO_DIGEST, presented) && expected !== undefined
}

/** Whether a person sees at most so many characters; and, since one of them can be piled up without end, their size. */
function isWithin(text: string, limit: number): boolean {
  if (text.length > limit * CODE_UNITS_PER_CHARACTER) return false
  return [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].length <= limit
}

/** Fields that are unknown, missing, or of the wrong type: what the type checker tells those who have one. */
function shapeFaults(registration: Registration): readonly RegistrationFault[] {
  const given = new Map<string, unknown>(Object.entries(registration))
  const unknown = [...given.keys()].filter((name) => !SHAPE.has(name))
  const wrong = [...SHAPE].filter(([name, fits]) => !fits(given.get(name))).map(([name]) => name)
  return [
    ...unknown.map((path) => ({ path, message: 'is not a field of a registration' })),
    ...wrong.map((path) => ({ path, message: 'is missing or of the wrong type' })),
  ]
}

function isWebsite(text: string): boolean {
  if (text.length > APPLICATION_LIMITS.website || !URL.canParse(text)) return false
  return ['http:', 'https:'].includes(new URL(text).protocol)
}
