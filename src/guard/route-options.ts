/**
 * The needs of a route: the scopes, and the protected resource that it belongs to.
 * @module
 */
import type { DeclaredResource, ResourceIdentifier } from '../core/audiences/audience.js'
import { configurationError } from '../core/errors.js'
import { nearest } from '../core/nearest.js'
import { readStrictOptions } from '../core/options.js'
import type { Scope, ScopeCatalogue } from '../core/scopes.js'
import { coversScopes, parseScopes } from '../core/scopes.js'
import type { Takes, TakesOf } from '../core/takes.js'
import { mustBe } from '../core/takes.js'
import { resourceMetadataUrl } from '../protocol/audiences/resource-metadata.js'
import type { Settings } from '../shell/options/settings.js'

/** The needs of a route, as a host writes them. */
export interface WrittenNeeds {
  readonly scope?: string
  readonly audience?: string
}

/** The needs of a route, as they were read. */
export interface Needed {
  readonly scopes: readonly Scope[]
  readonly audience: DeclaredResource | undefined
  /** The address of the audience's document, for challenges. */
  readonly metadataUrl: string | undefined
}

const NO_SCOPES: readonly Scope[] = []

const SCOPES: Takes = {
  words: 'scopes of the catalogue in a string, separated by a space',
  fits: (value) => typeof value === 'string',
}

/**
 * Reads the needs of a route. Strict, since a guard that ignored a misspelt option would let everybody in.
 * @throws GrantwellError `ERR_CONFIGURATION` for an unknown or wrong need, or scopes that the audience does not know
 */
export function readNeeds({ scopes: catalogue, audiences }: Settings<never>, needs: unknown): Needed {
  if (needs === undefined) return { scopes: NO_SCOPES, audience: undefined, metadataUrl: undefined }
  const find = (audience: unknown) => audiences.get(audience as ResourceIdentifier) // any other value finds nothing
  const takes: TakesOf<WrittenNeeds> = {
    scope: SCOPES,
    audience: { words: "one of the server's audiences", fits: (value) => find(value) !== undefined },
  }
  const own = readStrictOptions<WrittenNeeds>('guard', needs, takes)
  // An undefined option was meant to have a value: if it were ignored, everybody would be let in.
  for (const name of ['scope', 'audience'] as const)
    if (own[name] === undefined && Object.hasOwn(needs as object, name))
      // read as options above
      throw configurationError(`guard: the option ${name} ${mustBe(takes[name], undefined)}`)
  const scopes = own.scope === undefined ? NO_SCOPES : readScopes(catalogue, own.scope)
  const audience = find(own.audience)
  // No token could ever pass.
  if (audience !== undefined && !coversScopes(audience.scopes, scopes, catalogue))
    throw configurationError(
      `guard: the option scope ${mustBe({ words: 'scopes that the audience knows' }, own.scope)}`,
    )
  return { scopes, audience, metadataUrl: audience && resourceMetadataUrl(audience.resource) }
}

function readScopes(catalogue: ScopeCatalogue, scope: string | undefined): readonly Scope[] {
  const scopes = scope === undefined ? undefined : parseScopes(catalogue, scope)
  if (scopes !== undefined) return scopes
  const wrong = scope?.split(' ').find((each) => !catalogue.entries.has(each)) ?? ''
  const meant = nearest(wrong, [...catalogue.entries.keys()])
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
  throw configurationError(`guard: the option scope ${mustBe(SCOPES, scope)}${hint}`)
}
