/**
 * Permission scopes: the catalogue, and the arithmetic of what covers what.
 *
 * A scope is written `name:r` (read-only) or `name:rw` (read-write, which includes `r`), or it is a word of the host's own,
 * which says itself what it includes. A list of them is separated by spaces. Lists are kept in one normal form: the order
 * of the catalogue, no scope that another one includes, single spaces between.
 * @module
 * @see Specification, section 5.3; RFC 6749, section 3.3
 */
import type { Takes } from './takes.js'
import { isObject } from './takes.js'

/** The permission in a scope: `r` reads, `rw` reads and writes. */
export type Permission = 'r' | 'rw'

/** One granted or requested permission, as its catalogue spells it: `repo-code:rw`, or a word of the host's own such as `read:user`. */
export type Scope = string

/**
 * The description of a scope: one text for all languages, or `{ en: 'Wiki pages', de: 'Wiki-Seiten' }`, of which a reader whose
 * language is missing gets the English one, else the first.
 */
export type ScopeDescription = string | Readonly<Record<string, string>>

/** A name that stands for one scope for each of its permissions: `repo-code` for `repo-code:r` and `repo-code:rw`. */
export interface NamedScopeDefinition {
  /** Characters of a scope token without the colon: visible ASCII but `"`, `:` and `\` (RFC 6749, section 3.3). */
  readonly name: string
  /** `['r']`, `['rw']`, or both. */
  readonly permissions: readonly Permission[]
  /** A description of what it covers, for the consent page: one text, or one for each language by its tag. */
  readonly description: ScopeDescription
}

/** A scope in the host's own spelling, such as `read:user`, `repo` or `openid`. */
export interface ScopeTokenDefinition {
  /** The whole scope: 1 to 64 characters of a scope token, visible ASCII but `"` and `\` (RFC 6749, section 3.3). */
  readonly scope: string
  /** The heading of the consent page under which it stands: `r` only reads, `rw` changes something as well. */
  readonly permission: Permission
  /** A description of what it covers, for the consent page: one text, or one for each language by its tag. */
  readonly description: ScopeDescription
  /** Scopes of the catalogue that whoever has this one has as well; none by default. They may include others in turn. */
  readonly includes?: readonly Scope[]
}

/** One line of a catalogue. */
export type ScopeDefinition = NamedScopeDefinition | ScopeTokenDefinition

/** Every scope that a service knows, in the order in which lists of scopes are written. */
export interface ScopeCatalogue<Definition extends ScopeDefinition = ScopeDefinition> {
  /** The definitions, in the order in which lists of scopes are written. */
  readonly definitions: readonly Definition[]
  /** All scopes there are, by their spelling: where each stands in the normal form, and what it says. */
  readonly entries: ReadonlyMap<string, ScopeEntry>
  /** The answer to a client that asks for an unknown scope beside known ones: an error, or a grant without it. */
  readonly unknown: 'refuse' | 'leave_out'
}

/** One scope of a catalogue. */
export interface ScopeEntry {
  /** The scope as it is written. */
  readonly scope: Scope
  /** The permission in it. */
  readonly permission: Permission
  /** The definition that makes it. */
  readonly definition: ScopeDefinition
  /** The place of the definition in the catalogue, from 0. */
  readonly position: number
  /** All other scopes that whoever has this one has as well, directly or through others. */
  readonly includes: readonly Scope[]
  /** All other scopes that include this one, and for a `name:r` alone the `name:rw` that an earlier catalogue may have had. */
  readonly includedBy: readonly Scope[]
}

/** The part of a catalogue that tells which scopes include others. */
export interface Inclusions {
  /** The scopes that include each one, by its spelling. */
  readonly entries: ReadonlyMap<string, Pick<ScopeEntry, 'includedBy'>>
}

/** A catalogue as an option takes it. */
export const CATALOGUE: Takes = {
  words: 'a catalogue that scopeCatalogue or serviceScopes made',
  fits: (value) => isObject(value) && value['entries'] instanceof Map && Object.hasOwn(value, 'unknown'),
}

