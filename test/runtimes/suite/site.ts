/**
 * A server behind the fetch adapter, asked by plain requests: two confidential applications and a public one, a clock
 * that stands still, a user who is signed in by a cookie.
 * @module
 */
import type { AuthorizationServer, AuthorizationServerOptions, HttpRequest, Registration, User } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import type { FetchHandler } from 'grantwell/fetch'
import { createFetchHandler, toResponse } from 'grantwell/fetch'
import type { MemoryStore } from 'grantwell/storage/memory'
import { memoryStore } from 'grantwell/storage/memory'
import type { VirtualClock } from 'grantwell/testing'
import { virtualClock } from 'grantwell/testing'
import { demand, platformBase64url, same } from './case.js'

export const ISSUER = 'https://git.example'
export const WEB = { clientId: 'web', clientSecret: 'a-secret-of-the-web-application' }
export const OTHER = { clientId: 'other', clientSecret: 'a-secret-of-the-other-application' }
export const NATIVE = { clientId: 'native' }
export const WEB_CALLBACK = 'https://app.example/callback'
export const NATIVE_CALLBACK = 'http://127.0.0.1:51004/callback'
export const VERIFIER = 'a-verifier-that-is-long-enough-to-be-one-0123456789'

/** Of a browser in which the user is signed in. */
export const SESSION = 'session=ada'

/** A PNG of one pixel. */
const LOGO = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=='),
  (character) => character.charCodeAt(0),
)

/** An answer, its body read. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** A request as a case writes it. */
export interface Ask {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
}

/** What a client gets of the token endpoint. */
export interface Tokens {
  readonly access_token: string
  readonly token_type: string
  readonly expires_in: number
  readonly refresh_token: string
  readonly scope: string
}

/** A server, as whoever stands outside has it. */
export interface Served {
  /** Sends a request through the handler, or, at `/api`, through the guard of a route that wants `repo-code:r`. */
  readonly send: (ask: Ask) => Promise<Answer>
}

export interface Site extends Served {
  readonly server: AuthorizationServer<Request>
  readonly store: MemoryStore
  readonly clock: VirtualClock
  /** What the server told `onError`. */
  readonly errors: readonly unknown[]
}

/** Makes a server over a clock that stands still, and serves it. */
export async function makeSite(options: Partial<AuthorizationServerOptions<Request>> = {}): Promise<Site> {
  const clock = virtualClock()
  const store = memoryStore({ clock })
  const errors: unknown[] = []
  const server = createAuthorizationServer({
    ...hostOptions,
    store,
    clock,
    onError: (error) => void errors.push(error),
    ...options,
  })
  return { server, store, clock, errors, ...(await serve(server)) }
}

/** What a host cannot leave to a default, save for the store. */
export const hostOptions: Pick<AuthorizationServerOptions<Request>, 'issuer' | 'user' | 'signInUrl'> = {
  issuer: ISSUER,
  user: sessionUser,
  signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
}

/** Registers the applications and serves a server. */
export async function serve(server: AuthorizationServer<Request>): Promise<Served> {
  const route = await routeOf(server)
  return {
    send: async (ask) => {
      const response = await route(requestOf(ask))
      return { status: response.status, headers: response.headers, body: await response.text() }
    },
  }
}

