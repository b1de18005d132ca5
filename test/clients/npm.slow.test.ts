/**
 * Clients of npm that nobody here wrote, each as its documentation has it: they log a user in, call an API, refresh and revoke at a
 * service with the defaults of every option.
 * @module
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decide } from '../demo/clients/user.js'
import { Browser } from '../demo/walk.js'
import type { Login, Setting, Start, Tokens } from './driver.js'
import { installClients, installedVersion, NPM_CLIENTS, type NpmClient, wantedVersions } from './npm.js'
import { openService, SCOPES, type Seen, type Service } from './service.js'

let service: Service

beforeAll(async () => {
  installClients()
  service = await openService()
}, 400_000)

afterAll(() => service?.close())

/** Registers an application for a client, and begins a login with it. */
async function begin(
  { file, path }: NpmClient,
  type: 'confidential' | 'public',
): Promise<Login & { setting: Setting }> {
  const { issuer, api } = service
  const application = await service.register(type, path)
  const browser = new Browser()
  browser.cookies.set('session', 'ada')
  const setting: Setting = {
    ...application,
    issuer,
    api,
    browser,
    authorizationEndpoint: `${issuer}/oauth2/auth`,
    tokenEndpoint: `${issuer}/oauth2/token`,
    revocationEndpoint: `${issuer}/oauth2/revoke`,
    redirectUri: `http://127.0.0.1:51004${path}`,
    scopes: SCOPES,
  }
  const driver: { readonly start: Start } = await import(new URL(`./npm/${file}.mjs`, import.meta.url).href)
  return { ...(await driver.start(setting)), setting }
}

/** Returns the status of a call of the API. */
async function statusWith({ accessToken }: Tokens): Promise<number> {
  return (await fetch(service.api, { headers: { authorization: `Bearer ${accessToken}` } })).status
}

/** Finds what the client sent in the requests to an endpoint since the login began. */
function sentTo(path: string): Seen {
  return service.seen.find((each) => each.path === path) ?? expect.fail(`no request to ${path}`)
}

describe.each(NPM_CLIENTS)('$name', (client) => {
  it('is installed in the version of the table', () => {
    expect(installedVersion(client.name)).toBe(wantedVersions()[client.name])
  })

  for (const type of ['confidential', 'public'] as const) {
    const authentication = client[type]
    if (authentication === undefined) continue
    it(`gets through as a ${type} application`, async () => {
      service.seen.length = 0
      const login = await begin(client, type)
      try {
        const callback = await decide(login.setting.browser, login.url)
        expect(callback.searchParams.get('error')).toBeNull()
        const asked = sentTo('/oauth2/auth').parameters
        expect(asked).toMatchObject({ scope: SCOPES.join(' '), redirect_uri: expect.stringContaining(client.path) })
        expect('state' in asked).toBe(client.state)
        expect(asked['code_challenge_method']).toBe(client.pkce ? 'S256' : undefined)

        const first = await login.finish(callback)
        expect(sentTo('/oauth2/token').authentication).toBe(authentication)
        expect(await statusWith(first)).toBe(200)
        const can = Object.keys(login).filter((name) => ['call', 'refresh', 'revoke'].includes(name))
        expect(can).toEqual(client.does)
        expect(await login.call?.(first)).toMatchObject(login.call === undefined ? {} : { sub: 'ada' })

        const second = (await login.refresh?.(first)) ?? first
        expect(second.accessToken !== first.accessToken).toBe(client.does.includes('refresh'))
        expect(await statusWith(second)).toBe(200)
        await login.revoke?.(second)
        expect(await statusWith(second)).toBe(client.does.includes('revoke') ? 401 : 200)
      } finally {
        await login.close?.()
      }
    })
  }
})
