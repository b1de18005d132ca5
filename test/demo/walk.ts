/**
 * A browser of a few lines on plain `fetch`: cookies by host and no redirects of its own; and the steps of the flow.
 * @module
 */
import { expect } from 'vitest'
import { hiddenFields } from '../support.js'
import type { Announcement } from './start.js'

/** Keeps cookies, as a browser does: whatever the port. */
export class Browser {
  readonly cookies = new Map<string, string>()
  /** The `Set-Cookie` headers as they came. */
  readonly setCookies: string[] = []

  async get(url: string | URL): Promise<Response> {
    return this.#fetch(url, {})
  }

  async post(
    url: string | URL,
    form: Record<string, string> | URLSearchParams | FormData,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const body = form instanceof FormData ? form : new URLSearchParams(form)
    return this.#fetch(url, { method: 'POST', body, headers })
  }

  async #fetch(url: string | URL, init: RequestInit & { headers?: Record<string, string> }): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } })
    for (const set of response.headers.getSetCookie()) {
      this.setCookies.push(set)
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return response
  }
}

/** Where a redirect leads. */
export function locationOf(response: Response, base?: string): URL {
  return new URL(response.headers.get('location') ?? 'none:', base)
}

export function authorizationUrl(demo: Announcement, parameters: Record<string, string> = {}): URL {
  const url = new URL(`${demo.issuer}/oauth2/auth`)
  url.search = String(
    new URLSearchParams({
      response_type: 'code',
      client_id: demo.client_id,
      redirect_uri: demo.redirect_uri,
      state: 'a state',
      ...parameters,
    }),
  )
  return url
}

export async function signIn(browser: Browser, demo: Announcement, returnTo = ''): Promise<Response> {
  const { username, password } = demo
  return browser.post(`${demo.issuer}/sign-in`, { username, password, return_to: returnTo })
}

/** The demo with its administrator as the user who signs in. */
export function asAdministrator(demo: Announcement): Announcement {
  return { ...demo, username: demo.admin_username, password: demo.admin_password }
}

/** Signs in, opens the consent page and sends its form: where the browser is sent with the answer. */
export async function decide(
  demo: Announcement,
  form: Record<string, string>,
  parameters: Record<string, string> = {},
): Promise<URL> {
  const browser = new Browser()
  await signIn(browser, demo)
  const page = await browser.get(authorizationUrl(demo, parameters))
  expect(page.status).toBe(200)
  const fields = hiddenFields(await page.text())
  const answer = await browser.post(`${demo.issuer}/oauth2/auth`, { resource_scope: 'all', ...fields, ...form })
  expect(answer.status).toBe(302)
  return locationOf(answer)
}

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly scope: string
}

/** A request to the token endpoint or the revocation endpoint. */
export async function ask(
  demo: Announcement,
  endpoint: 'token' | 'revoke',
  form: Record<string, string>,
): Promise<Response> {
  const credentials = Buffer.from(`${demo.client_id}:${demo.client_secret}`).toString('base64')
  return fetch(`${demo.issuer}/oauth2/${endpoint}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: { authorization: `Basic ${credentials}` },
  })
}

/** Agrees and exchanges the code. */
export async function tokensFor(
  demo: Announcement,
  form: Record<string, string> = {},
  parameters: Record<string, string> = {},
): Promise<Tokens> {
  const location = await decide(demo, { decision: 'agree', ...form }, parameters)
  const response = await ask(demo, 'token', {
    grant_type: 'authorization_code',
    code: location.searchParams.get('code') ?? '',
    redirect_uri: parameters['redirect_uri'] ?? demo.redirect_uri,
  })
  expect(response.status).toBe(200)
  return (await response.json()) as Tokens // 200 has tokens
}

export async function callApi(url: string, accessToken?: string, method = 'GET'): Promise<Response> {
  return fetch(url, { method, headers: accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` } })
}
