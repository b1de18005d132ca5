/**
 * The metadata documents, from which a client learns the endpoints and abilities of the server, and those of its protected resources.
 * @module
 * @see RFC 8414, sections 2 and 3; RFC 9207, section 3; RFC 8628, section 4; RFC 7662, section 4
 */
import type { DeclaredResource } from '../core/audiences/audience.js'
import type { AudienceRules } from './audiences/requested-audience.js'
import { ENDPOINT_PATHS } from './endpoint-paths.js'
import type { HttpResponse } from './message.js'
import { documentResponse } from './pages/page.js'
import type { GrantTypes } from './token.js'
import { GRANT_TYPES } from './token.js'

/** The abilities of a server that its options decide on. */
export interface MetadataRules {
  /** True if a client may send its secret in the body. */
  readonly allowPost: boolean
  /** True if clients can register themselves. */
  readonly registration: boolean
  /** True if the identifier of a client can be the URL of its metadata. */
  readonly clientDocuments: boolean
}

/** Writes the metadata document. */
export function metadataResponse(
  issuer: string,
  rules: AudienceRules & MetadataRules,
  grantTypes: GrantTypes = GRANT_TYPES,
): HttpResponse {
  const document = {
    issuer,
    authorization_endpoint: issuer + ENDPOINT_PATHS.authorization,
    token_endpoint: issuer + ENDPOINT_PATHS.token,
    revocation_endpoint: issuer + ENDPOINT_PATHS.revocation,
    introspection_endpoint: issuer + ENDPOINT_PATHS.introspection,
    device_authorization_endpoint: issuer + ENDPOINT_PATHS.deviceAuthorization,
    scopes_supported: [...rules.catalogue.entries.keys()],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [...grantTypes.byName.keys()],
    token_endpoint_auth_methods_supported: [
      'client_secret_basic',
      ...(rules.allowPost ? ['client_secret_post'] : []),
      'none',
    ],
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    introspection_endpoint_auth_methods_supported: [
      'client_secret_basic',
      ...(rules.allowPost ? ['client_secret_post'] : []),
    ],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    ...(rules.registration && { registration_endpoint: issuer + ENDPOINT_PATHS.registration }),
    // draft-ietf-oauth-client-id-metadata-document, section 5.
    ...(rules.clientDocuments && { client_id_metadata_document_supported: true }),
    // RFC 9728, section 4.
    ...(rules.audiences.size > 0 && { protected_resources: [...rules.audiences.keys()] }),
  }
  return documentResponse('application/json', JSON.stringify(document))
}

/**
 * Writes the document of a protected resource.
 * @see RFC 9728, section 2
 */
export function resourceMetadataResponse({ resource, name, scopes }: DeclaredResource, issuer: string): HttpResponse {
  const document = {
    resource,
    authorization_servers: [issuer],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
    resource_name: name,
  }
  return documentResponse('application/json', JSON.stringify(document))
}
