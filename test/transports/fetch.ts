/**
 * The fetch adapter with real `Request` and `Response` objects, without a network between.
 * @module
 */
import type { AuthorizationServer, HttpRequest, HttpResponse } from 'grantwell'
import { createFetchHandler } from 'grantwell/fetch'
import type { Transport } from './transport.js'
import { areCarried, direct, headerLines, isElsewhere, isImage, TOKEN, textOf } from './transport.js'

/** Methods that no `Request` may have. */
const FORBIDDEN = ['CONNECT', 'TRACE', 'TRACK']

/** Where a request goes: a path of the issuer's origin, or a whole URL. */
function targetOf(issuer: string, url: string): string {
  return /^https?:\/\//.test(url) ? url : new URL(issuer).origin + url
}

/** Whether a path and query, or a whole URL, is written as it is read off a `Request`: escaped where it must be. */
function isCanonical(url: string): boolean {
  const target = targetOf('https://a.example', url)
  if (!/^(?:\/|https?:\/\/)/.test(url) || !URL.canParse(target)) return false
  const { origin, pathname, search } = new URL(target)
  return origin + pathname + search === target
}

/** Bytes, since a string would bring a content type of its own. */
function bytesOf({ body }: HttpRequest, bodyLimit: number): Uint8Array<ArrayBuffer> {
  if (body?.type === 'text') return new TextEncoder().encode(body.text)
  return new Uint8Array(body?.type === 'too_large' ? bodyLimit + 1 : 0).fill(0x61)
}

function requestOf({ issuer, bodyLimit }: AuthorizationServer, request: HttpRequest): Request {
  const { method, url } = request
  const headers = new Headers()
  for (const [name, value] of headerLines(request.headers)) headers.append(name, value)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  // Where a Host is sent, it need not be the name that the server has for itself.
  const origin = request.headers['host'] === undefined ? issuer : 'https://localhost'
  return new Request(targetOf(origin, url), {
    method,
    headers,
    ...(hasBody && { body: bytesOf(request, bodyLimit) }),
  })
}

/** A response with its headers' names as the server spells them. */
async function responseOf(response: Response): Promise<HttpResponse> {
  const headers = [...response.headers].map(([name, value]) => [
    name === 'www-authenticate' ? 'WWW-Authenticate' : name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
    value,
  ])
  const bytes = new Uint8Array(await response.arrayBuffer())
  const all = Object.fromEntries(headers)
  delete all['Content-Length'] // an image has one already
  const body = isImage(all)
    ? textOf({ status: 200, headers: all, body: bytes }).body
    : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  return { status: response.status, headers: all, body }
}

/**
 * To `createFetchHandler`. A body that is not there was read by somebody before the adapter; one that is parsed goes to
 * the server itself, for no platform with `Request` has such a thing.
 */
export const fetchApi: Transport = {
  name: 'fetch',
  carries: ({ method, url, headers, body }) =>
    TOKEN.test(method) &&
    !FORBIDDEN.includes(method.toUpperCase()) &&
    new Request('https://a.example', { method }).method === method &&
    !(body !== undefined && (method === 'GET' || method === 'HEAD')) &&
    isCanonical(url) &&
    areCarried(headers),
  handle: async (server, request) => {
    const { method, body } = request
    if (body?.type === 'parsed') return direct.handle(server, request)
    const native = requestOf(server, request)
    if (method === 'POST' && body === undefined) await native.arrayBuffer()
    const response = await responseOf(await createFetchHandler(server)(native))
    return isElsewhere(response) ? undefined : response
  },
  authenticate: (server, request, needed) => server.authenticate(requestOf(server, request), needed),
}
