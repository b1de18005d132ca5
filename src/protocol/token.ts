/**
 * The token request: exchange of a code, refresh, and the poll of a device.
 * @module
 * @see Specification, sections 4.2 and 4.3; RFC 6749, sections 4.1.3 and 6; RFC 8628, section 3.4
 */
import type { PublishedApplication } from '../core/application/application.js'
import type { OAuthError } from '../core/errors.js'
import { oauthError } from '../core/errors.js'
import type { Scope, ScopeCatalogue } from '../core/scopes.js'
import { parseScopes } from '../core/scopes.js'
import type { Credential } from '../core/tokens/credential.js'
import { parseCredential } from '../core/tokens/credential.js'
import type { PresentedClient } from './client-authentication.js'
import { presentedClient } from './client-authentication.js'
import type { HttpRequest } from './message.js'
import type { Values } from './parameters.js'
import { formOf, isError, missing, valuesIn } from './parameters.js'

/** A token request that is complete, its client not yet authenticated. */
export interface TokenRequest {
  readonly type: 'token_request'
  readonly client: PresentedClient
  readonly grant:
    | {
        readonly type: 'authorization_code'
        /** Undefined for what is no credential at all. */
        readonly credential: Credential | undefined
        readonly redirectUri: string | undefined
        readonly codeVerifier: string | undefined
      }
    | {
        readonly type: 'refresh_token'
        readonly credential: Credential | undefined
        readonly scopes: readonly Scope[] | undefined
      }
    | { readonly type: 'device_code'; readonly credential: Credential | undefined }
    /** Asked for rightly or wrongly, what is wrong with it is told only once the client has authenticated. */
    | { readonly type: 'faulty'; readonly error: OAuthError; readonly credential: undefined }
}

/** The `grant_type` of a device (RFC 8628, section 3.4). */
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** Reads a token request. */
export function tokenRequest(
  request: HttpRequest,
  rules: { readonly catalogue: ScopeCatalogue; readonly allowPost: boolean },
): TokenRequest | OAuthError {
  const parameters = formOf(request)
  if (isError(parameters)) return parameters
  const values = valuesIn(parameters, [
    'client_id',
    'client_secret',
    'grant_type',
    'code',
    'redirect_uri',
    'code_verifier',
    'refresh_token',
    'device_code',
    'scope',
  ])
  if (isError(values)) return values
  const client = presentedClient(request.headers, values, rules.allowPost)
  return isError(client) ? client : { type: 'token_request', client, grant: requestedGrant(values, rules.catalogue) }
}

function requestedGrant(
  values: Values<'grant_type' | 'code' | 'redirect_uri' | 'code_verifier' | 'refresh_token' | 'device_code' | 'scope'>,
  catalogue: ScopeCatalogue,
): TokenRequest['grant'] {
  const faulty = (error: OAuthError) => ({ type: 'faulty', error, credential: undefined }) as const
  switch (values.grant_type) {
    case 'authorization_code': {
      if (values.code === undefined) return faulty(missing('code'))
      return {
        type: 'authorization_code',
        credential: parseCredential(values.code),
        redirectUri: values.redirect_uri,
        codeVerifier: values.code_verifier,
      }
    }
    case 'refresh_token': {
      if (values.refresh_token === undefined) return faulty(missing('refresh_token'))
      const scopes = values.scope === undefined ? undefined : parseScopes(catalogue, values.scope)
      if (values.scope !== undefined && scopes === undefined) {
        return faulty(oauthError('invalid_scope', 'scope_not_registered', 'The scope is unknown or malformed.'))
      }
      return { type: 'refresh_token', credential: parseCredential(values.refresh_token), scopes }
    }
    case DEVICE_CODE_GRANT: {
      if (values.device_code === undefined) return faulty(missing('device_code'))
      return { type: 'device_code', credential: parseCredential(values.device_code) }
    }
    case undefined:
      return faulty(missing('grant_type'))
    default:
      return faulty(oauthError('unsupported_grant_type', 'unsupported', 'The grant_type is not supported.'))
  }
}

/** Why a client may not use the device flow, at this endpoint or any other; undefined where it may (RFC 6749, section 5.2). */
export function deviceFlowFault({ deviceFlow }: PublishedApplication): OAuthError | undefined {
  const description = 'The application is not registered for the device flow.'
  return deviceFlow ? undefined : oauthError('unauthorized_client', 'grant_type_not_registered', description)
}
