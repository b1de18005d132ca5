/**
 * Checks of tokens that a caller passes, and of the characters in credentials.
 * @module
 */
import type { Takes } from '../../core/takes.js'
import { isObject } from '../../core/takes.js'
import { checkArgument } from '../options.js'

/** Checks whether a value is a token, a code or a key with allowed characters only (RFC 6749, appendices A.12 and A.17). */
export function isCredential(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)
}

/** Checks whether an access token can be sent as a bearer token, which has no space (RFC 6750, section 2.1). */
export function isBearer(accessToken: string): boolean {
  return !accessToken.includes(' ')
}

/** Tokens. Messages never show them, since they are secrets. */
export const TOKENS: Takes = {
  words: 'tokens, as a login gives them',
  fits: (value) => isObject(value) && isCredential(value['accessToken']),
  secret: true,
}

/** Checks the argument `tokens`. @throws ClientError `ERR_CONFIGURATION` for anything else, such as the promise of a login */
export function checkTokens(of: string, tokens: unknown): void {
  checkArgument(of, 'tokens', TOKENS, tokens)
}
