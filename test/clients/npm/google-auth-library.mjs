/** google-auth-library with the endpoints of another service. @module */
import { OAuth2Client } from 'google-auth-library'

/** @type {import('../driver.js').Start} */
export async function start(setting) {
  const { authorizationEndpoint, tokenEndpoint, revocationEndpoint, clientId, clientSecret, redirectUri, scopes, api } =
    setting
  const client = new OAuth2Client({
    clientId,
    clientSecret,
    redirectUri,
    endpoints: {
      oauth2AuthBaseUrl: authorizationEndpoint,
      oauth2TokenUrl: tokenEndpoint,
      oauth2RevokeUrl: revocationEndpoint,
    },
  })
  const { codeVerifier, codeChallenge } = await client.generateCodeVerifierAsync()
  const tokensOf = ({ access_token, refresh_token }) => ({ accessToken: access_token, refreshToken: refresh_token })
  return {
    url: client.generateAuthUrl({
      access_type: 'offline',
      scope: [...scopes],
      state: 'a-state',
      code_challenge: codeChallenge,
      code_challenge_method: 'S256',
    }),
    finish: async ({ searchParams }) => {
      const { tokens } = await client.getToken({ code: searchParams.get('code') ?? '', codeVerifier })
      client.setCredentials(tokens)
      return tokensOf(tokens)
    },
    call: async () => (await client.request({ url: api })).data,
    revokeByDefault: ({ refreshToken }) => client.revokeToken(refreshToken),
    refresh: async () => tokensOf((await client.refreshAccessToken()).credentials),
  }
}
