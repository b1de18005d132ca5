/**
 * Requests at a server in this process, as messages without a network, and their answers as values.
 * @module
 */
import { printScopes } from '../../core/scopes.js'
import type { AuthorizationServer } from '../../server.js'
import type { Client } from './begun.js'
import type { CallAnswer, OperationKind } from './history.js'

/** Sends a request that shows a code or a token. Never throws: a server that does is told of as status 500. */
export type Ask = { readonly [Kind in OperationKind]: (shows: string) => Promise<CallAnswer> }

/** Binds the requests of a client to a server. */
export function callsOf(server: AuthorizationServer, { clientId, clientSecret }: Client): Ask {
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
    const fields = JSON.parse(body)
    if (status !== 200) return { says: 'refused', status, error: String(fields.error) }
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn, scope } = fields
    return { says: 'tokens', accessToken, refreshToken, expiresIn, scope }
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
    exchange: safely((code) => post('/oauth2/token', { grant_type: 'authorization_code', code })),
    refresh: safely((token) => post('/oauth2/token', { grant_type: 'refresh_token', refresh_token: token })),
    revoke: safely((token) => post('/oauth2/revoke', { token })),
    validate: safely(validate),
  }
}
