/** remix-auth-oauth2, as its README has it. @module */
import { Authenticator } from 'remix-auth'
import { OAuth2Strategy } from 'remix-auth-oauth2'

/** @type {import('../driver.js').Start} */
export async function start(setting) {
  const { authorizationEndpoint, tokenEndpoint, revocationEndpoint, clientId, clientSecret, redirectUri, scopes } =
    setting
  const tokensOf = (tokens) => ({ accessToken: tokens.accessToken(), refreshToken: tokens.refreshToken() })
  const strategy = new OAuth2Strategy(
    {
      clientId,
      clientSecret: clientSecret ?? null,
      authorizationEndpoint,
      tokenEndpoint,
      tokenRevocationEndpoint: revocationEndpoint,
      redirectURI: redirectUri,
      scopes: [...scopes],
    },
    async ({ tokens }) => tokensOf(tokens),
  )
  const authenticator = new Authenticator()
  authenticator.use(strategy, 'service')
  const redirect = await authenticator.authenticate('service', new Request(new URL('/sign-in', redirectUri))).then(
    () => {
      throw new Error('no redirect')
    },
    (thrown) => thrown,
  )
  if (!(redirect instanceof Response)) throw redirect
  const cookie = redirect.headers.getSetCookie()[0].split(';')[0]
  return {
    url: redirect.headers.get('location'),
    finish: (callback) => authenticator.authenticate('service', new Request(callback, { headers: { cookie } })),
    refresh: async ({ refreshToken }) => tokensOf(await strategy.refreshToken(refreshToken)),
    revoke: ({ refreshToken }) => strategy.revokeToken(refreshToken),
  }
}
