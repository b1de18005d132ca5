/**
 * One request to the console: who sends it, in which language, and how its page is sent.
 * @module
 */
import type { PageContext, ServerContext } from '../endpoints/interaction/context.js'
import { describeError } from '../endpoints/interaction/error-page.js'
import type { FormBinder } from '../endpoints/interaction/forms.js'
import { createFormBinder } from '../endpoints/interaction/forms.js'
import { describeUserAt } from '../endpoints/interaction/sign-in.js'
import type { Applications } from '../management/applications/interface.js'
import type { ActedBy } from '../management/arguments.js'
import type { Grants } from '../management/grants/interface.js'
import { faultNote, titled } from '../pages/fragments.js'
import type { SafeHtml } from '../pages/html.js'
import { displayText, html } from '../pages/html.js'
import type { PageErrorCode } from '../pages/index.js'
import { layOut } from '../pages/layout.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { queryOf } from '../protocol/message.js'
import { pageResponse } from '../protocol/pages/page.js'
import type { User } from '../shell/options.js'
import type { ConsoleOptions } from './options.js'

/** The parts of a console that its pages work with. */
export interface ConsoleContext<Native> {
  readonly pages: ServerContext<Native>
  readonly applications: Applications
  readonly grants: Grants
  readonly applicant: NonNullable<ConsoleOptions<Native>['applicant']>
  readonly administrator: ConsoleOptions<Native>['administrator']
  /** The path of the first page, as browsers see it. */
  readonly base: string
  /** The whole URL of the first page. */
  readonly address: string
}

/** A request of somebody who may send it. */
export interface Visit {
  readonly console: ConsoleContext<never>
  readonly context: PageContext<never>
  readonly request: HttpRequest<never>
  readonly user: User
  readonly isAdministrator: boolean
  /** The part of the path behind that of the console. */
  readonly place: string
  /** The forms of the page, all bound to this user and browser. */
  readonly binder: FormBinder
}

/** Makes a visit. */
export function createVisit(visit: Omit<Visit, 'binder'>): Visit {
  return { ...visit, binder: createFormBinder(visit.context, visit.request, visit.user) }
}

/** Names who asks for a change, and the request by which they ask, for the audit trail. */
export function askedBy({ user, request }: Visit): Required<ActedBy> {
  return { actor: user.subject, request }
}

/** The words about the form that was just sent: what was done, or why nothing was. */
export interface Told {
  readonly notice?: string
  readonly fault?: string
  /** More about it, such as a secret that is shown once. */
  readonly more?: SafeHtml
}

/** The content of a page. */
export interface Content {
  /** The heading and the title, as text. */
  readonly title: string
  readonly main: SafeHtml
  readonly told?: Told
  /** Absent for 200. */
  readonly status?: number
  /** True if the page shows an image that is part of it. */
  readonly hasOwnImage?: boolean
}

/** Makes the response with a page of the console. */
export function respond(visit: Visit, { title, main, told = {}, status = 200, hasOwnImage }: Content): HttpResponse {
  const { context, binder, user, place } = visit
  const { texts } = context.language
  const { notice, fault, more } = told
  const query = queryOf(visit.request.url)
  const returnTo = addressOf(visit, visit.request.method === 'POST' || query === '' ? place : `${place}?${query}`)
  const body = html`${navigation(visit)}
${faultNote(fault, 'fault')}${notice === undefined ? undefined : noticeNote(notice, more)}
<h1>${displayText(title)}</h1>
${main}`
  const page = layOut(
    {
      title: titled(texts, title, fault),
      stylesheet: context.stylesheet,
      user: describeUserAt(context, user, returnTo),
      main: body,
    },
    { ...context.language, appearance: context.appearance },
  )
  const { images = [], ...sources } = context.pageSources
  const pageSources = hasOwnImage ? { ...sources, images: [...images, 'data:'] } : context.pageSources
  return pageResponse(pageSources, status, page, [], binder.headers)
}

function noticeNote(notice: string, more: SafeHtml | undefined): SafeHtml {
  return html`<div class="notice" role="status"><p dir="auto">${displayText(notice)}</p>${more}</div>`
}

/** Writes the links to the first pages. */
function navigation(visit: Visit): SafeHtml {
  const { texts } = visit.context.language
  const administration = html` <a href="${pathOf(visit, 'administration')}">${texts['console.administration']}</a>`
  return html`<nav><a href="${pathOf(visit, '')}">${texts['console.title']}</a>${visit.isAdministrator ? administration : undefined}</nav>`
}

/** Returns the path of a page, as browsers see it. */
export function pathOf({ console }: Pick<Visit, 'console'>, place: string): string {
  return place === '' ? console.base : `${console.base}/${place}`
}

/** Returns the place of an application's page. An identifier may be a URL. */
export function placeOf(id: string, under: '' | 'administration/' = ''): string {
  return `${under}applications/${encodeURIComponent(id)}`
}

/** Returns the whole URL of a page. */
export function addressOf({ console }: Pick<Visit, 'console'>, place: string): string {
  return place === '' ? console.address : `${console.address}/${place}`
}

/** Makes the response with the page of an error. */
export async function respondError(
  { stylesheet, pageSources, show, language }: PageContext<never>,
  status: number,
  code: PageErrorCode,
): Promise<HttpResponse> {
  return pageResponse(pageSources, status, await show.error({ ...describeError(language, code), stylesheet }))
}
