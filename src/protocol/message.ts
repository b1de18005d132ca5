/**
 * HTTP messages as plain values, and the answers of the protocol in them.
 * @module
 * @see RFC 6749, sections 5.1 and 5.2; specification, sections 2.3, 2.4 and 4.4
 */
import type { OAuthError } from '../core/errors.js'

/**
 * A request. Adapters make it of what their platform has; `native` is that very thing, for the host's own functions
 * (its session lies there).
 */
export interface HttpRequest<Native = unknown> {
  /** In upper case. */
  readonly method: string
  /** Path and query, as in the request line. */
  readonly url: string
  /** Names in lower case; a list where the header came more than once. */
  readonly headers: HttpHeaders
  /**
   * The body: its text, or what an earlier middleware made of it; its bytes, where it is `multipart/form-data`; or that it went over the
   * limit and was not read, or that it cannot be read for a fault of the host, whose `onError` is told the error. Absent where there is
   * none, or where it was not read since nothing wants it.
   */
  readonly body?:
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'parsed'; readonly fields: unknown }
    | { readonly type: 'bytes'; readonly bytes: Uint8Array }
    | { readonly type: 'too_large' }
    | { readonly type: 'unreadable'; readonly error: unknown }
    | undefined
  /**
   * The address that the connection came from, read before the connection can be gone; `::` where it was gone already. Absent or undefined
   * where the platform does not tell.
   */
  readonly remoteAddress?: string | undefined
  /** The request of the platform. */
  readonly native: Native
}

/** Headers as Node has them: names in lower case. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** The body of a request that has one. */
export type HttpBody = Exclude<HttpRequest['body'], undefined>

/**
 * A response, complete: an adapter has only to send it. None has a header more than once, so a host can add its own.
 * The body is text, or bytes where it is an image.
 */
export interface HttpResponse<Body extends string | Uint8Array = string> {
  /** The status code. */
  readonly status: number
  /** The headers by their names. */
  readonly headers: Readonly<Record<string, string>>
  /** The body; empty where there is none. */
  readonly body: Body
}

/** Headers of every answer that holds a token or a code (specification, section 2.3). */
export const TOKEN_HEADERS = {
  'Content-Type': 'application/json;charset=UTF-8',
  'Cache-Control': 'no-store',
  Pragma: 'no-cache',
} as const

/** Headers of an error of the revocation endpoint, whose media type has no parameter (specification, section 4.4). */
export const REVOCATION_HEADERS: Readonly<Record<string, string>> = {
  ...TOKEN_HEADERS,
  'Content-Type': 'application/json',
} as const

/** Headers of an answer without a body. */
export const EMPTY_HEADERS = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const

/** A header's one value; undefined where it is absent, `repeated` where it came more than once. */
export function headerOf(headers: HttpHeaders, name: string): string | undefined | { readonly type: 'repeated' } {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  if (value === undefined || typeof value === 'string') return value
  return value.length > 1 ? { type: 'repeated' } : value[0]
}

/** The least that a platform's request has: Node's `IncomingMessage` and the fetch `Request` both do. */
export interface RequestLike {
  /** The headers, as the platform has them. */
  readonly headers: HttpHeaders | { get(name: string): string | null }
  /**
   * Every header as it came, names and values in turn, where the platform has them (Node). Without them, the second of two headers `Host` or
   * `Authorization` that a platform drops cannot be refused.
   */
  readonly rawHeaders?: readonly string[]
  /** Path and query, or a whole URL. */
  readonly url?: string | undefined
  /** The whole path and query, where a framework took a part of them away from `url` (Express, connect, Fastify). */
  readonly originalUrl?: string | undefined
  /** A request that is signed is refused without it, or without `url`. */
  readonly method?: string | undefined
}

/**
 * Reads a member of what a platform hands over: its own, or of its class. What any code added to every object is none, since it would
 * change the path or the body of requests.
 */
