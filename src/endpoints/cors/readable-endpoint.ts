/**
 * Endpoints that pages of other origins call: the token, revocation and device authorization endpoints.
 * @module
 * @see Fetch, section 3.3 (CORS protocol)
 */
import type { Application } from '../../core/application/application.js'
import { isPublished } from '../../core/application/application.js'
import { mayRead, originOf } from '../../protocol/cors/readers.js'
import { endpointPreflight, readableBy } from '../../protocol/cors/response.js'
import type { HttpRequest, HttpResponse } from '../../protocol/message.js'
import type { Settings } from '../../shell/options/settings.js'

/** Tells which application a request turned out to mean, as the endpoint loaded it. */
export type FoundApplication = (application: Application | undefined) => void

/** Answers a request, and tells the application once it is loaded. */
type Answer<Native> = (request: HttpRequest<Native>, found: FoundApplication) => Promise<HttpResponse>

/**
 * Makes an endpoint whose answers, errors too, the pages of the client can read. Any other page gets the same answer and cannot
 * read it. The answer comes before the decision on its headers, so `Origin` changes nothing else, and no record is read for it.
 */
export function readableEndpoint<Native>(
  { corsOrigins, redirect }: Settings<never>,
  answer: Answer<Native>,
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  if (corsOrigins === false) return (request) => answer(request, () => {})
  return async (request) => {
    const origin = originOf(request.headers)
    if (request.method === 'OPTIONS') return endpointPreflight(origin)
    let redirectUris: readonly string[] = []
    const response = await answer(request, (application) => {
      redirectUris = isPublished(application) ? application.redirectUris : []
    })
    return origin !== undefined && mayRead(origin, redirectUris, corsOrigins, redirect)
      ? readableBy(origin, response)
      : response
  }
}
