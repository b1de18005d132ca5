// @jmondi/oauth2-server with repositories of Maps. Nothing is hashed: how tokens and secrets are kept is the repositories' affair.
// Access tokens are JWTs, and so are refresh tokens: its revocation finds no others. The key is a KeyObject, since a string is
// parsed anew for each signature, at thirty times the cost. It has no device flow.
import { createHash, createSecretKey, randomBytes } from 'node:crypto'
import { AuthorizationServer, DateInterval, JwtService, OAuthRequest } from '@jmondi/oauth2-server'
import { handleVanillaError } from '@jmondi/oauth2-server/vanilla'
import { CLIENT } from '../client.mjs'
import { answer, listen } from './http.mjs'

const token = () => randomBytes(32).toString('base64url')
const accessLifetime = new DateInterval('8h')
const refreshLifetime = new DateInterval('180d')

export async function start({ port }) {
  const scope = { name: 'repo' }
  const user = { id: 'u' }
  const client = {
    id: CLIENT.id,
    name: 'bench',
    secret: CLIENT.secret,
    redirectUris: [CLIENT.redirectUri],
    allowedGrants: ['authorization_code', 'refresh_token', 'client_credentials'],
    scopes: [scope],
  }
  const access = new Map()
  const refresh = new Map()
  const codes = new Map()
  const found = (map, key) => map.get(key) ?? Promise.reject(new Error('unknown'))
  const tokens = {
    issueToken: async (client, scopes, user) => ({ accessToken: token(), client, user, scopes }),
    issueRefreshToken: async (kept) => {
      kept.refreshToken = token()
      kept.refreshTokenExpiresAt = refreshLifetime.getEndDate()
      refresh.set(kept.refreshToken, kept)
      return kept
    },
    persist: async (kept) => void access.set(kept.accessToken, kept),
    revoke: async (kept) => {
      kept.accessTokenExpiresAt = kept.refreshTokenExpiresAt = new Date(0)
    },
    isRefreshTokenRevoked: async (kept) => kept.refreshTokenExpiresAt.getTime() <= Date.now(),
    getByRefreshToken: async (id) => found(refresh, id),
    getByAccessToken: async (id) => found(access, id),
  }
  const authorizationCodes = {
    issueAuthCode: async (client, user, scopes) => ({ code: token(), client, user, scopes }),
    persist: async (kept) => void codes.set(kept.code, kept),
    getByIdentifier: async (code) => found(codes, code),
    isRevoked: async (code) => codes.get(code).isRevoked === true,
    revoke: async (code) => {
      codes.get(code).isRevoked = true
    },
  }
  const clients = {
    getByIdentifier: async (id) => (id === client.id ? client : undefined),
    isClientValid: async (_grantType, known, secret) => secret === known.secret,
  }
  const scopes = { getAllByIdentifiers: async (names) => names.map((name) => ({ name })), finalize: async (all) => all }
  const jwt = new JwtService(createSecretKey(Buffer.from('bench-jwt-secret-0123456789abcdef')))
  const server = new AuthorizationServer(clients, tokens, scopes, jwt, { useOpaqueAuthorizationCodes: true })
  const users = { getUserByCredentials: async () => user }
  server.enableGrantTypes(
    [{ grant: 'authorization_code', authCodeRepository: authorizationCodes, userRepository: users }, accessLifetime],
    ['refresh_token', accessLifetime],
  )

  const endpoint = (handle) => async (request, response, body) => {
    const outcome = await (async () => handle(new OAuthRequest({ headers: request.headers, body })))().catch(
      handleVanillaError,
    )
    answer(response, outcome.status, outcome.headers, outcome.body)
  }
  // As its page "Protect Resources" has it: the signature, then what the repository knows, then the scope.
  const identify = async ({ headers: { authorization = '' } }) => {
    if (!authorization.startsWith('Bearer ')) return undefined
    const payload = await jwt.verify(authorization.slice(7))
    const kept = await tokens.getByAccessToken(payload.jti)
    const isSound = kept.accessTokenExpiresAt > new Date() && payload.scope.split(' ').includes(scope.name)
    return isSound ? { sub: payload.sub, client_id: payload.cid } : undefined
  }
  await listen(port, {
    '/token': endpoint((request) => server.respondToAccessTokenRequest(request)),
    '/revoke': endpoint((request) => server.revoke(request)),
    '/introspect': endpoint((request) => server.introspect(request)),
    '/api': async (request, response) => {
      const who = await identify(request).catch(() => undefined)
      answer(response, who === undefined ? 401 : 200, {}, who ?? { error: 'invalid_token' })
    },
  })

  const make = {
    pairs: async () => {
      const seed = await make.codes()
      const body = {
        grant_type: 'authorization_code',
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uri: CLIENT.redirectUri,
        ...seed,
      }
      const { access_token, refresh_token } = (await server.respondToAccessTokenRequest(new OAuthRequest({ body })))
        .body
      return { access_token, refresh_token }
    },
    codes: async () => {
      const code_verifier = token()
      const query = {
        response_type: 'code',
        client_id: CLIENT.id,
        redirect_uri: CLIENT.redirectUri,
        scope: scope.name,
        code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
        code_challenge_method: 'S256',
      }
      const request = await server.validateAuthorizationRequest(new OAuthRequest({ query }))
      request.user = user
      request.isAuthorizationApproved = true
      const { headers } = await server.completeAuthorizationRequest(request)
      return { code: new URL(headers.location).searchParams.get('code'), code_verifier }
    },
  }
  return {
    token: '/token',
    revoke: '/revoke',
    introspect: '/introspect',
    api: '/api',
    replay: 'refused',
    seed: (kind, count) => Promise.all(Array.from({ length: count }, make[kind])),
  }
}
