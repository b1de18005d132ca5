/**
 * The second form of the device page: takes the user's decision.
 * @module
 * @see RFC 8628, section 3.3
 */

import { parseGrantId } from '../../core/credentials/credential.js'
import type { OAuthError } from '../../core/errors.js'
import { isOAuthError } from '../../core/errors.js'
import type { Decided } from '../../core/grant/device.js'
import { userCodeUnknown } from '../../core/grant/device.js'
import { withoutChange } from '../../core/grant/outcome.js'
import { transition } from '../../core/grant/transition.js'
import { sameJson } from '../../core/json.js'
import type { Resources } from '../../core/resource.js'
import type { GrantId, UserCode } from '../../core/values.js'
import { notAccessible } from '../../protocol/authorization.js'
import type { HttpRequest, HttpResponse } from '../../protocol/message.js'
import { chosenResources, FORM_FIELDS } from '../../protocol/pages/form-binding.js'
import type { Parameters } from '../../protocol/parameters.js'
import { listIn, valueIn } from '../../protocol/parameters.js'
import type { User } from '../../shell/options.js'
import { keys, recordAs } from '../../shell/records.js'
import type { PageContext } from '../interaction/context.js'
import { describeWayBack, showError } from '../interaction/error-page.js'
import { canBeOurs, verifyForm, verifyFormOfAnyAge } from '../interaction/forms.js'
import { admitChoice, admitPermission } from '../interaction/host-decision.js'
import type { OpenChoice } from '../interaction/resources.js'
import { isOpenChoice, readChoice, readOpenChoice } from '../interaction/resources.js'
import type { DecidedDevice, WaitingDevice } from './devices.js'
import { checkDecided, checkWaiting, decisionOf, loadDevice } from './devices.js'
import { consentFormOf, NO_CODE, showCodePage, showConsent, showResult } from './pages.js'

/** A form of the device page as it was sent. */
export interface SentForm {
  readonly form: Parameters
  /** The code as it was typed, or its beginning. */
  readonly typed: string
  readonly userCode: UserCode | undefined
  readonly token: string | undefined
  readonly decision: string | undefined
  /** The device, by its identifier, which cannot be guessed. */
  readonly device: string | undefined
}

/** A decision on a device. */
interface Wanted {
  readonly grantId: GrantId
  readonly userCode: UserCode
  readonly decision: 'agree' | 'refuse'
}

/** A form that decides, or that only searches for resources. */
type Asked = Omit<Wanted, 'decision'> & { readonly decision: Wanted['decision'] | 'search' }

/** Takes a decision, or shows the one that the user took before. */
export async function takeDecision(
  context: PageContext<never>,
  request: HttpRequest,
  user: User,
  sent: SentForm,
): Promise<HttpResponse> {
  const wanted = parseDecision(context, request, sent)
  if (wanted === undefined) return showError(context, 'device', notAccessible('consent_invalid'))
  const { grantId, userCode, decision } = wanted
  const records = await loadDevice(context, user, grantId)
  if (isOAuthError(records)) return showError(context, 'device', records)
  const decided = checkDecided(user, userCode, records)
  if (decided !== undefined) return repeatResult(context, request, user, decided, sent)
  const waiting = checkWaiting(context, userCode, records)
  if (isOAuthError(waiting)) return showCodePage(context, request, user, NO_CODE, userCodeUnknown())
  const found = await admitPermission(context, user, waiting)
  const wayBack = describeWayBack(waiting.application)
  if (isOAuthError(found)) return showError(context, 'device', found, waiting.application, wayBack)
  if (verifyForm(context, request, user, consentFormOf(found), sent.token) === undefined)
    return showError(context, 'device', notAccessible('consent_invalid'), {}, wayBack)
  if (decision === 'search') return showConsent(context, request, user, found, readOpenChoice(sent.form, 'search'))
  const resources = await chooseResources(context, user, found, decision, sent.form)
  if (isOpenChoice(resources)) return showConsent(context, request, user, found, resources)
  const admitted =
    decision === 'refuse' ? { asked: found, resources } : await admitChoice(context, user, found, resources)
  if (isOAuthError(admitted)) return showError(context, 'device', admitted, found.application, wayBack)
  const reply = await decide(context, user, { ...wanted, decision }, admitted.asked, admitted.resources)
  if (!isOAuthError(reply)) return showResult(context, decision, found)
  return answerError(context, request, user, found, sent, reply)
}

