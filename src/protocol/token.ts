/**
 * The token request and its answer, and the table of grant types: for each its name, its parser, the registration that admits it, and its command.
 * A new grant type is one entry.
 * @module
 * @see Specification, sections 4.2, 4.3 and 4.5; RFC 6749, sections 4.1.3 and 6; RFC 8628, section 3.4
 */
import type { PublishedApplication } from '../core/application/application.js'
import type { Audience } from '../core/audiences/audience.js'
import type { Credential } from '../core/credentials/credential.js'
import { parseCredential } from '../core/credentials/credential.js'
import type { OAuthError } from '../core/errors.js'
import { isOAuthError, oauthError } from '../core/errors.js'
import type { PollCommand } from '../core/grant/device.js'
import { deviceFlowFault } from '../core/grant/device.js'
import type { ExchangeCommand } from '../core/grant/exchange.js'
import type { IssuedTokens } from '../core/grant/pair.js'
import type { RefreshCommand } from '../core/grant/refresh.js'
import type { ScopeCatalogue } from '../core/scopes.js'
import { parseRequestedScopes, printScopes, splitScopes } from '../core/scopes.js'
import type { AudienceRules } from './audiences/requested-audience.js'
import { requestedAudience } from './audiences/requested-audience.js'
import type { PresentedClient } from './client-authentication.js'
import { presentedClient } from './client-authentication.js'
import type { HttpRequest, HttpResponse } from './message.js'
import { TOKEN_HEADERS } from './message.js'
import type { Values } from './parameters.js'
import { formOf, missing, valuesIn } from './parameters.js'

/** A command that is answered with tokens. */
export type TokenCommand = ExchangeCommand | RefreshCommand | PollCommand

/**
 * The fields that every command for tokens has: the client that authenticated, the credential that it presents, and the protected
 * resources that it asks for.
 */
export type CommonFields = Pick<TokenCommand, 'credential' | 'clientId' | 'registered' | 'tokenType' | 'audience'>

/** A request for tokens that was parsed. */
export interface PresentedGrant {
  /** Undefined for a string that is no credential. */
  readonly credential: Credential | undefined
  /** The redirect URI of an exchange, if it has one. */
  readonly redirectUri?: string | undefined
  /** Returns the error for an application that is not registered for the grant type; undefined for one that is. */
  readonly registrationFault: (application: PublishedApplication) => OAuthError | undefined
  /** Makes the command for a client that authenticated. */
  readonly command: (fields: CommonFields) => TokenCommand
}

/** Parameters of every token request. */
export type CommonParameter = 'client_id' | 'client_secret' | 'grant_type' | 'scope'

/** A grant type, as the token endpoint uses it. */
export interface GrantType {
  /** The `grant_type` of its requests. */
  readonly name: string
  /** The parameters that its requests have beside the common ones. */
  readonly parameters: readonly string[]
  /** Parses a request from the values of the common parameters and its own. */
  readonly parse: (values: Values<CommonParameter>, catalogue: ScopeCatalogue) => PresentedGrant | OAuthError
}

/** The parts of a parsed request that every grant type has, or may have. */
type ParsedGrant = Pick<PresentedGrant, 'credential' | 'redirectUri'>

/** The entry of a grant type. Its parser gives what its command is made of. */
interface GrantTypeEntry<Parameter extends string, Parsed extends ParsedGrant> {
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly parse: (values: Values<Parameter | CommonParameter>, catalogue: ScopeCatalogue) => Parsed | OAuthError
  readonly registrationFault: PresentedGrant['registrationFault']
  readonly command: (parsed: Parsed, fields: CommonFields) => TokenCommand
}

/** Makes a grant type from its entry. */
export function createGrantType<Parameter extends string, Parsed extends ParsedGrant>({
  name,
  parameters,
  parse,
  registrationFault,
  command,
}: GrantTypeEntry<Parameter, Parsed>): GrantType {
  return {
    name,
    parameters,
    parse: (values, catalogue) => {
      const parsed = parse(values as Values<Parameter | CommonParameter>, catalogue) // `createGrantTypes` has them read
      if (isOAuthError(parsed)) return parsed
      const { credential, redirectUri } = parsed
      return { credential, redirectUri, registrationFault, command: (fields) => command(parsed, fields) }
    },
  }
}

/** The exchange of a code (RFC 6749, section 4.1.3). */
const AUTHORIZATION_CODE = createGrantType({
  name: 'authorization_code',
  parameters: ['code', 'redirect_uri', 'code_verifier'],
  parse: ({ code, redirect_uri: redirectUri, code_verifier: codeVerifier }) =>
    code === undefined ? missing('code') : { credential: parseCredential(code), redirectUri, codeVerifier },
  registrationFault: () => undefined,
  command: ({ redirectUri, codeVerifier }, { credential, clientId, registered, tokenType, audience }) => {
    return { type: 'exchange', credential, clientId, registered, tokenType, audience, redirectUri, codeVerifier }
  },
})