/** The options of a catalogue. */
export interface ScopeCatalogueOptions {
  /**
   * The answer to a client that asks for an unknown scope beside known ones: `refuse` (default) is the error `invalid_scope`,
   * `leave_out` grants the known ones and says so in `scope` (RFC 6749, section 3.3). With no known one it is always an error.
   */
  readonly unknown?: 'refuse' | 'leave_out'
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

/**
 * Reads the scopes that a client asks for: as {@link parseScopes} does, but without the unknown ones where the catalogue leaves
 * them out.
 */
export function parseRequestedScopes(catalogue: ScopeCatalogue, text: string): readonly Scope[] | undefined {
  const scopes = splitScopes(text)
  return normalizeScopes(
    catalogue,
    catalogue.unknown === 'leave_out' ? scopes.filter((scope) => catalogue.entries.has(scope)) : scopes,
  )
}

/** Brings a list of scopes to normal form; undefined where one is unknown or there is none. */
export function normalizeScopes({ entries }: ScopeCatalogue, scopes: readonly string[]): readonly Scope[] | undefined {
  const chosen = new Map<Scope, ScopeEntry>()
  for (const scope of scopes) {
    const entry = entries.get(scope)
    if (entry === undefined) return undefined
    chosen.set(scope, entry)
  }
  if (chosen.size === 0) return undefined
  return [...chosen.values()]
    .filter(({ includedBy }) => !includedBy.some((wider) => chosen.has(wider)))
    .sort((a, b) => a.position - b.position)
    .map(({ scope }) => scope)
}

/** Writes a list of scopes, separated by a space. */
export function printScopes(scopes: readonly Scope[]): string {
  return scopes.join(' ')
}

/** True if every needed scope is granted, or included in one that is. */
export function coversScopes(granted: readonly Scope[], needed: readonly Scope[], { entries }: Inclusions): boolean {
  for (const scope of needed) {
    if (granted.includes(scope)) continue
    if (!(entries.get(scope)?.includedBy.some((wider) => granted.includes(wider)) ?? false)) return false
  }
  return true
}

/** Returns the `name:rw` of a `name:r`. */
export function readWrite(scope: Scope): readonly Scope[] {
  return scope.endsWith(':r') ? [`${scope}w`] : []
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
  catalogue: Inclusions,
): readonly Scope[] | undefined {
  if (requested === undefined) return granted
  return coversScopes(granted, requested, catalogue) ? requested : undefined
}

/**
 * Limits the scopes of a grant to those that its application is still registered for and the service still has. A scope that is
 * gone leaves those that it included, where they may stay: `name:rw` becomes `name:r`.
 */
export function limitScopes(
  granted: readonly Scope[],
  registered: readonly Scope[],
  catalogue: ScopeCatalogue,
): readonly Scope[] {
  for (const scope of granted) if (!catalogue.entries.has(scope)) return scopesLeft(granted, registered, catalogue)
  return coversScopes(registered, granted, catalogue) ? granted : scopesLeft(granted, registered, catalogue)
}

function scopesLeft(
  granted: readonly Scope[],
  registered: readonly Scope[],
  catalogue: ScopeCatalogue,
): readonly Scope[] {
  const { entries } = catalogue
  const isLeft = (scope: Scope): boolean => entries.has(scope) && coversScopes(registered, [scope], catalogue)
  const left = granted.flatMap((scope) => (isLeft(scope) ? [scope] : included(scope, entries).filter(isLeft)))
  return normalizeScopes(catalogue, left) ?? []
}

/** Returns what a scope includes. Of one that the service took out of its catalogue, only the spelling tells. */
function included(scope: Scope, entries: ScopeCatalogue['entries']): readonly Scope[] {
  const entry = entries.get(scope)
  if (entry !== undefined) return entry.includes
  const read = scope.slice(0, -1)
  return entries.get(read)?.includedBy.includes(scope) === true ? [read] : []
}
