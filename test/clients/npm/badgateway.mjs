/** @badgateway/oauth2-client, as its README has it. @module */
import { generateCodeVerifier, OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client'

/** @type {import('../driver.js').Start} */
export async function start({ issuer, clientId, clientSecret, redirectUri, scopes, api }) {
  const client = new OAuth2Client({ server: issuer, clientId, clientSecret })
  const codeVerifier = await generateCodeVerifier()
  const state = 'a-state'
  return {
    url: await client.authorizationCode.getAuthorizeUri({ redirectUri, state, codeVerifier, scope: [...scopes] }),
    finish: (callback) =>
      client.authorizationCode.getTokenFromCodeRedirect(callback, { redirectUri, state, codeVerifier }),
    call: async (tokens) => {
      const wrapped = new OAuth2Fetch({ client, getNewToken: () => tokens, getStoredToken: () => tokens })
      return (await wrapped.fetch(api)).json()
    },
    refresh: (tokens) => client.refreshToken(tokens),
    revoke: (tokens) => client.revoke(tokens, 'refresh_token'),
  }
}
