/**
 * The place of the document of a protected resource, in which a client finds the service that gives tokens for it.
 * @module
 * @see RFC 9728
 */
/** The well-known path, between the host of a resource and its own path (RFC 9728, section 3.1). */
const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource'

/** Returns the path of a resource's document. */
export function resourceMetadataPath(resource: string): string {
  const { pathname } = new URL(resource)
  return RESOURCE_METADATA_PATH + (pathname === '/' ? '' : pathname)
}

/** Returns the address of a resource's document, for a challenge (RFC 9728, section 5.1). */
export function resourceMetadataUrl(resource: string): string {
  return new URL(resource).origin + resourceMetadataPath(resource)
}
