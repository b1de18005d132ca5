/**
 * The errors of requests for a protected resource.
 * @module
 * @see RFC 8707, section 2
 */
import type { OAuthError } from '../errors.js'
import { oauthError } from '../errors.js'

/** Makes the error of a repeated refresh for other protected resources than those that its successor is for. */
export function audienceOfSuccessor(): OAuthError {
  const description = 'This token was refreshed for another resource; refresh the newer token for this one.'
  return oauthError('invalid_target', 'audience_mismatch', description)
}

/** Makes the error of a token request whose protected resources know none of the scopes that it would have. */
export function scopesUnknownToAudience(): OAuthError {
  return oauthError(
    'invalid_scope',
    'scope_insufficient',
    'The resource knows none of the scopes that this token would have.',
  )
}

/** Makes the error of a request for a protected resource that the grant is not for (RFC 8707, section 2). */
export function audienceTooWide(): OAuthError {
  return oauthError('invalid_target', 'audience_mismatch', 'The user did not permit this resource to the application.')
}
