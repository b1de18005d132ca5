/**
 * passport-oauth2 at the demo, in an application on Express 5: sign-in by default and with state and PKCE, profile, refresh, errors.
 * @module
 */
import type OAuth2Strategy from 'passport-oauth2'
import { afterEach, expect, it } from 'vitest'
import type { Demo } from '../start.js'
import { ask, Browser, callApi, locationOf, signIn } from '../walk.js'
import { type Application, type SignedIn, startApplication } from './express-application.js'
import { type Decision, decide, failureOf, SCOPE, UNKNOWN_SCOPE } from './user.js'

const STATE_AND_PKCE = { state: true, pkce: true }

/** Registers the tests. */
export function passportOauth2(demo: () => Demo): void {
  const ended: (() => void)[] = []
  afterEach(() => {
    for (const end of ended.splice(0)) end()
  })

  async function application(
    options: Partial<Omit<OAuth2Strategy.StrategyOptions, 'passReqToCallback'>> = {},
    profileUrl?: string,
  ): Promise<Application> {
    const { issuer, client_id: clientID, client_secret: clientSecret } = demo()
    const endpoints = { authorizationURL: `${issuer}/oauth2/auth`, tokenURL: `${issuer}/oauth2/token` }
    const started = await startApplication(
      { ...endpoints, clientID, clientSecret, scope: SCOPE, ...options },
      profileUrl,
    )
    ended.push(started.close)
    return started
  }

  /** A browser that is signed in at the service. */
  async function visitor(): Promise<Browser> {
    const browser = new Browser()
    await signIn(browser, demo())
    return browser
  }

  /** From the application to the service: the URL of the request, and where the user is sent back to. */
  async function answered(browser: Browser, { origin }: Application, decision: Decision = 'agree') {
    const request = locationOf(await browser.get(`${origin}/sign-in`))
    return { request, callback: await decide(browser, request, decision) }
  }

  /** Who the application says is signed in. */
  async function userOf(browser: Browser, { origin }: Application): Promise<SignedIn> {
    return (await (await browser.get(origin)).json()) as SignedIn // null where nobody is, which no test takes for one
  }

  async function signedIn(app: Application): Promise<SignedIn> {
    const browser = await visitor()
    const { callback } = await answered(browser, app)
    const answer = await browser.get(callback)
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/'])
    return userOf(browser, app)
  }

  const statusWith = async ({ accessToken }: Pick<SignedIn, 'accessToken'>) =>
    (await callApi(demo().api, accessToken)).status

  it('signs a user in by default: the secret in the body, no state and no PKCE', async () => {
    const app = await application()
    const browser = await visitor()
    const { request, callback } = await answered(browser, app)
    expect([...request.searchParams.keys()].sort()).toEqual(['client_id', 'redirect_uri', 'response_type', 'scope'])
    expect(locationOf(await browser.get(callback), app.origin).pathname).toBe('/')
    const user = await userOf(browser, app)
    expect(user.results).toMatchObject({ token_type: 'bearer', expires_in: 28_800, scope: SCOPE })
    expect(await statusWith(user)).toBe(200)
  })

  it('signs a user in with state and PKCE and their profile, refreshes, and is refused once revoked', async () => {
    const app = await application(STATE_AND_PKCE, `${demo().issuer}/api/user`)
    const browser = await visitor()
    const { request, callback } = await answered(browser, app)
    expect(request.searchParams.get('code_challenge_method')).toBe('S256')
    expect(callback.searchParams.get('state')).toBe(request.searchParams.get('state'))
    expect(locationOf(await browser.get(callback), app.origin).pathname).toBe('/')
    const user = await userOf(browser, app)
    expect(user.profile).toEqual({ user: 'user-1', username: 'ada', name: 'Ada Lovelace' })

    const second = await app.strategy.refresh(user.refreshToken)
    expect(second.accessToken).not.toBe(user.accessToken)
    const { accessToken, refreshToken } = await app.strategy.refresh(user.refreshToken)
    expect(second).toMatchObject({ accessToken, refreshToken })
    expect(await statusWith(second)).toBe(200)
    expect(JSON.parse(await app.strategy.get(demo().api, second.accessToken))).toMatchObject({ scope: SCOPE })

    // It has no revocation, so the application sends that itself.
    await ask(demo(), 'revoke', { token: second.refreshToken })
    const refused = { statusCode: 401, data: expect.stringContaining('"invalid_token"') }
    expect(await failureOf(app.strategy.get(demo().api, second.accessToken))).toMatchObject(refused)
    expect(await failureOf(app.strategy.refresh(second.refreshToken))).toMatchObject({
      statusCode: 400,
      data: expect.stringContaining('"invalid_grant"'),
    })
  })

  it('signs a user in by HTTP Basic, given as a header of its own with an empty secret beside it', async () => {
    const { client_id, client_secret } = demo()
    const credentials = Buffer.from(`${client_id}:${client_secret}`).toString('base64')
    const byHeader = { clientSecret: '', customHeaders: { Authorization: `Basic ${credentials}` } }
    const user = await signedIn(await application({ ...STATE_AND_PKCE, ...byHeader }, `${demo().issuer}/api/user`))
    expect(user.profile).toMatchObject({ username: 'ada' })
  })

  it('signs a user in as a public client, which has no secret and PKCE instead', async () => {
    const user = await signedIn(await application({ ...STATE_AND_PKCE, clientID: 'demo-cli', clientSecret: '' }))
    expect(await statusWith(user)).toBe(200)
  })

  it('is refused where it sends the token in the query, its default (RFC 9700, section 4.3.2)', async () => {
    const app = await application(STATE_AND_PKCE)
    const { accessToken } = await signedIn(app)
    expect(await failureOf(app.strategy.get(demo().api, accessToken))).toMatchObject({
      statusCode: 400,
      data: expect.stringContaining('"invalid_request"'),
    })
    expect(await statusWith({ accessToken })).toBe(200)
  })

  it('tells the user of a refusal apart from what went wrong, and of what by its code', async () => {
    const app = await application(STATE_AND_PKCE)
    const browser = await visitor()
    const { callback: refusal } = await answered(browser, app, 'refuse')
    expect(locationOf(await browser.get(refusal), app.origin).pathname).toBe('/failed')
    expect(await userOf(browser, app)).toBeNull()

    const { callback } = await answered(browser, app)
    const forged = new URL(callback)
    forged.searchParams.set('state', 'another')
    expect(locationOf(await browser.get(forged), app.origin).pathname).toBe('/failed')

    const failures = async (options: Parameters<typeof application>[0]) => {
      const failing = await application(options)
      const { callback: back } = await answered(browser, failing)
      const answer = await browser.get(back)
      return [answer.status, await answer.json()]
    }
    expect(await failures({ clientSecret: 'wrong' })).toMatchObject([
      500,
      { name: 'TokenError', code: 'invalid_client' },
    ])
    expect(await failures({ scope: UNKNOWN_SCOPE })).toMatchObject([
      500,
      { name: 'AuthorizationError', code: 'invalid_scope' },
    ])
  })

  it('a code that is used again is refused, and ends what came of it', async () => {
    const app = await application()
    const browser = await visitor()
    const { callback } = await answered(browser, app)
    await browser.get(callback)
    const user = await userOf(browser, app)
    expect(await statusWith(user)).toBe(200)
    const again = await browser.get(callback)
    expect([again.status, await again.json()]).toMatchObject([500, { name: 'TokenError', code: 'invalid_grant' }])
    expect(await statusWith(user)).toBe(401)
  })
}
