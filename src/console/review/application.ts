/**
 * The page of an application for administrators: what it asks for, what is in force, and every decision.
 * @module
 */
import type { Application, PublishedApplication } from '../../core/application/application.js'
import { isPublished, isResourceServer, selfRegisteredOf } from '../../core/application/application.js'
import type { Scope } from '../../core/scopes.js'
import type { GrantCount } from '../../management/grants/interface.js'
import { dayOf, ifTrue, isolated } from '../../pages/fragments.js'
import type { SafeHtml } from '../../pages/html.js'
import { html } from '../../pages/html.js'
import { countedText, faultText, fillHtml } from '../../pages/index.js'
import { formatsOf } from '../../pages/texts/formats.js'
import type { HttpResponse } from '../../protocol/message.js'
import { listIn } from '../../protocol/parameters.js'
import { folded } from '../applicant/application.js'
import { checkbox } from '../applicant/registration-form.js'
import { describeDetails, detailsInForce, identity, latestDetails, scopeName } from '../describe.js'
import { errorCodeOf, faultsOf } from '../errors.js'
import type { SentAction } from '../forms.js'
import { actionForm, fieldOf, readAction } from '../forms.js'
import type { Told, Visit } from '../visit.js'
import { askedBy, placeOf, respond, respondError } from '../visit.js'
import { handedIn, queueAfter } from './queue.js'

/** Words about a form, and what was typed into it. */
interface ToldReview extends Told {
  readonly reason?: string
  readonly reasonFault?: string
}

/** Shows the page of an application. */
export async function reviewPage(visit: Visit, id: string, told: ToldReview = {}, status = 200): Promise<HttpResponse> {
  const application = await visit.console.applications.get(id)
  if (application === undefined) return respondError(visit.context, 404, 'notFound')
  const there = { ...visit, place: placeOf(id, 'administration/') }
  const { texts } = visit.context.language
  const details = latestDetails(application)
  const waits = application.review?.state === 'pending'
  const before = waits ? detailsInForce(application) : undefined
  const count = isPublished(application) && !isResourceServer(application) ? await countOf(there, id) : undefined
  const main = html`<section class="application">
${identity(there, id, details, before)}
<p class="hint">${handedIn(there, application)}</p>
${stateOf(there, application)}
<h3>${texts[waits ? 'console.review.asked' : 'console.review.inForce']}</h3>
${describeDetails(there, details, before)}
</section>
${waits ? decisions(there, application, told) : undefined}
${isPublished(application) ? powers(there, application, count) : undefined}
${isRemovable(application) ? simpleForm(there, application, 'delete', 'console.delete', 'console.deleteHint') : undefined}`
  return respond(there, { title: details.name, main, told, status })
}

function isRemovable(application: Application): boolean {
  return selfRegisteredOf(application)?.document === undefined
}

/** Counts the grants of an application; undefined where some cannot be read, which keeps nobody from deciding. */
async function countOf({ console }: Visit, id: string): Promise<GrantCount | undefined> {
  try {
    return await console.grants.countGrants(id)
  } catch (error) {
    if (errorCodeOf(error) !== 'ERR_STORE') throw error
    return undefined
  }
}

function stateOf({ context }: Visit, { state, id, review }: Application): SafeHtml {
  const { texts } = context.language
  const kind =
    review?.state === 'pending' && texts[state === 'pending' ? 'console.review.new' : 'console.review.change']
  const rejected = review?.state === 'rejected' ? review : undefined
  const words = texts[state === 'rejected' ? 'console.reason' : 'console.changeRejected']
  return html`<dl>
<div><dt>${texts['console.state']}</dt><dd>${texts[`console.state.${state}`]}${kind ? html` (${kind})` : undefined}</dd></div>
<div><dt>${texts['console.clientId']}</dt><dd><code dir="ltr">${id}</code></dd></div>
</dl>
${rejected && html`<p>${fillHtml(words, { reason: isolated(rejected.reason) })}</p>`}`
}

