/**
 * The revocation request.
 * @module
 * @see Specification, section 4.4; RFC 7009, section 2.1
 */
import type { Credential } from '../core/credential.js'
import { parseCredential } from '../core/credential.js'
import type { OAuthError } from '../core/errors.js'
import type { PresentedClient } from './client-authentication.js'
import { presentedClient } from './client-authentication.js'
import type { HttpRequest } from './message.js'
import { formOf, isError, malformed, valuesIn } from './parameters.js'

/** A revocation request, its client not yet authenticated. */
export interface RevocationRequest {
  readonly type: 'revocation_request'
  readonly client: PresentedClient
  /** What there is to revoke; undefined where the token is none of ours. */
  readonly credential: Credential | undefined
  /** What is wrong with the request, told only once the client has authenticated. */
  readonly fault: OAuthError | undefined
}

/** Reads a revocation request. `token_type_hint` is not even looked at: a credential tells its own kind. */
export function revocationRequest(request: HttpRequest): RevocationRequest | OAuthError {
  const parameters = formOf(request)
  if (isError(parameters)) return parameters
  const values = valuesIn(parameters, ['client_id', 'client_secret', 'token'])
  if (isError(values)) return values
  const client = presentedClient(request.headers, values, true)
  if (isError(client)) return client
  const { token } = values
  const credential = token === undefined ? undefined : parseCredential(token)
  const fault = token === undefined ? malformed('The parameter token is missing.') : undefined
  return { type: 'revocation_request', client, credential, fault }
}
