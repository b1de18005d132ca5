/** grant in an application on Express. @module */
import express from 'express'
import session from 'express-session'
import grant from 'grant'
import { jsonOf, listen, locationOf } from './listen.mjs'

/** @type {import('../driver.js').Start} */
export async function start(setting, changes = {}) {
  const { authorizationEndpoint, tokenEndpoint, clientId, clientSecret, scopes, browser } = setting
  const app = express()
  const { origin, close } = await listen(app)
  app.use(session({ secret: 'a secret', resave: false, saveUninitialized: true }))
  app.use(
    grant.express({
      defaults: { origin, transport: 'session' },
      service: {
        authorize_url: authorizationEndpoint,
        access_url: tokenEndpoint,
        oauth: 2,
        scope_delimiter: ' ',
        key: clientId,
        secret: clientSecret,
        scope: [...scopes],
        state: true,
        pkce: true,
        callback: '/done',
        ...changes,
      },
    }),
  )
  app.get('/done', (request, response) => response.json(request.session.grant.response))
  return {
    url: await locationOf(await browser.get(`${origin}/connect/service`)),
    finish: async (callback) => {
      const { access_token, refresh_token, error } = await jsonOf(
        await browser.get(await locationOf(await browser.get(callback))),
      )
      if (access_token === undefined) throw new Error(JSON.stringify(error))
      return { accessToken: access_token, refreshToken: refresh_token }
    },
    close,
  }
}
