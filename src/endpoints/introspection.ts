/**
 * The introspection endpoint: what a token is good for, told to an API of the service that lives elsewhere.
 *
 * Whatever the token is, the same is done: one read of three records, one digest, one comparison. What tells of a token is
 * the answer alone.
 * @module
 * @see RFC 7662
 */

import { isResourceServer } from '../core/application/application.js'
import type { OAuthError, RefusalReason } from '../core/errors.js'
import type { Scope } from '../core/scopes.js'
import { limitScopes } from '../core/scopes.js'
import type { Credential } from '../core/tokens/credential.js'
import { GRANT_ID_BYTES, grantIdOf } from '../core/tokens/credential.js'
import { clientKeyOf } from '../core/tokens/digests.js'
import type { ClientId, ClientKey, Seconds } from '../core/values.js'
import { accessBy } from '../guard/access.js'
import { authenticateClient, registeredClient } from '../protocol/client-authentication.js'
import type { Introspected } from '../protocol/introspection.js'
import { INACTIVE, introspectionResponse, notAResourceServer } from '../protocol/introspection.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { errorResponse } from '../protocol/message.js'
import { isError } from '../protocol/parameters.js'
import { requestAboutToken } from '../protocol/revocation.js'
import type { MaybePromise } from '../shell/maybe-promise.js'
import { andThen } from '../shell/maybe-promise.js'
import type { Refused, Settings } from '../shell/options.js'
import { keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'
import type { JsonValue } from '../storage/record-store.js'

/** Stands in for what is no credential, so that it takes as long as one of which nothing is known. */
const NOBODY: Credential = {
  kind: 'access_token',
  clientKey: 'A'.repeat(16) as ClientKey, // as long as one
  grantId: grantIdOf(new Uint8Array(GRANT_ID_BYTES)),
  secret: 'A'.repeat(43),
}

/** Makes the introspection endpoint. */
export function introspectionEndpoint<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
  refused: Refused,
): (request: HttpRequest<Native>) => MaybePromise<HttpResponse> {
  const { issuer, digests, clock } = settings
  const keyOf = (clientId: ClientId): string => keys.application(clientKeyOf(digests, clientId))

  return (request) => {
    const about = requestAboutToken(request, { allowPost: settings.allowClientSecretPost })
    if (isError(about)) return refuse(about)
    const { client: presented, credential = NOBODY, fault } = about
    const { clientId, clientIdAsItIs } = presented
    const asked = [keyOf(clientId), keys.application(credential.clientKey), keys.grant(credential.grantId)]
    const read = transactions.read(clientIdAsItIs === undefined ? asked : [...asked, keyOf(clientIdAsItIs)])
    return andThen(read, (records) => {
      if (isError(records)) return refuse(records, presented.clientId)
      const [asking, ofToken, grant, asItIs] = records
      const stored = recordAs.application(asking?.value)
      const other = recordAs.application(asItIs?.value)
      const client = registeredClient(presented, [stored, other])
      const now = clock()
      const resourceServer = authenticateClient(client === presented ? stored : other, client, digests, now)
      if (isError(resourceServer)) return refuse(resourceServer, client.clientId)
      if (!isResourceServer(resourceServer)) return refuse(notAResourceServer(), client.clientId)
      if (fault !== undefined) return refuse(fault, client.clientId)
      const found = introspect(credential, ofToken?.value, grant?.value, now, resourceServer.scopes)
      if (typeof found === 'object') {
        const maxAge = Math.min(settings.introspectionMaxAge, found.expiresAt - now)
        return introspectionResponse(found, issuer, maxAge)
      }
      refused('introspection', found, undefined, client.clientId)
      return INACTIVE
    })

    function refuse(error: OAuthError, clientId?: string): HttpResponse {
      refused('introspection', error.reason, error.code, clientId)
      return errorResponse(error)
    }
  }

  /** What a resource server may know of a token, or why that is nothing. */
  function introspect(
    credential: Credential,
    application: JsonValue | undefined,
    grant: JsonValue | undefined,
    now: Seconds,
    seen: readonly Scope[],
  ): Introspected | RefusalReason {
    // As a bearer token: whoever introspects cannot tell whether a use was signed, and would take the token of whoever only saw it.
    const found = accessBy(settings, credential, application, grant, now, undefined)
    if (found.type === 'refusal') return found.error.type === 'error' ? found.error.reason : 'credential_unknown'
    const scopes = limitScopes(found.scopes, seen, settings.scopes)
    return scopes.length === 0 ? 'scope_not_registered' : { ...found, scopes }
  }
}
