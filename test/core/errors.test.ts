/**
 * Errors: what a client sees of each code, and what a host catches.
 * @module
 */
import { GrantwellError, StorageUnavailable } from 'grantwell'
import { describe, expect, it } from 'vitest'
import type { OAuthErrorCode } from '../../src/core/errors.js'
import { isOAuthError, oauthError } from '../../src/core/errors.js'

describe('an error', () => {
  it.each<[string, number, OAuthErrorCode, string]>([
    ['asks for authentication', 401, 'invalid_client', 'RFC 6749, 5.2'],
    ['asks for authentication', 401, 'invalid_token', 'RFC 6750, 3.1'],
    ['refuses what was understood', 403, 'insufficient_scope', 'RFC 6750, 3.1'],
    ['refuses what was understood', 403, 'access_denied', 'RFC 6749, 4.1.2.1'],
    ['is a fault of the server', 500, 'server_error', 'RFC 6749, 4.1.2.1'],
    ['may be over soon', 503, 'temporarily_unavailable', 'RFC 6749, 4.1.2.1'],
    ['is a fault of the request', 400, 'invalid_grant', 'RFC 6749, 5.2'],
    ['is an answer to a device that waits', 400, 'authorization_pending', 'RFC 8628, 3.5'],
  ])('that %s has the status %i: %s (%s)', (_, status, code) => {
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

  it('tells of a failed store, and has the error of its engine where no log of fields finds it', () => {
    const cause = new Error('connect ECONNREFUSED')
    const error = new StorageUnavailable('the store did not answer', cause)
    expect(error).toMatchObject({ name: 'StorageUnavailable', code: 'ERR_STORAGE_UNAVAILABLE', cause })
    expect(error.message).toBe('grantwell: the store did not answer')
    expect(Object.keys(error)).not.toContain('cause')
    expect(JSON.stringify({ ...error })).not.toContain('ECONNREFUSED')
  })
})
