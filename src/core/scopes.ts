/**
 * Permission scopes: the catalogue, and the arithmetic of what covers what.
 *
 * A scope is written `name:r` (read-only) or `name:rw` (read-write, which includes `r`); a list of them is separated by
 * spaces. Lists are kept in one normal form: the order of the catalogue, each name once, single spaces between.
 * @module
 * @see Specification, section 5.3; RFC 6749, section 3.3
 */
import { configurationError } from './errors.js'
import { checkArgument, readOptions } from './options.js'
import type { Takes, TakesOf } from './takes.js'
import { came } from './takes.js'

/** The permission in a scope: `r` reads, `rw` reads and writes. */
export type Permission = 'r' | 'rw'

/** One granted or requested permission, such as `repo-code:rw`. */
export type Scope = `${string}:${Permission}`

/** A name that a catalogue knows, and the permission types that it admits. */
export interface ScopeDefinition {
  /** Characters of a scope token without the colon: visible ASCII but `"`, `:` and `\` (RFC 6749, section 3.3). */
  readonly name: string
  /** `['r']`, `['rw']`, or both. */
  readonly permissions: readonly Permission[]
  /** A description of what it covers, for the consent page. */
  readonly description: string
}

/** Every scope that a service knows, in the order in which lists of scopes are written. */
export interface ScopeCatalogue {
  /** The definitions, in the order in which lists of scopes are written. */
  readonly definitions: readonly ScopeDefinition[]
  /** All scopes there are, by their spelling: where each stands in the normal form, and what it says. */
  readonly entries: ReadonlyMap<string, ScopeEntry>
}

/** One scope of a catalogue. */
export interface ScopeEntry {
  /** The scope as it is written. */
  readonly scope: Scope
  /** The permission in it. */
  readonly permission: Permission
  /** The definition of its name. */
  readonly definition: ScopeDefinition
  /** The place of the definition in the catalogue, from 0. */
  readonly position: number
}

const TOKEN = /^[\x21\x23-\x39\x3b-\x5b\x5d-\x7e]{1,64}$/

const DEFINITIONS: Takes = { words: 'a list of { name, permissions, description }', fits: Array.isArray }

const DEFINITION: TakesOf<ScopeDefinition> = {
  name: {
    words: '1 to 64 visible ASCII characters but " : \\',
    fits: (value) => typeof value === 'string' && TOKEN.test(value),
  },
  permissions: {
    words: "['r'], ['rw'] or both",
    fits: (value) => Array.isArray(value) && value.length > 0 && value.every((each) => each === 'r' || each === 'rw'),
  },
  description: { words: 'a string', fits: (value) => typeof value === 'string' },
}

/**
 * Makes a catalogue of a service's own scopes.
 * @throws GrantwellError `ERR_CONFIGURATION` for a name that is no scope token, a name given twice, or a definition without a permission
 * @example
 * ```ts
 * const scopes = scopeCatalogue([{ name: 'wiki', permissions: ['r', 'rw'], description: 'Wiki pages' }])
 * ```
 */
export function scopeCatalogue(definitions: readonly ScopeDefinition[]): ScopeCatalogue {
  checkArgument('scopeCatalogue', 'definitions', DEFINITIONS, definitions)
  const entries = new Map<string, ScopeEntry>()
  const names = new Set<string>()
  definitions.forEach((definition, position) => {
    const of = `scopeCatalogue, definitions[${position}]`
    const required = ['name', 'permissions', 'description'] as const
    const { name, permissions } = readOptions<ScopeDefinition>(of, definition, DEFINITION, required)
    if (names.has(name)) throw configurationError(`${of}: the option name must be given once; got ${came(name)} again`)
    names.add(name)
    for (const permission of permissions) {
      const scope: Scope = `${name}:${permission}`
      entries.set(scope, { scope, permission, definition, position })
    }
  })
  return { definitions, entries }
}

/**
 * Reads a list of scopes. Extra spaces before, between and behind them change nothing; a tab or a comma separates nothing.
 * @returns the list in normal form; undefined where it has no scope, or names a scope or a permission that the catalogue
 * does not have
 */
export function parseScopes(catalogue: ScopeCatalogue, text: string): readonly Scope[] | undefined {
  return normalizeScopes(catalogue, splitScopes(text))
}

/** Returns the parts of a list of scopes, none of them empty and none of them checked. */
export function splitScopes(text: string): readonly string[] {
  return text.split(' ').filter((part) => part !== '')
}

/** Brings a list of scopes to normal form; undefined where one is unknown or there is none. */
export function normalizeScopes(catalogue: ScopeCatalogue, scopes: readonly string[]): readonly Scope[] | undefined {
  const chosen = new Map<number, ScopeEntry>()
  for (const scope of scopes) {
    const entry = catalogue.entries.get(scope)
    if (entry === undefined) return undefined
    if (chosen.get(entry.position)?.permission !== 'rw') chosen.set(entry.position, entry)
  }
  if (chosen.size === 0) return undefined
  return [...chosen.values()].sort((a, b) => a.position - b.position).map((entry) => entry.scope)
}

