/**
 * The service of the page: the package itself over a store in memory and a clock that stands still, asked by its fetch adapter.
 * @module
 */
import type { FetchHandler } from '../../../src/adapters/fetch/index.js'
import { createFetchHandler } from '../../../src/adapters/fetch/index.js'
import type { AuthorizationServer, RecordStore } from '../../../src/index.js'
import { createAuthorizationServer } from '../../../src/index.js'
import { memoryStore } from '../../../src/storage/memory.js'
import { seededEntropy } from '../../../src/testing/seeded-entropy.js'
import type { VirtualClock } from '../../../src/testing/virtual-clock.js'
import { virtualClock } from '../../../src/testing/virtual-clock.js'

/** The issuer of the page. Nothing is ever sent there. */
const ISSUER = 'https://git.example'

/** The application that the user permits. */
const CLIENT = {
  id: 'notes',
  secret: 'a-secret-of-the-notes-and-nobody-else',
  redirectUri: 'https://notes.example/callback',
}

/** The verifier and the challenge of RFC 7636, appendix B: a page without TLS has no SHA-256 of its own. */
const PKCE = {
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
}

/** A PNG of one pixel. */
const LOGO = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=='

/** A request and its answer, as texts and as what the client needs of them. */
export interface Asked {
  readonly request: string
  readonly answer: string
  readonly status: number
  readonly body: string
  readonly location: string
}

/** Asks a server by a form. */
export type Post = (path: string, fields: Readonly<Record<string, string>>) => Promise<Asked>

/** A service and the clock on which it runs. */
export interface Service {
  readonly clock: VirtualClock
  readonly store: RecordStore
  readonly server: AuthorizationServer
  /** Asks the service as the application. */
  readonly post: Post
  /** Makes one more server of the service, over a view of its store, and asks it as the application. */
  readonly another: (view: RecordStore) => Post
}

/** Starts a service that knows one application. Its secrets come of a seed: the same requests get the same answers. */
export async function startService(): Promise<Service> {
  const clock = virtualClock()
  const store = memoryStore({ clock })
  let servers = 0
  const create = (view: RecordStore): AuthorizationServer =>
    createAuthorizationServer({
      issuer: ISSUER,
      store: view,
      clock,
      entropy: seededEntropy(++servers),
      user: () => ({ subject: 'ada', name: 'Ada' }),
      signInUrl: () => '/sign-in',
    })
  const server = create(store)
  await server.applications.register(
    {
      name: 'Notes',
      logo: Uint8Array.from(atob(LOGO), (character) => character.charCodeAt(0)),
      website: 'https://notes.example',
      type: 'confidential',
      redirectUris: [CLIENT.redirectUri],
      scopes: ['repo-code:rw'],
      resourceScope: 'all',
    },
    { clientId: CLIENT.id, clientSecret: CLIENT.secret },
  )
  return { clock, store, server, post: postTo(server), another: (view) => postTo(create(view)) }
}

/** Walks the browser of the user to a code: the page of the consent, and the form on it. */
export async function authorize(server: AuthorizationServer): Promise<readonly [page: Asked, agreed: Asked]> {
  const handler = createFetchHandler(withCookie(server))
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT.id,
    redirect_uri: CLIENT.redirectUri,
    code_challenge: PKCE.challenge,
    code_challenge_method: 'S256',
  })
  const page = await ask(handler, 'GET', `/oauth2/auth?${query}`)
  const form = { request: fieldOf(page, 'request'), consent: fieldOf(page, 'consent') }
  const agreed = await ask(handler, 'POST', '/oauth2/auth', { ...form, resource_scope: 'all', decision: 'agree' })
  return [page, agreed]
}

/** Returns the fields of an exchange. */
export function exchangeFields(code: string): Readonly<Record<string, string>> {
  return { grant_type: 'authorization_code', code, redirect_uri: CLIENT.redirectUri, code_verifier: PKCE.verifier }
}

/** Makes a function that asks a server as the application. */
function postTo(server: AuthorizationServer): Post {
  const handler = createFetchHandler(server)
  const authorization = `Basic ${btoa(`${CLIENT.id}:${CLIENT.secret}`)}`
  return (path, fields) => ask(handler, 'POST', path, fields, { authorization })
}

/** Sends a request to the fetch adapter, and reads its answer. */
async function ask(
  handler: FetchHandler,
  method: 'GET' | 'POST',
  path: string,
  fields: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Asked> {
  const response = await handler(requestOf(method, ISSUER + path, fields, headers))
  const { status } = response
  const body = await response.text()
  const location = response.headers.get('location') ?? ''
  const sent = Object.entries({ ...headers, host: 'git.example' }).map(([name, value]) => `${name}: ${value}`)
  const form = Object.entries(fields).map(([name, value]) => `${name}=${value}`)
  const request = [`${method} ${path}`, ...sent, '', ...form].join('\n').trim()
  const shown = [...(location === '' ? [] : [`location: ${location}`]), '', shownBody(response, body)]
  return { request, answer: [String(status), ...shown].join('\n').trim(), status, body, location }
}

/** Makes a request with a form. */
function requestOf(
  method: 'GET' | 'POST',
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Request {
  if (method === 'GET') return new Request(url, { headers })
  const text = new URLSearchParams(fields).toString()
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const request = new Request(url, { method, headers: { ...headers, ...type }, body: text })
  // Firefox has requests without `body`, which the adapter reads on every platform that serves.
  if (request.body === undefined) Object.defineProperty(request, 'body', { value: new Blob([text]).stream() })
  return request
}

/** Returns a body as the page shows it: JSON with line breaks, and only the length of a page. */
function shownBody(response: Response, body: string): string {
  const type = response.headers.get('content-type') ?? ''
  if (type.includes('json')) return JSON.stringify(JSON.parse(body), undefined, 2)
  return type.includes('html') ? `(a page of HTML, ${body.length} characters)` : body
}

/** Keeps the cookie of a server for its next request: browsers let no script put one into a `Request`. */
function withCookie(server: AuthorizationServer): AuthorizationServer {
  let cookie = ''
  return {
    ...server,
    handle: async (request) => {
      const answer = await server.handle({ ...request, headers: { ...request.headers, cookie } })
      cookie = answer?.headers['Set-Cookie']?.split(';')[0] ?? cookie
      return answer
    },
  }
}

/** Reads a hidden field of a page. */
function fieldOf({ body }: Asked, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(body)?.[1]?.replaceAll('&amp;', '&') ?? ''
}
