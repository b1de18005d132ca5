/**
 * The token endpoint: exchanges codes, refreshes token pairs, and answers polls of devices.
 * @module
 * @see Specification, sections 4.2, 4.3 and 4.5; RFC 6749, section 3.2; RFC 8628, section 3.4
 */

import type { Application } from '../core/application/application.js'
import { lifetimesFor } from '../core/application/life/terms.js'
import type { Credential } from '../core/credentials/credential.js'
import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import { invalidGrant, withoutChange } from '../core/grant/outcome.js'
import type { IssuedTokens } from '../core/grant/pair.js'
import { transition } from '../core/grant/transition.js'
import type { PresentedClient } from '../protocol/client-authentication.js'
import { authenticateClient } from '../protocol/client-authentication.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { errorResponse } from '../protocol/message.js'
import type { GrantTypes, TokenRequest } from '../protocol/token.js'
import { GRANT_TYPES, tokenRequest, tokenResponse } from '../protocol/token.js'
import type { RefusedAbout } from '../shell/audit.js'
import type { Internals } from '../shell/internals.js'
import { isPromise } from '../shell/maybe-promise.js'
import type { Settings } from '../shell/options/settings.js'
import type { Transactions } from '../shell/transactions.js'
import { createTransactions } from '../shell/transactions.js'
import { readableEndpoint } from './cors/readable-endpoint.js'
import { keepClient } from './registration/use.js'
import { resolveClient } from './resolve-client.js'

/** Makes the token endpoint. */
export function tokenEndpoint<Native>(
  internals: Internals<Native>,
  grantTypes: GrantTypes = GRANT_TYPES,
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  const { settings, audit } = internals
  const protocol = protocolOf(settings)
  const transactions = createTransactions(internals)

  function answerError(request: HttpRequest<Native>, error: OAuthError, about: RefusedAbout = {}): HttpResponse {
    // A device that asks as it should is no news.
    if (error.code !== 'authorization_pending') audit.refuse(request, 'token', error.reason, error.code, about)
    return errorResponse(error)
  }

  return readableEndpoint(settings, async (request, found) => {
    const asked = tokenRequest(request, protocol, grantTypes)
    if (isOAuthError(asked)) return answerError(request, asked)
    const resolving = resolveClient(asked.client, credentialOf(asked), settings, transactions)
    const client = isPromise(resolving) ? await resolving : resolving
    const grantId = credentialOf(asked)?.grantId
    if (isOAuthError(client)) return answerError(request, client, { clientId: asked.client.clientId, grantId })
    let used: Application | undefined
    const reply = await decide(settings, transactions.by(request), asked, client, (application) => {
      used = application
      found(application)
    })
    if (isOAuthError(reply)) {
      return answerError(request, reply, {
        clientId: client.clientId,
        grantId,
        redirectUri: wrongRedirectUri(asked, reply),
      })
    }
    const kept = keepClient(settings, transactions, used)
    if (kept !== undefined) await kept
    return tokenResponse(reply)
  })
}

/** Authenticates the client and takes the step of its grant, in one transaction. */
function decide(
  settings: Settings<never>,
  transactions: Transactions,
  asked: TokenRequest,
  client: PresentedClient,
  found: (application: Application | undefined) => void,
): Promise<IssuedTokens | OAuthError> {
  const { digests, rules, macTokens } = settings
  const clientKey = settings.clientKeyOf(client.clientId)
  const presented = credentialOf(asked)
  // A credential under another client's key is another client's: its grant need not be read to refuse it.
  const credential = presented?.clientKey === clientKey ? presented : undefined
  return transactions.onGrant<IssuedTokens>(clientKey, credential?.grantId, (stored, grant, now, entropy) => {
    found(stored)
    const application = authenticateClient(stored, client, digests, now)
    if (isOAuthError(application)) return withoutChange(application)
    if (isOAuthError(asked.grant)) return withoutChange(asked.grant)
    if (credential === undefined) return withoutChange(otherCredential(presented))
    const fault = asked.grant.registrationFault(application)
    if (fault !== undefined) return withoutChange(fault)
    const { clientId, scopes: registered } = application
    const tokenType = macTokens ? application.tokenType : undefined
    const command = asked.grant.command({ credential, clientId, registered, tokenType, audience: asked.audience })
    return transition(grant, command, now, entropy, lifetimesFor(application, rules))
  })
}

/** Makes the error of a credential that is none of the client. */
function otherCredential(presented: Credential | undefined): OAuthError {
  return invalidGrant(presented === undefined ? 'credential_unknown' : 'credential_of_another_client')
}

function protocolOf({ scopes: catalogue, audiences, allowClientSecretPost: allowPost }: Settings<never>) {
  return { catalogue, audiences, allowPost }
}

/** Returns the redirect URI of a request, where it is the reason of the error. */
function wrongRedirectUri({ grant }: TokenRequest, { reason }: OAuthError): string | undefined {
  return reason === 'redirect_uri_mismatch' && !isOAuthError(grant) ? grant.redirectUri : undefined
}

/** Returns the credential of a request; undefined where it has none that can be read. */
function credentialOf({ grant }: TokenRequest): Credential | undefined {
  return isOAuthError(grant) ? undefined : grant.credential
}
