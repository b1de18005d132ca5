/**
 * The device authorization endpoint: gives a device its codes.
 * @module
 * @see Specification, section 4.5; RFC 8628, sections 3.1 and 3.2
 */

import type { Application } from '../core/application/application.js'
import type { Audience } from '../core/audiences/audience.js'
import { GRANT_ID_BYTES, grantIdOf } from '../core/credentials/credential.js'
import { USER_CODE_ENTROPY_BYTES, userCodeDigests, userCodeOf } from '../core/credentials/user-code.js'
import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import type { IssuedDeviceCode } from '../core/grant/device.js'
import { deviceFlowFault } from '../core/grant/device.js'
import { withoutChange } from '../core/grant/outcome.js'
import { transition } from '../core/grant/transition.js'
import type { Scope } from '../core/scopes.js'
import type { GrantId, Seconds, UserCode } from '../core/values.js'
import { requestedScopes } from '../protocol/authorization.js'
import type { PresentedClient } from '../protocol/client-authentication.js'
import { authenticateClient, clientIdsOf, registeredClient } from '../protocol/client-authentication.js'
import { deviceAuthorizationRequest, deviceAuthorizationResponse } from '../protocol/device.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { errorResponse } from '../protocol/message.js'
import type { Internals } from '../shell/internals.js'
import type { Settings } from '../shell/options/settings.js'
import { unavailable } from '../shell/records/checked-store.js'
import { keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'
import { createTransactions } from '../shell/transactions.js'
import { readableEndpoint } from './cors/readable-endpoint.js'
import { createDeviceLimiter } from './limits/device-limiter.js'
import { readAddress } from './limits/network.js'

/** A request of a client that is known by its identifier. */
interface Asked {
  readonly client: PresentedClient
  readonly scope: string | undefined
  readonly audience: Audience | undefined | OAuthError
}

/** The permission that a device may ask for. */
interface Wish {
  readonly scopes: readonly Scope[]
  readonly audience?: Audience
}

/** Draws of a user code until one is free. With a million devices, the first two are both taken once in 655 million times. */
const DRAWS = 8

/** Makes the device authorization endpoint. */
export function deviceAuthorizationEndpoint<Native>(
  internals: Internals<Native>,
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  const { settings, audit } = internals
  const { issuer, entropy, audiences, allowClientSecretPost: allowPost } = settings
  const transactions = createTransactions(internals)
  const limiter = createDeviceLimiter(settings, transactions)

  function answerError(request: HttpRequest<Native>, error: OAuthError, clientId?: string): HttpResponse {
    audit.refuse(request, 'device_authorization', error.reason, error.code, { clientId })
    return errorResponse(error)
  }

  return readableEndpoint(settings, async (request, found) => {
    const sent = deviceAuthorizationRequest(request, { audiences, allowPost })
    if (isOAuthError(sent)) return answerError(request, sent)
    const registered = await loadApplications(settings, transactions, sent.client)
    if (isOAuthError(registered)) return answerError(request, registered, sent.client.clientId)
    const { scope, audience } = sent
    const asked: Asked = { client: registeredClient(sent.client, registered), scope, audience }
    const { clientId } = asked.client
    const application = registered.find((each) => each?.id === clientId)
    found(application)
    // Checked before the limit counts: nobody uses up what others may ask for by requests that would be refused.
    const wish = authorizedWish(settings, asked, application, settings.clock())
    if (isOAuthError(wish)) return answerError(request, wish, clientId)
    const tooMany = await limiter({ clientId, address: readAddress(settings, request) })
    if (tooMany !== undefined) return answerError(request, tooMany, clientId)
    const grantId = grantIdOf(entropy(GRANT_ID_BYTES))
    const issued = await issueDeviceCode(settings, transactions.by(request), asked, grantId)
    if (isOAuthError(issued)) return answerError(request, issued, clientId)
    const expiresAt = settings.clock() + issued.expiresIn
    const userCode = await assignUserCode(settings, transactions, asked, grantId, expiresAt)
    if (isOAuthError(userCode)) return answerError(request, userCode, clientId)
    return deviceAuthorizationResponse(issued, userCode, issuer)
  })
}

/** Loads the applications that the client may mean. */
async function loadApplications(
  { clientKeyOf }: Settings<never>,
  { read }: Transactions,
  client: PresentedClient,
): Promise<readonly (Application | undefined)[] | OAuthError> {
  const found = await read(clientIdsOf(client).map((id) => keys.application(clientKeyOf(id))))
  return isOAuthError(found) ? found : found.map((record) => recordAs.application(record?.value))
}

/** Authenticates the client, and returns what its device may ask for. */
function authorizedWish(
  { digests, scopes: catalogue, audiences }: Settings<never>,
  { client, scope, audience }: Asked,
  stored: Application | undefined,
  now: Seconds,
): Wish | OAuthError {
  const application = authenticateClient(stored, client, digests, now)
  if (isOAuthError(application)) return application
  const fault = deviceFlowFault(application)
  if (fault !== undefined) return fault
  if (isOAuthError(audience)) return audience
  const scopes = requestedScopes(application, scope, audience, { catalogue, audiences })
  return isOAuthError(scopes) ? scopes : { scopes, ...(audience !== undefined && { audience }) }
}

/** Authenticates the client once more and issues the device code, in one transaction. */
function issueDeviceCode(
  settings: Settings<never>,
  transactions: Transactions,
  asked: Asked,
  grantId: GrantId,
): Promise<IssuedDeviceCode | OAuthError> {
  const { clientId } = asked.client
  const { rules } = settings
  const clientKey = settings.clientKeyOf(clientId)
  return transactions.onGrant<IssuedDeviceCode>(clientKey, grantId, (stored, record, now, entropy) => {
    const wish = authorizedWish(settings, asked, stored, now)
    if (isOAuthError(wish)) return withoutChange(wish)
    return transition(record, { type: 'request_device', grantId, clientId, clientKey, ...wish }, now, entropy, rules)
  })
}

/** Assigns the device a code that no other device shows. */
async function assignUserCode(
  { clientKeyOf, entropy, rules }: Settings<never>,
  { transact }: Transactions,
  { client }: Asked,
  grantId: GrantId,
  expiresAt: Seconds,
): Promise<UserCode | OAuthError> {
  const value = { v: 1, clientKey: clientKeyOf(client.clientId), grantId } as const
  for (let draw = 0; draw < DRAWS; draw++) {
    const userCode = userCodeOf(entropy(USER_CODE_ENTROPY_BYTES))
    const [digest, ...others] = userCodeDigests(userCode, rules)
    const key = keys.userCode(digest)
    const reply = await transact<{ readonly type: 'shown' | 'taken' }>([key, ...others.map(keys.userCode)], (found) =>
      found.every((record) => record === undefined)
        ? { reply: { type: 'shown' }, write: { key, value, expiresAt } }
        : { reply: { type: 'taken' } },
    )
    if (isOAuthError(reply)) return reply
    if (reply.type === 'shown') return userCode
  }
  return unavailable('contention')
}
