/**
 * Tokens as JSON: parsed, and checked before they are written.
 * @module
 */
import { checkArgument } from '../options.js'
import type { Tokens, TokenType } from './tokens.js'
import { isCredential, TOKENS } from './tokens-check.js'

/**
 * Parses tokens from JSON, and drops everything else in it.
 * @returns undefined if they are incomplete, or if it is something else
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
 * Checks tokens before they are stored. Tokens that could not be read back must not replace others.
 * @throws ClientError `ERR_CONFIGURATION` for incomplete tokens, or tokens with a wrong member
 */
export function checkWhole(of: string, tokens: unknown): void {
  checkArgument(of, 'tokens', { ...TOKENS, fits: isReadable }, tokens)
}

/** Checks whether tokens can be read back from their JSON. */
function isReadable(tokens: unknown): boolean {
  try {
    return parseTokens(JSON.stringify(tokens)) !== undefined
  } catch {
    return false // a value without JSON
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    // Any object may have members of any name.
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
