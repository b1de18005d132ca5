/** @auth/core with a provider of its own, as the documentation of Auth.js has it. @module */
import { Auth } from '@auth/core'
import { locationOf } from './listen.mjs'

const ORIGIN = 'http://127.0.0.1:3000'

/** @type {import('../driver.js').Start} */
export async function start(setting, changes = {}) {
  const { issuer, authorizationEndpoint, tokenEndpoint, clientId, clientSecret, scopes, api } = setting
  let tokens
  let failure
  const config = {
    basePath: '/auth',
    trustHost: true,
    logger: {
      error: (error) => {
        failure = error.cause?.err?.message ?? error.message
      },
    },
    secret: 'a secret of the application',
    providers: [
      {
        id: 'service',
        name: 'Service',
        type: 'oauth',
        issuer,
        clientId,
        clientSecret,
        authorization: { url: authorizationEndpoint, params: { scope: scopes.join(' ') } },
        token: tokenEndpoint,
        userinfo: api,
        ...(clientSecret === undefined && { client: { token_endpoint_auth_method: 'none' } }),
        ...changes,
      },
    ],
    callbacks: {
      jwt({ token, account }) {
        if (account) tokens = { accessToken: account.access_token, refreshToken: account.refresh_token }
        return token
      },
    },
  }
  const cookies = new Map()
  /** Asks the application, which needs no port: it takes a `Request`. */
  const ask = async (url, init = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await Auth(new Request(url, { ...init, headers: { ...init.headers, cookie } }), config)
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)
      cookies.set(name, value)
    }
    return response
  }
  const { csrfToken } = await (await ask(`${ORIGIN}/auth/csrf`)).json()
  const body = new URLSearchParams({ csrfToken, callbackUrl: ORIGIN })
  return {
    url: await locationOf(await ask(`${ORIGIN}/auth/signin/service`, { method: 'POST', body })),
    finish: async (callback) => {
      await ask(callback)
      if (tokens === undefined) throw new Error(failure)
      return tokens
    },
  }
}
