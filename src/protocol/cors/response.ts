/**
 * The headers that let a page of another origin read an answer, and the answers to preflights. None permits credentials: with
 * the option `include`, a browser refuses them all.
 * @module
 * @see Fetch, sections 3.3.3 (HTTP responses) and 4.10 (CORS check)
 */
import type { Origin } from '../../core/url.js'
import type { HttpResponse } from '../message.js'

/** Seconds that a browser may keep the answer to a preflight. Chromium keeps none longer. */
const MAX_AGE = '7200'

/** Lets every page read a document. It is the same for all of them, so a cache may keep one copy. */
export function readableByAll(response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, 'Access-Control-Allow-Origin': '*' } }
}

/** Lets the pages of one origin read an answer, with the headers that tell a client what to do next. */
export function readableBy(origin: Origin, response: HttpResponse): HttpResponse {
  const headers = {
    ...response.headers,
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'WWW-Authenticate, Retry-After',
    Vary: 'Origin',
  }
  return { ...response, headers }
}

/** The answer to a preflight of a document: any page may ask for it, whatever headers its library adds. */
export const DOCUMENT_PREFLIGHT: HttpResponse = {
  status: 204,
  headers: {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': 'GET, HEAD',
    'Access-Control-Allow-Headers': '*',
    'Access-Control-Max-Age': MAX_AGE,
  },
  body: '',
}

/**
 * Answers a preflight of an endpoint.
 *
 * A preflight does not say which client will ask, so every http and https page is told that it may ask. That is safe for three
 * reasons. The endpoints read no cookies, and no credentials are permitted, so a page can ask nothing that its author could not ask
 * without a browser. The answer itself has the header only for an origin of its client, so a foreign page cannot read it. And a form
 * of any page can send the same request today, without a preflight.
 * @param origin - of the page; undefined where it is none, such as `null`, which is told nothing
 * @param methods - of the endpoint
 */
export function endpointPreflight(origin: Origin | undefined, methods: string): HttpResponse {
  const permitted = origin !== undefined && {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': 'authorization, content-type',
    'Access-Control-Max-Age': MAX_AGE,
  }
  return { status: 204, headers: { Vary: 'Origin', ...permitted }, body: '' }
}
