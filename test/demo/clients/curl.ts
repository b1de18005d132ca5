/**
 * The demo by curl alone, its pages too: metadata, code, refresh, revocation, errors, and the device flow.
 * @module
 * @see Specification, section 4
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { hiddenFields } from '../../support.js'
import type { Demo } from '../start.js'
import { curl, form } from './curl-program.js'
import { CALLBACK, connect, type Decision, SCOPE, UNKNOWN_SCOPE } from './user.js'

/** Registers the tests. */
export function curlAlone(demo: () => Demo): void {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'grantwell-curl-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** The user's browser, which is curl with a jar for its cookies: where it is sent with the answer. */
  async function answered(parameters: Record<string, string>, decision: Decision = 'agree'): Promise<URL> {
    const { issuer, username, password } = demo()
    const jar = ['--cookie', join(folder, 'jar'), '--cookie-jar', join(folder, 'jar')]
    await curl(...jar, ...form({ username, password, return_to: '' }), `${issuer}/sign-in`)
    const query = { response_type: 'code', redirect_uri: CALLBACK, scope: SCOPE, state: 'a state', ...parameters }
    const page = await curl(...jar, '--get', ...form(query), `${issuer}/oauth2/auth`)
    if (page.status === 302) return new URL(page.headers.get('location') ?? '')
    expect(page.status).toBe(200)
    const fields = { resource_scope: 'all', ...hiddenFields(page.body), decision }
    const answer = await curl(...jar, ...form(fields), `${issuer}/oauth2/auth`)
    expect(answer.status).toBe(302)
    return new URL(answer.headers.get('location') ?? '')
  }

  type Endpoint = 'token' | 'revoke' | 'device_authorization'

  /** A request of the client, which says who it is by these arguments. */
  async function ask(client: readonly string[], endpoint: Endpoint, fields: Record<string, string>) {
    const { status, headers, body } = await curl(...client, ...form(fields), `${demo().issuer}/oauth2/${endpoint}`)
    const json: Record<string, string> = body === '' ? {} : JSON.parse(body)
    return { status, headers, json }
  }

  const bearer = (accessToken = '') => curl('--oauth2-bearer', accessToken, demo().api)

  it.each<[string, () => readonly string[], () => string]>([
    [
      'a confidential client, by --user',
      () => ['--user', `${demo().client_id}:${demo().client_secret}`],
      () => demo().client_id,
    ],
    [
      'a confidential client, by its secret in the body',
      () => form({ client_id: demo().client_id, client_secret: demo().client_secret }),
      () => demo().client_id,
    ],
    ['a public client', () => form({ client_id: 'demo-cli' }), () => 'demo-cli'],
  ])('takes %s from the metadata to revocation', async (_which, by, id) => {
    const metadata = await curl(`${demo().issuer}/.well-known/oauth-authorization-server`)
    expect(JSON.parse(metadata.body)).toMatchObject({
      authorization_endpoint: `${demo().issuer}/oauth2/auth`,
      token_endpoint: `${demo().issuer}/oauth2/token`,
      revocation_endpoint: `${demo().issuer}/oauth2/revoke`,
      device_authorization_endpoint: `${demo().issuer}/oauth2/device_authorization`,
    })
    const [client, client_id] = [by(), id()]
    const code_verifier = randomBytes(32).toString('base64url')
    const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
    const location = await answered({ client_id, code_challenge, code_challenge_method: 'S256' })
    expect(Object.fromEntries(location.searchParams)).toMatchObject({ state: 'a state', iss: demo().issuer })
    const code = location.searchParams.get('code') ?? ''
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier }
    const first = await ask(client, 'token', exchange)
    expect(first).toMatchObject({ status: 200, json: { token_type: 'bearer', expires_in: 28_800, scope: SCOPE } })
    expect(first.headers.get('cache-control')).toBe('no-store')
    const answer = await bearer(first.json['access_token'])
    expect(JSON.parse(answer.body)).toMatchObject({ client_id, scope: SCOPE })

    const refresh = { grant_type: 'refresh_token', refresh_token: first.json['refresh_token'] ?? '' }
    const { json: second } = await ask(client, 'token', refresh)
    expect(second['access_token']).not.toBe(first.json['access_token'])
    const { access_token, refresh_token } = (await ask(client, 'token', refresh)).json
    expect(second).toMatchObject({ access_token, refresh_token })
    expect((await bearer(access_token)).status).toBe(200)

    expect(await ask(client, 'revoke', { token: refresh_token ?? '' })).toMatchObject({ status: 200, json: {} })
    const refused = await bearer(access_token)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ])
    expect(await ask(client, 'token', { ...refresh, refresh_token: refresh_token ?? '' })).toMatchObject({
      status: 400,
      json: { error: 'invalid_grant' },
    })
  })

  it('shows the errors as they are', async () => {
    const { client_id, client_secret, api } = demo()
    const client = ['--user', `${client_id}:${client_secret}`]
    const location = await answered({ client_id })
    const exchange = { grant_type: 'authorization_code', code: location.searchParams.get('code') ?? '' }
    for (const endpoint of ['token', 'revoke'] as const) {
      const wrong = await ask(['--user', `${client_id}:wrong`], endpoint, { ...exchange, token: 'none' })
      expect(wrong).toMatchObject({ status: 401, json: { error: 'invalid_client' } })
      expect(wrong.headers.get('www-authenticate')).toBe('Basic realm="oauth2", charset="UTF-8"')
    }
    const { json } = await ask(client, 'token', exchange)
    expect(await ask(client, 'token', exchange)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } })
    expect((await bearer(json['access_token'])).status).toBe(401)
    expect((await curl('--get', ...form({ access_token: json['access_token'] ?? '' }), api)).status).toBe(400)
    expect((await curl(api)).headers.get('www-authenticate')).toBe('Bearer realm="oauth2"')

    const refusal = await answered({ client_id }, 'refuse')
    expect(refusal.searchParams.get('error')).toBe('access_denied')
    expect((await answered({ client_id, scope: UNKNOWN_SCOPE })).searchParams.get('error')).toBe('invalid_scope')
    const elsewhere = form({ response_type: 'code', client_id, redirect_uri: 'https://elsewhere.example/callback' })
    const page = await curl('--get', ...elsewhere, `${demo().issuer}/oauth2/auth`)
    expect([page.status, page.headers.get('location')]).toEqual([400, undefined])
  })

  it('connects a device: a code, a wait, the tokens; and its errors', async () => {
    const tool = form({ client_id: 'demo-cli' })
    const poll = ({ device_code = '' }: Record<string, string>) =>
      ask(tool, 'token', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code })
    const shown = async (decision?: Decision) => {
      const { json } = await ask(tool, 'device_authorization', { scope: SCOPE })
      const { user_code = '', verification_uri = '' } = json
      if (decision !== undefined) await connect(demo(), { user_code, verification_uri }, decision)
      return json
    }
    expect(await poll(await shown())).toMatchObject({ status: 400, json: { error: 'authorization_pending' } })
    expect(await poll(await shown('refuse'))).toMatchObject({ status: 400, json: { error: 'access_denied' } })
    const { status, json } = await poll(await shown('agree'))
    expect([status, json['scope']]).toEqual([200, SCOPE])
    expect(JSON.parse((await bearer(json['access_token'])).body)).toMatchObject({ client_id: 'demo-cli' })
    const greedy = await ask(tool, 'device_authorization', { scope: UNKNOWN_SCOPE })
    expect(greedy).toMatchObject({ status: 400, json: { error: 'invalid_scope' } })
  })
}
