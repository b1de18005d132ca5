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
import { came, isObject, isRecord } from '../takes.js'

const NAME_FORM = /^[\x21\x23-\x39\x3b-\x5b\x5d-\x7e]{1,64}$/
const TOKEN_FORM = /^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/

const DEFINITIONS: Takes = {
  words: 'a list of { name, permissions, description } or { scope, permission, description }',
  fits: Array.isArray,
}

const isPermission = (value: unknown): value is Permission => value === 'r' || value === 'rw'

const isText = (value: unknown): value is string => typeof value === 'string'

const areTexts = (values: readonly unknown[]): boolean => values.length > 0 && values.every(isText)

const DESCRIPTION: Takes = {
  words: 'a string, or one for each language tag',
  fits: (value) => isText(value) || (isRecord(value) && areTexts(Object.values(value))),
}

/** The name of a definition. */
export const NAME: Takes = {
  words: '1 to 64 visible ASCII characters but " : \\',
  fits: (value) => isText(value) && NAME_FORM.test(value),
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
    fits: (value) => isText(value) && TOKEN_FORM.test(value),
  },
  permission: { words: "'r' or 'rw'", fits: isPermission },
  description: DESCRIPTION,
  includes: {
    words: 'a list of scopes of the catalogue',
    fits: (value) => Array.isArray(value) && [...value].every(isText), // a hole, too
  },
}

/** The options of every catalogue. */
export const CATALOGUE_OPTIONS: TakesOf<ScopeCatalogueOptions> = {
  unknown: { words: "'refuse' or 'leave_out'", fits: (value) => value === 'refuse' || value === 'leave_out' },
}

/** A scope of a catalogue that is being made: it names what it includes itself. */
interface Spelled extends Omit<ScopeEntry, 'includes' | 'includedBy'> {
  /** True where its name and permission spell it, so that `name:rw` includes `name:r`. */
  readonly isNamed: boolean
  readonly direct: readonly Scope[]
  /** The definition, for messages. */
  readonly at: string
}

/**
 * Makes a catalogue of a service's own scopes.
 * @throws GrantwellError `ERR_CONFIGURATION` for a name that is no scope token, a scope given twice, a definition without a
 * permission, or a scope that includes itself, one that is not in the catalogue, or with `r` one with `rw`
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
      if (spelled.has(each.scope)) throw givenTwice(each)
      spelled.set(each.scope, each)
    }
  })
  const made = [...spelled.values()].map((each) => ({ ...each, included: inclusionsOf(each, spelled) }))
  for (const each of made) checkInclusions(each, spelled)
  return { definitions, entries: new Map(made.map((each) => [each.scope, entryOf(each, made)])), unknown }
}

/** A scope of a catalogue that is being made, with all that it includes. */
interface Complete extends Spelled {
  readonly included: ReadonlySet<Scope>
}

/** Reads a definition, and returns the scopes that it makes. */
function spell(definition: ScopeDefinition, position: number): readonly Spelled[] {
  const at = `scopeCatalogue, definitions[${position}]`
  // Its own field: a polluted prototype must not make another scope of it.
  if (isObject(definition) && Object.getOwnPropertyDescriptor(definition, 'scope')?.value !== undefined) {
    const required = ['scope', 'permission', 'description'] as const
    const { scope, permission, includes = [] } = readOptions<ScopeTokenDefinition>(at, definition, OF_TOKENS, required)
    return [{ scope, permission, definition, position, isNamed: false, direct: includes, at }]
  }
  const required = ['name', 'permissions', 'description'] as const
  const { name, permissions } = readOptions<NamedScopeDefinition>(at, definition, NAMED, required)
  return [...new Set(permissions)].map((permission) => {
    const direct = permission === 'rw' && permissions.includes('r') ? [`${name}:r`] : []
    return { scope: `${name}:${permission}`, permission, definition, position, isNamed: true, direct, at }
  })
}

function givenTwice({ at, scope, isNamed }: Spelled): GrantwellError {
  const [option, value] = isNamed ? ['name', scope.slice(0, scope.lastIndexOf(':'))] : ['scope', scope]
  return configurationError(`${at}: the option ${option} must be given once; got ${came(value)} again`)
}

/** Refuses a scope that includes an unknown one, itself, or more than its permission says, be it through others. */
function checkInclusions({ scope, permission, included, at }: Complete, spelled: ReadonlyMap<Scope, Spelled>): void {
  const unknown = [...included].find((each) => !spelled.has(each))
  if (unknown !== undefined) {
    const meant = nearest(unknown, [...spelled.keys()])
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
    throw configurationError(`${at}: the option includes must be scopes of the catalogue; got ${came(unknown)}${hint}`)
  }
  if (included.has(scope))
    throw configurationError(
      `${at}: the option includes must lead to other scopes alone; ${came(scope)} includes itself`,
    )
  // The consent page would call it reading.
  const changing = permission === 'r' ? [...included].find((each) => spelled.get(each)?.permission === 'rw') : undefined
  if (changing !== undefined)
    throw configurationError(`${at}: the option permission must be 'rw', since it includes ${came(changing)}`)
}

/** Returns all scopes that one includes, directly or through others. */
function inclusionsOf({ direct }: Spelled, spelled: ReadonlyMap<Scope, Spelled>): ReadonlySet<Scope> {
  const found = new Set(direct)
  // A set that grows while it is walked: each scope is visited once.
  for (const each of found) for (const further of spelled.get(each)?.direct ?? []) found.add(further)
  return found
}

/** Makes the entry of a scope, from all scopes of its catalogue. */
function entryOf(
  { scope, permission, definition, position, isNamed, included }: Complete,
  all: readonly Complete[],
): ScopeEntry {
  const wider = all.filter((each) => each.included.has(scope)).map((each) => each.scope)
  // A grant may have the `name:rw` of an earlier catalogue.
  const earlier = isNamed ? readWrite(scope).filter((each) => all.every((other) => other.scope !== each)) : []
  return { scope, permission, definition, position, includes: [...included], includedBy: [...wider, ...earlier] }
}
