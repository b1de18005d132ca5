/**
 * The page on which users see the applications that they permitted something, and revoke their access.
 * @module
 */

import type { OAuthError } from '../core/errors.js'
import { isOAuthError } from '../core/errors.js'
import { shownName } from '../core/text.js'
import type { Grants } from '../management/grants/interface.js'
import { notAccessible } from '../protocol/authorization.js'
import { ENDPOINT_PATHS } from '../protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { queryOf } from '../protocol/message.js'
import type { FormBinding } from '../protocol/pages/form-binding.js'
import { FORM_FIELDS } from '../protocol/pages/form-binding.js'
import { pageResponse, redirectResponse } from '../protocol/pages/page.js'
import { bodyParameters, parseParameters, valuesIn } from '../protocol/parameters.js'
import type { User } from '../shell/options.js'
import type { ResourceNames } from './applications-page/model.js'
import { APPLICATIONS_SHOWN, describeApplication, takeFitting } from './applications-page/model.js'
import { loadLogos, loadPermitted } from './applications-page/permitted.js'
import type { PageAnswer, PageContext, ServerContext } from './interaction/context.js'
import { pageEndpoint, showError } from './interaction/error-page.js'
import type { FormBinder, HiddenField } from './interaction/forms.js'
import { createFormBinder, verifyForm } from './interaction/forms.js'
import { readResources } from './interaction/resources.js'
import { describeUser, readUser, sendToSignIn } from './interaction/sign-in.js'

/** A form of the page as it was sent. */
interface SentForm {
  readonly clientId: string
  readonly token: string | undefined
}

/** The parameter of every page but the first: the number of applications that come before it. */
const FROM = 'from'

/** Makes the endpoint of the applications page: `GET` shows it, `POST` takes one of its forms. */
export function applicationsPageEndpoint<Native>(server: ServerContext<Native>, grants: Grants): PageAnswer<Native> {
  return pageEndpoint(server, 'applications', (context, request) =>
    request.method === 'POST' ? revokeAccess(context, grants, request) : showApplications(context, request),
  )
}

/** Answers `GET`: shows the applications, and what each was permitted. */
async function showApplications<Native>(
  context: PageContext<Native>,
  request: HttpRequest<Native>,
): Promise<HttpResponse> {
  const user = await readUser(context, request)
  if (user === undefined) return sendToSignIn(context, request, 'applications', '')
  const { applications, more, isIncomplete } = await loadPermitted(context, user.subject)
  const from = parseFrom(request, applications.length)
  const asked = applications.slice(from, from + APPLICATIONS_SHOWN)
  const logos = await loadLogos(context, asked)
  const names = await readResourceNames(context, user)
  const binder = createFormBinder(context, request, user)
  const shown = takeFitting(
    asked.map((each) => {
      const form = { action: actionOf(context), fields: revokeFields(binder, each.clientId) }
      return describeApplication(context, each, logos.get(each.clientId), names, form)
    }),
  )
  const behind = from + shown.length
  const model = {
    user: describeUser(context, user, 'applications', ''),
    applications: shown,
    stylesheet: context.stylesheet,
    ...(behind < applications.length && { next: `${actionOf(context)}?${FROM}=${behind}` }),
    more,
    ...(isIncomplete && { isIncomplete }),
  }
  return pageResponse(context.pageSources, 200, await context.show.authorizedApplications(model), [], binder.headers)
}

/** Answers `POST`: revokes the access of one application. */
async function revokeAccess<Native>(
  context: PageContext<Native>,
  grants: Grants,
  request: HttpRequest<Native>,
): Promise<HttpResponse> {
  const sent = parseForm(request)
  if (isOAuthError(sent)) return showError(context, 'applications', sent)
  const user = await readUser(context, request)
  if (user === undefined) return sendToSignIn(context, request, 'applications', '')
  const { clientId, token } = sent
  if (verifyForm(context, request, user, revokeFormOf(clientId), token) === undefined)
    return showError(context, 'applications', notAccessible('consent_invalid'))
  await grants.revokeAll(user.subject, { clientId })
  // A path: where the browser knows this server by another host, `form-action` would block a redirect to the issuer's.
  return redirectResponse(actionOf(context))
}

/** Parses a form of the page. */
function parseForm(request: HttpRequest): SentForm | OAuthError {
  const form = bodyParameters(request)
  if (isOAuthError(form)) return form
  const fields = valuesIn(form, [FORM_FIELDS.clientId, FORM_FIELDS.consent])
  return isOAuthError(fields) ? fields : { clientId: fields.client_id ?? '', token: fields.consent }
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

/** Makes the hidden fields of the form that revokes an application's access. */
function revokeFields(binder: FormBinder, clientId: string): readonly HiddenField[] {
  return [{ name: FORM_FIELDS.clientId, value: clientId }, binder.field(revokeFormOf(clientId))]
}

/** Returns what a form of the page is bound to, besides its user and browser. */
function revokeFormOf(clientId: string): FormBinding['shown'] {
  return ['revoke', clientId]
}

function actionOf({ issuerPath }: PageContext<never>): string {
  return issuerPath + ENDPOINT_PATHS.applications
}
