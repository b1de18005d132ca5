/**
 * Tokens as a caller hands them over.
 * @module
 */
import { isObject, type Takes } from '../core/takes.js'
import { checkArgument } from './options.js'

/** Never shown: they are secrets. */
const TOKENS: Takes = {
  words: 'tokens, as a login gives them',
  fits: (value) => isObject(value) && typeof value['accessToken'] === 'string',
  secret: true,
}

/** @throws ClientError `ERR_CONFIGURATION` for an argument that is no tokens: those of a login that nobody awaited, say */
export function checkTokens(of: string, tokens: unknown): void {
  checkArgument(of, 'tokens', TOKENS, tokens)
}
