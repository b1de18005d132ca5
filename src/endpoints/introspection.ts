/**
 * The introspection endpoint: tells an API of the service that runs elsewhere whether a token works, and what it permits.
 *
 * Every token takes the same work: one read of three records, one digest, one comparison. So the time of an answer tells nothing.
 * @module
 * @see RFC 7662
 */

import type { Application, PublishedApplication } from '../core/application/application.js'
import { isResourceServer } from '../core/application/application.js'
import type { DeclaredResource } from '../core/audiences/audience.js'
import { audienceOf } from '../core/audiences/audience.js'
import type { Credential } from '../core/credentials/credential.js'
import { GRANT_ID_BYTES, grantIdOf } from '../core/credentials/credential.js'
import type { OAuthError, RefusalReason } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import { coversScopes, limitScopes } from '../core/scopes.js'
import type { ClientId, ClientKey, Seconds } from '../core/values.js'
import { checkToken } from '../guard/check-token.js'
import type { PresentedClient } from '../protocol/client-authentication.js'
import { authenticateClient, registeredClient } from '../protocol/client-authentication.js'
import type { Introspected } from '../protocol/introspection.js'
import { INACTIVE, introspectionResponse, notAResourceServer } from '../protocol/introspection.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { errorResponse } from '../protocol/message.js'
import { requestAboutToken } from '../protocol/request-about-token.js'
import type { RefusedAbout } from '../shell/audit.js'
import type { Internals } from '../shell/internals.js'
import type { MaybePromise } from '../shell/maybe-promise.js'
import { andThen } from '../shell/maybe-promise.js'
import type { Settings } from '../shell/options/settings.js'
import type { CheckedStore } from '../shell/records/checked-store.js'
import { keys, recordAs } from '../shell/records.js'
import type { JsonValue } from '../storage/record-store.js'

/** The records of a request. */
interface Loaded {
  /** The client that the request means, and its record. */
  readonly client: PresentedClient
  readonly caller: Application | undefined
  /** The application and the grant of the token. */
  readonly tokenApplication: JsonValue | undefined
  readonly tokenGrant: JsonValue | undefined
}

/** Stands in for anything that is no credential, so that it takes as long as an unknown one. */
const NOBODY: Credential = {
  kind: 'access_token',
  clientKey: 'A'.repeat(16) as ClientKey, // as long as one
  grantId: grantIdOf(new Uint8Array(GRANT_ID_BYTES)),
  secret: 'A'.repeat(43),
}

/** Makes the introspection endpoint. */
export function introspectionEndpoint<Native>(
  internals: Internals<Native>,
): (request: HttpRequest<Native>) => MaybePromise<HttpResponse> {
  const { settings, store, audit } = internals
  const { issuer, digests, clock, introspectionMaxAge, allowClientSecretPost: allowPost } = settings

  function answerError(request: HttpRequest<Native>, error: OAuthError, about: RefusedAbout = {}): HttpResponse {
    audit.refuse(request, 'introspection', error.reason, error.code, about)
    return errorResponse(error)
  }

  return (request) => {
    const asked = requestAboutToken(request, { allowPost })
    if (isOAuthError(asked)) return answerError(request, asked)
    const { credential = NOBODY, fault } = asked
    const grantId = asked.credential?.grantId
    return andThen(load(settings, store, asked.client, credential), (loaded) => {
      if (isOAuthError(loaded)) return answerError(request, loaded, { clientId: asked.client.clientId, grantId })
      const { client, caller } = loaded
      const about = { clientId: client.clientId, grantId }
      const now = clock()
      const resourceServer = authenticateClient(caller, client, digests, now)
      if (isOAuthError(resourceServer)) return answerError(request, resourceServer, about)
      if (!isResourceServer(resourceServer)) return answerError(request, notAResourceServer(), about)
      if (fault !== undefined) return answerError(request, fault, { clientId: client.clientId })
      const found = introspect(settings, credential, loaded, now, resourceServer)
      if (typeof found === 'string') {
        audit.refuse(request, 'introspection', found, undefined, about)
        return INACTIVE
      }
      return introspectionResponse(found, issuer, Math.min(introspectionMaxAge, found.expiresAt - now))
    })
  }
}

/** Loads the client and what its token stands for, in one read. */
function load(
  { clientKeyOf }: Settings<never>,
  { read }: CheckedStore,
  presented: PresentedClient,
  { clientKey, grantId }: Credential,
): MaybePromise<Loaded | OAuthError> {
  const { clientId, clientIdAsItIs } = presented
  const keyOf = (id: ClientId): string => keys.application(clientKeyOf(id))
  const wanted = [keyOf(clientId), keys.application(clientKey), keys.grant(grantId)]
  // An identifier of Basic may be read in two ways: then both are looked up.
  return andThen(read(clientIdAsItIs === undefined ? wanted : [...wanted, keyOf(clientIdAsItIs)]), (records) => {
    if (isOAuthError(records)) return records
    const [decoded, application, grant, asItIs] = records
    const callerDecoded = recordAs.application(decoded?.value)
    const callerAsItIs = recordAs.application(asItIs?.value)
    const client = registeredClient(presented, [callerDecoded, callerAsItIs])
    const caller = client === presented ? callerDecoded : callerAsItIs
    return { client, caller, tokenApplication: application?.value, tokenGrant: grant?.value }
  })
}

/**
 * Returns the protected resource that a resource server stands for, undefined where it stands for none. One that is declared no more
 * is not the same as none: its resource server is told of no token.
 */
function declaredAudience(
  { audiences }: Settings<never>,
  resourceServer: PublishedApplication,
): DeclaredResource | undefined | 'not_declared' {
  const audience = audienceOf(resourceServer)
  return audience === undefined ? undefined : (audiences.get(audience) ?? 'not_declared')
}

/** Inspects a token: returns what the resource server may know of it, or the reason why that is nothing. */
function introspect(
  settings: Settings<never>,
  credential: Credential,
  { tokenApplication, tokenGrant }: Loaded,
  now: Seconds,
  resourceServer: PublishedApplication,
): Introspected | RefusalReason {
  const audience = declaredAudience(settings, resourceServer)
  if (audience === 'not_declared') return 'audience_unknown'
  const { scopes: visible } = resourceServer
  // As a bearer token: a resource server cannot tell whether a use was signed, and would take a stolen token without its key.
  const found = checkToken(settings, credential, tokenApplication, tokenGrant, now, undefined, audience)
  if (found.type === 'refusal') return isOAuthError(found.error) ? found.error.reason : 'credential_unknown'
  if (coversScopes(visible, found.scopes, settings.scopes)) return found
  const scopes = limitScopes(found.scopes, visible, settings.scopes)
  return scopes.length === 0 ? 'scope_not_registered' : { ...found, scopes }
}
