/**
 * react-oauth2-code-pkce on Node, by the functions that its `AuthProvider` calls: what they need of a browser page is made up here.
 * @module
 */
import { InMemoryWebStorage } from 'oidc-client-ts'
import configuration from 'react-oauth2-code-pkce/dist/authConfig.js'
import authentication from 'react-oauth2-code-pkce/dist/authentication.js'

/** @type {import('../driver.js').Start} */
export async function start(setting) {
  const { authorizationEndpoint, tokenEndpoint, clientId, redirectUri, scopes } = setting
  const config = configuration.createInternalConfig({
    clientId,
    authorizationEndpoint,
    tokenEndpoint,
    redirectUri,
    scope: scopes.join(' '),
    state: 'a-state',
  })
  let url
  globalThis.localStorage = new InMemoryWebStorage()
  const assign = (target) => {
    url = target
  }
  globalThis.window = { crypto: globalThis.crypto, location: { assign } }
  await authentication.redirectToLogin(config)
  const tokensOf = ({ access_token, refresh_token }) => ({ accessToken: access_token, refreshToken: refresh_token })
  return {
    url,
    finish: async (callback) => {
      globalThis.window = { crypto: globalThis.crypto, location: callback }
      authentication.validateState(callback.searchParams, 'local')
      return tokensOf(await authentication.fetchTokens(config))
    },
    refresh: async ({ refreshToken }) => tokensOf(await authentication.fetchWithRefreshToken({ config, refreshToken })),
    close: () => {
      delete globalThis.window
      delete globalThis.localStorage
    },
  }
}
