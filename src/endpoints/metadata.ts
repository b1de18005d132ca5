/**
 * The endpoint of the metadata: the document in which a client finds all the others.
 * @module
 * @see RFC 8414, section 3
 */
import type { HttpResponse } from '../protocol/message.js'
import { metadataResponse } from '../protocol/metadata.js'
import type { Settings } from '../shell/options/settings.js'

/** Makes the metadata endpoint. Its answer is always the same. */
export function metadataEndpoint({ issuer, scopes, allowClientSecretPost }: Settings<never>): () => HttpResponse {
  const response = metadataResponse(issuer, { catalogue: scopes, allowPost: allowClientSecretPost })
  return () => response
}
