/**
 * What it is to bring a test's message to a server and its answer back.
 * @module
 */
import type { AuthorizationServer, GuardResult, HttpHeaders, HttpRequest, HttpResponse } from 'grantwell'

/** What a route asks of the guard. */
export type Needed = Parameters<AuthorizationServer['authenticate']>[1]

/** A way for messages to get to a server. Over an adapter the host's functions get the platform's request as `native`. */
export interface Transport {
  readonly name: 'direct' | 'node' | 'fetch'
  /** Whether it can carry such a request as it is; where not, `handle` and `authenticate` reject, or bring another one. */
  readonly carries: (request: HttpRequest) => boolean
  /** Brings a request to the server; undefined where its path is not the server's own. */
  readonly handle: (server: AuthorizationServer, request: HttpRequest) => Promise<HttpResponse | undefined>
  /** Brings a request to an API with the server's guard: what the guard says of it. */
  readonly authenticate: (server: AuthorizationServer, request: HttpRequest, needed: Needed) => Promise<GuardResult>
}

/** No transport at all: the server gets the very values of the test. */
export const direct: Transport = {
  name: 'direct',
  carries: () => true,
  handle: async (server, request) => {
    const response = await server.handle(request)
    return response && textOf(response)
  },
  authenticate: (server, request, needed) => server.authenticate(request, needed),
}

/** A method, and the name of a header (RFC 9110, section 5.6.2). */
export const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** What a header's value may be on the wire, where no space around it is its own (RFC 9110, section 5.5). */
const FIELD_VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/

/** An answer as text: the bytes of an image are a character each. */
export function textOf(response: HttpResponse<string | Uint8Array>): HttpResponse {
  const { body } = response
  return { ...response, body: typeof body === 'string' ? body : Buffer.from(body).toString('latin1') }
}

/** Whether the body of an answer is an image, by its headers' names in any case. */
export function isImage(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).some(([name, value]) => /^content-type$/i.test(name) && value.startsWith('image/'))
}

/** Names and values, a line for each value of a list. */
export function headerLines(headers: HttpHeaders): readonly (readonly [string, string])[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const values = typeof value === 'string' ? [value] : (value ?? [])
    return values.map((each) => [name, each] as const)
  })
}

/** Whether headers can be on a wire. */
export function areCarried(headers: HttpHeaders): boolean {
  return headerLines(headers).every(([name, value]) => TOKEN.test(name) && FIELD_VALUE.test(value))
}

/** The 404 of an adapter, for a path that is not the server's own; the server itself has none. */
export function isElsewhere({ status, body }: HttpResponse): boolean {
  return status === 404 && body === 'Not found\n'
}
