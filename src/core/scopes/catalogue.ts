/**
 * The making of a catalogue of scopes, from the definitions of a host.
 * @module
 */
import type { GrantwellError } from '../errors.js'
import { configurationError } from '../errors.js'
import { nearest } from '../nearest.js'
import { checkArgument, readOptions } from '../options.js'
import type {
  NamedScopeDefinition,
  Permission,
  Scope,
  ScopeCatalogue,
  ScopeCatalogueOptions,
  ScopeDefinition,
  ScopeEntry,
  ScopeTokenDefinition,
} from '../scopes.js'
import { readWrite } from '../scopes.js'
import type { Takes, TakesOf } from '../takes.js'
import { came, isObject } from '../takes.js'

const NAME_FORM = /^[\x21\x23-\x39\x3b-\x5b\x5d-\x7e]{1,64}$/
const TOKEN_FORM = /^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/

const DEFINITIONS: Takes = {
  words: 'a list of { name, permissions, description } or { scope, permission, description }',
  fits: Array.isArray,
}

const isPermission = (value: unknown): value is Permission => value === 'r' || value === 'rw'

const DESCRIPTION: Takes = { words: 'a string', fits: (value) => typeof value === 'string' }

/** The name of a definition. */
export const NAME: Takes = {
  words: '1 to 64 visible ASCII characters but " : \\',
  fits: (value) => typeof value === 'string' && NAME_FORM.test(value),
}

const NAMED: TakesOf<NamedScopeDefinition> = {
  name: NAME,
  permissions: {
    words: "['r'], ['rw'] or both",
    fits: (value) => Array.isArray(value) && value.length > 0 && value.every(isPermission),
  },
  description: DESCRIPTION,
}

const OF_TOKENS: TakesOf<ScopeTokenDefinition> = {
  scope: {
    words: '1 to 64 visible ASCII characters but " \\',
    fits: (value) => typeof value === 'string' && TOKEN_FORM.test(value),
  },
  permission: { words: "'r' or 'rw'", fits: isPermission },
  description: DESCRIPTION,
  includes: {
    words: 'a list of scopes of the catalogue',
    fits: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  },
}

/** The options of every catalogue. */
export const CATALOGUE_OPTIONS: TakesOf<ScopeCatalogueOptions> = {
  unknown: { words: "'refuse' or 'leave_out'", fits: (value) => value === 'refuse' || value === 'leave_out' },
}

/** A scope of a catalogue that is being made: it names what it includes itself. */
type Spelled = Omit<ScopeEntry, 'includes' | 'includedBy'> & { readonly direct: readonly Scope[]; readonly at: string }

/**
 * Makes a catalogue of a service's own scopes.
 * @throws GrantwellError `ERR_CONFIGURATION` for a name that is no scope token, a scope given twice, a definition without a
 * permission, or a scope that includes itself or one that is not in the catalogue
 * @example
 * ```ts
 * const scopes = scopeCatalogue([
 *   { name: 'wiki', permissions: ['r', 'rw'], description: 'Wiki pages' },
 *   { scope: 'admin', permission: 'rw', description: 'Settings of the service', includes: ['wiki:rw'] },
 * ])
 * ```
 */
export function scopeCatalogue<Definition extends ScopeDefinition>(
  definitions: readonly Definition[],
  options: ScopeCatalogueOptions = {},
): ScopeCatalogue<Definition> {
  checkArgument('scopeCatalogue', 'definitions', DEFINITIONS, definitions)
  const { unknown = 'refuse' } = readOptions<ScopeCatalogueOptions>('scopeCatalogue', options, CATALOGUE_OPTIONS)
  const spelled = new Map<Scope, Spelled>()
  definitions.forEach((definition, position) => {
    for (const each of spell(definition, position)) {
      if (spelled.has(each.scope)) throw givenTwice(each, definition)
      spelled.set(each.scope, each)
    }
  })
  for (const each of spelled.values()) checkInclusions(each, spelled)
  return { definitions, entries: withInclusions(spelled), unknown }
}

/** Reads a definition: the scopes that it makes. */
function spell(definition: ScopeDefinition, position: number): readonly Spelled[] {
  const at = `scopeCatalogue, definitions[${position}]`
  if (isObject(definition) && Object.hasOwn(definition, 'scope')) {
    const required = ['scope', 'permission', 'description'] as const
    const { scope, permission, includes = [] } = readOptions<ScopeTokenDefinition>(at, definition, OF_TOKENS, required)
    return [{ scope, permission, definition, position, at, direct: includes }]
  }
  const required = ['name', 'permissions', 'description'] as const
  const { name, permissions } = readOptions<NamedScopeDefinition>(at, definition, NAMED, required)
  return [...new Set(permissions)].map((permission) => {
    const direct = permission === 'rw' && permissions.includes('r') ? [`${name}:r`] : []
    return { scope: `${name}:${permission}`, permission, definition, position, at, direct }
  })
}

function givenTwice({ at, scope }: Spelled, definition: ScopeDefinition): GrantwellError {
  const [option, value] = 'name' in definition ? ['name', definition.name] : ['scope', scope]
  return configurationError(`${at}: the option ${option} must be given once; got ${came(value)} again`)
}

/** Refuses a scope that includes an unknown one, or itself, be it through others. */
function checkInclusions({ scope, at }: Spelled, spelled: ReadonlyMap<Scope, Spelled>): void {
  const fault = (words: string): GrantwellError => configurationError(`${at}: the option includes must ${words}`)
  const found = inclusionsOf(scope, spelled)
  for (const each of found) {
    if (spelled.has(each)) continue
    const meant = nearest(each, [...spelled.keys()])
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
    throw fault(`be scopes of the catalogue; got ${came(each)}${hint}`)
  }
  if (found.has(scope)) throw fault(`lead to other scopes alone; ${came(scope)} includes itself`)
}

/** Returns all scopes that one includes, directly or through others. */
function inclusionsOf(scope: Scope, spelled: ReadonlyMap<Scope, Spelled>): ReadonlySet<Scope> {
  const found = new Set(spelled.get(scope)?.direct)
  // A set that grows while it is walked: each scope is visited once.
  for (const each of found) for (const further of spelled.get(each)?.direct ?? []) found.add(further)
  return found
}

function withInclusions(spelled: ReadonlyMap<Scope, Spelled>): ScopeCatalogue['entries'] {
  const inclusions = new Map([...spelled.keys()].map((scope) => [scope, inclusionsOf(scope, spelled)]))
  const includedBy = (scope: Scope): readonly Scope[] =>
    [...inclusions].flatMap(([wider, narrower]) => (narrower.has(scope) ? [wider] : []))
  const entries = [...spelled.values()].map(({ scope, permission, definition, position }): [Scope, ScopeEntry] => {
    // A grant may have the `name:rw` of an earlier catalogue.
    const by = 'name' in definition ? new Set([...readWrite(scope), ...includedBy(scope)]) : includedBy(scope)
    return [
      scope,
      { scope, permission, definition, position, includes: [...(inclusions.get(scope) ?? [])], includedBy: [...by] },
    ]
  })
  return new Map(entries)
}
