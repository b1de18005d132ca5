// @node-oauth/oauth2-server with a model of Maps. Nothing is hashed: how tokens and secrets are kept is the model's affair.
// It has neither revocation nor introspection nor the device flow.
import { createHash, randomBytes } from 'node:crypto'
import OAuth2Server from '@node-oauth/oauth2-server'
import { CLIENT } from '../client.mjs'
import { answer, listen } from './http.mjs'

const { Request, Response } = OAuth2Server
const token = () => randomBytes(32).toString('base64url')
const hence = (seconds) => new Date(Date.now() + seconds * 1000)
const lifetimes = { accessTokenLifetime: 28_800, refreshTokenLifetime: 15_552_000 }

export async function start({ port }) {
  const client = { id: CLIENT.id, grants: ['authorization_code', 'refresh_token'], redirectUris: [CLIENT.redirectUri] }
  const user = { id: 'u' }
  const access = new Map()
  const refresh = new Map()
  const codes = new Map()
  const model = {
    getClient: async (id, secret) => id === client.id && secret === CLIENT.secret && client,
    // By default they come from the thread pool, which costs more.
    generateAccessToken: async () => token(),
    generateRefreshToken: async () => token(),
    saveToken: async (issued, client, user) => {
      const kept = { ...issued, client, user }
      access.set(kept.accessToken, kept)
      refresh.set(kept.refreshToken, kept)
      return kept
    },
    getAccessToken: async (presented) => access.get(presented),
    getRefreshToken: async (presented) => refresh.get(presented),
    revokeToken: async (kept) => refresh.delete(kept.refreshToken),
    getAuthorizationCode: async (presented) => codes.get(presented),
    revokeAuthorizationCode: async (kept) => codes.delete(kept.authorizationCode),
    verifyScope: async (kept, asked) => asked.every((scope) => kept.scope.includes(scope)),
  }
  const oauth = new OAuth2Server({ model, ...lifetimes })
  const requestOf = ({ headers, method }, body = {}) => new Request({ headers, method, query: {}, body })
  const refuse = (response, { code, name, message }) =>
    answer(response, code ?? 500, {}, { error: name, error_description: message })

  await listen(port, {
    '/token': async (request, response, form) => {
      const outcome = new Response({})
      await oauth.token(requestOf(request, form), outcome).catch(() => {})
      answer(response, outcome.status, outcome.headers, outcome.body)
    },
    '/api': async (request, response) => {
      try {
        const found = await oauth.authenticate(requestOf(request), new Response({}), { scope: ['repo'] })
        answer(response, 200, {}, { sub: found.user.id, client_id: found.client.id })
      } catch (error) {
        refuse(response, error)
      }
    },
  })
  const make = {
    pairs: () => {
      const issued = {
        accessToken: token(),
        accessTokenExpiresAt: hence(lifetimes.accessTokenLifetime),
        refreshToken: token(),
        refreshTokenExpiresAt: hence(lifetimes.refreshTokenLifetime),
        scope: ['repo'],
      }
      model.saveToken(issued, client, user)
      return { access_token: issued.accessToken, refresh_token: issued.refreshToken }
    },
    codes: () => {
      const seed = { code: token(), code_verifier: token() }
      codes.set(seed.code, {
        authorizationCode: seed.code,
        expiresAt: hence(600),
        redirectUri: CLIENT.redirectUri,
        scope: ['repo'],
        codeChallenge: createHash('sha256').update(seed.code_verifier).digest('base64url'),
        codeChallengeMethod: 'S256',
        client,
        user,
      })
      return seed
    },
  }
  return {
    token: '/token',
    api: '/api',
    replay: 'refused',
    seed: (kind, count) => Array.from({ length: count }, make[kind]),
  }
}
