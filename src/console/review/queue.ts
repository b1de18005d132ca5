/**
 * The first page of administrators: what waits for a decision, and the search.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import { isPublished, isResourceServer } from '../../core/application/application.js'
import { isOAuthError } from '../../core/errors.js'
import type { WantedApplications } from '../../management/applications/interface.js'
import { dayOf, ifTrue, isolated } from '../../pages/fragments.js'
import type { SafeHtml } from '../../pages/html.js'
import { html } from '../../pages/html.js'
import { countedText, fillHtml } from '../../pages/index.js'
import type { HttpResponse } from '../../protocol/message.js'
import { queryOf } from '../../protocol/message.js'
import { parseParameters, valueIn } from '../../protocol/parameters.js'
import { cursorOf, entryOf } from '../applicant/list.js'
import { errorCodeOf } from '../errors.js'
import type { Told, Visit } from '../visit.js'
import { pathOf, respond } from '../visit.js'

/** Applications of one page. */
const PAGE_LENGTH = 50

const STATES = ['pending', 'approved', 'suspended', 'rejected'] as const

/** The search in the query of a page. */
interface Search {
  readonly text: string
  readonly applicant: string
  readonly state: string
}

/** Shows what waits; or, where something is searched for, what was found. */
export function queuePage(visit: Visit): Promise<HttpResponse> {
  return showQueue(visit, searchOf(visit), {})
}

/** Shows the page after a form whose application is gone. */
export function queueAfter(visit: Visit, told: Told): Promise<HttpResponse> {
  return showQueue({ ...visit, place: 'administration' }, { text: '', applicant: '', state: '' }, told)
}

async function showQueue(visit: Visit, search: Search, told: Told): Promise<HttpResponse> {
  const { texts } = visit.context.language
  const isSearch = search.text !== '' || search.applicant !== '' || search.state !== ''
  const wanted: WantedApplications = isSearch ? wantedBy(search) : { state: 'pending' }
  const { applications, next } = await find(visit, wanted, cursorOf(visit))
  const entries = applications.map((application) => html`<li>${entryOf(visit, application, 'administration/')}</li>\n`)
  const main = html`<h2>${isSearch ? countedOf(visit, await visit.console.applications.count(wanted)) : texts['console.review.queue']}</h2>
${ifTrue(!isSearch && applications.length === 0, html`<p>${texts['console.review.nothingWaits']}</p>`)}
<ul class="listed">
${entries}</ul>
${next === undefined ? undefined : html`<p class="more"><a href="${pathOf(visit, 'administration')}?${queryWith(search, next)}">${texts['console.review.next']}</a></p>`}
${searchForm(visit, search)}
<p class="more"><a href="${pathOf(visit, 'administration/resource-servers')}">${texts['console.review.servers']}</a></p>`
  return respond(visit, { title: texts['console.administration'], main, told })
}

function countedOf({ context }: Visit, count: number): string {
  return countedText(context.language, 'console.review.found', count)
}

async function find({ console }: Visit, wanted: WantedApplications, cursor: string | undefined) {
  const { applications } = console
  const search = async (page: { readonly cursor?: string }) => {
    const found = await applications.search(wanted, { limit: PAGE_LENGTH, ...page })
    return { applications: found.applications, next: found.cursor }
  }
  try {
    return await search(cursor === undefined ? {} : { cursor })
  } catch (error) {
    // A cursor that somebody wrote into the address.
    if (cursor === undefined || errorCodeOf(error) !== 'ERR_CONFIGURATION') throw error
    return search({})
  }
}

function searchOf({ request }: Pick<Visit, 'request'>): Search {
  const parameters = parseParameters(queryOf(request.url))
  const value = (name: string): string => {
    const found = isOAuthError(parameters) ? undefined : valueIn(parameters, name)
    return typeof found === 'string' ? found.trim() : ''
  }
  return { text: value('text'), applicant: value('applicant'), state: value('state') }
}

function wantedBy({ text, applicant, state }: Search): WantedApplications {
  const known = STATES.find((each) => each === state)
  return {
    ...(text !== '' && { text }),
    ...(applicant !== '' && { applicant }),
    ...(known !== undefined && { state: known }),
  }
}

function queryWith(search: Search, cursor: string): string {
  return new URLSearchParams({ ...search, cursor }).toString()
}

function searchForm(visit: Visit, { text, applicant, state }: Search): SafeHtml {
  const { texts } = visit.context.language
  const option = (value: string, label: string): SafeHtml =>
    html`<option value="${value}"${ifTrue(value === state, html` selected`)}>${label}</option>`
  return html`<form method="get" action="${pathOf(visit, 'administration')}" role="search">
<h2>${texts['console.review.search']}</h2>
<label class="field">${texts['console.review.words']}
<input name="text" value="${text}" spellcheck="false"></label>
<label class="field">${texts['console.review.applicant']}
<input name="applicant" value="${applicant}" autocapitalize="none" spellcheck="false"></label>
<label class="field">${texts['console.state']}
<select name="state">${option('', texts['console.review.anyState'])}${STATES.map((each) => option(each, texts[`console.state.${each}`]))}</select></label>
<div class="actions"><button type="submit">${texts['resources.find']}</button></div>
</form>`
}

/** Says who handed an application in, and when. */
export function handedIn({ context }: Visit, application: Application): SafeHtml {
  const { texts } = context.language
  const { applicant, review, createdAt } = application
  if (applicant === undefined) return html`${texts['console.review.registered']}`
  const day = dayOf(context.language, review?.submittedAt ?? createdAt)
  return fillHtml(texts['console.review.handedIn'], { user: isolated(applicant), day })
}

/** True for an application that has a page for administrators: one that is published, or waits. */
export function isServer(application: Application): boolean {
  return isPublished(application) && isResourceServer(application)
}