/** Writes a list of scopes, separated by a space. */
export function printScopes(scopes: readonly Scope[]): string {
  return scopes.join(' ')
}

/** True if every needed scope is granted; `name:rw` includes `name:r`. */
export function coversScopes(granted: readonly Scope[], needed: readonly Scope[]): boolean {
  for (const scope of needed) {
    if (granted.includes(scope)) continue
    if (!scope.endsWith(':r') || !granted.includes(`${scope}w` as Scope)) return false // `name:r` and a `w` spell `name:rw`
  }
  return true
}

/**
 * The scopes that a request ends with.
 * @param granted - the most there can be
 * @param requested - the wish; undefined asks for all
 * @returns the wish where it is covered, else undefined: never more than was granted
 */
export function narrowScopes(
  granted: readonly Scope[],
  requested: readonly Scope[] | undefined,
): readonly Scope[] | undefined {
  if (requested === undefined) return granted
  return coversScopes(granted, requested) ? requested : undefined
}

/**
 * Limits the scopes of a grant to those that its application is still registered for and the service still has: `name:rw`
 * becomes `name:r` where no more than that is left.
 */
export function limitScopes(
  granted: readonly Scope[],
  registered: readonly Scope[],
  { entries }: ScopeCatalogue,
): readonly Scope[] {
  for (const scope of granted) if (!entries.has(scope)) return scopesLeft(granted, registered, entries)
  return coversScopes(registered, granted) ? granted : scopesLeft(granted, registered, entries)
}

function scopesLeft(
  granted: readonly Scope[],
  registered: readonly Scope[],
  entries: ScopeCatalogue['entries'],
): readonly Scope[] {
  const isLeft = (scope: Scope): boolean => entries.has(scope) && coversScopes(registered, [scope])
  return granted.flatMap((scope) => {
    if (isLeft(scope)) return [scope]
    const read = scope.endsWith(':rw') ? (scope.slice(0, -1) as Scope) : undefined // `name:rw` without its end is `name:r`
    return read !== undefined && isLeft(read) ? [read] : []
  })
}

const READ: readonly Permission[] = ['r']
const WRITE: readonly Permission[] = ['rw']
const BOTH: readonly Permission[] = ['r', 'rw']

/**
 * The catalogue of the specification: 26 names.
 * @param options.service - the word that stands in three of the names where the service's own name would be; `native`
 * by default
 * @see Specification, section 5.3
 */
export function serviceScopes(options: { readonly service?: string } = {}): ScopeCatalogue {
  const takes = { service: DEFINITION.name }
  const { service = 'native' } = readOptions<{ readonly service?: string }>('serviceScopes', options, takes)
  const define = (name: string, permissions: readonly Permission[], description: string): ScopeDefinition => ({
    name,
    permissions,
    description,
  })
  return scopeCatalogue([
    define('repo-code', BOTH, 'Repository code through Git commands'),
    define('repo-pr', BOTH, 'Pull requests'),
    define('repo-issue', BOTH, 'Issues'),
    define('repo-notes', BOTH, 'Comments on issues and pull requests'),
    define('repo-release', BOTH, 'Tags and releases'),
    define('repo-commit-status', BOTH, 'Pipeline status, badges, commit metadata'),
    define(`repo-${service}-trigger`, BOTH, 'Query, trigger and run cloud-native build and cloud-native development'),
    define(`repo-${service}-history`, READ, 'Pipeline build history'),
    define(`repo-${service}-detail`, BOTH, 'Query or delete cloud-native development spaces'),
    define('repo-basic-info', READ, 'Basic repository info (name, description, language, license)'),
    define('repo-manage', BOTH, 'Repository members and settings'),
    define('repo-delete', WRITE, 'Delete a repository'),
    define('repo-security', READ, 'Repository security module data'),
    define('registry-package', BOTH, 'Artifacts'),
    define('registry-package-delete', WRITE, 'Delete artifacts'),
    define('registry-security', READ, 'Package security, license and SBOM data'),
    define('registry-manage', BOTH, 'Artifact registry members and settings'),
    define('registry-delete', WRITE, 'Delete an artifact registry'),
    define('account-profile', BOTH, 'User profile'),
    define('account-email', BOTH, "The user's verified email"),
    define(
      'account-engage',
      BOTH,
      'Followed repositories, followers, cloud-native development environments, and similar',
    ),
    define(
      'group-resource',
      BOTH,
      'Sub-organizations, repositories, artifact registries and mission sets under an organization',
    ),
    define('group-manage', BOTH, 'Organization members, repository wall, organization settings'),
    define('group-delete', WRITE, 'Delete an organization'),
    define('mission-delete', WRITE, 'Delete a mission set'),
    define('mission-manage', BOTH, 'Access a mission set'),
  ])
}
