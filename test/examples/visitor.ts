/**
 * Who uses an example: a third-party application by oauth4webapi, a client that nobody here wrote, and its user's browser
 * by plain HTTP.
 * @module
 */
import * as oauth from 'oauth4webapi'
import { expect } from 'vitest'
import { hiddenFields } from '../support.js'

/** Loopback has no TLS. */
const INSECURE = { [oauth.allowInsecureRequests]: true }
const REDIRECT_URI = 'http://127.0.0.1:8976/callback'

/** What the user chooses on the consent page. */
export type Choice =
  | { readonly kind: 'all' | 'public' }
  | { readonly kind: 'specified'; readonly ids: readonly [string, ...string[]] }

/** What an API answered. */
export interface ApiAnswer {
  readonly status: number
  readonly challenge: string
  readonly body: string
}

/** A browser with cookies, as small as it can be: it opens addresses and sends forms, and follows no redirect by itself. */
export class Browser {
  private readonly cookies = new Map<string, string>()
  private url = ''
  /** The page that is open. */
  html = ''
  status = 0
  /** The cookies as they were set, with their attributes. */
  readonly set: string[] = []

  /** @param headers - what it sends with every request */
  constructor(private readonly headers: Readonly<Record<string, string>> = {}) {}

  /** @returns where the answer leads, as a whole URL; empty where it leads nowhere */
  open(url: string): Promise<string> {
    return this.request(url, { method: 'GET' })
  }

  /** Sends the form of the page that is open, with what the user chose. */
  submit(chosen: readonly (readonly [string, string])[] = []): Promise<string> {
    const form = /<form method="post"(?: action="([^"]*)")?/.exec(this.html) ?? expect.fail(`no form: ${this.html}`)
    const body = new URLSearchParams(hiddenFields(this.html))
    for (const [name, value] of chosen) body.append(name, value)
    return this.request(new URL(form[1] ?? this.url, this.url).href, { method: 'POST', body })
  }

  private async request(url: string, init: RequestInit): Promise<string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...init, headers: { ...this.headers, cookie }, redirect: 'manual' })
    for (const set of response.headers.getSetCookie()) {
      this.set.push(set)
      const [name = '', value = ''] = set.split(';')[0]?.split('=') ?? []
      this.cookies.set(name, value)
    }
    this.url = url
    this.status = response.status
    this.html = await response.text()
    const location = response.headers.get('location')
    return location === null ? '' : new URL(location, url).href
  }
}

/** The application that an example has registered. */
export class Application {
  private readonly client: oauth.Client = { client_id: 'mirror' }
  private readonly authentication: oauth.ClientAuth

  private constructor(
    private readonly as: oauth.AuthorizationServer,
    clientSecret: string,
  ) {
    this.authentication = oauth.ClientSecretBasic(clientSecret)
  }

  /** Finds out about the service by itself. */
  static async discover(issuer: string, clientSecret: string): Promise<Application> {
    const response = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...INSECURE })
    return new Application(await oauth.processDiscoveryResponse(new URL(issuer), response), clientSecret)
  }

  /** The whole flow with PKCE: its user signs in where asked to, and agrees. */
  async authorize(browser: Browser, scope: string, choice: Choice): Promise<oauth.TokenEndpointResponse> {
    const { as, client, authentication } = this
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const url = new URL(as.authorization_endpoint ?? expect.fail('no authorization endpoint'))
    url.search = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString()

    const signIn = await browser.open(url.href)
    if (signIn !== '') {
      await browser.open(signIn)
      await browser.open(await browser.submit())
    }
    expect(browser.status, browser.html).toBe(200)
    expect(browser.html).toContain('Mirror')
    const ids = choice.kind === 'specified' ? choice.ids : []
    const resources = ids.map((id) => ['resource', id] as const)
    const callback = await browser.submit([['decision', 'agree'], ['resource_scope', choice.kind], ...resources])

    const parameters = oauth.validateAuthResponse(as, client, new URL(callback), state)
    const args = [as, client, authentication, parameters, REDIRECT_URI, verifier, INSECURE] as const
    return oauth.processAuthorizationCodeResponse(as, client, await oauth.authorizationCodeGrantRequest(...args))
  }

  async refresh({ refresh_token = '' }: oauth.TokenEndpointResponse): Promise<oauth.TokenEndpointResponse> {
    const { as, client, authentication } = this
    const response = await oauth.refreshTokenGrantRequest(as, client, authentication, refresh_token, INSECURE)
    return oauth.processRefreshTokenResponse(as, client, response)
  }

  async revoke({ refresh_token = '' }: oauth.TokenEndpointResponse): Promise<void> {
    const { as, client, authentication } = this
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(as, client, authentication, refresh_token, INSECURE),
    )
  }
}

/** Calls a route of the API, with a token or none. */
export async function call(url: string, method: string, token?: string): Promise<ApiAnswer> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(url, { method, headers })
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate') ?? '',
    body: await response.text(),
  }
}
