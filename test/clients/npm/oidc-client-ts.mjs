/** oidc-client-ts on Node, with its stores in memory. @module */
import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from 'oidc-client-ts'

/** @type {import('../driver.js').Start} */
export async function start(setting, changes = {}) {
  const { issuer, clientId, clientSecret, redirectUri, scopes } = setting
  const client = new OidcClient({
    authority: issuer,
    metadataUrl: `${issuer}/.well-known/oauth-authorization-server`,
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    ...changes,
  })
  const { url } = await client.createSigninRequest({})
  const tokensOf = ({ access_token, refresh_token }) => ({ accessToken: access_token, refreshToken: refresh_token })
  let signedIn
  return {
    url,
    finish: async (callback) => {
      signedIn = await client.processSigninResponse(callback.href)
      return tokensOf(signedIn)
    },
    refresh: async ({ refreshToken }) => {
      const state = { refresh_token: refreshToken, scope: signedIn.scope, profile: signedIn.profile }
      return tokensOf(await client.useRefreshToken({ state }))
    },
    revoke: ({ refreshToken }) => client.revokeToken(refreshToken, 'refresh_token'),
  }
}
