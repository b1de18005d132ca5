/**
 * Access tokens on API calls: the bearer token that a request presents, and the challenge where what it has is not enough.
 * @module
 * @see RFC 6750, sections 2.1 and 3
 */

import type { Credential } from '../core/credentials/credential.js'
import { credentialAt, parseCredential } from '../core/credentials/credential.js'
import type { OAuthError } from '../core/errors.js'
import { malformed, oauthError } from '../core/errors.js'
import type { Scope } from '../core/scopes.js'
import { printScopes } from '../core/scopes.js'
import type { HttpHeaders, HttpResponse } from './message.js'
import { EMPTY_HEADERS, errorResponse, headerOf } from './message.js'

/** A request that presents no token at all: it gets a challenge without an error (RFC 6750, section 3.1). */
export interface NoToken {
  readonly type: 'no_token'
}

/** `Bearer` and a b64token (RFC 6750, section 2.1). */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i

/** The scheme of a request that is signed. */
const MAC = /^mac(?: +|$)/i

/** The beginning of nearly every header. */
const USUAL = 'Bearer '

const REALM = 'realm="oauth2"'

/** A parameter of a query that would be a token (RFC 6750, section 2.3), which we never take. */
const TOKEN_IN_QUERY = /[?&]access_token=/

/**
 * The credential that a request presents, from the `Authorization` header alone.
 * @param url - where the request has one, so that a token in its query is refused rather than passed over
 */
export function bearerToken(headers: HttpHeaders, url: string): Credential | NoToken | OAuthError {
  const misplaced = tokenInQuery(url)
  if (misplaced !== undefined) return misplaced
  const authorization = headerOf(headers, 'authorization')
  if (typeof authorization === 'object') return malformed('The Authorization header is repeated.')
  // What clients write; every other spelling of the same is read below.
  const usual = authorization?.startsWith(USUAL) ? credentialAt(authorization, USUAL.length) : undefined
  if (usual !== undefined) return usual
  const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
  if (token === undefined) {
    const meant = authorization !== undefined && /^bearer(?: |$)/i.test(authorization)
    return meant ? malformed('The Authorization header is not well-formed.') : { type: 'no_token' }
  }
  return parseCredential(token) ?? invalidToken('credential_unknown')
}

/**
 * The attributes that a request presents in the scheme `MAC`, yet to be read; undefined for any other scheme, or none.
 * @see draft-ietf-oauth-v2-http-mac-01, section 3.1
 */
export function macAttributes(headers: HttpHeaders): string | undefined {
  const authorization = headerOf(headers, 'authorization')
  return typeof authorization === 'string' && MAC.test(authorization) ? authorization.replace(MAC, '') : undefined
}

/** A token in the query, which is refused rather than passed over (RFC 9700, section 4.3.2). */
export function tokenInQuery(url: string): OAuthError | undefined {
  return TOKEN_IN_QUERY.test(url) ? malformed('An access token must not be in the query.') : undefined
}

/** Makes the error of a token that is unknown or works no more. The client is told the same of both. */
export function invalidToken(reason: OAuthError['reason']): OAuthError {
  return oauthError('invalid_token', reason, 'The access token is invalid, expired or revoked.')
}

/** Makes the error of a token that works and permits too little. */
export function insufficientScope(): OAuthError {
  return oauthError('insufficient_scope', 'scope_insufficient', 'The access token does not permit this.')
}

/** A token that works, and was not given for this resource; a resource that is not there is told alike. */
export function insufficientResources(): OAuthError {
  const description = 'The access token does not open this resource, or there is none.'
  return oauthError('insufficient_scope', 'resource_not_granted', description)
}

/**
 * The answer to a request whose token is not enough.
 * @param scopes - what the route needs, named where that is the trouble
 * @param schemes - those that the request may use; an error is told in the first
 * @param metadataUrl - the document of the protected resource, where the route belongs to one: then every challenge has it, and names
 * the scopes, so that a client that knows nothing else can begin
 * @see RFC 6750, section 3; RFC 9110, section 11.6.1; RFC 9728, section 5.1
 */
export function challenge(
  error: OAuthError | NoToken,
  scopes: readonly Scope[],
  schemes: readonly ['Bearer' | 'MAC', ...'MAC'[]] = ['Bearer'],
  metadataUrl?: string,
): HttpResponse {
  const scope = scopes.length === 0 ? '' : `, scope="${printScopes(scopes)}"`
  const where = metadataUrl === undefined ? '' : `, resource_metadata="${metadataUrl}"`
  if (error.type === 'no_token') {
    const told = metadataUrl === undefined ? '' : where + scope
    const each = schemes.map((scheme) => `${scheme} ${REALM}${told}`).join(', ')
    return { status: 401, headers: { ...EMPTY_HEADERS, 'WWW-Authenticate': each }, body: '' }
  }
  const response = errorResponse(error)
  if (error.status >= 500) return response
  // A token that does not open a resource may have every scope: to ask for them again would not help.
  const isAboutScope = metadataUrl !== undefined && error.reason !== 'resource_not_granted'
  const needed = error.reason === 'scope_insufficient' || isAboutScope ? scope : ''
  // As `ts` of the request is, and its MAC; see `normalizedTime`.
  const time = error.time === undefined ? '' : `, ts="${error.time.ts}", tsm="${error.time.tsm}"`
  const told = `error="${error.code}", error_description="${error.description}"${needed}${where}${time}`
  return { ...response, headers: { ...response.headers, 'WWW-Authenticate': `${schemes[0]} ${REALM}, ${told}` } }
}
