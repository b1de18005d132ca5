/**
 * `fetch` with the user's token.
 * @module
 * @see RFC 6750, sections 2.1 and 3.1
 */
import { isLoopback } from '../../core/application/redirect-uri.js'
import type { Takes } from '../../core/takes.js'
import { came, FUNCTION, isObject } from '../../core/takes.js'
import { configurationError } from '../errors.js'
import { parseAddress } from '../http/address.js'
import type { OptionChecks } from '../options.js'
import { checkArgument, readOptions } from '../options.js'
import type { TokenSource } from '../tokens/token-source.js'
import { clockOf } from '../tokens/token-source.js'
import type { CallerRequest, FetchSettings } from './authorized-call.js'
import { startCall } from './authorized-call.js'
import { refusalsOf } from './refusals.js'
import type { Init, Input } from './sending.js'
import { prepareSending, readInit } from './sending.js'

/** Options of {@link authorizedFetch}. */
export interface AuthorizedFetchOptions {
  /**
   * Origins to which the token may go besides the issuer's own, such as `https://api.example`. `http` is allowed only on
   * loopback.
   */
  readonly origins?: readonly string[]
  /** The function that sends requests; the platform's by default. */
  readonly fetch?: typeof fetch
}

/**
 * Creates a `fetch` that adds the token of a source. After a 401 it asks the source for other tokens and sends the request
 * once more. The caller gets the 401 if the second answer is one too, if the service cannot be reached, or if other tokens
 * did not help within the last minute. A request whose body is a stream cannot be sent again: the caller gets its 401, and
 * the next request has the new token. The body of a `Request` can, since a copy is kept until the answer is there.
 *
 * It follows up to 20 redirects, unless the caller says otherwise. The token goes to allowed origins, until a redirect leads
 * to another origin. It never follows a redirect from https to http, except on loopback. With tokens of the type `mac` it
 * signs each request with the client's clock or, if that is wrong, with the time that the guard told for this request,
 * authenticated by the key of the token. It signs no request that a redirect leads to, since answers are not signed.
 *
 * It throws the errors of the source. Before it sends anything, it throws {@link ClientError} `ERR_CONFIGURATION` for a
 * request to an origin that may not have the token, or with an `Authorization` header of its own.
 * @throws ClientError `ERR_CONFIGURATION` for a wrong option
 * @example
 * ```ts
 * const api = authorizedFetch(source, { origins: ['https://api.example'] })
 * const response = await api('https://api.example/user')
 * ```
 */
export function authorizedFetch(source: TokenSource, options: AuthorizedFetchOptions = {}): typeof globalThis.fetch {
  checkArgument('authorizedFetch', 'source', SOURCE, source)
  const { origins = [], fetch = globalThis.fetch } = readOptions<AuthorizedFetchOptions>(
    'authorizedFetch',
    options,
    OPTIONS,
  )
  const settings: FetchSettings = {
    source,
    fetch,
    allowed: new Set([new URL(source.issuer).origin, ...origins].map(readOrigin)),
    now: clockOf(source),
    refusals: refusalsOf(source),
  }
  return async (input, init) => {
    const request = readRequest(settings, input, readInit(init))
    try {
      return await startCall(settings, request)
    } finally {
      request.sending.release()
    }
  }
}

const OPTIONS: OptionChecks<AuthorizedFetchOptions> = {
  origins: {
    words: "a list of origins such as 'https://api.example'",
    fits: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  },
  fetch: FUNCTION,
}

const SOURCE: Takes = {
  words: 'a token source, as createTokenSource() makes it',
  fits: (value) =>
    isObject(value) && typeof value['get'] === 'function' && parseAddress(String(value['issuer'])) !== undefined,
}

/** Parses an allowed origin. It must be written as it is compared, so that nobody expects a path in it to be a limit. */
function readOrigin(text: string): string {
  const url = parseAddress(text)
  if (url === undefined || url.origin !== text.toLowerCase())
    throw configurationError(
      `authorizedFetch: each of origins must be an origin such as https://api.example; got ${came(text)}`,
    )
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname, true))) return url.origin
  throw configurationError(`the token may not go to ${url.origin}, where others on the network could read it`)
}

/** Reads the arguments of `fetch`, and checks that the request may have the token. */
function readRequest({ allowed }: FetchSettings, input: Input, init: Init): CallerRequest {
  const target = targetOf(input, init)
  const { origin } = target.url
  if (!allowed.has(origin))
    throw configurationError(`the token may not go to ${origin}: the option origins does not contain it`)
  const headers = headersOf(input, init)
  if (headers.has('authorization')) throw configurationError('the request has an Authorization header of its own')
  const given = input instanceof Request ? input : undefined
  const signal = init.signal === undefined ? given?.signal : init.signal
  // A copy of the arguments: the caller may change its objects after they were checked.
  const sending = prepareSending(input, target.url.href, { ...init, headers })
  return {
    sending,
    first: { ...target, headers, hasBody: sending.hasBody },
    // The platform sends no fragment, but a function that replaces `fetch` would see the fragment of a Request.
    isAsGiven: given === undefined || given.url === target.url.href,
    signal: signal ?? undefined, // null means none, even if the Request has a signal
    redirect: init.redirect ?? given?.redirect ?? 'follow',
  }
}

/** Returns the method and the address of a request, as the platform will send them. */
function targetOf(input: Input, { method }: Init): { readonly method: string; readonly url: URL } {
  const given = input instanceof Request ? input : undefined
  const request = new Request(given?.url ?? input, { method: method ?? given?.method ?? 'GET' })
  const url = new URL(request.url)
  // A fragment is never sent. If a handler gets its Request directly, the guard of signed requests would refuse it.
  url.hash = ''
  return { method: request.method, url }
}

/** Returns the headers of a request. Headers in the second argument replace all headers of a `Request`, as with `fetch`. */
function headersOf(input: Input, { headers }: Init): Headers {
  return new Headers(headers ?? (input instanceof Request ? input.headers : undefined))
}
