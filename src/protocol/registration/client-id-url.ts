/**
 * Client identifiers that are URLs of metadata documents.
 * @module
 * @see draft-ietf-oauth-client-id-metadata-document, sections 2 and 4
 */
import type { OAuthError } from '../../core/errors.js'
import { parseUrl } from '../../core/url.js'
import type { ClientId } from '../../core/values.js'
import type { ClientMetadata, ClientMetadataRules } from './client-metadata.js'
import { checkClientMetadata, parseJsonObject, wrong } from './client-metadata.js'

/** Names in a document that are secrets, which nobody may publish. */
const SECRETS = ['client_secret', 'client_secret_expires_at'] as const

/**
 * Reads the address of a client's document: an https URL as a browser writes it, with a path, and without user info, query and fragment.
 * So one client has one spelling.
 * @returns undefined for any other identifier
 */
export function documentUrl(clientId: ClientId): URL | undefined {
  if (!clientId.startsWith('https://')) return undefined
  const url = parseUrl(clientId)
  if (url === undefined || url.href !== clientId || clientId !== url.origin + url.pathname) return undefined
  return url.pathname === '/' ? undefined : url
}

/** Checks a client's document. */
export function checkClientDocument(
  clientId: ClientId,
  text: string,
  rules: ClientMetadataRules,
): ClientMetadata | OAuthError {
  const document = parseJsonObject(text)
  if (document === undefined) return wrong('the document must be a JSON object')
  if (document['client_id'] !== clientId) return wrong('client_id must be the URL of the document')
  if (SECRETS.some((name) => document[name] !== undefined)) return wrong('the document must not have a client secret')
  // A document is no secret, so its client has none, whatever else is the default (section 4.1).
  const asked = document['token_endpoint_auth_method'] ?? 'none'
  if (asked !== 'none') return wrong('token_endpoint_auth_method must be none')
  const host = new URL(clientId).host
  return checkClientMetadata(Object.assign(document, { token_endpoint_auth_method: 'none' }), host, rules)
}
