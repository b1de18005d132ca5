/**
 * The request that follows a redirect, by the rules of `fetch`.
 *
 * The platform does not follow redirects here, since platforms differ in one thing that matters: some send a header that the
 * caller has set, such as `Authorization`, to another origin.
 * @module
 * @see Fetch standard, "HTTP-redirect fetch"
 */
import { isLoopback } from '../../core/application/redirect-uri.js'
import { parseUrl } from '../../core/url.js'
import { MAX_LOCATION } from '../http/address.js'

/** A request in a chain of redirects. */
export interface Step {
  readonly method: string
  readonly url: URL
  /** Without `Authorization`. */
  readonly headers: Headers
  /** True if it has the caller's body. */
  readonly hasBody: boolean
}

/** The number of redirects that are followed. */
export const MAX_REDIRECTS = 20

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Headers that describe a body. */
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-location', 'content-type', 'content-length']

/** Headers for one origin only. */
const ORIGIN_HEADERS = ['cookie', 'host', 'proxy-authorization']

/**
 * Returns the request that follows an answer; undefined if the answer is no redirect.
 * @param isRepeatable - true if the body can be sent again, or there is none
 * @throws TypeError for a redirect that cannot be followed, as `fetch` does
 */
export function nextStep(step: Step, { status, headers }: Response, isRepeatable: boolean): Step | undefined {
  const location = REDIRECTS.has(status) ? headers.get('location') : null
  if (location === null) return undefined
  const url = readLocation(location, step.url)
  if (status !== 303 && step.hasBody && !isRepeatable)
    throw new TypeError('fetch failed: the answer is a redirect, and the body is a stream that cannot be sent again')
  const isPost = step.method === 'POST'
  const isSafe = step.method === 'GET' || step.method === 'HEAD'
  const becomesGet = status === 303 ? !isSafe : isPost && (status === 301 || status === 302)
  const next = new Headers(step.headers)
  if (becomesGet) remove(next, BODY_HEADERS)
  if (url.origin !== step.url.origin) remove(next, ORIGIN_HEADERS)
  return {
    method: becomesGet ? 'GET' : step.method,
    url,
    headers: next,
    hasBody: step.hasBody && !becomesGet,
  }
}

/** Reads the address that an answer redirects to. */
export function readLocation(location: string, base: URL): URL {
  if (location.length > MAX_LOCATION)
    throw new TypeError(`fetch failed: the answer redirects to an address of more than ${MAX_LOCATION} bytes`)
  const text = decoded(location)
  const url = parseUrl(text, base)
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw new TypeError('fetch failed: the answer redirects to an address that is none of the web')
  if (url.username !== '' || url.password !== '')
    throw new TypeError('fetch failed: the answer redirects to an address with a user in it')
  if (base.protocol === 'https:' && url.protocol === 'http:' && !isLoopback(url.hostname, true))
    throw new TypeError(`fetch failed: the answer redirects from https to ${url.origin}, where others could read along`)
  return url
}

/** Decodes an address as UTF-8. A platform gives the bytes of a header as one character each. */
function decoded(location: string): string {
  const isBytes = /[\x80-\xff]/.test(location) && !/[^\0-\xff]/.test(location)
  return isBytes ? new TextDecoder().decode(Uint8Array.from(location, (one) => one.charCodeAt(0))) : location
}

function remove(headers: Headers, names: readonly string[]): void {
  for (const name of names) headers.delete(name)
}
