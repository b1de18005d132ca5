/**
 * The device flow as oauth4webapi drives it, over HTTP and by both adapters; the browser's part by plain requests of the
 * pages and their forms. Time is the server's own clock, which the test sets.
 * @module
 * @see RFC 8628
 */
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hiddenFields, NATIVE, OTHER, registration, WEB } from '../support.js'
import { discovered, INSECURE, PLATFORMS } from './stock-client.js'
import type { ListeningSite } from './suite.js'

const CLIENTS = [
  {
    title: 'a confidential client',
    client: { client_id: WEB.clientId },
    authentication: oauth.ClientSecretBasic(WEB.clientSecret),
  },
  { title: 'a public client', client: { client_id: NATIVE.clientId }, authentication: oauth.None() },
]

type Client = Omit<(typeof CLIENTS)[number], 'title'>

/** A browser with a session and cookies, as small as it can be: it follows links and sends forms, no more. */
class Browser {
  private readonly cookies = new Map<string, string>([['session', 'ada']])
  private url = ''
  private html = ''

  async open(url: string): Promise<number> {
    return this.request(url, { method: 'GET' })
  }

  /** Sends the form of the page that is open; what the user typed or chose is given. */
  async submit(typed: Record<string, string>): Promise<number> {
    const action = /<form[^>]* action="([^"]*)"/.exec(this.html)?.[1] ?? expect.fail(`no form: ${this.html}`)
    const body = new URLSearchParams({ ...hiddenFields(this.html), ...typed })
    return this.request(new URL(action, this.url).href, { method: 'POST', body })
  }

  get page(): string {
    return this.html
  }

  signOut(): this {
    this.cookies.delete('session')
    return this
  }

  signIn(): this {
    this.cookies.set('session', 'ada')
    return this
  }

  /** The target of the last answer. */
  location = ''

  private async request(url: string, init: RequestInit): Promise<number> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...init, headers: { cookie }, redirect: 'manual' })
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = set.split(';')[0]?.split('=') ?? []
      this.cookies.set(name, value)
    }
    this.url = url
    this.html = await response.text()
    this.location = response.headers.get('location') ?? ''
    return response.status
  }
}

