/** simple-oauth2, as its README has it. @module */
import { AuthorizationCode } from 'simple-oauth2'

/** @type {import('../driver.js').Start} */
export async function start({ issuer, clientId, clientSecret, redirectUri, scopes }) {
  const client = new AuthorizationCode({
    client: { id: clientId, secret: clientSecret },
    auth: {
      tokenHost: issuer,
      tokenPath: '/oauth2/token',
      authorizePath: '/oauth2/auth',
      revokePath: '/oauth2/revoke',
    },
  })
  const state = 'a-state'
  const scope = [...scopes]
  const tokensOf = ({ token }) => ({ accessToken: token.access_token, refreshToken: token.refresh_token })
  const stored = ({ accessToken, refreshToken }) =>
    client.createToken({ access_token: accessToken, refresh_token: refreshToken })
  return {
    url: client.authorizeURL({ redirect_uri: redirectUri, scope, state }),
    finish: async ({ searchParams }) => {
      if (searchParams.get('state') !== state) throw new Error('another state')
      return tokensOf(await client.getToken({ code: searchParams.get('code'), redirect_uri: redirectUri, scope }))
    },
    refresh: async (tokens) => tokensOf(await stored(tokens).refresh()),
    revoke: (tokens) => stored(tokens).revokeAll(),
  }
}
