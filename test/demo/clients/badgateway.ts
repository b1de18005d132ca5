/**
 * @badgateway/oauth2-client at the demo, as its README has it: discovery, code with PKCE, refresh, revocation, errors.
 * @module
 */
import { generateCodeVerifier, OAuth2Client, type OAuth2Token } from '@badgateway/oauth2-client'
import { expect, it } from 'vitest'
import type { Demo } from '../start.js'
import { callApi } from '../walk.js'
import { CALLBACK, follow, SCOPE, UNKNOWN_SCOPE } from './user.js'

type ClientSettings = ConstructorParameters<typeof OAuth2Client>[0]

/** Registers the tests. */
export function badgateway(demo: () => Demo): void {
  const application = (settings: Partial<ClientSettings> = {}): OAuth2Client =>
    new OAuth2Client({
      server: demo().issuer,
      clientId: demo().client_id,
      clientSecret: demo().client_secret,
      ...settings,
    })

  /** Its settings where it does not discover the endpoints. */
  const told = (): Partial<ClientSettings> => ({
    authorizationEndpoint: '/oauth2/auth',
    tokenEndpoint: '/oauth2/token',
    revocationEndpoint: '/oauth2/revoke',
  })

  async function tokenOf(client: OAuth2Client, scope = SCOPE.split(' ')): Promise<OAuth2Token> {
    const codeVerifier = await generateCodeVerifier()
    const request = { redirectUri: CALLBACK, state: 'a state', codeVerifier, scope }
    const { authorizationCode: flow } = client
    const callback = await follow(demo(), await flow.getAuthorizeUri(request))
    return flow.getTokenFromCodeRedirect(callback, { redirectUri: CALLBACK, state: 'a state', codeVerifier })
  }

  const statusWith = async ({ accessToken }: OAuth2Token) => (await callApi(demo().api, accessToken)).status

  it.each<[string, () => Partial<ClientSettings>]>([
    ['by default: HTTP Basic, as the metadata names it first', () => ({})],
    ['with HTTP Basic as it is, its own default without discovery', told],
    ['with the secret in the body', () => ({ authenticationMethod: 'client_secret_post' })],
    ['as a public client', () => ({ clientId: 'demo-cli', clientSecret: '' })],
  ])('goes from authorization to a refresh and a revocation, %s', async (_how, settings) => {
    const client = application(settings())
    const first = await tokenOf(client)
    expect(first.scope).toEqual(SCOPE.split(' '))
    expect(await statusWith(first)).toBe(200)
    const second = await client.refreshToken(first)
    expect(await statusWith(second)).toBe(200)
    const narrowed = await client.refreshToken(second, { scope: ['account-profile:r'] })
    expect(narrowed.scope).toEqual(['account-profile:r'])

    await client.revoke(narrowed)
    expect(await statusWith(narrowed)).toBe(401)
    expect(await statusWith(second)).toBe(200)
    await client.revoke(narrowed, 'refresh_token')
    expect(await statusWith(second)).toBe(401)
    await expect(client.refreshToken(narrowed)).rejects.toMatchObject({ oauth2Code: 'invalid_grant' })
    // There is nothing left to revoke, which is no error.
    await client.revoke(narrowed, 'refresh_token')
  })

  it('gets errors that it understands', async () => {
    const wrong = application({ clientSecret: 'wrong' })
    await expect(tokenOf(wrong)).rejects.toMatchObject({ oauth2Code: 'invalid_client', httpCode: 401 })
    const nothing = { accessToken: 'none', refreshToken: 'none', expiresAt: null }
    await expect(wrong.revoke(nothing)).rejects.toMatchObject({ oauth2Code: 'invalid_client', httpCode: 401 })
    const client = application()
    await expect(tokenOf(client, [UNKNOWN_SCOPE])).rejects.toMatchObject({ oauth2Code: 'invalid_scope' })
    const wider = client.refreshToken(await tokenOf(client), { scope: ['repo-code:rw'] })
    await expect(wider).rejects.toMatchObject({ oauth2Code: 'invalid_scope', httpCode: 400 })
    await expect(client.refreshToken(nothing)).rejects.toMatchObject({ oauth2Code: 'invalid_grant', httpCode: 400 })
  })
}
