/**
 * The registration endpoint: a client registers itself, and reads or deletes its registration.
 * @module
 * @see RFC 7591; RFC 7592
 */
import type { Application } from '../../core/application/application.js'
import { detailsFor } from '../../core/application/self-registered/document.js'
import { UNUSED_LIFETIME, WAITING_LIFETIME } from '../../core/application/self-registered/life.js'
import { transitionApplication } from '../../core/application/transition.js'
import { SECRET_BYTES, secretFrom } from '../../core/credentials/credential.js'
import { digestOf } from '../../core/credentials/digests.js'
import type { OAuthError } from '../../core/errors.js'
import { isOAuthError, oauthError } from '../../core/errors.js'
import { createClientId } from '../../management/applications/registration.js'
import { createSecret } from '../../management/applications/secrets.js'
import type { HttpRequest, HttpResponse } from '../../protocol/message.js'
import type { ClientMetadata } from '../../protocol/registration/client-metadata.js'
import { checkClientMetadata } from '../../protocol/registration/client-metadata.js'
import type { ShownSecrets } from '../../protocol/registration/registration.js'
import {
  REGISTRATION_TOKEN_PREFIX,
  registeredResponse,
  registrationError,
  registrationRequest,
} from '../../protocol/registration/registration.js'
import type { Internals } from '../../shell/internals.js'
import type { Settings } from '../../shell/options/settings.js'
import { applicationWrite } from '../../shell/records/application-write.js'
import { unavailable } from '../../shell/records/checked-store.js'
import { keys, recordAs } from '../../shell/records.js'
import type { Transactions } from '../../shell/transactions.js'
import { createTransactions } from '../../shell/transactions.js'
import type { FoundApplication } from '../cors/readable-endpoint.js'
import { readableEndpoint } from '../cors/readable-endpoint.js'
import { readAddress } from '../limits/network.js'
import { createRegistrationLimiter } from '../limits/registration-limiter.js'
import { answerOwner } from './own-registration.js'
import { decideOnClient, metadataRules } from './policy.js'

/** A client that has just registered. */
interface Registered {
  readonly application: Application
  readonly secrets: ShownSecrets
}

/** Makes the registration endpoint. */
export function registrationEndpoint<Native>(
  internals: Internals<Native>,
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  const { settings, audit } = internals
  const transactions = createTransactions(internals)
  const limiter = createRegistrationLimiter(settings, transactions)

  function answerError(request: HttpRequest<Native>, error: OAuthError): HttpResponse {
    audit.refuse(request, 'registration', error.reason, error.code)
    return registrationError(error)
  }

  async function answerRegistration(request: HttpRequest<Native>, found: FoundApplication): Promise<HttpResponse> {
    const asked = registrationRequest(request)
    const metadata = isOAuthError(asked) ? asked : checkClientMetadata(asked, 'An application', metadataRules(settings))
    if (isOAuthError(metadata)) return answerError(request, metadata)
    found(metadata.details)
    // Counted before the policy is asked, which may be dear, and after what costs nothing.
    const tooMany = await limiter({ address: readAddress(settings, request) })
    if (tooMany !== undefined) return answerError(request, tooMany)
    const registered = await register(settings, transactions.by(request), metadata)
    if (isOAuthError(registered)) return answerError(request, registered)
    return registeredResponse(registered.application, registered.secrets, settings.issuer)
  }

  async function answer(request: HttpRequest<Native>, found: FoundApplication): Promise<HttpResponse> {
    if (request.method === 'POST') return answerRegistration(request, found)
    const answered = await answerOwner(settings, transactions.by(request), request, found)
    return isOAuthError(answered) ? answerError(request, answered) : answered
  }

  return readableEndpoint(settings, answer, 'GET, POST, DELETE')
}

/** Registers a client, as the policy decides: its record waits for an administrator, or is approved in the same write. */
async function register(
  settings: Settings<never>,
  transactions: Transactions,
  { details, method }: ClientMetadata,
): Promise<Registered | OAuthError> {
  const { digests, entropy, scopes: catalogue } = settings
  const id = createClientId({ settings })
  const decision = await decideOnClient(settings, 'registration', id, details)
  if (decision.type === 'refuse') return refusedByPolicy()
  const token = REGISTRATION_TOKEN_PREFIX + secretFrom(entropy(SECRET_BYTES))
  const clientSecret = details.type === 'public' ? undefined : createSecret({ settings })
  const secretDigest = digestOf(digests, clientSecret ?? '')
  const key = keys.application(settings.clientKeyOf(id))
  const reply = await transactions.transact<{ readonly type: 'registered'; readonly application: Application }>(
    [key],
    ([taken], now) => {
      const selfRegistered = {
        keepUntil: now + WAITING_LIFETIME,
        accessToken: digestOf(digests, token),
        ...(method === 'client_secret_post' && { method }),
      }
      const secret = clientSecret === undefined ? {} : { secretDigest }
      const submit = { type: 'submit', id, details: detailsFor(details, decision), selfRegistered, ...secret } as const
      const submitted = transitionApplication(recordAs.application(taken), submit, now)
      if (submitted.type !== 'done') return { reply: unavailable('contention') }
      const { scopes } = decision.type === 'approve' ? decision : details
      const keepUntil = now + UNUSED_LIFETIME
      const approve = { type: 'approve', revision: 1, scopes, catalogue, secretDigest, keepUntil } as const
      const decided =
        decision.type === 'approve' ? transitionApplication(submitted.application, approve, now) : undefined
      const { application, event } = decided?.type === 'done' ? decided : submitted
      const events = [submitted.event, ...(decided === undefined ? [] : [event])].filter((each) => each !== undefined)
      return { reply: { type: 'registered', application }, write: applicationWrite(key, application), events }
    },
  )
  if (isOAuthError(reply)) return reply
  return { application: reply.application, secrets: { token, ...(clientSecret !== undefined && { clientSecret }) } }
}

/** Makes the error of a client that the host's policy refuses. */
function refusedByPolicy(): OAuthError {
  return oauthError('access_denied', 'client_refused', 'This service does not take such a client.')
}
