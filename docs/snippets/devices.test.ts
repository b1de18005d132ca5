/**
 * The code of docs/guides/devices.md: a tool without a browser logs in, and the service limits such logins.
 * @module
 */

// #region imports
import { readFileSync } from 'node:fs'
import type { Registration } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { authorizedFetch, createTokenSource, discover, login, memoryTokenStore } from 'grantwell/client'
// #endregion imports
import type { AuthorizationServerOptions } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { expect, it } from 'vitest'
import { decide, openService } from '../../test/client/service.js'
import { Browser } from '../../test/demo/walk.js'
import { hiddenFields, token } from '../../test/support.js'
import { readPage } from './page-words.js'

// #region registration
const registration: Registration = {
  name: 'Backup Box',
  logo: readFileSync(new URL('logo.png', import.meta.url)), // a PNG, JPEG, GIF or WebP
  website: 'https://box.example',
  type: 'public', // everybody who has a box can read what is in it
  redirectUris: ['http://127.0.0.1/callback'], // required, though the device flow does not use it
  scopes: ['repo-code:r'],
  resourceScope: 'all',
  deviceFlow: true,
}
// #endregion registration

/** Opens a service with the clock of the system and the shortest interval. */
async function openLiveService() {
  const clock = () => Math.floor(Date.now() / 1000)
  const service = await openService({ store: memoryStore(), clock, devicePollingInterval: 1 })
  await service.test.server.applications.register(registration, { clientId: 'backup-box' })
  return service
}

it('logs in by a code that its user agrees to', async () => {
  const service = await openLiveService()
  const issuer = service.issuer
  const screen = {
    print: async (text: string): Promise<void> => {
      const code = /code (\S+)/.exec(text)?.[1] ?? expect.fail(text)
      await decide(issuer, code, 'agree')
    },
  }
  try {
    // #region login
    const client = await discover({ issuer, clientId: 'backup-box' })
    const tokens = await login(client, {
      scope: 'repo-code:r',
      show: ({ userCode, verificationUri, expiresIn }) =>
        screen.print(`Open ${verificationUri} and type in the code ${userCode} within ${expiresIn} seconds`),
    })

    const source = createTokenSource({ client, store: memoryTokenStore() })
    await source.save(tokens)
    const api = authorizedFetch(source)
    // #endregion login
    expect(tokens).toMatchObject({ clientId: 'backup-box', scope: 'repo-code:r', tokenType: 'bearer' })
    expect((await api(`${issuer}/api/repositories`)).status).toBe(404)
    const { accessToken } = await source.get()
    const request = { headers: { authorization: `Bearer ${accessToken}` } }
    expect(await service.test.server.authenticate(request)).toMatchObject({ subject: 'ada', clientId: 'backup-box' })
  } finally {
    await service.close()
  }
})

it('answers polls with the errors of the page', async () => {
  const service = await openService()
  const { test, issuer } = service
  const device = { clientId: 'backup-box' }
  await test.server.applications.register(registration, device)
  await test.server.applications.register({ ...registration, deviceFlow: false }, { clientId: 'desk' })
  const page = readPage('guides/devices')
  const ask = async (clientId: string) => {
    const body = new URLSearchParams({ client_id: clientId, scope: 'repo-code:r' })
    return (await fetch(`${issuer}/oauth2/device_authorization`, { method: 'POST', body })).json()
  }
  const poll = async (code: string) => {
    test.clock.now += 5
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
    return (await token(test, { grant_type, device_code: code }, device)).body.error
  }
  try {
    const codes = (await ask('backup-box')) as { device_code: string; user_code: string } // as the next line says
    expect(codes).toEqual({
      device_code: expect.stringMatching(/^gwd_/),
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
      verification_uri: `${issuer}/oauth2/device`,
      verification_uri_complete: `${issuer}/oauth2/device?user_code=${codes.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    const told = [await poll(codes.device_code)]
    test.clock.now -= 5
    told.push(await poll(codes.device_code))
    await decide(issuer, codes.user_code, 'refuse')
    test.clock.now += 5
    told.push(await poll(codes.device_code))
    const late = (await ask('backup-box')) as typeof codes // the same
    test.clock.now += 600
    told.push(await poll(late.device_code), await poll('gwd_unknown'))
    expect(told).toEqual(['authorization_pending', 'slow_down', 'access_denied', 'expired_token', 'invalid_grant'])
    for (const each of told) expect(page).toContain(`| \`${each}\` |`)
    expect(await ask('desk')).toMatchObject({ error: 'unauthorized_client' })
  } finally {
    await service.close()
  }
})

it('limits guesses and devices by functions of the host', async () => {
  const asked: unknown[] = []
  const limits = {
    take: async (key: string, perMinute: number): Promise<number> => {
      asked.push([key, perMinute])
      return 30
    },
  }
  const test = await openService()
  await test.close()
  const rest: AuthorizationServerOptions = {
    issuer: 'https://git.example',
    store: memoryStore(),
    user: () => ({ subject: 'ada' }),
    signInUrl: () => '/sign-in',
  }
  // #region limits
  const server = createAuthorizationServer({
    ...rest, // issuer, store, user, signInUrl
    deviceCodeLifetime: 600, // seconds that a user has
    devicePollingInterval: 5, // seconds between two polls
    userCodeLimiter: ({ subject }) => limits.take(`codes of ${subject}`, 5), // seconds to wait, 0 to let it pass
    deviceLimiter: ({ clientId, address }) => limits.take(`devices of ${clientId} at ${address}`, 20),
  })
  // #endregion limits
  await server.applications.register(registration, { clientId: 'backup-box' })
  const response = await server.handle({
    method: 'POST',
    url: '/oauth2/device_authorization',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: { type: 'text', text: 'client_id=backup-box' },
    native: undefined,
  })
  expect([response?.status, response?.headers['Retry-After']]).toEqual([429, '30'])
  expect(asked).toEqual([['devices of backup-box at undefined', 20]])
})

it('tells a user whose code is unknown', async () => {
  const service = await openService()
  try {
    const browser = new Browser()
    const address = `${service.issuer}/oauth2/device`
    const entry = hiddenFields(await (await browser.get(address)).text())
    const answer = await (await browser.post(address, { ...entry, user_code: 'BBBB-BBBB' })).text()
    expect(answer).toContain(
      'This code is not known, or no longer valid. Compare it with your device, or start again there.',
    )
  } finally {
    await service.close()
  }
})

it.each([
  ['the default', {}, 429],
  ['a limiter that lets all pass', { userCodeLimiter: () => 0 }, 200],
])('counts right codes too: with %s the eleventh gets %o', async (_name, options, expected) => {
  const service = await openService(options)
  await service.test.server.applications.register(registration, { clientId: 'backup-box' })
  try {
    const browser = new Browser()
    const address = `${service.issuer}/oauth2/device`
    const statuses: number[] = []
    for (let devices = 0; devices < 11; devices++) {
      const body = new URLSearchParams({ client_id: 'backup-box', scope: 'repo-code:r' })
      const asked = await fetch(`${service.issuer}/oauth2/device_authorization`, { method: 'POST', body })
      const { user_code } = (await asked.json()) as { user_code: string } // RFC 8628, section 3.2
      const entry = hiddenFields(await (await browser.get(address)).text())
      statuses.push((await browser.post(address, { ...entry, user_code })).status)
    }
    expect(statuses).toEqual([...Array<number>(10).fill(200), expected])
  } finally {
    await service.close()
  }
})
