/**
 * One walk for every client: it logs a user in by their browser, calls the API, refreshes and revokes, and the service saw what the
 * table says.
 * @module
 */
import { expect } from 'vitest'
import { decide } from '../demo/clients/user.js'
import { Browser } from '../demo/walk.js'
import { hiddenFields } from '../support.js'
import type { ApplicationType, Client } from './client.js'
import type { Login, Setting, Start, Tokens } from './driver.js'
import { SCOPES, type Seen, type Service } from './service.js'

/** A login, and what the client was told. */
export interface Begun {
  readonly login: Login
  readonly setting: Setting
}

/** Registers an application for a client, and begins a login with it. @param path - of its redirect URI */
export async function begin(
  service: Service,
  start: Start,
  type: ApplicationType = 'confidential',
  path = '/callback',
): Promise<Begun> {
  const setting = await settingOf(service, type, path)
  service.seen.length = 0
  return { login: await start(setting), setting }
}

/** Registers an application, and says what a client of it has to know. */
export async function settingOf(service: Service, type: ApplicationType, path: string): Promise<Setting> {
  const { issuer, api } = service
  const application = await service.register(type, path)
  const browser = new Browser()
  browser.cookies.set('session', 'ada')
  return {
    ...application,
    issuer,
    api,
    browser,
    authorizationEndpoint: `${issuer}/oauth2/auth`,
    tokenEndpoint: `${issuer}/oauth2/token`,
    revocationEndpoint: `${issuer}/oauth2/revoke`,
    deviceEndpoint: `${issuer}/oauth2/device_authorization`,
    redirectUri: `http://127.0.0.1:51004${path}`,
    scopes: SCOPES,
  }
}

/** Lets the user agree, and the client take the answer. */
export async function finish({ login, setting }: Begun): Promise<Tokens> {
  const callback = await decide(setting.browser, login.url)
  expect(callback.searchParams.get('error')).toBeNull()
  return login.finish(callback)
}

/** Returns the status of a call of the API. */
export async function statusWith({ api }: Service, { accessToken }: Tokens): Promise<number> {
  return (await fetch(api, { headers: { authorization: `Bearer ${accessToken}` } })).status
}

/** Finds what the client first sent to an endpoint. */
function sentTo({ seen }: Service, path: string): Seen {
  return seen.find((each) => each.path === path) ?? expect.fail(`no request to ${path}`)
}

/** Takes a client from login to revocation. @param isExact - false for another version than that of the table */
export async function getsThrough(
  service: Service,
  client: Client,
  type: ApplicationType,
  start: Start,
  isExact = true,
): Promise<void> {
  const { path = '/callback', does } = client
  const begun = await begin(service, start, type, path)
  const { login } = begun
  try {
    const first = await finish(begun)
    if (isExact) expectTable(service, client, type, login)
    expect(await statusWith(service, first)).toBe(200)
    const told = await login.call?.(first)
    expect(told).toEqual(login.call && expect.objectContaining({ sub: 'ada' }))
    const second = (await login.refresh?.(first)) ?? first
    expect(second.accessToken !== first.accessToken).toBe(does.includes('refresh'))
    expect(await statusWith(service, second)).toBe(200)
    await login.revoke?.(second)
    expect(await statusWith(service, second)).toBe(does.includes('revoke') ? 401 : 200)
  } finally {
    await login.close?.()
  }
}

/** Compares what the service saw with what the table says. */
function expectTable(service: Service, client: Client, type: ApplicationType, login: Login): void {
  const { path = '/callback', does, pkce, state } = client
  const asked = sentTo(service, '/oauth2/auth').parameters
  expect(asked).toMatchObject({ scope: SCOPES.join(' '), redirect_uri: expect.stringContaining(path) })
  expect('state' in asked).toBe(state)
  expect(asked['code_challenge_method']).toBe(pkce ? 'S256' : undefined)
  expect(sentTo(service, '/oauth2/token').authentication).toBe(client[type])
  const can = (['call', 'refresh', 'revoke'] as const).filter((name) => login[name] !== undefined)
  expect(can).toEqual(does)
}

/** Types the code that a device shows, and agrees. */
export async function connect(browser: Browser, page: string, code: string): Promise<void> {
  const entry = hiddenFields(await (await browser.get(page)).text())
  const consent = hiddenFields(await (await browser.post(page, { ...entry, user_code: code })).text())
  const answer = await browser.post(page, { resource_scope: 'all', ...consent, decision: 'agree' })
  expect(answer.status).toBe(200)
}
