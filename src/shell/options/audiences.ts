/**
 * The option `audiences`: the protected resources that a host declares.
 * @module
 * @see RFC 8707, section 2; RFC 9728, section 1.2
 */
import type { DeclaredResource, DeclaredResources, ResourceIdentifier } from '../../core/audiences/audience.js'
import { readStrictOptions } from '../../core/options.js'
import type { ScopeCatalogue } from '../../core/scopes.js'
import { normalizeScopes } from '../../core/scopes.js'
import type { TakesOf } from '../../core/takes.js'
import { parseResourceUrl } from '../../core/url.js'
import type { AudienceDefinition } from '../options.js'

/** One line of as many characters as the name of an application may have, without marks that reorder the words around it. */
const NAME = /^(?=.*\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]{1,50}$/u

/**
 * Reads the protected resources that a host declares.
 * @param isSecure - true for a URL whose scheme the service admits
 * @throws GrantwellError `ERR_CONFIGURATION` for a wrong or repeated one
 */
export function readAudiences(
  of: string,
  given: readonly unknown[],
  catalogue: ScopeCatalogue,
  isSecure: (url: URL) => boolean,
): DeclaredResources {
  const declared = new Map<ResourceIdentifier, DeclaredResource>()
  const scopesOf = (scopes: unknown) => normalizeScopes(catalogue, scopes as string[]) // any other value is in no catalogue
  const takes: TakesOf<AudienceDefinition> = {
    resource: {
      words: 'an https URL of at most 512 characters, without user info, query and fragment, that comes once',
      fits: (value) => {
        const url = typeof value === 'string' ? parseResourceUrl(value) : undefined
        return url !== undefined && isSecure(url) && !declared.has(value as ResourceIdentifier)
      },
    },
    name: { words: 'a line of 1 to 50 characters', fits: (value) => typeof value === 'string' && NAME.test(value) },
    scopes: {
      words: 'a list of scopes of the catalogue',
      fits: (value) => Array.isArray(value) && scopesOf(value) !== undefined,
    },
  }
  for (const [index, each] of [...given].entries()) {
    const at = `${of}, audiences[${index}]`
    const { resource, name, scopes } = readStrictOptions(at, each, takes, ['resource', 'name'])
    const identifier = resource as ResourceIdentifier // checked by its entry
    declared.set(identifier, {
      resource: identifier,
      name,
      scopes: scopesOf(scopes ?? [...catalogue.entries.keys()]) ?? [],
    })
  }
  return declared
}
