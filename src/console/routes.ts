/**
 * The way from a request to its page: who may see it, and what answers.
 * @module
 */
import { oauthError } from '../core/errors.js'
import { contextOf } from '../endpoints/interaction/context.js'
import { readUser, sendToSignInAndBack } from '../endpoints/interaction/sign-in.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { errorResponse, queryOf, withAllow } from '../protocol/message.js'
import { redirectResponse } from '../protocol/pages/page.js'
import type { User } from '../shell/options.js'
import { applicationPage, sendAction } from './applicant/application.js'
import { applicationList } from './applicant/list.js'
import { changeForm, handInChange, handInNew, newForm } from './applicant/registration.js'
import { errorCodeOf } from './errors.js'
import { logoResponse } from './logo.js'
import { reviewPage, sendReview } from './review/application.js'
import { queuePage } from './review/queue.js'
import { resourceServersPage, sendResourceServer } from './review/resource-servers.js'
import type { ConsoleContext, Visit } from './visit.js'
import { addressOf, createVisit, pathOf, respondError } from './visit.js'

type Answer = HttpResponse<string | Uint8Array>

/** A page: shows itself, and takes its forms if it has some. */
interface Page {
  readonly show: (visit: Visit) => Promise<Answer>
  readonly send?: (visit: Visit) => Promise<Answer>
}

const ADMINISTRATION = 'administration'

/** Finds the page at a place; undefined where there is none. */
function findPage(place: string): Page | undefined {
  const [first, second, third, fourth, ...rest] = place.split('/')
  if (rest.length > 0) return undefined
  if (first === ADMINISTRATION) return findAdministrationPage(second, third, fourth)
  if (first === '' && second === undefined) return { show: applicationList }
  if (first === 'new' && second === undefined) return { show: newForm, send: handInNew }
  const id = first === 'applications' && second !== undefined ? decoded(second) : undefined
  if (id === undefined) return undefined
  if (third === undefined)
    return { show: (visit) => applicationPage(visit, id), send: (visit) => sendAction(visit, id) }
  if (third === 'logo' && fourth !== undefined) return { show: (visit) => logoResponse(visit, id, fourth) }
  if (third !== 'edit' || fourth !== undefined) return undefined
  return { show: (visit) => changeForm(visit, id), send: (visit) => handInChange(visit, id) }
}

function findAdministrationPage(
  second: string | undefined,
  third: string | undefined,
  fourth: string | undefined,
): Page | undefined {
  if (second === undefined) return { show: queuePage }
  if (second === 'resource-servers' && third === undefined)
    return { show: resourceServersPage, send: sendResourceServer }
  const id = second === 'applications' && third !== undefined && fourth === undefined ? decoded(third) : undefined
  if (id === undefined) return undefined
  return { show: (visit) => reviewPage(visit, id), send: (visit) => sendReview(visit, id) }
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** Answers a request to a page. Never rejects. */
export async function answerRequest<Native>(
  console: ConsoleContext<Native>,
  request: HttpRequest<Native>,
  place: string,
): Promise<Answer> {
  const context = await contextOf(console.pages, request, queryOf(request.url))
  const page = findPage(place)
  if (page === undefined) return respondError(context, 404, 'notFound')
  const methods = page.send === undefined ? ['GET', 'HEAD'] : ['GET', 'HEAD', 'POST']
  if (!methods.includes(request.method)) return methodNotAllowed(methods)
  try {
    const visit = await enter(console, context, request, place)
    if (!('user' in visit)) return visit
    return await (request.method === 'POST' && page.send !== undefined ? page.send(visit) : page.show(visit))
  } catch (error) {
    // The host was already told where the store failed.
    if (errorCodeOf(error) === 'ERR_STORE') return respondError(context, 503, 'busy')
    context.onError(error)
    return respondError(context, 500, 'busy')
  }
}

function methodNotAllowed(methods: readonly string[]): HttpResponse {
  const error = oauthError('invalid_request', 'method_not_allowed', 'This method is not for this page.', {
    status: 405,
  })
  return withAllow(errorResponse(error), methods.join(', '))
}

/** Finds out who sends a request, and makes the visit; or the response to somebody who may not see the page. */
async function enter<Native>(
  console: ConsoleContext<Native>,
  context: Awaited<ReturnType<typeof contextOf<Native>>>,
  request: HttpRequest<Native>,
  place: string,
): Promise<Visit | HttpResponse> {
  const { applicant, administrator } = console
  const isForAdministrators = place === ADMINISTRATION || place.startsWith(`${ADMINISTRATION}/`)
  if (isForAdministrators && administrator === undefined) return respondError(context, 404, 'notFound')
  const asAdministrator =
    administrator === undefined ? undefined : await readUser({ ...context, user: administrator }, request)
  const visitOf = (user: User): Visit => {
    // What the pages work with does not touch the request of the platform.
    const parts = { console, context, request } as unknown as Pick<Visit, 'console' | 'context' | 'request'>
    return createVisit({ ...parts, user, isAdministrator: asAdministrator !== undefined, place })
  }
  if (isForAdministrators && asAdministrator !== undefined) return visitOf(asAdministrator)
  const asApplicant = await readUser({ ...context, user: applicant }, request)
  if (isForAdministrators && asApplicant !== undefined) return respondError(context, 403, 'forbidden')
  if (asApplicant !== undefined) return visitOf(asApplicant)
  if (asAdministrator !== undefined) return redirectResponse(pathOf(visitOf(asAdministrator), ADMINISTRATION))
  const query = queryOf(request.url)
  const back = request.method === 'POST' || query === '' ? place : `${place}?${query}`
  return sendToSignInAndBack(context, request, addressOf({ console: visitOf({ subject: '' }).console }, back))
}
