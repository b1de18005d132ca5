/**
 * Arbitraries of scopes, and of texts that are like scopes.
 * @module
 */
import * as fc from 'fast-check'
import { serviceScopes } from '../../core/scopes/service-scopes.js'
import type { Scope, ScopeCatalogue } from '../../core/scopes.js'
import { normalizeScopes } from '../../core/scopes.js'
import { anyText } from './spoilt-requests.js'

/** Makes an arbitrary of scopes of a catalogue: one or more, in normal form. */
export function scopes(catalogue: ScopeCatalogue = serviceScopes()): fc.Arbitrary<readonly Scope[]> {
  return fc
    .uniqueArray(fc.constantFrom(...catalogue.entries.keys()), { minLength: 1, maxLength: 6 })
    .map((some) => normalizeScopes(catalogue, some) ?? [])
}

/** Makes an arbitrary of values of a parameter `scope`, well-formed and not. */
export function scopeText(catalogue: ScopeCatalogue = serviceScopes()): fc.Arbitrary<string> {
  const known = scopes(catalogue).map((some) => some.join(' '))
  const spoil = fc.constantFrom<((text: string) => string)[]>(
    (text) => text.toUpperCase(),
    (text) => text.replaceAll(' ', '  '),
    (text) => ` ${text} `,
    (text) => text.replaceAll(' ', ','),
    (text) => text.replaceAll(':', ''),
    (text) => `${text} ${text}`,
    (text) => `${text} repo-code:w`,
    (text) => `${text}\u0000`,
    (text) => text.replaceAll(' ', '\u00a0'),
  )
  return fc.oneof(
    { weight: 4, arbitrary: known },
    { weight: 2, arbitrary: fc.tuple(known, spoil).map(([text, change]) => change(text)) },
    { weight: 1, arbitrary: fc.constantFrom('', ' ', '__proto__:r', 'constructor', 'toString:rw', 'repo-code:r:rw') },
    { weight: 1, arbitrary: anyText },
  )
}
