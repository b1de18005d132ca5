/**
 * The endpoint of the metadata: the document in which a client finds all the others.
 * @module
 * @see RFC 8414, section 3
 */
import { resourceMetadataPath, resourcesAt } from '../protocol/audiences/resource-metadata.js'
import { DOCUMENT_PREFLIGHT, readableByAll } from '../protocol/cors/response.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { pathOf } from '../protocol/message.js'
import { metadataResponse, resourceMetadataResponse } from '../protocol/metadata.js'
import type { Settings } from '../shell/options/settings.js'

/** Makes the metadata endpoint. Its answer is always the same, and every page may read it. */
export function metadataEndpoint(settings: Settings<never>): (request: HttpRequest) => HttpResponse {
  const { issuer, corsOrigins } = settings
  const response = metadataResponse(issuer, {
    catalogue: settings.scopes,
    audiences: settings.audiences,
    allowPost: settings.allowClientSecretPost,
    registration: settings.clientPolicy !== undefined,
    clientDocuments: settings.fetchClientMetadata !== undefined,
  })
  const readable = corsOrigins === false ? response : readableByAll(response)
  return ({ method }) => (method === 'OPTIONS' ? DOCUMENT_PREFLIGHT : readable)
}

/** Makes the endpoint of the documents of protected resources: one for each path that `server.ts` routes here. */
export function resourceMetadataEndpoint(settings: Settings<never>): (request: HttpRequest) => HttpResponse {
  const { issuer, corsOrigins } = settings
  const documents = new Map(
    resourcesAt(settings).map((declared) => {
      const response = resourceMetadataResponse(declared, issuer)
      return [resourceMetadataPath(declared.resource), corsOrigins === false ? response : readableByAll(response)]
    }),
  )
  return ({ method, url }) => (method === 'OPTIONS' ? DOCUMENT_PREFLIGHT : (documents.get(pathOf(url)) as HttpResponse)) // it is routed here by its path
}
