/**
 * The token endpoint: exchanges codes, refreshes token pairs, and answers polls of devices.
 * @module
 * @see Specification, sections 4.2, 4.3 and 4.5; RFC 6749, section 3.2; RFC 8628, section 3.4
 */
import type { PublishedApplication } from '../core/application/application.js'
import type { OAuthError } from '../core/errors.js'
import type { Poll } from '../core/grant/device.js'
import type { Exchange } from '../core/grant/exchange.js'
import { invalidGrant, unchanged } from '../core/grant/outcome.js'
import type { IssuedTokens } from '../core/grant/pair.js'
import type { Refresh } from '../core/grant/refresh.js'
import { transition } from '../core/grant/transition.js'
import type { Credential } from '../core/tokens/credential.js'
import { clientKeyOf } from '../core/tokens/digests.js'
import type { PresentedClient } from '../protocol/client-authentication.js'
import { authenticateClient } from '../protocol/client-authentication.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { errorResponse, tokenResponse } from '../protocol/message.js'
import { isError } from '../protocol/parameters.js'
import type { TokenRequest } from '../protocol/token.js'
import { deviceFlowFault, tokenRequest } from '../protocol/token.js'
import type { MaybePromise } from '../shell/maybe-promise.js'
import { andThen } from '../shell/maybe-promise.js'
import type { Refused, Settings } from '../shell/options.js'
import type { Transactions } from '../shell/transactions.js'
import { resolveClient } from './client.js'

/** A sound request for tokens. */
type Wanted = Exclude<TokenRequest['grant'], { readonly type: 'faulty' }>

/** Makes the token endpoint. */
export function tokenEndpoint<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
  refused: Refused,
): (request: HttpRequest<Native>) => MaybePromise<HttpResponse> {
  const { digests, rules, macTokens } = settings
  const protocol = { catalogue: settings.scopes, allowPost: settings.allowClientSecretPost }

  function refuse(error: OAuthError, clientId?: string): HttpResponse {
    // A device that asks as it should is no news.
    if (error.code !== 'authorization_pending') refused('token', error.reason, error.code, clientId)
    return errorResponse(error)
  }

  return (request) => {
    const asked = tokenRequest(request, protocol)
    if (isError(asked)) return refuse(asked)
    const { credential } = asked.grant
    return andThen(resolveClient(asked.client, credential, digests, transactions), (client) => {
      if (isError(client)) return refuse(client, asked.client.clientId)
      return andThen(decide(asked.grant, client), (reply) =>
        isError(reply) ? refuse(reply, client.clientId) : tokenResponse(reply),
      )
    })
  }

  /** Authenticates the client and takes the step of its grant, in one transaction. */
  function decide(wanted: TokenRequest['grant'], client: PresentedClient): MaybePromise<IssuedTokens | OAuthError> {
    const clientKey = clientKeyOf(digests, client.clientId)
    // A credential under another client's key is another client's: its grant need not be read to refuse it.
    const credential = wanted.credential?.clientKey === clientKey ? wanted.credential : undefined
    return transactions.onGrant<IssuedTokens>(clientKey, credential?.grantId, (stored, grant, now, entropy) => {
      const application = authenticateClient(stored, client, digests, now)
      if (isError(application)) return unchanged(application)
      if (wanted.type === 'faulty') return unchanged(wanted.error)
      if (credential === undefined)
        return unchanged(
          invalidGrant(wanted.credential === undefined ? 'credential_unknown' : 'credential_of_another_client'),
        )
      const fault = wanted.type === 'device_code' ? deviceFlowFault(application) : undefined
      if (fault !== undefined) return unchanged(fault)
      return transition(grant, commandOf(wanted, credential, application, macTokens), now, entropy, rules)
    })
  }
}

/** Makes the command of a token request. */
function commandOf(
  wanted: Wanted,
  credential: Credential,
  { clientId, scopes: registered, tokenType: registeredType }: PublishedApplication,
  macTokens: boolean,
): Exchange | Refresh | Poll {
  const tokenType = macTokens ? registeredType : undefined
  switch (wanted.type) {
    case 'authorization_code': {
      const { redirectUri, codeVerifier } = wanted
      return { type: 'exchange', credential, clientId, registered, tokenType, redirectUri, codeVerifier }
    }
    case 'refresh_token':
      return { type: 'refresh', credential, clientId, registered, tokenType, scopes: wanted.scopes }
    case 'device_code':
      return { type: 'poll', credential, clientId, registered, tokenType }
  }
}
