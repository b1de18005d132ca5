/** remix-auth-oauth2, as its README has it. @module */
import { Authenticator } from 'remix-auth'
import { OAuth2Strategy } from 'remix-auth-oauth2'

/** @type {import('../driver.js').Start} */
export async function start(setting, { discovery } = {}) {
  const { authorizationEndpoint, tokenEndpoint, revocationEndpoint, clientId, clientSecret, redirectUri, scopes } =
    setting
  const tokensOf = (tokens) => ({ accessToken: tokens.accessToken(), refreshToken: tokens.refreshToken() })
  const application = { clientId, clientSecret: clientSecret ?? null, redirectURI: redirectUri, scopes: [...scopes] }
  const endpoints = { authorizationEndpoint, tokenEndpoint, tokenRevocationEndpoint: revocationEndpoint }
  const verify = async ({ tokens }) => tokensOf(tokens)
  const strategy = discovery
    ? await OAuth2Strategy.discover(setting.issuer, application, verify)
    : new OAuth2Strategy({ ...application, ...endpoints }, verify)
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