/** The refresh of a token pair (RFC 6749, section 6). */
const REFRESH_TOKEN = createGrantType({
  name: 'refresh_token',
  parameters: ['refresh_token'],
  parse: ({ refresh_token: token, scope }, catalogue) => {
    if (token === undefined) return missing('refresh_token')
    const scopes = scope === undefined ? undefined : parseRequestedScopes(catalogue, scope)
    if (scope !== undefined && scopes === undefined) return unknownScope(catalogue, scope)
    return { credential: parseCredential(token), scopes }
  },
  registrationFault: () => undefined,
  command: ({ scopes }, { credential, clientId, registered, tokenType, audience }) => {
    return { type: 'refresh', credential, clientId, registered, tokenType, audience, scopes }
  },
})

/** The `grant_type` of a device (RFC 8628, section 3.4). */
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** The poll of a device. */
const DEVICE_CODE = createGrantType({
  name: DEVICE_CODE_GRANT,
  parameters: ['device_code'],
  parse: ({ device_code: code }) =>
    code === undefined ? missing('device_code') : { credential: parseCredential(code) },
  registrationFault: deviceFlowFault,
  command: (_, { credential, clientId, registered, tokenType, audience }) => {
    return { type: 'poll', credential, clientId, registered, tokenType, audience }
  },
})

/** The grant types that a server has. */
export interface GrantTypes {
  readonly byName: ReadonlyMap<string, GrantType>
  /** The parameters of all their requests, in the order in which they are checked. */
  readonly parameters: readonly CommonParameter[]
}

/** Makes the table of grant types. */
export function createGrantTypes(...types: readonly GrantType[]): GrantTypes {
  // They are no common ones, but nobody asks for them by name save their own entries.
  const own = types.flatMap(({ parameters }) => parameters) as CommonParameter[]
  return {
    byName: new Map(types.map((type) => [type.name, type])),
    parameters: ['client_id', 'client_secret', 'grant_type', ...own, 'scope'],
  }
}

/** The grant types of the server. */
export const GRANT_TYPES: GrantTypes = createGrantTypes(AUTHORIZATION_CODE, REFRESH_TOKEN, DEVICE_CODE)

/** A token request that is complete, its client not yet authenticated. */
export interface TokenRequest {
  readonly type: 'token_request'
  readonly client: PresentedClient
  /** The request of its grant type, or the fault of it, which the client is told only once it has authenticated. */
  readonly grant: PresentedGrant | OAuthError
  /** The protected resources that it asks for; undefined where it names none. */
  readonly audience: Audience | undefined
}

/**
 * Reads a token request.
 * @param rules.allowPost - true if a client may send its secret in the body
 */
export function tokenRequest(
  request: HttpRequest,
  rules: AudienceRules & { readonly allowPost: boolean },
  grantTypes: GrantTypes = GRANT_TYPES,
): TokenRequest | OAuthError {
  const parameters = formOf(request)
  if (isOAuthError(parameters)) return parameters
  const values = valuesIn(parameters, grantTypes.parameters)
  if (isOAuthError(values)) return values
  const client = presentedClient(request.headers, values, rules.allowPost)
  if (isOAuthError(client)) return client
  const { grant_type: name } = values
  const grantType = name === undefined ? undefined : grantTypes.byName.get(name)
  const grant = grantType === undefined ? unknownGrantType(name) : grantType.parse(values, rules.catalogue)
  const audience = requestedAudience(parameters, rules)
  if (!isOAuthError(audience)) return { type: 'token_request', client, grant, audience }
  return { type: 'token_request', client, grant: isOAuthError(grant) ? grant : audience, audience: undefined }
}

function unknownGrantType(name: string | undefined): OAuthError {
  return name === undefined
    ? missing('grant_type')
    : oauthError('unsupported_grant_type', 'unsupported', 'The grant_type is not supported.')
}

/**
 * The error of a list of scopes that the catalogue does not take: which of them it is. What was sent is not in it, since a client may
 * have mistaken a secret for it.
 */
export function unknownScope(catalogue: ScopeCatalogue, scope: string): OAuthError {
  const scopes = splitScopes(scope)
  const place = scopes.findIndex((each) => !catalogue.entries.has(each)) + 1
  if (place === 0) return scopeError('The scope is empty.')
  return scopeError(scopes.length === 1 ? 'The scope is unknown.' : `Scope ${place} of ${scopes.length} is unknown.`)
}

/** The error of a scope. */
export function scopeError(description: string): OAuthError {
  return oauthError('invalid_scope', 'scope_not_registered', description)
}

/** The one algorithm that tokens of the type `mac` are given out for (draft-ietf-oauth-v2-http-mac-01, section 3.2.3). */
const MAC_ALGORITHM = 'hmac-sha-256'

/**
 * The answer to a successful exchange or refresh.
 * @see Specification, section 2.3; RFC 6749, section 5.1
 */
export function tokenResponse(tokens: IssuedTokens): HttpResponse {
  const { accessToken, expiresIn, refreshToken, macKey } = tokens
  const scope = printScopes(tokens.scopes)
  const type = macKey === undefined ? 'bearer' : 'mac'
  // draft-ietf-oauth-v2-http-mac-01, section 5.1.
  const mac = macKey === undefined ? '' : `,"mac_key":"${macKey}","mac_algorithm":"${MAC_ALGORITHM}"`
  // By hand, which takes a fifth of the time: neither base64url nor a scope has a character that JSON escapes.
  const body = `{"access_token":"${accessToken}","token_type":"${type}","expires_in":${expiresIn},"refresh_token":"${refreshToken}","scope":"${scope}"${mac}}`
  return { status: 200, headers: TOKEN_HEADERS, body }
}
