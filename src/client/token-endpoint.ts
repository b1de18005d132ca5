/**
 * The token endpoint as a client uses it: answers become {@link Tokens}, failures become {@link ClientError}.
 * @module
 * @see RFC 6749, sections 5 and 6; RFC 7009
 */
import * as oauth from 'oauth4webapi'
import type { Client, Connection } from './client.js'
import { checkClient, connectionOf } from './client.js'
import { ClientError, configurationError, isClientError } from './errors.js'
import { ask } from './http/http.js'
import { ownMembers } from './http/own-members.js'
import { plain } from './http/plain.js'
import { readOptions, SIGNAL } from './options.js'
import type { Tokens, TokenType } from './tokens/tokens.js'
import { checkTokens, isBearer, isCredential } from './tokens/tokens-check.js'

/** The values that an answer may omit if they did not change. */
export interface Before {
  /** The scopes of the request or, on a refresh, those granted before. */
  readonly scope?: string | undefined
  /** The refresh token that was used. */
  readonly refreshToken?: string | undefined
}

/**
 * Sends one token request.
 * @param failure - the failure, as the beginning of a sentence
 * @throws ClientError `ERR_UNREACHABLE`, `ERR_RESPONSE`, `ERR_TOKEN_TYPE`; the reason of the signal
 */
export async function requestTokens(
  client: Client,
  failure: string,
  before: Before,
  signal: AbortSignal | undefined,
  send: (connection: Connection) => Promise<Response>,
): Promise<Tokens> {
  const connection = connectionOf(client)
  const answer = await ask(failure, signal, async () => {
    const response = await send(connection)
    return oauth
      .processGenericTokenEndpointResponse(connection.as, connection.client, response, { recognizedTokenTypes })
      .then(ownMembers)
      .catch((error: unknown) => {
        throw error instanceof oauth.UnsupportedOperationError ? unknownType(failure) : error
      })
  })
  return tokensOf(client, answer, before)
}

/** Makes options of a token request: it names the protected resources that the tokens are for (RFC 8707, section 2.2). */
export function tokenRequest(
  { http, resources }: Connection,
  signal: AbortSignal | undefined,
): oauth.TokenEndpointRequestOptions {
  return { ...http(signal), additionalParameters: resources }
}

/**
 * Token types besides `bearer` that oauth4webapi accepts; {@link tokensOf} checks them. It has no prototype, since the
 * service chooses the name that is looked up.
 */
const recognizedTokenTypes: oauth.RecognizedTokenTypes = Object.assign(Object.create(null), { mac: () => {} })

/**
 * Reads the tokens of an answer.
 * @throws ClientError `ERR_TOKEN_TYPE` if their type is neither `bearer` nor `mac`, or if it is `mac` without a key of
 *   `hmac-sha-256`; `ERR_RESPONSE` if no request could contain them, or if the scope or the lifetime is wrong
 * @see RFC 6749, section 5.1; draft-ietf-oauth-v2-http-mac-01, section 5.1
 */
export function tokensOf(client: Client, answer: oauth.TokenEndpointResponse, before: Before): Tokens {
  const own = ownMembers(before)
  const { access_token: accessToken, refresh_token: refreshToken = own.refreshToken, scope = own.scope } = answer
  const issuedAt = connectionOf(client).now()
  const type = typeOf(answer)
  const others = [refreshToken, type.tokenType === 'mac' ? type.macKey : undefined]
  if (!isCredential(accessToken) || others.some((text) => text !== undefined && !isCredential(text)))
    throw new ClientError('ERR_RESPONSE', 'the service gave a token with characters that no token may have')
  if (type.tokenType === 'bearer' && !isBearer(accessToken))
    throw new ClientError('ERR_RESPONSE', 'the service gave a bearer token with a space, which no header can contain')
  if (scope !== undefined && !SCOPES.test(scope))
    throw new ClientError('ERR_RESPONSE', 'the service gave a scope with characters that no scope may have')
  if (answer.expires_in !== undefined && answer.expires_in > MAX_LIFETIME)
    throw new ClientError(
      'ERR_RESPONSE',
      `the service gave a token with a lifetime of ${answer.expires_in} seconds; at most ${MAX_LIFETIME} is expected`,
    )
  return {
    v: 1,
    issuer: client.issuer,
    clientId: client.clientId,
    accessToken,
    issuedAt,
    // Rounded down: the access token may expire within the last second.
    ...(answer.expires_in !== undefined && { expiresAt: Math.floor(issuedAt + answer.expires_in) }),
    ...(refreshToken !== undefined && { refreshToken }),
    ...(scope !== undefined && { scope }),
    ...type,
  }
}

