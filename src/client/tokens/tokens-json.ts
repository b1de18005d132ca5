/**
 * Tokens read back from where they were kept, and checked before they are.
 * @module
 */
import { checkArgument } from '../options.js'
import type { Tokens, TokenType } from './tokens.js'
import { isCredential, TOKENS } from './tokens-check.js'

/**
 * The tokens that a JSON text holds, and nothing else that it holds.
 * @returns undefined where it is not whole, or something else
 */
export function parseTokens(text: string): Tokens | undefined {
  const value = parseObject(text)
  if (value === undefined) return undefined
  const own = (name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined)
  const [v, issuer, clientId, accessToken, issuedAt] = ['v', 'issuer', 'clientId', 'accessToken', 'issuedAt'].map(own)
  const [expiresAt, refreshToken, scope] = ['expiresAt', 'refreshToken', 'scope'].map(own)
  const type = typeOf(own('tokenType'), own('macKey'), own('macAlgorithm'))
  if (v !== 1 || !isText(issuer) || !isText(clientId) || !isCredential(accessToken) || !isTime(issuedAt))
    return undefined
  if (expiresAt !== undefined && !isTime(expiresAt)) return undefined
  if (refreshToken !== undefined && !isCredential(refreshToken)) return undefined
  if (scope !== undefined && typeof scope !== 'string') return undefined
  if (type === undefined) return undefined
  return {
    v,
    issuer,
    clientId,
    accessToken,
    issuedAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(refreshToken !== undefined && { refreshToken }),
    ...(scope !== undefined && { scope }),
    ...type,
  }
}

/**
 * Checks tokens that are to be kept: what could not be read back must not take the place of what can.
 * @throws ClientError `ERR_CONFIGURATION` for tokens that are not whole, or have something in them that is none
 */
export function checkWhole(of: string, tokens: unknown): void {
  checkArgument(of, 'tokens', { ...TOKENS, fits: isReadable }, tokens)
}

/** Whether tokens are read back from a JSON text of them. */
function isReadable(tokens: unknown): boolean {
  try {
    return parseTokens(JSON.stringify(tokens)) !== undefined
  } catch {
    return false // of what there is no JSON
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    // Any object may be asked for any name.
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

function typeOf(tokenType: unknown, macKey: unknown, macAlgorithm: unknown): TokenType | undefined {
  if (tokenType === 'bearer') return { tokenType }
  return tokenType === 'mac' && isCredential(macKey) && macAlgorithm === 'hmac-sha-256'
    ? { tokenType, macKey, macAlgorithm }
    : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
