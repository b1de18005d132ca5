// oidc-provider with an adapter of Maps, since its own forgets past 1,000 entries. Tokens are opaque and kept as they are; its features
// that this work does not need are off. A refresh token that is presented twice ends the grant. A device may poll as often as it likes.
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import http from 'node:http'
import Provider from 'oidc-provider'
import { CLIENT } from '../client.mjs'
import { DEVICE_CODE_GRANT } from '../operations.mjs'
import { answer } from './http.mjs'

const SCOPE = 'repo offline_access'

/** One for each model, as the provider makes them. */
class MapAdapter {
  records = new Map()
  grants = new Map()

  async upsert(id, payload) {
    this.records.set(id, payload)
    const ids = this.grants.get(payload.grantId)
    if (ids !== undefined) ids.push(id)
    else if (payload.grantId !== undefined) this.grants.set(payload.grantId, [id])
  }
  async find(id) {
    return this.records.get(id)
  }
  async consume(id) {
    this.records.get(id).consumed = Math.floor(Date.now() / 1000)
  }
  async destroy(id) {
    this.records.delete(id)
  }
  async revokeByGrantId(grantId) {
    for (const id of this.grants.get(grantId) ?? []) this.records.delete(id)
    this.grants.delete(grantId)
  }
}

export async function start({ port }) {
  const off = { enabled: false }
  const ownTokens = { enabled: true, allowedPolicy: (_context, client, token) => token.clientId === client.clientId }
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    adapter: MapAdapter,
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [CLIENT.redirectUri],
        grant_types: ['authorization_code', 'refresh_token', DEVICE_CODE_GRANT],
        response_types: ['code'],
      },
    ],
    scopes: ['openid', 'offline_access', 'repo'],
    features: {
      introspection: ownTokens,
      revocation: ownTokens,
      deviceFlow: { enabled: true },
      devInteractions: off,
      dPoP: off,
      pushedAuthorizationRequests: off,
      resourceIndicators: off,
      rpInitiatedLogout: off,
      userinfo: off,
    },
    rotateRefreshToken: true,
    ttl: {
      AccessToken: 28_800,
      AuthorizationCode: 600,
      DeviceCode: 600,
      Grant: 15_552_000,
      RefreshToken: 15_552_000,
    },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    jwks: { keys: [generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
  })
  const handle = provider.callback()

  // It has no guard; its author recommends this within a process.
  const guard = async (request, response) => {
    const found = await provider.AccessToken.find((request.headers.authorization ?? '').slice(7))
    const who = found?.scopes.has('repo') ? { sub: found.accountId, client_id: found.clientId } : undefined
    answer(response, who === undefined ? 401 : 200, {}, who ?? { error: 'invalid_token' })
  }
  const server = http.createServer((request, response) =>
    request.url === '/api' ? guard(request, response) : handle(request, response),
  )
  await new Promise((listening) => server.listen(port, '127.0.0.1', listening))

  const client = await provider.Client.find(CLIENT.id)
  const permitted = async () => {
    const grant = new provider.Grant({ accountId: 'u', clientId: CLIENT.id })
    grant.addOIDCScope(SCOPE)
    const authTime = Math.floor(Date.now() / 1000)
    return { accountId: 'u', client, grantId: await grant.save(), scope: SCOPE, authTime }
  }
  const make = {
    pairs: async () => {
      const given = { ...(await permitted()), gty: 'authorization_code' }
      const [access_token, refresh_token] = await Promise.all([
        new provider.AccessToken(given).save(),
        new provider.RefreshToken(given).save(),
      ])
      return { access_token, refresh_token }
    },
    codes: async () => {
      const code_verifier = randomBytes(32).toString('base64url')
      const code = await new provider.AuthorizationCode({
        ...(await permitted()),
        redirectUri: CLIENT.redirectUri,
        codeChallenge: createHash('sha256').update(code_verifier).digest('base64url'),
        codeChallengeMethod: 'S256',
      }).save()
      return { code, code_verifier }
    },
    deviceCodes: async () => ({
      device_code: await new provider.DeviceCode({ client, scope: SCOPE, params: {} }).save(),
    }),
  }
  return {
    token: '/token',
    revoke: '/token/revocation',
    introspect: '/token/introspection',
    api: '/api',
    deviceGrant: true,
    replay: 'revokes',
    seed: (kind, count) => Promise.all(Array.from({ length: count }, make[kind])),
  }
}
