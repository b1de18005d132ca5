/**
 * The page on which users see the applications that they permitted something, and revoke their access.
 * @module
 */

import { isOAuthError } from '../core/errors.js'
import { shownName } from '../core/text.js'
import type { AuthorizedApplicationsPageModel } from '../pages/index.js'
import { countedText } from '../pages/index.js'
import { notAccessible } from '../protocol/authorization.js'
import { ENDPOINT_PATHS } from '../protocol/endpoint-paths.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { queryOf } from '../protocol/message.js'
import { pageResponse } from '../protocol/pages/page.js'
import { parseParameters } from '../protocol/parameters.js'
import type { User } from '../shell/options.js'
import type { ChoosableApplication, ResourceNames } from './applications-page/model.js'
import { APPLICATIONS_SHOWN, describeApplication, takeFitting } from './applications-page/model.js'
import { loadLogos, loadPermitted } from './applications-page/permitted.js'
import { fieldsOfChosen, fieldsOfOne, parseForm, revokeAll } from './applications-page/revocation.js'
import type { PageAnswer, PageContext, ServerContext } from './interaction/context.js'
import { pageEndpoint, showError } from './interaction/error-page.js'
import type { FormBinder } from './interaction/forms.js'
import { createFormBinder, verifyForm } from './interaction/forms.js'
import { readResources } from './interaction/resources.js'
import { describeUser, readUser, sendToSignIn } from './interaction/sign-in.js'

/** The words about the form that was just sent: what was done, or why nothing was. */
type Told = Pick<AuthorizedApplicationsPageModel, 'notice' | 'fault'>

/** The parameter of every page but the first: the number of applications that come before it. */
const FROM = 'from'

/** Makes the endpoint of the applications page: `GET` shows it, `POST` takes one of its forms. */
export function applicationsPageEndpoint<Native>(server: ServerContext<Native>): PageAnswer<Native> {
  return pageEndpoint(server, 'applications', (context, request) =>
    request.method === 'POST' ? revokeAccess(context, request) : askForPage(context, request),
  )
}

/** Answers `GET`: shows the page to the user who is signed in. */
async function askForPage<Native>(context: PageContext<Native>, request: HttpRequest<Native>): Promise<HttpResponse> {
  const user = await readUser(context, request)
  if (user === undefined) return sendToSignIn(context, request, 'applications', '')
  return showApplications(context, request, user, 200, {})
}

/**
 * Answers `POST`: revokes the access of one application or of the chosen ones, and shows the page with what was done. A redirect to the
 * page could say it only by the address, and then any link could.
 */
async function revokeAccess<Native>(context: PageContext<Native>, request: HttpRequest<Native>): Promise<HttpResponse> {
  const sent = parseForm(request)
  if (isOAuthError(sent)) return showError(context, 'applications', sent)
  const user = await readUser(context, request)
  if (user === undefined) return sendToSignIn(context, request, 'applications', '')
  const { clientIds, shown, token } = sent
  // The form of a page has no more checkboxes.
  if (clientIds.size > APPLICATIONS_SHOWN || verifyForm(context, request, user, shown, token) === undefined)
    return showError(context, 'applications', notAccessible('consent_invalid'))
  const { language } = context
  if (clientIds.size === 0)
    return showApplications(context, request, user, 400, { fault: language.texts['applications.chooseOne'] })
  await revokeAll(context, user, clientIds)
  // The number that was sent, so that a form that comes twice says the same.
  const notice = countedText(language, 'applications.revoked', clientIds.size)
  return showApplications(context, request, user, 200, { notice })
}

/** Shows the applications, and what each was permitted. */
async function showApplications<Native>(
  context: PageContext<Native>,
  request: HttpRequest<Native>,
  user: User,
  status: number,
  told: Told,
): Promise<HttpResponse> {
  const { applications, more, isIncomplete } = await loadPermitted(context, user.subject)
  const from = parseFrom(request, applications.length)
  const asked = applications.slice(from, from + APPLICATIONS_SHOWN)
  const logos = await loadLogos(context, asked)
  const names = await readResourceNames(context, user)
  const binder = createFormBinder(context, request, user)
  const action = addressFrom(context, from)
  const shown = takeFitting(
    asked.map((each) => {
      const form = { action, fields: fieldsOfOne(binder, each.clientId) }
      return describeApplication(context, each, logos.get(each.clientId), names, form)
    }),
  )
  const behind = from + shown.length
  const model = {
    user: describeUser(context, user, 'applications', ''),
    ...offerChoice(binder, action, shown),
    stylesheet: context.stylesheet,
    ...(behind < applications.length && { next: addressFrom(context, behind) }),
    more,
    ...(isIncomplete && { isIncomplete }),
    ...told,
  }
  const html = await context.show.authorizedApplications(model)
  return pageResponse(context.pageSources, status, html, [], binder.headers)
}

/** Adds the form of several applications; without a second one there is nothing to choose. */
function offerChoice(
  binder: FormBinder,
  action: string,
  shown: readonly ChoosableApplication[],
): Pick<AuthorizedApplicationsPageModel, 'applications' | 'choiceForm'> {
  return shown.length > 1
    ? { applications: shown, choiceForm: { action, fields: fieldsOfChosen(binder) } }
    : { applications: shown.map(({ choice: _, ...application }) => application) }
}

/** Parses the number of applications that come before the page that is asked for; 0 for anything else. */
function parseFrom({ url }: HttpRequest, count: number): number {
  const parameters = parseParameters(queryOf(url))
  const text = isOAuthError(parameters) ? undefined : parameters.get(FROM)
  const from = typeof text === 'string' && /^\d{1,5}$/.test(text) ? Number(text) : 0
  // An empty page would say that no application has access.
  return from < count ? from : 0
}

/** Reads the names of what a user can specify; none where the host fails, since that must keep nobody from revoking access. */
async function readResourceNames(context: PageContext<never>, user: User): Promise<ResourceNames> {
  try {
    return new Map((await readResources(context, user)).map(({ id, name }) => [id, shownName(name, id)]))
  } catch (error) {
    context.onError(error)
    return new Map()
  }
}

/** Returns the address of the page that begins behind some applications. Its forms come back to it. */
function addressFrom({ issuerPath }: PageContext<never>, from: number): string {
  const path = issuerPath + ENDPOINT_PATHS.applications
  return from === 0 ? path : `${path}?${FROM}=${from}`
}
