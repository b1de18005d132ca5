/**
 * Client identifiers and secrets from elsewhere, with characters that HTTP Basic, URLs and forms take for something else:
 * every client, in every way that it can send them, to a server of the tests' own.
 * @module
 * @see RFC 6749, section 2.3.1; RFC 7617, section 2; specification, section 4.2
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AuthorizationServer, createAuthorizationServer } from 'grantwell'
import { createNodeHandler, nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registration } from '../../support.js'
import { Browser } from '../walk.js'
import { curlVersion, form } from './curl-program.js'
import { decide } from './user.js'
import {
  byCurl,
  byOauth4webapi,
  byOpenidClient,
  byPassport,
  bySimpleOauth2,
  type Credentials,
  type SetUp,
} from './ways.js'

/** An identifier may have any printable ASCII, a secret any but the space. Both of these read in two ways. */
const ODD: Credentials = {
  clientId: `my app: 1+2 = 3 & %41? #"'<>\\~!()*-_.`,
  clientSecret: `p%41+s:s/w?rd=&#%2B"'<>\\~!()*-_.;,@$^{|}`,
}

/** Written as it is, an identifier ends at its first colon. */
const WITHOUT_COLON: Credentials = { ...ODD, clientId: ODD.clientId.replace(':', '/') }

/** These read in one way alone: form-urlencoded they would be malformed. */
const MALFORMED: Credentials = { clientId: '100% my app', clientSecret: '100%_of_+%zz+_and_so_on_' }

const inBody = (each: Credentials) => form({ client_id: each.clientId, client_secret: each.clientSecret })
const encoded = (each: Credentials) => [
  '--user',
  `${encodeURIComponent(each.clientId)}:${encodeURIComponent(each.clientSecret)}`,
]
const asItIs = (each: Credentials) => ['--user', `${each.clientId}:${each.clientSecret}`]

/** Registers the tests. */
export function oddCredentials(): void {
  let listening: Server
  let server: AuthorizationServer
  let issuer: string

  beforeAll(async () => {
    listening = createServer((request, response) => createNodeHandler(server)(request, response))
    await once(listening.listen(0, '127.0.0.1'), 'listening')
    issuer = `http://127.0.0.1:${(listening.address() as AddressInfo).port}` // it listens on a port
    server = createAuthorizationServer({
      issuer,
      store: memoryStore(),
      digests: nodeDigests,
      user: () => ({ subject: 'ada' }),
      signInUrl: () => '/',
    })
    for (const credentials of [ODD, WITHOUT_COLON, MALFORMED]) {
      await server.applications.register(registration({ redirectUris: ['http://127.0.0.1/callback'] }), credentials)
    }
  })

  afterAll(() => {
    listening?.close()
    listening?.closeAllConnections()
  })

  async function works(accessToken: string): Promise<boolean> {
    return (await server.authenticate({ headers: { authorization: `Bearer ${accessToken}` } })).type === 'authenticated'
  }

  async function liveThrough(setUp: SetUp, credentials: Credentials): Promise<void> {
    const { url, exchange, refresh, revoke, close } = await setUp(issuer, credentials)
    try {
      const first = await exchange(await decide(new Browser(), url))
      const second = await refresh(first.refreshToken)
      expect([await works(first.accessToken), await works(second.accessToken)]).toEqual([true, true])
      await revoke?.(second.refreshToken)
      const live = revoke === undefined
      expect([await works(first.accessToken), await works(second.accessToken)]).toEqual([live, live])
    } finally {
      close?.()
    }
  }

  it.each<[string, SetUp]>([
    ['oauth4webapi, by HTTP Basic', byOauth4webapi(oauth.ClientSecretBasic)],
    ['oauth4webapi, in the body', byOauth4webapi(oauth.ClientSecretPost)],
    ['openid-client, by default', byOpenidClient()],
    ['openid-client, by HTTP Basic', byOpenidClient((secret) => client.ClientSecretBasic(secret))],
    ['simple-oauth2, by default', bySimpleOauth2(undefined)],
    ['simple-oauth2, in the body', bySimpleOauth2({ authorizationMethod: 'body' })],
    ['passport-oauth2, by default', byPassport],
  ])('are sent by %s', async (_how, setUp) => {
    for (const credentials of [ODD, WITHOUT_COLON, MALFORMED]) await liveThrough(setUp, credentials)
  })

  it('are sent by simple-oauth2 as they are, where it is told that the server would have it so', async () => {
    const loose = bySimpleOauth2({ credentialsEncodingMode: 'loose' })
    for (const credentials of [WITHOUT_COLON, MALFORMED]) await liveThrough(loose, credentials)
  })

  describe.skipIf(curlVersion === undefined)('by curl', () => {
    it('are sent form-urlencoded to --user, and in the body', async () => {
      for (const credentials of [ODD, WITHOUT_COLON, MALFORMED]) {
        await liveThrough(byCurl(encoded), credentials)
        await liveThrough(byCurl(inBody), credentials)
      }
    })

    it('are sent as they are to --user', async () => {
      for (const credentials of [WITHOUT_COLON, MALFORMED]) await liveThrough(byCurl(asItIs), credentials)
    })
  })
}
