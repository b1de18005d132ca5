/**
 * The two ways to answer an authorization request with an error: a page for the user, or a redirect to the application.
 * @module
 * @see RFC 6749, section 4.1.2.1
 */

import type { Application } from '../../core/application/application.js'
import { ownOf } from '../../core/values.js'
import type { ErrorPageModel } from '../../pages/index.js'
import { faultText } from '../../pages/index.js'
import type { RedirectedError, RefusedLink } from '../../protocol/authorization.js'
import { authorizationResponse, notAccessible } from '../../protocol/authorization.js'
import type { HttpResponse } from '../../protocol/message.js'
import type { User } from '../../shell/options.js'
import type { PageContext } from '../interaction/context.js'
import { describeWayBack, showError } from '../interaction/error-page.js'

/** Shows an error to the user, and notes it in the audit trail with what is known of the application. */
export function showLinkError(
  context: PageContext<never>,
  error: RefusedLink,
  shown?: Pick<ErrorPageModel, 'detail' | 'application'>,
): Promise<HttpResponse> {
  return showError(context, 'authorization', error, error, shown)
}

/** Shows an error to the user, and to the applicant of the application which parameter is wrong, too. */
export function explainLinkError(
  context: PageContext<never>,
  user: User | undefined,
  error: RefusedLink,
  application?: Application,
): Promise<HttpResponse> {
  const detail = describeDetail(context, user, error)
  return showLinkError(context, error, { ...describeWayBack(application), ...(detail && { detail }) })
}

/** Describes the wrong parameter of a link to the applicant of its application; undefined for any other user, and for nobody. */
function describeDetail(
  { language }: PageContext<never>,
  user: User | undefined,
  error: RefusedLink,
): ErrorPageModel['detail'] {
  const { detail } = ownOf(error)
  if (user === undefined || detail?.applicant !== user.subject) return undefined
  const { parameter, code, values } = detail
  return { parameter, rule: faultText(language, { code, values }) }
}

/** Redirects the browser to the application with an error. */
export function redirectError(
  { issuer, reportRefusal }: PageContext<never>,
  { error, application, ...to }: Omit<RedirectedError, 'type'>,
): HttpResponse {
  reportRefusal('authorization', error.reason, error.code, { clientId: application.clientId })
  return authorizationResponse(to, error, issuer)
}

/**
 * Answers a request with a wrong parameter. The application is told only where a user is signed in, so that a link alone
 * never sends a stranger's browser on.
 * @see Specification, sections 4.1 and 7; RFC 9700, section 4.11.2
 */
export async function answerFault(
  context: PageContext<never>,
  asked: RedirectedError,
  user: User | undefined,
): Promise<HttpResponse> {
  if (user !== undefined) return redirectError(context, asked)
  const { application, error } = asked
  return showLinkError(
    context,
    { ...notAccessible(error.reason), clientId: application.clientId },
    describeWayBack(application),
  )
}
