/** @fastify/oauth2, as its README has it. @module */
import oauth2 from '@fastify/oauth2'
import fastify from 'fastify'
import { jsonOf, locationOf } from './listen.mjs'

/** @type {import('../driver.js').Start} */
export async function start(setting, { discovery, pkce = 'S256' } = {}) {
  const { issuer, clientId, clientSecret, scopes, browser } = setting
  const app = fastify()
  let origin = ''
  app.register(oauth2, {
    name: 'service',
    scope: [...scopes],
    credentials: {
      client: { id: clientId, secret: clientSecret },
      ...(!discovery && {
        auth: {
          tokenHost: issuer,
          tokenPath: '/oauth2/token',
          authorizePath: '/oauth2/auth',
          revokePath: '/oauth2/revoke',
        },
      }),
    },
    ...(discovery && { discovery: { issuer } }),
    startRedirectPath: '/sign-in',
    callbackUri: () => `${origin}/callback`,
    ...(pkce && { pkce }),
  })
  app.get('/callback', async (request) => (await app.service.getAccessTokenFromAuthorizationCodeFlow(request)).token)
  origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const tokensOf = ({ access_token, refresh_token }) => ({ accessToken: access_token, refreshToken: refresh_token })
  const stored = ({ accessToken, refreshToken }) => ({ access_token: accessToken, refresh_token: refreshToken })
  return {
    url: await locationOf(await browser.get(`${origin}/sign-in`)),
    finish: async (callback) => tokensOf(await jsonOf(await browser.get(callback))),
    refresh: async (tokens) =>
      tokensOf((await app.service.getNewAccessTokenUsingRefreshToken(stored(tokens), {})).token),
    revoke: (tokens) => app.service.revokeToken(stored(tokens), 'refresh_token', undefined),
    close: () => app.close(),
  }
}
