/**
 * A server of one's own for a test: a clock that stands still, a memory store, two registered applications, a user who
 * is signed in; and the steps of the flow, as messages without a network.
 * @module
 */

import { createHash } from 'node:crypto'
// A server loads these behind its start. Loaded before the first test, they meet no global that a test has changed: code that failed to
// load once is never loaded again in a process, and every page of every test after it would be the error 500.
import '../src/endpoints/back-channel.js'
import '../src/endpoints/front-channel.js'
import type {
  AuditEvent,
  AuthorizationServer,
  AuthorizationServerOptions,
  GuardResult,
  HttpRequest,
  HttpResponse,
  RecordStore,
  Registration,
  User,
} from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import type { MemoryStore } from 'grantwell/storage/memory'
import { memoryStore } from 'grantwell/storage/memory'
import { parseCredential } from '../src/core/credentials/credential.js'
import { recordFault } from '../src/shell/records/check-record.js'
import { transport } from './transports/index.js'

export const START = 1_800_000_000

/** The limit of `vi.waitFor`, against hanging alone. Its default is a second, which a busy machine takes for anything. */
export const PATIENCE = { timeout: 240_000 }

/** A PNG of one pixel. */
export const LOGO = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=='),
  (character) => character.charCodeAt(0),
)

export const ISSUER = 'https://git.example'

/** A sound registration of a confidential client, changed as a test needs it. */
export function registration(changes: Partial<Registration> = {}): Registration {
  return {
    name: 'Sample',
    logo: LOGO,
    description: 'An application',
    website: 'https://app.example',
    type: 'confidential',
    redirectUris: ['https://app.example/callback'],
    scopes: ['repo-code:rw', 'account-profile:r'],
    resourceScope: 'all',
    deviceFlow: true,
    ...changes,
  }
}

export const WEB = { clientId: 'web', clientSecret: 'a-secret-of-the-web-application' }
export const OTHER = { clientId: 'other', clientSecret: 'a-secret-of-the-other-application' }
export const NATIVE = { clientId: 'native' }
export const WEB_CALLBACK = 'https://app.example/callback'
export const NATIVE_CALLBACK = 'http://127.0.0.1:51004/callback'

export const VERIFIER = 'a-verifier-that-is-long-enough-to-be-one-0123456789'
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')

export interface TestServer {
  readonly server: AuthorizationServer
  readonly store: MemoryStore
  readonly clock: { now: number }
  readonly events: AuditEvent[]
  readonly errors: unknown[]
  /** Who is signed in; undefined for nobody. */
  readonly session: { user: User | undefined }
}

/** An event without the request that it came by, about which `test/server/audit` is. */
export function withoutRequest({ request: _, ...event }: AuditEvent): AuditEvent {
  return event as AuditEvent // of the same kind
}

/** A server with the applications `web` and `other` (confidential) and `native` (public). */
export async function testServer(options: Partial<AuthorizationServerOptions> = {}): Promise<TestServer> {
  const clock = { now: START }
  const events: AuditEvent[] = []
  const errors: unknown[] = []
  const session: TestServer['session'] = { user: { subject: 'ada', name: 'Ada' } }
  const store = memoryStore({ clock: () => clock.now })
  const server = createAuthorizationServer({
    issuer: ISSUER,
    digests: nodeDigests,
    user: () => session.user,
    signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
    clock: () => clock.now,
    onEvent: (event) => events.push(withoutRequest(event)),
    onError: (error) => errors.push(error),
    ...options,
    store: soundStore(options.store ?? store, options.clock ?? (() => clock.now)),
  })
  await server.applications.register(registration(), WEB)
  await server.applications.register(
    registration({ name: 'Other', redirectUris: ['https://other.example/callback'] }),
    OTHER,
  )
  await server.applications.register(
    registration({ name: 'Native', type: 'public', redirectUris: ['http://127.0.0.1/callback'] }),
    NATIVE,
  )
  // What the registrations had to say.
  events.length = 0
  errors.length = 0
  return { server, store, clock, events, errors, session }
}

