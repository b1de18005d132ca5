/**
 * What the tests of the protocol and of the server share beside `support.ts`: whole responses to compare with, and a
 * store that counts its round trips and can be made to fail, to lie or to be raced.
 * @module
 */
import type { AuthorizationServerOptions, HttpResponse, RecordStore } from 'grantwell'
import type { ErrorPageModel } from 'grantwell/pages'
import type { MemoryStore } from 'grantwell/storage/memory'
import { memoryStore } from 'grantwell/storage/memory'
import { expect } from 'vitest'
import { errorPage, inaccessibleLink } from '../pages/english.js'
import type { TestServer } from '../support.js'
import { ISSUER, START, send, testServer } from '../support.js'

/** Of every answer of the token endpoint (specification, section 2.3). */
export const TOKEN_HEADERS = {
  'Content-Type': 'application/json;charset=UTF-8',
  'Cache-Control': 'no-store',
  Pragma: 'no-cache',
}

/** Of an error of the revocation endpoint (specification, section 4.4). */
export const REVOCATION_HEADERS = { ...TOKEN_HEADERS, 'Content-Type': 'application/json' }

export const BASIC_CHALLENGE = { 'WWW-Authenticate': 'Basic realm="oauth2", charset="UTF-8"' }

/** A whole error of the token endpoint. */
export function tokenError(
  status: number,
  error: string,
  description: string,
  headers: Record<string, string> = {},
): HttpResponse {
  return {
    status,
    headers: { ...TOKEN_HEADERS, ...headers },
    body: JSON.stringify({ error, error_description: description }),
  }
}

export const INVALID_CLIENT = tokenError(401, 'invalid_client', 'Client authentication failed.', BASIC_CHALLENGE)

/** The answer to a client that authenticates by a method that it does not take. */
export function wrongMethod(used: string, takes: string): HttpResponse {
  const description = `The client authenticated by ${used}; it takes ${takes}.`
  return tokenError(401, 'invalid_client', description, BASIC_CHALLENGE)
}

/** A confidential client without its secret. */
export const NO_SECRET = wrongMethod('none', 'a secret, as it is confidential')

/** A public client with a secret. */
export const UNEXPECTED_SECRET = (used: string): HttpResponse => wrongMethod(used, 'none, as it is public')

export const INVALID_GRANT = tokenError(
  400,
  'invalid_grant',
  'The code or refresh token is invalid, expired, revoked, was issued to another client, or does not match its authorization request.',
)

export const BUSY = tokenError(503, 'temporarily_unavailable', 'The service is busy; try again.', {
  'Retry-After': '1',
})

/** The same error as the revocation endpoint words its media type. */
export function atRevocation(response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, 'Content-Type': 'application/json' } }
}

/** The answer to a revocation, whatever there was to revoke (specification, section 4.4). */
export const REVOKED: HttpResponse = {
  status: 200,
  headers: { 'Cache-Control': 'no-store', Pragma: 'no-cache' },
  body: '',
}

/** A whole redirect. */
export function redirect(location: string): HttpResponse {
  return {
    status: 302,
    headers: {
      Location: location,
      'Cache-Control': 'no-store',
      Pragma: 'no-cache',
      'Referrer-Policy': 'no-referrer',
    },
    body: '',
  }
}

/** A whole redirect back to an application: its redirect URI and what is added, in this order. */
export function answer(
  redirectUri: string,
  parameters: Record<string, string | undefined>,
  issuer = ISSUER,
): HttpResponse {
  const all = Object.entries({ ...parameters, iss: issuer })
  const query = all.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]))
  return redirect(`${redirectUri}?${query.join('&')}`)
}

/** A whole page. */
export function page(
  status: number,
  body: string,
  formAction = "'self'",
  headers: Record<string, string> = {},
): HttpResponse {
  return {
    status,
    headers: {
      'Content-Type': 'text/html;charset=UTF-8',
      'Cache-Control': 'no-store',
      Pragma: 'no-cache',
      'Content-Security-Policy': `default-src 'none'; style-src 'self'; img-src 'self'; form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`,
      'Document-Policy': 'force-load-at-top',
      'X-Frame-Options': 'DENY',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      ...headers,
    },
    body,
  }
}

const stylesheet = '/oauth2/style.css'

/** The page that reports that the link cannot be accessed (specification, sections 4.1 and 7). */
export function inaccessible(status = 400, application?: ErrorPageModel['application']): HttpResponse {
  return page(status, errorPage({ ...inaccessibleLink, stylesheet, ...(application && { application }) }))
}

