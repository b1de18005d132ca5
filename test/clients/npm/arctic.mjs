/** arctic, by its generic client. @module */
import { CodeChallengeMethod, generateCodeVerifier, generateState, OAuth2Client } from 'arctic'

/** @type {import('../driver.js').Start} */
export async function start(setting) {
  const { clientId, clientSecret, redirectUri, scopes, authorizationEndpoint, tokenEndpoint, revocationEndpoint } =
    setting
  const client = new OAuth2Client(clientId, clientSecret ?? null, redirectUri)
  const state = generateState()
  const verifier = generateCodeVerifier()
  const method = CodeChallengeMethod.S256
  const tokensOf = (tokens) => ({ accessToken: tokens.accessToken(), refreshToken: tokens.refreshToken() })
  return {
    url: client.createAuthorizationURLWithPKCE(authorizationEndpoint, state, method, verifier, [...scopes]),
    finish: async ({ searchParams }) => {
      if (searchParams.get('state') !== state) throw new Error('another state')
      return tokensOf(await client.validateAuthorizationCode(tokenEndpoint, searchParams.get('code') ?? '', verifier))
    },
    refresh: async ({ refreshToken }) => tokensOf(await client.refreshAccessToken(tokenEndpoint, refreshToken, [])),
    revoke: ({ refreshToken }) => client.revokeToken(revocationEndpoint, refreshToken),
  }
}
