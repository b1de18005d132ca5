/**
 * The token endpoint as a client uses it: answers become {@link Tokens}, failures become {@link ClientError}.
 * @module
 * @see RFC 6749, sections 5 and 6; RFC 7009
 */
import * as oauth from 'oauth4webapi'
import { type Client, type Connection, checkClient, connectionOf } from './client.js'
import { ClientError } from './errors.js'
import { ask, isClientError } from './http/http.js'
import { plain } from './http/plain.js'
import { mistake, readOptions, SIGNAL } from './options.js'
import type { Tokens, TokenType } from './tokens/tokens.js'
import { checkTokens, isBearer, isCredential } from './tokens/tokens-check.js'

/** What an answer leaves out where it did not change. */
export interface Before {
  /** What was asked for or, on a refresh, what was granted before. */
  readonly scope?: string | undefined
  /** The refresh token that was used. */
  readonly refreshToken?: string | undefined
}

/**
 * Asks for tokens, once.
 * @param what - what did not succeed where it fails, as the beginning of a sentence
 * @throws ClientError `ERR_UNREACHABLE`, `ERR_RESPONSE`, `ERR_TOKEN_TYPE`; the reason of the signal
 */
export async function requestTokens(
  client: Client,
  what: string,
  before: Before,
  signal: AbortSignal | undefined,
  send: (connection: Connection) => Promise<Response>,
): Promise<Tokens> {
  const connection = connectionOf(client)
  const answer = await ask(what, signal, async () => {
    const response = await send(connection)
    return oauth
      .processGenericTokenEndpointResponse(connection.as, connection.client, response, { recognizedTokenTypes })
      .catch((error: unknown) => {
        throw error instanceof oauth.UnsupportedOperationError ? unknownType(what) : error
      })
  })
  return tokensOf(client, answer, before)
}

/**
 * What else than `bearer` oauth4webapi lets pass; {@link tokensOf} judges. Without a prototype, since the service chooses the
 * name that is looked up.
 */
const recognizedTokenTypes: oauth.RecognizedTokenTypes = Object.assign(Object.create(null), { mac: () => {} })

/**
 * The tokens of an answer.
 * @throws ClientError `ERR_TOKEN_TYPE` where they are of a type that is neither `bearer` nor `mac`, or of `mac` with no key of
 *   `hmac-sha-256`; `ERR_RESPONSE` where no request could carry them, or where a scope or a lifetime is none
 * @see RFC 6749, section 5.1; draft-ietf-oauth-v2-http-mac-01, section 5.1
 */
export function tokensOf(client: Client, answer: oauth.TokenEndpointResponse, before: Before): Tokens {
  const { access_token: accessToken, refresh_token: refreshToken = before.refreshToken, scope = before.scope } = answer
  const issuedAt = connectionOf(client).now()
  const type = typeOf(answer)
  for (const text of [accessToken, refreshToken, type.tokenType === 'mac' ? type.macKey : undefined]) {
    if (text !== undefined && !isCredential(text))
      throw new ClientError('ERR_RESPONSE', 'the service gave a token with characters that no token may have')
  }
  if (type.tokenType === 'bearer' && !isBearer(accessToken))
    throw new ClientError('ERR_RESPONSE', 'the service gave a bearer token with a blank, which no header can carry')
  if (scope !== undefined && !SCOPES.test(scope))
    throw new ClientError('ERR_RESPONSE', 'the service gave a scope with characters that no scope may have')
  if (answer.expires_in !== undefined && answer.expires_in > MAX_LIFETIME)
    throw new ClientError(
      'ERR_RESPONSE',
      `the service gave a token that lives ${answer.expires_in} seconds: at most ${MAX_LIFETIME} are expected`,
    )
  return {
    v: 1,
    issuer: client.issuer,
    clientId: client.clientId,
    accessToken,
    issuedAt,
    // A fraction of a second is none to rely on.
    ...(answer.expires_in !== undefined && { expiresAt: Math.floor(issuedAt + answer.expires_in) }),
    ...(refreshToken !== undefined && { refreshToken }),
    ...(scope !== undefined && { scope }),
    ...type,
  }
}

/** RFC 6749, appendix A.4, and what services give besides: an empty one, two blanks, quotes. */
const SCOPES = /^[\x20-\x7e]*$/

/** Seconds: 136 years. Some services say a hundred years where a token lives for ever. */
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

function unknownType(what: string, type?: string): ClientError {
  const name = type === undefined ? '' : `, ${plain(type)}`
  return new ClientError('ERR_TOKEN_TYPE', `${what}: they are of a type that this client does not know${name}`)
}

/**
 * Asks once for new tokens. At a grantwell service the same request may be sent again for 5 minutes: it has the same answer.
 * @throws ClientError `ERR_AUTHORIZATION_REQUIRED` where the user must authorize again; `ERR_UNREACHABLE` where the same
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
    return await requestTokens(
      client,
      'the service gave no new tokens',
      tokens,
      signal,
      ({ as, client, authentication, http }) =>
        oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, http(signal)),
    )
  } catch (error) {
    if (!isClientError(error) || error.code !== 'ERR_RESPONSE' || error.error !== 'invalid_grant') throw error
    const message = 'what was permitted has ended: the user must authorize again'
    throw new ClientError('ERR_AUTHORIZATION_REQUIRED', message, { error: error.error, cause: error.cause })
  }
}

/**
 * Ends what was permitted, at the service; what is kept of the tokens stays. It is done by the refresh token, which ends
 * all tokens of the grant; where there is none, the access token alone ends. Tokens that have ended already are no failure.
 * @throws ClientError `ERR_UNREACHABLE`, `ERR_RESPONSE`, `ERR_CONFIGURATION`, as `refreshTokens`
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

/** Credentials go to nobody but the service that gave them. */
function checkOwner({ issuer, clientId }: Client, tokens: Tokens): void {
  if (tokens.issuer !== issuer || tokens.clientId !== clientId)
    throw mistake('these tokens are of another service or of another client')
}
