/**
 * openid-client at the demo, as its README has it: discovery, code with PKCE, refresh, revocation, errors, and the device flow.
 * @module
 */
import * as client from 'openid-client'
import { describe, expect, it } from 'vitest'
import type { Demo } from '../start.js'
import { CALLBACK, connect, follow, SCOPE, UNKNOWN_SCOPE } from './user.js'

/** Registers the tests. */
export function openidClient(demo: () => Demo): void {
  /**
   * Discovers the demo. The two options are all that must be set: the service is no OpenID provider, and the loopback of
   * the demo has no TLS.
   */
  function discovered(
    clientId: string,
    clientSecret?: string,
    authentication?: client.ClientAuth,
  ): Promise<client.Configuration> {
    return client.discovery(new URL(demo().issuer), clientId, clientSecret, authentication, {
      algorithm: 'oauth2',
      execute: [client.allowInsecureRequests],
    })
  }

  const application = (clientSecret = demo().client_secret) => discovered(demo().client_id, clientSecret)

  async function begin(config: client.Configuration, scope = SCOPE) {
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const expectedState = client.randomState()
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope,
      state: expectedState,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    return { url, checks: { pkceCodeVerifier, expectedState } }
  }

  function called(config: client.Configuration, accessToken: string): Promise<Response> {
    return client.fetchProtectedResource(config, accessToken, new URL(demo().api), 'GET')
  }

  it.each<[string, () => Promise<client.Configuration>]>([
    ['a confidential client, by default with its secret in the body', application],
    [
      'a confidential client with HTTP Basic',
      () => discovered(demo().client_id, undefined, client.ClientSecretBasic(demo().client_secret)),
    ],
    ['a public client, by default without a secret', () => discovered('demo-cli')],
  ])('takes %s from authorization to revocation', async (_which, make) => {
    const config = await make()
    // So the README would leave out the state.
    expect(config.serverMetadata().supportsPKCE()).toBe(true)
    const { url, checks } = await begin(config)
    const first = await client.authorizationCodeGrant(config, await follow(demo(), url), checks)
    expect(first).toMatchObject({ token_type: 'bearer', scope: SCOPE })
    expect(first.expiresIn()).toBeGreaterThan(28_700)
    const answer = await (await called(config, first.access_token)).json()
    expect(answer).toMatchObject({ client_id: config.clientMetadata().client_id, scope: SCOPE })

    const second = await client.refreshTokenGrant(config, first.refresh_token ?? '')
    expect(second.access_token).not.toBe(first.access_token)
    const { access_token, refresh_token } = await client.refreshTokenGrant(config, first.refresh_token ?? '')
    expect(second).toMatchObject({ access_token, refresh_token })
    const narrowed = await client.refreshTokenGrant(config, second.refresh_token ?? '', { scope: 'account-profile:r' })
    expect(narrowed.scope).toBe('account-profile:r')

    await client.tokenRevocation(config, narrowed.access_token, { token_type_hint: 'access_token' })
    await expect(called(config, narrowed.access_token)).rejects.toMatchObject({
      status: 401,
      cause: [{ scheme: 'bearer', parameters: { error: 'invalid_token' } }],
    })
    expect((await called(config, second.access_token)).status).toBe(200)
    await client.tokenRevocation(config, narrowed.refresh_token ?? '')
    await expect(called(config, second.access_token)).rejects.toMatchObject({ status: 401 })
    await expect(client.refreshTokenGrant(config, narrowed.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    })
  })

  it('works with PKCE alone, without a state, and with neither', async () => {
    const config = await application()
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const code_challenge = await client.calculatePKCECodeChallenge(pkceCodeVerifier)
    const pkce = { redirect_uri: CALLBACK, code_challenge, code_challenge_method: 'S256' }
    const withPkce = await follow(demo(), client.buildAuthorizationUrl(config, pkce))
    expect(withPkce.searchParams.has('state')).toBe(false)
    // Without a scope it has what the application is registered for.
    expect((await client.authorizationCodeGrant(config, withPkce, { pkceCodeVerifier })).scope).toBe(
      'repo-code:rw repo-basic-info:r account-profile:r',
    )
    const bare = await follow(demo(), client.buildAuthorizationUrl(config, { redirect_uri: CALLBACK, scope: SCOPE }))
    expect((await client.authorizationCodeGrant(config, bare)).scope).toBe(SCOPE)
  })

  it('gets errors that it understands', async () => {
    const config = await application()
    const { url, checks } = await begin(config)
    const location = await follow(demo(), url)
    const challenged = { status: 401, cause: [{ scheme: 'basic', parameters: { realm: 'oauth2', charset: 'UTF-8' } }] }
    const wrong = await application('wrong')
    await expect(client.authorizationCodeGrant(wrong, location, checks)).rejects.toMatchObject(challenged)
    await expect(client.tokenRevocation(wrong, 'none')).rejects.toMatchObject(challenged)
    const unknown = await discovered('nobody', demo().client_secret)
    await expect(client.refreshTokenGrant(unknown, 'none')).rejects.toMatchObject(challenged)

    const expected = { ...checks, expectedState: 'another' }
    const unconvinced = (of: RegExp) => ({ cause: { message: expect.stringMatching(of) } })
    await expect(client.authorizationCodeGrant(config, location, expected)).rejects.toMatchObject(unconvinced(/state/))
    const elsewhere = new URL(location)
    elsewhere.searchParams.set('iss', 'https://another.example')
    await expect(client.authorizationCodeGrant(config, elsewhere, checks)).rejects.toMatchObject(unconvinced(/iss/))
    const invalidGrant = { code: 'OAUTH_RESPONSE_BODY_ERROR', status: 400, error: 'invalid_grant' }
    const otherVerifier = { ...checks, pkceCodeVerifier: client.randomPKCECodeVerifier() }
    await expect(client.authorizationCodeGrant(config, location, otherVerifier)).rejects.toMatchObject(invalidGrant)

    const { access_token, refresh_token = '' } = await client.authorizationCodeGrant(config, location, checks)
    const wider = client.refreshTokenGrant(config, refresh_token, { scope: 'repo-code:rw' })
    await expect(wider).rejects.toMatchObject({ status: 400, error: 'invalid_scope' })
    await expect(client.authorizationCodeGrant(config, location, checks)).rejects.toMatchObject(invalidGrant)
    await expect(called(config, access_token)).rejects.toMatchObject({ status: 401 })

    const refusal = await follow(demo(), url, 'refuse')
    await expect(client.authorizationCodeGrant(config, refusal, checks)).rejects.toMatchObject({
      code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR',
      error: 'access_denied',
      error_description: 'The user refused.',
    })
    const greedy = await begin(config, UNKNOWN_SCOPE)
    const scopeless = await follow(demo(), greedy.url)
    await expect(client.authorizationCodeGrant(config, scopeless, greedy.checks)).rejects.toMatchObject({
      code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR',
      error: 'invalid_scope',
    })
  })

  it('finds no OpenID provider where it looks for one, which is its default, and says so', async () => {
    const asOpenId = client.discovery(new URL(demo().issuer), demo().client_id, undefined, undefined, {
      execute: [client.allowInsecureRequests],
    })
    await expect(asOpenId).rejects.toMatchObject({ code: 'OAUTH_RESPONSE_IS_NOT_CONFORM', cause: { status: 404 } })
  })

  describe('as a device', () => {
    it('shows a code, waits for its user, and gets tokens', async () => {
      const config = await discovered('demo-cli')
      const answers: number[] = []
      let sawPending = (): void => {}
      const pending = new Promise<void>((resolve) => {
        sawPending = resolve
      })
      config[client.customFetch] = async (url, { body, signal, ...options }) => {
        const response = await fetch(url, { ...options, body: body ?? null, signal: signal ?? null })
        if (url.endsWith('/oauth2/token') && answers.push(response.status) === 1) sawPending()
        return response
      }
      const device = await client.initiateDeviceAuthorization(config, { scope: SCOPE })
      const polling = client.pollDeviceAuthorizationGrant(config, device)
      await Promise.race([pending, polling])
      await connect(demo(), device)
      const { access_token, scope } = await polling
      expect([answers.at(0), answers.at(-1)]).toEqual([400, 200])
      expect(scope).toBe(SCOPE)
      expect(await (await called(config, access_token)).json()).toMatchObject({ client_id: 'demo-cli' })
    })

    it('is told that its user refused, and that a scope is unknown', async () => {
      const config = await discovered('demo-cli')
      const device = await client.initiateDeviceAuthorization(config, { scope: SCOPE })
      await connect(demo(), device, 'refuse')
      const atOnce = client.pollDeviceAuthorizationGrant(config, { ...device, interval: 0 })
      await expect(atOnce).rejects.toMatchObject({ status: 400, error: 'access_denied' })
      const greedy = client.initiateDeviceAuthorization(config, { scope: UNKNOWN_SCOPE })
      await expect(greedy).rejects.toMatchObject({ status: 400, error: 'invalid_scope' })
    })
  })
}
