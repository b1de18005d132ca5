/**
 * The place of the document of a protected resource, in which a client finds the service that gives tokens for it.
 * @module
 * @see RFC 9728
 */
import type { DeclaredResource, DeclaredResources } from '../../core/audiences/audience.js'

/** The well-known path, between the host of a resource and its own path (RFC 9728, section 3.1). */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource'

/** Returns the path of a resource's document. */
export function resourceMetadataPath(resource: string): string {
  const { pathname } = new URL(resource)
  return RESOURCE_METADATA_PATH + (pathname === '/' ? '' : pathname)
}

/** Returns the address of a resource's document, for a challenge (RFC 9728, section 5.1). */
export function resourceMetadataUrl(resource: string): string {
  return new URL(resource).origin + resourceMetadataPath(resource)
}

/** Returns the protected resources at the origin of the service itself. The document of any other is at its own origin. */
export function resourcesAt({
  issuer,
  audiences,
}: {
  readonly issuer: string
  readonly audiences: DeclaredResources
}): readonly DeclaredResource[] {
  const { origin } = new URL(issuer)
  return [...audiences.values()].filter(({ resource }) => new URL(resource).origin === origin)
}
