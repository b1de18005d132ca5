/**
 * The pages of the device flow: the one for the code, the one for the consent, and the one for the result.
 * @module
 */

import { parseUserCode, printUserCode } from '../../core/credentials/user-code.js'
import type { OAuthError } from '../../core/errors.js'
import { isOAuthError } from '../../core/errors.js'
import { printScopes } from '../../core/scopes.js'
import type { UserCode } from '../../core/values.js'
import { ownOf } from '../../core/values.js'
import { countedText } from '../../pages/index.js'
import { ENDPOINT_PATHS } from '../../protocol/endpoint-paths.js'
import type { HttpRequest, HttpResponse } from '../../protocol/message.js'
import { retryAfter } from '../../protocol/message.js'
import type { FormBinding } from '../../protocol/pages/form-binding.js'
import { FORM_FIELDS } from '../../protocol/pages/form-binding.js'
import { pageResponse } from '../../protocol/pages/page.js'
import type { User } from '../../shell/options.js'
import { createConsentModel } from '../interaction/consent-model.js'
import type { PageContext } from '../interaction/context.js'
import { describeWayBack, showError } from '../interaction/error-page.js'
import { createFormBinder } from '../interaction/forms.js'
import type { OpenChoice } from '../interaction/resources.js'
import { describeUser, sendToSignIn } from '../interaction/sign-in.js'
import type { ShownDevice, WaitingDevice } from './devices.js'

/** The code in the field of the page, if any, and whether it came with the link. */
export interface ShownCode {
  readonly userCode?: string
  readonly complete: boolean
}

/** The values that the form for the code is bound to, besides its user and browser. */
export const CODE_FORM: FormBinding['shown'] = ['user code']

/** An empty field. */
export const NO_CODE: ShownCode = { complete: false }

/** Returns what the consent form of a device is bound to, besides its user and browser. */
export function consentFormOf({ userCode, device, application, scopes }: ShownDevice): FormBinding['shown'] {
  const { clientId, name, resourceScope } = application
  return ['device consent', device.id, userCode, clientId, name, resourceScope, printScopes(scopes)]
}

/** Shows the page that asks for the code, with the error of the code that was sent before. */
export async function showCodePage(
  context: PageContext<never>,
  request: HttpRequest,
  user: User,
  code: ShownCode,
  error?: OAuthError,
): Promise<HttpResponse> {
  const { show, stylesheet, pageSources, reportRefusal } = context
  if (error !== undefined) reportRefusal('device', error.reason, error.code, { subject: user.subject })
  const binder = createFormBinder(context, request, user)
  const html = await show.device({
    user: describeUser(context, user, 'device', queryFor(parseUserCode(ownOf(code).userCode ?? ''))),
    ...code,
    form: { action: actionOf(context), fields: [binder.field(CODE_FORM)] },
    stylesheet,
    ...(error !== undefined && { fault: describeFault(context, error) }),
  })
  return pageResponse(pageSources, error?.status ?? 200, html, [], { ...binder.headers, ...retryAfter(error) })
}

/** Says in the user's language why a code was not taken, and how long to wait. */
function describeFault({ language }: PageContext<never>, { retryAfter }: OAuthError): string {
  if (retryAfter === undefined) return language.texts['device.unknownCode']
  return countedText(language, 'device.tooManyCodes', Math.ceil(retryAfter / 60))
}

/** Shows the consent page. After a search, or a faulty choice of resources, it is shown again. */
export async function showConsent(
  context: PageContext<never>,
  request: HttpRequest,
  user: User,
  found: WaitingDevice,
  again?: OpenChoice,
): Promise<HttpResponse> {
  const { device, userCode, application, decisions } = found
  const clientKey = context.clientKeyOf(application.clientId)
  const granted = await context.consents.liveGrants({ clientKey, subject: user.subject }, decisions)
  const signedIn = describeUser(context, user, 'device', queryFor(userCode))
  const binder = createFormBinder(context, request, user)
  const fields = [
    { name: FORM_FIELDS.userCode, value: userCode },
    { name: FORM_FIELDS.device, value: device.id },
    binder.field(consentFormOf(found)),
  ]
  const model = await createConsentModel(context, { user, signedIn, granted }, found, fields, again)
  if (isOAuthError(model)) return showError(context, 'device', model, {}, describeWayBack(application))
  const form = { action: actionOf(context), fields }
  const html = await context.show.consent({ ...model, userCode: printUserCode(userCode), form })
  return pageResponse(context.pageSources, again?.type === 'fault' ? 400 : 200, html, [], binder.headers)
}

/** Shows what the user decided. */
export async function showResult(
  { show, stylesheet, pageSources }: PageContext<never>,
  decision: 'agree' | 'refuse',
  { application }: ShownDevice,
): Promise<HttpResponse> {
  const { name } = application
  const html = await show.deviceResult({ decision, application: { name }, ...describeWayBack(application), stylesheet })
  return pageResponse(pageSources, 200, html)
}

/** Sends the browser to sign in, and back to the page with the code. */
export function signInForCode(
  context: PageContext<never>,
  request: HttpRequest,
  userCode: UserCode | undefined,
): Promise<HttpResponse> {
  return sendToSignIn(context, request, 'device', queryFor(userCode))
}

/** Returns the query of the page with a code in its field; empty for none. */
function queryFor(userCode: UserCode | undefined): string {
  return userCode === undefined ? '' : `${FORM_FIELDS.userCode}=${printUserCode(userCode)}`
}

function actionOf({ issuerPath }: PageContext<never>): string {
  return issuerPath + ENDPOINT_PATHS.device
}
