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
import type { PresentedClient } from '../protocol/client-authentication.js'
import { authenticateClient } from '../protocol/client-authentication.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { errorResponse } from '../protocol/message.js'
import type { RequestAboutToken } from '../protocol/request-about-token.js'
import { requestAboutToken, revocationResponse } from '../protocol/request-about-token.js'
import type { RefusedAbout } from '../shell/audit.js'
import type { Internals } from '../shell/internals.js'
import { isPromise } from '../shell/maybe-promise.js'
import type { Settings } from '../shell/options/settings.js'
import type { Transactions } from '../shell/transactions.js'
import { createTransactions } from '../shell/transactions.js'
import type { FoundApplication } from './cors/readable-endpoint.js'
import { readableEndpoint } from './cors/readable-endpoint.js'
import { resolveClient } from './resolve-client.js'

/** Makes the revocation endpoint. */
export function revocationEndpoint<Native>(
  internals: Internals<Native>,
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  const { settings, audit } = internals
  const transactions = createTransactions(internals)

  function answerError(request: HttpRequest<Native>, error: OAuthError, about: RefusedAbout = {}): HttpResponse {
    audit.refuse(request, 'revocation', error.reason, error.code, about)
    return errorResponse(error, 'revocation')
  }

  return readableEndpoint(settings, async (request, found) => {
    const asked = requestAboutToken(request, { allowPost: true })
    if (isOAuthError(asked)) return answerError(request, asked)
    const resolving = resolveClient(asked.client, asked.credential, settings, transactions)
    const client = isPromise(resolving) ? await resolving : resolving
    const grantId = asked.credential?.grantId
    if (isOAuthError(client)) return answerError(request, client, { clientId: asked.client.clientId, grantId })
    const about = { clientId: client.clientId, grantId }
    const reply = await decide(settings, transactions.by(request), asked, client, found)
    if (isOAuthError(reply)) return answerError(request, reply, about)
    if (reply.type === 'unchanged') audit.refuse(request, 'revocation', reply.reason, undefined, about)
    return revocationResponse(request.headers)
  })
}

/** Authenticates the client and ends what its token stands for, in one transaction. */
function decide(
  { clientKeyOf, digests, rules }: Settings<never>,
  transactions: Transactions,
  { credential, fault }: RequestAboutToken,
  client: PresentedClient,
  found: FoundApplication,
): Promise<Revocation | OAuthError> {
  const clientKey = clientKeyOf(client.clientId)
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