for (const platform of PLATFORMS) {
  describe(platform.title, () => {
    let site: ListeningSite
    let as: oauth.AuthorizationServer

    beforeAll(async () => {
      const found = await discovered(platform)
      site = found.site
      as = found.as
    })
    afterAll(() => site.listening.close())

    async function begin(
      { client, authentication }: Client,
      scope?: string,
    ): Promise<oauth.DeviceAuthorizationResponse> {
      const parameters = new URLSearchParams(scope === undefined ? {} : { scope })
      const response = await oauth.deviceAuthorizationRequest(as, client, authentication, parameters, INSECURE)
      return oauth.processDeviceAuthorizationResponse(as, client, response)
    }

    async function poll(
      { client, authentication }: Client,
      { device_code }: oauth.DeviceAuthorizationResponse,
    ): Promise<oauth.TokenEndpointResponse> {
      const response = await oauth.deviceCodeGrantRequest(as, client, authentication, device_code, INSECURE)
      return oauth.processDeviceCodeResponse(as, client, response)
    }

    /** The error that a poll ends in, as the client has it. */
    async function refusalOf(client: Client, codes: oauth.DeviceAuthorizationResponse): Promise<unknown> {
      const error = await poll(client, codes).then(
        () => expect.fail('tokens'),
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(oauth.ResponseBodyError)
      return error instanceof oauth.ResponseBodyError ? [error.status, error.error] : undefined
    }

    /** The user follows the address, types the code and decides. */
    async function decide(codes: oauth.DeviceAuthorizationResponse, decision: 'agree' | 'refuse'): Promise<void> {
      const browser = new Browser()
      expect(await browser.open(codes.verification_uri)).toBe(200)
      expect(await browser.submit({ user_code: codes.user_code.toLowerCase().replace('-', ' ') })).toBe(200)
      expect(browser.page).toContain(codes.user_code)
      expect(await browser.submit({ decision, resource_scope: 'all' })).toBe(200)
      expect(browser.page).toContain(decision === 'agree' ? 'Your device is connected' : 'Nothing was shared')
    }

    it('finds the metadata that the flow needs', () => {
      expect(as).toMatchObject({
        device_authorization_endpoint: `${site.issuer}/oauth2/device_authorization`,
        grant_types_supported: expect.arrayContaining(['urn:ietf:params:oauth:grant-type:device_code']),
      })
    })

    for (const { title: ofClient, ...client } of CLIENTS) {
      it(`[43] takes ${ofClient} from its request over pending and slow_down to tokens, once, and to a refresh`, async () => {
        const { clock } = site.test
        const codes = await begin(client, 'repo-code:r')
        expect(codes).toMatchObject({
          verification_uri: `${site.issuer}/oauth2/device`,
          verification_uri_complete: `${site.issuer}/oauth2/device?user_code=${codes.user_code}`,
          expires_in: 600,
          interval: 5,
        })
        expect(await refusalOf(client, codes)).toEqual([400, 'authorization_pending'])
        clock.now += 5
        expect(await refusalOf(client, codes)).toEqual([400, 'authorization_pending'])
        clock.now += 4
        expect(await refusalOf(client, codes)).toEqual([400, 'slow_down'])
        clock.now += 5
        expect(await refusalOf(client, codes)).toEqual([400, 'slow_down'])
        await decide(codes, 'agree')
        clock.now += 14
        expect(await refusalOf(client, codes)).toEqual([400, 'slow_down'])
        clock.now += 20
        const first = await poll(client, codes)
        expect(first).toMatchObject({ token_type: 'bearer', expires_in: 28_800, scope: 'repo-code:r' })
        expect(await refusalOf(client, codes)).toEqual([400, 'invalid_grant'])

        const url = new URL('/api', site.listening.origin)
        const called = await oauth.protectedResourceRequest(first.access_token, 'GET', url, undefined, null, INSECURE)
        expect(await called.json()).toEqual({
          subject: 'ada',
          clientId: client.client.client_id,
          scopes: ['repo-code:r'],
        })
        const response = await oauth.refreshTokenGrantRequest(
          as,
          client.client,
          client.authentication,
          first.refresh_token ?? '',
          INSECURE,
        )
        const second = await oauth.processRefreshTokenResponse(as, client.client, response)
        expect(second.scope).toBe('repo-code:r')
        expect(second.access_token).not.toBe(first.access_token)
        const revocation = await oauth.revocationRequest(
          as,
          client.client,
          client.authentication,
          second.refresh_token ?? '',
          INSECURE,
        )
        await oauth.processRevocationResponse(revocation)
        expect(await refusalOf(client, codes)).toEqual([400, 'invalid_grant'])
      })

      it(`[43] tells ${ofClient} that its user refused, and that its code expired`, async () => {
        const { clock } = site.test
        const refused = await begin(client)
        await decide(refused, 'refuse')
        expect(await refusalOf(client, refused)).toEqual([400, 'access_denied'])
        const late = await begin(client)
        clock.now += 600
        expect(await refusalOf(client, late)).toEqual([400, 'expired_token'])
        const agreed = await begin(client)
        await decide(agreed, 'agree')
        clock.now += 600
        expect(await refusalOf(client, agreed)).toEqual([400, 'expired_token'])
      })
    }

    const [web = { client: { client_id: '' }, authentication: oauth.None() }] = CLIENTS

    it('[45] the complete URI asks to sign in, then to compare the code, and only then what is asked for', async () => {
      const codes = await begin(web)
      const browser = new Browser().signOut()
      expect(await browser.open(codes.verification_uri_complete ?? '')).toBe(302)
      const returnTo = new URL(browser.location, site.issuer).searchParams.get('return_to') ?? ''
      expect(returnTo).toBe(codes.verification_uri_complete)
      expect(await browser.signIn().open(returnTo)).toBe(200)
      expect(browser.page).toContain('Compare it with the code that your device shows')
      expect(browser.page).toContain(codes.user_code)
      expect(browser.page).not.toContain('name="decision"')
      expect(await refusalOf(web, codes)).toEqual([400, 'authorization_pending'])
      expect(await browser.submit({})).toBe(200)
      expect(browser.page).toContain('wants to access your account')
      expect(await browser.submit({ decision: 'agree', resource_scope: 'public' })).toBe(200)
      site.test.clock.now += 5
      expect((await poll(web, codes)).access_token).toMatch(/^gwa_/)
    })

    it('[45] another client with the same device code gets nothing', async () => {
      const other = {
        client: { client_id: OTHER.clientId },
        authentication: oauth.ClientSecretBasic(OTHER.clientSecret),
      }
      const codes = await begin(web)
      await decide(codes, 'agree')
      expect(await refusalOf(other, codes)).toEqual([400, 'invalid_grant'])
      expect((await poll(web, codes)).access_token).toMatch(/^gwa_/)
    })

    it('[43] gives a device that never got one slow_down, and obeys all others, its tokens', async () => {
      const { clock } = site.test
      const codes = await begin(web)
      let interval = codes.interval ?? expect.fail('no interval')
      expect(await refusalOf(web, codes)).toEqual([400, 'authorization_pending'])
      await decide(codes, 'agree')
      clock.now += interval - 1 // a poll that was quicker than the one before it
      expect(await refusalOf(web, codes)).toEqual([400, 'slow_down']) // lost
      for (let count = 0; count < 3; count++) {
        clock.now += interval
        expect(await refusalOf(web, codes)).toEqual([400, 'slow_down'])
        interval += 5
      }
      clock.now += interval
      expect((await poll(web, codes)).access_token).toMatch(/^gwa_/)
    })

    it('refuses an application that is not registered for the flow', async () => {
      const { server } = site.test
      await server.applications.register(registration({ deviceFlow: false }), { ...WEB, clientId: 'plain' })
      const plain = { client: { client_id: 'plain' }, authentication: web.authentication }
      await expect(begin(plain)).rejects.toMatchObject({ status: 400, error: 'unauthorized_client' })
    })

    it('refuses a client that does not authenticate, and a scope that is not registered', async () => {
      const wrong = { ...web, authentication: oauth.ClientSecretBasic('wrong') }
      await expect(begin(wrong)).rejects.toMatchObject({
        status: 401,
        cause: [{ scheme: 'basic', parameters: { realm: 'oauth2', charset: 'UTF-8' } }],
      })
      await expect(begin(web, 'repo-delete:rw')).rejects.toMatchObject({ status: 400, error: 'invalid_scope' })
      const codes = await begin(web)
      await expect(poll(wrong, codes)).rejects.toMatchObject({ status: 401 })
    })
  })
}
