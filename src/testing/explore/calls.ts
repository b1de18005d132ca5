/**
 * Requests at a server in this process, as messages without a network, and their answers as values.
 * @module
 */
import { printScopes } from '../../core/scopes.js'
import type { AuthorizationServer } from '../../server.js'
import type { Client } from './beginning.js'
import type { CallAnswer, OperationKind } from './history.js'

/** A decision on the form of a consent: for all resources, for the public ones, or none. */
export type FormDecision = 'agree' | 'agree otherwise' | 'refuse'

/** The form of a consent, as a browser has it. */
export interface Form {
  readonly fields: Readonly<Record<string, string>>
  readonly cookie: string
}

/** Sends a request that shows a code or a token. Never throws: an error of the server is reported as status 500. */
type Send = (shows: string, resource?: string) => Promise<CallAnswer>

/** Sends each kind of request. */
export type Ask = { readonly [Kind in OperationKind]: Send }

/** Opens the form of a consent. */
export async function openForm(server: AuthorizationServer, { clientId, audience = [] }: Client): Promise<Form> {
  const query = new URLSearchParams({ response_type: 'code', client_id: clientId })
  for (const resource of audience) query.append('resource', resource)
  const url = `/oauth2/auth?${query}`
  const page = await server.handle({ method: 'GET', url, headers: {}, native: undefined })
  const [cookie = ''] = page?.headers['Set-Cookie']?.split(';') ?? []
  const fields = [...String(page?.body).matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)]
  return { fields: Object.fromEntries(fields.map(([, name, value]) => [name, unescaped(value)])), cookie }
}

/** Reads a text of a page. The only escapes in these fields are those of ampersands. */
function unescaped(value = ''): string {
  return value.replaceAll('&amp;', '&')
}

const FORM_TYPE = 'application/x-www-form-urlencoded'

/**
 * Binds the requests of a client to a server.
 * @param apis - introspect, by the protected resources that they stand for
 * @param form - of the history that runs
 */
export function callsOf(
  server: AuthorizationServer,
  client: Client,
  apis: ReadonlyMap<string, Client>,
  form: () => Form | undefined,
): Ask {
  const post = (url: string, fields: Record<string, string>, sender = client): Promise<CallAnswer> =>
    postForm(server, sender, url, fields)
  return {
    decide: safely((decision) => decide(server, form() ?? { fields: {}, cookie: '' }, decision)),
    exchange: safely((code) => post('/oauth2/token', { grant_type: 'authorization_code', code })),
    refresh: safely((token, resource) => {
      const form = { grant_type: 'refresh_token', refresh_token: token }
      return post('/oauth2/token', resource === undefined ? form : { ...form, resource })
    }),
    revoke: safely((token) => post('/oauth2/revoke', { token })),
    validate: safely((accessToken, audience) => validate(server, accessToken, audience)),
    introspect: safely((token, resource = '') => post('/oauth2/introspect', { token }, apis.get(resource))),
  }
}

/** Reports an error as an answer. */
function safely(ask: Send): Send {
  return async (shows, resource) => {
    try {
      return await ask(shows, resource)
    } catch (error) {
      return { says: 'refused', status: 500, error: String(error) }
    }
  }
}

/** Sends a form to the token, the revocation or the introspection endpoint. */
async function postForm(
  server: AuthorizationServer,
  { clientId, clientSecret }: Client,
  url: string,
  form: Record<string, string>,
): Promise<CallAnswer> {
  const authorization = `Basic ${btoa(`${clientId}:${clientSecret}`)}`
  const text = new URLSearchParams(form).toString()
  const headers = { authorization, 'content-type': FORM_TYPE }
  const request = { method: 'POST', url, headers, body: { type: 'text', text }, native: undefined } as const
  const response = await server.handle(request)
  if (response === undefined) return { says: 'refused', status: 404, error: 'not a path of the server' }
  const { status, body } = response
  if (status === 200 && body === '') return { says: 'done' }
  const fields = JSON.parse(String(body)) // only images are bytes
  if (status !== 200) return { says: 'refused', status, error: String(fields.error) }
  const { active, exp: until, scope } = fields
  if (active === true) return { says: 'active', until, scope }
  if (active === false) return { says: 'refused', status: 401, error: 'invalid_token' } // as the guard would say
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn } = fields
  return { says: 'tokens', accessToken, refreshToken, expiresIn, scope }
}

/** Sends the form of a consent. */
async function decide(server: AuthorizationServer, { fields, cookie }: Form, decision: string): Promise<CallAnswer> {
  const resource_scope = decision === 'agree otherwise' ? 'public' : 'all'
  const own = { ...fields, resource_scope, decision: decision === 'refuse' ? 'refuse' : 'agree' }
  const text = new URLSearchParams(own).toString()
  const headers = { 'content-type': FORM_TYPE, cookie }
  const request = { method: 'POST', url: '/oauth2/auth', headers, body: { type: 'text', text } } as const
  const response = await server.handle({ ...request, native: undefined })
  const location = new URL(response?.headers['Location'] ?? 'none:')
  const code = location.searchParams.get('code')
  if (code !== null) return { says: 'code', code }
  if (location.searchParams.get('error') === 'access_denied') return { says: 'denied' }
  return { says: 'refused', status: response?.status ?? 404, error: 'invalid_grant' }
}

/** Asks the guard of the API about an access token. */
async function validate(
  server: AuthorizationServer,
  accessToken: string,
  audience: string | undefined,
): Promise<CallAnswer> {
  const request = { headers: { authorization: `Bearer ${accessToken}` } }
  const found = await server.authenticate(request, audience === undefined ? {} : { audience })
  if (found.type === 'authenticated')
    return { says: 'active', until: found.expiresAt, scope: printScopes(found.scopes) }
  const { error, response } = found
  return { says: 'refused', status: response.status, error: error.type === 'error' ? error.code : 'no token' }
}
