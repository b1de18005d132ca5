/**
 * The ways in which the clients send an identifier and a secret, each as the same four steps.
 * @module
 * @see RFC 6749, section 2.3.1 and appendix B
 */
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { AuthorizationCode, type ModuleOptions } from 'simple-oauth2'
import { expect } from 'vitest'
import { Browser, locationOf } from '../walk.js'
import { curl, form } from './curl-program.js'
import { type SignedIn, startApplication } from './express-application.js'
import { CALLBACK } from './user.js'

/** What an application was registered with. */
export interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** A pair, whatever the client calls it. */
export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

/** A client with its credentials, set up for one authorization. */
export interface Way {
  /** What the user opens. */
  readonly url: URL
  /** The user is back. */
  readonly exchange: (callback: URL) => Promise<Tokens>
  readonly refresh: (refreshToken: string) => Promise<Tokens>
  /** Absent where the client has no revocation. */
  readonly revoke?: (refreshToken: string) => Promise<void>
  readonly close?: () => void
}

/** Sets a client up at an issuer. */
export type SetUp = (issuer: string, credentials: Credentials) => Promise<Way>

/** By openid-client, which has a way of its own where none is given. */
export const byOpenidClient =
  (authentication?: (secret: string) => client.ClientAuth): SetUp =>
  async (issuer, { clientId, clientSecret }) => {
    const config = await client.discovery(new URL(issuer), clientId, clientSecret, authentication?.(clientSecret), {
      algorithm: 'oauth2',
      execute: [client.allowInsecureRequests],
    })
    return {
      url: client.buildAuthorizationUrl(config, { redirect_uri: CALLBACK }),
      exchange: async (callback) => tokensIn(await client.authorizationCodeGrant(config, callback)),
      refresh: async (refreshToken) => tokensIn(await client.refreshTokenGrant(config, refreshToken)),
      revoke: (refreshToken) => client.tokenRevocation(config, refreshToken),
    }
  }

/** By oauth4webapi. */
export const byOauth4webapi =
  (authentication: (secret: string) => oauth.ClientAuth): SetUp =>
  async (issuer, { clientId, clientSecret }) => {
    const insecure = { [oauth.allowInsecureRequests]: true }
    const discovery = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...insecure })
    const as = await oauth.processDiscoveryResponse(new URL(issuer), discovery)
    const [of, by] = [{ client_id: clientId }, authentication(clientSecret)]
    return {
      url: requestUrl(issuer, clientId),
      exchange: async (location) => {
        const response = await oauth.authorizationCodeGrantRequest(
          as,
          of,
          by,
          oauth.validateAuthResponse(as, of, location),
          CALLBACK,
          oauth.nopkce,
          insecure,
        )
        return tokensIn(await oauth.processAuthorizationCodeResponse(as, of, response))
      },
      refresh: async (refreshToken) => {
        const response = await oauth.refreshTokenGrantRequest(as, of, by, refreshToken, insecure)
        return tokensIn(await oauth.processRefreshTokenResponse(as, of, response))
      },
      revoke: async (refreshToken) =>
        oauth.processRevocationResponse(await oauth.revocationRequest(as, of, by, refreshToken, insecure)),
    }
  }

/** By simple-oauth2. */
export const bySimpleOauth2 =
  (options: ModuleOptions['options']): SetUp =>
  async (tokenHost, { clientId: id, clientSecret: secret }) => {
    const paths = { tokenPath: '/oauth2/token', authorizePath: '/oauth2/auth', revokePath: '/oauth2/revoke' }
    const application = new AuthorizationCode({ client: { id, secret }, auth: { tokenHost, ...paths }, options })
    return {
      url: new URL(application.authorizeURL({ redirect_uri: CALLBACK })),
      exchange: async ({ searchParams }) => {
        const code = searchParams.get('code') ?? ''
        return tokensIn((await application.getToken({ code, redirect_uri: CALLBACK })).token)
      },
      refresh: async (refresh_token) => tokensIn((await application.createToken({ refresh_token }).refresh()).token),
      revoke: (refresh_token) => application.createToken({ refresh_token }).revoke('refresh_token'),
    }
  }

/** By passport-oauth2, in an application on Express. */
export const byPassport: SetUp = async (issuer, { clientId: clientID, clientSecret }) => {
  const endpoints = { authorizationURL: `${issuer}/oauth2/auth`, tokenURL: `${issuer}/oauth2/token` }
  const { origin, strategy, close } = await startApplication({ ...endpoints, clientID, clientSecret, state: true })
  const browser = new Browser()
  return {
    url: locationOf(await browser.get(`${origin}/sign-in`)),
    exchange: async (callback) => {
      await browser.get(callback)
      return (await (await browser.get(origin)).json()) as SignedIn // or null, which has no tokens
    },
    refresh: (refreshToken) => strategy.refresh(refreshToken),
    close,
  }
}

/** By curl, which has the credentials by these arguments. */
export const byCurl =
  (authentication: (credentials: Credentials) => readonly string[]): SetUp =>
  async (issuer, credentials) => {
    const ask = async (endpoint: 'token' | 'revoke', fields: Record<string, string>): Promise<string> => {
      const by = authentication(credentials)
      const { status, body } = await curl(...by, ...form(fields), `${issuer}/oauth2/${endpoint}`)
      expect([status, body]).toEqual([200, expect.any(String)])
      return body
    }
    const tokens = async (fields: Record<string, string>) => tokensIn(JSON.parse(await ask('token', fields)))
    return {
      url: requestUrl(issuer, credentials.clientId),
      exchange: ({ searchParams }) =>
        tokens({ grant_type: 'authorization_code', code: searchParams.get('code') ?? '', redirect_uri: CALLBACK }),
      refresh: (refresh_token) => tokens({ grant_type: 'refresh_token', refresh_token }),
      revoke: async (token) => {
        expect(await ask('revoke', { token })).toBe('')
      },
    }
  }

/** The authorization request of a client that leaves it to the application. */
function requestUrl(issuer: string, clientId: string): URL {
  const url = new URL(`${issuer}/oauth2/auth`)
  url.search = `${new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: CALLBACK })}`
  return url
}

function tokensIn(answer: object): Tokens {
  expect(answer).toMatchObject({ access_token: expect.any(String), refresh_token: expect.any(String) })
  const { access_token, refresh_token } = answer as { readonly access_token: string; readonly refresh_token: string } // as checked
  return { accessToken: access_token, refreshToken: refresh_token }
}