/** Writes the forms that approve and reject what waits. */
function decisions(visit: Visit, application: Application, { reason = '', reasonFault }: ToldReview): SafeHtml {
  const { texts } = visit.context.language
  const scopes = grantable(visit, latestDetails(application).scopes)
  const approval = html`<fieldset class="choices"><legend>${texts['console.review.grant']}</legend>
${scopes.map(({ scope, isNarrower }) => checkbox('scope', !isNarrower, scopeName(visit, scope), scope))}</fieldset>
<div class="actions"><button type="submit" class="primary">${texts['console.review.approve']}</button></div>`
  const fault = html`<div class="field-fault" id="fault-reason"><p>${reasonFault}</p></div>`
  const isFaulty = reasonFault !== undefined
  const rejection = html`<label class="field">${texts['console.review.rejectReason']}
<textarea name="reason" rows="3" required${ifTrue(isFaulty, html` aria-invalid="true" aria-describedby="fault-reason"`)}>${reason}</textarea></label>
${ifTrue(isFaulty, fault)}
<div class="actions"><button type="submit" class="danger">${texts['console.review.reject']}</button></div>`
  return html`${actionForm(visit, 'approve', application, approval)}
${actionForm(visit, 'reject', application, rejection)}`
}

/** Lists the scopes that can be granted: each that is asked for, and those that it includes. */
function grantable(
  { context }: Visit,
  asked: readonly Scope[],
): readonly { readonly scope: Scope; readonly isNarrower: boolean }[] {
  const { entries } = context.scopes
  return asked.flatMap((scope) => [
    { scope, isNarrower: false },
    ...(entries.get(scope)?.includes ?? [])
      .filter((narrower) => !asked.includes(narrower))
      .map((narrower) => ({ scope: narrower, isNarrower: true })),
  ])
}

/** Writes the grants in numbers, and the forms that stop an application and end its grants. */
function powers(visit: Visit, application: PublishedApplication, count: GrantCount | undefined): SafeHtml {
  const { context } = visit
  const { texts } = context.language
  const move =
    application.state === 'suspended'
      ? simpleForm(visit, application, 'reinstate', 'console.review.reinstate', 'console.review.reinstateHint')
      : simpleForm(visit, application, 'suspend', 'console.review.suspend', 'console.review.suspendHint')
  if (isResourceServer(application)) return move
  const numbers = formatsOf(context.language.locale).numbers
  const counted =
    count &&
    html`<dl>
<div><dt>${texts['console.review.grants']}</dt><dd>${numbers.format(count.grants)}</dd></div>
<div><dt>${texts['console.review.users']}</dt><dd>${numbers.format(count.users)}</dd></div>
<div><dt>${texts['applications.lastUsed']}</dt><dd>${count.lastUsedAt === undefined ? texts['applications.neverUsed'] : dayOf(context.language, count.lastUsedAt)}</dd></div>
</dl>`
  return html`<section><h2>${texts['console.review.access']}</h2>
${counted}
${simpleForm(visit, application, 'endAll', 'console.review.endAll', 'console.review.endAllHint')}
</section>
${move}`
}

/** Writes a form with a button alone, which is opened before it is sent. */
export function simpleForm(
  visit: Visit,
  application: Application,
  action: string,
  name: 'console.delete' | 'console.review.reinstate' | 'console.review.suspend' | 'console.review.endAll',
  hint: `${typeof name}Hint`,
): SafeHtml {
  const { texts } = visit.context.language
  const button = html`<p>${texts[hint]}</p>
<div class="actions"><button type="submit" class="danger">${texts[name]}</button></div>`
  return folded(texts[name], actionForm(visit, action, application, button))
}

/** Takes a form of the page. */
export async function sendReview(visit: Visit, id: string): Promise<HttpResponse> {
  const { texts } = visit.context.language
  const sent = readAction(visit, id)
  if (sent === undefined) return reviewPage(visit, id, { fault: texts['error.applicationsForm'] }, 400)
  const application = await visit.console.applications.get(id)
  if (application === undefined) return queueAfter(visit, { notice: texts['console.doneBefore'] })
  const action = Object.hasOwn(ACTIONS, sent.action) ? ACTIONS[sent.action] : undefined
  if (action === undefined) return respondError(visit.context, 400, 'notFound')
  try {
    return await action(visit, application, sent)
  } catch (error) {
    return refused(visit, id, sent, error)
  }
}