export function memberOf<Given extends object, Name extends keyof Given>(
  given: Given,
  name: Name,
): Given[Name] | undefined {
  const value = given[name]
  if (value === undefined || !(name in Object.prototype)) return value
  for (let holder: object | null = given; holder !== null && holder !== Object.prototype; )
    if (Object.hasOwn(holder, name)) return value
    else holder = Object.getPrototypeOf(holder)
  return undefined
}

const AUTHORIZATION = 'authorization'
const CONTENT_TYPE = 'content-type'

/**
 * The headers of a platform's request. Node keeps the first of several `Authorization` or `Content-Type` headers and
 * forgets the rest; here they are a list, so that they can be refused.
 */
export function headersOf(request: RequestLike): HttpHeaders {
  const { headers } = request
  if (isHeadersObject(headers)) {
    const authorization = headers.get('authorization')
    return authorization === null ? {} : { authorization }
  }
  const rawHeaders = memberOf(request, 'rawHeaders') ?? []
  const authorizations: string[] = []
  const types: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string // the list has pairs
    if (name.length !== AUTHORIZATION.length && name.length !== CONTENT_TYPE.length) continue
    const lower = name.toLowerCase()
    if (lower === AUTHORIZATION) authorizations.push(rawHeaders[index + 1] as string)
    else if (lower === CONTENT_TYPE) types.push(rawHeaders[index + 1] as string)
  }
  if (authorizations.length < 2 && types.length < 2) return headers
  return {
    ...headers,
    ...(authorizations.length > 1 && { [AUTHORIZATION]: authorizations }),
    ...(types.length > 1 && { [CONTENT_TYPE]: types }),
  }
}

/** True for a platform's object of headers. */
export function isHeadersObject(headers: RequestLike['headers']): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function'
}

/** Scheme and authority of a target (RFC 9112, section 3.2.2), where all frameworks see the path begin at the same slash. */
const AUTHORITY = /^https?:\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?(?=[/?])/i

/**
 * Returns the path and query of a request's target, as they were sent: without scheme and authority. A URL parser would throw for
 * the addresses that Bun and Deno make of an odd `Host`, and would find other paths behind dots and backslashes than a router does.
 */
export function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(AUTHORITY, '')
}

/** The path of a request, without its query. */
export function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}

/** The query of a request, without its question mark; empty where there is none. */
export function queryOf(url: string): string {
  const end = url.indexOf('?')
  return end < 0 ? '' : url.slice(end + 1)
}

/**
 * An error as a client reads it: JSON with `error` and `error_description`.
 * A 401 says how to authenticate (RFC 6749, section 5.2).
 * @param endpoint - the revocation endpoint names its media type without a parameter
 */
export function errorResponse(error: OAuthError, endpoint: 'token' | 'revocation' = 'token'): HttpResponse {
  const usual = endpoint === 'revocation' ? REVOCATION_HEADERS : TOKEN_HEADERS
  const hasMore = error.code === 'invalid_client' || error.retryAfter !== undefined
  return {
    status: error.status,
    headers: hasMore ? { ...usual, ...authenticateHeader(error), ...retryAfter(error) } : usual,
    body: JSON.stringify({ error: error.code, error_description: error.description }),
  }
}

/** Makes the header that tells a client how to authenticate (RFC 6749, section 5.2); none for any other error. */
function authenticateHeader({ code }: OAuthError): Readonly<Record<string, string>> {
  return code === 'invalid_client' ? { 'WWW-Authenticate': 'Basic realm="oauth2", charset="UTF-8"' } : {}
}

/** Makes the header that says when a retry makes sense (RFC 9110, section 10.2.3); none where the error does not say. */
export function retryAfter(error: OAuthError | undefined): Readonly<Record<string, string>> {
  return error?.retryAfter === undefined ? {} : { 'Retry-After': String(error.retryAfter) }
}

/** The answer to a method that an endpoint does not have (RFC 9110, section 15.5.6). */
export function withAllow(response: HttpResponse, methods: string): HttpResponse {
  return { ...response, headers: { ...response.headers, Allow: methods } }
}
