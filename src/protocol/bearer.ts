/**
 * Bearer tokens on API calls: what a request presents, and the challenge where that is not enough.
 * @module
 * @see RFC 6750, sections 2.1 and 3
 */
import type { Credential } from '../core/credential.js'
import { parseCredential } from '../core/credential.js'
import type { OAuthError } from '../core/errors.js'
import { oauthError } from '../core/errors.js'
import type { Scope } from '../core/scopes.js'
import { printScopes } from '../core/scopes.js'
import type { HttpHeaders, HttpResponse } from './message.js'
import { headerOf, retryAfter } from './message.js'
import { malformed } from './parameters.js'

/** A request that presents no token at all: it gets a challenge without an error (RFC 6750, section 3.1). */
export interface NoToken {
  readonly type: 'no_token'
}

/** `Bearer` and a b64token (RFC 6750, section 2.1). */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i

/** A parameter of a query that would be a token (RFC 6750, section 2.3), which we never take. */
const TOKEN_IN_QUERY = /[?&]access_token=/

/**
 * The credential that a request presents, from the `Authorization` header alone.
 * @param url - where the request has one, so that a token in its query is refused rather than passed over
 */
export function bearerToken(headers: HttpHeaders, url: string): Credential | NoToken | OAuthError {
  if (TOKEN_IN_QUERY.test(url)) return malformed('An access token must not be in the query.')
  const authorization = headerOf(headers, 'authorization')
  if (typeof authorization === 'object') return malformed('The Authorization header is repeated.')
  const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
  if (token === undefined) {
    const meant = authorization !== undefined && /^bearer(?: |$)/i.test(authorization)
    return meant ? malformed('The Authorization header is not well-formed.') : { type: 'no_token' }
  }
  return parseCredential(token) ?? invalidToken('credential_unknown')
}

/** A token that is none of ours, or works no more: the client is told the same. */
export function invalidToken(reason: OAuthError['reason']): OAuthError {
  return oauthError('invalid_token', reason, 'The access token is invalid, expired or revoked.')
}

/** A token that works, and permits too little. */
export function insufficientScope(): OAuthError {
  return oauthError('insufficient_scope', 'scope_insufficient', 'The access token does not permit this.')
}

/**
 * The answer to a request whose token is not enough.
 * @param scopes - what the route needs, named where that is the trouble
 * @see RFC 6750, section 3
 */
export function bearerChallenge(error: OAuthError | NoToken, scopes: readonly Scope[]): HttpResponse {
  const headers: Record<string, string> = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
  const realm = 'Bearer realm="oauth2"'
  if (error.type === 'no_token') return { status: 401, headers: { ...headers, 'WWW-Authenticate': realm }, body: '' }
  if (error.code !== 'temporarily_unavailable') {
    const needed = error.code === 'insufficient_scope' ? `, scope="${printScopes(scopes)}"` : ''
    headers['WWW-Authenticate'] = `${realm}, error="${error.code}", error_description="${error.description}"${needed}`
  }
  headers['Content-Type'] = 'application/json;charset=UTF-8'
  return {
    status: error.status,
    headers: { ...headers, ...retryAfter(error) },
    body: JSON.stringify({ error: error.code, error_description: error.description }),
  }
}
