/** openid-client, as its README has it. @module */
import * as client from 'openid-client'

/** @type {import('../driver.js').StartDevice} */
export async function device({ issuer, clientId, scopes }) {
  const options = { algorithm: 'oauth2', execute: [client.allowInsecureRequests] }
  const config = await client.discovery(new URL(issuer), clientId, undefined, undefined, options)
  const codes = await client.initiateDeviceAuthorization(config, { scope: scopes.join(' ') })
  const poll = async () => {
    const { access_token, refresh_token } = await client.pollDeviceAuthorizationGrant(config, codes)
    return { accessToken: access_token, refreshToken: refresh_token }
  }
  return { code: codes.user_code, url: codes.verification_uri, poll }
}

/** @type {import('../driver.js').Start} */
export async function start({ issuer, clientId, clientSecret, redirectUri, scopes, api }, changes = {}) {
  // The second option is for the loopback of the test alone, which has no TLS.
  const options = { algorithm: 'oauth2', execute: [client.allowInsecureRequests], ...changes }
  const config = await client.discovery(new URL(issuer), clientId, clientSecret, undefined, options)
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const tokensOf = ({ access_token, refresh_token }) => ({ accessToken: access_token, refreshToken: refresh_token })
  return {
    url,
    finish: async (callback) =>
      tokensOf(await client.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState })),
    call: async ({ accessToken }) =>
      (await client.fetchProtectedResource(config, accessToken, new URL(api), 'GET')).json(),
    refresh: async ({ refreshToken }) => tokensOf(await client.refreshTokenGrant(config, refreshToken)),
    revoke: ({ refreshToken }) => client.tokenRevocation(config, refreshToken),
  }
}
