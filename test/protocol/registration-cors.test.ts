/**
 * Pages of other origins that register themselves: each can read the answers about its own client, and no other page can.
 * @module
 * @see RFC 7591; Fetch, section 3.3 (CORS protocol); SECURITY statement 53
 */
import type { HttpResponse } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { send } from '../support.js'
import type { RegisteredClient } from './registration.js'
import { askToRegister, NATIVE_CLIENT, openServer } from './registration.js'

const APP = 'https://app.example'
const FOREIGN = 'https://foreign.example'
const METADATA = { ...NATIVE_CLIENT, redirect_uris: [`${APP}/callback`] }

const reader = ({ headers }: HttpResponse): string | undefined => headers['Access-Control-Allow-Origin']

describe('the registration endpoint, called by a page', () => {
  it('[53] answers a registration so that the pages of the client can read it, and no others', async () => {
    const test = await openServer()
    const read = []
    for (const origin of [APP, FOREIGN, 'null']) read.push(reader(await askToRegister(test, METADATA, { origin })))
    expect(read).toEqual([APP, undefined, undefined])
  })

  it('[53] tells the pages of the client that it was refused, and nobody what came of a malformed request', async () => {
    const test = await openServer({ clientPolicy: () => 'refuse' })
    const refused = await askToRegister(test, METADATA, { origin: APP })
    expect([refused.status, reader(refused)]).toEqual([403, APP])
    const malformed = await askToRegister(test, '{', { origin: APP })
    expect([malformed.status, reader(malformed)]).toEqual([400, undefined])
  })

  it.each(['approve', 'review'] as const)(
    '[53] shows a registration to the pages of its client alone: %s',
    async (verdict) => {
      const test = await openServer({ clientPolicy: () => verdict })
      const made: RegisteredClient = JSON.parse(String((await askToRegister(test, METADATA)).body))
      const url = `/oauth2/register?client_id=${made.client_id}`
      const ask = (origin: string, token = made.registration_access_token) =>
        send(test.server, { url, headers: { authorization: `Bearer ${token}`, origin } })
      const own = await ask(APP)
      expect([own.status, reader(own)]).toEqual([200, APP])
      const foreign = await ask(FOREIGN)
      expect([foreign.status, reader(foreign)]).toEqual([200, undefined])
      expect(reader(await ask(FOREIGN, 'wrong'))).toBeUndefined()
    },
  )

  it('answers preflights with its methods', async () => {
    const test = await openServer()
    const headers = { origin: FOREIGN, 'access-control-request-method': 'DELETE' }
    const answer = await send(test.server, { method: 'OPTIONS', url: '/oauth2/register', headers })
    expect([answer.status, answer.headers['Access-Control-Allow-Methods']]).toEqual([204, 'GET, POST, DELETE'])
    expect(answer.headers).not.toHaveProperty('Access-Control-Allow-Credentials')
  })
})
