/**
 * The revocation request and its answer; and the introspection request, which has the same form: a client's request about one token.
 * @module
 * @see Specification, section 4.4; RFC 7009, section 2.1; RFC 7662, section 2.1
 */

import type { Credential } from '../core/credentials/credential.js'
import { parseCredential } from '../core/credentials/credential.js'
import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import type { PresentedClient } from './client-authentication.js'
import { presentedClient } from './client-authentication.js'
import type { HttpHeaders, HttpRequest, HttpResponse } from './message.js'
import { EMPTY_HEADERS, headerOf, REVOCATION_HEADERS } from './message.js'
import { formOf, missing, valuesIn } from './parameters.js'

/** A revocation or introspection request, its client not yet authenticated. */
export interface RequestAboutToken {
  readonly type: 'request_about_token'
  readonly client: PresentedClient
  /** The token; undefined where it is none of ours. */
  readonly credential: Credential | undefined
  /** The fault of the request, which the client is told only once it has authenticated. */
  readonly fault: OAuthError | undefined
}

/**
 * Reads a revocation or introspection request. `token_type_hint` is not even looked at: a credential tells its own kind.
 * @param rules.allowPost - whether the client secret is admitted in the body
 */
export function requestAboutToken(
  request: HttpRequest,
  rules: { readonly allowPost: boolean },
): RequestAboutToken | OAuthError {
  const parameters = formOf(request)
  if (isOAuthError(parameters)) return parameters
  const values = valuesIn(parameters, ['client_id', 'client_secret', 'token'])
  if (isOAuthError(values)) return values
  const client = presentedClient(request.headers, values, rules.allowPost)
  if (isOAuthError(client)) return client
  const { token } = values
  const credential = token === undefined ? undefined : parseCredential(token)
  const fault = token === undefined ? missing('token') : undefined
  return { type: 'request_about_token', client, credential, fault }
}

/**
 * The answer to a revocation, whatever there was to revoke. It is empty; a client that accepts JSON alone gets an empty
 * object, since @badgateway/oauth2-client parses it, and simple-oauth2 takes an answer of any other type for a failure.
 * @see Specification, section 4.4; RFC 7009, section 2.2
 */
export function revocationResponse(request: HttpHeaders): HttpResponse {
  const accept = headerOf(request, 'accept')
  return typeof accept === 'string' && acceptsJsonAlone(accept)
    ? { status: 200, headers: REVOCATION_HEADERS, body: '{}' }
    : { status: 200, headers: EMPTY_HEADERS, body: '' }
}

/** One media range, whatever its parameters; and the weight that refuses it. */
const JSON_RANGE = /^[ \t]*application\/json[ \t]*(?:;[^,]*)?$/i
const NO_WEIGHT = /;[ \t]*q=0(?:\.0{0,3})?[ \t]*(?:;|$)/i

/** True if an `Accept` names `application/json` and nothing beside it (RFC 9110, section 12.5.1). */
function acceptsJsonAlone(accept: string): boolean {
  return JSON_RANGE.test(accept) && !NO_WEIGHT.test(accept)
}
