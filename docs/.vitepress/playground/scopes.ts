/**
 * The judgement of requested scopes by registered ones, with the reasons.
 * @module
 */
import { nearest } from '../../../src/core/nearest.js'
import { serviceScopes } from '../../../src/core/scopes/service-scopes.js'
import type { Scope, ScopeDescription } from '../../../src/core/scopes.js'
import {
  coversScopes,
  limitScopes,
  narrowScopes,
  normalizeScopes,
  parseScopes,
  printScopes,
  splitScopes,
} from '../../../src/core/scopes.js'
import type { Rule } from './redirects.js'
import { ERRORS_RULE, REQUEST_RULE, ruleOf } from './redirects.js'

export const SCOPES_RULE = ruleOf('5.3', 'scopes')

/** The catalogue of the page: the one of the rules. */
const CATALOGUE = serviceScopes()

/** Scopes that the page offers to the writer. */
export const KNOWN_SCOPES: readonly string[] = [...CATALOGUE.entries.keys()]

/** Scopes with which the page begins. */
export const FIRST_SCOPES = {
  requested: 'account-profile:r repo-code:rw',
  registered: 'repo-code:r account-profile:rw',
}

/** Requests to try, and the words of their buttons. */
export const TRIED_SCOPES: readonly (readonly [title: string, scopes: string])[] = [
  ['Wider than registered', 'account-profile:r repo-code:rw'],
  ['Covered', 'account-profile:r   repo-code:r'],
  ['Misspelt', 'repo-cod:r'],
  ['A comma', 'repo-code:r,account-profile:r'],
  ['A type that is not there', 'repo-delete:r'],
]

/** A list of scopes that was read. */
export interface ReadScopes {
  /** The list in normal form; absent where it cannot be read. */
  readonly scopes?: readonly Scope[]
  /** The normal form as it is written, or why there is none. */
  readonly shown: string
  /** The parts that cannot be read, each with its reason. */
  readonly faults: readonly string[]
}

/** One requested scope, and what becomes of it. */
export interface JudgedScope {
  readonly scope: Scope
  readonly opens: string
  readonly isCovered: boolean
  /** The reason why it is covered, or not. */
  readonly because: string
  /** The scope that a grant of it keeps; absent where it keeps none. */
  readonly left?: Scope
}

/** The verdict on a request for scopes. */
export interface ScopesVerdict {
  readonly isAccepted: boolean
  readonly summary: string
  readonly requested: ReadScopes
  readonly registered: ReadScopes
  readonly judged: readonly JudgedScope[]
  /** The scopes that a grant of the requested ones keeps under this registration. */
  readonly limited: string
  readonly rules: readonly Rule[]
}

/** Reads a list of scopes, and tells the reason for each part that cannot be read. */
export function readScopes(text: string): ReadScopes {
  const scopes = parseScopes(CATALOGUE, text)
  if (scopes !== undefined) return { scopes, shown: printScopes(scopes), faults: [] }
  const faults = splitScopes(text).flatMap((part) => faultOf(part))
  return { shown: 'none', faults: faults.length === 0 ? ['The list has no scope.'] : faults }
}

/** Tells why a part is no scope; nothing for one that is. */
function faultOf(part: string): readonly string[] {
  if (normalizeScopes(CATALOGUE, [part]) !== undefined) return []
  if (/[,;\s]/.test(part)) return [`${quoted(part)}: only a space separates scopes.`]
  const [name = '', ...types] = part.split(':')
  const definition = CATALOGUE.definitions.find((each) => each.name === name)
  if (definition === undefined) {
    const meant = nearest(part, KNOWN_SCOPES)
    return [`${quoted(part)}: no such name${meant === undefined ? '' : `; ${meant} is close`}.`]
  }
  const admitted = definition.permissions.map((permission) => `${name}:${permission}`).join(' or ')
  return [
    `${quoted(part)}: ${types.length === 0 ? 'the type is missing' : 'no such type of this name'}; it is ${admitted}.`,
  ]
}

/** Quotes a part, at most forty characters of it. */
function quoted(part: string): string {
  return JSON.stringify(part.length > 40 ? `${part.slice(0, 40)}…` : part)
}

/** Judges requested scopes by registered ones. An empty request asks for all. */
export function judgeScopes(requestedText: string, registeredText: string): ScopesVerdict {
  const registered = readScopes(registeredText)
  const isForAll = requestedText === ''
  const requested: ReadScopes = isForAll ? { shown: 'all registered ones', faults: [] } : readScopes(requestedText)
  const most = registered.scopes ?? []
  const wish = isForAll ? most : requested.scopes
  const granted = wish === undefined ? undefined : narrowScopes(most, wish, CATALOGUE)
  const isAccepted = granted !== undefined && granted.length > 0
  const judged = (wish ?? []).map((scope) => judgeScope(scope, most))
  return {
    isAccepted,
    summary: isAccepted
      ? `Accepted. The request is for ${printScopes(granted)}.`
      : `Refused with invalid_scope. ${refusal(registered, requested, judged)}`,
    requested,
    registered,
    judged,
    limited: printScopes(limitScopes(wish ?? [], most, CATALOGUE)) || 'nothing',
    rules: isForAll ? [REQUEST_RULE, SCOPES_RULE] : isAccepted ? [SCOPES_RULE] : [SCOPES_RULE, ERRORS_RULE],
  }
}

/** Says why a request for scopes is refused. */
function refusal(registered: ReadScopes, requested: ReadScopes, judged: readonly JudgedScope[]): string {
  if (registered.scopes === undefined) return 'No scope is registered.'
  if (requested.faults.length > 0) return 'The request cannot be read.'
  const wide = judged.filter(({ isCovered }) => !isCovered).map(({ scope }) => scope)
  return `Not covered by the registration: ${wide.join(', ')}.`
}

/** Judges one requested scope. */
function judgeScope(scope: Scope, registered: readonly Scope[]): JudgedScope {
  const isCovered = coversScopes(registered, [scope], CATALOGUE)
  const [left] = limitScopes([scope], registered, CATALOGUE)
  const opens = describe(CATALOGUE.entries.get(scope)?.definition.description)
  const judged = { scope, opens, isCovered, because: reasonOf(scope, registered, isCovered, left) }
  return left === undefined ? judged : { ...judged, left }
}

/** Returns the English description of a scope; empty if there is none. */
function describe(description: ScopeDescription = ''): string {
  return typeof description === 'string' ? description : (description['en'] ?? '')
}

/** Says why a scope is covered, or not. */
function reasonOf(scope: Scope, registered: readonly Scope[], isCovered: boolean, left: Scope | undefined): string {
  if (registered.includes(scope)) return 'registered'
  if (isCovered) return `${scope}w is registered, and rw includes r`
  return left === undefined ? 'not registered' : `only ${left} is registered`
}
