/**
 * Errors: what a client sees of each code, and what a host catches.
 * @module
 */
import { GrantwellError } from 'grantwell'
import { describe, expect, it } from 'vitest'
import type { OAuthErrorCode } from '../../src/core/errors.js'
import { isOAuthError, oauthError } from '../../src/core/errors.js'

/** RFC 6749, 4.1.2.1 and 5.2; RFC 6750, 3.1; RFC 8628, 3.5; specification, section 7. */
const STATUSES: { readonly [Code in OAuthErrorCode]: number } = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  access_denied: 403,
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
  invalid_token: 401,
  insufficient_scope: 403,
  server_error: 500,
  temporarily_unavailable: 503,
}

const CODES = Object.keys(STATUSES) as OAuthErrorCode[] // every key, by the type of the table

describe('an error', () => {
  it.each(CODES.map((code) => [code, STATUSES[code]] as const))('of the code %s has the status %i', (code, status) => {
    expect(oauthError(code, 'malformed_request', 'A sentence.')).toEqual({
      type: 'error',
      code,
      status,
      description: 'A sentence.',
      reason: 'malformed_request',
    })
  })

  it('has another status, and the time after which a retry makes sense, where it is told so', () => {
    const error = oauthError('temporarily_unavailable', 'too_many_pairs_in_grace', '', { status: 429, retryAfter: 7 })
    expect(error).toMatchObject({ status: 429, retryAfter: 7 })
  })
})

describe('isOAuthError', () => {
  it('is true for an error, be it one with more fields', () => {
    const error = oauthError('invalid_request', 'malformed_request', 'A sentence.')
    expect(isOAuthError(error)).toBe(true)
    expect(isOAuthError({ ...error, rule: 'redirect_uri must be https' })).toBe(true)
  })

  it.each([
    undefined,
    null,
    '',
    'error',
    0,
    true,
    [],
    {},
    { type: 'tokens' },
    { code: 'invalid_request' },
    () => 'error',
  ])('is false for any other value: %o', (value) => expect(isOAuthError(value)).toBe(false))
})

describe('what a host catches', () => {
  it('is an Error with a stable code', () => {
    const error = new GrantwellError('ERR_STORE', 'the store failed')
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'GrantwellError', code: 'ERR_STORE', message: 'the store failed' })
  })
})
