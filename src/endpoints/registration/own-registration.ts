/**
 * The requests of a client about its own registration.
 * @module
 * @see RFC 7592, sections 2.1 and 2.3
 */
import type { Application } from '../../core/application/application.js'
import { selfRegisteredOf } from '../../core/application/application.js'
import { constantTimeEqual } from '../../core/credentials/base64url.js'
import { digestOf } from '../../core/credentials/digests.js'
import type { OAuthError } from '../../core/errors.js'
import { isOAuthError, oauthError } from '../../core/errors.js'
import type { Seconds } from '../../core/values.js'
import type { HttpRequest, HttpResponse } from '../../protocol/message.js'
import type { OwnRegistration } from '../../protocol/registration/registration.js'
import {
  DELETED,
  detailsOf,
  noRegistration,
  ownRegistrationRequest,
  readResponse,
} from '../../protocol/registration/registration.js'
import type { Settings } from '../../shell/options/settings.js'
import { keys, recordAs } from '../../shell/records.js'
import type { Decision, Transactions } from '../../shell/transactions.js'
import type { FoundApplication } from '../cors/readable-endpoint.js'

/** An application that its own client asks about. */
interface Own {
  readonly type: 'own'
  readonly application: Application
}

/** Digest of no token: as long as one, and equal to none. */
const NO_TOKEN = '-'.repeat(43)

/** Answers `GET`, which reads a registration, and `DELETE`, which deletes it. */
export async function answerOwner<Native>(
  settings: Settings<Native>,
  transactions: Transactions,
  request: HttpRequest<Native>,
  found: FoundApplication,
): Promise<HttpResponse | OAuthError> {
  const asked = ownRegistrationRequest(request)
  if (isOAuthError(asked)) return asked
  const key = keys.application(settings.clientKeyOf(asked.clientId))
  const reply = await transactions.transact<Own>([key], ([value], now) => {
    const application = recordAs.application(value)
    // The pages of a client that waits, too: they are told at least that it does.
    found(application && detailsOf(application))
    if (!isOwn(settings, application, asked) || application === undefined) return { reply: noRegistration() }
    return request.method === 'DELETE' ? remove(key, application, now) : { reply: { type: 'own', application } }
  })
  if (isOAuthError(reply)) return reply
  return request.method === 'DELETE' ? DELETED : readResponse(reply.application, asked.token, settings.issuer)
}

/** True for the registration access token of an application. An unknown application takes the same time. */
function isOwn(
  { digests }: Settings<never>,
  application: Application | undefined,
  { clientId, token }: OwnRegistration,
): boolean {
  const presented = digestOf(digests, token)
  const expected = selfRegisteredOf(application)?.accessToken ?? NO_TOKEN
  return constantTimeEqual(expected, presented) && application?.id === clientId
}

/**
 * Removes an application, and with it all that it was granted: no token works without its application. One that administrators
 * suspended or refused stays, for them.
 */
function remove(key: string, application: Application, now: Seconds): Decision<Own> {
  const { id: applicationId, state, revision } = application
  if (state === 'suspended' || state === 'rejected')
    return {
      reply: oauthError('access_denied', 'client_suspended', 'An administrator stopped this client.'),
    }
  const event = { type: 'application', at: now, applicationId, change: 'deleted', revision } as const
  return {
    reply: { type: 'own', application },
    write: { key, value: application, expiresAt: now },
    events: [event],
  }
}
