/**
 * The first page: the applications of the applicant.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import { isPublished } from '../../core/application/application.js'
import { isOAuthError } from '../../core/errors.js'
import { isolated, logoOf } from '../../pages/fragments.js'
import type { SafeHtml } from '../../pages/html.js'
import { html } from '../../pages/html.js'
import type { HttpResponse } from '../../protocol/message.js'
import { queryOf } from '../../protocol/message.js'
import { parseParameters, valueIn } from '../../protocol/parameters.js'
import { latestDetails } from '../describe.js'
import { logoPath } from '../logo.js'
import type { Told, Visit } from '../visit.js'
import { pathOf, placeOf, respond } from '../visit.js'

/** Applications of one page. */
const PAGE_LENGTH = 50

/** Shows the applications that the applicant handed in. */
export function applicationList(visit: Visit): Promise<HttpResponse> {
  return showList(visit, cursorOf(visit), {})
}

/** Shows the list after a form whose application is gone from it. */
export function listAfter(visit: Visit, told: Told): Promise<HttpResponse> {
  return showList({ ...visit, place: '' }, undefined, told)
}

async function showList(visit: Visit, cursor: string | undefined, told: Told): Promise<HttpResponse> {
  const { texts } = visit.context.language
  const { applications, next } = await listOf(visit, cursor)
  const main = html`${applications.length === 0 && cursor === undefined ? html`<p>${texts['console.none']}</p>` : html``}
<ul class="listed">
${applications.map((application) => html`<li>${entryOf(visit, application, '')}</li>\n`)}</ul>
${next === undefined ? undefined : html`<p class="more"><a href="${pathOf(visit, '')}?cursor=${encodeURIComponent(next)}">${texts['applications.next']}</a></p>`}
<p class="actions"><a class="button primary" href="${pathOf(visit, 'new')}">${texts['console.new']}</a></p>`
  return respond(visit, { title: texts['console.title'], main, told })
}

async function listOf(
  visit: Visit,
  cursor: string | undefined,
): Promise<{ readonly applications: readonly Application[]; readonly next: string | undefined }> {
  const { console, user } = visit
  const page = { limit: PAGE_LENGTH, ...(cursor !== undefined && { cursor }) }
  const { applications, cursor: next } = await console.applications.list({ applicant: user.subject }, page)
  // A cursor that somebody wrote into the address, or behind which the last ones are gone.
  if (cursor !== undefined && applications.length === 0) return listOf(visit, undefined)
  return { applications, next }
}

/** Returns the cursor in the query of a page; undefined where it has none. */
export function cursorOf({ request }: Pick<Visit, 'request'>): string | undefined {
  const parameters = parseParameters(queryOf(request.url))
  const cursor = isOAuthError(parameters) ? undefined : valueIn(parameters, 'cursor')
  return typeof cursor === 'string' ? cursor : undefined
}

/** Writes an application as a line of a list, with its state and a link to its page. */
export function entryOf(visit: Visit, application: Application, under: '' | 'administration/'): SafeHtml {
  const { texts } = visit.context.language
  const { id, state, review } = application
  const details = latestDetails(application)
  const waits = isPublished(application) && review?.state === 'pending'
  return html`${logoOf({ name: details.name, ...logoPath(visit, id, details) })}
<div><a href="${pathOf(visit, placeOf(id, under))}">${isolated(details.name)}</a>
<p class="hint">${texts[`console.state.${state}`]}${waits ? html`. ${texts['console.changeWaits']}` : undefined}</p></div>`
}
