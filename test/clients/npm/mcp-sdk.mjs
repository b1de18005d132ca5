/** The MCP SDK's `auth`, with an application that is registered already, or one that registers itself. @module */
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'

/** @type {import('../driver.js').Start} */
export async function start(setting, { unregistered } = {}) {
  const { issuer, clientId, clientSecret, redirectUri, scopes } = setting
  const kept = {}
  const provider = {
    redirectUrl: redirectUri,
    clientMetadata: { redirect_uris: [redirectUri], scope: scopes.join(' ') },
    clientInformation: () =>
      unregistered ? kept.client : { client_id: clientId, client_secret: clientSecret, issuer },
    ...(unregistered && {
      saveClientInformation: (client) => {
        kept.client = client
      },
    }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens
    },
    redirectToAuthorization: (url) => {
      kept.url = url
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier,
  }
  const serverUrl = issuer
  const now = () => ({ accessToken: kept.tokens.access_token, refreshToken: kept.tokens.refresh_token })
  if ((await auth(provider, { serverUrl })) !== 'REDIRECT') throw new Error('no redirect')
  return {
    url: kept.url,
    finish: async ({ searchParams }) => {
      const authorizationCode = searchParams.get('code') ?? ''
      await auth(provider, { serverUrl, authorizationCode })
      return now()
    },
    // It refreshes whenever it has a refresh token.
    refresh: async () => {
      await auth(provider, { serverUrl })
      return now()
    },
  }
}
