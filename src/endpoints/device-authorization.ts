/**
 * The device authorization endpoint: where a device gets its codes.
 * @module
 * @see Specification, section 4.5; RFC 8628, sections 3.1 and 3.2
 */
import type { Application } from '../core/application/application.js'
import { deviceFlowFault } from '../core/application/registration.js'
import type { OAuthError } from '../core/errors.js'
import { transition } from '../core/grant/transition.js'
import type { Scope } from '../core/scopes.js'
import { GRANT_ID_BYTES, grantIdOf } from '../core/tokens/credential.js'
import { clientKeyOf } from '../core/tokens/digests.js'
import { USER_CODE_ENTROPY_BYTES, userCodeDigest, userCodeOf } from '../core/tokens/user-code.js'
import type { Seconds, UserCode } from '../core/values.js'
import { requestedScopes } from '../protocol/authorization.js'
import { authenticateClient, clientIdsOf, registeredClient } from '../protocol/client-authentication.js'
import { deviceAuthorizationRequest, deviceAuthorizationResponse } from '../protocol/device.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { errorResponse } from '../protocol/message.js'
import { isError } from '../protocol/parameters.js'
import { unavailable } from '../shell/checked-store.js'
import type { Refused, Settings } from '../shell/options.js'
import type { UserCodeRecord } from '../shell/records.js'
import { keys, recordAs } from '../shell/records.js'
import type { Transactions } from '../shell/transactions.js'
import { deviceLimiterOf } from './device-limiter.js'
import { addressOf } from './device-page.js'

/** How often a code is drawn that another device shows already: with a million of them, two in a row are 1.5 in 10^9. */
const DRAWS = 8

/** Makes the endpoint at which a device asks for its codes. */
export function deviceAuthorizationEndpoint<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
  refused: Refused,
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  const { issuer, digests, entropy, rules, scopes: catalogue } = settings
  const limiter = deviceLimiterOf(settings, transactions)

  /** Gives the device a code that no other one shows. */
  async function showUserCode(value: UserCodeRecord, expiresAt: Seconds): Promise<UserCode | OAuthError> {
    for (let draw = 0; draw < DRAWS; draw++) {
      const userCode = userCodeOf(entropy(USER_CODE_ENTROPY_BYTES))
      const key = keys.userCode(userCodeDigest(userCode, digests, rules.derivationKey))
      const reply = await transactions.transact<{ readonly type: 'shown' | 'taken' }>([key], ([taken]) =>
        taken === undefined
          ? { reply: { type: 'shown' }, write: { key, value, expiresAt } }
          : { reply: { type: 'taken' } },
      )
      if (reply.type === 'error') return reply
      if (reply.type === 'shown') return userCode
    }
    return unavailable('contention')
  }

  return async (request) => {
    const asked = deviceAuthorizationRequest(request, { allowPost: settings.allowClientSecretPost })
    if (isError(asked)) return refuse(asked)
    const { client: presented, scope } = asked
    // Only what would be written counts, so that nobody uses up what others may ask for by requests that are refused.
    const found = await transactions.read(
      clientIdsOf(presented).map((id) => keys.application(clientKeyOf(digests, id))),
    )
    if ('type' in found) return refuse(found, presented.clientId)
    const registered = found.map((record) => recordAs.application(record?.value))
    const client = registeredClient(presented, registered)
    const { clientId } = client
    const clientKey = clientKeyOf(digests, clientId)
    const wanted = (stored: Application | undefined, now: Seconds): readonly Scope[] | OAuthError => {
      const application = authenticateClient(stored, client, digests, now)
      if (isError(application)) return application
      return deviceFlowFault(application) ?? requestedScopes(application, scope, catalogue)
    }
    const application = registered.find((each) => each?.id === clientId)
    const sound = wanted(application, settings.clock())
    if (isError(sound)) return refuse(sound, clientId)
    const tooSoon = await limiter({ clientId, address: addressOf(settings, request) })
    if (tooSoon !== undefined) return refuse(tooSoon, clientId)
    const grantId = grantIdOf(entropy(GRANT_ID_BYTES))
    const issued = await transactions.onGrant(clientKey, grantId, (stored, record, now, bytes) => {
      const scopes = wanted(stored, now)
      if (isError(scopes)) return { reply: scopes, events: [] }
      return transition(record, { type: 'request_device', grantId, clientId, clientKey, scopes }, now, bytes, rules)
    })
    if (isError(issued)) return refuse(issued, clientId)
    const userCode = await showUserCode({ v: 1, clientKey, grantId }, settings.clock() + issued.expiresIn)
    return typeof userCode === 'object'
      ? refuse(userCode, clientId)
      : deviceAuthorizationResponse(issued, userCode, issuer)

    function refuse(error: OAuthError, refusedClient?: string): HttpResponse {
      refused('device_authorization', error.reason, error.code, refusedClient)
      return errorResponse(error)
    }
  }
}
