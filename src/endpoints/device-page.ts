/**
 * The page of the device flow: its user types the code, or compares it, and decides.
 * @module
 * @see Specification, section 4.5; RFC 8628, section 3.3
 */

import { parseUserCode, printUserCode } from '../core/credentials/user-code.js'
import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import { notAccessible } from '../protocol/authorization.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { queryOf } from '../protocol/message.js'
import { FORM_FIELDS } from '../protocol/pages/form-binding.js'
import { bodyParameters, parseParameters, valueIn, valuesIn } from '../protocol/parameters.js'
import type { User } from '../shell/options.js'
import type { SentForm } from './device-page/decision.js'
import { takeDecision } from './device-page/decision.js'
import type { WaitingDevice } from './device-page/devices.js'
import { findWaiting } from './device-page/devices.js'
import { CODE_FORM, showCodePage, showConsent, signInForCode } from './device-page/pages.js'
import type { PageAnswer, PageContext, ServerContext } from './interaction/context.js'
import { describeWayBack, pageEndpoint, showError } from './interaction/error-page.js'
import { verifyForm } from './interaction/forms.js'
import { admitPermission } from './interaction/host-decision.js'
import { readUser } from './interaction/sign-in.js'
import { readAddress } from './limits/network.js'
import type { UserCodeLimiter } from './limits/user-code-limiter.js'
import { createUserCodeLimiter } from './limits/user-code-limiter.js'
import { isDocumentDue, readClientDocument } from './registration/client-document.js'

/** Characters of a typed code that are read, and shown again. */
const TYPED_MAX = 64

/**
 * Makes the endpoint of the device page. `GET` asks for the code. A code in the link is shown and not looked up: only a form of
 * this page looks one up, since every look counts as a guess. `POST` takes that form, and then the consent form.
 */
export function devicePageEndpoint<Native>(server: ServerContext<Native>): PageAnswer<Native> {
  const limiter = createUserCodeLimiter(server, server.transactions)
  return pageEndpoint(server, 'device', (context, request) =>
    request.method === 'POST' ? takeForm(context, limiter, request) : askForCode(context, request),
  )
}

/** Answers `GET`: asks for the code, or for a comparison with the one in the link. */
async function askForCode<Native>(context: PageContext<Native>, request: HttpRequest<Native>): Promise<HttpResponse> {
  const parameters = parseParameters(queryOf(request.url))
  const text = isOAuthError(parameters) ? undefined : valueIn(parameters, FORM_FIELDS.userCode)
  const userCode = typeof text === 'string' ? parseUserCode(text) : undefined
  const user = await readUser(context, request)
  if (user === undefined) return signInForCode(context, request, userCode)
  return showCodePage(context, request, user, {
    ...(userCode !== undefined && { userCode: printUserCode(userCode) }),
    complete: userCode !== undefined,
  })
}

/** Answers `POST`: takes either form of the page. The second one has a decision. */
async function takeForm<Native>(
  context: PageContext<Native>,
  limiter: UserCodeLimiter,
  request: HttpRequest<Native>,
): Promise<HttpResponse> {
  const sent = parseForm(request)
  if (isOAuthError(sent)) return showError(context, 'device', sent)
  const user = await readUser(context, request)
  if (user === undefined) return signInForCode(context, request, sent.userCode)
  return sent.decision === undefined
    ? lookUpCode(context, limiter, request, user, sent)
    : takeDecision(context, request, user, sent)
}

/** Parses either form of the page. */
function parseForm(request: HttpRequest): SentForm | OAuthError {
  const form = bodyParameters(request)
  if (isOAuthError(form)) return form
  const fields = valuesIn(form, [FORM_FIELDS.consent, FORM_FIELDS.decision, FORM_FIELDS.device])
  if (isOAuthError(fields)) return fields
  // Not through valuesIn: a tab may be pasted with a code, as one of the characters between its letters.
  const field = form.get(FORM_FIELDS.userCode)
  const typed = typeof field === 'string' ? field.slice(0, TYPED_MAX) : ''
  const { consent: token, decision, device } = fields
  return { form, typed, userCode: parseUserCode(typed), token, decision, device }
}

/** Takes the first form: finds the device, and asks for the decision. */
async function lookUpCode<Native>(
  context: PageContext<Native>,
  limiter: UserCodeLimiter,
  request: HttpRequest<Native>,
  user: User,
  { typed, userCode, token }: SentForm,
): Promise<HttpResponse> {
  if (verifyForm(context, request, user, CODE_FORM, token) === undefined)
    return showError(context, 'device', notAccessible('consent_invalid'))
  const tooMany = await limiter({ subject: user.subject, address: readAddress(context, request) })
  const found = tooMany ?? (await findWaiting(context, user, userCode))
  if (!isOAuthError(found)) {
    const read = await readAnew(context, request, user, found)
    if (isOAuthError(read)) return showError(context, 'device', read)
    const asked = await admitPermission(context, user, read)
    return isOAuthError(asked)
      ? showError(context, 'device', asked, read.application, describeWayBack(read.application))
      : showConsent(context, request, user, asked)
  }
  if (found.code === 'temporarily_unavailable') return showError(context, 'device', found)
  return showCodePage(context, request, user, { userCode: typed, complete: false }, found)
}

/** Reads the document of a device's client where it is due, so that its user is asked about what the client is now. */
async function readAnew<Native>(
  context: PageContext<Native>,
  request: HttpRequest<Native>,
  user: User,
  device: WaitingDevice,
): Promise<WaitingDevice | OAuthError> {
  const { application, userCode } = device
  const { clientId } = application
  if (!isDocumentDue(context, clientId, application)) return device
  const read = await readClientDocument(context, request, clientId, application)
  return isOAuthError(read) ? read : findWaiting(context, user, userCode)
}