/** Registers the applications: what a host does with a request. */
export async function routeOf(server: AuthorizationServer<Request>): Promise<FetchHandler> {
  await server.applications.register(registration('Web', WEB_CALLBACK), WEB)
  await server.applications.register(registration('Other', 'https://other.example/callback'), OTHER)
  await server.applications.register(registration('Native', 'http://127.0.0.1/callback', 'public'), NATIVE)
  const handler = createFetchHandler(server)
  return (request) => (/^[^?#]*\/api$/.test(request.url) ? api(server, request) : handler(request))
}

/** Who is signed in, by the cookie of the request that the platform handed over. */
function sessionUser({ native }: HttpRequest<Request>): User | undefined {
  const cookies = native.headers.get('cookie')?.split('; ') ?? []
  return cookies.includes(SESSION) ? { subject: 'ada', name: 'Ada' } : undefined
}

/** A sound registration. */
function registration(name: string, redirectUri: string, type: Registration['type'] = 'confidential'): Registration {
  return {
    name,
    logo: LOGO,
    website: 'https://app.example',
    type,
    redirectUris: [redirectUri],
    scopes: ['repo-code:rw', 'account-profile:r'],
    resourceScope: 'all',
    deviceFlow: true,
  }
}

/** The request that a platform would hand over. */
export function requestOf({ method = 'GET', path, headers = {}, body }: Ask): Request {
  // The types know a stream as a body only together with `duplex`, which some runtimes demand and the others pass over.
  const init = { method, headers: { ...headers }, ...(body !== undefined && { body, duplex: 'half' as const }) }
  return new Request(ISSUER + path, init)
}

/** A route of the host behind the guard: who calls, or the challenge. */
async function api(server: AuthorizationServer<Request>, request: Request): Promise<Response> {
  const found = await server.authenticate(request, { scope: 'repo-code:r' })
  if (found.type === 'refused') return toResponse(found.response)
  const { subject, clientId, scopes } = found
  return Response.json({ subject, clientId, scopes })
}

/** A POST of a form. */
export function form(path: string, fields: Readonly<Record<string, string>>, headers: Ask['headers'] = {}): Ask {
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  return { method: 'POST', path, headers: { ...type, ...headers }, body: new URLSearchParams(fields).toString() }
}

/** The header of HTTP Basic. */
export function basic({ clientId, clientSecret }: typeof WEB): { readonly authorization: string } {
  return { authorization: `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)}` }
}

/** The challenge of a verifier, by the runtime's own digest. */
export async function challengeOf(verifier: string): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return platformBase64url(new Uint8Array(digest))
}

/** The path of an authorization request. */
export function authorizationPath(parameters: Readonly<Record<string, string>> = {}): string {
  const all = { response_type: 'code', client_id: 'web', redirect_uri: WEB_CALLBACK, ...parameters }
  return `/oauth2/auth?${new URLSearchParams(all)}`
}

/** The form of a page: where it goes, its hidden fields, and the cookies of the browser that has it. */
export function formOf(
  { body, headers }: Answer,
  cookie: string,
): { action: string; fields: Record<string, string>; cookie: string } {
  const fields: Record<string, string> = {}
  for (const [tag] of body.matchAll(/<input[^>]*type="hidden"[^>]*>/g))
    fields[/name="([^"]*)"/.exec(tag)?.[1] ?? ''] = (/value="([^"]*)"/.exec(tag)?.[1] ?? '').replaceAll('&amp;', '&')
  const action = /<form[^>]* action="([^"]*)"/.exec(body)?.[1]
  demand(action !== undefined, `a page with a form, not ${body.slice(0, 200)}`)
  const own = headers.getSetCookie().map((each) => each.split(';')[0])
  return { action, fields, cookie: [cookie, ...own].join('; ') }
}

/** Opens the consent page: the request that its form makes when the user agrees. */
export async function consentForm(
  { send }: Served,
  parameters: Readonly<Record<string, string>> = {},
): Promise<{ page: Answer; agree: Ask & { readonly body: string } }> {
  const page = await send({ path: authorizationPath(parameters), headers: { cookie: SESSION } })
  same(page.status, 200, 'the consent page')
  const { action, fields, cookie } = formOf(page, SESSION)
  const agree = form(action, { ...fields, resource_scope: 'all', decision: 'agree' }, { cookie })
  return { page, agree: { ...agree, body: String(agree.body) } }
}

/** What a redirect says. */
export function redirected({ status, headers, body }: Answer): {
  readonly to: string
  readonly query: Record<string, string>
} {
  demand(status === 302, `a redirect, not ${status} ${body.slice(0, 200)}`)
  const location = new URL(headers.get('location') ?? '', ISSUER)
  return { to: location.origin + location.pathname, query: Object.fromEntries(location.searchParams) }
}

/** The user agrees: the code. */
export async function codeOf(site: Served, parameters: Readonly<Record<string, string>> = {}): Promise<string> {
  const { agree } = await consentForm(site, parameters)
  return redirected(await site.send(agree)).query['code'] ?? ''
}

/** A request to the token endpoint, by the application `web` unless the form says which. */
export function tokenRequest(fields: Readonly<Record<string, string>>): Ask {
  return form('/oauth2/token', fields, fields['client_id'] === undefined ? basic(WEB) : {})
}

/** A pair of tokens that a request to the token endpoint gave. */
export async function tokensOf({ send }: Served, fields: Readonly<Record<string, string>>): Promise<Tokens> {
  const { status, body } = await send(tokenRequest(fields))
  same(status, 200, `the token endpoint, which said ${body}`)
  return JSON.parse(body)
}

/** The error of an answer in JSON, with its status. */
export function errorOf({ status, body }: Answer): string {
  return `${status} ${JSON.parse(body).error}`
}

/** A pair of tokens of the application `web`. */
export async function pairOf(site: Served, parameters: Readonly<Record<string, string>> = {}): Promise<Tokens> {
  return tokensOf(site, { grant_type: 'authorization_code', code: await codeOf(site, parameters) })
}

/** What the guarded route says to an access token. */
export async function callApi({ send }: Served, accessToken: string): Promise<Answer> {
  return send({ path: '/api', headers: { authorization: `Bearer ${accessToken}` } })
}
