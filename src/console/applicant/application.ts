/**
 * The page of an application for its applicant: how it stands, and everything that can be done with it.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import { isPublished, selfRegisteredOf } from '../../core/application/application.js'
import { encodeBase64url } from '../../core/credentials/base64url.js'
import { CLIENT_SECRET_PREFIX } from '../../core/credentials/credential.js'
import { isolated } from '../../pages/fragments.js'
import type { SafeHtml } from '../../pages/html.js'
import { html } from '../../pages/html.js'
import { fillHtml, fillText } from '../../pages/index.js'
import type { HttpResponse } from '../../protocol/message.js'
import { describeDetails, detailsInForce, identity, latestDetails } from '../describe.js'
import { errorCodeOf } from '../errors.js'
import type { SentAction } from '../forms.js'
import { actionForm, fieldOf, readAction } from '../forms.js'
import type { Told, Visit } from '../visit.js'
import { askedBy, pathOf, placeOf, respond, respondError } from '../visit.js'
import { listAfter } from './list.js'

/** Loads an application of the applicant's own: any other is as good as none. */
export async function loadOwn({ console, user }: Visit, id: string): Promise<Application | undefined> {
  const application = await console.applications.get(id)
  return application?.applicant === user.subject ? application : undefined
}

/** Shows the page of an application. */
export async function applicationPage(visit: Visit, id: string, told: Told = {}, status = 200): Promise<HttpResponse> {
  const application = await loadOwn(visit, id)
  if (application === undefined) return respondError(visit.context, 404, 'notFound')
  const there = { ...visit, place: placeOf(id) }
  const details = latestDetails(application)
  const before = application.review?.state === 'pending' ? detailsInForce(application) : undefined
  const main = html`<section class="application">
${identity(there, id, details, before)}
${stateOf(there, application)}
${describeDetails(there, details, before)}
</section>
${actionsOf(there, application)}`
  return respond(there, { title: details.name, main, told, status })
}

/** Writes the state of an application, and the words of the administrators. */
function stateOf({ context }: Visit, application: Application): SafeHtml {
  const { texts } = context.language
  const { state, review } = application
  const inForce = isPublished(application)
  const clientId = html`<div><dt>${texts['console.clientId']}</dt><dd><code dir="ltr">${application.id}</code></dd></div>`
  return html`<dl>
<div><dt>${texts['console.state']}</dt><dd>${texts[`console.state.${state}`]}</dd></div>
${inForce ? clientId : undefined}
</dl>
${inForce && review?.state === 'pending' ? html`<p>${texts['console.changeWaits']}</p>` : undefined}
${
  review?.state === 'rejected'
    ? html`<p>${fillHtml(texts[inForce ? 'console.changeRejected' : 'console.reason'], { reason: isolated(review.reason) })}</p>`
    : undefined
}`
}

/** Writes the forms of everything that the applicant can do. */
function actionsOf(visit: Visit, application: Application): SafeHtml {
  const { texts } = visit.context.language
  const { id, state, review } = application
  const isOfDocument = selfRegisteredOf(application)?.document !== undefined
  const edit = html`<p class="actions"><a class="button" href="${pathOf(visit, `${placeOf(id)}/edit`)}">${texts['console.change']}</a></p>`
  const hasSecrets = isPublished(application) && application.type === 'confidential'
  const mayWithdraw = isPublished(application) ? review !== undefined : !isOfDocument
  return html`${state === 'rejected' ? undefined : edit}
${hasSecrets ? secretForm(visit, application) : undefined}
${mayWithdraw ? withdrawForm(visit, application) : undefined}
${transferForm(visit, application)}
${isOfDocument ? undefined : deleteForm(visit, application)}`
}

const OVERLAPS = { none: 0, hour: 3600, day: 86_400, week: 604_800 } as const
type Overlap = keyof typeof OVERLAPS

function secretForm(visit: Visit, application: Application): SafeHtml {
  const { texts } = visit.context.language
  const names = Object.keys(OVERLAPS) as Overlap[] // its own keys
  return actionForm(
    visit,
    'rotate',
    application,
    html`<h2>${texts['console.clientSecret']}</h2>
<label class="field">${texts['console.overlap']}
<select name="overlap">${names.map((name) => html`<option value="${name}">${texts[`console.overlap.${name}`]}</option>`)}</select></label>
<div class="actions"><button type="submit">${texts['console.newSecret']}</button></div>`,
  )
}

function withdrawForm(visit: Visit, application: Application): SafeHtml {
  const { texts } = visit.context.language
  const hint = texts[isPublished(application) ? 'console.withdrawChange' : 'console.withdrawNew']
  const button = html`<p>${hint}</p><div class="actions"><button type="submit" class="danger">${texts['console.withdraw']}</button></div>`
  return folded(texts['console.withdraw'], actionForm(visit, 'withdraw', application, button))
}

function transferForm(visit: Visit, application: Application): SafeHtml {
  const { texts } = visit.context.language
  const form = html`<p>${texts['console.transferHint']}</p>
<label class="field">${texts['console.transferTo']}
<input name="applicant" required autocapitalize="none" spellcheck="false"></label>
<div class="actions"><button type="submit" class="danger">${texts['console.transfer']}</button></div>`
  return folded(texts['console.transfer'], actionForm(visit, 'transfer', application, form))
}