/** A store that takes sound records alone: those that `grantwell store check` finds nothing wrong with. */
function soundStore(store: RecordStore, clock: () => number): RecordStore {
  return {
    ...store,
    write: (key, value, options) => {
      const { expiresAt, labels = [] } = options
      const isRemoval = expiresAt !== undefined && clock() >= expiresAt
      const fault = isRemoval ? undefined : recordFault({ key, value, version: 1, expiresAt, labels })
      if (fault !== undefined) throw new Error(`${key}: ${fault}`)
      return store.write(key, value, options)
    },
  }
}

/** The same over a store that answers a moment later, so that requests at once meet in it. */
export async function laterServer(options: Partial<AuthorizationServerOptions> = {}): Promise<TestServer> {
  const clock = { now: START }
  const store = memoryStore({ clock: () => clock.now })
  const test = await testServer({ ...options, store: later(store), clock: () => clock.now })
  return { ...test, store, clock }
}

/** A store that answers a moment later than another. */
export function later(store: RecordStore): RecordStore {
  return {
    read: async (keys) => store.read(keys),
    write: async (...write) => store.write(...write),
    list: async (...list) => store.list(...list),
  }
}

/** A request, whole. */
export function requestOf(request: Partial<HttpRequest>): HttpRequest {
  return { method: 'GET', url: '/', headers: {}, native: undefined, ...request }
}

/** Whether the transport of this run can carry a request as it is written; not every one can be on a wire, or a `Request`. */
export function canSend(request: Partial<HttpRequest>): boolean {
  return transport.carries(requestOf(request))
}

/** An answer as it arrives: of that to a `HEAD`, adapters leave the body out, which the server itself does not. */
export function answeredTo(method: string, response: HttpResponse): HttpResponse {
  return method === 'HEAD' && transport.name !== 'direct' ? { ...response, body: '' } : response
}

/** A request by the transport of this run; the path must be the server's own. */
export async function send(server: AuthorizationServer, request: Partial<HttpRequest>): Promise<HttpResponse> {
  const response = await transport.handle(server, requestOf(request))
  if (response === undefined) throw new Error(`not a path of the server: ${request.url}`)
  return response
}

/** A POST of a form; `form` as text where a test needs it malformed. */
export function post(
  server: AuthorizationServer,
  url: string,
  form: Record<string, string> | readonly (readonly [string, string])[] | string,
  headers: Record<string, string | readonly string[]> = {},
): Promise<HttpResponse> {
  const text = typeof form === 'string' ? form : new URLSearchParams(form as Record<string, string>).toString()
  return send(server, {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: { type: 'text', text },
  })
}

/** The header of HTTP Basic. */
export function basic(client: { readonly clientId: string; readonly clientSecret: string }): { authorization: string } {
  const part = (text: string): string => encodeURIComponent(text).replaceAll('%20', '+')
  return { authorization: `Basic ${btoa(`${part(client.clientId)}:${part(client.clientSecret)}`)}` }
}

/** The URL of an authorization request. */
export function authorizationUrl(parameters: Record<string, string | undefined> = {}): string {
  const all = { response_type: 'code', client_id: 'web', redirect_uri: WEB_CALLBACK, ...parameters }
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return `/oauth2/auth?${new URLSearchParams(given)}`
}

/** The hidden fields of a consent page. */
export function hiddenFields(html: string): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [tag] of html.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(tag)?.[1] ?? ''
    const value = /value="([^"]*)"/.exec(tag)?.[1] ?? ''
    fields[name] = value.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity)
  }
  return fields
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }

