/**
 * The endpoints that take a form of a client, in one table: what is wrong with a form, a client or a method is the same at all of them.
 * @module
 */
import type { HttpResponse } from 'grantwell'
import {
  atRevocation,
  INVALID_GRANT,
  REVOKED,
  tokenError,
  type WatchedServer,
  watchedServer,
} from '../server/helpers.js'
import type { TestServer } from '../support.js'
import { post, START, WEB } from '../support.js'
import { API, INACTIVE, INTROSPECTION_PATH, withApi } from './resource-server.js'

/** An endpoint that takes a form of a client. */
export interface FormEndpoint {
  /** Its name in the audit trail. */
  readonly endpoint: string
  readonly url: string
  /** A client that may ask it. */
  readonly client: { readonly clientId: string; readonly clientSecret: string }
  /** A form that is well-formed, whose last parameter is `none`. */
  readonly form: string
  /** The name of that last parameter. */
  readonly name: string
  /** The answer to that form. */
  readonly good: HttpResponse
  /** Words an error as this endpoint does. */
  readonly as: (response: HttpResponse) => HttpResponse
  /** Every parameter that it reads. */
  readonly reads: readonly string[]
}

const asItIs = (response: HttpResponse): HttpResponse => response
const CLIENT = ['client_id', 'client_secret']

export const FORM_ENDPOINTS: readonly FormEndpoint[] = [
  {
    endpoint: 'token',
    url: '/oauth2/token',
    client: WEB,
    form: 'grant_type=authorization_code&code=none',
    name: 'code',
    good: INVALID_GRANT,
    as: asItIs,
    reads: ['grant_type', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'scope', 'device_code', ...CLIENT],
  },
  {
    endpoint: 'revocation',
    url: '/oauth2/revoke',
    client: WEB,
    form: 'token=none',
    name: 'token',
    good: REVOKED,
    as: atRevocation,
    reads: ['token', ...CLIENT],
  },
  {
    endpoint: 'introspection',
    url: INTROSPECTION_PATH,
    client: API,
    form: 'token=none',
    name: 'token',
    good: INACTIVE,
    as: asItIs,
    reads: ['token', ...CLIENT],
  },
  {
    endpoint: 'device_authorization',
    url: '/oauth2/device_authorization',
    client: WEB,
    form: 'scope=none',
    name: 'scope',
    good: tokenError(400, 'invalid_scope', 'The scope is unknown.'),
    as: asItIs,
    reads: ['scope', ...CLIENT],
  },
]

/** Makes a server that has all of them, whose store is watched. */
export async function formServer(options: Parameters<typeof watchedServer>[0] = {}): Promise<WatchedServer> {
  const test = await withApi(await watchedServer(options))
  test.forget()
  return test
}

/** Sends the good form of an endpoint, with parameters behind it. */
export function probe(
  { server }: Pick<TestServer, 'server'>,
  { url, form }: FormEndpoint,
  headers: Record<string, string | readonly string[]> = {},
  more: Record<string, string> = {},
): Promise<HttpResponse> {
  return post(server, url, `${form}&${new URLSearchParams(more)}`, headers)
}

/** Returns what the audit trail has of a refusal. */
export function refusalAt({ endpoint }: FormEndpoint, error: string, reason: string, clientId?: string) {
  return { type: 'refused', at: START, endpoint, error, reason, ...(clientId !== undefined && { clientId }) }
}
