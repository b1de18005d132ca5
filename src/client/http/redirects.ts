/**
 * Where an answer redirects to, and what is sent there: as `fetch` decides it.
 *
 * It is not left to the platform, since platforms differ in the one thing that matters here: whether a header that was set by
 * hand, such as `Authorization`, goes along to another origin.
 * @module
 * @see Fetch standard, "HTTP-redirect fetch"
 */
import { isLoopback } from '../../core/application/redirect-uri.js'
import { MAX_LOCATION } from './address.js'

/** A request of a chain of redirects. */
export interface Step {
  readonly method: string
  readonly url: URL
  /** Without `Authorization`. */
  readonly headers: Headers
  /** Whether it has the caller's body. */
  readonly hasBody: boolean
}

/** How many redirects are followed. */
export const MOST_REDIRECTS = 20

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Headers that tell of a body. */
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-location', 'content-type', 'content-length']

/** Headers that are meant for one origin. */
const ORIGIN_HEADERS = ['cookie', 'host', 'proxy-authorization']

/**
 * What is to be sent after an answer; undefined where it is no redirect.
 * @param isRepeatable - whether the body, where there is one, can be sent again
 * @throws TypeError for a redirect that cannot be followed, as `fetch`
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
  const left = new Headers(step.headers)
  if (becomesGet) remove(left, BODY_HEADERS)
  if (url.origin !== step.url.origin) remove(left, ORIGIN_HEADERS)
  return {
    method: becomesGet ? 'GET' : step.method,
    url,
    headers: left,
    hasBody: step.hasBody && !becomesGet,
  }
}

function readLocation(location: string, base: URL): URL {
  if (location.length > MAX_LOCATION)
    throw new TypeError(`fetch failed: the answer redirects to an address of more than ${MAX_LOCATION} bytes`)
  const text = decoded(location)
  const url = URL.canParse(text, base.href) ? new URL(text, base) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw new TypeError('fetch failed: the answer redirects to an address that is none of the web')
  if (url.username !== '' || url.password !== '')
    throw new TypeError('fetch failed: the answer redirects to an address with a user in it')
  if (base.protocol === 'https:' && url.protocol === 'http:' && !isLoopback(url.hostname, true))
    throw new TypeError(`fetch failed: the answer redirects from https to ${url.origin}, where others could read along`)
  return url
}

/** A header is bytes, which platforms give as characters; an address that is not all ASCII is meant as UTF-8. */
function decoded(location: string): string {
  const isBytes = /[\x80-\xff]/.test(location) && !/[^\0-\xff]/.test(location)
  return isBytes ? new TextDecoder().decode(Uint8Array.from(location, (one) => one.charCodeAt(0))) : location
}

function remove(headers: Headers, names: readonly string[]): void {
  for (const name of names) headers.delete(name)
}
