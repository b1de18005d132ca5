/**
 * The whole flow as oauth4webapi drives it, a client that nobody here wrote, over HTTP and by both adapters.
 * @module
 */
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basic, NATIVE, WEB, WEB_CALLBACK } from '../support.js'
import { discovered, INSECURE, PLATFORMS } from './stock-client.js'
import type { ListeningSite } from './suite.js'
import { consentForm } from './suite.js'

const CLIENTS = [
  {
    title: 'a confidential client',
    client: { client_id: WEB.clientId },
    authentication: oauth.ClientSecretBasic(WEB.clientSecret),
    redirectUri: WEB_CALLBACK,
  },
  {
    title: 'a public native client on a port of its system',
    client: { client_id: NATIVE.clientId },
    authentication: oauth.None(),
    redirectUri: `http://127.0.0.1:${40_000 + Math.floor(Math.random() * 20_000)}/callback`,
  },
]

for (const platform of PLATFORMS) {
  describe(platform.title, () => {
    let site: ListeningSite
    let as: oauth.AuthorizationServer

    beforeAll(async () => {
      const found = await discovered(platform)
      site = found.site
      as = found.as
    })
    afterAll(() => site.listening.close())

    /** The browser: opens the URL that the client made, agrees or not, and comes back. */
    async function browse(url: URL, decision: 'agree' | 'refuse' = 'agree'): Promise<URL> {
      const { agree } = await consentForm(site, Object.fromEntries(url.searchParams))
      const body = String(agree.body).replace('decision=agree', `decision=${decision}`)
      const answer = await site.send({ ...agree, body })
      expect(answer.status).toBe(302)
      return new URL(answer.headers['location'] ?? '')
    }

    async function authorizationUrl(parameters: Record<string, string>): Promise<URL> {
      const url = new URL(as.authorization_endpoint ?? '')
      url.search = String(new URLSearchParams({ response_type: 'code', ...parameters }))
      return url
    }

    function callApi(accessToken: string, query = ''): Promise<Response> {
      const url = new URL(`/api${query}`, site.listening.origin)
      return oauth.protectedResourceRequest(accessToken, 'GET', url, undefined, null, INSECURE)
    }

    async function challenges(call: Promise<Response>): Promise<unknown> {
      const error = await call.then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(oauth.WWWAuthenticateChallengeError)
      return error instanceof oauth.WWWAuthenticateChallengeError ? [error.status, error.cause] : undefined
    }

    it('finds the metadata, which name what the flow needs', () => {
      expect(as).toMatchObject({
        issuer: site.issuer,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        token_endpoint: `${site.issuer}/oauth2/token`,
        revocation_endpoint: `${site.issuer}/oauth2/revoke`,
      })
    })

    for (const { title: ofClient, client, authentication, redirectUri } of CLIENTS) {
      it(`takes ${ofClient} from authorization to revocation`, async () => {
        const verifier = oauth.generateRandomCodeVerifier()
        const state = oauth.generateRandomState()
        const url = await authorizationUrl({
          client_id: client.client_id,
          redirect_uri: redirectUri,
          state,
          code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          scope: 'repo-code:r account-profile:r',
        })
        const callback = oauth.validateAuthResponse(as, client, await browse(url), state)
        const codeResponse = await oauth.authorizationCodeGrantRequest(
          as,
          client,
          authentication,
          callback,
          redirectUri,
          verifier,
          INSECURE,
        )
        const first = await oauth.processAuthorizationCodeResponse(as, client, codeResponse)
        expect(first).toMatchObject({
          token_type: 'bearer',
          expires_in: 28_800,
          scope: 'repo-code:r account-profile:r',
        })
        expect(await (await callApi(first.access_token)).json()).toEqual({
          subject: 'ada',
          clientId: client.client_id,
          scopes: ['repo-code:r', 'account-profile:r'],
        })

        const refreshed = async (refreshToken: string, scope?: string) => {
          const options = { ...INSECURE, ...(scope !== undefined && { additionalParameters: { scope } }) }
          const response = await oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, options)
          return oauth.processRefreshTokenResponse(as, client, response)
        }
        const second = await refreshed(first.refresh_token ?? '', 'account-profile:r')
        expect(second.scope).toBe('account-profile:r')
        expect(await refreshed(first.refresh_token ?? '')).toEqual(second)
        expect(await challenges(callApi(second.access_token))).toMatchObject([
          403,
          [{ scheme: 'bearer', parameters: { error: 'insufficient_scope', scope: 'repo-code:r' } }],
        ])
        const third = await refreshed(second.refresh_token ?? '')
        expect((await callApi(third.access_token)).status).toBe(200)

        const revoke = async (token: string): Promise<void> => {
          const response = await oauth.revocationRequest(as, client, authentication, token, INSECURE)
          await oauth.processRevocationResponse(response)
        }
        await revoke(third.access_token)
        expect(await challenges(callApi(third.access_token))).toMatchObject([
          401,
          [{ scheme: 'bearer', parameters: { realm: 'oauth2', error: 'invalid_token' } }],
        ])
        expect((await callApi(first.access_token)).status).toBe(200)
        await revoke(third.refresh_token ?? '')
        expect(await challenges(callApi(first.access_token))).toMatchObject([401, [{ scheme: 'bearer' }]])
        await expect(refreshed(third.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' })
        await revoke(third.refresh_token ?? '')
      })
    }

    it('gives errors that the client understands', async () => {
      const [web = { client: { client_id: '' }, authentication: oauth.None() }] = CLIENTS
      const { client } = web
      const verifier = oauth.generateRandomCodeVerifier()
      const parameters = {
        client_id: client.client_id,
        redirect_uri: WEB_CALLBACK,
        state: 's',
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }
      const refusal = await browse(await authorizationUrl(parameters), 'refuse')
      expect(() => oauth.validateAuthResponse(as, client, refusal, 's')).toThrowError(
        expect.objectContaining({ code: oauth.AUTHORIZATION_RESPONSE_ERROR, error: 'access_denied' }),
      )
      const location = await browse(await authorizationUrl(parameters))
      const mixedUp = { ...as, issuer: 'https://another.example' }
      expect(() => oauth.validateAuthResponse(mixedUp, client, location, 's')).toThrowError(/iss/)
      expect(() => oauth.validateAuthResponse(as, client, location, 'another')).toThrowError(/state/)

      const callback = oauth.validateAuthResponse(as, client, location, 's')
      const exchanged = async (secret: string, codeVerifier: string) => {
        const authentication = oauth.ClientSecretBasic(secret)
        const response = await oauth.authorizationCodeGrantRequest(
          as,
          client,
          authentication,
          callback,
          WEB_CALLBACK,
          codeVerifier,
          INSECURE,
        )
        return oauth.processAuthorizationCodeResponse(as, client, response)
      }
      await expect(exchanged('wrong', verifier)).rejects.toMatchObject({
        status: 401,
        cause: [{ scheme: 'basic', parameters: { realm: 'oauth2', charset: 'UTF-8' } }],
      })
      const other = oauth.generateRandomCodeVerifier()
      await expect(exchanged(WEB.clientSecret, other)).rejects.toMatchObject({ status: 400, error: 'invalid_grant' })
      const { access_token } = await exchanged(WEB.clientSecret, verifier)
      await expect(exchanged(WEB.clientSecret, verifier)).rejects.toMatchObject({ error: 'invalid_grant' })
      expect(await challenges(callApi(access_token))).toMatchObject([401, [{ scheme: 'bearer' }]])
      expect(await challenges(callApi('a', '?access_token=a'))).toMatchObject([
        400,
        [{ scheme: 'bearer', parameters: { error: 'invalid_request' } }],
      ])
      const { status, headers } = await site.send({ path: '/api', headers: basic(WEB) })
      expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="oauth2"'])
    })
  })
}
