/** passport-oauth2 in an application on Express. @module */
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import OAuth2Strategy from 'passport-oauth2'
import { jsonOf, listen, locationOf } from './listen.mjs'

/** @type {import('../driver.js').Start} */
export async function start(setting, changes = {}) {
  const { authorizationEndpoint, tokenEndpoint, clientId, clientSecret, scopes, api, browser } = setting
  const app = express()
  const { origin, close } = await listen(app)
  const strategy = new OAuth2Strategy(
    {
      authorizationURL: authorizationEndpoint,
      tokenURL: tokenEndpoint,
      clientID: clientId,
      clientSecret: clientSecret ?? '',
      callbackURL: `${origin}/callback`,
      scope: [...scopes],
      state: true,
      pkce: true,
      ...changes,
    },
    (accessToken, refreshToken, _profile, done) => done(null, { accessToken, refreshToken }),
  )
  // For calls of the API: its own default puts the token in the query.
  strategy._oauth2.useAuthorizationHeaderforGET(true)
  const authenticator = new passport.Passport()
  authenticator.use(strategy)
  app.use(session({ secret: 'a secret', resave: false, saveUninitialized: false }))
  app.get('/sign-in', authenticator.authenticate('oauth2'))
  app.get('/callback', authenticator.authenticate('oauth2', { session: false }), (request, response) => {
    response.json(request.user)
  })
  return {
    url: await locationOf(await browser.get(`${origin}/sign-in`)),
    finish: async (callback) => jsonOf(await browser.get(callback)),
    call: ({ accessToken }) =>
      new Promise((resolve, reject) => {
        strategy._oauth2.get(api, accessToken, (error, body) =>
          error ? reject(new Error(`${error.statusCode} ${error.data}`)) : resolve(JSON.parse(body)),
        )
      }),
    // As passport-oauth2-refresh does it.
    refresh: ({ refreshToken }) =>
      new Promise((resolve, reject) => {
        const grant = { grant_type: 'refresh_token' }
        strategy._oauth2.getOAuthAccessToken(refreshToken, grant, (error, access, next) =>
          error
            ? reject(new Error(`${error.statusCode} ${error.data}`))
            : resolve({ accessToken: access, refreshToken: next }),
        )
      }),
    close,
  }
}
