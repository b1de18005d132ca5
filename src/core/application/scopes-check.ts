/**
 * The check of the scopes of a registration, and of their reasons.
 * @module
 * @see Specification, section 5.3
 */

import { nearest } from '../nearest.js'
import type { ScopeCatalogue, ScopeEntry } from '../scopes.js'
import { normalizeScopes } from '../scopes.js'
import { TEXT } from '../takes.js'
import type { BrokenRule } from './faults.js'
import { brokenRule, wrongType } from './faults.js'
import { reasonFault } from './reason.js'
import type { RegistrationDetails } from './registration.js'
import type { Check, RegistrationForm } from './registration-form.js'
import { LIST, otherFields, ownFields } from './registration-form.js'

type OverlapCode = 'scope_twice' | 'scope_includes' | 'scope_included'

const SCOPE_FIELDS = ['scope', 'reason'] as const

/** Settings for the check of scopes. */
export interface ScopesCheckRules {
  readonly scopes: ScopeCatalogue
  /** `required` asks for a reason of every scope. */
  readonly reasons: 'required' | 'optional'
}

/** Checks the scopes of a registration. Returns them in normal form, with their reasons; undefined where none can be read. */
export function checkScopes(
  { read, check }: RegistrationForm,
  rules: ScopesCheckRules,
): Pick<RegistrationDetails, 'scopes' | 'reasons'> | undefined {
  const given = read('scopes', LIST)
  if (given === undefined) return undefined
  // The catalogue has no more to ask for, and a fault for each would be without end.
  if (given.length === 0 || given.length > rules.scopes.entries.size) {
    check(false, 'scopes', brokenRule('scopes_count'))
    return undefined
  }
  const wanted: string[] = []
  const named = new Map<number, ScopeEntry>()
  const reasons = new Map<string, string>()
  for (const [index, each] of given.entries()) {
    const requested = checkScope(each, `scopes[${index}]`, rules, check)
    if (requested === undefined) continue
    const { entry, at, reason } = requested
    const other = named.get(entry.position)
    if (other !== undefined) check(false, at, overlap(entry, other))
    named.set(entry.position, entry)
    wanted.push(entry.scope)
    if (TEXT.fits(reason)) reasons.set(entry.scope, reason)
  }
  const scopes = normalizeScopes(rules.scopes, wanted)
  return scopes === undefined ? undefined : { scopes, reasons: Object.fromEntries(reasons) }
}

/** Checks one requested scope, with or without a reason; undefined where the catalogue does not have it. */
function checkScope(
  given: unknown,
  path: string,
  { scopes: { entries }, reasons }: ScopesCheckRules,
  check: Check,
): { readonly entry: ScopeEntry; readonly at: string; readonly reason: unknown } | undefined {
  const isObject = typeof given === 'object' && given !== null
  if (typeof given !== 'string' && !isObject) {
    check(false, path, wrongType({ words: 'a scope, or a scope with its reason' }, given))
    return undefined
  }
  const asked = isObject ? given : { scope: given }
  const fields = ownFields(asked, SCOPE_FIELDS)
  const [scope, reason] = [fields.get('scope'), fields.get('reason')]
  for (const name of otherFields(asked, SCOPE_FIELDS)) {
    check(false, `${path}.${name}`, brokenRule('scope_field_unknown'))
  }
  if (reason !== undefined || reasons === 'required') {
    const fault = reasonFault(reason)
    if (fault !== undefined) check(false, `${path}.reason`, fault)
  }
  const entry = TEXT.fits(scope) ? entries.get(scope) : undefined
  const at = isObject ? `${path}.scope` : path
  if (entry === undefined) {
    check(false, at, unknownScope(scope, [...entries.keys()]))
    return undefined
  }
  return { entry, at, reason }
}

/** Finds the rule that a scope breaks which shares its name with one before it: `r` and `rw`, of which `rw` is enough, or the same twice. */
function overlap({ scope, includes }: ScopeEntry, { scope: other }: ScopeEntry): BrokenRule<OverlapCode> {
  if (scope === other) return brokenRule('scope_twice')
  return includes.includes(other)
    ? brokenRule('scope_includes', { scope, other })
    : brokenRule('scope_included', { other })
}

/** Creates the broken rule of an unknown scope. It names a scope of this catalogue, which may be the host's own. */
function unknownScope(scope: unknown, known: readonly string[]): BrokenRule<'scope_unknown'> {
  const meant = TEXT.fits(scope) ? nearest(scope, known) : undefined
  return brokenRule('scope_unknown', { scope: meant ?? String(known[0]) })
}