/** The page for a link that cannot be accessed, with the way back to the application of {@link registration}. */
export function inaccessibleOfSample(): HttpResponse {
  return inaccessible(400, { name: 'Sample', website: 'https://app.example' })
}

/** An answer without the link back to the application, where its page has one. */
export function withoutWayBack(response: HttpResponse): HttpResponse {
  return { ...response, body: response.body.replace(/<p><a [^>]*>Back to <bdi>[^<]*<\/bdi><\/a><\/p>/, '') }
}

/** The page for a consent form that is not good (any more): it leads back to the application that the form is about. */
export const CONSENT_REFUSED = page(
  400,
  errorPage({
    title: inaccessibleLink.title,
    message:
      'This form was sent before, is too old, or belongs to another session. Go back to the application and start again.',
    application: { name: 'Sample', website: 'https://app.example' },
    stylesheet,
  }),
)

/** The page for a form whose user was signed out, which goes on to the sign-in. */
export function signedOut(location: string): HttpResponse {
  const body = errorPage({
    title: 'You were signed out',
    message: 'Nothing was changed. Sign in again to go on.',
    link: { href: location, text: 'Sign in' },
    stylesheet,
  })
  return page(403, body, "'self'", { Refresh: `0;url=${location}` })
}

/** The page where the store or the host failed. */
export function busyPage(status: 500 | 503): HttpResponse {
  const model = { title: 'The service is busy', message: 'Please try again in a moment.', stylesheet }
  return page(status, errorPage(model), "'self'", status === 503 ? { 'Retry-After': '1' } : {})
}

/** Sends a query as it is to the authorization endpoint. */
export function sendQuery({ server }: TestServer, query: string, method = 'GET'): Promise<HttpResponse> {
  return send(server, { method, url: `/oauth2/auth?${query}` })
}

/** The grants that there are for a user. */
export async function grantsOf(store: RecordStore, subject = 'ada'): Promise<readonly unknown[]> {
  const { records } = await store.list(`subject:${subject}`)
  return records.map(({ value }) => value)
}

/** A server whose store is watched. */
export interface WatchedServer extends TestServer {
  /** Round trips since the server was made, or since `forget`. */
  readonly trips: { reads: number; writes: number; lists: number; keys: string[] }
  readonly forget: () => void
  /** What stands in place of the engine's operations; undefined: the engine's own, which is `store`. */
  readonly instead: {
    read: RecordStore['read'] | undefined
    write: RecordStore['write'] | undefined
    list: RecordStore['list'] | undefined
  }
}

/** A server whose store counts its round trips and can be replaced, operation by operation. */
export async function watchedServer(options: Partial<AuthorizationServerOptions> = {}): Promise<WatchedServer> {
  const clock = { now: START }
  const store: MemoryStore = memoryStore({ clock: () => clock.now })
  const trips: WatchedServer['trips'] = { reads: 0, writes: 0, lists: 0, keys: [] }
  const instead: WatchedServer['instead'] = { read: undefined, write: undefined, list: undefined }
  const watched: RecordStore = {
    read: (keys) => {
      trips.reads++
      trips.keys.push(...keys)
      return (instead.read ?? store.read)(keys)
    },
    write: (key, value, rest) => {
      trips.writes++
      return (instead.write ?? store.write)(key, value, rest)
    },
    list: (label, rest) => {
      trips.lists++
      return (instead.list ?? store.list)(label, rest)
    },
  }
  const test = await testServer({ store: watched, clock: () => clock.now, ...options })
  const forget = (): void => {
    Object.assign(trips, { reads: 0, writes: 0, lists: 0, keys: [] })
  }
  forget()
  return { ...test, store, clock, trips, forget, instead }
}

/** What a store throws, with everything in it that no client may see. */
export class StoreFailure extends Error {
  constructor() {
    super('connection to postgres://grantwell:hunter2@db.internal/oauth lost in SELECT * FROM records')
  }
}

/** Counts the round trips of one step; a list is never read on a request path. */
export async function tripsOf(
  test: WatchedServer,
  step: () => Promise<unknown>,
): Promise<{ reads: number; writes: number }> {
  test.forget()
  await step()
  const { reads, writes, lists } = test.trips
  expect(lists).toBe(0)
  return { reads, writes }
}
