/**
 * Endpoints that pages of other origins call: the token, revocation and device authorization endpoints.
 * @module
 * @see Fetch, section 3.3 (CORS protocol)
 */
import type { Application } from '../../core/application/application.js'
import type { RegistrationDetails } from '../../core/application/registration.js'
import type { Origin } from '../../core/url.js'
import { mayRead, originOf } from '../../protocol/cors/readers.js'
import { endpointPreflight, readableBy } from '../../protocol/cors/response.js'
import type { HttpRequest, HttpResponse } from '../../protocol/message.js'
import type { Settings } from '../../shell/options/settings.js'

/** Tells which application a request turned out to mean, as the endpoint loaded it. */
export type FoundApplication = (
  application: Application | Pick<RegistrationDetails, 'redirectUris'> | undefined,
) => void

/** Answers a request, and tells the application once it is loaded. */
type Answer<Native> = (request: HttpRequest<Native>, found: FoundApplication) => Promise<HttpResponse>

/**
 * Makes an endpoint whose answers, errors too, the pages of the client can read. Any other page gets the same answer and cannot
 * read it. The answer comes before the decision on its headers, so `Origin` changes nothing else, and no record is read for it.
 */
export function readableEndpoint<Native>(
  settings: Settings<never>,
  answer: Answer<Native>,
  methods = 'POST',
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  const { corsOrigins, redirect } = settings
  if (corsOrigins === false) return (request) => answer(request, ignore)

  async function answerPage(
    request: HttpRequest<Native>,
    origin: Origin,
    added: ReadonlySet<Origin>,
  ): Promise<HttpResponse> {
    let redirectUris: readonly string[] = []
    const response = await answer(request, (application) => {
      redirectUris = redirectUrisOf(application)
    })
    return mayRead(origin, redirectUris, added, redirect) ? readableBy(origin, response) : response
  }

  return (request) => {
    const origin = originOf(request.headers)
    // No other `OPTIONS` comes as far as here.
    if (request.method === 'OPTIONS') return Promise.resolve(endpointPreflight(origin, methods))
    return origin === undefined ? answer(request, ignore) : answerPage(request, origin, corsOrigins)
  }
}

/** Returns the redirect URIs of an application; none for one that nobody approved. */
function redirectUrisOf(found: Parameters<FoundApplication>[0]): readonly string[] {
  const isFound = found !== undefined && Object.hasOwn(found, 'redirectUris')
  return isFound ? (found as Pick<RegistrationDetails, 'redirectUris'>).redirectUris : [] // it has some of its own
}

function ignore(): void {}
