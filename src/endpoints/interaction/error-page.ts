/**
 * The page for a request that failed, and the guard that shows it where a function of the host or the store throws.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import { isResourceServer } from '../../core/application/application.js'
import { checkedAtOf } from '../../core/application/self-registered/life.js'
import type { OAuthError, RefusalReason } from '../../core/errors.js'
import { GrantwellError, hostFailed } from '../../core/errors.js'
import { webAddress } from '../../pages/fragments.js'
import type { ErrorPageModel, Language, PageErrorCode } from '../../pages/index.js'
import type { HttpRequest, HttpResponse } from '../../protocol/message.js'
import { queryOf, retryAfter } from '../../protocol/message.js'
import { pageResponse } from '../../protocol/pages/page.js'
import type { RefusedAbout } from '../../shell/audit.js'
import { unavailable } from '../../shell/records/checked-store.js'
import type { PageAnswer, PageContext, PageEndpoint, ServerContext } from './context.js'
import { contextOf } from './context.js'

const FORM_INVALID: { readonly [Endpoint in PageEndpoint]: PageErrorCode } = {
  authorization: 'consentForm',
  device: 'deviceForm',
  applications: 'applicationsForm',
}

/** The errors of which the user is told more than that the link cannot be accessed. */
const CODES = new Map<RefusalReason, PageErrorCode>([
  ['client_not_approved', 'notApproved'],
  ['client_refused', 'clientRefused'],
  ['host_refused', 'hostRefused'],
  ['client_metadata_unavailable', 'clientUnreadable'],
])

/**
 * Shows the page for an error, and notes the error in the audit trail.
 * @param more - what the audit trail is told besides
 * @param shown - what the user is told besides
 */
export function showError(
  context: PageContext<never>,
  endpoint: PageEndpoint,
  error: OAuthError,
  { clientId, rule, redirectUri }: Pick<RefusedAbout, 'clientId' | 'rule' | 'redirectUri'> = {},
  shown: Pick<ErrorPageModel, 'detail' | 'application'> = {},
): Promise<HttpResponse> {
  context.reportRefusal(endpoint, error.reason, error.code, { clientId, rule, redirectUri })
  return errorPage(context, endpoint, error, shown)
}

async function errorPage(
  { show, language, stylesheet, pageSources }: PageContext<never>,
  endpoint: PageEndpoint,
  error: OAuthError,
  shown: Pick<ErrorPageModel, 'detail' | 'application'> = {},
): Promise<HttpResponse> {
  const code = codeOf(endpoint, error)
  const { application: _, ...others } = shown
  // Somebody whom a busy service asks to try again stays here; and an application may have been stopped since its link was checked.
  const mayLeave = code !== 'busy' && error.reason !== 'client_suspended'
  const model = { ...describeError(language, code), stylesheet, ...(mayLeave ? shown : others) }
  return pageResponse(pageSources, error.status, await show.error(model), [], retryAfter(error))
}

/**
 * Describes the application that a page may lead back to: administrators approved what it says of itself, and have not stopped it. A link
 * alone can show such a page. For any other application, it would show a stranger's choice of name and website on this origin.
 */
export function describeWayBack(application: Application | undefined): Pick<ErrorPageModel, 'application'> {
  if (application?.state !== 'approved' || checkedAtOf(application) === undefined) return {}
  // No user comes from an API.
  if (isResourceServer(application)) return {}
  const { name, website } = application
  return webAddress(website) === undefined ? {} : { application: { name, website } }
}

function codeOf(endpoint: PageEndpoint, { code, reason }: OAuthError): PageErrorCode {
  if (code === 'temporarily_unavailable' || code === 'server_error') return 'busy'
  return reason === 'consent_invalid' ? FORM_INVALID[endpoint] : (CODES.get(reason) ?? 'link')
}

/** Says in the user's language what went wrong. */
export function describeError({ texts }: Language, code: PageErrorCode): Omit<ErrorPageModel, 'stylesheet'> {
  const isForm = code === 'consentForm' || code === 'deviceForm' || code === 'applicationsForm'
  return { code, title: texts[`error.${isForm ? 'link' : code}Title`], message: texts[`error.${code}`] }
}

/** Answers a request in the context of its reader's language. */
type AnswerInContext<Native> = (context: PageContext<Native>, request: HttpRequest<Native>) => Promise<HttpResponse>

/**
 * Makes an endpoint with pages: where a function of the host or the store fails in it, the answer is a page, too.
 * @param languageQuery - returns the query that may name languages; that of the request by default
 */
export function pageEndpoint<Native>(
  server: ServerContext<Native>,
  endpoint: PageEndpoint,
  answer: AnswerInContext<Native>,
  languageQuery: (request: HttpRequest<Native>) => string = ({ url }) => queryOf(url),
): PageAnswer<Native> {
  return async (request) => {
    const context = await contextOf(server, request, languageQuery(request))
    const page = await answerOrExplain(context, request, endpoint, answer)
    const isWritten = await context.trail.isWritten(request)
    return isWritten ? page : errorPage(context, endpoint, unavailable('audit_failed'))
  }
}

async function answerOrExplain<Native>(
  context: PageContext<Native>,
  request: HttpRequest<Native>,
  endpoint: PageEndpoint,
  answer: AnswerInContext<Native>,
): Promise<HttpResponse> {
  try {
    return await answer(context, request)
  } catch (error) {
    // The host was already told where the store failed.
    if (error instanceof GrantwellError && error.code === 'ERR_STORE')
      return showError(context, endpoint, unavailable('store_failed'))
    context.onError(error)
    return showError(context, endpoint, hostFailed())
  }
}
