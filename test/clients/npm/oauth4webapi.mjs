/** oauth4webapi, as its README has it. @module */
import * as oauth from 'oauth4webapi'

/** The loopback of the test has no TLS. */
const insecure = { [oauth.allowInsecureRequests]: true }

/** @type {import('../driver.js').StartDevice} */
export async function device({ issuer, clientId, scopes }) {
  const discovery = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...insecure })
  const as = await oauth.processDiscoveryResponse(new URL(issuer), discovery)
  const client = { client_id: clientId }
  const scope = new URLSearchParams({ scope: scopes.join(' ') })
  const response = await oauth.deviceAuthorizationRequest(as, client, oauth.None(), scope, insecure)
  const codes = await oauth.processDeviceAuthorizationResponse(as, client, response)
  const poll = async () => {
    const answer = await oauth.deviceCodeGrantRequest(as, client, oauth.None(), codes.device_code, insecure)
    const { access_token, refresh_token } = await oauth.processDeviceCodeResponse(as, client, answer)
    return { accessToken: access_token, refreshToken: refresh_token }
  }
  return { code: codes.user_code, url: codes.verification_uri, poll }
}

/** @type {import('../driver.js').Start} */
export async function start({ issuer, clientId, clientSecret, redirectUri, scopes, api }) {
  const discovery = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...insecure })
  const as = await oauth.processDiscoveryResponse(new URL(issuer), discovery)
  const client = { client_id: clientId }
  const authentication = clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(clientSecret)
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const url = new URL(as.authorization_endpoint ?? '')
  url.search = String(
    new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: scopes.join(' '),
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }),
  )
  const tokensOf = ({ access_token, refresh_token }) => ({ accessToken: access_token, refreshToken: refresh_token })
  return {
    url,
    finish: async (callback) => {
      const parameters = oauth.validateAuthResponse(as, client, callback, state)
      const response = await oauth.authorizationCodeGrantRequest(
        as,
        client,
        authentication,
        parameters,
        redirectUri,
        verifier,
        insecure,
      )
      return tokensOf(await oauth.processAuthorizationCodeResponse(as, client, response))
    },
    call: async ({ accessToken }) =>
      (await oauth.protectedResourceRequest(accessToken, 'GET', new URL(api), undefined, null, insecure)).json(),
    refresh: async ({ refreshToken }) => {
      const response = await oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, insecure)
      return tokensOf(await oauth.processRefreshTokenResponse(as, client, response))
    },
    revoke: async ({ refreshToken }) =>
      oauth.processRevocationResponse(
        await oauth.revocationRequest(as, client, authentication, refreshToken, insecure),
      ),
  }
}
