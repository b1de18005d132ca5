/**
 * The endpoint of the metadata: the document in which a client finds all the others.
 * @module
 * @see RFC 8414, section 3
 */
import { DOCUMENT_PREFLIGHT, readableByAll } from '../protocol/cors/response.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { metadataResponse } from '../protocol/metadata.js'
import type { Settings } from '../shell/options/settings.js'

/** Makes the metadata endpoint. Its answer is always the same, and every page may read it. */
export function metadataEndpoint({
  issuer,
  scopes,
  allowClientSecretPost,
  corsOrigins,
}: Settings<never>): (request: HttpRequest) => HttpResponse {
  const response = metadataResponse(issuer, { catalogue: scopes, allowPost: allowClientSecretPost })
  if (corsOrigins === false) return () => response
  const readable = readableByAll(response)
  return ({ method }) => (method === 'OPTIONS' ? DOCUMENT_PREFLIGHT : readable)
}
