/** client-oauth2, as its README has it. @module */
import ClientOAuth2 from 'client-oauth2'

/** @type {import('../driver.js').Start} */
export async function start(setting) {
  const { authorizationEndpoint, tokenEndpoint, clientId, clientSecret, redirectUri, scopes, api } = setting
  const client = new ClientOAuth2({
    clientId,
    clientSecret,
    accessTokenUri: tokenEndpoint,
    authorizationUri: authorizationEndpoint,
    redirectUri,
    scopes: [...scopes],
    state: 'a-state',
  })
  const stored = ({ accessToken, refreshToken }) => client.createToken(accessToken, refreshToken, 'bearer', {})
  return {
    url: client.code.getUri(),
    finish: (callback) => client.code.getToken(callback.href),
    call: async (tokens) => {
      const { url, headers } = stored(tokens).sign({ method: 'GET', url: api })
      const response = await fetch(url, { headers })
      if (response.status !== 200) throw new Error(`${response.status}`)
      return response.json()
    },
    refresh: (tokens) => stored(tokens).refresh(),
  }
}
