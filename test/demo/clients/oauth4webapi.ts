/**
 * oauth4webapi at the demo: discovery, code with PKCE, refresh, revocation, errors, and the device flow.
 * @module
 */
import * as oauth from 'oauth4webapi'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Demo } from '../start.js'
import { CALLBACK, connect, follow, SCOPE, UNKNOWN_SCOPE } from './user.js'

/** The loopback of the demo has no TLS. */
const INSECURE = { [oauth.allowInsecureRequests]: true }

/** Registers the tests. */
export function oauth4webapi(demo: () => Demo): void {
  let as: oauth.AuthorizationServer
  const tool = { client_id: 'demo-cli' }
  const application = () => ({ client_id: demo().client_id })

  beforeAll(async () => {
    const issuer = new URL(demo().issuer)
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE })
    as = await oauth.processDiscoveryResponse(issuer, response)
  })

  /** The request of a client, and what it has to keep until the user comes back. */
  async function begin(client: oauth.Client, scope = SCOPE) {
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const url = new URL(as.authorization_endpoint ?? '')
    url.search = String(
      new URLSearchParams({
        response_type: 'code',
        client_id: client.client_id,
        redirect_uri: CALLBACK,
        scope,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }),
    )
    return { url, state, verifier }
  }

  type Begun = Awaited<ReturnType<typeof begin>>

  async function exchanged(
    client: oauth.Client,
    authentication: oauth.ClientAuth,
    location: URL,
    { state, verifier }: Pick<Begun, 'state' | 'verifier'>,
  ) {
    const callback = oauth.validateAuthResponse(as, client, location, state)
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      authentication,
      callback,
      CALLBACK,
      verifier,
      INSECURE,
    )
    return oauth.processAuthorizationCodeResponse(as, client, response)
  }

  async function refreshed(client: oauth.Client, authentication: oauth.ClientAuth, refreshToken = '') {
    const response = await oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, INSECURE)
    return oauth.processRefreshTokenResponse(as, client, response)
  }

  async function revoke(client: oauth.Client, authentication: oauth.ClientAuth, token = '') {
    const response = await oauth.revocationRequest(as, client, authentication, token, INSECURE)
    await oauth.processRevocationResponse(response)
  }

  function called(accessToken: string): Promise<Response> {
    return oauth.protectedResourceRequest(accessToken, 'GET', new URL(demo().api), undefined, null, INSECURE)
  }

  it.each<[string, () => oauth.Client, () => oauth.ClientAuth]>([
    ['a confidential client with HTTP Basic', application, () => oauth.ClientSecretBasic(demo().client_secret)],
    [
      'a confidential client with its secret in the body',
      application,
      () => oauth.ClientSecretPost(demo().client_secret),
    ],
    ['a public client', () => tool, oauth.None],
  ])('takes %s from authorization to revocation', async (_which, of, by) => {
    const [client, authentication] = [of(), by()]
    const begun = await begin(client)
    const first = await exchanged(client, authentication, await follow(demo(), begun.url), begun)
    expect(first).toMatchObject({ token_type: 'bearer', expires_in: 28_800, scope: SCOPE })
    expect(await (await called(first.access_token)).json()).toMatchObject({ client_id: client.client_id, scope: SCOPE })

    const second = await refreshed(client, authentication, first.refresh_token)
    expect(second.access_token).not.toBe(first.access_token)
    const { expires_in: _left, ...again } = await refreshed(client, authentication, first.refresh_token)
    expect(second).toMatchObject(again)
    for (const { access_token } of [first, second]) expect((await called(access_token)).status).toBe(200)

    await revoke(client, authentication, second.access_token)
    await expect(called(second.access_token)).rejects.toMatchObject({
      status: 401,
      cause: [{ scheme: 'bearer', parameters: { error: 'invalid_token' } }],
    })
    expect((await called(first.access_token)).status).toBe(200)
    await revoke(client, authentication, second.refresh_token)
    await expect(called(first.access_token)).rejects.toMatchObject({ status: 401 })
    await expect(refreshed(client, authentication, second.refresh_token)).rejects.toMatchObject({
      error: 'invalid_grant',
    })
  })

  it('gets errors that it understands', async () => {
    const client = application()
    const good = oauth.ClientSecretBasic(demo().client_secret)
    const begun = await begin(client)
    const location = await follow(demo(), begun.url)
    for (const wrong of [oauth.ClientSecretBasic('wrong'), oauth.ClientSecretPost('wrong')]) {
      await expect(exchanged(client, wrong, location, begun)).rejects.toMatchObject({
        status: 401,
        cause: [{ scheme: 'basic', parameters: { realm: 'oauth2', charset: 'UTF-8' } }],
      })
    }
    const otherVerifier = { ...begun, verifier: oauth.generateRandomCodeVerifier() }
    await expect(exchanged(client, good, location, otherVerifier)).rejects.toMatchObject({ error: 'invalid_grant' })
    await expect(exchanged(client, good, location, { ...begun, state: 'another' })).rejects.toThrowError(/state/)
    const elsewhere = new URL(location)
    elsewhere.searchParams.set('iss', 'https://another.example')
    await expect(exchanged(client, good, elsewhere, begun)).rejects.toThrowError(/iss/)

    const { access_token } = await exchanged(client, good, location, begun)
    await expect(exchanged(client, good, location, begun)).rejects.toMatchObject({
      status: 400,
      error: 'invalid_grant',
    })
    // A code that comes twice is in the wrong hands, so what came of it is revoked (RFC 6749, section 4.1.2).
    await expect(called(access_token)).rejects.toMatchObject({ status: 401 })

    const refusal = await follow(demo(), begun.url, 'refuse')
    await expect(exchanged(client, good, refusal, begun)).rejects.toMatchObject({ error: 'access_denied' })
    const greedy = await begin(client, UNKNOWN_SCOPE)
    const scopeless = await follow(demo(), greedy.url)
    await expect(exchanged(client, good, scopeless, greedy)).rejects.toMatchObject({ error: 'invalid_scope' })
  })

  describe('as a device', () => {
    async function shown(scope: string) {
      const parameters = new URLSearchParams({ scope })
      const response = await oauth.deviceAuthorizationRequest(as, tool, oauth.None(), parameters, INSECURE)
      return oauth.processDeviceAuthorizationResponse(as, tool, response)
    }

    async function polled({ device_code }: oauth.DeviceAuthorizationResponse) {
      const response = await oauth.deviceCodeGrantRequest(as, tool, oauth.None(), device_code, INSECURE)
      return oauth.processDeviceCodeResponse(as, tool, response)
    }

    it('shows a code, waits for its user, and gets tokens once', async () => {
      const device = await shown(SCOPE)
      expect(device).toMatchObject({ expires_in: 600, interval: 5, verification_uri: `${demo().issuer}/oauth2/device` })
      await expect(polled(device)).rejects.toMatchObject({ status: 400, error: 'authorization_pending' })

      const patient = await shown(SCOPE)
      await connect(demo(), patient)
      const { access_token, scope, refresh_token } = await polled(patient)
      expect(scope).toBe(SCOPE)
      expect(await (await called(access_token)).json()).toMatchObject({ user: 'user-1', client_id: 'demo-cli' })
      await expect(polled(patient)).rejects.toMatchObject({ error: 'invalid_grant' })
      await revoke(tool, oauth.None(), refresh_token)
    })

    it('is told that its user refused, and that a scope is unknown', async () => {
      const device = await shown(SCOPE)
      await connect(demo(), device, 'refuse')
      await expect(polled(device)).rejects.toMatchObject({ status: 400, error: 'access_denied' })
      await expect(shown(UNKNOWN_SCOPE)).rejects.toMatchObject({ status: 400, error: 'invalid_scope' })
    })
  })
}