/** Opens the consent page: its form's fields and its cookie. */
export async function openConsent(
  { server }: TestServer,
  parameters: Record<string, string | undefined> = {},
  headers: Record<string, string> = {},
): Promise<{ fields: Record<string, string>; headers: { cookie: string }; page: HttpResponse }> {
  const page = await send(server, { url: authorizationUrl(parameters), headers })
  if (page.status !== 200) throw new Error(`no consent page: ${page.status} ${page.headers['Location'] ?? page.body}`)
  const cookie = page.headers['Set-Cookie']?.split(';')[0] ?? headers['cookie'] ?? ''
  return { fields: { resource_scope: 'all', ...hiddenFields(page.body) }, headers: { cookie }, page }
}

/** Walks to the code: opens the page and agrees. */
export async function authorize(
  test: TestServer,
  parameters: Record<string, string | undefined> = {},
  form: Record<string, string> = {},
): Promise<{ code: string; location: URL; response: HttpResponse }> {
  const { fields, headers } = await openConsent(test, parameters)
  const response = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree', ...form }, headers)
  const location = new URL(response.headers['Location'] ?? 'none:')
  return { code: location.searchParams.get('code') ?? '', location, response }
}

export interface Tokens {
  readonly access_token: string
  readonly token_type: string
  readonly expires_in: number
  readonly refresh_token: string
  readonly scope: string
}

/** A token request: its status, and its JSON as tokens or error. */
export async function token(
  { server }: TestServer,
  form: Record<string, string>,
  client: { readonly clientId: string; readonly clientSecret?: string } = WEB,
): Promise<{ status: number; body: Tokens & { error?: string; error_description?: string }; response: HttpResponse }> {
  const { clientId, clientSecret } = client
  const response =
    clientSecret === undefined
      ? await post(server, '/oauth2/token', { client_id: clientId, ...form })
      : await post(server, '/oauth2/token', form, basic({ clientId, clientSecret }))
  return { status: response.status, body: JSON.parse(response.body), response }
}

export function exchange(
  test: TestServer,
  code: string,
  form: Record<string, string> = {},
  client?: Parameters<typeof token>[2],
) {
  return token(test, { grant_type: 'authorization_code', code, ...form }, client)
}

export function refresh(
  test: TestServer,
  refreshToken: string,
  form: Record<string, string> = {},
  client?: Parameters<typeof token>[2],
) {
  return token(test, { grant_type: 'refresh_token', refresh_token: refreshToken, ...form }, client)
}

/** The whole way to a first pair, for the application `web`. */
export async function tokens(test: TestServer, parameters: Record<string, string | undefined> = {}): Promise<Tokens> {
  const { code } = await authorize(test, parameters)
  const { status, body } = await exchange(test, code)
  if (status !== 200) throw new Error(`not exchanged: ${JSON.stringify(body)}`)
  return body
}

export function revoke(
  { server }: TestServer,
  text: string,
  form: Record<string, string> = {},
  client = WEB,
): Promise<HttpResponse> {
  return post(server, '/oauth2/revoke', { token: text, ...form }, basic(client))
}

/** What the guard says of a request to an API, by the transport of this run. */
export function guard(
  server: AuthorizationServer,
  request: Partial<HttpRequest>,
  needed?: Parameters<AuthorizationServer['authenticate']>[1],
): Promise<GuardResult> {
  // A message of its own, however often it is sent.
  return transport.authenticate(server, requestOf({ ...request, headers: { ...request.headers } }), needed)
}

/** What the guard says of an access token. */
export function call({ server }: TestServer, accessToken: string, scope?: string): Promise<GuardResult> {
  const headers = { authorization: `Bearer ${accessToken}` }
  return guard(server, { headers }, scope === undefined ? {} : { scope })
}

/** Whether an access token works. */
export async function works(test: TestServer, accessToken: string): Promise<boolean> {
  return (await call(test, accessToken)).type === 'authenticated'
}

/** Returns the identifier of the grant that a code or token names; undefined where it is none. */
export function grantNamedBy(credential: string): string | undefined {
  return parseCredential(credential)?.grantId
}
