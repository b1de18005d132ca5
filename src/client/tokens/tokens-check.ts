/**
 * Tokens as a caller hands them over, and the characters that they may have.
 * @module
 */
import { isObject, type Takes } from '../../core/takes.js'
import { checkArgument } from '../options.js'

/** Whether a value is a token, a code or a key of characters that it may have (RFC 6749, appendices A.12 and A.17). */
export function isCredential(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)
}

/** Whether a header can carry an access token as a bearer token, which has no blank (RFC 6750, section 2.1). */
export function isBearer(accessToken: string): boolean {
  return !accessToken.includes(' ')
}

/** Never shown: they are secrets. */
export const TOKENS: Takes = {
  words: 'tokens, as a login gives them',
  fits: (value) => isObject(value) && isCredential(value['accessToken']),
  secret: true,
}

/** @throws ClientError `ERR_CONFIGURATION` for an argument that is no tokens: those of a login that nobody awaited, say */
export function checkTokens(of: string, tokens: unknown): void {
  checkArgument(of, 'tokens', TOKENS, tokens)
}
