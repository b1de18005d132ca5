/**
 * The revocation endpoint: ends an access token, or with its refresh token a whole grant.
 * @module
 * @see Specification, section 4.4; RFC 7009, section 2
 */

import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import { withoutChange } from '../core/grant/outcome.js'
import type { Revocation } from '../core/grant/revoke.js'
import { transition } from '../core/grant/transition.js'
import type { GrantId } from '../core/values.js'
import type { PresentedClient } from '../protocol/client-authentication.js'
import { authenticateClient } from '../protocol/client-authentication.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { errorResponse } from '../protocol/message.js'
import type { RequestAboutToken } from '../protocol/request-about-token.js'
import { requestAboutToken, revocationResponse } from '../protocol/request-about-token.js'
import type { ReportRefusal } from '../shell/audit.js'
import { isPromise } from '../shell/maybe-promise.js'
import type { Settings } from '../shell/options/settings.js'
import type { Transactions } from '../shell/transactions.js'
import { resolveClient } from './client.js'
import type { FoundApplication } from './cors/readable-endpoint.js'
import { readableEndpoint } from './cors/readable-endpoint.js'

/** Makes the revocation endpoint. */
export function revocationEndpoint<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
  reportRefusal: ReportRefusal,
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  const { digests, rules } = settings

  function answerError(error: OAuthError, clientId?: string, grantId?: GrantId): HttpResponse {
    reportRefusal('revocation', error.reason, error.code, { clientId, grantId })
    return errorResponse(error, 'revocation')
  }

  return readableEndpoint(settings, async (request, found) => {
    const asked = requestAboutToken(request, { allowPost: true })
    if (isOAuthError(asked)) return answerError(asked)
    const resolving = resolveClient(asked.client, asked.credential, settings, transactions)
    const client = isPromise(resolving) ? await resolving : resolving
    const grantId = asked.credential?.grantId
    if (isOAuthError(client)) return answerError(client, asked.client.clientId, grantId)
    const reply = await decide(asked, client, found)
    if (isOAuthError(reply)) return answerError(reply, client.clientId, grantId)
    if (reply.type === 'unchanged')
      reportRefusal('revocation', reply.reason, undefined, { clientId: client.clientId, grantId })
    return revocationResponse(request.headers)
  })

  /** Authenticates the client and ends what its token stands for, in one transaction. */
  function decide(
    { credential, fault }: RequestAboutToken,
    client: PresentedClient,
    found: FoundApplication,
  ): Promise<Revocation | OAuthError> {
    const clientKey = settings.clientKeyOf(client.clientId)
    return transactions.onGrant<Revocation>(clientKey, credential?.grantId, (stored, grant, now, entropy) => {
      found(stored)
      const application = authenticateClient(stored, client, digests, now)
      if (isOAuthError(application)) return withoutChange(application)
      if (fault !== undefined) return withoutChange(fault)
      if (credential === undefined) return withoutChange({ type: 'unchanged', reason: 'credential_unknown' })
      const revoke = { type: 'revoke', credential, clientId: application.clientId } as const
      const outcome = transition(grant, revoke, now, entropy, rules)
      // Under another client's key it is another client's, whatever else it says; decided on, so that it takes as long.
      return credential.clientKey === clientKey
        ? outcome
        : withoutChange({ type: 'unchanged', reason: 'credential_of_another_client' })
    })
  }
}