type Action = (visit: Visit, application: Application, sent: SentAction) => Promise<HttpResponse>

/** The actions. Suspending is never kept up by a newer revision: no applicant may keep an administrator from stopping an application. */
const ACTIONS: Readonly<Record<string, Action>> = {
  approve: async (visit, { id }, sent) => {
    const { texts } = visit.context.language
    const scopes = withoutIncluded(visit, listIn(sent.parameters, 'scope'))
    if (scopes.length === 0) return reviewPage(visit, id, { fault: texts['console.review.chooseScope'] }, 400)
    const { revision } = sent
    await visit.console.applications.approve(id, { revision, scopes, ...askedBy(visit) })
    return reviewPage(visit, id, { notice: texts['console.review.approved'] })
  },

  reject: async (visit, { id }, sent) => {
    const { texts } = visit.context.language
    const reason = fieldOf(sent, 'reason')
    await visit.console.applications.reject(id, { revision: sent.revision, reason, ...askedBy(visit) })
    return reviewPage(visit, id, { notice: texts['console.review.rejected'] })
  },

  suspend: async (visit, { id }) => {
    await visit.console.applications.suspend(id, askedBy(visit))
    return reviewPage(visit, id, { notice: visit.context.language.texts['console.review.suspended'] })
  },

  reinstate: async (visit, application, { revision }) => {
    const { texts } = visit.context.language
    const { id } = application
    if (application.revision !== revision) return reviewPage(visit, id, { fault: texts['console.outdated'] }, 409)
    await visit.console.applications.reinstate(id, askedBy(visit))
    return reviewPage(visit, id, { notice: texts['console.review.reinstated'] })
  },

  endAll: async (visit, { id }) => {
    const ended = await visit.console.grants.revokeApplication(id, askedBy(visit))
    return reviewPage(visit, id, { notice: countedText(visit.context.language, 'console.review.ended', ended) })
  },

  delete: async (visit, { id }) => {
    await visit.console.applications.delete(id, askedBy(visit))
    return queueAfter(visit, { notice: visit.context.language.texts['console.deleted'] })
  },
}

/** Leaves out scopes that another chosen one includes. */
function withoutIncluded({ context }: Visit, scopes: readonly string[]): readonly string[] {
  const { entries } = context.scopes
  return scopes.filter((scope) => !scopes.some((other) => entries.get(other)?.includes.includes(scope)))
}

/** Says why a decision was not carried out: it was before, somebody else decided, or the reason is faulty. */
async function refused(visit: Visit, id: string, sent: SentAction, error: unknown): Promise<HttpResponse> {
  const { language } = visit.context
  const { texts } = language
  switch (errorCodeOf(error)) {
    case 'ERR_CLIENT_UNKNOWN':
      return queueAfter(visit, { notice: texts['console.doneBefore'] })
    case 'ERR_REGISTRATION': {
      const sentences = faultsOf(error).map((fault) => faultText(language, fault))
      const told = { fault: sentences.join(' '), reason: fieldOf(sent, 'reason') }
      return reviewPage(visit, id, sent.action === 'reject' ? { ...told, reasonFault: told.fault } : told, 400)
    }
    case 'ERR_APPLICATION_STATE':
    case 'ERR_REVISION_OUTDATED': {
      const application = await visit.console.applications.get(id)
      return isDecided(application, sent)
        ? reviewPage(visit, id, { notice: texts['console.doneBefore'] })
        : reviewPage(visit, id, { fault: texts['console.outdated'], reason: fieldOf(sent, 'reason') }, 409)
    }
    default:
      throw error
  }
}

/** True if an application stands as a form wanted it. */
function isDecided(application: Application | undefined, { action, revision }: SentAction): boolean {
  if (application?.revision !== revision) return false
  const { review } = application
  if (action === 'approve') return isPublished(application) && review === undefined
  return action === 'reject' && review?.state === 'rejected'
}
