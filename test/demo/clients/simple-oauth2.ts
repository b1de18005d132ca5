/**
 * simple-oauth2 at the demo, as its README has it: code, refresh and revocation through its token, errors.
 * @module
 */
import { createHash, randomBytes } from 'node:crypto'
import { AuthorizationCode, type ModuleOptions } from 'simple-oauth2'
import { expect, it } from 'vitest'
import type { Demo } from '../start.js'
import { callApi } from '../walk.js'
import { CALLBACK, follow, SCOPE, UNKNOWN_SCOPE } from './user.js'

/** Registers the tests. */
export function simpleOauth2(demo: () => Demo): void {
  /** A client. It has no discovery, and paths of its own choice where none are given. */
  function application(
    options: ModuleOptions['options'] = {},
    client: ModuleOptions['client'] = { id: demo().client_id, secret: demo().client_secret },
  ): AuthorizationCode {
    const auth = {
      tokenHost: demo().issuer,
      tokenPath: '/oauth2/token',
      authorizePath: '/oauth2/auth',
      revokePath: '/oauth2/revoke',
    }
    return new AuthorizationCode({ client, auth, options })
  }

  /** The user agrees: what the callback has in its query. */
  async function answerTo(client: AuthorizationCode, scope: string | string[] = SCOPE): Promise<URLSearchParams> {
    const url = client.authorizeURL({ redirect_uri: CALLBACK, scope, state: 'a state of 2 words & more' })
    const { searchParams } = await follow(demo(), url)
    expect(searchParams.get('state')).toBe('a state of 2 words & more')
    return searchParams
  }

  async function tokenOf(client: AuthorizationCode) {
    const code = (await answerTo(client)).get('code') ?? ''
    return client.getToken({ code, redirect_uri: CALLBACK, scope: SCOPE })
  }

  const statusWith = async ({ token }: { readonly token: Readonly<Record<string, unknown>> }) =>
    (await callApi(demo().api, String(token['access_token']))).status

  it.each<[string, ModuleOptions['options']]>([
    ['by default: HTTP Basic, form-urlencoded', undefined],
    ['with HTTP Basic as it is', { credentialsEncodingMode: 'loose' }],
    ['with the secret in the body', { authorizationMethod: 'body' }],
  ])('goes from authorization to a refresh, and the same again, %s', async (_how, options) => {
    const client = application(options)
    const code = (await answerTo(client, SCOPE.split(' '))).get('code') ?? ''
    const first = await client.getToken({ code, redirect_uri: CALLBACK, scope: SCOPE })
    expect(first.token).toMatchObject({ token_type: 'bearer', expires_in: 28_800, scope: SCOPE })
    expect(await statusWith(first)).toBe(200)
    expect([first.expired(), first.expired(28_801)]).toEqual([false, true])

    const kept = client.createToken(JSON.parse(JSON.stringify(first)))
    expect(kept.expired()).toBe(false)
    const second = await kept.refresh()
    expect(second.token['access_token']).not.toBe(first.token['access_token'])
    const { access_token, refresh_token, scope } = (await first.refresh()).token
    expect(second.token).toMatchObject({ access_token, refresh_token, scope })
    expect(await statusWith(second)).toBe(200)
    const narrowed = await second.refresh({ scope: ['account-profile:r'] })
    expect(narrowed.token['scope']).toBe('account-profile:r')
  })

  it('refreshes a token that it kept and that has expired', async () => {
    const client = application()
    const { token } = await tokenOf(client)
    const kept = client.createToken({ ...token, expires_at: new Date(0).toISOString() })
    expect(kept.expired()).toBe(true)
    const { expires_at: _expired, ...others } = token
    const next = await client.createToken({ ...others, expires_in: 0 }).refresh()
    expect(next.expired()).toBe(false)
    expect(await statusWith(next)).toBe(200)
  })

  it('revokes an access token alone, then the refresh token, and both at once', async () => {
    const client = application()
    const first = await tokenOf(client)
    await first.revoke('access_token')
    expect(await statusWith(first)).toBe(401)
    const second = await first.refresh()
    expect(await statusWith(second)).toBe(200)
    await second.revoke('refresh_token')
    expect(await statusWith(second)).toBe(401)
    await expect(second.refresh()).rejects.toMatchObject({ data: { payload: { error: 'invalid_grant' } } })

    const other = await tokenOf(client)
    await other.revokeAll()
    expect(await statusWith(other)).toBe(401)
    await expect(other.refresh()).rejects.toMatchObject({ data: { payload: { error: 'invalid_grant' } } })
    await other.revokeAll()
  })

  it('can be a public client with PKCE, its secret empty and in the body', async () => {
    const client = application({ authorizationMethod: 'body' }, { id: 'demo-cli', secret: '' })
    const code_verifier = randomBytes(32).toString('base64url')
    const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
    const request = { redirect_uri: CALLBACK, scope: SCOPE, code_challenge, code_challenge_method: 'S256' }
    const code = (await follow(demo(), client.authorizeURL(request))).searchParams.get('code') ?? ''
    const exchange = { code, redirect_uri: CALLBACK, code_verifier }
    const first = await client.getToken(exchange)
    expect(await statusWith(await first.refresh())).toBe(200)
  })

  it('gets errors that it understands', async () => {
    const client = application()
    const code = (await answerTo(client)).get('code') ?? ''
    const exchange = { code, redirect_uri: CALLBACK }
    const failed = (statusCode: number, error: string) => ({
      output: { statusCode },
      data: { payload: { error, error_description: expect.any(String) } },
    })
    const wrong = application({}, { id: demo().client_id, secret: 'wrong' })
    await expect(wrong.getToken(exchange)).rejects.toMatchObject(failed(401, 'invalid_client'))
    await expect(wrong.createToken({ access_token: 'none' }).revoke('access_token')).rejects.toMatchObject(
      failed(401, 'invalid_client'),
    )
    const first = await client.getToken(exchange)
    await expect(first.refresh({ scope: UNKNOWN_SCOPE })).rejects.toMatchObject(failed(400, 'invalid_scope'))
    await expect(client.getToken(exchange)).rejects.toMatchObject(failed(400, 'invalid_grant'))
    expect(await statusWith(first)).toBe(401)

    // It has no part in the callback: what went wrong is in the query, for the application to read.
    const url = client.authorizeURL({ redirect_uri: CALLBACK, scope: SCOPE })
    expect(Object.fromEntries((await follow(demo(), url, 'refuse')).searchParams)).toEqual({
      error: 'access_denied',
      error_description: 'The user refused.',
      iss: demo().issuer,
    })
    const { searchParams } = await follow(demo(), client.authorizeURL({ redirect_uri: CALLBACK, scope: UNKNOWN_SCOPE }))
    expect(searchParams.get('error')).toBe('invalid_scope')
  })

  it('is refused where it sends JSON, by an option of its own: a token request is a form (RFC 6749, section 4.1.3)', async () => {
    const code = (await answerTo(application())).get('code') ?? ''
    const json = application({ bodyFormat: 'json' })
    await expect(json.getToken({ code, redirect_uri: CALLBACK })).rejects.toMatchObject({
      output: { statusCode: 400 },
      data: { payload: { error: 'invalid_request' } },
    })
  })
}
