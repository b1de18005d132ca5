/**
 * The parameter `resource`: the protected resources that a request asks for.
 * @module
 * @see RFC 8707, section 2
 */
import type {
  Audience,
  DeclaredResource,
  DeclaredResources,
  ResourceIdentifier,
} from '../../core/audiences/audience.js'
import { limitToAudience } from '../../core/audiences/audience.js'
import type { OAuthError } from '../../core/errors.js'
import { malformed, oauthError } from '../../core/errors.js'
import type { Scope, ScopeCatalogue } from '../../core/scopes.js'
import { parseUrl } from '../../core/url.js'
import type { Parameters } from '../parameters.js'

/** The protected resources and the scopes of a service. */
export interface AudienceRules {
  readonly audiences: DeclaredResources
  readonly catalogue: ScopeCatalogue
}

/**
 * Reads the protected resources that a request asks for. It may name several, in any order and more than once. An empty one stands for
 * none (RFC 6749, section 3.1).
 * @returns undefined where it names none, and where the service declares none: then the parameter is unknown and ignored
 */
export function requestedAudience(
  parameters: Parameters,
  { audiences }: Pick<AudienceRules, 'audiences'>,
): Audience | undefined | OAuthError {
  const sent = parameters.get('resource')
  if (sent === undefined || sent === '' || audiences.size === 0) return undefined
  const values = typeof sent === 'string' ? [sent] : sent.values
  if (values === undefined) return malformed('The parameter resource is not well-formed.')
  const asked = new Set<DeclaredResource>()
  for (const value of values) {
    if (value === '') continue
    const declared = findResource(value, audiences)
    if (declared === undefined)
      return oauthError('invalid_target', 'audience_unknown', 'The resource is not one that this service declares.')
    asked.add(declared)
  }
  if (asked.size === 0) return undefined
  return [...audiences.values()].filter((each) => asked.has(each)).map(({ resource }) => resource)
}

/** A URI is ASCII (RFC 3986). A longer one, or a host of other characters, is not parsed: that takes time by the square of its length. */
const URI = /^[\x21-\x7e]{1,1024}$/

/**
 * Finds a declared resource by its identifier. Clients write the same URL in several ways: with capitals in scheme and host, or with
 * a slash behind a bare host.
 */
function findResource(text: string, declared: DeclaredResources): DeclaredResource | undefined {
  const find = (identifier: string) => declared.get(identifier as ResourceIdentifier) // an unknown one finds nothing
  const exact = find(text)
  if (exact !== undefined || !URI.test(text)) return exact
  const url = parseUrl(text)
  if (url === undefined) return undefined
  return find(url.href) ?? (url.href === `${url.origin}/` ? find(url.origin) : undefined)
}

/** Limits the scopes that an application is registered for to those that an audience knows; an error where none is left. */
export function registeredForAudience(
  registered: readonly Scope[],
  audience: Audience | undefined,
  rules: AudienceRules,
): readonly Scope[] | OAuthError {
  const scopes = limitToAudience(registered, audience, rules)
  if (scopes.length > 0) return scopes
  const description = 'This application is registered for no scope of the resource.'
  return oauthError('invalid_scope', 'scope_not_registered', description)
}
