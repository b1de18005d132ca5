/**
 * Audiences: the protected resources that a grant, or one token of it, is for. A grant without an audience is from a request that named
 * no `resource`, and is for the service itself.
 *
 * An audience narrows and never widens, as scopes do: a token has that of its grant, or a part of it.
 * @module
 * @see RFC 8707
 */
import type { Scope, ScopeCatalogue } from '../scopes.js'
import { limitScopes, normalizeScopes } from '../scopes.js'
import type { Branded } from '../values.js'

/** The identifier of a protected resource, spelled as the host declared it: `resource` of a request, `aud` of introspection. */
export type ResourceIdentifier = Branded<'ResourceIdentifier'>

/** One or more protected resources, each once, in the order in which the host declared them. */
export type Audience = readonly ResourceIdentifier[]

/** A protected resource that the host declared. */
export interface DeclaredResource {
  /** Its identifier. */
  readonly resource: ResourceIdentifier
  /** Its name, for the consent page. */
  readonly name: string
  /** The scopes that it knows, in normal form: no token for it alone has others. */
  readonly scopes: readonly Scope[]
}

/** The protected resources of a service by their identifiers, in the order in which the host declared them. */
export type DeclaredResources = ReadonlyMap<ResourceIdentifier, DeclaredResource>

/**
 * Returns the audience of a record or a request: an own property alone, so that a polluted prototype is the audience of nobody. Most have
 * none, which is quicker read than asked for.
 */
export function audienceOf<Of>(of: { readonly audience?: Of | undefined }): Of | undefined {
  const { audience } = of
  return audience !== undefined && Object.hasOwn(of, 'audience') ? audience : undefined
}

/** True if a grant, or a token, for one audience is good for another; `undefined` asks for no audience of its own. */
export function coversAudience(granted: Audience | undefined, requested: Audience | undefined): boolean {
  if (requested === undefined) return true
  // A user who was asked about no protected resource permitted none.
  return granted !== undefined && requested.every((resource) => granted.includes(resource))
}

/** Returns the scopes that the protected resources of an audience know, in normal form; those that are declared no more know none. */
export function scopesOfAudience(
  audience: Audience,
  declared: DeclaredResources | undefined,
  catalogue: ScopeCatalogue,
): readonly Scope[] {
  const known = audience.flatMap((resource) => declared?.get(resource)?.scopes ?? [])
  return normalizeScopes(catalogue, known) ?? []
}

/** Limits scopes to those that an audience knows. Without an audience all of them stay. */
export function limitToAudience(
  scopes: readonly Scope[],
  audience: Audience | undefined,
  { audiences, catalogue }: { readonly audiences?: DeclaredResources; readonly catalogue: ScopeCatalogue },
): readonly Scope[] {
  if (audience === undefined) return scopes
  return limitScopes(scopes, scopesOfAudience(audience, audiences, catalogue), catalogue)
}

/** True if a permission counts for what is asked for: for protected resources that cover those, or, where there are none, for none. */
export function hasAudience(permission: { readonly audience?: Audience }, asked: Audience | undefined): boolean {
  const own = audienceOf(permission)
  return (own === undefined) === (asked === undefined) && coversAudience(own, asked)
}