/** Scopes by RFC 6749, appendix A.4, and those that some services give: empty, with two spaces, with quotes. */
const SCOPES = /^[\x20-\x7e]*$/

/** 136 years in seconds. Some services give a hundred years for a token without an expiry. */
const MAX_LIFETIME = 4_294_967_295

function typeOf(answer: oauth.TokenEndpointResponse): TokenType {
  const { mac_key: macKey, mac_algorithm: macAlgorithm } = answer
  const type = answer.token_type.toLowerCase()
  if (type === 'bearer') return { tokenType: 'bearer' }
  if (type !== 'mac') throw unknownType('the tokens cannot be used', type)
  if (typeof macKey !== 'string' || macAlgorithm !== 'hmac-sha-256')
    throw new ClientError('ERR_TOKEN_TYPE', 'the service gave a mac token without a key of hmac-sha-256')
  return { tokenType: 'mac', macKey, macAlgorithm }
}

function unknownType(failure: string, type?: string): ClientError {
  const name = type === undefined ? '' : `, ${plain(type)}`
  return new ClientError('ERR_TOKEN_TYPE', `${failure}: they have a type that this client does not know${name}`)
}

/**
 * Refreshes tokens with one request. A grantwell service gives the same answer if the request is repeated within 5 minutes.
 * @throws ClientError `ERR_AUTHORIZATION_REQUIRED` if the user must authorize again; `ERR_UNREACHABLE` if the same
 *   request may succeed later; `ERR_RESPONSE`, `ERR_TOKEN_TYPE`; `ERR_CONFIGURATION` for tokens of another client or service;
 *   the reason of the signal
 * @see RFC 6749, section 6
 */
export async function refreshTokens(
  client: Client,
  tokens: Tokens,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Tokens> {
  checkOwner(client, tokens)
  const { refreshToken } = tokens
  if (refreshToken === undefined)
    throw new ClientError('ERR_AUTHORIZATION_REQUIRED', 'there is no refresh token: the user must authorize again')
  try {
    return await requestTokens(client, 'the service gave no new tokens', tokens, signal, (connection) => {
      const { as, client: self, authentication } = connection
      return oauth.refreshTokenGrantRequest(as, self, authentication, refreshToken, tokenRequest(connection, signal))
    })
  } catch (error) {
    if (!isClientError(error) || error.code !== 'ERR_RESPONSE' || error.error !== 'invalid_grant') throw error
    const message = 'the grant has ended: the user must authorize again'
    throw new ClientError('ERR_AUTHORIZATION_REQUIRED', message, { error: error.error, cause: error.cause })
  }
}

/**
 * Revokes tokens at the service, and leaves stored copies unchanged. It sends the refresh token, which ends
 * all tokens of the grant. Without a refresh token, only the access token ends. Tokens that have ended already are no error.
 * @throws ClientError `ERR_UNREACHABLE`, `ERR_RESPONSE`, `ERR_CONFIGURATION`
 * @see RFC 7009, section 2.1
 */
export async function revokeTokens(
  client: Client,
  tokens: Tokens,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  checkClient('revokeTokens', client)
  checkTokens('revokeTokens', tokens)
  const { signal } = readOptions<{ signal?: AbortSignal | undefined }>('revokeTokens', options, { signal: SIGNAL })
  checkOwner(client, tokens)
  const { as, client: self, authentication, http } = connectionOf(client)
  const { refreshToken, accessToken } = tokens
  const hint = refreshToken === undefined ? 'access_token' : 'refresh_token'
  const requestOptions = { ...http(signal), additionalParameters: { token_type_hint: hint } }
  await ask('the service did not revoke the tokens', signal, async () => {
    const response = await oauth.revocationRequest(
      as,
      self,
      authentication,
      refreshToken ?? accessToken,
      requestOptions,
    )
    await oauth.processRevocationResponse(response)
  })
}

/** Checks that credentials go only to the service that gave them. */
function checkOwner({ issuer, clientId }: Client, tokens: Tokens): void {
  if (tokens.issuer !== issuer || tokens.clientId !== clientId)
    throw configurationError('these tokens belong to another service or another client')
}
