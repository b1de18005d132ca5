/**
 * Clients that register themselves: requests, and a server that takes them.
 * @module
 */
import type { AuthorizationServerOptions, HttpResponse } from 'grantwell'
import type { TestServer } from '../support.js'
import { CHALLENGE, exchange, openConsent, post, send, testServer, VERIFIER } from '../support.js'

/** What a native client says about itself, with a callback on loopback. */
export const NATIVE_CLIENT = {
  client_name: 'A tool',
  redirect_uris: ['http://127.0.0.1/callback'],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
} as const

/** The answer to a registration, as JSON has it. */
export interface RegisteredClient {
  readonly client_id: string
  readonly client_secret?: string
  readonly registration_access_token: string
  readonly registration_client_uri: string
  readonly [member: string]: unknown
}

/** A server whose policy approves everybody. */
export function openServer(options: Partial<AuthorizationServerOptions> = {}): Promise<TestServer> {
  return testServer({ clientPolicy: () => 'approve', ...options })
}

/** Sends a registration: an object, or a text where a test needs it malformed. */
export function askToRegister(
  { server }: Pick<TestServer, 'server'>,
  metadata: object | string,
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
  const text = typeof metadata === 'string' ? metadata : JSON.stringify(metadata)
  return send(server, {
    method: 'POST',
    url: '/oauth2/register',
    headers: { 'content-type': 'application/json', ...headers },
    body: { type: 'text', text },
  })
}

/** Registers a client. */
export async function register(test: Pick<TestServer, 'server'>, changes: object = {}): Promise<RegisteredClient> {
  const { status, body } = await askToRegister(test, { ...NATIVE_CLIENT, ...changes })
  if (status !== 201) throw new Error(`not registered: ${status} ${body}`)
  return JSON.parse(body)
}

/** The parameters of an authorization request of a client. */
export function parametersOf(clientId: string, redirectUri: string): Record<string, string | undefined> {
  return {
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    scope: undefined,
  }
}

/** Walks a public client to its tokens. */
export async function tokensOf(test: TestServer, clientId: string, redirectUri = 'http://127.0.0.1:5000/callback') {
  const { fields, headers } = await openConsent(test, parametersOf(clientId, redirectUri))
  const response = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
  const code = new URL(response.headers['Location'] ?? 'none:').searchParams.get('code') ?? ''
  const form = { redirect_uri: redirectUri, code_verifier: VERIFIER }
  const { status, body } = await exchange(test, code, form, { clientId })
  if (status !== 200) throw new Error(`no tokens: ${JSON.stringify(body)}`)
  return body
}

/** Sends a request of a client about its own registration. */
export function askOwn(
  { server }: Pick<TestServer, 'server'>,
  method: string,
  { registration_client_uri: uri, registration_access_token: token }: RegisteredClient,
): Promise<HttpResponse> {
  const { pathname, search } = new URL(uri)
  return send(server, { method, url: pathname + search, headers: { authorization: `Bearer ${token}` } })
}
