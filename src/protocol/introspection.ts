/**
 * The answers to introspection requests.
 * @module
 * @see RFC 7662, section 2.2
 */
import type { ResourceIdentifier } from '../core/audiences/audience.js'
import type { OAuthError } from '../core/errors.js'
import { oauthError } from '../core/errors.js'
import type { Inspection } from '../core/grant/inspect.js'
import { printScopes } from '../core/scopes.js'
import type { Seconds } from '../core/values.js'
import type { HttpResponse } from './message.js'
import { TOKEN_HEADERS } from './message.js'

/** Makes the error of a client that authenticated and is no resource server. */
export function notAResourceServer(): OAuthError {
  const description = 'The client is not registered as a resource server.'
  return oauthError('unauthorized_client', 'not_a_resource_server', description, { status: 403 })
}

/** A token that works, as far as the resource server may know of it. */
export type Introspected = Omit<Extract<Inspection, { readonly type: 'active' }>, 'type' | 'tokenType' | 'audience'> & {
  /** The protected resource that the resource server stands for. */
  readonly audience?: ResourceIdentifier
}

/**
 * The answer for a token that works. `resources` and `grant_id` are members of our own (section 2.2): which of the user's
 * resources it is about (specification, section 2.1), and the grant that it belongs to.
 * @param maxAge - seconds that the answer may be kept; 0 for not at all
 */
export function introspectionResponse(active: Introspected, issuer: string, maxAge: Seconds): HttpResponse {
  const { scopes, clientId, subject, expiresAt, resources, grantId, audience } = active
  const whose = `"client_id":${quoted(clientId)},"sub":${quoted(subject)},"iss":${quoted(issuer)}`
  const which = resources.kind === 'specified' ? JSON.stringify(resources) : `{"kind":"${resources.kind}"}`
  const what = `"scope":"${printScopes(scopes)}","resources":${which},"grant_id":"${grantId}"`
  // By hand, which takes half the time: neither a scope nor base64url has a character that JSON escapes.
  const where = audience === undefined ? '' : `,"aud":${quoted(audience)}`
  const body = `{"active":true,"token_type":"bearer","exp":${expiresAt},${whose},${what}${where}}`
  const headers = maxAge > 0 ? { ...JSON_TYPE, 'Cache-Control': `private, max-age=${maxAge}` } : TOKEN_HEADERS
  return { status: 200, headers, body }
}

/** Characters that a JSON string has as they are. */
const PLAIN = /^[\w\-.:/@ ]*$/

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

const JSON_TYPE = { 'Content-Type': TOKEN_HEADERS['Content-Type'] }

/** The one answer for every token that does not work, or that the resource server may not know of (section 2.2). */
export const INACTIVE: HttpResponse = { status: 200, headers: TOKEN_HEADERS, body: '{"active":false}' }