/** Parses the form; undefined where it cannot be one of ours. */
function parseDecision(
  context: PageContext<never>,
  request: HttpRequest,
  { userCode, decision, device, token }: SentForm,
): Asked | undefined {
  // Checked before anything is shown: a page in answer to another site's form would bring a new key, and end open forms.
  const grantId = canBeOurs(context, request, token) ? parseGrantId(device ?? '') : undefined
  if (grantId === undefined || userCode === undefined) return undefined
  const isKnown = decision === 'agree' || decision === 'refuse' || decision === 'search'
  return isKnown ? { grantId, userCode, decision } : undefined
}

/** Shows the user's earlier decision to a form that was sent again. */
function repeatResult(
  context: PageContext<never>,
  request: HttpRequest,
  user: User,
  decided: DecidedDevice,
  sent: SentForm,
): Promise<HttpResponse> {
  return verifyFormOfAnyAge(context, request, user, consentFormOf(decided), sent.token) === undefined
    ? showCodePage(context, request, user, NO_CODE, userCodeUnknown())
    : showDecided(context, decided, sent)
}

/** Shows the user's earlier decision. A form that agrees to other resources is refused: the result would say that it counted. */
function showDecided(context: PageContext<never>, decided: DecidedDevice, sent: SentForm): Promise<HttpResponse> {
  const decision = decisionOf(decided)
  return decision === 'agree' && sent.decision === 'agree' && !hasGrantedChoice(context, decided, sent)
    ? showError(context, 'device', notAccessible('consent_invalid'), {}, describeWayBack(decided.application))
    : showResult(context, decision, decided)
}

/** True if a form chooses the very resources that were granted. */
function hasGrantedChoice(
  { authorize }: PageContext<never>,
  { application, device: { resources } }: DecidedDevice,
  { form }: SentForm,
): boolean {
  const choice = valueIn(form, FORM_FIELDS.resourceScope)
  // The host may have made the choice narrower.
  if (authorize !== undefined && resources.kind === 'specified') {
    const chosen = new Set(listIn(form, FORM_FIELDS.resource))
    return choice !== 'specified' || resources.ids.every((id) => chosen.has(id))
  }
  if (choice !== resources.kind) return false
  const granted = new Set(resources.kind === 'specified' ? resources.ids : [])
  const chosen = chosenResources(choice, listIn(form, FORM_FIELDS.resource), application.resourceScope, granted)
  return sameJson(chosen ?? null, resources)
}

/** Reads the choice of resources; a refusal has none. */
async function chooseResources(
  context: PageContext<never>,
  user: User,
  { application }: WaitingDevice,
  decision: Wanted['decision'],
  form: Parameters,
): Promise<Resources | OpenChoice> {
  return decision === 'refuse' ? { kind: 'specified', ids: [] } : readChoice(context, user, application, form)
}

/** Stores the decision, and with it the grant. */
async function decide(
  { clientKeyOf, consents, rules }: PageContext<never>,
  { subject }: User,
  { grantId, decision }: Wanted,
  { application, scopes }: WaitingDevice,
  resources: Resources,
): Promise<Decided | OAuthError> {
  const who = { clientKey: clientKeyOf(application.clientId), subject }
  if (decision === 'agree') {
    const notAdmitted = await consents.admit(who, { decision, grantId })
    if (notAdmitted !== undefined) return notAdmitted
  }
  return consents.onGrant(who, grantId, (current, device, now, entropy) => {
    if (decision === 'agree' && current?.state !== 'approved') return withoutChange(userCodeUnknown())
    return transition(device, { type: 'decide', decision, subject, scopes, resources }, now, entropy, rules)
  })
}

/** Answers a decision that was not taken. The same form may have been quicker by a moment: then its result is shown. */
async function answerError(
  context: PageContext<never>,
  request: HttpRequest,
  user: User,
  { userCode, device, application }: WaitingDevice,
  sent: SentForm,
  error: OAuthError,
): Promise<HttpResponse> {
  if (error.reason !== 'user_code_unknown') return showError(context, 'device', error, {}, describeWayBack(application))
  const records = await context.transactions.read([keys.grant(device.id)])
  const record = isOAuthError(records) ? undefined : recordAs.grantRecord(records[0]?.value)
  const decided = checkDecided(user, userCode, { application, record })
  return decided === undefined
    ? showCodePage(context, request, user, NO_CODE, error)
    : showDecided(context, decided, sent)
}