function deleteForm(visit: Visit, application: Application): SafeHtml {
  const { texts } = visit.context.language
  const button = html`<p>${texts['console.deleteHint']}</p><div class="actions"><button type="submit" class="danger">${texts['console.delete']}</button></div>`
  return folded(texts['console.delete'], actionForm(visit, 'delete', application, button))
}

/** Writes a form that is opened before it is sent, so that no single click ends something. */
export function folded(summary: string, form: SafeHtml): SafeHtml {
  return html`<details><summary>${summary}</summary>
${form}
</details>`
}

/** Takes a form of the page. */
export async function sendAction(visit: Visit, id: string): Promise<HttpResponse> {
  const { texts } = visit.context.language
  const sent = readAction(visit, id)
  if (sent === undefined) return applicationPage(visit, id, { fault: texts['error.applicationsForm'] }, 400)
  // The form is one of ours, so this application was the applicant's when it was shown.
  const application = await loadOwn(visit, id)
  if (application === undefined) return listAfter(visit, { notice: texts['console.doneBefore'] })
  const action = Object.hasOwn(ACTIONS, sent.action) ? ACTIONS[sent.action] : undefined
  if (action === undefined) return respondError(visit.context, 400, 'notFound')
  try {
    return await action(visit, application, sent)
  } catch (error) {
    return refused(visit, id, sent, error)
  }
}

type Action = (visit: Visit, application: Application, sent: SentAction) => Promise<HttpResponse>

const ACTIONS: Readonly<Record<string, Action>> = {
  rotate: async (visit, { id }, sent) => {
    const { texts } = visit.context.language
    const overlap = fieldOf(sent, 'overlap')
    const { clientSecret } = await visit.console.applications.rotateSecret(id, {
      overlap: Object.hasOwn(OVERLAPS, overlap) ? OVERLAPS[overlap as Overlap] : 0, // one of its own keys
      clientSecret: secretOf(sent),
      ...askedBy(visit),
    })
    return applicationPage(visit, id, {
      notice: texts['console.secretOnce'],
      more: credentials(visit, id, clientSecret),
    })
  },

  withdraw: async (visit, application, { revision }) => {
    const { texts } = visit.context.language
    const { id } = application
    if (application.revision !== revision) return applicationPage(visit, id, { fault: texts['console.outdated'] }, 409)
    if (application.review === undefined) return applicationPage(visit, id, { notice: texts['console.doneBefore'] })
    await visit.console.applications.withdraw(id, askedBy(visit))
    const told = { notice: texts['console.withdrawn'] }
    return isPublished(application) ? applicationPage(visit, id, told) : listAfter(visit, told)
  },

  transfer: async (visit, { id }, sent) => {
    const { texts } = visit.context.language
    const applicant = fieldOf(sent, 'applicant').trim()
    if (applicant === '' || applicant === visit.user.subject)
      return applicationPage(visit, id, { fault: texts['console.transferWho'] }, 400)
    await visit.console.applications.transfer(id, { applicant, ...askedBy(visit) })
    return listAfter(visit, { notice: fillText(texts['console.transferred'], { user: applicant }) })
  },

  delete: async (visit, { id }) => {
    await visit.console.applications.delete(id, askedBy(visit))
    return listAfter(visit, { notice: visit.context.language.texts['console.deleted'] })
  },
}

/** Returns the secret that a form makes: however often it is sent, it is this one. Nobody but this browser can make it. */
export function secretOf({ secret }: Pick<SentAction, 'secret'>): string {
  return CLIENT_SECRET_PREFIX + encodeBase64url(secret)
}

/** Writes an identifier with its secret. */
export function credentials({ context }: Visit, clientId: string, clientSecret: string): SafeHtml {
  const { texts } = context.language
  return html`<dl>
<div><dt>${texts['console.clientId']}</dt><dd><code dir="ltr">${clientId}</code></dd></div>
<div><dt>${texts['console.clientSecret']}</dt><dd><code dir="ltr">${clientSecret}</code></dd></div>
</dl>`
}

/** Says why an action was not done: it was before, or the application is in another state by now. */
async function refused(visit: Visit, id: string, sent: SentAction, error: unknown): Promise<HttpResponse> {
  const { texts } = visit.context.language
  switch (errorCodeOf(error)) {
    case 'ERR_CLIENT_UNKNOWN':
      return listAfter(visit, { notice: texts['console.doneBefore'] })
    case 'ERR_APPLICATION_STATE': {
      const application = await loadOwn(visit, id)
      if (application === undefined) return listAfter(visit, { notice: texts['console.doneBefore'] })
      if (sent.action === 'withdraw' && application.review === undefined)
        return applicationPage(visit, id, { notice: texts['console.doneBefore'] })
      const isFull = isPublished(application) && application.secrets.length >= 8
      const fault = texts[isFull ? 'console.tooManySecrets' : 'console.notPossible']
      return applicationPage(visit, id, { fault }, 409)
    }
    default:
      throw error
  }
}
