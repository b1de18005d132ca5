/** better-auth with its plugin for any OAuth provider. @module */
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { genericOAuth } from 'better-auth/plugins'
import { jsonOf } from './listen.mjs'

const ORIGIN = 'http://127.0.0.1:3000'

/** @type {import('../driver.js').Start} */
export async function start(setting) {
  const { authorizationEndpoint, tokenEndpoint, clientId, clientSecret, scopes, api } = setting
  const database = { user: [], session: [], account: [], verification: [] }
  const auth = betterAuth({
    baseURL: ORIGIN,
    secret: 'a secret of the application, which is long enough',
    database: memoryAdapter(database),
    telemetry: { enabled: false },
    plugins: [
      genericOAuth({
        config: [
          {
            providerId: 'service',
            clientId,
            clientSecret,
            authorizationUrl: authorizationEndpoint,
            tokenUrl: tokenEndpoint,
            userInfoUrl: api,
            scopes: [...scopes],
          },
        ],
      }),
    ],
  })
  const cookies = new Map()
  /** Asks the application, which needs no port: it takes a `Request`. */
  const ask = async (url, init = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...init.headers, cookie, origin: ORIGIN }
    const response = await auth.handler(new Request(url, { ...init, headers }))
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)
      cookies.set(name, value)
    }
    return response
  }
  const post = async (path, body) =>
    jsonOf(
      await ask(`${ORIGIN}/api/auth/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  const { url } = await post('sign-in/social', { provider: 'service', callbackURL: '/' })
  return {
    url,
    finish: async (callback) => {
      const back = await ask(callback)
      const [account] = database.account
      if (account === undefined) throw new Error(`not signed in: ${back.headers.get('location')}`)
      return { accessToken: account.accessToken, refreshToken: account.refreshToken }
    },
    refresh: () => post('refresh-token', { accountId: database.account[0].id }),
  }
}
