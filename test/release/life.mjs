// @ts-check
/**
 * The life of a grant and a metadata record, by the installed package alone and by what every runtime has.
 * @module
 */
import { createAuthorizationServer } from 'grantwell'
import { parseClientId } from 'grantwell/core'
import { createFetchGuard, createFetchHandler } from 'grantwell/fetch'
import { formatText, MetaData, parseText } from 'grantwell/metadata'
import { memoryStore } from 'grantwell/storage/memory'

const ISSUER = 'https://git.example'
const CALLBACK = 'https://app.example/callback'

/** @returns {Promise<string>} what every step came to */
export async function life() {
  const server = createAuthorizationServer({
    issuer: ISSUER,
    store: memoryStore(),
    user: () => ({ subject: 'ada' }),
    signInUrl: () => `${ISSUER}/sign-in`,
  })
  const logo = Uint8Array.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01', (each) => each.charCodeAt(0))
  const { clientSecret = '' } = await server.applications.register(
    {
      name: 'App',
      website: 'https://app.example',
      logo,
      type: 'confidential',
      redirectUris: [CALLBACK],
      scopes: ['account-profile:r'],
      resourceScope: 'all',
    },
    { clientId: 'app' },
  )
  const oauth = createFetchHandler(server)
  const profile = createFetchGuard(server)({ scope: 'account-profile:r' }, ({ auth }) => new Response(auth.subject))
  const basic = `Basic ${btoa(`app:${clientSecret}`)}`
  /** @param {string} path @param {Record<string, string>} fields @param {Record<string, string>} [headers] */
  const post = (path, fields, headers = {}) =>
    oauth(new Request(`${ISSUER}${path}`, { method: 'POST', headers, body: new URLSearchParams(fields) }))
  /** @param {Record<string, string>} fields @returns {Promise<Record<string, string>>} */
  const token = async (fields) => {
    const response = await post('/oauth2/token', fields, { authorization: basic })
    return JSON.parse(await response.text())
  }
  /** @param {string} accessToken */
  const call = (accessToken) =>
    profile(new Request(`${ISSUER}/api/profile`, { headers: { authorization: `Bearer ${accessToken}` } }))

  const verifier = 'a-verifier-of-43-characters-at-least-0123456789'
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'app',
    redirect_uri: CALLBACK,
    scope: 'account-profile:r',
    state: 'state',
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
  })
  const page = await oauth(new Request(`${ISSUER}/oauth2/auth?${query}`))
  const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const hidden = [...(await page.text()).matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]))
  const decided = await post(
    '/oauth2/auth',
    { resource_scope: 'all', ...fields, decision: 'agree' },
    { cookie, origin: ISSUER },
  )
  const code = new URL(decided.headers.get('location') ?? ISSUER).searchParams.get('code') ?? ''
  const first = await token({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: verifier })
  const opened = await call(first['access_token'] ?? '')
  const second = await token({ grant_type: 'refresh_token', refresh_token: first['refresh_token'] ?? '' })
  const revoked = await post('/oauth2/revoke', { token: second['refresh_token'] ?? '' }, { authorization: basic })
  const closed = await call(second['access_token'] ?? '')

  const record = parseText('name: "zlib" third_party { version: "1.3.1" }')
  const again = formatText(MetaData.decode(MetaData.encode(record)))
  return [
    page.status,
    parseClientId('app'),
    first['scope'],
    await opened.text(),
    revoked.status,
    closed.status,
    again === formatText(record),
  ].join(' ')
}

/** @param {string} verifier */
async function challengeOf(verifier) {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return btoa(String.fromCharCode(...new Uint8Array(digest)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}
