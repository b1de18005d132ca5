/**
 * The page for a request that failed, and the guard that shows it where a function of the host or the store throws.
 * @module
 */
import type { OAuthError, RefusalReason } from '../../core/errors.js'
import { GrantwellError, hostFailed } from '../../core/errors.js'
import type { ErrorPageModel } from '../../pages/index.js'
import { inaccessibleLink } from '../../pages/index.js'
import type { HttpResponse } from '../../protocol/message.js'
import { retryAfter } from '../../protocol/message.js'
import { pageResponse } from '../../protocol/pages/page.js'
import { unavailable } from '../../shell/records/checked-store.js'
import type { PageAnswer, PageContext, PageEndpoint } from './context.js'

const FORM_INVALID: { readonly [Endpoint in PageEndpoint]: string } = {
  authorization:
    'This form was sent before, is too old, or belongs to another session. Go back to the application and start again.',
  device: 'This form was sent before, is too old, or belongs to another session. Start again on your device.',
  applications: 'This form is too old, or belongs to another session. Nothing was changed. Open the page again.',
}

/** The words for reasons of which the user can be told more. */
const WORDS = new Map<RefusalReason, Readonly<Omit<ErrorPageModel, 'stylesheet'>>>([
  [
    'client_not_approved',
    {
      title: 'This application is not approved',
      message: 'It waits for the people who run this service, or they refused it. Nothing was shared. Try again later.',
    },
  ],
  [
    'client_refused',
    {
      title: 'This service does not take this application',
      message: 'Nothing was shared. If you think that it should, tell the people who run this service.',
    },
  ],
  [
    'client_metadata_unavailable',
    {
      title: 'This application cannot be read',
      message:
        'It did not say what it is, or said it wrong. Nothing was shared. Tell the people who run the application.',
    },
  ],
])

const BUSY = { title: 'The service is busy', message: 'Please try again in a moment.' } as const

/**
 * Shows the page for an error, and notes the error in the audit trail.
 * @param more - what the audit trail is told besides
 */
export function showError(
  { reportRefusal, pages, stylesheet }: PageContext<never>,
  endpoint: PageEndpoint,
  error: OAuthError,
  { clientId, rule }: { readonly clientId?: string; readonly rule?: string } = {},
): HttpResponse {
  reportRefusal(endpoint, error.reason, error.code, { clientId, rule })
  const busy = error.code === 'temporarily_unavailable' || error.code === 'server_error'
  const model = busy
    ? BUSY
    : (WORDS.get(error.reason) ?? {
        ...inaccessibleLink,
        ...(error.reason === 'consent_invalid' && { message: FORM_INVALID[endpoint] }),
      })
  return pageResponse(error.status, pages.error({ ...model, stylesheet }), [], retryAfter(error))
}

/** Guards an endpoint: where a function of the host or the store fails in it, the answer is a page. */
export function catchFailures<Native>(
  context: PageContext<Native>,
  endpoint: PageEndpoint,
  answer: PageAnswer<Native>,
): PageAnswer<Native> {
  return async (request) => {
    try {
      return await answer(request)
    } catch (error) {
      // The host was already told where the store failed.
      if (error instanceof GrantwellError && error.code === 'ERR_STORE') {
        return showError(context, endpoint, unavailable('store_failed'))
      }
      context.onError(error)
      return showError(context, endpoint, hostFailed())
    }
  }
}
