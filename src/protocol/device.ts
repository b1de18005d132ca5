/**
 * The device authorization request and its answer.
 * @module
 * @see RFC 8628, sections 3.1 and 3.2
 */

import type { Audience } from '../core/audiences/audience.js'
import { printUserCode } from '../core/credentials/user-code.js'
import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import type { IssuedDeviceCode } from '../core/grant/device.js'
import type { UserCode } from '../core/values.js'
import type { AudienceRules } from './audiences/requested-audience.js'
import { requestedAudience } from './audiences/requested-audience.js'
import type { PresentedClient } from './client-authentication.js'
import { presentedClient } from './client-authentication.js'
import { ENDPOINT_PATHS } from './endpoint-paths.js'
import type { HttpRequest, HttpResponse } from './message.js'
import { TOKEN_HEADERS } from './message.js'
import { formOf, valuesIn } from './parameters.js'

/** A device authorization request, its client not yet authenticated. */
export interface DeviceAuthorizationRequest {
  readonly type: 'device_authorization_request'
  readonly client: PresentedClient
  /** The parameter as sent. It is checked once the client has authenticated. */
  readonly scope: string | undefined
  /** The protected resources that it asks for, undefined where it names none, or the fault of them. */
  readonly audience: Audience | undefined | OAuthError
}

/** Reads a device authorization request. */
export function deviceAuthorizationRequest(
  request: HttpRequest,
  rules: Pick<AudienceRules, 'audiences'> & { readonly allowPost: boolean },
): DeviceAuthorizationRequest | OAuthError {
  const parameters = formOf(request)
  if (isOAuthError(parameters)) return parameters
  const values = valuesIn(parameters, ['client_id', 'client_secret', 'scope'])
  if (isOAuthError(values)) return values
  const client = presentedClient(request.headers, values, rules.allowPost)
  if (isOAuthError(client)) return client
  const audience = requestedAudience(parameters, rules)
  return { type: 'device_authorization_request', client, scope: values.scope, audience }
}

/** The answer to a device authorization request. */
export function deviceAuthorizationResponse(
  { deviceCode, expiresIn, interval }: IssuedDeviceCode,
  userCode: UserCode,
  issuer: string,
): HttpResponse {
  const page = issuer + ENDPOINT_PATHS.device
  const shown = printUserCode(userCode)
  const body = JSON.stringify({
    device_code: deviceCode,
    user_code: shown,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${shown}`,
    expires_in: expiresIn,
    interval,
  })
  return { status: 200, headers: TOKEN_HEADERS, body }
}
