/**
 * Tokens that a store or a caller hands over: of the characters that tokens may have, or none (RFC 6749, appendix A).
 * @module
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkTokens } from '../../src/client/tokens/tokens-check.js'
import { parseTokens } from '../../src/client/tokens/tokens-json.js'
import { unicodeText } from '../unicode.js'

const TOKENS = {
  v: 1,
  issuer: 'https://git.example',
  clientId: 'tool',
  accessToken: 'access',
  refreshToken: 'refresh',
  issuedAt: 0,
  tokenType: 'mac',
  macKey: 'key',
  macAlgorithm: 'hmac-sha-256',
}

describe('tokens that are handed over', () => {
  it('have the characters of tokens, or are none', () => {
    const name = fc.constantFrom('accessToken', 'refreshToken', 'macKey')
    fc.assert(
      fc.property(name, fc.oneof(fc.string(), unicodeText()), (which, text) => {
        const isGood = /^[ -~]+$/.test(text)
        expect(parseTokens(JSON.stringify({ ...TOKENS, [which]: text })) !== undefined).toBe(isGood)
      }),
    )
  })

  it.each(['', 'a\r\nX: y', 'a\u0000', 'a\u007f', 'é'])('are refused by name, and not shown: %j', (accessToken) => {
    expect(() => checkTokens('revokeTokens', { ...TOKENS, accessToken })).toThrow(
      'revokeTokens: the argument tokens must be tokens, as a login gives them; got an object',
    )
    expect(() => checkTokens('revokeTokens', TOKENS)).not.toThrow()
  })
})
