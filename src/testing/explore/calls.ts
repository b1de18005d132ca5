/**
 * Requests at a server in this process, as messages without a network, and their answers as values.
 * @module
 */
import { printScopes } from '../../core/scopes.js'
import type { AuthorizationServer } from '../../server.js'
import type { Client } from './begun.js'
import type { CallAnswer, OperationKind } from './history.js'

/** A decision on the form of a consent: for all resources, for the public ones, or none. */
export type FormDecision = 'agree' | 'agree otherwise' | 'refuse'

/** The form of a consent, as a browser has it. */
export interface Form {
  readonly fields: Readonly<Record<string, string>>
  readonly cookie: string
}

/** Sends a request that shows a code or a token. Never throws: a server that does is told of as status 500. */
export type Ask = { readonly [Kind in OperationKind]: (shows: string) => Promise<CallAnswer> }

/** Opens the form of a consent. */
export async function openForm(server: AuthorizationServer, { clientId }: Client): Promise<Form> {
  const query = new URLSearchParams({ response_type: 'code', client_id: clientId })
  const url = `/oauth2/auth?${query}`
  const page = await server.handle({ method: 'GET', url, headers: {}, native: undefined })
  const [cookie = ''] = page?.headers['Set-Cookie']?.split(';') ?? []
  const fields = [...String(page?.body).matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)]
  return { fields: Object.fromEntries(fields.map(([, name, value]) => [name, unescaped(value)])), cookie }
}

/** A text of a page, whose only escapes in these fields are those of ampersands. */
function unescaped(value = ''): string {
  return value.replaceAll('&amp;', '&')
}

/**
 * Binds the requests of a client to a server.
 * @param form - of the history that is played
 */
export function callsOf(
  server: AuthorizationServer,
  { clientId, clientSecret }: Client,
  form: () => Form | undefined,
): Ask {
  const headers = {
    authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}`,
    'content-type': 'application/x-www-form-urlencoded',
  }

  async function post(url: string, form: Record<string, string>): Promise<CallAnswer> {
    const text = new URLSearchParams(form).toString()
    const request = { method: 'POST', url, headers, body: { type: 'text', text }, native: undefined } as const
    const response = await server.handle(request)
    if (response === undefined) return { says: 'refused', status: 404, error: 'not a path of the server' }
    const { status, body } = response
    if (status === 200 && body === '') return { says: 'done' }
    const fields = JSON.parse(String(body)) // only images are bytes
    if (status !== 200) return { says: 'refused', status, error: String(fields.error) }
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn, scope } = fields
    return { says: 'tokens', accessToken, refreshToken, expiresIn, scope }
  }

  async function decide(decision: string): Promise<CallAnswer> {
    const { fields, cookie } = form() ?? { fields: {}, cookie: '' }
    const resource_scope = decision === 'agree otherwise' ? 'public' : 'all'
    const own = { ...fields, resource_scope, decision: decision === 'refuse' ? 'refuse' : 'agree' }
    const text = new URLSearchParams(own).toString()
    const browser = { 'content-type': headers['content-type'], cookie }
    const request = { method: 'POST', url: '/oauth2/auth', headers: browser, body: { type: 'text', text } } as const
    const response = await server.handle({ ...request, native: undefined })
    const location = new URL(response?.headers['Location'] ?? 'none:')
    const code = location.searchParams.get('code')
    if (code !== null) return { says: 'code', code }
    if (location.searchParams.get('error') === 'access_denied') return { says: 'denied' }
    return { says: 'refused', status: response?.status ?? 404, error: 'invalid_grant' }
  }

  async function validate(accessToken: string): Promise<CallAnswer> {
    const found = await server.authenticate({ headers: { authorization: `Bearer ${accessToken}` } })
    if (found.type === 'authenticated')
      return { says: 'active', until: found.expiresAt, scope: printScopes(found.scopes) }
    const { error, response } = found
    return { says: 'refused', status: response.status, error: error.type === 'error' ? error.code : 'no token' }
  }

  /** A request that throws is told of like any other answer. */
  const safely =
    (ask: (shows: string) => Promise<CallAnswer>) =>
    async (shows: string): Promise<CallAnswer> => {
      try {
        return await ask(shows)
      } catch (error) {
        return { says: 'refused', status: 500, error: String(error) }
      }
    }

  return {
    decide: safely(decide),
    exchange: safely((code) => post('/oauth2/token', { grant_type: 'authorization_code', code })),
    refresh: safely((token) => post('/oauth2/token', { grant_type: 'refresh_token', refresh_token: token })),
    revoke: safely((token) => post('/oauth2/revoke', { token })),
    validate: safely(validate),
  }
}
