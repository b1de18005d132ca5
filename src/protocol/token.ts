/**
 * The token request: the exchange of a code, a refresh, or the poll of a device.
 * @module
 * @see Specification, sections 4.2 and 4.3; RFC 6749, sections 4.1.3 and 6; RFC 8628, section 3.4
 */
import type { OAuthError } from '../core/errors.js'
import { isOAuthError, oauthError } from '../core/errors.js'
import type { ScopeCatalogue } from '../core/scopes.js'
import type { PresentedClient } from './client-authentication.js'
import { presentedClient } from './client-authentication.js'
import type { GrantTypes, PresentedGrant } from './grant-types.js'
import { GRANT_TYPES } from './grant-types.js'
import type { HttpRequest } from './message.js'
import { formOf, missing, valuesIn } from './parameters.js'

/** A token request that is complete, its client not yet authenticated. */
export interface TokenRequest {
  readonly type: 'token_request'
  readonly client: PresentedClient
  /** The request of its grant type, or the fault of it, which the client is told only once it has authenticated. */
  readonly grant: PresentedGrant | OAuthError
}

/**
 * Reads a token request.
 * @param rules.allowPost - true if a client may send its secret in the body
 */
export function tokenRequest(
  request: HttpRequest,
  { catalogue, allowPost }: { readonly catalogue: ScopeCatalogue; readonly allowPost: boolean },
  grantTypes: GrantTypes = GRANT_TYPES,
): TokenRequest | OAuthError {
  const parameters = formOf(request)
  if (isOAuthError(parameters)) return parameters
  const values = valuesIn(parameters, grantTypes.parameters)
  if (isOAuthError(values)) return values
  const client = presentedClient(request.headers, values, allowPost)
  if (isOAuthError(client)) return client
  const { grant_type: name } = values
  const grantType = name === undefined ? undefined : grantTypes.byName.get(name)
  const grant = grantType === undefined ? unknownGrantType(name) : grantType.parse(values, catalogue)
  return { type: 'token_request', client, grant }
}

function unknownGrantType(name: string | undefined): OAuthError {
  return name === undefined
    ? missing('grant_type')
    : oauthError('unsupported_grant_type', 'unsupported', 'The grant_type is not supported.')
}
